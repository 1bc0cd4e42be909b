package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

const (
	maxBackoff = 10 * time.Second
	drainTime  = 100 * time.Millisecond
)

// process is one run of the command.
type process struct {
	cmd      *exec.Cmd
	o        Options
	stdin    io.WriteCloser
	out      *queue
	pumps    sync.WaitGroup // reader, writer and standard error
	pipes    []*os.File     // our ends of its output
	answered atomic.Bool
	broken   chan error    // what is wrong with its output
	last     atomic.Value  // the last line on standard error, a string
	gone     chan struct{} // closed once why is set
	why      error

	mu      sync.Mutex
	highest uint64 // of the ids that it was asked
	waiting map[uint64]chan<- result
}

type result struct {
	answer *model.Answer
	err    error
}

func start(command string, o Options) (*process, error) {
	p := &process{o: o, out: newQueue(), broken: make(chan error, 1), gone: make(chan struct{}), waiting: map[uint64]chan<- result{}}
	p.last.Store("")
	p.cmd = exec.Command("sh", "-c", command)
	p.cmd.Dir, p.cmd.Env = o.Dir, o.Env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stderr, theirErr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.cmd.Stdout, p.cmd.Stderr, p.pipes = stdin, theirOut, theirErr, []*os.File{stdout, stderr}
	err = p.cmd.Start()
	_, _ = theirOut.Close(), theirErr.Close()
	if err != nil {
		_, _, _ = stdin.Close(), stdout.Close(), stderr.Close()
		return nil, fmt.Errorf("start sh: %w", err)
	}
	p.pumps.Go(func() { p.write() })
	p.pumps.Go(func() { p.read(stdout) })
	p.pumps.Go(func() { p.passOn(stderr) })
	return p, nil
}

// ask sends one line and waits for its answer.
func (p *process) ask(ctx context.Context, id uint64, text []byte) (*model.Answer, error) {
	answer := make(chan result, 1)
	p.mu.Lock()
	p.waiting[id], p.highest = answer, max(p.highest, id)
	p.mu.Unlock()
	p.out.push(id, text)
	select {
	case r := <-answer:
		return r.answer, r.err
	case <-p.gone:
		return p.late(answer)
	case <-ctx.Done():
		p.forget(id)
		return nil, ended(ctx)
	}
}

// late is the answer where it came just before the end.
func (p *process) late(answer <-chan result) (*model.Answer, error) {
	select {
	case r := <-answer:
		return r.answer, r.err
	default:
		return nil, &model.Error{Kind: model.Outage, Err: p.why}
	}
}

// forget drops a request that was not sent yet, and cancels one that was.
func (p *process) forget(id uint64) {
	p.mu.Lock()
	delete(p.waiting, id)
	p.mu.Unlock()
	if text, err := line(cancellation{id}); err == nil {
		p.out.cancel(id, text)
	}
}

// wait waits until the process has ended, or ends it when ctx is done or its
// output is broken, and returns why.
func (p *process) wait(ctx context.Context) error {
	exited := make(chan struct{})
	go func() { p.awaitExit(); close(exited) }()
	var why error
	select {
	case <-exited:
	case why = <-p.broken:
	case <-ctx.Done():
		why = errClosed
		p.out.end() // its standard input ends
		sleepUntil(exited, p.o.Grace)
	}
	p.kill()
	<-exited
	p.out.end()
	err := p.cmd.Wait() // closes standard input, which ends a write that blocks
	p.drain()
	select {
	case broken := <-p.broken: // its last words tell more than its status
		return cmp.Or(why, broken)
	default:
		return cmp.Or(why, p.obituary(err))
	}
}

// end fails all requests that wait.
func (p *process) end(why error) {
	p.why = why
	close(p.gone)
}

// awaitExit waits for the end of sh and leaves it a zombie, so that its number
// still names its group and no other.
func (p *process) awaitExit() {
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// drain reads what the process has left. Who is out of its group, and so still
// alive, can hold the pipes open for a moment only.
func (p *process) drain() {
	for _, pipe := range p.pipes {
		_ = pipe.SetReadDeadline(time.Now().Add(drainTime))
	}
	p.pumps.Wait()
}

func (p *process) kill() { _ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL) }

func (p *process) obituary(err error) error {
	if err == nil {
		err = errors.New("exit status 0")
	}
	if line := p.last.Load().(string); line != "" {
		return fmt.Errorf("command ended: %w: %s", err, line)
	}
	return fmt.Errorf("command ended: %w", err)
}

func sleep(ctx context.Context, d time.Duration) { sleepUntil(ctx.Done(), d) }

func sleepUntil(done <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
