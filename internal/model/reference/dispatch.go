package reference

// Which function answers which opcode, and under which lock.

import (
	"reflect"
	"slices"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// nsLock is how a handler holds FS.ns.
type nsLock uint8

const (
	shared nsLock = iota
	exclusive
	unlocked // the handler waits, and locks for itself
)

type handler struct {
	serve   func(*call) syscall.Errno
	lock    nsLock
	changes bool // EROFS before anything else is looked at, as mnt_want_write() does
	files   bool // about open files alone: ENOSYS where nothing is opened
}

// handlers is indexed by opcode. INIT, DESTROY, INTERRUPT and NOTIFY_REPLY
// are the daemon's; like every other opcode without a handler they get ENOSYS.
var handlers = [...]handler{
	proto.OpLookup:          {serve: (*call).lookup},
	proto.OpForget:          {serve: (*call).forget, lock: exclusive},
	proto.OpGetattr:         {serve: (*call).getattr},
	proto.OpSetattr:         {serve: (*call).setattr, lock: exclusive, changes: true},
	proto.OpReadlink:        {serve: (*call).readlink},
	proto.OpSymlink:         {serve: (*call).symlink, lock: exclusive},
	proto.OpMknod:           {serve: (*call).mknod, lock: exclusive},
	proto.OpMkdir:           {serve: (*call).mkdir, lock: exclusive},
	proto.OpUnlink:          {serve: (*call).unlink, lock: exclusive, changes: true},
	proto.OpRmdir:           {serve: (*call).rmdir, lock: exclusive, changes: true},
	proto.OpRename:          {serve: (*call).rename, lock: exclusive, changes: true},
	proto.OpLink:            {serve: (*call).link, lock: exclusive},
	proto.OpOpen:            {serve: (*call).open, files: true},
	proto.OpRead:            {serve: (*call).read},
	proto.OpWrite:           {serve: (*call).write},
	proto.OpStatfs:          {serve: (*call).statfs},
	proto.OpRelease:         {serve: (*call).releaseFile, lock: exclusive, files: true},
	proto.OpFsync:           {serve: (*call).fsync, files: true},
	proto.OpSetxattr:        {serve: (*call).setxattr, lock: exclusive, changes: true},
	proto.OpGetxattr:        {serve: (*call).getxattr},
	proto.OpListxattr:       {serve: (*call).listxattr},
	proto.OpRemovexattr:     {serve: (*call).removexattr, lock: exclusive, changes: true},
	proto.OpFlush:           {serve: (*call).flush, files: true},
	proto.OpOpendir:         {serve: (*call).opendir, files: true},
	proto.OpReaddir:         {serve: (*call).readdir},
	proto.OpReleasedir:      {serve: (*call).releaseFile, lock: exclusive, files: true},
	proto.OpFsyncdir:        {serve: (*call).fsync, files: true},
	proto.OpGetlk:           {serve: (*call).getlk, files: true},
	proto.OpSetlk:           {serve: (*call).setlk, lock: unlocked, files: true},
	proto.OpSetlkw:          {serve: (*call).setlk, lock: unlocked, files: true},
	proto.OpAccess:          {serve: (*call).access},
	proto.OpCreate:          {serve: (*call).create, lock: exclusive},
	proto.OpBmap:            {serve: (*call).bmap},
	proto.OpIoctl:           {serve: (*call).ioctl, lock: exclusive},
	proto.OpPoll:            {serve: (*call).poll},
	proto.OpBatchForget:     {serve: (*call).batchForget, lock: exclusive},
	proto.OpFallocate:       {serve: (*call).fallocate},
	proto.OpReaddirplus:     {serve: (*call).readdir},
	proto.OpRename2:         {serve: (*call).rename, lock: exclusive, changes: true},
	proto.OpLseek:           {serve: (*call).lseek},
	proto.OpCopyFileRange:   {serve: (*call).copyFileRange},
	proto.OpSyncfs:          {serve: (*call).syncfs},
	proto.OpTmpfile:         {serve: (*call).tmpfile, lock: exclusive},
	proto.OpStatx:           {serve: (*call).statx},
	proto.OpCopyFileRange64: {serve: (*call).copyFileRange64},
}

// serve fills c.reply.
func (c *call) serve() {
	c.reply = proto.Reply{}
	e := c.dispatch()
	if e != 0 {
		c.reply = proto.Reply{Errno: e}
	}
}

func (c *call) dispatch() syscall.Errno {
	if int(c.Op) >= len(handlers) || handlers[c.Op].serve == nil || slices.Contains(c.fs.opt.Off, c.Op) {
		return syscall.ENOSYS
	}
	if !wellFormed(c.Request) {
		return syscall.EINVAL
	}
	h := &handlers[c.Op]
	if h.files && c.fs.opt.NoOpen {
		return syscall.ENOSYS
	}
	c.fs.birth(c.Header.Now)
	switch h.lock {
	case shared:
		c.fs.ns.RLock()
		defer c.fs.ns.RUnlock()
	case exclusive:
		c.fs.ns.Lock()
		defer c.fs.ns.Unlock()
	}
	if h.changes && c.fs.opt.ReadOnly {
		return syscall.EROFS
	}
	return h.serve(c)
}

// wellFormed says whether the request has the parts that its row promises, so
// that handlers need not ask.
func wellFormed(r *proto.Request) bool {
	row := r.Op.Row()
	return len(r.Names) == row.Names &&
		reflect.TypeOf(r.In) == reflect.TypeOf(row.In) &&
		r.Header.Now.Nsec < 1e9
}
