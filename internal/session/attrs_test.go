package session

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

func rowsOf(want func(*plan) bool) (names []string) {
	for _, row := range proto.Rows() {
		if want(plans[row.Op]) {
			names = append(names, row.Name)
		}
	}
	return names
}

func TestWhichRequestsOnlyAsk(t *testing.T) {
	assert.Equal(t, []string{
		"LOOKUP", "GETATTR", "READLINK", "READ", "STATFS", "GETXATTR", "LISTXATTR", "READDIR", "READDIRPLUS", "STATX",
	}, rowsOf((*plan).asks))
	assert.Equal(t, []string{"GETATTR"}, rowsOf((*plan).asksAttrs))
}

var (
	getattr = &proto.Request{Op: proto.OpGetattr, Header: proto.Header{NodeId: 5}, In: &fuse.GetAttrIn{}}
	sized   = &proto.Reply{Out: &fuse.AttrOut{AttrValid: 60, Attr: fuse.Attr{Ino: 5, Size: 9}}}
)

func on(op proto.Opcode, node uint64, in any, names ...string) *proto.Request {
	return &proto.Request{Op: op, Header: proto.Header{NodeId: node}, In: in, Names: names}
}

func TestAttributesAreKnownUntilTheyChange(t *testing.T) {
	entry := &proto.Reply{Out: &fuse.EntryOut{NodeId: 5, AttrValid: 60}}
	for name, c := range map[string]struct {
		req   *proto.Request
		reply *proto.Reply
		known bool
	}{
		"a question":               {on(proto.OpRead, 5, &fuse.ReadIn{}), &proto.Reply{}, true},
		"a write of it":            {on(proto.OpWrite, 5, &fuse.WriteIn{}), &proto.Reply{Out: &fuse.WriteOut{}}, false},
		"a write that failed":      {on(proto.OpWrite, 5, &fuse.WriteIn{}), nil, false},
		"a write of another":       {on(proto.OpWrite, 6, &fuse.WriteIn{}), &proto.Reply{Out: &fuse.WriteOut{}}, true},
		"a copy to it":             {on(proto.OpCopyFileRange, 6, &fuse.CopyFileRangeIn{NodeIdOut: 5}), &proto.Reply{}, false},
		"a new link, told again":   {on(proto.OpLink, 1, &fuse.LinkIn{Oldnodeid: 5}, "l"), entry, true},
		"a new link that failed":   {on(proto.OpLink, 1, &fuse.LinkIn{Oldnodeid: 5}, "l"), &proto.Reply{Errno: 1}, false},
		"a name in it":             {on(proto.OpMkdir, 5, &fuse.MkdirIn{}, "d"), &proto.Reply{Out: &fuse.EntryOut{NodeId: 7}}, false},
		"a removal somewhere":      {on(proto.OpUnlink, 1, nil, "l"), &proto.Reply{}, false},
		"a rename somewhere":       {on(proto.OpRename2, 1, &fuse.RenameIn{}, "l", "m"), &proto.Reply{}, false},
		"a change without request": {on(proto.OpLookup, 1, nil, "l"), &proto.Reply{Out: &fuse.EntryOut{}, Notify: []proto.Notification{{Code: proto.NotifyInvalInode}}}, false},
		"content that came along":  {on(proto.OpLookup, 1, nil, "l"), &proto.Reply{Out: &fuse.EntryOut{}, Notify: []proto.Notification{{Code: proto.NotifyStore}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttributes()
			a.end(getattr, sized, a.begin(getattr))
			assert.Equal(t, sized, a.known(getattr))
			a.end(c.req, c.reply, a.begin(c.req))
			assert.Equal(t, c.known, a.known(getattr) != nil)
		})
	}
}

func TestAttributesAreKnownForAsLongAsTheyAreValid(t *testing.T) {
	a := newAttributes()
	at := func(sec int64) *proto.Request {
		req := *getattr
		req.Header.Now.Sec = sec
		return &req
	}
	a.end(at(100), sized, a.begin(at(100)))
	assert.EqualValues(t, 20, a.known(at(140)).Out.(*fuse.AttrOut).AttrValid)
	assert.Nil(t, a.known(at(160)))
	a.end(at(200), &proto.Reply{Out: &fuse.AttrOut{}}, a.begin(at(200)))
	assert.Nil(t, a.known(at(200)), "to be asked for each time")
}

// What was answered while something changed may be from before the change.
func TestAttributesOfAnUnquietMoment(t *testing.T) {
	write := on(proto.OpWrite, 5, &fuse.WriteIn{})
	for name, order := range map[string]func(a *attributes){
		"begun in between": func(a *attributes) {
			began := a.begin(getattr)
			a.begin(write)
			a.end(getattr, sized, began)
		},
		"ended in between": func(a *attributes) {
			writing := a.begin(write)
			began := a.begin(getattr)
			a.end(write, &proto.Reply{}, writing)
			a.end(getattr, sized, began)
		},
		"ended afterwards": func(a *attributes) {
			writing := a.begin(write)
			a.end(getattr, sized, a.begin(getattr))
			a.end(write, &proto.Reply{}, writing)
		},
	} {
		a := newAttributes()
		order(a)
		assert.Nil(t, a.known(getattr), name)
	}
}
