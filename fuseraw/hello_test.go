package fuseraw

// A filesystem of one file, for the tests with the kernel.

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	helloName = "hello"
	helloText = "hello world\n"
	helloNode = 2
)

// handlerFunc is a function as a Handler.
type handlerFunc func(ctx context.Context, req *proto.Request) *proto.Reply

func (f handlerFunc) Handle(ctx context.Context, req *proto.Request) *proto.Reply { return f(ctx, req) }

// hello serves helloText in the file helloName. Each function of hooks, by
// opcode, may answer in its place.
type hello struct {
	hooks map[proto.Opcode]handlerFunc
}

func (h hello) Handle(ctx context.Context, req *proto.Request) *proto.Reply {
	if hook := h.hooks[req.Op]; hook != nil {
		if r := hook(ctx, req); r != nil {
			return r
		}
	}
	if answer := helloAnswers[req.Op]; answer != nil {
		return answer(req)
	}
	return &proto.Reply{Errno: syscall.ENOSYS}
}

var helloAnswers = map[proto.Opcode]func(*proto.Request) *proto.Reply{
	proto.OpLookup: func(req *proto.Request) *proto.Reply {
		if req.Names[0] != helloName {
			return &proto.Reply{Errno: syscall.ENOENT}
		}
		return &proto.Reply{Out: helloEntry()}
	},
	proto.OpGetattr: func(req *proto.Request) *proto.Reply {
		return &proto.Reply{Out: &fuse.AttrOut{Attr: helloAttr(req.Header.NodeId)}}
	},
	proto.OpOpen: func(*proto.Request) *proto.Reply {
		return &proto.Reply{Out: &fuse.OpenOut{Fh: 1, OpenFlags: fuse.FOPEN_KEEP_CACHE}}
	},
	proto.OpOpendir: func(*proto.Request) *proto.Reply { return &proto.Reply{Out: &fuse.OpenOut{Fh: 1}} },
	proto.OpRead: func(req *proto.Request) *proto.Reply {
		in := req.In.(*fuse.ReadIn)
		off := min(in.Offset, uint64(len(helloText)))
		end := min(off+uint64(in.Size), uint64(len(helloText)))
		return &proto.Reply{Data: []byte(helloText[off:end])}
	},
	proto.OpReaddir:     helloList,
	proto.OpReaddirplus: helloList,
	proto.OpRelease:     func(*proto.Request) *proto.Reply { return &proto.Reply{} },
	proto.OpReleasedir:  func(*proto.Request) *proto.Reply { return &proto.Reply{} },
	proto.OpForget:      func(*proto.Request) *proto.Reply { return &proto.Reply{} },
}

func helloList(req *proto.Request) *proto.Reply {
	if req.In.(*fuse.ReadIn).Offset > 0 {
		return &proto.Reply{}
	}
	return &proto.Reply{Entries: []proto.Dirent{{Ino: helloNode, Off: 1, Type: syscall.DT_REG, Name: helloName}}}
}

func helloAttr(node uint64) fuse.Attr {
	if node == helloNode {
		return fuse.Attr{Ino: node, Mode: syscall.S_IFREG | 0o644, Nlink: 1, Size: uint64(len(helloText))}
	}
	return fuse.Attr{Ino: node, Mode: syscall.S_IFDIR | 0o755, Nlink: 2}
}

func helloEntry() *fuse.EntryOut {
	return &fuse.EntryOut{NodeId: helloNode, Attr: helloAttr(helloNode)}
}

// sleeps answers like hello, after d and whatever the context says.
func sleeps(d time.Duration) handlerFunc {
	return func(context.Context, *proto.Request) *proto.Reply {
		time.Sleep(d)
		return nil
	}
}
