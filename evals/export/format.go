package export

// The forms of a line.

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// Format is the name of a form.
type Format string

// The formats.
const (
	OpenAI   Format = "openai-finetune"
	ShareGPT Format = "sharegpt"
)

// Formats lists them.
var Formats = []Format{OpenAI, ShareGPT}

// ParseFormat reads a format's name.
func ParseFormat(s string) (Format, error) {
	for _, f := range Formats {
		if string(f) == s {
			return f, nil
		}
	}
	return "", fmt.Errorf("format %q: want one of %q", s, Formats)
}

// Example is one step.
type Example struct {
	ID       string // trace#pair
	Messages []model.Message
	Answer   string
}

func (e *Example) line(f Format) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var v any = e.shareGPT()
	if f == OpenAI {
		v = e.openAI()
	}
	err := enc.Encode(v)
	return b.Bytes(), err
}

type openAILine struct {
	Messages []openAIMessage `json:"messages"`
}

type openAIMessage struct {
	model.Message
	Weight *int `json:"weight,omitempty"` // 0 where nothing is to be learned
}

func (e *Example) openAI() *openAILine {
	line := &openAILine{}
	for _, m := range e.Messages {
		turn := openAIMessage{Message: m}
		if m.Role == model.RoleAssistant {
			turn.Weight = new(int)
		}
		line.Messages = append(line.Messages, turn)
	}
	line.Messages = append(line.Messages, openAIMessage{Message: model.Message{Role: model.RoleAssistant, Content: e.Answer}})
	return line
}

type shareGPTLine struct {
	ID            string         `json:"id"`
	Conversations []shareGPTTurn `json:"conversations"`
}

type shareGPTTurn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

var shareGPTRoles = map[string]string{model.RoleSystem: "system", model.RoleUser: "human", model.RoleAssistant: "gpt"}

func (e *Example) shareGPT() *shareGPTLine {
	line := &shareGPTLine{ID: e.ID}
	for _, m := range e.Messages {
		line.Conversations = append(line.Conversations, shareGPTTurn{shareGPTRoles[m.Role], m.Content})
	}
	line.Conversations = append(line.Conversations, shareGPTTurn{"gpt", e.Answer})
	return line
}
