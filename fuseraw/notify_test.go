package fuseraw

// Notifications behind a fake kernel: their order, and READs of bytes that are
// still on their way.

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lookup(name string) *proto.Request {
	return &proto.Request{Op: proto.OpLookup, Header: proto.Header{NodeId: 1}, Names: []string{name}}
}

// asked is a GETATTR of hello by its handle: whoever sends it has the file open.
func asked() *proto.Request {
	return &proto.Request{
		Op: proto.OpGetattr, Header: proto.Header{NodeId: helloNode}, In: &fuse.GetAttrIn{Flags_: fuse.FUSE_GETATTR_FH, Fh_: 1},
	}
}

func storeOf(node, off uint64, data string) proto.Notification {
	return proto.Notification{
		Code: proto.NotifyStore,
		Out:  &fuse.NotifyStoreOut{Nodeid: node, Offset: off, Size: uint32(len(data))},
		Data: []byte(data),
	}
}

func invalInode(node uint64) proto.Notification {
	return proto.Notification{Code: proto.NotifyInvalInode, Out: &fuse.NotifyInvalInodeOut{Ino: node, Length: -1}}
}

// found answers a LOOKUP of hello, with notifications; attributes a GETATTR.
func found(notes ...proto.Notification) *proto.Reply {
	return &proto.Reply{Out: helloEntry(), Notify: notes}
}

func attributes(notes ...proto.Notification) *proto.Reply {
	return &proto.Reply{Out: &fuse.AttrOut{Attr: helloAttr(helloNode)}, Notify: notes}
}

func TestNotificationsFollowTheirReplyInOrder(t *testing.T) {
	notes := []proto.Notification{
		invalInode(2), storeOf(2, 0, helloText),
		{Code: proto.NotifyInvalEntry, Out: &fuse.NotifyInvalEntryOut{Parent: 1}, Name: "a"},
		{Code: proto.NotifyDelete, Out: &fuse.NotifyInvalDeleteOut{Parent: 1, Child: 2}, Name: "b"},
	}
	k := booted(t, Options{}, handlerFunc(func(context.Context, *proto.Request) *proto.Reply { return attributes(notes...) }))
	q := k.send(asked())
	k.wait(q)
	want := []proto.NotifyCode{proto.NotifyInvalInode, proto.NotifyStore, proto.NotifyInvalEntry, proto.NotifyDelete}
	require.Eventually(t, func() bool { return len(k.notifications()) == 4 }, time.Second, time.Millisecond)
	assert.Equal(t, want, k.notifications())
	assert.EqualValues(t, 4, k.conn.Stats().Notified)
}

// The caller must not see attributes from before its own request.
func TestInvalidAttributesComeBeforeTheReply(t *testing.T) {
	note := invalInode(2)
	note.Out.(*fuse.NotifyInvalInodeOut).Off = -1
	k := booted(t, Options{}, handlerFunc(func(context.Context, *proto.Request) *proto.Reply { return attributes(storeOf(2, 0, helloText), note) }))
	q := k.send(asked())
	k.wait(q)
	require.NotEmpty(t, k.notifications())
	assert.Equal(t, proto.NotifyInvalInode, k.notifications()[0])
	require.Eventually(t, func() bool { return len(k.notifications()) == 2 }, time.Second, time.Millisecond)
}

func TestNotificationsOfAnErrorAreNone(t *testing.T) {
	k := booted(t, Options{}, handlerFunc(func(_ context.Context, req *proto.Request) *proto.Reply {
		return &proto.Reply{Errno: syscall.ENOENT, Notify: []proto.Notification{invalInode(2)}}
	}))
	k.wait(k.send(lookup("x")))
	time.Sleep(10 * time.Millisecond)
	assert.Empty(t, k.notifications())
}

// stalled is a Conn whose notifications are queued and not sent until release.
func stalled(t *testing.T, h Handler) (k *fakeKernel, release func()) {
	gate := make(chan struct{})
	k = booted(t, Options{}, h, func(c *Conn) { c.notify.write = func(b []byte) error { <-gate; return c.dev.write(b, nil) } })
	released := false
	release = func() {
		if !released {
			close(gate)
		}
		released = true
	}
	t.Cleanup(release)
	return k, release
}

// storing answers LOOKUP and GETATTR with a STORE and counts the READs that get to it.
func storing(reads *atomic.Int64, note proto.Notification) hello {
	return hello{hooks: map[proto.Opcode]handlerFunc{
		proto.OpLookup: func(context.Context, *proto.Request) *proto.Reply { return found(note) },
		proto.OpGetattr: func(_ context.Context, req *proto.Request) *proto.Reply {
			if req.Header.NodeId != helloNode {
				return nil
			}
			return attributes(note)
		},
		proto.OpCreate: func(context.Context, *proto.Request) *proto.Reply {
			return &proto.Reply{Out: &fuse.CreateOut{EntryOut: *helloEntry()}, Notify: []proto.Notification{note}}
		},
		proto.OpRead: func(context.Context, *proto.Request) *proto.Reply {
			reads.Add(1)
			return nil
		},
		proto.OpWrite: func(context.Context, *proto.Request) *proto.Reply { return &proto.Reply{Out: &fuse.WriteOut{Size: 1}} },
	}}
}

func TestReadOfBytesInFlight(t *testing.T) {
	for _, test := range []struct {
		name   string
		note   proto.Notification
		off    uint64
		size   uint32
		want   string
		stored bool
	}{
		{"whole file, page-sized read", storeOf(helloNode, 0, helloText), 0, 4096, helloText, true},
		{"part of what is stored", storeOf(helloNode, 0, helloText), 6, 5, "world", true},
		{"past the end", storeOf(helloNode, 0, helloText), 4096, 4096, "", true},
		{"stored from the middle", storeOf(helloNode, 6, "world\n"), 6, 4096, "world\n", true},
		{"before what is stored", storeOf(helloNode, 6, "world\n"), 0, 4096, helloText, false},
		{"beyond what is stored", storeOf(helloNode, 0, "hello"), 0, 4096, helloText, false},
		{"another node", storeOf(3, 0, strings.Repeat("x", 4096)), 0, 4096, helloText, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reads atomic.Int64
			k, _ := stalled(t, storing(&reads, test.note))
			k.wait(k.send(asked()))
			assert.Equal(t, test.want, string(k.wait(k.send(read(test.off, test.size))).Data))
			assert.Equal(t, test.stored, reads.Load() == 0)
			assert.Equal(t, test.stored, k.conn.Stats().StoreReads == 1)
		})
	}
}

func TestReadAfterTheStoreArrivedIsTheHandlers(t *testing.T) {
	var reads atomic.Int64
	k, release := stalled(t, storing(&reads, storeOf(helloNode, 0, helloText)))
	k.wait(k.send(asked()))
	release()
	require.Eventually(t, func() bool { return k.conn.Stats().Notified == 1 }, time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return k.conn.notify.stores.count.Load() == 0 }, time.Second, time.Millisecond)
	k.wait(k.send(read(0, 4096)))
	assert.EqualValues(t, 1, reads.Load())
}

// The reply may be faster than the caller who makes an inode of it.
func TestStoreOfANodeThatIsNotYetKnown(t *testing.T) {
	var reads, refused atomic.Int64
	k := booted(t, Options{}, storing(&reads, storeOf(helloNode, 0, helloText)), func(c *Conn) {
		c.notify.write = func(b []byte) error {
			if refused.Add(1) < 3 {
				return syscall.ENOENT
			}
			return c.dev.write(b, nil)
		}
	})
	k.wait(k.send(&proto.Request{Op: proto.OpCreate, Header: proto.Header{NodeId: 1}, In: &fuse.CreateIn{}, Names: []string{helloName}}))
	require.Eventually(t, func() bool { return len(k.notifications()) == 1 }, time.Second, time.Millisecond)
	assert.EqualValues(t, 2, k.conn.Stats().NotifyRetried)
	assert.Zero(t, k.conn.Stats().NotifyUnknown)
}

func write1() *proto.Request {
	return &proto.Request{Op: proto.OpWrite, Header: proto.Header{NodeId: helloNode}, In: &fuse.WriteIn{Size: 1}, Data: []byte("H")}
}

// A WRITE takes waiting STOREs of its node out of flight, and has one that is
// being written taken back: old bytes must not stay over new ones.
func TestChangeOvertakesStores(t *testing.T) {
	var reads atomic.Int64
	k, release := stalled(t, storing(&reads, storeOf(helloNode, 0, helloText)))
	k.wait(k.send(asked()))
	require.Eventually(t, func() bool {
		n := k.conn.notify
		n.mu.Lock()
		defer n.mu.Unlock()
		return len(n.fifo) == 0
	}, time.Second, time.Millisecond, "the first STORE is being written")
	k.wait(k.send(asked())) // its STORE waits behind the first
	k.wait(k.send(write1()))
	k.wait(k.send(read(0, 4096)))
	assert.EqualValues(t, 1, reads.Load(), "not from bytes in flight")
	release()
	require.Eventually(t, func() bool { return len(k.notifications()) == 2 }, time.Second, time.Millisecond)
	assert.Equal(t, []proto.NotifyCode{proto.NotifyStore, proto.NotifyInvalInode}, k.notifications())
	assert.EqualValues(t, 2, k.conn.Stats().StoreOvertaken)
}

func TestFullQueueDropsStoresAlone(t *testing.T) {
	gate := make(chan struct{})
	note := []proto.Notification{storeOf(helloNode, 0, helloText), invalInode(helloNode)}
	k := booted(t, Options{NotifyQueue: 300}, handlerFunc(func(context.Context, *proto.Request) *proto.Reply { return attributes(note...) }),
		func(c *Conn) { c.notify.write = func(b []byte) error { <-gate; return c.dev.write(b, nil) } })
	for range 10 {
		k.wait(k.send(asked()))
	}
	close(gate)
	require.Eventually(t, func() bool { s := k.conn.Stats(); return s.Notified+s.NotifyDropped == 20 }, time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		inval := 0
		for _, code := range k.notifications() {
			if code == proto.NotifyInvalInode {
				inval++
			}
		}
		return inval == 10
	}, time.Second, time.Millisecond)
	assert.NotZero(t, k.conn.Stats().NotifyDropped)
	assert.Zero(t, k.conn.notify.stores.count.Load(), "what is dropped is not in flight")
}

func TestUnmountDropsNotifications(t *testing.T) {
	var reads atomic.Int64
	k, release := stalled(t, storing(&reads, storeOf(helloNode, 0, helloText)))
	for range 3 {
		k.wait(k.send(asked()))
	}
	k.stop()
	time.Sleep(10 * time.Millisecond)
	release()
	assert.NoError(t, <-k.done)
}
