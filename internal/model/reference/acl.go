package reference

// POSIX access control lists: fs/posix_acl.c.

import (
	"encoding/binary"
	"slices"
	"syscall"
)

// The tags of entries, in the order in which an ACL has them.
const (
	aclUserObj  = 0x01
	aclUser     = 0x02
	aclGroupObj = 0x04
	aclGroup    = 0x08
	aclMask     = 0x10
	aclOther    = 0x20
)

const (
	aclVersion     = 2 // POSIX_ACL_XATTR_VERSION
	aclHeaderSize  = 4
	aclEntrySize   = 8
	aclUndefinedID = ^uint32(0)
)

type aclEntry struct {
	tag, perm uint16
	id        uint32 // of ACL_USER and ACL_GROUP
}

// acl is never changed once it is in use; nil is none.
type acl []aclEntry

// parseACL is posix_acl_from_xattr(). No entries are no ACL.
func parseACL(b []byte) (acl, syscall.Errno) {
	if len(b) == 0 {
		return nil, 0
	}
	if len(b) < aclHeaderSize {
		return nil, syscall.EINVAL
	}
	if binary.LittleEndian.Uint32(b) != aclVersion {
		return nil, syscall.EOPNOTSUPP
	}
	b = b[aclHeaderSize:]
	if len(b)%aclEntrySize != 0 {
		return nil, syscall.EINVAL
	}
	var a acl
	for ; len(b) > 0; b = b[aclEntrySize:] {
		e := aclEntry{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]), aclUndefinedID}
		if e.tag == aclUser || e.tag == aclGroup {
			e.id = binary.LittleEndian.Uint32(b[4:])
		}
		if !e.known() {
			return nil, syscall.EINVAL
		}
		a = append(a, e)
	}
	return a, 0
}

func (e aclEntry) known() bool {
	switch e.tag {
	case aclUserObj, aclGroupObj, aclMask, aclOther:
		return true
	case aclUser, aclGroup:
		return e.id != aclUndefinedID
	}
	return false
}

// xattr is posix_acl_to_xattr().
func (a acl) xattr() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, aclHeaderSize+len(a)*aclEntrySize), aclVersion)
	for _, e := range a {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

// valid is posix_acl_valid(): the tags ascend, the three that every ACL has
// are there once, and the mask is where named users or groups need one.
func (a acl) valid() bool {
	var count [aclOther + 1]int
	last := uint16(0)
	for _, e := range a {
		if e.perm&^7 != 0 || e.tag < last {
			return false
		}
		last = e.tag
		count[e.tag]++
	}
	named := count[aclUser] + count[aclGroup]
	return count[aclUserObj] == 1 && count[aclGroupObj] == 1 && count[aclOther] == 1 &&
		count[aclMask] <= 1 && (named == 0 || count[aclMask] == 1)
}

// mode is posix_acl_equiv_mode(): the permission bits that go with the ACL,
// and whether they say all that it says.
func (a acl) mode() (mode uint32, equivalent bool) {
	equivalent = true
	for _, e := range a {
		perm := uint32(e.perm)
		switch e.tag {
		case aclUserObj:
			mode |= perm << 6
		case aclGroupObj:
			mode |= perm << 3
		case aclOther:
			mode |= perm
		case aclMask:
			mode = mode&^0o070 | perm<<3
			equivalent = false
		default:
			equivalent = false
		}
	}
	return mode, equivalent
}

// groupClass is the entry that the group bits of the mode stand for.
func (a acl) groupClass() *aclEntry {
	k := slices.IndexFunc(a, func(e aclEntry) bool { return e.tag == aclMask })
	if k < 0 {
		k = slices.IndexFunc(a, func(e aclEntry) bool { return e.tag == aclGroupObj })
	}
	return &a[k]
}

// chmod is __posix_acl_chmod_masq().
func (a acl) chmod(mode uint32) acl {
	a = slices.Clone(a)
	for i := range a {
		switch a[i].tag {
		case aclUserObj:
			a[i].perm = uint16(mode >> 6 & 7)
		case aclOther:
			a[i].perm = uint16(mode & 7)
		}
	}
	a.groupClass().perm = uint16(mode >> 3 & 7)
	return a
}

// inherit is posix_acl_create_masq(): the ACL of a new file, and its mode.
func (a acl) inherit(mode uint32) (acl, uint32) {
	a = slices.Clone(a)
	perms := mode & rwxBits
	limit := func(e *aclEntry, shift int) {
		e.perm &= uint16(perms >> shift & 7)
		perms &= uint32(e.perm)<<shift | ^(uint32(7) << shift)
	}
	for i := range a {
		switch a[i].tag {
		case aclUserObj:
			limit(&a[i], 6)
		case aclOther:
			limit(&a[i], 0)
		}
	}
	limit(a.groupClass(), 3)
	return a, mode&^rwxBits | perms
}

// permission is posix_acl_permission() for who is not the owner.
func (a acl) permission(c *call, n *inode, mask uint32) syscall.Errno {
	want := uint16(mask & 7)
	member := false
	for _, e := range a {
		switch {
		case e.tag == aclUser && e.id == c.Header.Uid:
			return a.masked(e.perm, want)
		case e.tag == aclGroupObj && c.in(n.gid), e.tag == aclGroup && c.in(e.id):
			member = true
			if e.perm&want == want {
				return a.masked(e.perm, want)
			}
		case e.tag == aclOther && !member:
			return granted(e.perm, want)
		}
	}
	return syscall.EACCES
}

// masked limits a named entry by the mask.
func (a acl) masked(perm, want uint16) syscall.Errno {
	if e := a.groupClass(); e.tag == aclMask {
		perm &= e.perm
	}
	return granted(perm, want)
}

func granted(perm, want uint16) syscall.Errno {
	if perm&want != want {
		return syscall.EACCES
	}
	return 0
}
