package main

// What a mount says when it ends: how much it did, and every fallback that
// happened on the way.

import (
	"fmt"
	"io"
	"os"
	"os/signal"
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
	"StoreReads": true, "StoreKnown": true, "HeldAttrs": true, "InFlight": true, "Interrupts": true, "Interrupted": true, "Ignored": true, "Calls": true,
}

// summarize says what has been done so far; state is what has become of the mount.
func summarize(w io.Writer, state string, conn fuseraw.Stats, sess session.Totals) {
	fmt.Fprintf(w, "%s; %d requests, %d of them answered by the model\n", state, conn.Requests, sess.Calls)
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

// onSignal calls f at each signal until the result is called.
func onSignal(sig os.Signal, f func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, sig)
	go func() {
		for range signals {
			f()
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
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
