package fuseraw

// What a mount can be told, and the interface of what answers it.

import (
	"context"
	"log/slog"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// Handler answers requests. It is called from many goroutines at once, for
// every request but INIT and INTERRUPT, which the loop answers itself.
//
// ctx ends at the caller's interrupt, the deadline or the unmount;
// [context.Cause] then is [ErrInterrupted], [ErrDeadline] or [ErrUnmounted].
// A handler that has not returned [Grace] later is answered for, and its reply
// is dropped. req.Data and req.Ext alias the read buffer: they are valid until
// Handle returns. A nil reply or a panic is answered with EIO. Release of a
// reply is called when it has been written, or will not be.
type Handler interface {
	Handle(ctx context.Context, req *proto.Request) *proto.Reply
}

// Options of a mount. The zero value is usable: mounted by name "llmfs-raw",
// for its own user only, no deadline.
type Options struct {
	FsName     string // the mount's source, as shown by mount(8)
	AllowOther bool   // let other users in; as non-root it needs user_allow_other in /etc/fuse.conf
	ReadOnly   bool
	Dev        bool // let device nodes work; only root may
	Suid       bool // honour set-user-id bits; only root may

	// Init is what INIT negotiates. Its MaxWrite is the mount's max_read, too.
	// With its OwnPermissions the mount goes without default_permissions, and
	// Header.Groups has the callers' groups.
	Init proto.InitOptions

	// Deadline is how long a request may take before it is answered with
	// ETIMEDOUT; 0 is for ever. Rows marked Blocking have none.
	Deadline time.Duration

	// Readers is how many goroutines go on waiting for requests after a burst;
	// 0 is 1. It does not limit the requests in flight: where those that there
	// are have been busy for a millisecond, another is started.
	Readers int

	// NotifyQueue is how many bytes of notifications may wait to be sent
	// before further STOREs are dropped; 0 is 64 MiB. Invalidations are never dropped.
	NotifyQueue int

	// Record is called once per decoded request, before its reply is written,
	// so that whatever a program saw has been recorded. It is called from many
	// goroutines at once.
	Record func(Exchange)

	Log *slog.Logger // nil is slog.Default()

	// What the loop adds to headers; nil is the clock and /proc.
	Now    func() time.Time
	Comm   func(pid uint32) string
	Groups func(pid uint32) []uint32 // called only with Init.OwnPermissions
}

// Type is the mount's filesystem type in /proc/mounts.
const Type = "fuse." + subtype

const (
	subtype            = "llmfs-raw"
	defaultReaders     = 1
	defaultNotifyQueue = 64 << 20 // bytes
)

func (o Options) withDefaults() Options {
	if o.FsName == "" {
		o.FsName = subtype
	}
	if o.Readers <= 0 {
		o.Readers = defaultReaders
	}
	if o.NotifyQueue <= 0 {
		o.NotifyQueue = defaultNotifyQueue
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
