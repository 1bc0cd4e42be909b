package trace

// A struct's fields as words.

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// view is how a field is shown. The zero view leaves out zeros.
type view struct {
	label string // "" for the field's name in lower case
	zero  bool   // show it where it is 0, too
	quiet bool   // show it only where everything is asked for
	node  bool   // it is a node id: show its path
}

// views tells fields by the struct that declares them.
var views = map[string]view{
	"AccessIn.Mask":                {zero: true},
	"Attr.Atime":                   {quiet: true},
	"Attr.Atimensec":               {quiet: true},
	"Attr.Blksize":                 {quiet: true},
	"Attr.Blocks":                  {quiet: true},
	"Attr.Ctime":                   {quiet: true},
	"Attr.Ctimensec":               {quiet: true},
	"Attr.Ino":                     {quiet: true},
	"Attr.Mtime":                   {quiet: true},
	"Attr.Mtimensec":               {quiet: true},
	"Attr.Nlink":                   {quiet: true},
	"Attr.Size":                    {zero: true},
	"AttrOut.AttrValid":            {quiet: true},
	"AttrOut.AttrValidNsec":        {quiet: true},
	"CopyFileRangeIn.NodeIdOut":    {label: "to", node: true},
	"CopyFileRangeOut.BytesCopied": {label: "copied", zero: true},
	"CreateIn.Flags":               {zero: true},
	"CreateIn.Umask":               {quiet: true},
	"EntryOut.AttrValid":           {quiet: true},
	"EntryOut.AttrValidNsec":       {quiet: true},
	"EntryOut.EntryValid":          {quiet: true},
	"EntryOut.EntryValidNsec":      {quiet: true},
	"EntryOut.Generation":          {quiet: true},
	"EntryOut.NodeId":              {label: "node"},
	"FileLock.Typ":                 {label: "type", zero: true},
	"FlushIn.LockOwner":            {quiet: true},
	"GetXAttrIn.Size":              {zero: true},
	"GetXAttrOut.Size":             {zero: true},
	"LinkIn.Oldnodeid":             {label: "to", node: true},
	"LseekIn.Offset":               {zero: true},
	"LseekIn.Whence":               {zero: true},
	"LseekOut.Offset":              {zero: true},
	"MkdirIn.Umask":                {quiet: true},
	"MknodIn.Umask":                {quiet: true},
	"OpenIn.Flags":                 {zero: true},
	"ReadIn.Flags":                 {quiet: true},
	"ReadIn.LockOwner":             {quiet: true},
	"ReadIn.Offset":                {zero: true},
	"ReleaseIn.Flags":              {quiet: true},
	"ReleaseIn.LockOwner":          {quiet: true},
	"RenameIn.Newdir":              {quiet: true, node: true},
	"SetAttrInCommon.LockOwner":    {quiet: true},
	"SetXAttrIn.Size":              {quiet: true},
	"WriteIn.Flags":                {quiet: true},
	"WriteIn.LockOwner":            {quiet: true},
	"WriteIn.Offset":               {zero: true},
	"WriteIn.Size":                 {quiet: true},
	"WriteOut.Size":                {zero: true},
}

// guards names the bit of SetAttrIn.Valid that makes a field count. Such a
// field is shown where the bit is set, and only there.
var guards = map[string]uint32{
	"Atime":     fuse.FATTR_ATIME,
	"Atimensec": fuse.FATTR_ATIME,
	"Ctime":     fuse.FATTR_CTIME,
	"Ctimensec": fuse.FATTR_CTIME,
	"Fh":        fuse.FATTR_FH,
	"Gid":       fuse.FATTR_GID,
	"LockOwner": fuse.FATTR_LOCKOWNER,
	"Mode":      fuse.FATTR_MODE,
	"Mtime":     fuse.FATTR_MTIME,
	"Mtimensec": fuse.FATTR_MTIME,
	"Size":      fuse.FATTR_SIZE,
	"Uid":       fuse.FATTR_UID,
}

// words collects a struct's fields.
type words struct {
	sep   string // between a field's label and its value
	all   bool   // show quiet fields
	paths *tree
	valid *uint32 // of a SETATTR
	list  []string
}

// of adds the fields of the struct that v points to.
func (w *words) of(v any) {
	if v == nil {
		return
	}
	if in, ok := v.(*fuse.SetAttrIn); ok {
		w.valid = &in.Valid
	}
	w.walk(reflect.ValueOf(v).Elem())
}

func (w *words) walk(v reflect.Value) {
	t := v.Type()
	if t == reflect.TypeFor[fuse.InHeader]() {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Type.Kind() == reflect.Struct:
			w.walk(v.Field(i))
		case v.Field(i).CanUint():
			w.add(t.Name(), f.Name, v.Field(i).Uint(), fmt.Sprint(v.Field(i).Uint()))
		case v.Field(i).CanInt():
			w.add(t.Name(), f.Name, uint64(v.Field(i).Int()), fmt.Sprint(v.Field(i).Int()))
		}
	}
}

func (w *words) add(owner, name string, n uint64, text string) {
	name = strings.TrimSuffix(name, "_")
	key := owner + "." + name
	view := views[key]
	if !w.shown(view, name, n) {
		return
	}
	if m, ok := proto.Meanings[key]; ok {
		text = plainMode(m.String(n))
	}
	if view.node {
		text = printable(w.paths.path(n))
	}
	label := view.label
	if label == "" {
		label = strings.ToLower(name)
	}
	w.list = append(w.list, label+w.sep+text)
}

func (w *words) shown(view view, name string, n uint64) bool {
	if view.quiet && !w.all {
		return false
	}
	if bit, ok := guards[name]; ok && w.valid != nil {
		return *w.valid&bit != 0
	}
	return n != 0 || view.zero
}

// plainMode leaves out what nearly every mode and open says.
func plainMode(s string) string {
	s = strings.TrimPrefix(s, "S_IFREG|")
	return strings.Replace(s, "|O_LARGEFILE", "", 1)
}
