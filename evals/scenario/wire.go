package scenario

// Scenarios without a mount. One kernel looks a name up before it makes it, and
// keeps much of what must fail to itself. But where several kernels share a
// filesystem, what one has looked up another has changed by the time of the
// request; a mount can't be made to do that in the same order each time. So such
// requests are written down, a line each:
//
//	OPCODE NODEID [NAME…] [FIELD=VALUE…] [Data=TEXT] [= ERRNO]
//
// Fields are those of the opcode's in-struct; numbers and names of constants. The
// filesystem numbers nodes and handles from 2 and 1 on.

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// wired plays the requests of a scenario.
func wired(s *Scenario) (pairs []*trace.Pair, err error) {
	opts, err := s.Mount.reference()
	if err != nil {
		return nil, err
	}
	first, err := greeting(s)
	if err != nil {
		return nil, err
	}
	pairs = append(pairs, first)
	sess, now := session.New(reference.New(opts), session.Options{}), &clock{}
	for lines, n := bufio.NewScanner(bytes.NewReader(s.File)), 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		req, want, err := parseRequest(text)
		if err == nil {
			req.Header.Unique, req.Header.Now = uint64(len(pairs)+1), now.tick(req.Op)
			p := &trace.Pair{Req: req}
			pairs = append(pairs, p)
			err = played(sess, p, want)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", n, text, err)
		}
	}
	return pairs, nil
}

// greeting is the INIT of a kernel that offers all there is.
func greeting(s *Scenario) (*trace.Pair, error) {
	in := &fuse.InitIn{Major: proto.Major, Minor: proto.Minor, MaxReadAhead: 128 << 10, Flags: math.MaxUint32, Flags2: math.MaxUint32}
	out, _, err := proto.Negotiate(in, s.Mount.fuse().Init)
	req := &proto.Request{Op: proto.OpInit, Header: proto.Header{Unique: 1, Now: new(clock).current()}, In: in}
	return &trace.Pair{Req: req, Rep: &proto.Reply{Out: out}}, err
}

// played takes the reply, which must have that errno.
func played(sess *session.Session, p *trace.Pair, want string) error {
	reply := sess.Handle(context.Background(), p.Req)
	if p.Req.Op.Row().Reply != proto.ReplyNone {
		p.Rep = reply
	}
	if have := errnoText(reply.Errno); have != want {
		return fmt.Errorf("have %s, want %s", have, want)
	}
	return nil
}

// errnoText is an errno as a script writes it; nothing for success.
func errnoText(e syscall.Errno) string {
	if e == 0 {
		return ""
	}
	return proto.ErrnoName(e)
}

// parseRequest reads a line.
func parseRequest(text string) (req *proto.Request, want string, err error) {
	words := strings.Fields(text)
	if n := len(words); n > 2 && words[n-2] == "=" {
		words, want = words[:n-2], words[n-1]
	}
	op, known := proto.OpcodeByName(words[0])
	if !known || len(words) < 2 {
		return nil, "", fmt.Errorf("want OPCODE NODEID")
	}
	a := &args{demand: demand{Args: words[1:]}}
	req = &proto.Request{Op: op, Header: proto.Header{NodeId: uint64(a.num(0)), Pid: 1, Comm: "root"}, In: op.Row().NewIn(), Names: []string{}}
	for i := 1; i < len(a.Args) && err == nil; i++ {
		err = a.part(req, i)
	}
	if err == nil {
		err = a.bad
	}
	return req, want, err
}

// part puts one word into a request: a name, or a field.
func (a *args) part(req *proto.Request, i int) error {
	key, value, isField := strings.Cut(a.Args[i], "=")
	if !isField {
		req.Names = append(req.Names, a.text(i))
		return nil
	}
	a.Args[i] = value
	if key == "Data" {
		req.Data = []byte(a.text(i))
		key, a.Args[i] = req.Op.Row().Size, fmt.Sprint(len(req.Data))
	}
	if req.In == nil {
		return fmt.Errorf("%v has no fields", req.Op)
	}
	field := reflect.ValueOf(req.In).Elem().FieldByName(key)
	if !field.IsValid() || !field.CanUint() {
		return fmt.Errorf("%v has no field %q", req.Op, key)
	}
	field.SetUint(uint64(a.num(i)))
	return nil
}
