package scenario

// The serving side of a recording: one filesystem behind one or more mounts, a
// clock that the requests drive, and the tape.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// stage is a filesystem, mounted.
type stage struct {
	dirs  []string
	conns []*fuseraw.Conn
	tape  tape
	end   context.CancelFunc
	done  sync.WaitGroup
	errs  chan error

	// turn is held while a request is handled, so that there is one order of all;
	// requests that may wait for others go without.
	turn  sync.Mutex
	live  *liveStage // nil for a recording
	clock clock
	sess  *session.Session
	busy  atomic.Int64 // requests being handled, those that may wait aside
}

// liveStage is what is different where nothing is recorded: requests need no order,
// and none may take for ever.
type liveStage struct {
	deadline time.Duration // of a request
	settle   time.Duration // the longest wait for calm
}

// overReference is a session with a fresh reference filesystem.
func overReference(s *Settings) (*session.Session, error) {
	opts, err := s.reference()
	if err != nil {
		return nil, err
	}
	return session.New(reference.New(opts), session.Options{}), nil
}

// open mounts in directories mnt, mnt2 … below dir.
func open(ctx context.Context, dir string, s *Settings, sess *session.Session, live *liveStage) (*stage, error) {
	st := &stage{sess: sess, live: live, errs: make(chan error, s.Mounts)}
	st.clock.live = live != nil
	ctx, end := context.WithCancel(ctx)
	st.end = end
	for i := range s.Mounts {
		if err := st.mount(ctx, filepath.Join(dir, mountName(i)), s.fuse()); err != nil {
			return nil, errors.Join(err, st.close())
		}
	}
	return st, nil
}

func mountName(i int) string {
	if i == 0 {
		return "mnt"
	}
	return "mnt" + strconv.Itoa(i+1)
}

func (st *stage) mount(ctx context.Context, dir string, o fuseraw.Options) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	i := len(st.conns)
	callers := newPrograms()
	o.Record = func(x fuseraw.Exchange) { st.tape.record(i, x, callers.process(x.Req.Header.Pid)) }
	if st.live != nil {
		o.Record, o.Deadline, o.Log = st.tape.pass, st.live.deadline, slog.New(slog.DiscardHandler)
	}
	o.Now = st.clock.now
	o.Comm = callers.comm
	conn, err := fuseraw.Mount(dir, o)
	if err != nil {
		return err
	}
	st.dirs, st.conns = append(st.dirs, dir), append(st.conns, conn)
	st.done.Go(func() { st.errs <- conn.Serve(ctx, st) })
	select {
	case <-conn.Ready():
		return nil
	case <-time.After(20 * time.Second):
		return fmt.Errorf("mount %s: not ready after 20 s", dir)
	}
}

// close unmounts.
func (st *stage) close() (err error) {
	st.end()
	st.done.Wait()
	close(st.errs)
	for e := range st.errs {
		err = errors.Join(err, e)
	}
	for _, dir := range st.dirs {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}

// Handle implements fuseraw.Handler.
func (st *stage) Handle(ctx context.Context, req *proto.Request) *proto.Reply {
	if req.Op.Row().Blocking {
		st.tape.begin(req)
		req.Header.Now = st.clock.current()
		return st.sess.Handle(ctx, req)
	}
	st.busy.Add(1)
	defer st.busy.Add(-1)
	if st.live == nil {
		st.turn.Lock()
		defer st.turn.Unlock()
	}
	req.Header.Now = st.clock.tick(req.Op)
	if in, ok := req.In.(*fuse.SetAttrIn); ok && st.live != nil {
		nowOf(in, req.Header.Now)
	}
	return st.sess.Handle(ctx, req)
}

// settle waits until the kernel has nothing more to say and closes a window.
func (st *stage) settle() {
	began := time.Now()
	for calm, before := 0, -1; calm < 3; {
		if st.live != nil && time.Since(began) > st.live.settle {
			return
		}
		n := st.tape.len()
		if n == before && st.idle() {
			calm++
		} else {
			calm = 0
		}
		before = n
		time.Sleep(st.tape.pause())
	}
	st.tape.window()
}

func (st *stage) idle() bool {
	for _, c := range st.conns {
		if c.Waiting() {
			return false
		}
	}
	return st.busy.Load() == 0
}
