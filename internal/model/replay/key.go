package replay

import (
	"crypto/sha256"
	"reflect"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// key is the same for requests that are the same; see the package's doc.
type key [sha256.Size]byte

func keyOf(req *proto.Request) (key, error) {
	plain := *req
	plain.Header = proto.Header{NodeId: req.Header.NodeId, Uid: req.Header.Uid, Gid: req.Header.Gid, Groups: req.Header.Groups}
	if req.In != nil {
		plain.In = lasting(req)
	}
	text, err := proto.AppendRequestJSON(nil, &plain)
	if err != nil {
		return key{}, err
	}
	return sha256.Sum256(text), nil
}

// lasting is a copy of In without what differs from run to run.
func lasting(req *proto.Request) any {
	if req.Op == proto.OpInit {
		return req.Op.Row().NewIn()
	}
	in := reflect.New(reflect.TypeOf(req.In).Elem())
	in.Elem().Set(reflect.ValueOf(req.In).Elem())
	forget(in.Elem())
	switch in := in.Interface().(type) {
	case *fuse.SetAttrIn:
		forgetNow(&in.SetAttrInCommon)
	case *fuse.IoctlIn:
		if in.InSize != 0 || in.OutSize != 0 {
			in.Arg = 0 // a pointer
		}
	}
	return in.Interface()
}

// handles are the fields that are numbers of a run. Owner is one in LkIn only,
// where it is an integer.
var handles = map[string]bool{
	"Fh": true, "Fh_": true, "FhIn": true, "FhOut": true, "Kh": true, "LockOwner": true, "Owner": true, "Pid": true,
}

// announcing are the bits that say whether a handle is there, by field.
var announcing = map[string]uint64{
	"Flags_":       fuse.FUSE_GETATTR_FH,
	"GetattrFlags": fuse.FUSE_GETATTR_FH,
	"ReadFlags":    fuse.READ_LOCKOWNER,
	"WriteFlags":   fuse.WRITE_LOCKOWNER | fuse.WRITE_CACHE,
	"Valid":        fuse.FATTR_FH | fuse.FATTR_LOCKOWNER,
}

func forget(v reflect.Value) {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch {
		case field.Kind() == reflect.Struct:
			forget(field)
		case field.CanUint() && handles[name]:
			field.SetUint(0)
		case field.CanUint():
			field.SetUint(field.Uint() &^ announcing[name])
		}
	}
}

// forgetNow drops the times that the kernel filled in by itself.
func forgetNow(in *fuse.SetAttrInCommon) {
	if in.Valid&fuse.FATTR_ATIME_NOW != 0 {
		in.Atime, in.Atimensec = 0, 0
	}
	if in.Valid&fuse.FATTR_MTIME_NOW != 0 {
		in.Mtime, in.Mtimensec = 0, 0
	}
	in.Ctime, in.Ctimensec = 0, 0
}
