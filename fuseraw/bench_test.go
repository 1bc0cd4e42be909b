package fuseraw

// What the loop costs, with a handler that costs nothing.

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// BenchmarkSocketpair is one GETATTR after the other without a kernel.
func BenchmarkSocketpair(b *testing.B) {
	for name, o := range map[string]Options{"plain": {}, "deadline": {Deadline: time.Minute}} {
		b.Run(name, func(b *testing.B) {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
			require.NoError(b, err)
			c, err := NewConn(pair[0], o)
			require.NoError(b, err)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- c.Serve(ctx, hello{}) }()
			exchange(b, pair[1], &proto.Request{Op: proto.OpInit, Header: proto.Header{Unique: 2}, In: &fuse.InitIn{Major: 7, Minor: 45}})
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				req := getattr()
				req.Header.Unique = uint64(2*i + 4)
				exchange(b, pair[1], req)
			}
			b.StopTimer()
			cancel()
			require.NoError(b, <-done)
			unix.Close(pair[1])
		})
	}
}

func exchange(b *testing.B, fd int, req *proto.Request) {
	var buf [4096]byte
	msg, err := proto.Wire{}.AppendRequest(buf[:0], req)
	require.NoError(b, err)
	if _, err := unix.Write(fd, msg); err != nil {
		b.Fatal(err)
	}
	if n, err := unix.Read(fd, buf[:]); err != nil || n < 16 {
		b.Fatal(n, err)
	}
}

// BenchmarkKernelStat is stat(2) of a file that nothing is cached of: a LOOKUP
// and a GETATTR each.
func BenchmarkKernelStat(b *testing.B) {
	_, dir := serve(b, Options{Deadline: time.Minute}, hello{})
	path := filepath.Join(dir, helloName)
	var st unix.Stat_t
	require.NoError(b, unix.Stat(path, &st))
	b.ResetTimer()
	for range b.N {
		if err := unix.Stat(path, &st); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkComm(b *testing.B) {
	c := newCallers(Options{})
	defer c.close()
	for range b.N {
		if c.comm(uint32(unix.Getpid())) == "" {
			b.Fatal("no comm")
		}
	}
}

func BenchmarkGroups(b *testing.B) {
	c := newCallers(Options{})
	defer c.close()
	for range b.N {
		c.groups(uint32(unix.Getpid()))
	}
}
