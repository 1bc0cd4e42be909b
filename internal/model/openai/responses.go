package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	api "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

func (c *Client) responsesParams(a ask) (p api.ResponseNewParams, err error) {
	p = api.ResponseNewParams{
		Model:          c.o.Model,
		Reasoning:      shared.ReasoningParam{Effort: shared.ReasoningEffort(c.o.ReasoningEffort)},
		PromptCacheKey: c.dialect.promptCacheKey(a.schema.Name),
		Store:          c.dialect.store(),
	}
	for _, m := range a.messages {
		role := api.EasyInputMessageRole(m.Role)
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, api.ResponseInputItemParamOfMessage(m.Content, role))
	}
	if a.maxOutput > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(a.maxOutput))
	}
	if c.o.Temperature != nil {
		p.Temperature = param.NewOpt(*c.o.Temperature)
	}
	if len(a.schema.JSON) > 0 {
		p.Text.Format.OfJSONSchema, err = responsesFormat(a.schema)
	}
	return p, err
}

// responsesFormat is written as it is sent: the SDK's map would sort the keys,
// and models answer in the order of the schema.
func responsesFormat(s model.Schema) (*api.ResponseFormatTextJSONSchemaConfigParam, error) {
	raw, err := json.Marshal(struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	}{"json_schema", s.Name, true, s.JSON})
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	format := param.Override[api.ResponseFormatTextJSONSchemaConfigParam](json.RawMessage(raw))
	return &format, nil
}

func (c *Client) responses(ctx context.Context, a ask, options []option.RequestOption) (*said, error) {
	p, err := c.responsesParams(a)
	if err != nil {
		return nil, err
	}
	res, err := c.sdk.Responses.New(ctx, p, options...)
	if err != nil {
		return nil, err
	}
	return readResponse(res), nil
}

// finishes are the reasons for an incomplete response under their names in Chat
// Completions.
var finishes = map[string]string{"max_output_tokens": "length", "content_filter": "content_filter"}

func readResponse(res *api.Response) *said {
	s := &said{usage: responsesUsage(res.Usage), nothing: len(res.Output) == 0, finish: finishes[res.IncompleteDetails.Reason]}
	s.failed = errorIn(res.RawJSON(), res.JSON.Error.Raw())
	if res.Status == api.ResponseStatusFailed && s.failed == "" {
		s.finish = "error"
	}
	for _, item := range res.Output {
		s.addItem(item)
	}
	if s.finish == "length" {
		s.nothing = false
	}
	return s
}

func (s *said) addItem(item api.ResponseOutputItemUnion) {
	for _, part := range item.Content {
		switch part.Type {
		case "output_text":
			s.content += part.Text
		case "refusal":
			s.refusal += part.Refusal
		case "reasoning_text":
			s.reasoning += part.Text
		}
	}
}

func (c *Client) responsesStream(ctx context.Context, a ask, options []option.RequestOption) (*said, error) {
	p, err := c.responsesParams(a)
	if err != nil {
		return nil, err
	}
	stream := c.sdk.Responses.NewStreaming(ctx, p, options...)
	defer func() { _ = stream.Close() }()
	return readEvents(stream, c.o.MaxBytes)
}

// readEvents waits for the event that has the whole response; deltas are only
// watched.
func readEvents(stream *ssestream.Stream[api.ResponseStreamEventUnion], limit int64) (*said, error) {
	var watch blanks
	var text strings.Builder
	for stream.Next() && int64(text.Len()) <= limit {
		event := stream.Current()
		switch event.Type {
		case "response.output_text.delta":
			text.WriteString(event.Delta)
			if watch.add(event.Delta) {
				return &said{content: text.String(), runaway: true}, nil
			}
		case "response.completed", "response.incomplete", "response.failed":
			return readResponse(&event.Response), nil
		case "error":
			return &said{failed: event.RawJSON()}, nil
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if int64(text.Len()) > limit {
		return nil, errTooLarge
	}
	return nil, errBrokenOff
}

func responsesUsage(u api.ResponseUsage) model.Usage {
	return model.Usage{
		InputTokens:  int(u.InputTokens),
		CachedTokens: int(u.InputTokensDetails.CachedTokens),
		OutputTokens: int(u.OutputTokens),
	}
}
