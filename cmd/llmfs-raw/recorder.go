package main

// What --record and --verbose do with each pair, before its reply is written.

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/internal/trace"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

type recorder struct {
	file *trace.Writer // nil without --record
	sess *session.Session

	mu          sync.Mutex // guards lines and the order of what show gets
	lines       *trace.Formatter
	show        io.Writer // nil without --verbose
	kernelBytes bool
}

func newRecorder(stderr io.Writer, o *mountOptions, sess *session.Session) (*recorder, error) {
	r := &recorder{sess: sess, kernelBytes: o.recordBytes}
	if o.verbose {
		r.show, r.lines = stderr, trace.NewFormatter(trace.ShowOptions{Color: trace.Colored(stderr)})
	}
	if o.record == "" {
		return r, nil
	}
	file, err := trace.Create(o.record, trace.Header{Created: time.Now().UTC(), Model: o.model, Options: o.recorded()}, trace.Options{})
	if err != nil {
		return nil, hint(err, "choose another FILE, or move that one away")
	}
	r.file = file
	return r, nil
}

// recorded are the settings that shape the answers.
func (o *mountOptions) recorded() map[string]string {
	return map[string]string{
		"size": o.size.String(), "cache": o.cache.String(), "read_only": fmt.Sprint(o.readOnly),
		"direct_io": fmt.Sprint(o.directIO), "own_permissions": fmt.Sprint(o.ownPermissions),
	}
}

// hook is what the loop calls, nil where nobody wants to know.
func (r *recorder) hook() func(fuseraw.Exchange) {
	if r.file == nil && r.show == nil {
		return nil
	}
	return r.record
}

func (r *recorder) record(x fuseraw.Exchange) {
	pair := &trace.Pair{
		Req: x.Req, Rep: x.Reply, Took: x.Took, Note: x.Note,
		Usage: trace.Usage(r.sess.TakeUsage(x.Req.Header.Unique)),
	}
	if x.Req.Op.Row().Reply == proto.ReplyNone {
		pair.Rep = nil
	}
	if r.kernelBytes {
		pair.Kernel = &trace.Kernel{Req: x.ReqBytes}
		if pair.Rep != nil {
			pair.Kernel.Rep = slices.Concat(x.ReplyBytes[:]...)
		}
	}
	if r.file != nil {
		_ = r.file.Write(pair) // Close reports the first error
	}
	if r.show != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		fmt.Fprintln(r.show, r.lines.Line(pair))
		if pair.Usage != (trace.Usage{}) {
			fmt.Fprintf(r.show, "                so far %s\n", r.sess.Totals().Line())
		}
	}
}

// Close ends the recording; its error says what is missing from it.
func (r *recorder) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
