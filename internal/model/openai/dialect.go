package openai

import (
	"net/url"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
)

// dialect is where servers differ in what they take.
type dialect struct {
	// hosted is OpenAI's own service: it wants max_completion_tokens, keeps
	// answers unless told not to, takes a cache key and refuses streams to
	// accounts that are not verified. All others know max_tokens, some nothing
	// else, and some answer an unknown field with 422.
	hosted   bool
	stream   bool
	cacheKey string
}

const maxCacheKey = 64 // characters

func dialectOf(o Options) dialect {
	u, _ := url.Parse(o.BaseURL)
	host := "." + u.Hostname()
	d := dialect{cacheKey: o.PromptCacheKey}
	d.hosted = strings.HasSuffix(host, ".api.openai.com") || strings.HasSuffix(host, ".openai.azure.com")
	d.stream = o.Stream == StreamAlways || o.Stream == StreamAuto && !d.hosted
	if d.hosted && d.cacheKey == "" {
		d.cacheKey = "llmfs-raw"
	}
	return d
}

// maxTokens is the limit as max_tokens and as max_completion_tokens.
func (d dialect) maxTokens(limit int) (old, completion param.Opt[int64]) {
	switch {
	case limit <= 0:
		return old, completion
	case d.hosted:
		return old, param.NewOpt(int64(limit))
	}
	return param.NewOpt(int64(limit)), completion
}

func (d dialect) promptCacheKey(schema string) param.Opt[string] {
	if d.cacheKey == "" {
		return param.Opt[string]{}
	}
	key := d.cacheKey + "-" + schema
	return param.NewOpt(key[max(0, len(key)-maxCacheKey):])
}

// store says not to keep what is sent: it is the content of files.
func (d dialect) store() param.Opt[bool] {
	if !d.hosted {
		return param.Opt[bool]{}
	}
	return param.NewOpt(false)
}
