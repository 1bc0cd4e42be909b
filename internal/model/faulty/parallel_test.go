package faulty

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

func request(t testing.TB, op proto.Opcode, id uint64, in any, names ...string) *model.Prompt {
	text, err := proto.AppendRequestJSON(nil, &proto.Request{Op: op, In: in, Names: names, Header: proto.Header{NodeId: id}})
	require.NoError(t, err)
	return &model.Prompt{Op: op, Request: text}
}

// A world answers many at a time, as every model has to.
func TestWorldsInParallel(t *testing.T) {
	for _, m := range List() {
		w, err := New(m.Name, reference.Options{Size: 1 << 20, Inodes: 1000})
		require.NoError(t, err)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for k := range 5 {
					p := request(t, proto.OpMkdir, root, &fuse.MkdirIn{Mode: 0o755}, fmt.Sprintf("%d-%d", i, k))
					_, err := w.Answer(context.Background(), p)
					assert.NoError(t, err, m.Name)
				}
			})
		}
		all.Wait()
	}
}

// Who waits for a lock does not keep others from giving it back.
func TestWaitingForLocks(t *testing.T) {
	for _, name := range []string{"locks-whole-file", "getlk-forgets-pid", "noise:0.001", "eio-for-enoent"} {
		w, err := New(name, reference.Options{Size: 1 << 20, Inodes: 1000})
		require.NoError(t, err)
		lock := func(op proto.Opcode, owner uint64, typ uint32) string {
			in := &fuse.LkIn{Fh: 1, Owner: owner, Lk: fuse.FileLock{End: 9, Typ: typ}}
			a, err := w.Answer(context.Background(), request(t, op, 2, in))
			require.NoError(t, err)
			return string(a.Reply)
		}
		_, err = w.Answer(context.Background(), request(t, proto.OpCreate, root, &fuse.CreateIn{Flags: syscall.O_RDWR, Mode: syscall.S_IFREG | 0o644}, "f"))
		require.NoError(t, err)
		require.Equal(t, `{"Errno":0}`, lock(proto.OpSetlk, 1, syscall.F_WRLCK))
		got := make(chan string)
		go func() { got <- lock(proto.OpSetlkw, 2, syscall.F_WRLCK) }()
		time.Sleep(10 * time.Millisecond)
		require.Equal(t, `{"Errno":0}`, lock(proto.OpSetlk, 1, syscall.F_UNLCK))
		assert.Equal(t, `{"Errno":0}`, <-got, name)
	}
}
