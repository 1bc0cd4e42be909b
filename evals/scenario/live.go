package scenario

// Live runs: a script on a mount of its own, answered by whatever is under test,
// and what its commands give.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
)

// Player runs scripts live. Whatever answers, a run ends, and leaves no process
// and no mount behind.
type Player struct {
	Self []string  // as in Recorder
	Work string    // a directory for mounts and scripts
	Log  io.Writer // gets what goes wrong with mounts and scripts; nil for nowhere

	Command time.Duration // how long a command may take, and a request; 0 is 2 minutes
	Whole   time.Duration // how long a script may take; 0 is 30 minutes
}

const (
	commandDeadline = 2 * time.Minute
	wholeDeadline   = 30 * time.Minute
	mostSettling    = 5 * time.Second
)

// errLate is what Play returns where the script's time was over before its end.
var errLate = fmt.Errorf("its time is over: %w", os.ErrDeadlineExceeded)

// Play runs the script of a transcript over a session. done gets what each
// command gave, by its line; its error ends the run, and is Play's. Where the time
// is over before the script's end, that is an os.ErrDeadlineExceeded.
func (p *Player) Play(ctx context.Context, t *evals.Transcript, sess *session.Session, done func(line int, o evals.Outcome) error) error {
	s, err := Parse(t.Name, []byte(t.Script))
	if err != nil {
		return err
	}
	if err := p.play(ctx, s, sess, done); err != nil {
		return fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return nil
}

func (p *Player) play(ctx context.Context, s *Scenario, sess *session.Session, done func(int, evals.Outcome) error) error {
	command, whole := or(p.Command, commandDeadline), or(p.Whole, wholeDeadline)
	ctx, stop := context.WithTimeoutCause(ctx, whole, errLate)
	defer stop()
	work, err := os.MkdirTemp(p.Work, "live")
	if err != nil {
		return err
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	st, err := open(ctx, work, &s.Mount, sess, &liveStage{deadline: command, settle: mostSettling})
	if err != nil {
		return errors.Join(err, os.RemoveAll(work))
	}
	var log bytes.Buffer
	j := job{Self: p.Self, Name: s.Name, Script: s.File, Dirs: st.dirs, Work: work, Live: command}
	err = run(ctx, j, &log, st.listen(done))
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if err != nil {
		p.say("scenario %s: %s", s.Name, log.Bytes())
	}
	p.clear(st, work)
	return err
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// listen is what a runner's lines mean.
func (st *stage) listen(done func(int, evals.Outcome) error) func([]byte) error {
	return func(text []byte) error {
		st.settle()
		st.clock.command()
		var t told
		if err := json.Unmarshal(text, &t); err != nil || t.Line == 0 {
			return err
		}
		return done(t.Line, t.Outcome)
	}
}

// clear unmounts and removes. A model that keeps its mount from ending cleanly is
// no reason to end the run: it is said, and what is left is left.
func (p *Player) clear(st *stage, work string) {
	err := st.close()
	for _, dir := range st.dirs {
		_, _ = fuseraw.Unmount(dir) // nearly always it is no mount any more
	}
	if err = errors.Join(err, os.RemoveAll(work)); err != nil {
		p.say("%v\n", err)
	}
}

func (p *Player) say(format string, args ...any) {
	if p.Log != nil {
		fmt.Fprintf(p.Log, format, args...)
	}
}

// Transcribe makes the transcript of a scenario over the reference.
func (p *Player) Transcribe(ctx context.Context, s *Scenario) (*evals.Transcript, error) {
	t := &evals.Transcript{
		Version: evals.TranscriptVersion, Name: s.Name, Settings: s.Mount.options(),
		Script: string(s.File), Commands: commandsOf(s.File),
	}
	sess, err := overReference(&s.Mount)
	if err != nil {
		return nil, err
	}
	at := 0
	err = p.Play(ctx, t, sess, func(line int, o evals.Outcome) error {
		if at == len(t.Commands) || t.Commands[at].Line != line {
			return fmt.Errorf("line %d gave something out of turn", line)
		}
		if o.Why != "" {
			return fmt.Errorf("line %d: %s", line, o.Why)
		}
		t.Commands[at].Outcome = o
		at++
		return nil
	})
	if err == nil && at < len(t.Commands) {
		err = fmt.Errorf("line %d gave nothing", t.Commands[at].Line)
	}
	return t, err
}
