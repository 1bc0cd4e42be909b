package session

// Every way of having no answer, and what the caller gets for it.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// invalidReply marks an answer that is no valid reply.
type invalidReply struct{ error }

func (e invalidReply) Unwrap() error { return e.error }

// errBudget marks a request that the budget has nothing left for.
var errBudget = errors.New("the budget is spent")

// failure is one row of the table.
type failure struct {
	name  string
	errno syscall.Errno
	level slog.Level
	is    func(ctx context.Context, err error) bool
	why   string // why this errno
}

// failures are tried in order; the last one fits all.
var failures = [...]failure{
	{"invalid reply", syscall.EIO, slog.LevelError, isInvalid, "after two repairs there is still nothing to tell the caller"},
	{"budget", syscall.EDQUOT, slog.LevelWarn, isBudget, "a quota is what it is: nothing further until it is raised"},
	{"deadline", syscall.ETIMEDOUT, slog.LevelWarn, isTimeout, "the request's own time is over"},
	{"interrupt", syscall.EINTR, slog.LevelDebug, isCanceled, "the caller, or the unmount, ended it"},
	{model.Refused.String(), syscall.EACCES, slog.LevelWarn, isKind(model.Refused), "someone who may decide it says no; programs report it and go on"},
	{model.Filtered.String(), syscall.EACCES, slog.LevelWarn, isKind(model.Filtered), "as a refusal"},
	{model.Truncated.String(), syscall.EFBIG, slog.LevelWarn, isKind(model.Truncated), "the answer is too large to be said: ask for less at a time"},
	{model.Denied.String(), syscall.EPERM, slog.LevelError, isKind(model.Denied), "the key or the account, not this request, lacks the right"},
	{model.Rejected.String(), syscall.EINVAL, slog.LevelError, isKind(model.Rejected), "the server takes no such request, however often it is made"},
	{model.Limited.String(), syscall.EBUSY, slog.LevelWarn, isKind(model.Limited), "EAGAIN would make programs and runtimes spin"},
	{model.Empty.String(), syscall.EIO, slog.LevelError, isKind(model.Empty), "the model said nothing"},
	{model.Outage.String(), syscall.EIO, slog.LevelError, isKind(model.Outage), "what a disk says that can't be reached"},
	{"other", syscall.EIO, slog.LevelError, isAny, "anything else"},
}

func isInvalid(_ context.Context, err error) bool {
	var e invalidReply
	return errors.As(err, &e)
}

func isBudget(_ context.Context, err error) bool { return errors.Is(err, errBudget) }

func isTimeout(ctx context.Context, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}

func isCanceled(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.Canceled)
}

func isKind(kind model.Kind) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		var e *model.Error
		return errors.As(err, &e) && e.Kind == kind
	}
}

func isAny(context.Context, error) bool { return true }

func failureOf(ctx context.Context, err error) *failure {
	for i := range failures {
		if failures[i].is(ctx, err) {
			return &failures[i]
		}
	}
	return &failures[len(failures)-1]
}

// FailureTable is the table in Markdown, for the documents.
func FailureTable() string {
	var b strings.Builder
	b.WriteString("| failure | errno | why |\n|---|---|---|\n")
	for _, f := range failures {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.name, proto.ErrnoName(f.errno), f.why)
	}
	return b.String()
}
