// Package mounttest mounts with the real command, for tests and benchmarks:
// build it, start it, wait for the mount, stop it and check that all is gone.
package mounttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 30 * time.Second
	pollInterval = 5 * time.Millisecond
)

// A Daemon is a child process that serves one FUSE mount.
type Daemon struct {
	Dir string

	cmd    *exec.Cmd
	output output
	exited chan struct{}
	err    error // of Wait, once exited is closed
}

// StartDaemon runs cmd, which is to mount dir and stay in the foreground. It
// returns when dir is a FUSE mount that answers. The child is interrupted when
// the thread that started it ends, so that a killed test leaves no mount.
func StartDaemon(cmd *exec.Cmd, dir string) (*Daemon, error) {
	d := &Daemon{Dir: dir, cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &d.output, &d.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %v: %w", cmd.Args, err)
	}
	go func() {
		d.err = cmd.Wait()
		close(d.exited)
	}()
	if err := d.await(); err != nil {
		d.Kill()
		return nil, fmt.Errorf("mount %s: %w\n%s", dir, err, d.Output())
	}
	return d, nil
}

// Pid is the daemon's process id.
func (d *Daemon) Pid() int { return d.cmd.Process.Pid }

// Output is what the daemon has printed so far.
func (d *Daemon) Output() string { return d.output.String() }

// Stop interrupts the daemon as ^C does. The exit code must be 0 and the mount
// must be gone; if not, Stop takes it away by force and returns an error.
func (d *Daemon) Stop() error {
	err := d.interrupt()
	if mounted, _ := isFuseMount(d.Dir); mounted {
		err = errors.Join(err, fmt.Errorf("unmount %s: still in mountinfo after SIGINT", d.Dir))
	}
	d.Kill()
	return err
}

// Kill ends the daemon and unmounts lazily, in whatever state both are.
func (d *Daemon) Kill() {
	_ = unix.Unmount(d.Dir, unix.MNT_DETACH)
	_ = d.cmd.Process.Kill()
	<-d.exited
}

func (d *Daemon) interrupt() error {
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("interrupt the daemon: %w", err)
	}
	select {
	case <-d.exited:
	case <-time.After(stopTimeout):
		return fmt.Errorf("interrupt the daemon: still running after %v", stopTimeout)
	}
	if d.err != nil {
		return fmt.Errorf("exit of the daemon: %w, want exit status 0", d.err)
	}
	return nil
}

func (d *Daemon) await() error {
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) {
		select {
		case <-d.exited:
			return errors.Join(errors.New("the daemon ended before it mounted"), d.err)
		case <-time.After(pollInterval):
		}
		mounted, err := isFuseMount(d.Dir)
		if err != nil {
			return err
		}
		if mounted {
			return d.awaitStat(time.Until(deadline))
		}
	}
	return fmt.Errorf("no FUSE mount after %v", startTimeout)
}

// awaitStat asks for the root's attributes in a thread of its own, as a daemon
// that never answers would hang the caller.
func (d *Daemon) awaitStat(timeout time.Duration) error {
	answer := make(chan error, 1)
	go func() {
		_, err := os.Stat(d.Dir)
		answer <- err
	}()
	select {
	case err := <-answer:
		return err
	case <-time.After(timeout):
		return fmt.Errorf("stat %s: no answer after %v", d.Dir, startTimeout)
	}
}
