package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/tidwall/gjson"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// failure is an error that is safe to show. The SDK's errors are not: they hold
// the request with its key. is is what errors.Is finds behind it, or nil.
type failure struct {
	msg string
	is  error
}

func (f *failure) Error() string { return f.msg }
func (f *failure) Unwrap() error { return f.is }

// explain says why a call failed. parent is the caller's context, ctx the one
// that the call ran under.
func (c *Client) explain(parent, ctx context.Context, err error) error {
	if parent.Err() == context.Canceled {
		return &failure{msg: "openai: cancelled", is: context.Canceled}
	}
	if ctx.Err() != nil {
		return &model.Error{Kind: model.Outage, Err: errTimeout}
	}
	kind, text := diagnose(err)
	return &model.Error{Kind: kind, Err: &failure{msg: c.o.redact(text)}}
}

func diagnose(err error) (model.Kind, string) {
	var status *sdk.Error
	var event *ssestream.StreamError
	switch {
	case errors.As(err, &status):
		return ofStatus(status)
	case errors.As(err, &event):
		return ofBody(event.Event.Data)
	case errors.Is(err, errTooLarge):
		return model.Truncated, errTooLarge.msg
	case errors.Is(err, errNotStream):
		return model.Rejected, errNotStream.msg
	case errors.Is(err, errStalled):
		return model.Outage, errStalled.msg
	}
	return model.Outage, err.Error()
}

// statuses are those that have a kind of their own; of the others, 4xx is
// Rejected and everything else an Outage.
var statuses = map[int]model.Kind{
	http.StatusUnauthorized:    model.Denied,
	http.StatusPaymentRequired: model.Denied, // OpenRouter: no credits
	http.StatusForbidden:       model.Denied,
	http.StatusNotFound:        model.Denied,
	http.StatusRequestTimeout:  model.Outage,
	http.StatusConflict:        model.Outage,
	http.StatusTooManyRequests: model.Limited,
}

func kindOf(status int, message string) model.Kind {
	if kind, ok := statuses[status]; ok {
		return kind
	}
	switch {
	case status < 400 || status >= 500:
		return model.Outage
	case strings.Contains(message, "model output limit was reached"):
		return model.Truncated // OpenAI says so with 400 where all went into reasoning
	}
	return model.Rejected
}

func ofStatus(e *sdk.Error) (model.Kind, string) {
	status := strings.TrimSpace(strconv.Itoa(e.StatusCode) + " " + http.StatusText(e.StatusCode))
	if e.Message == "" {
		return kindOf(e.StatusCode, ""), status
	}
	return kindOf(e.StatusCode, e.Message), status + ": " + e.Message
}

// plainError is an error's body in the form that the SDK reads: it fails on a
// body whose error is a string, and knows no other member than error.
func plainError(body []byte) []byte {
	type message struct {
		Message string `json:"message"`
	}
	text, _ := json.Marshal(map[string]message{"error": {messageOf(body)}}) // strings always have a form
	return text
}

// ofBody reads an error that came with status 200, as OpenRouter and llama.cpp
// send it once they have begun to answer.
func ofBody(text []byte) (model.Kind, string) {
	message := messageOf(text)
	said := fmt.Sprintf("error in the answer: %s", message)
	for _, path := range codePaths {
		code := gjson.GetBytes(text, path)
		if kind, ok := codes[code.String()]; ok {
			return kind, said
		}
		if code.Int() > 0 {
			return kindOf(int(code.Int()), message), said
		}
	}
	return model.Outage, said
}

// codePaths are where servers put the code of an error: a status, or a name.
var codePaths = []string{"error.code", "response.error.code", "code", "error.status"}

// codes are the names that are no outage.
var codes = map[string]model.Kind{
	"rate_limit_exceeded": model.Limited,
	"insufficient_quota":  model.Limited,
	"invalid_prompt":      model.Rejected,
	"invalid_api_key":     model.Denied,
	"model_not_found":     model.Denied,
	"bio_policy":          model.Filtered,
}

// messagePaths are where servers put the message of an error.
var messagePaths = []string{"error.message", "message", "detail", "error"}

const maxMessage = 2000 // bytes: schema errors are long, and the end matters

func messageOf(body []byte) string {
	text := strings.TrimSpace(string(body))
	for _, path := range messagePaths {
		if found := gjson.Get(text, path); found.Exists() && found.String() != "" {
			text = found.String()
			break
		}
	}
	return strings.ToValidUTF8(text[:min(len(text), maxMessage)], "")
}
