package reference

// Costs, with and without the crossing of JSON.

import (
	"context"
	"fmt"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// answer asks as a session does.
func answer(b *testing.B, f *FS, r *proto.Request, buf []byte) []byte {
	buf, err := proto.AppendRequestJSON(buf[:0], r)
	require.NoError(b, err)
	_, err = f.Answer(context.Background(), &model.Prompt{Op: r.Op, Request: buf})
	require.NoError(b, err)
	return buf
}

func BenchmarkLookup(b *testing.B) {
	u := mounted(b, Options{Inodes: 2000})
	fillDirectory(u, 1000)
	b.Run("typed", func(b *testing.B) {
		for i := range b.N {
			u.do(proto.OpLookup, rootIno, nil, nil, fmt.Sprintf("file-%06d", i%1000))
		}
	})
	b.Run("JSON", func(b *testing.B) {
		var buf []byte
		for i := range b.N {
			buf = answer(b, u.fs, u.request(proto.OpLookup, rootIno, nil, nil, fmt.Sprintf("file-%06d", i%1000)), buf)
		}
	})
}

func BenchmarkCreateUnlink(b *testing.B) {
	u := mounted(b, Options{})
	for b.Loop() {
		n, fh := u.create(rootIno, "a")
		u.release(n, fh)
		u.unlink(rootIno, "a")
		u.forget(n, 1)
	}
}

func BenchmarkIO(b *testing.B) {
	const size = 1 << 20
	u := mounted(b, Options{Size: 1 << 26})
	n, fh := u.create(rootIno, "a")
	data := make([]byte, size)
	write := func(i int) *proto.Request {
		return u.request(proto.OpWrite, n, &fuse.WriteIn{Fh: fh, Offset: uint64(i%32) * size, Size: size}, data)
	}
	read := func(i int) *proto.Request {
		return u.request(proto.OpRead, n, &fuse.ReadIn{Fh: fh, Offset: uint64(i%32) * size, Size: size}, nil)
	}
	for _, run := range []struct {
		name string
		make func(int) *proto.Request
	}{{"write", write}, {"read", read}} {
		b.Run(run.name, func(b *testing.B) {
			b.SetBytes(size)
			for i := range b.N {
				c := newCall(context.Background(), u.fs, run.make(i))
				c.serve()
				c.release()
			}
		})
		b.Run(run.name+" JSON", func(b *testing.B) {
			b.SetBytes(size)
			var buf []byte
			for i := range b.N {
				buf = answer(b, u.fs, run.make(i), buf)
			}
		})
	}
}

func BenchmarkReaddir(b *testing.B) {
	u := mounted(b, Options{Inodes: 2 * manyFiles})
	fillDirectory(u, manyFiles)
	fh := u.opendir(rootIno)
	for b.Loop() {
		require.Len(b, u.list(rootIno, fh, 32<<10), manyFiles+2)
	}
}
