package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestFromSettings(t *testing.T) {
	o, err := FromSettings(map[string]string{
		"size": "4096", "inodes": "7", "read_only": "true", "direct_io": "true", "own_permissions": "true",
		"cache": "none", "off": "STATX,LSEEK", "unknown": "x",
	})
	require.NoError(t, err)
	assert.Equal(t, Options{
		Size: 4096, Inodes: 7, ReadOnly: true, DirectIO: true, CheckPermissions: true, RootMode: 0o755,
		TTL: -time.Second, Off: []proto.Opcode{proto.OpStatx, proto.OpLseek},
	}, o)
	for name, value := range map[string]string{"size": "big", "read_only": "perhaps", "off": "SCRIBBLE"} {
		_, err := FromSettings(map[string]string{name: value})
		assert.ErrorContains(t, err, "setting "+name)
	}
}

func TestFromSettingsAggressive(t *testing.T) {
	o, err := FromSettings(map[string]string{"cache": "aggressive"})
	require.NoError(t, err)
	assert.True(t, o.NoOpen && o.Content && o.EndCookie && o.NoAtime)
}
