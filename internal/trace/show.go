package trace

// Pairs for people: a line each, in the manner of strace(1).

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// ShowOptions is how pairs are shown.
type ShowOptions struct {
	Color   bool           // see [Colored]
	All     bool           // every field that is not 0, and the request's number
	Excerpt int            // bytes shown of a payload; 0 stands for 32
	Zone    *time.Location // of the times; nil is the local one
}

// Colored reports whether w wants colour: it is a terminal that can show it,
// and NO_COLOR is not set.
func Colored(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}

// Formatter makes lines of pairs, one at a time and in the order of the trace:
// it learns the paths of nodes from the pairs that went before. It is not for
// parallel use.
type Formatter struct {
	opts  ShowOptions
	paths *tree

	dim, op, path, failed, note *color.Color
}

// NewFormatter begins with an empty tree: pairs are to come from INIT on.
func NewFormatter(o ShowOptions) *Formatter {
	if o.Excerpt == 0 {
		o.Excerpt = 32
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	paint := func(a color.Attribute) *color.Color {
		c := color.New(a)
		if o.Color {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	return &Formatter{
		opts: o, paths: newTree(),
		dim: paint(color.Faint), op: paint(color.Bold), path: paint(color.FgCyan), failed: paint(color.FgRed), note: paint(color.FgYellow),
	}
}

// Show writes a line for each pair of r.
func Show(w io.Writer, r *Reader, o ShowOptions) error {
	out, f := bufio.NewWriter(w), NewFormatter(o)
	for p, err := range r.Pairs() {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		fmt.Fprintln(out, f.Line(p)) // Flush tells of errors
	}
	return out.Flush()
}

// Line is p's line, without a "\n".
func (f *Formatter) Line(p *Pair) string {
	h := p.Req.Header
	at := time.Unix(h.Now.Sec, int64(h.Now.Nsec)).In(f.opts.Zone)
	words := []string{f.dim.Sprint(at.Format("15:04:05.000000")), caller(h)}
	if f.opts.All {
		words = append(words, f.dim.Sprintf("#%d", h.Unique))
	}
	words = append(words, f.op.Sprint(p.Req.Op))
	words = append(words, f.request(p.Req)...)
	if p.Rep != nil {
		words = append(words, "→")
		words = append(words, f.reply(p.Rep)...)
	}
	f.paths.learn(p)
	return strings.Join(append(words, f.end(p)...), " ")
}

func caller(h proto.Header) string {
	if h.Pid == 0 && h.Comm == "" {
		return "-"
	}
	return printable(h.Comm) + "[" + strconv.Itoa(int(h.Pid)) + "]"
}

// end is what the answer took.
func (f *Formatter) end(p *Pair) []string {
	var words []string
	if p.Took != 0 {
		words = append(words, f.dim.Sprint(" "+took(p.Took)))
	}
	if p.Usage != (Usage{}) {
		words = append(words, f.dim.Sprintf("%d+%d tokens", p.Usage.InputTokens, p.Usage.OutputTokens))
	}
	if p.Note != "" {
		words = append(words, f.note.Sprintf("(%s)", p.Note))
	}
	return words
}

func (f *Formatter) request(r *proto.Request) []string {
	list := f.names(r)
	w := words{sep: "=", all: f.opts.All, paths: f.paths}
	w.of(r.In)
	list = append(list, w.list...)
	if forgotten, ok := r.List.([]proto.ForgetOne); ok {
		for _, one := range forgotten {
			list = append(list, fmt.Sprintf("%s*%d", printable(f.paths.path(one.NodeId)), one.Nlookup))
		}
	}
	if r.Data != nil {
		list = append(list, f.excerpt(r.Data))
	}
	return list
}

// names are the paths that the request is about.
func (f *Formatter) names(r *proto.Request) []string {
	var list []string
	if len(r.Names) == 0 || !r.Op.Row().Role(0).IsEntry() {
		if r.Header.NodeId == 0 {
			return nil
		}
		list = append(list, f.show(f.paths.path(r.Header.NodeId)))
	}
	for i, name := range r.Names {
		list = append(list, f.name(r, i, name))
	}
	return list
}

func (f *Formatter) name(r *proto.Request, i int, name string) string {
	dir := r.Header.NodeId
	role := r.Op.Row().Role(i)
	if !role.IsEntry() {
		return strconv.Quote(name)
	}
	if role == proto.RoleNew {
		dir = newdir(r)
	}
	return f.show(f.paths.child(link{dir, name}))
}

func (f *Formatter) show(path string) string { return f.path.Sprint(printable(path)) }

func (f *Formatter) reply(r *proto.Reply) []string {
	if r.Errno != 0 {
		return []string{f.failed.Sprint(proto.ErrnoName(r.Errno))}
	}
	var list []string
	if negative(r.Out) {
		list = append(list, "no entry")
	} else {
		w := words{sep: " ", all: f.opts.All, paths: f.paths}
		w.of(r.Out)
		list = w.list
	}
	if r.Data != nil {
		list = append(list, f.excerpt(r.Data))
	}
	if r.Entries != nil {
		list = append(list, f.entries(r.Entries))
	}
	for _, n := range r.Notify {
		list = append(list, f.notification(n))
	}
	if len(list) == 0 {
		return []string{"ok"}
	}
	return list
}

func (f *Formatter) entries(list []proto.Dirent) string {
	names := make([]string, 0, len(list))
	room := 2 * f.opts.Excerpt
	for _, e := range list {
		name := printable(e.Name)
		if room -= utf8.RuneCountInString(name) + 1; room < 0 {
			names = append(names, "…")
			break
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "0 entries"
	}
	return fmt.Sprintf("%d entries: %s", len(list), strings.Join(names, " "))
}

func (f *Formatter) notification(n proto.Notification) string {
	w := words{sep: " ", all: f.opts.All, paths: f.paths}
	w.of(n.Out)
	if n.Name != "" {
		w.list = append(w.list, printable(n.Name))
	}
	if n.Data != nil {
		w.list = append(w.list, f.excerpt(n.Data))
	}
	return "+" + n.Code.String() + "(" + strings.Join(w.list, " ") + ")"
}

// excerpt is the beginning of a payload, quoted, and its length in bytes.
func (f *Formatter) excerpt(b []byte) string {
	head, more := b, ""
	if len(b) > f.opts.Excerpt {
		head, more = b[:f.opts.Excerpt], "…"
		for len(head) > 0 && !utf8.RuneStart(b[len(head)]) && utf8.Valid(b) {
			head = head[:len(head)-1]
		}
	}
	return fmt.Sprintf("%s%s %d B", strconv.Quote(string(head)), more, len(b))
}

// printable is s, quoted where it would not stand as one word.
func printable(s string) string {
	for _, r := range s {
		if r == utf8.RuneError || r == '"' || r == ' ' || !strconv.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// took is a duration to about three digits.
func took(d time.Duration) string {
	switch {
	case d < 100*time.Microsecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2fms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2fs", d.Seconds())
}
