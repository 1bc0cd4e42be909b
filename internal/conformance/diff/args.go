// The kinds of argument: how each is written in a script, generated and read.

package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kind is a kind of argument.
type kind struct {
	gen   func(d *drawing) string
	check func(string) error
	// simple are values that Shrink tries in place of others.
	simple []string
	// path and fd tell which objects the call touches.
	path, fd bool
}

var (
	argPath   = pathKind(likely(6, genKnown(anyType), genPath))
	argNew    = pathKind(likely(8, genPath, genKnown(anyType)))
	argDir    = pathKind(likely(7, genKnown(dirType), genPath))
	argFile   = pathKind(likely(7, genKnown(fileType), genPath))
	argLink   = pathKind(likely(7, genKnown(linkType), genPath))
	argTarget = kind{gen: genTarget, check: checkText, simple: []string{"a", "d"}}
	argFD     = kind{gen: genFD, check: checkFD, fd: true, simple: slots[:1]}
	argData   = kind{gen: sampled(dataPool), check: checkData, simple: []string{`""`, `"x"`}}
	argTime   = kind{gen: sampled(timePool), check: checkTime, simple: []string{"NOW"}}
	argXattr  = kind{gen: sampled(xattrPool), check: checkText, simple: []string{"user.a"}}
	argValue  = kind{gen: sampled(valuePool), check: checkData, simple: []string{`"v"`}}
)

func pathKind(gen func(*drawing) string) kind {
	return kind{gen: gen, check: checkText, path: true, simple: []string{"a", "d", "d/a"}}
}

// argNum is a number or flags taken from a pool; an entry written N×TEXT counts N times.
func argNum(pool ...string) kind {
	return kind{gen: sampled(pool), check: checkNum, simple: []string{weightedPool(pool)[0]}}
}

// weightedPool repeats the entries of a pool in which "5×x" stands for five x.
func weightedPool(pool []string) []string {
	var all []string
	for _, entry := range pool {
		times, text, weighted := strings.Cut(entry, "×")
		n, err := strconv.Atoi(times)
		if !weighted || err != nil {
			n, text = 1, entry
		}
		all = append(all, slices.Repeat([]string{text}, n)...)
	}
	return all
}

var dataPool = []string{`""`, `3×"x"`, `2×"hello"`, `"ab"*2047`, `"b"*4095`, `2×"c"*4096`, `"d"*4097`,
	`"ef"*4096`, `"0123456789"*7000`, `"\x00"*4096`}

var timePool = []string{"3×NOW", "2×OMIT", "0.0", "1000000000.123456789", "1.999999999", "-5.5", "4102444800.1",
	"1.1000000000", "8589934592.7"}

var xattrPool = []string{"20×user.a", "3×user.b", "2×trusted.t", "2×security.s", "3×system.posix_acl_access",
	"3×system.posix_acl_default", "system.x", "bogus.x", "user.", "user.n{250}", "user.n{251}", "bogus", `""`}

var valuePool = []string{`""`, `4×"v"`, `2×"value"`, `"w"*300`, `"z"*65536`, `"z"*65537`,
	"2×acl:u=7,g=5,o=4", "2×acl:u=7,U1000=6,g=5,m=7,o=0", "acl:u=6,g=4,G2000=7,m=4,o=0", "acl:u=7,U1001=0,g=7,m=7,o=7",
	"acl:u=7,U1000=6,g=5,o=4", "acl:o=7,u=7,g=7", "acl:u=7,g=5", `"\x02\x00\x00\x00"`}

func checkText(s string) error {
	_, err := parseText(s)
	return err
}

func checkNum(s string) error {
	_, err := parseNum(s)
	return err
}

func checkFD(s string) error {
	if !slices.Contains(slots, s) {
		return fmt.Errorf("descriptor slot %q: want one of %v", s, slots)
	}
	return nil
}

func checkData(s string) error {
	_, err := parseData(s)
	return err
}

func checkTime(s string) error {
	_, err := parseTime(s)
	return err
}

// parseText reads a path, name or link target: as it stands or in quotes, where x{255} stands for
// 255 times x.
func parseText(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		return strconv.Unquote(s)
	}
	head, rest, long := strings.Cut(s, "{")
	if !long {
		return s, nil
	}
	count, tail, closed := strings.Cut(rest, "}")
	n, err := strconv.Atoi(count)
	if !closed || err != nil || head == "" || n < 1 {
		return "", fmt.Errorf("text %q: want X{COUNT}", s)
	}
	return head + strings.Repeat(head[len(head)-1:], n-1) + tail, nil
}

// parseData reads "bytes", "bytes"*COUNT or an ACL.
func parseData(s string) ([]byte, error) {
	if strings.HasPrefix(s, "acl:") {
		return parseACL(s)
	}
	end := strings.LastIndex(s, `"`) + 1
	text, err := strconv.Unquote(s[:end])
	if err != nil {
		return nil, fmt.Errorf("data %q: %w", s, err)
	}
	count := 1
	if times, repeated := strings.CutPrefix(s[end:], "*"); repeated {
		count, err = strconv.Atoi(times)
	} else if times != "" {
		err = fmt.Errorf("%q follows the quotes", times)
	}
	if err != nil {
		return nil, fmt.Errorf("data %q: %w", s, err)
	}
	return []byte(strings.Repeat(text, count)), nil
}

// parseTime reads NOW, OMIT or SECONDS.NANOSECONDS.
func parseTime(s string) (unix.Timespec, error) {
	switch s {
	case "NOW":
		return unix.Timespec{Nsec: unix.UTIME_NOW}, nil
	case "OMIT":
		return unix.Timespec{Nsec: unix.UTIME_OMIT}, nil
	}
	whole, part, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return unix.Timespec{}, fmt.Errorf("time %q: want NOW, OMIT or SECONDS.NANOSECONDS", s)
	}
	nsec, err := strconv.ParseInt(part, 10, 64)
	if err != nil {
		return unix.Timespec{}, fmt.Errorf("time %q: want NOW, OMIT or SECONDS.NANOSECONDS", s)
	}
	return unix.Timespec{Sec: sec, Nsec: nsec}, nil
}
