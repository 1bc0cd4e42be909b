package main

// What a mount says when it ends: how much it did, and every fallback that
// happened on the way.

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/pprof"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

// usual are the counters that tell of no fallback.
var usual = map[string]bool{
	"Requests": true, "Replies": true, "Gone": true, "Notified": true, "NotifyUnknown": true,
	"StoreReads": true, "InFlight": true, "Interrupts": true, "Interrupted": true, "Ignored": true, "Calls": true,
}

func summarize(w io.Writer, dir string, conn fuseraw.Stats, sess session.Totals) {
	fmt.Fprintf(w, "%s is unmounted; %d requests, %d of them answered by the model\n", dir, conn.Requests, sess.Calls)
	if sess.Usage != (model.Usage{}) {
		_, _ = sess.WriteTo(w)
	}
	if odd := append(fallbacks(conn), fallbacks(sess.Stats)...); len(odd) > 0 {
		fmt.Fprintf(w, "fallbacks: %s\n", strings.Join(odd, ", "))
	}
}

// fallbacks lists the counters of stats, a struct, that are not 0 but should be.
func fallbacks(stats any) (list []string) {
	v := reflect.ValueOf(stats)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !usual[name] && !v.Field(i).IsZero() {
			list = append(list, fmt.Sprintf("%s %v", name, v.Field(i)))
		}
	}
	return list
}

// startProfile writes a CPU profile of the daemon until the result is called.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); file.Close() }, nil
}

// shellQuote makes s one word of a shell.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`!*?[]{}()<>|&;#~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
