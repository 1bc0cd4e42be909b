package session

// What a session can be told.

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/schema"
)

// Options of a session. The zero value is for embedded models, which need the
// request alone; all but the first three is for language models.
type Options struct {
	Log *slog.Logger // nil is slog.Default()

	// KeepAttrs says that files change by requests alone, and not by reading: a
	// question whose answer follows from what was told is not asked.
	KeepAttrs bool
	// NoXattrs says that the filesystem of an embedded model begins without
	// extended attributes, and that node ids are not used twice. Programs that
	// look for some where nobody has set any are then answered without asking.
	NoXattrs bool

	// StrictAtime says that reading sets atime, so that a ledger brings it forward.
	StrictAtime bool

	Context Context     // what of the past a prompt shows
	Fields  schema.Form // what a reply may leave out
	Persona string      // the world in words; "" is DefaultPersona
	Seed    *Seed       // the tree that the world begins with, or nil

	// OpenOff says that OPEN may be answered ENOSYS for good. INIT must then have
	// been negotiated with NoOpen: with ATOMIC_O_TRUNC the kernel would apply
	// O_TRUNC to its own cache and tell nobody.
	OpenOff bool

	// Baseline has every request answered by the model, one at a time, and the
	// kernel remember nothing, as llmfs did. It is for comparison, with Full.
	Baseline bool

	// PromptTokens bounds turns and ledger under Ledger, by estimate; 0 is
	// 32,000. A prompt is far shorter unless the request is about much data.
	PromptTokens int
	// SeedTokens bounds what the system message says of Seed under Full and
	// Window, by estimate; 0 is 20,000.
	SeedTokens int

	Budget Budget
	Price  *Price // nil is unknown; see Prices.Find
}

const (
	defaultPromptTokens = 32_000
	defaultSeedTokens   = 20_000
	defaultPairs        = 8
)

func (o *Options) promptTokens() int { return or(o.PromptTokens, defaultPromptTokens) }
func (o *Options) seedTokens() int   { return or(o.SeedTokens, defaultSeedTokens) }

func or(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// ContextKind is a context strategy.
type ContextKind uint8

const (
	None   ContextKind = iota // the request alone, for embedded models
	Full                      // every pair
	Window                    // the last pairs
	Ledger                    // the last pairs, and the facts that can decide the request
)

var contexts = [...]string{None: "none", Full: "full", Window: "window", Ledger: "ledger"}

// Context is a strategy and the number of pairs that Window and Ledger show.
type Context struct {
	Kind  ContextKind
	Pairs int
}

// String is what ParseContext reads.
func (c Context) String() string {
	if c.Kind == Window || c.Kind == Ledger {
		return fmt.Sprintf("%s:%d", contexts[c.Kind], c.Pairs)
	}
	return contexts[c.Kind]
}

// ParseContext reads "none", "full", "window:N" or "ledger[:N]"; N is 8 where
// it is left out.
func ParseContext(s string) (Context, error) {
	name, number, counted := strings.Cut(s, ":")
	for kind, known := range contexts {
		if known != name {
			continue
		}
		c := Context{Kind: ContextKind(kind)}
		pairs := c.Kind == Window || c.Kind == Ledger
		if pairs {
			c.Pairs = defaultPairs
		}
		if !counted {
			return c, nil
		}
		n, err := strconv.Atoi(number)
		if !pairs || err != nil || n < 1 {
			return Context{}, fmt.Errorf("context %q: want none, full, window:N or ledger:N with N at least 1", s)
		}
		c.Pairs = n
		return c, nil
	}
	return Context{}, fmt.Errorf("context %q: want one of none, full, window:N, ledger:N", s)
}

// ReadPersona is the text of the file that s names, or s itself where there is
// no such file.
func ReadPersona(s string) (string, error) {
	if strings.ContainsAny(s, "\n\x00") || len(s) > 255 {
		return s, nil
	}
	text, err := os.ReadFile(s)
	switch {
	case err == nil:
		return strings.TrimSpace(string(text)), nil
	case os.IsNotExist(err) || strings.Contains(s, " "):
		return s, nil
	}
	return "", fmt.Errorf("persona: %w", err)
}
