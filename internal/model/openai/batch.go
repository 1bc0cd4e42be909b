package openai

// The Batch API: the same questions, answered within a day at half the price.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	api "github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/sjson"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// Endpoint is where the bodies of Body go to, as a batch names it.
func (c *Client) Endpoint() string {
	if c.o.Responses {
		return "/v1/responses"
	}
	return "/v1/chat/completions"
}

// Body is the question of a prompt as the JSON that Answer would send, without
// streaming.
func (c *Client) Body(p *model.Prompt) ([]byte, error) {
	a := ask{messages: p.Messages, schema: p.Schema, maxOutput: c.o.MaxOutput}
	var params any = c.chatParams(a)
	if c.o.Responses {
		r, err := c.responsesParams(a)
		if err != nil {
			return nil, err
		}
		params = r
	}
	body, err := json.Marshal(params)
	for _, key := range slices.Sorted(maps.Keys(c.o.Extra)) {
		if err == nil {
			body, err = sjson.SetRawBytes(body, key, c.o.Extra[key])
		}
	}
	return body, err
}

// ReadBody is the answer in the body of a response to Body. The error is as
// Answer's.
func (c *Client) ReadBody(body []byte) (*model.Answer, error) {
	if c.o.Responses {
		var res api.Response
		if err := json.Unmarshal(body, &res); err != nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		return readResponse(&res).answer()
	}
	var res sdk.ChatCompletion
	if err := json.Unmarshal(body, &res); err != nil {
		return nil, fmt.Errorf("read chat completion: %w", err)
	}
	return readChat(&res).answer()
}

// Batch is how a batch stands.
type Batch struct {
	ID     string
	Status string // validating, in_progress, finalizing, completed, failed, expired, cancelling, cancelled
	Total  int
	Done   int
	Failed int
	Output string // id of the file of answers; "" while there is none
	Errors string // id of the file of errors; "" where there is none
	Why    string // why it failed as a whole
}

// Ended says whether nothing more is going to happen.
func (b *Batch) Ended() bool {
	return slices.Contains([]string{"completed", "failed", "expired", "cancelled"}, b.Status)
}

// bulk is a client for files, which are larger and take longer than answers.
func (c *Client) bulk() sdk.Client {
	options := []option.RequestOption{option.WithBaseURL(c.o.BaseURL), option.WithHTTPClient(c.http), option.WithMaxRetries(c.o.Retries)}
	if c.o.APIKey != "" {
		options = append(options, option.WithAPIKey(c.o.APIKey))
	}
	return sdk.NewClient(options...)
}

// Submit uploads a file of questions and has it answered.
func (c *Client) Submit(ctx context.Context, name string, lines io.Reader) (*Batch, error) {
	bulk := c.bulk()
	file, err := bulk.Files.New(ctx, sdk.FileNewParams{File: sdk.File(lines, name, "application/jsonl"), Purpose: sdk.FilePurposeBatch})
	if err != nil {
		return nil, c.plain("upload batch", err)
	}
	b, err := bulk.Batches.New(ctx, sdk.BatchNewParams{
		InputFileID: file.ID, Endpoint: sdk.BatchNewParamsEndpoint(c.Endpoint()), CompletionWindow: sdk.BatchNewParamsCompletionWindow24h,
	})
	if err != nil {
		return nil, c.plain("make batch", err)
	}
	return batchOf(b), nil
}

// Batch asks how a batch stands.
func (c *Client) Batch(ctx context.Context, id string) (*Batch, error) {
	bulk := c.bulk()
	b, err := bulk.Batches.Get(ctx, id)
	if err != nil {
		return nil, c.plain("ask for batch "+id, err)
	}
	return batchOf(b), nil
}

// File is the content of a file; the caller closes it.
func (c *Client) File(ctx context.Context, id string) (io.ReadCloser, error) {
	bulk := c.bulk()
	res, err := bulk.Files.Content(ctx, id)
	if err != nil {
		return nil, c.plain("read file "+id, err)
	}
	return res.Body, nil
}

func batchOf(b *sdk.Batch) *Batch {
	out := &Batch{
		ID: b.ID, Status: string(b.Status), Output: b.OutputFileID, Errors: b.ErrorFileID,
		Total: int(b.RequestCounts.Total), Done: int(b.RequestCounts.Completed), Failed: int(b.RequestCounts.Failed),
	}
	for _, e := range b.Errors.Data {
		out.Why = e.Message
	}
	return out
}

// plain is an error that is safe to show.
func (c *Client) plain(what string, err error) error {
	_, text := diagnose(err)
	return fmt.Errorf("%s: %s", what, c.o.redact(text))
}
