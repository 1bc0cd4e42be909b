package openai

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

func (c *Client) chatParams(a ask) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model:           c.o.Model,
		Messages:        chatMessages(a.messages),
		ReasoningEffort: shared.ReasoningEffort(c.o.ReasoningEffort),
		PromptCacheKey:  c.dialect.promptCacheKey(a.schema.Name),
		Store:           c.dialect.store(),
	}
	p.MaxTokens, p.MaxCompletionTokens = c.dialect.maxTokens(a.maxOutput)
	if c.o.Temperature != nil {
		p.Temperature = param.NewOpt(*c.o.Temperature)
	}
	if len(a.schema.JSON) > 0 {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: a.schema.Name, Strict: param.NewOpt(true), Schema: json.RawMessage(a.schema.JSON),
			},
		}
	}
	return p
}

func chatMessages(messages []model.Message) []sdk.ChatCompletionMessageParamUnion {
	list := make([]sdk.ChatCompletionMessageParamUnion, 0, len(messages))
	for _, m := range messages {
		switch m.Role {
		case model.RoleSystem:
			list = append(list, sdk.SystemMessage(m.Content))
		case model.RoleAssistant:
			list = append(list, sdk.AssistantMessage(m.Content))
		default:
			list = append(list, sdk.UserMessage(m.Content))
		}
	}
	return list
}

func (c *Client) chat(ctx context.Context, a ask, options []option.RequestOption) (*said, error) {
	res, err := c.sdk.Chat.Completions.New(ctx, c.chatParams(a), options...)
	if err != nil {
		return nil, err
	}
	return readChat(res), nil
}

func readChat(res *sdk.ChatCompletion) *said {
	s := &said{usage: chatUsage(res.Usage), failed: errorIn(res.RawJSON(), res.JSON.ExtraFields["error"].Raw())}
	if len(res.Choices) == 0 {
		s.nothing = true
		return s
	}
	choice := res.Choices[0]
	s.content, s.refusal, s.finish = choice.Message.Content, choice.Message.Refusal, choice.FinishReason
	s.reasoning = reasoningIn(choice.Message.JSON.ExtraFields)
	return s
}

// errorIn is the body where its error says something: some servers send null.
func errorIn(body, raw string) string {
	if raw == "" || raw == "null" {
		return ""
	}
	return body
}

func (c *Client) chatStream(ctx context.Context, a ask, options []option.RequestOption) (*said, error) {
	p := c.chatParams(a)
	p.StreamOptions.IncludeUsage = param.NewOpt(true)
	stream := c.sdk.Chat.Completions.NewStreaming(ctx, p, options...)
	defer func() { _ = stream.Close() }()
	r := chatReader{limit: c.o.MaxBytes, said: said{nothing: true}}
	return r.read(stream)
}

// chatReader adds up the chunks of a stream.
type chatReader struct {
	said               said
	limit              int64
	blanks             blanks
	content, reasoning strings.Builder
}

func (r *chatReader) read(stream *ssestream.Stream[sdk.ChatCompletionChunk]) (*said, error) {
	for !r.said.runaway && stream.Next() {
		chunk := stream.Current()
		if chunk.JSON.Usage.Valid() {
			r.said.usage = chatUsage(chunk.Usage)
		}
		if len(chunk.Choices) > 0 {
			r.add(chunk.Choices[0])
		}
		if int64(r.content.Len()+r.reasoning.Len()) > r.limit {
			return nil, errTooLarge
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	r.said.content, r.said.reasoning = r.content.String(), r.reasoning.String()
	if r.said.finish == "" && !r.said.nothing && !r.said.runaway && !isObject(jsonIn(r.said.content)) {
		return nil, errBrokenOff
	}
	return &r.said, nil
}

func (r *chatReader) add(choice sdk.ChatCompletionChunkChoice) {
	r.said.nothing = false
	r.said.refusal += choice.Delta.Refusal
	r.content.WriteString(choice.Delta.Content)
	r.reasoning.WriteString(reasoningIn(choice.Delta.JSON.ExtraFields))
	r.said.runaway = r.blanks.add(choice.Delta.Content)
	if choice.FinishReason != "" {
		r.said.finish = choice.FinishReason
	}
}

func chatUsage(u sdk.CompletionUsage) model.Usage {
	return model.Usage{
		InputTokens:  int(u.PromptTokens),
		CachedTokens: int(u.PromptTokensDetails.CachedTokens),
		OutputTokens: int(u.CompletionTokens),
	}
}
