package mounttest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const exampleMountinfo = `
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
36 21 0:42 / /mnt/a\040b rw,nosuid shared:9 - fuse.llmfs-raw llmfs-raw rw,user_id=0
37 21 0:43 / /mnt/plain rw - fuse src rw
38 21 0:44 / /mnt/tmp rw - tmpfs fuse rw
`

func TestHasFuseMount(t *testing.T) {
	for dir, want := range map[string]bool{
		"/mnt/a b":   true,
		"/mnt/plain": true,
		"/mnt/tmp":   false,
		"/mnt":       false,
		"/":          false,
	} {
		got, err := hasFuseMount(strings.NewReader(exampleMountinfo), dir)
		require.NoError(t, err)
		require.Equal(t, want, got, dir)
	}
}
