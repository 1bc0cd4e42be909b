package proto

// The kernel's side of the codec: bytes of /dev/fuse to messages and back.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"syscall"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Major and Minor are the protocol version that the table describes.
const (
	Major = 7
	Minor = 45
)

// RootID is the node id of the mount's root directory.
const RootID = 1

const (
	inHeaderLen  = int(unsafe.Sizeof(fuse.InHeader{}))
	outHeaderLen = int(unsafe.Sizeof(fuse.OutHeader{}))
)

// Wire is what INIT negotiated that changes the bytes of later messages. The
// zero value decodes INIT itself.
type Wire struct {
	Minor       uint32 // the smaller of both sides' minor versions
	SetxattrExt bool   // FUSE_SETXATTR_EXT: SETXATTR has 16 bytes before its name, not 8
}

// WireOf is what the INIT reply says about later messages.
func WireOf(out *fuse.InitOut) Wire {
	return Wire{Minor: out.Minor, SetxattrExt: out.Flags64()&fuse.CAP_SETXATTR_EXT != 0}
}

// renameLen: struct fuse_rename_in is the first 8 bytes of fuse_rename2_in.
func renameLen(Wire, []byte) int { return 8 }

// setxattrLen: FUSE_COMPAT_SETXATTR_IN_SIZE without FUSE_SETXATTR_EXT.
func setxattrLen(w Wire, _ []byte) int {
	if w.SetxattrExt {
		return 16
	}
	return 8
}

// initLen: struct fuse_init_in grew in 7.6 and 7.36.
func initLen(_ Wire, body []byte) int {
	if len(body) < 8 {
		return 8
	}
	minor := binary.NativeEndian.Uint32(body[4:])
	switch {
	case minor < 6:
		return 8
	case minor < 36:
		return 16
	}
	return 64
}

// DecodeRequest reads one whole message of /dev/fuse. Data of the result is
// part of b. Where only the header could be read, the request comes back with
// an error, so that it can still be answered.
func (w Wire) DecodeRequest(b []byte) (*Request, error) {
	if len(b) < inHeaderLen {
		return nil, fmt.Errorf("decode request header: have %d bytes, want %d", len(b), inHeaderLen)
	}
	var h fuse.InHeader
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&h)), inHeaderLen), b)
	r := &Request{Op: Opcode(h.Opcode), Header: Header{Unique: h.Unique, NodeId: h.NodeId, Uid: h.Uid, Gid: h.Gid, Pid: h.Pid}}
	if err := w.decodeRest(r, &h, b); err != nil {
		return r, fmt.Errorf("decode %v (%d bytes): %w", r.Op, len(b), err)
	}
	return r, nil
}

func (w Wire) decodeRest(r *Request, h *fuse.InHeader, b []byte) error {
	row := r.Op.Row()
	if row == nil {
		return syscall.ENOSYS
	}
	if int(h.Length) != len(b) {
		return fmt.Errorf("header says %d bytes", h.Length)
	}
	body, ext := b[inHeaderLen:], int(h.TotalExtlen)*8
	if ext > len(body) {
		return fmt.Errorf("have %d bytes after the header, want %d of extensions", len(body), ext)
	}
	if err := r.decodeExt(body[len(body)-ext:]); err != nil {
		return err
	}
	return w.decodeBody(r, row, body[:len(body)-ext])
}

func (w Wire) decodeBody(r *Request, row *Row, body []byte) (err error) {
	if row.in != nil {
		n := w.inLen(row, body)
		if len(body) < n {
			return fmt.Errorf("have %d bytes after the header, want %d", len(body), n)
		}
		in, p := row.in.alloc()
		copy(row.in.wire(p), body[:n])
		r.In, body = in, body[n:]
	}
	if body, err = r.decodeNames(row, body); err != nil {
		return err
	}
	if body, err = r.decodeData(row, body); err != nil {
		return err
	}
	if body, err = r.decodeList(row, body); err != nil {
		return err
	}
	if len(body) != 0 {
		return fmt.Errorf("%d bytes left over", len(body))
	}
	return nil
}

func (w Wire) inLen(row *Row, body []byte) int {
	if row.InLen != nil {
		return row.InLen(w, body)
	}
	return row.in.size
}

func (r *Request) decodeNames(row *Row, body []byte) ([]byte, error) {
	if row.Names == 0 {
		return body, nil
	}
	r.Names = r.names[:row.Names]
	for i := range r.Names {
		n := bytes.IndexByte(body, 0)
		if n < 0 {
			return nil, fmt.Errorf("name %d of %d: no NUL in %d bytes", i+1, row.Names, len(body))
		}
		r.Names[i], body = string(body[:n]), body[n+1:]
	}
	return body, nil
}

func (r *Request) decodeData(row *Row, body []byte) ([]byte, error) {
	if row.size == nil {
		return body, nil
	}
	if n := row.size.uint(r.In); n != uint64(len(body)) {
		return nil, fmt.Errorf("In.%s is %d, payload has %d bytes", row.Size, n, len(body))
	}
	r.Data = body
	return nil, nil
}

func (r *Request) decodeList(row *Row, body []byte) ([]byte, error) {
	if row.list == nil {
		return body, nil
	}
	count, size := row.in.field("Count").uint(r.In), row.list.size
	if count*uint64(size) != uint64(len(body)) {
		return nil, fmt.Errorf("In.Count is %d of %d bytes each, have %d bytes", count, size, len(body))
	}
	list := reflect.MakeSlice(reflect.SliceOf(row.list.typ), int(count), int(count))
	copy(memoryOf(list, size), body)
	r.List = list.Interface()
	return nil, nil
}

// memoryOf is the memory of a slice of structs of size bytes each.
func memoryOf(list reflect.Value, size int) []byte {
	return unsafe.Slice((*byte)(list.UnsafePointer()), list.Len()*size)
}

// decodeExt reads struct fuse_ext_header records; size counts the header and
// is a multiple of 8.
func (r *Request) decodeExt(b []byte) error {
	for len(b) > 0 {
		size, typ := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[4:])
		if size < 8 || size%8 != 0 || uint64(size) > uint64(len(b)) {
			return fmt.Errorf("extension %d: size %d of %d bytes", typ, size, len(b))
		}
		r.Ext = append(r.Ext, Extension{Type: typ, Data: b[8:size]})
		b = b[size:]
	}
	return nil
}

// AppendRequest appends the message that DecodeRequest reads.
func (w Wire) AppendRequest(dst []byte, r *Request) ([]byte, error) {
	row := r.Op.Row()
	if row == nil {
		return dst, fmt.Errorf("encode %v: no such opcode", r.Op)
	}
	start := len(dst)
	dst = append(dst, make([]byte, inHeaderLen)...)
	dst, err := w.appendBody(dst, r, row)
	if err != nil {
		return dst[:start], fmt.Errorf("encode %v: %w", r.Op, err)
	}
	body := len(dst)
	for _, e := range r.Ext {
		dst = binary.NativeEndian.AppendUint32(dst, uint32(8+len(e.Data)))
		dst = binary.NativeEndian.AppendUint32(dst, e.Type)
		dst = append(dst, e.Data...)
	}
	h := fuse.InHeader{
		Length: uint32(len(dst) - start), Opcode: uint32(r.Op), Unique: r.Header.Unique, NodeId: r.Header.NodeId,
		Caller:      fuse.Caller{Owner: fuse.Owner{Uid: r.Header.Uid, Gid: r.Header.Gid}, Pid: r.Header.Pid},
		TotalExtlen: uint16((len(dst) - body) / 8),
	}
	copy(dst[start:], unsafe.Slice((*byte)(unsafe.Pointer(&h)), inHeaderLen))
	return dst, nil
}

func (w Wire) appendBody(dst []byte, r *Request, row *Row) ([]byte, error) {
	if err := r.check(row); err != nil {
		return dst, err
	}
	if row.in != nil {
		p, err := row.in.pointer(r.In)
		if err != nil {
			return dst, fmt.Errorf("In: %w", err)
		}
		whole := row.in.wire(p)
		dst = append(dst, whole[:w.inLen(row, whole)]...)
	}
	for _, name := range r.Names {
		dst = append(append(dst, name...), 0)
	}
	dst = append(dst, r.Data...)
	if row.list != nil {
		dst = append(dst, memoryOf(reflect.ValueOf(r.List), row.list.size)...)
	}
	return dst, nil
}

// check holds the parts of a request against its row and each other.
func (r *Request) check(row *Row) error {
	if row.in != nil {
		if _, err := row.in.pointer(r.In); err != nil {
			return fmt.Errorf("In: %w", err)
		}
	}
	if len(r.Names) != row.Names {
		return fmt.Errorf("Names: have %d, want %d", len(r.Names), row.Names)
	}
	for i, name := range r.Names {
		if n := bytes.IndexByte([]byte(name), 0); n >= 0 {
			return fmt.Errorf("Names[%d]: NUL at byte %d", i, n)
		}
	}
	if row.size == nil && len(r.Data) != 0 {
		return fmt.Errorf("Data: have %d bytes, want none", len(r.Data))
	}
	if row.size != nil {
		if n := row.size.uint(r.In); n != uint64(len(r.Data)) {
			return fmt.Errorf("In.%s: have %d, want the payload's %d bytes", row.Size, n, len(r.Data))
		}
	}
	for i, e := range r.Ext {
		if len(e.Data)%8 != 0 {
			return fmt.Errorf("Ext[%d].Data: have %d bytes, want a multiple of 8", i, len(e.Data))
		}
	}
	return r.checkList(row)
}

func (r *Request) checkList(row *Row) error {
	if row.list == nil {
		return nil
	}
	list := reflect.ValueOf(r.List)
	if !list.IsValid() || list.Type() != reflect.SliceOf(row.list.typ) {
		return fmt.Errorf("List: have %T, want []%v", r.List, row.list.typ)
	}
	if n := row.in.field("Count").uint(r.In); n != uint64(list.Len()) {
		return fmt.Errorf("In.Count: have %d, want the list's %d", n, list.Len())
	}
	return nil
}

// ErrNoReply marks a request that the kernel takes no reply to.
var ErrNoReply = errors.New("the kernel takes no reply")

// AppendReply appends the whole message that answers req. It fails where the
// reply is not of the shape that the row and the request ask for.
func (w Wire) AppendReply(dst []byte, req *Request, r *Reply) ([]byte, error) {
	head, tail, err := w.EncodeReply(dst, req, r)
	return append(head, tail...), err
}

// EncodeReply is AppendReply with the payload, r.Data, left where it is: the
// message is head followed by tail, for writev(2).
func (w Wire) EncodeReply(dst []byte, req *Request, r *Reply) (head, tail []byte, err error) {
	row, start := req.Op.Row(), len(dst)
	dst = append(dst, make([]byte, outHeaderLen)...)
	if r.Errno == 0 && row != nil {
		if dst, tail, err = row.appendReply(dst, req, r); err != nil {
			return dst[:start], nil, fmt.Errorf("encode %v reply: %w", req.Op, err)
		}
	}
	if row != nil && row.Reply == ReplyNone {
		return dst[:start], nil, fmt.Errorf("encode %v reply: %w", req.Op, ErrNoReply)
	}
	h := fuse.OutHeader{
		Length: uint32(len(dst) - start + len(tail)), Status: -int32(ClampErrno(r.Errno)), Unique: req.Header.Unique,
	}
	copy(dst[start:], unsafe.Slice((*byte)(unsafe.Pointer(&h)), outHeaderLen))
	return dst, tail, nil
}

func (row *Row) appendReply(dst []byte, req *Request, r *Reply) (head, tail []byte, err error) {
	want := row.shape(req)
	if want.out {
		p, err := row.out.pointer(r.Out)
		if err != nil {
			return dst, nil, fmt.Errorf("Out: %w", err)
		}
		dst = append(dst, row.out.wire(p)...)
	}
	if want.entries {
		dst, err = appendDirents(dst, r.Entries, row.Reply == ReplyEntriesPlus, int(row.asked.uint(req.In)))
		return dst, nil, err
	}
	if !want.data {
		return dst, nil, nil
	}
	if limit, ok := row.limit(req); ok && uint64(len(r.Data)) > limit {
		return dst, nil, fmt.Errorf("Data: have %d bytes, asked for %d", len(r.Data), limit)
	}
	return dst, r.Data, nil
}

// limit is how many bytes of Data the caller asked for, where it said so.
func (row *Row) limit(req *Request) (uint64, bool) {
	if row.asked == nil || req.In == nil {
		return 0, false
	}
	return row.asked.uint(req.In), true
}

// shape says which parts a successful reply to req has.
type shape struct{ out, data, entries bool }

func (row *Row) shape(req *Request) shape {
	s := shape{out: row.out != nil}
	switch row.Reply {
	case ReplyBytes, ReplyStructBytes:
		s.data = true
	case ReplySizeOrBytes:
		s.data = row.asked.uint(req.In) != 0
		s.out = !s.data
	case ReplyEntries, ReplyEntriesPlus:
		s.entries = true
	}
	return s
}

// DecodeReply reads the message that AppendReply makes, as the kernel would.
func (w Wire) DecodeReply(req *Request, b []byte) (*Reply, error) {
	r, err := w.decodeReply(req, b)
	if err != nil {
		return nil, fmt.Errorf("decode %v reply (%d bytes): %w", req.Op, len(b), err)
	}
	return r, nil
}

func (w Wire) decodeReply(req *Request, b []byte) (*Reply, error) {
	var h fuse.OutHeader
	row := req.Op.Row()
	if row == nil {
		return nil, syscall.ENOSYS
	}
	if len(b) < outHeaderLen {
		return nil, fmt.Errorf("want %d", outHeaderLen)
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&h)), outHeaderLen), b)
	switch {
	case int(h.Length) != len(b):
		return nil, fmt.Errorf("header says %d bytes", h.Length)
	case h.Unique != req.Header.Unique:
		return nil, fmt.Errorf("unique: have %d, want %d", h.Unique, req.Header.Unique)
	case h.Status > 0 || h.Status <= -maxErrno:
		return nil, fmt.Errorf("error: have %d, want (-%d, 0]", h.Status, maxErrno)
	}
	r := &Reply{Errno: syscall.Errno(-h.Status)}
	if r.Errno != 0 {
		return r, leftOver(b[outHeaderLen:])
	}
	return r, row.decodeReplyBody(req, r, b[outHeaderLen:])
}

func (row *Row) decodeReplyBody(req *Request, r *Reply, body []byte) (err error) {
	want := row.shape(req)
	if want.out {
		if len(body) < row.out.size {
			return fmt.Errorf("have %d bytes after the header, want %d", len(body), row.out.size)
		}
		out, p := row.out.alloc()
		copy(row.out.wire(p), body)
		r.Out, body = out, body[row.out.size:]
	}
	if want.entries {
		r.Entries, err = decodeDirents(body, row.Reply == ReplyEntriesPlus)
		return err
	}
	if want.data {
		r.Data = slices.Clip(body)
		return nil
	}
	return leftOver(body)
}

func leftOver(b []byte) error {
	if len(b) != 0 {
		return fmt.Errorf("%d bytes left over", len(b))
	}
	return nil
}
