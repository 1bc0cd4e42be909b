package proto

// Notifications: what the daemon tells the kernel without being asked.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// NotifyCode is enum fuse_notify_code of linux/fuse.h.
type NotifyCode uint32

// The notifications that a reply may carry.
const (
	NotifyInvalInode NotifyCode = 2 // drop cached attributes and a range of the data of a node
	NotifyInvalEntry NotifyCode = 3 // drop a name
	NotifyStore      NotifyCode = 4 // put data into the page cache of a node
	NotifyDelete     NotifyCode = 6 // a name is gone: tell inotify, too
)

// notifyRow is to a notification what [Row] is to an opcode. The length of
// what follows the struct is not in its JSON form.
type notifyRow struct {
	name   string
	out    any
	length string // the field with the length of Name or Data; "" where neither follows
	data   bool   // Data follows, not Name

	layout *layout
	size   *field
	need   uint64
}

var notifyTable = [...]notifyRow{
	NotifyInvalInode: {name: "INVAL_INODE", out: (*fuse.NotifyInvalInodeOut)(nil)},
	NotifyInvalEntry: {name: "INVAL_ENTRY", out: (*fuse.NotifyInvalEntryOut)(nil), length: "NameLen"},
	NotifyStore:      {name: "STORE", out: (*fuse.NotifyStoreOut)(nil), length: "Size", data: true},
	NotifyDelete:     {name: "DELETE", out: (*fuse.NotifyInvalDeleteOut)(nil), length: "NameLen"},
}

const (
	memberCode = iota
	memberNotifyOut
	memberName
	memberStored
)

var notifyKeys = newKeys("Code", "Out", "Name", "Data")

func init() {
	for i := range notifyTable {
		row := &notifyTable[i]
		row.need = 1<<memberCode | 1<<memberNotifyOut
		switch {
		case row.out == nil:
			continue
		case row.data:
			row.need |= 1 << memberStored
		case row.length != "":
			row.need |= 1 << memberName
		}
		row.layout = layoutOf(row.out, row.length)
		if row.length != "" {
			row.size = layoutOf(row.out).field(row.length)
		}
	}
}

func (c NotifyCode) row() *notifyRow {
	if int(c) >= len(notifyTable) || notifyTable[c].name == "" {
		return nil
	}
	return &notifyTable[c]
}

// String is the kernel's name without FUSE_NOTIFY_, or "NOTIFY(n)".
func (c NotifyCode) String() string {
	if row := c.row(); row != nil {
		return row.name
	}
	return fmt.Sprintf("NOTIFY(%d)", uint32(c))
}

// AppendNotification appends the whole message, which has a unique of 0 and
// its code in the place of the error. The length field of Out is derived.
func AppendNotification(dst []byte, n *Notification) ([]byte, error) {
	row := n.Code.row()
	if row == nil {
		return dst, fmt.Errorf("encode notification %v: no such code", n.Code)
	}
	p, err := row.layout.pointer(n.Out)
	if err != nil {
		return dst, fmt.Errorf("encode notification %v: Out: %w", n.Code, err)
	}
	start := len(dst)
	dst = append(dst, make([]byte, outHeaderLen)...)
	dst = row.appendTail(append(dst, row.layout.wire(p)...), n)
	if row.size != nil {
		at := start + outHeaderLen + int(row.size.offset)
		binary.NativeEndian.PutUint32(dst[at:], uint32(len(n.Name)+len(n.Data)))
	}
	h := fuse.OutHeader{Length: uint32(len(dst) - start), Status: int32(n.Code)}
	copy(dst[start:], unsafe.Slice((*byte)(unsafe.Pointer(&h)), outHeaderLen))
	return dst, nil
}

func (row *notifyRow) appendTail(dst []byte, n *Notification) []byte {
	if row.data {
		return append(dst, n.Data...)
	}
	if row.length != "" {
		return append(append(dst, n.Name...), 0)
	}
	return dst
}

func appendNotify(dst []byte, list []Notification) ([]byte, error) {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendNotification(dst, &list[i]); err != nil {
			return dst, fmt.Errorf("Notify[%d]: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

func appendNotification(dst []byte, n *Notification) ([]byte, error) {
	row := n.Code.row()
	if row == nil {
		return dst, errors.New(n.Code.String() + " is unknown")
	}
	p, err := row.layout.pointer(n.Out)
	if err != nil {
		return dst, fmt.Errorf("Out: %w", err)
	}
	dst = append(append(append(dst, `{"Code":"`...), row.name...), `","Out":`...)
	dst = appendStruct(dst, row.layout, p)
	if row.need&(1<<memberName) != 0 {
		dst = appendName(append(dst, `,"Name":`...), n.Name)
	}
	if row.data {
		dst = appendBlob(append(dst, `,"Data":`...), n.Data)
	}
	return append(dst, '}'), nil
}

func (d *decoder) notifications() ([]Notification, error) {
	list := []Notification{}
	err := d.array(func(int) error {
		var n Notification
		err := d.notification(&n)
		list = append(list, n)
		return err
	})
	return list, err
}

// notification reads Code first, which says what the rest has to be.
func (d *decoder) notification(n *Notification) error {
	var row *notifyRow
	may := uint64(1<<memberCode | 1<<memberNotifyOut | 1<<memberName | 1<<memberStored)
	var seen uint64
	err := d.object(notifyKeys, 1<<memberCode|1<<memberNotifyOut, may, func(member int) (err error) {
		seen |= 1 << member
		if member == memberCode {
			row, err = d.notifyRow(n)
			return err
		}
		if row == nil {
			return wrong("stands before Code")
		}
		if row.need&(1<<member) == 0 {
			return wrong("is no part of %s", row.name)
		}
		return d.notifyMember(n, row, member)
	})
	if err != nil {
		return err
	}
	return missing(notifyKeys, row.need&^seen)
}

func (d *decoder) notifyRow(n *Notification) (*notifyRow, error) {
	name, err := d.name()
	if err != nil {
		return nil, err
	}
	var known []string
	for code := range notifyTable {
		if row := NotifyCode(code).row(); row != nil {
			if row.name == name {
				n.Code = NotifyCode(code)
				return row, nil
			}
			known = append(known, row.name)
		}
	}
	return nil, wrong("%s is unknown, want one of %s", excerptOf([]byte(name)), strings.Join(known, ", "))
}

func (d *decoder) notifyMember(n *Notification, row *notifyRow, member int) (err error) {
	switch member {
	case memberNotifyOut:
		out, p := row.layout.alloc()
		n.Out, err = out, d.structure(row.layout, p)
	case memberName:
		n.Name, err = d.name()
	case memberStored:
		n.Data, err = d.blob()
	}
	if err == nil && row.size != nil && n.Out != nil {
		row.setSize(n)
	}
	return err
}

// setSize derives the length field, so that Out says what the kernel will see.
func (row *notifyRow) setSize(n *Notification) {
	p := unsafe.Add(reflect.ValueOf(n.Out).UnsafePointer(), row.size.offset)
	*(*uint32)(p) = uint32(len(n.Name) + len(n.Data))
}
