package proto

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Request is one decoded kernel request. Which of In, Names, Data and List
// are set is what the opcode's [Row] says.
type Request struct {
	Op     Opcode
	Header Header
	// In points to the row's in-struct, a *fuse.CreateIn say, or is nil where
	// the row has none. Its embedded fuse.InHeader stays zero: see Header.
	In    any
	Names []string
	Data  []byte // the payload of WRITE, SETXATTR, IOCTL, NOTIFY_REPLY
	List  any    // the elements after In: []ForgetOne or []RemoveMappingOne
	Ext   []Extension

	names [2]string // what Names points to, to save an allocation
	spare []byte    // memory for the Data of the next request
}

// Header is what every request carries: struct fuse_in_header less what the
// codec derives (len, opcode, total_extlen), and what the daemon adds so that
// a replay needs neither a clock nor /proc.
type Header struct {
	Unique uint64 // the request's number; its reply carries the same
	NodeId uint64
	Uid    uint32
	Gid    uint32
	Pid    uint32
	Comm   string // the caller's program name, /proc/PID/comm; added by the daemon
	Now    Time   // when the daemon read the request; added by the daemon
	// Groups are the caller's supplementary groups, added by the daemon only
	// where the filesystem checks permissions itself (no default_permissions).
	Groups []uint32 `proto:"optional"`
}

// Time is a moment since the Unix epoch, as struct timespec.
type Time struct {
	Sec  int64
	Nsec uint32 // 0 to 999,999,999
}

// Extension is one struct fuse_ext_header record after a request's body.
type Extension struct {
	Type uint32 // enum fuse_ext_type; up to 31 it is a number of security contexts
	Data []byte // the record less its 8-byte header, padding included
}

// Reply is the answer to one request. Where Errno is not 0, nothing else of
// it counts.
type Reply struct {
	Errno   syscall.Errno
	Out     any      // points to the row's out-struct, or nil
	Data    []byte   // bytes of READ, READLINK, GETXATTR, LISTXATTR, IOCTL
	Entries []Dirent // READDIR and READDIRPLUS
	Notify  []Notification

	// Release, where it is not nil, is to be called once when nobody needs Data
	// any more: its memory is then used again.
	Release func()
}

// DataLimit is how many bytes of Data a reply to r may have, where the request
// says so.
func (r *Request) DataLimit() (bytes uint64, ok bool) {
	row := r.Op.Row()
	if row == nil || !row.shape(r).data {
		return 0, false
	}
	return row.limit(r)
}

// Dirent is struct fuse_dirent or, for READDIRPLUS, struct fuse_direntplus.
type Dirent struct {
	Entry fuse.EntryOut // READDIRPLUS only; NodeId 0 says nothing about the name's node
	Ino   uint64
	Off   uint64 // the cookie from which the next READDIR goes on
	Type  uint32 // DT_*, the file type bits of the mode shifted right by 12
	Name  string
}

// Notification is a message to the kernel that answers no request.
type Notification struct {
	Code NotifyCode
	Out  any    // points to the notification row's struct
	Name string // INVAL_ENTRY, DELETE
	Data []byte // STORE
}
