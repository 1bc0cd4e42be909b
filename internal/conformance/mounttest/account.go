package mounttest

// What a daemon says that it has done so far.

import (
	"fmt"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

var (
	accountLine = regexp.MustCompile(`is mounted; \d+ requests, (\d+) of them answered by the model\n`)
	callsLine   = regexp.MustCompile(`(?m)^model: (\d+) calls`)
	tokensLine  = regexp.MustCompile(`(?m)^tokens: (\d+) in \((\d+) of them cached\), (\d+) out`)
)

// An Account is what a mount's language model has done.
type Account struct{ Calls, In, Cached, Out int } // In to Out are tokens

// Less is what was done after an earlier account.
func (a Account) Less(b Account) Account {
	return Account{a.Calls - b.Calls, a.In - b.In, a.Cached - b.Cached, a.Out - b.Out}
}

// Account is what the model has done since the mount.
func (d *Daemon) Account() (a Account, err error) {
	if _, err = d.Answered(); err != nil {
		return a, err
	}
	text := d.Output()
	if at := accountLine.FindAllStringIndex(text, -1); len(at) > 0 {
		text = text[at[len(at)-1][0]:]
	}
	numbers(callsLine.FindStringSubmatch(text), &a.Calls)
	numbers(tokensLine.FindStringSubmatch(text), &a.In, &a.Cached, &a.Out)
	return a, nil
}

// numbers reads the groups of a match; without one, all stays as it is.
func numbers(groups []string, to ...*int) {
	for i := range min(len(to), len(groups)-1) {
		*to[i], _ = strconv.Atoi(groups[i+1]) // the expression has digits only
	}
}

// quiet is how long nothing must have happened for an account to be settled:
// what nobody waits for, FORGET say, reaches the daemon late.
const quiet = 50 * time.Millisecond

// Answered is how many requests the model has answered since the mount.
func (d *Daemon) Answered() (n int, err error) {
	last := -1
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(quiet) {
		if n, err = d.answered(deadline); err != nil || n == last {
			return n, err
		}
		last = n
	}
	return 0, fmt.Errorf("the daemon is still answering after %v", startTimeout)
}

// answered has the daemon print its account, and reads the last line of it.
func (d *Daemon) answered(deadline time.Time) (int, error) {
	seen := len(accountLine.FindAllString(d.Output(), -1))
	if err := d.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		return 0, fmt.Errorf("ask the daemon for its account: %w", err)
	}
	for ; time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if lines := accountLine.FindAllStringSubmatch(d.Output(), -1); len(lines) > seen {
			return strconv.Atoi(lines[len(lines)-1][1])
		}
	}
	return 0, fmt.Errorf("the daemon gives no account of itself within %v", startTimeout)
}
