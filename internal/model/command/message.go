package command

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// question is a line to the command.
type question struct {
	ID       uint64          `json:"id"`
	Op       string          `json:"op"`
	Request  json.RawMessage `json:"request"`
	Messages []model.Message `json:"messages,omitempty"`
	Schema   *schema         `json:"schema,omitempty"`
}

type schema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// cancellation is the other line to the command.
type cancellation struct {
	Cancel uint64 `json:"cancel"`
}

// reply is a line from the command.
type reply struct {
	ID    uint64          `json:"id"`
	Reply json.RawMessage `json:"reply"`
	Error *string         `json:"error"`
	Usage struct {
		InputTokens  int `json:"input_tokens"`
		CachedTokens int `json:"cached_tokens"`
		OutputTokens int `json:"output_tokens"`
	} `json:"usage"`
}

func questionLine(id uint64, p *model.Prompt) ([]byte, error) {
	q := question{ID: id, Op: p.Op.String(), Request: p.Request, Messages: p.Messages}
	if len(p.Schema.JSON) > 0 {
		q.Schema = &schema{Name: p.Schema.Name, Schema: p.Schema.JSON}
	}
	return line(q)
}

func line(message any) ([]byte, error) {
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if text = append(text, '\n'); len(text) > MaxLine {
		return nil, fmt.Errorf("line has %d bytes, want at most %d", len(text), MaxLine)
	}
	return text, nil
}

func (r *reply) answer() (*model.Answer, error) {
	usage := model.Usage(r.Usage)
	switch {
	case r.Error != nil:
		return nil, &model.Error{Kind: model.Rejected, Err: fmt.Errorf("command says: %.2000s", *r.Error), Usage: usage}
	case len(r.Reply) == 0:
		return nil, &model.Error{Kind: model.Empty, Err: errors.New("command sent neither a reply nor an error"), Usage: usage}
	}
	return &model.Answer{Reply: r.Reply, Usage: usage}, nil
}
