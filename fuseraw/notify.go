package fuseraw

// Notifications: sent in order, each after the reply it came with, but for
// invalidations of attributes, which go before it. An invalidation of data waits in the kernel for locks that are held over requests in
// flight, so a goroutine of its own sends them and no reader ever waits for it.

import (
	"errors"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"golang.org/x/sys/unix"
)

// message is a notification on its way.
type message struct {
	note  *proto.Notification
	store *store // nil unless note is a STORE
	size  int    // bytes, about
}

// longestWait is the last of the doubling waits for a node to become known.
const longestWait = 16 * time.Millisecond

// notifier is the queue. Its lock is a leaf; it is not held while writing.
type notifier struct {
	c    *Conn
	done chan struct{} // closed when run has returned
	// write sends one message; it may wait for locks in the kernel.
	write func(b []byte) error

	mu      sync.Mutex
	wake    sync.Cond
	fifo    []message
	bytes   int
	stopped bool
	stores  stores
}

func newNotifier(c *Conn) *notifier {
	n := &notifier{c: c, done: make(chan struct{}), write: func(b []byte) error { return c.dev.write(b, nil) }}
	n.wake.L = &n.mu
	return n
}

// ofAttributes tells of an invalidation of attributes alone. The kernel takes no
// lock for it that a request could hold, so it goes out before the reply: the
// caller then never sees what the request has changed behind the kernel's back.
func ofAttributes(n *proto.Notification) bool {
	out, ok := n.Out.(*fuse.NotifyInvalInodeOut)
	return ok && n.Code == proto.NotifyInvalInode && out.Off < 0
}

// attributes sends those of the notifications that go before the reply.
func (n *notifier) attributes(notes []proto.Notification) {
	for i := range notes {
		if ofAttributes(&notes[i]) {
			n.send(message{note: &notes[i]})
		}
	}
}

// queue takes the notifications of a reply that has been written, and what
// announce made of their STOREs.
func (n *notifier) queue(notes []proto.Notification, stores []*store) {
	if len(notes) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range notes {
		if ofAttributes(&notes[i]) {
			continue // sent already
		}
		m := message{note: &notes[i], store: stores[i], size: 64 + len(notes[i].Name) + len(notes[i].Data)}
		full := m.store != nil && n.bytes+m.size > n.c.opts.NotifyQueue
		if full || n.stopped {
			n.drop(m)
			continue
		}
		n.bytes += m.size
		n.fifo = append(n.fifo, m)
	}
	n.wake.Signal()
}

// drop forgets a message. The lock is held.
func (n *notifier) drop(m message) {
	n.c.count.notifyDropped.Add(1)
	n.stores.remove(m.store)
}

// run sends what is queued until stop.
func (n *notifier) run() {
	defer close(n.done)
	for {
		m, ok := n.next()
		if !ok {
			return
		}
		n.send(m)
		n.sent(m)
	}
}

func (n *notifier) next() (message, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for !n.stopped {
		if len(n.fifo) == 0 {
			n.wake.Wait()
			continue
		}
		m := n.fifo[0]
		n.fifo[0] = message{}
		n.fifo = n.fifo[1:]
		n.bytes -= m.size
		if m.store == nil || !m.store.overtaken {
			return m, true
		}
		n.c.count.overtaken.Add(1)
		n.stores.remove(m.store)
	}
	return message{}, false
}

func (n *notifier) send(m message) {
	b, err := proto.AppendNotification(nil, m.note)
	if err == nil {
		err = n.write(b)
	}
	// The caller may not yet have made an inode of the reply that came with it.
	for wait := time.Millisecond; err == unix.ENOENT && m.store != nil && m.store.fresh && wait <= longestWait; wait *= 2 {
		n.c.count.notifyRetried.Add(1)
		time.Sleep(wait)
		err = n.write(b)
	}
	switch {
	case err == nil:
		n.c.count.notified.Add(1)
	case errors.Is(err, unix.ENOENT):
		n.c.count.notifyUnknown.Add(1)
	case errors.Is(err, errGone):
		n.c.count.notifyDropped.Add(1)
	default:
		n.c.count.notifyRefused.Add(1)
		n.c.opts.Log.Error("notification refused", "code", m.note.Code, "err", err)
	}
}

// sent ends a message. A STORE that a change overtook while it was being
// written may have put old bytes over new ones: they are taken back.
func (n *notifier) sent(m message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stores.remove(m.store)
	if m.store != nil && m.store.overtaken && !n.stopped {
		n.c.count.overtaken.Add(1)
		n.fifo = append([]message{{note: m.store.undo(), size: 0}}, n.fifo...)
	}
}

// stop drops what waits; run returns once the kernel lets go of it.
func (n *notifier) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = true
	for _, m := range n.fifo {
		n.drop(m)
	}
	n.fifo, n.bytes = nil, 0
	n.wake.Signal()
}
