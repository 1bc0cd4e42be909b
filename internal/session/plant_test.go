package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// A planted tree is the tree: types, modes, times, links and content.
func TestPlant(t *testing.T) {
	dir := t.TempDir()
	when := time.Unix(1000000000, 7)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d", "file"), []byte(strings.Repeat("ab", plantStep)), 0o640))
	require.NoError(t, os.Link(filepath.Join(dir, "d", "file"), filepath.Join(dir, "hard")))
	require.NoError(t, os.Symlink("d/file", filepath.Join(dir, "link")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for _, name := range []string{"d/file", "d"} {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, when))
	}
	for _, o := range []reference.Options{{Size: 1 << 24}, {Size: 1 << 24, NoOpen: true}} {
		s := New(reference.New(o), quiet)
		do := func(req *proto.Request) *proto.Reply { return s.Handle(context.Background(), req) }
		seed, err := ReadSeed(dir)
		require.NoError(t, err)
		require.NoError(t, seed.Plant(do))
		lookup := func(parent uint64, name string) fuse.Attr {
			r := do(on(proto.OpLookup, parent, nil, name))
			require.Zero(t, r.Errno, name)
			return r.Out.(*fuse.EntryOut).Attr
		}
		d, hard := lookup(1, "d"), lookup(1, "hard")
		assert.EqualValues(t, syscall.S_IFDIR|0o750, d.Mode)
		assert.EqualValues(t, when.Unix(), d.Mtime, "what was made in it came before")
		file := lookup(d.Ino, "file")
		assert.Equal(t, file, hard)
		assert.EqualValues(t, syscall.S_IFREG|0o640, file.Mode)
		assert.EqualValues(t, []uint64{2, 2 * plantStep, uint64(when.Unix())}, []uint64{uint64(file.Nlink), file.Size, file.Mtime})
		assert.EqualValues(t, syscall.S_IFIFO|0o600, lookup(1, "pipe").Mode)
		assert.Equal(t, "d/file", string(do(on(proto.OpReadlink, lookup(1, "link").Ino, nil)).Data))
	}
}

func TestPlantWhereThereIsNoRoom(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<16), 0o640))
	s := New(reference.New(reference.Options{Size: 1 << 12}), quiet)
	seed, err := ReadSeed(dir)
	require.NoError(t, err)
	err = seed.Plant(func(req *proto.Request) *proto.Reply { return s.Handle(context.Background(), req) })
	assert.ErrorContains(t, err, "seed: write file: ")
}
