package reference

// Options as the strings by name that a trace's header holds, so that whoever has
// the trace can make the filesystem that answered it.

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// The settings that shape answers. Owner and mode of the root are not among them:
// a trace that says how it was recorded has them as root, root and 0755.
const (
	settingSize     = "size"   // bytes
	settingInodes   = "inodes" //
	settingCache    = "cache"  // none, normal, aggressive
	settingReadOnly = "read_only"
	settingDirectIO = "direct_io"
	settingOwn      = "own_permissions"
	settingOff      = "off" // names of opcodes, joined by commas
)

const (
	cacheNone       = "none"
	cacheAggressive = "aggressive"
)

// FromSettings makes options of a header's strings; what is missing is its default.
func FromSettings(m map[string]string) (o Options, err error) {
	o.RootMode = 0o755
	for name, set := range map[string]func(string) error{
		settingSize:     func(s string) (err error) { o.Size, err = strconv.ParseInt(s, 10, 64); return },
		settingInodes:   func(s string) (err error) { o.Inodes, err = strconv.ParseInt(s, 10, 64); return },
		settingReadOnly: func(s string) (err error) { o.ReadOnly, err = strconv.ParseBool(s); return },
		settingDirectIO: func(s string) (err error) { o.DirectIO, err = strconv.ParseBool(s); return },
		settingOwn:      func(s string) (err error) { o.CheckPermissions, err = strconv.ParseBool(s); return },
		settingOff:      o.turnOff,
		settingCache:    o.cacheMode,
	} {
		if s := m[name]; s != "" {
			if err := set(s); err != nil {
				return Options{}, fmt.Errorf("setting %s: %w", name, err)
			}
		}
	}
	return o, nil
}

// cacheMode is what 'mount --cache' means to this filesystem.
func (o *Options) cacheMode(s string) error {
	switch s {
	case cacheNone:
		o.TTL = -time.Second
	case cacheAggressive:
		o.NoOpen, o.Content, o.EndCookie, o.NoAtime = true, true, true, true
	}
	return nil
}

func (o *Options) turnOff(s string) error {
	for name := range strings.SplitSeq(s, ",") {
		op, ok := proto.OpcodeByName(name)
		if !ok {
			return fmt.Errorf("have %q, want an opcode's name", name)
		}
		o.Off = append(o.Off, op)
	}
	return nil
}
