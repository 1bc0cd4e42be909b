package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Stream says when answers are streamed.
type Stream uint8

const (
	StreamAuto Stream = iota // all servers but OpenAI's own; see the package's doc
	StreamAlways
	StreamNever
)

// Options of a client. Zero values are good defaults, but for Model.
type Options struct {
	BaseURL string // "http://127.0.0.1:8000/v1"; "" is OPENAI_BASE_URL, or OpenAI's own
	APIKey  string // "" is OPENAI_API_KEY; local servers need none
	Model   string

	Responses       bool     // the Responses API instead of Chat Completions
	Stream          Stream   // whether answers are streamed
	ReasoningEffort string   // "low", "none" …; "" is not sent
	Temperature     *float64 // nil is not sent
	MaxOutput       int      // tokens an answer may have, reasoning included; 0 is not sent
	// Extra are further fields of the request body, by path: "top_k" or
	// "chat_template_kwargs.enable_thinking".
	Extra map[string]json.RawMessage
	// PromptCacheKey begins the prompt_cache_key, and the schema's name ends it,
	// as the schema is the first part of what is cached. "" is "llmfs-raw" for
	// OpenAI's own servers; others are not sent any.
	PromptCacheKey string

	Timeout  time.Duration // of a call, retries included; 0 is 2 minutes, and a sooner deadline of the context counts
	Idle     time.Duration // of silence within an answer; 0 is 1 minute
	Retries  int           // 0 is 2, below 0 is none
	MaxWait  time.Duration // before a retry, whatever Retry-After says; 0 is the time that the call has left
	MaxBytes int64         // of one answer; 0 is 8 MiB

	TripAfter int           // outages in a row until the breaker opens; 0 is 3
	OpenFor   time.Duration // until it lets a call through to look; 0 is 5 s

	HTTPClient *http.Client // nil is one for this client alone
	Log        *slog.Logger // of the breaker; nil is slog.Default()
}

const defaultBaseURL = "https://api.openai.com/v1"

// owned are the fields of the body that Extra can't have.
var owned = []string{"model", "messages", "input", "stream", "response_format", "text", "n"}

func (o Options) withDefaults() Options {
	o.BaseURL = cmp.Or(o.BaseURL, os.Getenv("OPENAI_BASE_URL"), defaultBaseURL)
	o.APIKey = cmp.Or(o.APIKey, os.Getenv("OPENAI_API_KEY"))
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	o.Idle = cmp.Or(o.Idle, time.Minute)
	o.Retries = max(cmp.Or(o.Retries, 2), 0)
	o.MaxBytes = cmp.Or(o.MaxBytes, 8<<20)
	o.TripAfter = cmp.Or(o.TripAfter, 3)
	o.OpenFor = cmp.Or(o.OpenFor, 5*time.Second)
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

func (o Options) check() error {
	if o.Model == "" {
		return fmt.Errorf("openai: have no model, want its name")
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("openai: base URL %q, want http://HOST/v1 or https://HOST/v1", o.redact(o.BaseURL))
	}
	for key, value := range o.Extra {
		if first, _, _ := strings.Cut(key, "."); slices.Contains(owned, first) {
			return fmt.Errorf("openai: extra field %q is set by llmfs-raw itself", key)
		}
		if !json.Valid(value) {
			return fmt.Errorf("openai: extra field %s=%s, want JSON", key, value)
		}
	}
	return nil
}

// secret is the shortest key that is taken for one: "none" and "ollama" stand
// for no key at all.
const secret = 8

// redact takes the key out of a text.
func (o Options) redact(s string) string {
	if len(o.APIKey) < secret {
		return s
	}
	return strings.ReplaceAll(s, o.APIKey, "[key]")
}
