package session

// Projection of notifications: what a model tells without being asked.

import (
	"reflect"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// notices are the rules by the struct of the notification.
var notices = map[reflect.Type]func(*ledger, *proto.Notification){
	reflect.TypeFor[*fuse.NotifyStoreOut]():       (*ledger).stored,
	reflect.TypeFor[*fuse.NotifyInvalInodeOut]():  (*ledger).invalidNode,
	reflect.TypeFor[*fuse.NotifyInvalEntryOut]():  (*ledger).invalidEntry,
	reflect.TypeFor[*fuse.NotifyInvalDeleteOut](): (*ledger).deleted,
}

func (s *step) notified() {
	for i := range s.reply.Notify {
		n := &s.reply.Notify[i]
		if rule := notices[reflect.TypeOf(n.Out)]; rule != nil {
			rule(s.l, n)
		}
	}
}

// stored: the kernel's cache now holds what came along.
func (l *ledger) stored(n *proto.Notification) {
	out := n.Out.(*fuse.NotifyStoreOut)
	l.node(out.Nodeid).content.put(chunk{off: out.Offset, data: present(n.Data)})
}

// invalidNode: attributes and a range of the content are no longer as told. A
// length of 0 reaches to the end, an offset below 0 means attributes alone.
func (l *ledger) invalidNode(n *proto.Notification) {
	out := n.Out.(*fuse.NotifyInvalInodeOut)
	node := l.node(out.Ino)
	node.told, node.json = false, nil
	switch {
	case out.Off < 0:
	case out.Length <= 0:
		node.content.cut(uint64(out.Off))
	default:
		node.content.forget(uint64(out.Off), uint64(out.Off+out.Length))
	}
}

// invalidEntry: what the name leads to is no longer as told.
func (l *ledger) invalidEntry(n *proto.Notification) {
	dir := l.node(n.Out.(*fuse.NotifyInvalEntryOut).Parent)
	l.unlink(dir, n.Name)
	dir.forget(n.Name)
}

// deleted: the name is gone.
func (l *ledger) deleted(n *proto.Notification) {
	l.unlink(l.node(n.Out.(*fuse.NotifyInvalDeleteOut).Parent), n.Name)
}
