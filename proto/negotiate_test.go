package proto

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// offer is what Linux 6.18 sends.
func offer() *fuse.InitIn {
	return &fuse.InitIn{Major: 7, Minor: 45, MaxReadAhead: 128 << 10, Flags: 0x73fffffb, Flags2: 0x6fd}
}

func TestNegotiate(t *testing.T) {
	out, choices, err := Negotiate(offer(), InitOptions{MaxWrite: 4096, MaxReadahead: 1 << 20})
	require.NoError(t, err)
	assert.EqualValues(t, 7, out.Major)
	assert.EqualValues(t, 45, out.Minor)
	assert.EqualValues(t, 4096, out.MaxWrite)
	assert.EqualValues(t, 1, out.MaxPages)
	assert.EqualValues(t, 128<<10, out.MaxReadAhead, "no more than offered")
	assert.Equal(t, Wire{Minor: 45, SetxattrExt: true}, WireOf(out))
	for _, c := range choices {
		assert.NotEmpty(t, c.Reason, c.Name)
		assert.Equal(t, c.On, out.Flags64()&c.Flag != 0, c.Name)
	}
}

func TestNegotiateTakesNothingThatIsNotOffered(t *testing.T) {
	bare := &fuse.InitIn{Major: 7, Minor: 31}
	out, choices, err := Negotiate(bare, InitOptions{})
	require.NoError(t, err)
	assert.Zero(t, out.Flags64())
	assert.Empty(t, choices)
	assert.EqualValues(t, 31, out.Minor)
	assert.Equal(t, Wire{Minor: 31}, WireOf(out))
}

func TestNegotiateByOption(t *testing.T) {
	for name, c := range map[string]struct {
		options InitOptions
		flag    uint64
		on      bool
	}{
		"readahead in parallel":   {InitOptions{}, fuse.CAP_ASYNC_READ, true},
		"readahead in order":      {InitOptions{SyncRead: true}, fuse.CAP_ASYNC_READ, false},
		"plus":                    {InitOptions{}, fuse.CAP_READDIRPLUS, true},
		"no plus":                 {InitOptions{NoReaddirplus: true}, fuse.CAP_READDIRPLUS | fuse.CAP_READDIRPLUS_AUTO, false},
		"the kernel checks":       {InitOptions{}, fuse.CAP_POSIX_ACL, true},
		"the filesystem checks":   {InitOptions{OwnPermissions: true}, fuse.CAP_POSIX_ACL, false},
		"data never bypasses us":  {InitOptions{}, fuse.CAP_PASSTHROUGH | fuse.CAP_WRITEBACK_CACHE, false},
		"opened, with locks":      {InitOptions{}, fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_POSIX_LOCKS | fuse.CAP_FLOCK_LOCKS, true},
		"not opened":              {InitOptions{NoOpen: true}, fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_POSIX_LOCKS | fuse.CAP_FLOCK_LOCKS, false},
		"plus where it is wanted": {InitOptions{}, fuse.CAP_READDIRPLUS_AUTO, true},
		"plus for everybody":      {InitOptions{AlwaysPlus: true}, fuse.CAP_READDIRPLUS_AUTO, false},
		"setuid is ours to clear": {InitOptions{}, fuse.CAP_HANDLE_KILLPRIV_V2, true},
	} {
		out, _, err := Negotiate(offer(), c.options)
		require.NoError(t, err)
		assert.Equal(t, c.on, out.Flags64()&c.flag != 0, name)
	}
}

func TestNegotiateRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		in *fuse.InitIn
		o  InitOptions
	}{
		"kernel offers FUSE 7.30, want 7.31 to 7.45":    {in: &fuse.InitIn{Major: 7, Minor: 30}},
		"kernel offers FUSE 8.0, want 7.31 to 7.45":     {in: &fuse.InitIn{Major: 8}},
		"request size 4095, want 4096 to 1048576 bytes": {in: offer(), o: InitOptions{MaxWrite: 4095}},
		"request size 1048577, want 4096 to":            {in: offer(), o: InitOptions{MaxWrite: 1<<20 + 1}},
	} {
		_, _, err := Negotiate(c.in, c.o)
		assert.ErrorContains(t, err, want)
	}
}

func TestEveryFlagStandsOnce(t *testing.T) {
	seen := map[uint64]string{}
	for _, f := range initFlags {
		assert.Empty(t, seen[f.flag], f.name)
		seen[f.flag] = f.name
		assert.NotEmpty(t, f.reason, f.name)
	}
	for bit := range 43 { // FUSE_REQUEST_TIMEOUT is bit 42; 31 is reserved
		if bit != 31 {
			assert.NotEmpty(t, seen[1<<bit], "bit %d has no row", bit)
		}
	}
}
