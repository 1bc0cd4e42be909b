package fuseraw

// Content that comes with a node, behind a fake kernel and the real one.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// bringing answers LOOKUP with content and an hour of validity, and counts the
// GETATTRs that get to it.
func bringing(asked *atomic.Int64) hello {
	return hello{hooks: map[proto.Opcode]handlerFunc{
		proto.OpLookup: func(context.Context, *proto.Request) *proto.Reply {
			r := found(storeOf(helloNode, 0, helloText))
			r.Out.(*fuse.EntryOut).AttrValid = 3600
			return r
		},
		proto.OpGetattr: func(context.Context, *proto.Request) *proto.Reply { asked.Add(1); return nil },
	}}
}

func about(op proto.Opcode, node uint64, in any, names ...string) *proto.Request {
	return &proto.Request{Op: op, Header: proto.Header{NodeId: node}, In: in, Names: names}
}

func attrOf() *proto.Request { return about(proto.OpGetattr, helloNode, &fuse.GetAttrIn{}) }

func TestContentIsStoredWhileAttributesAreAskedFor(t *testing.T) {
	var asked atomic.Int64
	k := booted(t, Options{}, bringing(&asked))
	entry := k.wait(k.send(lookup(helloName))).Out.(*fuse.EntryOut)
	assert.Zero(t, entry.AttrValid, "so that they will be asked for")
	assert.Empty(t, k.notifications())
	attr := k.wait(k.send(attrOf())).Out.(*fuse.AttrOut)
	assert.Equal(t, []proto.NotifyCode{proto.NotifyStore}, k.notifications(), "before the reply")
	assert.Equal(t, fuse.AttrOut{AttrValid: 3600, Attr: helloAttr(helloNode)}, *attr)
	assert.Zero(t, asked.Load())
	k.wait(k.send(attrOf()))
	assert.EqualValues(t, 1, asked.Load(), "the second time it is the handler's")
	assert.EqualValues(t, 1, k.conn.Stats().HeldAttrs)
}

// What could make old bytes appear over new ones makes an end of them instead.
func TestContentIsGivenUp(t *testing.T) {
	for name, req := range map[string]*proto.Request{
		"another entry makes the attributes valid": lookup(helloName),
		"a write":            write1(),
		"a read":             read(0, 1),
		"a link":             about(proto.OpLink, 1, &fuse.LinkIn{Oldnodeid: helloNode}, "link"),
		"a change of mode":   about(proto.OpSetattr, helloNode, &fuse.SetAttrIn{}),
		"opened, truncating": about(proto.OpOpen, helloNode, &fuse.OpenIn{Flags: syscall.O_TRUNC}),
		"opened already":     about(proto.OpGetattr, helloNode, &fuse.GetAttrIn{Flags_: fuse.FUSE_GETATTR_FH}),
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			k := booted(t, Options{}, bringing(&asked))
			k.wait(k.send(lookup(helloName)))
			k.wait(k.send(req))
			before := asked.Load()
			k.wait(k.send(attrOf()))
			assert.Empty(t, k.notifications())
			assert.Equal(t, before+1, asked.Load())
			assert.Zero(t, k.conn.nodes.bytes)
		})
	}
}

func TestContentIsStoredBeforeOtherQuestions(t *testing.T) {
	for name, req := range map[string]*proto.Request{
		"STATX": about(proto.OpStatx, helloNode, &fuse.StatxIn{}),
		"OPEN":  about(proto.OpOpen, helloNode, &fuse.OpenIn{}),
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			k := booted(t, Options{}, bringing(&asked))
			k.wait(k.send(lookup(helloName)))
			k.wait(k.send(req))
			assert.Equal(t, []proto.NotifyCode{proto.NotifyStore}, k.notifications())
			k.wait(k.send(attrOf()))
			assert.EqualValues(t, 1, asked.Load())
		})
	}
}

// A rename or a removal changes nodes that it does not name.
func TestAttributesMayBeOld(t *testing.T) {
	var asked atomic.Int64
	k := booted(t, Options{}, bringing(&asked))
	k.wait(k.send(lookup(helloName)))
	k.wait(k.send(about(proto.OpUnlink, 1, nil, "link")))
	k.wait(k.send(attrOf()))
	assert.Len(t, k.notifications(), 1)
	assert.EqualValues(t, 1, asked.Load())
}

// The kernel may have pages of a node that it knows, and writers of them.
func TestContentOfKnownNodesIsNotStored(t *testing.T) {
	var asked atomic.Int64
	k := booted(t, Options{}, bringing(&asked))
	forget := func(n uint64) { k.send(about(proto.OpForget, helloNode, &fuse.ForgetIn{Nlookup: n})) }
	valid := func() uint64 { return k.wait(k.send(lookup(helloName))).Out.(*fuse.EntryOut).AttrValid }
	assert.Zero(t, valid())
	assert.EqualValues(t, 3600, valid())
	assert.EqualValues(t, 1, k.conn.Stats().StoreKnown)
	forget(1)
	k.wait(k.send(attrOf())) // FORGET has been read by now
	assert.EqualValues(t, 3600, valid(), "one reference is left")
	forget(2)
	k.wait(k.send(attrOf()))
	assert.Zero(t, valid(), "all are forgotten")
	assert.Empty(t, k.notifications())
}

func TestContentIsHeldWhileItIsValid(t *testing.T) {
	var asked, now atomic.Int64
	k := booted(t, Options{Now: func() time.Time { return time.Unix(now.Load(), 0) }}, bringing(&asked))
	k.wait(k.send(lookup(helloName)))
	now.Store(3601)
	k.wait(k.send(attrOf()))
	assert.EqualValues(t, 1, asked.Load())
	assert.Empty(t, k.notifications())
}

func TestHeldContentIsBounded(t *testing.T) {
	k := booted(t, Options{NotifyQueue: 300}, handlerFunc(func(_ context.Context, req *proto.Request) *proto.Reply {
		r := found(storeOf(helloNode+req.Header.Unique, 0, helloText))
		r.Out.(*fuse.EntryOut).NodeId = helloNode + req.Header.Unique
		return r
	}))
	for range 3 {
		k.wait(k.send(lookup(helloName)))
	}
	assert.EqualValues(t, 2, k.conn.Stats().NotifyDropped)
	assert.Len(t, k.conn.nodes.held, 1)
}

// notebook has files of one page, which it knows by content: every LOOKUP
// brings what is in them, WRITE changes them.
type notebook struct {
	mu    sync.Mutex
	pages [100]string
}

const notebookFirst = 10 // the NodeId of its first file

func (b *notebook) attr(node uint64) fuse.Attr {
	a := helloAttr(helloNode)
	a.Ino, a.Size = node, uint64(os.Getpagesize())
	return a
}

func (b *notebook) handler() Handler {
	hooks := map[proto.Opcode]handlerFunc{
		proto.OpOpen: func(context.Context, *proto.Request) *proto.Reply { return &proto.Reply{Errno: syscall.ENOSYS} },
		proto.OpLookup: func(_ context.Context, req *proto.Request) *proto.Reply {
			var i uint64
			fmt.Sscanf(req.Names[0], "page%d", &i)
			b.mu.Lock()
			defer b.mu.Unlock()
			return &proto.Reply{
				Out:    &fuse.EntryOut{NodeId: notebookFirst + i, EntryValid: 3600, AttrValid: 3600, Attr: b.attr(notebookFirst + i)},
				Notify: []proto.Notification{storeOf(notebookFirst+i, 0, b.pages[i])},
			}
		},
		proto.OpGetattr: func(_ context.Context, req *proto.Request) *proto.Reply {
			if req.Header.NodeId < notebookFirst {
				return nil
			}
			return &proto.Reply{Out: &fuse.AttrOut{Attr: b.attr(req.Header.NodeId)}}
		},
		proto.OpWrite: func(_ context.Context, req *proto.Request) *proto.Reply {
			in := req.In.(*fuse.WriteIn)
			b.mu.Lock()
			defer b.mu.Unlock()
			page := &b.pages[req.Header.NodeId-notebookFirst]
			*page = (*page)[:in.Offset] + string(req.Data) + (*page)[in.Offset+uint64(len(req.Data)):]
			return &proto.Reply{Out: &fuse.WriteOut{Size: uint32(len(req.Data))}}
		},
	}
	return hello{hooks: hooks}
}

// Programs that change a file as soon as they know of it never lose what they
// wrote to the content that came along, nor read it.
func TestContentNeverOverwrites(t *testing.T) {
	for _, how := range []string{"write", "mmap"} {
		t.Run(how, func(t *testing.T) {
			var b notebook
			old, written := strings.Repeat("o", os.Getpagesize()), strings.Repeat("n", os.Getpagesize())
			for i := range b.pages {
				b.pages[i] = old
			}
			c, dir := serve(t, Options{Init: proto.InitOptions{NoOpen: true}}, b.handler())
			var callers sync.WaitGroup
			for part := range 4 {
				var names []string
				for i := part; i < len(b.pages); i += 4 {
					names = append(names, filepath.Join(dir, fmt.Sprintf("page%d", i)))
				}
				callers.Go(func() {
					_, err := run("overwrite", append([]string{how}, names...)...)
					assert.NoError(t, err)
				})
			}
			callers.Wait()
			b.mu.Lock()
			defer b.mu.Unlock()
			for i, page := range b.pages {
				assert.True(t, page == written, "page %d", i)
			}
			assert.EqualValues(t, len(b.pages), c.Stats().HeldAttrs)
		})
	}
}

// helperOverwrite fills the first page of files with "n" by write(2) or through
// a mapping, and reads it back.
func helperOverwrite(args []string) error {
	page := strings.Repeat("n", os.Getpagesize())
	for _, name := range args[1:] {
		if err := overwrite(name, page, args[0] == "mmap"); err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if string(text) != page {
			return fmt.Errorf("%s: have %q, want %d bytes of \"n\"", name, text, len(page))
		}
	}
	return nil
}

func overwrite(name, page string, mapped bool) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if !mapped {
		_, err := f.WriteAt([]byte(page), 0)
		return err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, len(page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(m, page)
	if err := unix.Msync(m, unix.MS_SYNC); err != nil {
		return err
	}
	return unix.Munmap(m)
}
