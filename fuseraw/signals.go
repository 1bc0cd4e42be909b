package fuseraw

// Which signals may end a request. The kernel sends INTERRUPT for any signal
// of the caller. On a disk none but fatal ones end a system call, and programs
// rely on it: git's progress timer, make's SIGCHLD and Go's SIGURG would turn
// stat(2) into EINTR wherever an answer takes seconds.

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sigSetxid is the signal by which glibc makes setuid(2) hold for all threads.
const sigSetxid = 33

// housekeeping are the signals whose handlers can wait for the answer. One that
// kills or exits the process shows as a pending SIGKILL in each thread.
var housekeeping = maskOf(unix.SIGALRM, unix.SIGVTALRM, unix.SIGPROF, unix.SIGCHLD, unix.SIGURG, unix.SIGWINCH, unix.SIGIO,
	unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, sigSetxid)

func maskOf(signals ...unix.Signal) (mask uint64) {
	for _, s := range signals {
		mask |= 1 << (s - 1)
	}
	return mask
}

// urgentSignal tells whether thread pid has a pending signal that asks it to
// stop; true where that can't be known.
func urgentSignal(pid uint32) bool {
	if pid == 0 { // the caller is outside the mount's pid namespace
		return true
	}
	status, err := os.ReadFile("/proc/" + strconv.FormatUint(uint64(pid), 10) + "/status")
	if err != nil {
		return true
	}
	thread, ok1 := signalSet(status, "SigPnd:")
	process, ok2 := signalSet(status, "ShdPnd:")
	blocked, ok3 := signalSet(status, "SigBlk:")
	if !ok1 || !ok2 || !ok3 {
		return true
	}
	return (thread|process)&^blocked&^housekeeping != 0
}

func signalSet(status []byte, name string) (uint64, bool) {
	value, ok := statusField(status, name)
	if !ok {
		return 0, false
	}
	set, err := strconv.ParseUint(string(value), 16, 64)
	return set, err == nil
}

// statusField finds a line of /proc/PID/status.
func statusField(status []byte, name string) ([]byte, bool) {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return bytes.TrimSpace(value), true
		}
	}
	return nil, false
}
