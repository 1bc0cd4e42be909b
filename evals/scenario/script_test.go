package scenario

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

func TestParse(t *testing.T) {
	s, err := Parse("area/name", []byte("# What it proves.\n# tier: long\n# mount: --size 4096 --cache none --off STATX,LSEEK --mounts 2\nsys mkdir a 0755\n# tier: core\n"))
	require.NoError(t, err)
	assert.Equal(t, "area", s.Area)
	assert.Equal(t, evals.Long, s.Tier)
	assert.EqualValues(t, 4096, s.Mount.Size)
	assert.Equal(t, 2, s.Mount.Mounts)
	for file, want := range map[string]string{
		"sys mkdir a 0755\n":                            "have no line",
		"# tier: huge\n":                                `have "huge"`,
		"# tier: core\n# mount: --nothing\n":            "nothing",
		"# tier: core\n# mount: here\n":                 `have ["here"], want flags`,
		"# tier: core\n# mount: --off WRITE,SCRIBBLE\n": `have "SCRIBBLE", want an opcode's name`,
	} {
		_, err := Parse("a/b", []byte(file))
		assert.ErrorContains(t, err, want)
	}
}

func TestPaused(t *testing.T) {
	script := "# comment\nsys a\n\nexec b\n-- file --\nnot a command\n"
	assert.Equal(t, "# comment\nsys a\npause\n\nexec b\npause\n-- file --\nnot a command\n", string(paused([]byte(script))))
}

func TestDemands(t *testing.T) {
	word := func(s string) *string { return &s }
	for _, tc := range []struct {
		args []string
		want *string
		d    demand
	}{
		{[]string{"rmdir", "a"}, nil, demand{Call: "rmdir", Args: []string{"a"}}},
		{[]string{"rmdir", "a", "=", "ENOENT"}, word("ENOENT"), demand{Call: "rmdir", Args: []string{"a"}}},
		{[]string{"read", "f", "10", "="}, word(""), demand{Call: "read", Args: []string{"f", "10"}}},
		{[]string{"open", "a", "0", ">", "f"}, nil, demand{Call: "open", Args: []string{"a", "0"}, To: "f"}},
	} {
		want, d := parseDemand(tc.args)
		assert.Equal(t, tc.want, want)
		assert.Equal(t, tc.d, d)
	}
}

func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a{3*xy}b": "axyxyxyb", `\xff\n"`: "\xff\n\"", "{0*x}": "",
	} {
		have, err := expand(in)
		require.NoError(t, err)
		assert.Equal(t, want, have)
	}
	a := &args{hands: &hands{fds: map[string]int{"f": 7}}, demand: demand{Args: []string{"O_RDWR|0x10", "f", "12.5", "g", "now"}}}
	assert.EqualValues(t, 0x12, a.num(0))
	assert.Equal(t, 7, a.fd(1))
	assert.EqualValues(t, 500_000_000, a.time(2).Nsec)
	assert.NoError(t, a.bad)
	a.fd(3)
	assert.ErrorContains(t, a.bad, `have no descriptor "g"`)
	_, err := parseACL("u=7,x=1")
	assert.ErrorContains(t, err, `entry "x=1" is not WHO=DIGIT`)
}
