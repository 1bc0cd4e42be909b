// Operations as text, one a line, and back:
//
//	# why this script is here
//	quiet
//	p1 open a/b O_RDWR|O_CREAT 0644 -> f0
//	p2 pwrite f0 4096 "xyz"*100

package diff

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// String is the line of the operation in a script.
func (o Op) String() string {
	line := fmt.Sprintf("p%d %s", o.Actor, o.Call)
	for _, arg := range o.Args {
		line += " " + arg
	}
	if o.To != "" {
		line += " -> " + o.To
	}
	return line
}

// String is the text of the script, which ParseScript reads.
func (s Script) String() string {
	var b strings.Builder
	if s.Quiet {
		b.WriteString("quiet\n")
	}
	for _, op := range s.Ops {
		fmt.Fprintln(&b, op)
	}
	return b.String()
}

// ParseScript reads a script. Empty lines and what follows # outside quotes are ignored.
func ParseScript(r io.Reader) (Script, error) {
	var s Script
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := splitFields(lines.Text())
		switch {
		case len(fields) == 0:
		case len(fields) == 1 && fields[0] == "quiet":
			s.Quiet = true
		default:
			op, err := parseOp(fields)
			if err != nil {
				return s, fmt.Errorf("line %d: %w", n, err)
			}
			s.Ops = append(s.Ops, op)
		}
	}
	return s, lines.Err()
}

// splitFields cuts a line at spaces outside quotes and drops its comment.
func splitFields(line string) []string {
	var fields []string
	var field strings.Builder
	quoted, escaped := false, false
	flush := func() {
		if field.Len() > 0 {
			fields = append(fields, field.String())
			field.Reset()
		}
	}
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && r == '#':
			flush()
			return fields
		case !quoted && (r == ' ' || r == '\t'):
			flush()
			continue
		}
		field.WriteRune(r)
	}
	flush()
	return fields
}

func parseOp(fields []string) (Op, error) {
	if len(fields) < 2 {
		return Op{}, fmt.Errorf("%q: want pN CALL ARGS", strings.Join(fields, " "))
	}
	actor, err := strconv.Atoi(strings.TrimPrefix(fields[0], "p"))
	if err != nil || actor < 0 || actor >= len(actors) {
		return Op{}, fmt.Errorf("process %q: want p0 to p%d", fields[0], len(actors)-1)
	}
	op := Op{Actor: actor, Call: fields[1], Args: fields[2:]}
	if n := len(op.Args); n >= 2 && op.Args[n-2] == "->" {
		op.To, op.Args = op.Args[n-1], op.Args[:n-2]
	}
	return op, checkOp(op)
}

// checkOp holds an operation against its row of the table.
func checkOp(op Op) error {
	row, found := callNamed(op.Call)
	if !found {
		return fmt.Errorf("call %q is not in the table", op.Call)
	}
	if len(op.Args) != len(row.args) {
		return fmt.Errorf("%s: have %d arguments, want %d", op.Call, len(op.Args), len(row.args))
	}
	if row.opens != (op.To != "") || (op.To != "" && !slices.Contains(slots, op.To)) {
		return fmt.Errorf("%s: result goes to %q", op.Call, op.To)
	}
	for i, arg := range op.Args {
		if err := row.args[i].check(arg); err != nil {
			return fmt.Errorf("%s: argument %d: %w", op.Call, i+1, err)
		}
	}
	return nil
}
