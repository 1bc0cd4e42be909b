package openai

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// Client implements model.Model. It is safe for parallel use.
type Client struct {
	o       Options
	dialect dialect
	sdk     sdk.Client
	http    *http.Client
	breaker *breaker
}

// ask is one question as the APIs need it.
type ask struct {
	messages  []model.Message
	schema    model.Schema
	maxOutput int
}

// New makes a client. It sends nothing.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Client{o: o, dialect: dialectOf(o), http: o.HTTPClient, breaker: newBreaker(o)}
	if c.http == nil {
		c.http = &http.Client{Transport: newTransport()}
	}
	guard := guard{idle: o.Idle, maxBytes: o.MaxBytes, stream: c.dialect.stream}
	options := []option.RequestOption{
		option.WithBaseURL(o.BaseURL), option.WithHTTPClient(c.http),
		option.WithMaxRetries(o.Retries), option.WithMiddleware(guard.do),
	}
	if o.APIKey != "" {
		options = append(options, option.WithAPIKey(o.APIKey))
	}
	for key, value := range o.Extra {
		options = append(options, option.WithJSONSet(key, value))
	}
	c.sdk = sdk.NewClient(options...)
	return c, nil
}

// newTransport keeps a connection for each request that the kernel can have in
// flight, where the default would keep two.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// Close lets go of idle connections. Calls under way go on.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Answer implements model.Model. A prompt without messages is sent as one
// message that is the request.
func (c *Client) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	messages := p.Messages
	if len(messages) == 0 {
		messages = []model.Message{{Role: model.RoleUser, Content: string(p.Request)}}
	}
	return c.ask(ctx, ask{messages: messages, schema: p.Schema, maxOutput: c.o.MaxOutput})
}

func (c *Client) ask(ctx context.Context, a ask) (*model.Answer, error) {
	return c.breaker.do(func() (*model.Answer, error) {
		limited, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, errTimeout)
		defer cancel()
		said, err := c.call(limited, a)
		if err != nil {
			return nil, c.explain(ctx, limited, err)
		}
		answer, err := said.answer()
		return answer, c.redacted(err)
	})
}

func (c *Client) call(ctx context.Context, a ask) (*said, error) {
	options := []option.RequestOption{option.WithMaxRetryDelay(c.maxWait(ctx))}
	switch {
	case c.o.Responses && c.dialect.stream:
		return c.responsesStream(ctx, a, options)
	case c.o.Responses:
		return c.responses(ctx, a, options)
	case c.dialect.stream:
		return c.chatStream(ctx, a, options)
	}
	return c.chat(ctx, a, options)
}

// maxWait is the longest wait before a retry that still leaves time for it: the
// SDK gives up at once where Retry-After is longer.
func (c *Client) maxWait(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline() // there always is one
	left := []time.Duration{time.Until(deadline)}
	if c.o.MaxWait > 0 {
		left = append(left, c.o.MaxWait)
	}
	return max(slices.Min(left), time.Nanosecond)
}

// redacted makes sure that the text of an error from the server has no key.
func (c *Client) redacted(err error) error {
	var e *model.Error
	if !errors.As(err, &e) {
		return err
	}
	return &model.Error{Kind: e.Kind, Usage: e.Usage, Err: &failure{msg: c.o.redact(e.Err.Error())}}
}
