package openai

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

const (
	warmParallel = 4
	warmOutput   = 16 // tokens; the Responses API takes no fewer
)

// Progress is told of each schema that is done. Calls come one at a time.
type Progress func(done, total int, name string, took time.Duration, err error)

// Warm sends each distinct schema once with a tiny prompt, so that the server
// has compiled it before a caller waits for an answer. It ends early where the
// server denies access, as it then does so for all. The errors come joined, each
// with its schema's name. progress may be nil.
func (c *Client) Warm(ctx context.Context, schemas []model.Schema, progress Progress) error {
	schemas = distinct(schemas)
	w := warming{total: len(schemas), progress: progress}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(warmParallel)
	for _, schema := range schemas {
		group.Go(func() error {
			if running.Err() != nil {
				return nil
			}
			start := time.Now()
			err := c.warm(running, schema)
			return w.add(schema.Name, time.Since(start), err)
		})
	}
	_ = group.Wait() // one of w.errs
	return errors.Join(append(w.errs, ctx.Err())...)
}

// warm makes the server compile a schema. An answer that was cut short or
// withheld came after that.
func (c *Client) warm(ctx context.Context, schema model.Schema) error {
	_, err := c.ask(ctx, ask{messages: warmPrompt, schema: schema, maxOutput: warmOutput})
	var e *model.Error
	if errors.As(err, &e) && (e.Kind == model.Truncated || e.Kind == model.Empty || e.Kind == model.Refused || e.Kind == model.Filtered) {
		return nil
	}
	return err
}

var warmPrompt = []model.Message{{Role: model.RoleUser, Content: "Answer with the errno ENOSYS, 38."}}

// distinct leaves out schemas that the server has seen under the same name.
func distinct(schemas []model.Schema) (list []model.Schema) {
	seen := map[string]bool{}
	for _, s := range schemas {
		if id := s.Name + "\x00" + string(s.JSON); !seen[id] {
			seen[id] = true
			list = append(list, s)
		}
	}
	return list
}

// warming adds up what has been warmed.
type warming struct {
	mu          sync.Mutex
	done, total int
	errs        []error
	progress    Progress
}

// add returns the error that ends the warming, if err is one. A call that was
// cancelled for it is not done.
func (w *warming) add(name string, took time.Duration, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	w.done++
	if w.progress != nil {
		w.progress(w.done, w.total, name, took, err)
	}
	if err == nil {
		return nil
	}
	w.errs = append(w.errs, fmt.Errorf("schema %s: %w", name, err))
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.Denied {
		return err
	}
	return nil
}
