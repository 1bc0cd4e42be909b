package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/openai"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// warmer compiles schemas ahead of the first request.
type warmer interface {
	Warm(ctx context.Context, schemas []model.Schema, progress openai.Progress) error
}

// warmUp has the server compile the schemas of all replies. A server that can't
// be warmed may still serve, so its complaint is shown and the mount goes on.
func warmUp(ctx context.Context, stderr io.Writer, w warmer, form schema.Form) {
	if w == nil {
		return
	}
	list := modelSchemas(form)
	bar := progressbar.NewOptions(len(list), progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription("compiling schemas"), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	err := w.Warm(ctx, list, func(done, total int, _ string, _ time.Duration, _ error) {
		bar.ChangeMax(total)
		_ = bar.Set(done)
	})
	_ = bar.Finish()
	if err != nil {
		fmt.Fprintf(stderr, "llmfs-raw: schemas are not compiled: %s\n", firstLine(err.Error()))
	}
}

func modelSchemas(form schema.Form) []model.Schema {
	var list []model.Schema
	for _, s := range schema.Schemas(form) {
		list = append(list, model.Schema{Name: s.Name, JSON: s.JSON})
	}
	return list
}
