package session

// An access ACL is the permissions of its file, too: posix_acl_xattr.h.

import (
	"encoding/binary"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	aclAccess = "system.posix_acl_access"
	aclHeader = 4 // bytes
	aclEntry  = 8

	aclUserObj  = 0x01
	aclGroupObj = 0x04
	aclMask     = 0x10
	aclOther    = 0x20
)

// acl brings the mode forward where an access ACL was set.
func (s *step) acl(name string) {
	if name != aclAccess {
		return
	}
	perms := map[uint16]uint32{}
	for b := s.req.Data[min(aclHeader, len(s.req.Data)):]; len(b) >= aclEntry; b = b[aclEntry:] {
		perms[binary.LittleEndian.Uint16(b)] = uint32(binary.LittleEndian.Uint16(b[2:])) & 7
	}
	group, masked := perms[aclMask]
	if !masked {
		group = perms[aclGroupObj]
	}
	if len(perms) > 0 {
		s.node.change(func(a *fuse.Attr) {
			a.Mode = a.Mode&^0o777 | perms[aclUserObj]<<6 | group<<3 | perms[aclOther]
			if s.in("SetXAttrFlags")&fuse.SETXATTR_ACL_KILL_SGID != 0 {
				a.Mode &^= sISGID
			}
		})
	}
}
