package schema

// From a row to its schema.

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"syscall"

	"github.com/invopop/jsonschema"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

const (
	maxSafe    = 1<<53 - 1
	maxErrno   = 511  // the kernel takes errors of (-512, 0]
	maxEntries = 1024 // the shortest entries, 32 bytes each, in the 32 KiB that getdents64(2) asks for
	maxNotify  = 8
)

// The patterns of the schemas, and what they are called in messages.
const (
	uintPattern   = `^(0|[1-9][0-9]{0,19})$`
	intPattern    = `^(0|-?[1-9][0-9]{0,18})$`
	base64Pattern = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$`
)

// Types that stand for themselves in mirrors.
type (
	zero         uint32 // the errno of a success
	errno        uint32 // the errno of a failure
	code         string // the code of a notification
	notification struct{ Code code }
)

// shared are the definitions that many fields refer to, by the fields' type.
var shared = map[reflect.Type]struct {
	name string
	def  *jsonschema.Schema
}{
	reflect.TypeFor[uint16](): {"uint16", integer("0", "65535")},
	reflect.TypeFor[uint32](): {"uint32", integer("0", "4294967295")},
	reflect.TypeFor[int32]():  {"int32", integer("-2147483648", "2147483647")},
	reflect.TypeFor[uint64](): {"uint64", anyOf(integer("0", safe), text(uintPattern))},
	reflect.TypeFor[int64]():  {"int64", anyOf(integer("-"+safe, safe), text(intPattern))},
	reflect.TypeFor[string](): {"Bytes", bytesDef()},
	reflect.TypeFor[[]byte](): {"Bytes", bytesDef()},
}

const safe = "9007199254740991"

func integer(min, max json.Number) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: min, Maximum: max}
}

func text(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

func anyOf(list ...*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: list}
}

func single(name string, def *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{name}, AdditionalProperties: jsonschema.FalseSchema}
	s.Properties.Set(name, def)
	return s
}

// bytesDef: names and payloads are text where they are valid UTF-8.
func bytesDef() *jsonschema.Schema {
	return anyOf(
		&jsonschema.Schema{Type: "string", Description: "bytes that are UTF-8 text"},
		single("base64", &jsonschema.Schema{Type: "string", Pattern: base64Pattern, Description: "any other bytes"}),
	)
}

// builder reflects the mirrors of one schema and collects their definitions.
type builder struct {
	*mirrors
	reflector jsonschema.Reflector
	defs      jsonschema.Definitions
}

func newBuilder() *builder {
	b := &builder{mirrors: newMirrors(), defs: jsonschema.Definitions{}}
	b.reflector = jsonschema.Reflector{
		Anonymous:     true,
		Namer:         func(t reflect.Type) string { return b.names[t] },
		Mapper:        b.mapped,
		LookupComment: b.comment,
	}
	return b
}

// mapped is the schema of what is no mirror.
func (b *builder) mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[zero]():
		return integer("0", "0")
	case reflect.TypeFor[errno]():
		return integer("1", json.Number(fmt.Sprint(maxErrno)))
	case reflect.TypeFor[notification]():
		return b.notification()
	}
	s, ok := shared[t]
	if !ok {
		return nil
	}
	b.defs[s.name] = s.def
	return refer(s.name)
}

func (b *builder) comment(t reflect.Type, field string) string {
	if field != "" {
		return ""
	}
	return b.docs[t]
}

func refer(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// define reflects a mirror into a definition and refers to it.
func (b *builder) define(t reflect.Type) *jsonschema.Schema {
	s := b.reflector.ReflectFromType(t)
	maps.Copy(b.defs, s.Definitions)
	return &jsonschema.Schema{Ref: s.Ref}
}

// notification is any of the notifications.
func (b *builder) notification() *jsonschema.Schema {
	const name = "Notification"
	if b.defs[name] == nil {
		def := &jsonschema.Schema{}
		b.defs[name] = def
		for _, form := range notifyForms() {
			def.AnyOf = append(def.AnyOf, b.define(b.notifyMirror(form, full)))
		}
	}
	return refer(name)
}

func (b *builder) notifyMirror(form proto.NotifyForm, v variant) reflect.Type {
	out := shape{form.Out.Name(), form.Fields}
	list := []mirrored{
		{"Code", reflect.TypeFor[code](), "enum=" + form.Code.String()},
		{"Out", b.of(out, v), ""},
	}
	if form.Name {
		list = append(list, mirrored{"Name", reflect.TypeFor[string](), ""})
	}
	if form.Data {
		list = append(list, mirrored{"Data", reflect.TypeFor[[]byte](), ""})
	}
	return b.mirrors.define("Notify_"+form.Code.String()+suffixes[out.least(v)], "", list)
}

// reflectReply is the schema of the replies to a row in canonical JSON.
func reflectReply(row *proto.Row, form Form) []byte {
	b := newBuilder()
	reply := anyOf(b.define(b.mirrors.define("Failure", failureDoc(), []mirrored{{"Errno", reflect.TypeFor[errno](), ""}})))
	for _, a := range alternatives(row, form) {
		reply.AnyOf = append(reply.AnyOf, b.define(b.success(row, a)))
	}
	root := single("Reply", reply)
	root.Definitions = b.defs
	out, err := json.Marshal(root)
	if err != nil {
		panic(fmt.Sprintf("schema: %s: %v", row.Name, err))
	}
	return out
}

// common are the errors that filesystems answer.
var common = []syscall.Errno{
	syscall.EPERM, syscall.ENOENT, syscall.EINTR, syscall.EIO, syscall.ENXIO, syscall.EAGAIN, syscall.EACCES, syscall.EBUSY,
	syscall.EEXIST, syscall.EXDEV, syscall.ENOTDIR, syscall.EISDIR, syscall.EINVAL, syscall.ENOTTY, syscall.ETXTBSY, syscall.EFBIG,
	syscall.ENOSPC, syscall.EROFS, syscall.EMLINK, syscall.ERANGE, syscall.EDEADLK, syscall.ENAMETOOLONG, syscall.ENOSYS,
	syscall.ENOTEMPTY, syscall.ELOOP, syscall.ENODATA, syscall.EOPNOTSUPP, syscall.ESTALE, syscall.EDQUOT,
}

func failureDoc() string {
	var list []string
	for _, e := range common {
		list = append(list, fmt.Sprintf("%s %d", proto.ErrnoName(e), int(e)))
	}
	return "Errno: errno(3) that the caller gets: " + strings.Join(list, ", ")
}
