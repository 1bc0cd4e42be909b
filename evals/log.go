package evals

// The log of a run: JSON lines, the first of them a header, then one for each
// step that was asked. Summary stands beside it.

import (
	"encoding/json"
	"time"
)

// LogName and LogVersion open a log.
const (
	LogName    = "llmfs-raw evals"
	LogVersion = 1
)

// Mode is how a model is asked.
type Mode string

const (
	Forced  Mode = "forced"  // each step with the gold history
	Rollout Mode = "rollout" // the model's own replies make the history
	Live    Mode = "live"    // scripts on a mount that the model serves; a step is a command
)

// LogHeader is a log's first line.
type LogHeader struct {
	Log      string            `json:"log"`     // LogName
	Version  int               `json:"version"` // LogVersion
	Created  time.Time         `json:"created"`
	Program  string            `json:"program"` // version of llmfs-raw
	Commit   string            `json:"commit"`
	Args     []string          `json:"args"`
	Models   []string          `json:"models"`
	Modes    []Mode            `json:"modes"`
	Tier     Tier              `json:"tier"`
	Trials   int               `json:"trials"`
	Seed     uint64            `json:"seed"`
	Shard    string            `json:"shard,omitempty"` // "i/n"
	Context  string            `json:"context"`         // the session's strategy
	Fields   string            `json:"fields"`          // all or lean
	Hashes   map[string]string `json:"hashes"`          // SHA-256 of prompt, schemas, traces
	Settings map[string]string `json:"settings"`        // of the models: temperature …; no secrets
}

// Stage is how far a reply came. Each holds those before it.
type Stage string

const (
	Unanswered Stage = "unanswered" // refused, cut off, empty
	Answered   Stage = "answered"   // something came, but not by the schema
	Valid      Stage = "valid"      // by the schema, but not decodable
	Decodable  Stage = "decodable"  // into kernel bytes, which the kernel would refuse
	Acceptable Stage = "acceptable" // to the kernel, but wrong
	Correct    Stage = "correct"
)

// Stages lists them in order: the funnel.
var Stages = []Stage{Unanswered, Answered, Valid, Decodable, Acceptable, Correct}

// StepResult is one line: one model's answer to one step.
type StepResult struct {
	Model string `json:"model"`
	Mode  Mode   `json:"mode"`
	Trial int    `json:"trial"` // from 0
	Trace string `json:"trace"`
	Area  string `json:"area"`
	Tier  Tier   `json:"tier"`
	Pair  int    `json:"pair"` // the step's index in the trace's pairs, from 0; live, the command's line in the script
	Op    string `json:"op"`
	Tags  Tags   `json:"tags"`

	Request  json.RawMessage `json:"request"`
	Expected json.RawMessage `json:"expected"`
	Reply    string          `json:"reply"` // what the model said, as it came

	Stage     Stage    `json:"stage"`
	Credit    float64  `json:"credit"` // determined fields that are right, 0 to 1; 1 where correct
	WantErrno string   `json:"want_errno"`
	HaveErrno string   `json:"have_errno,omitempty"` // "" where none could be read
	Diffs     []Diff   `json:"diffs,omitempty"`
	Problems  []string `json:"problems,omitempty"` // why it came no further than Stage, in words

	Refused bool   `json:"refused,omitempty"`
	Infra   string `json:"infra,omitempty"`   // an error of the infrastructure: this line is no score
	Ended   bool   `json:"ended,omitempty"`   // a rollout diverged here for the first time
	Skipped bool   `json:"skipped,omitempty"` // a rollout never came here; counts as not survived, not as wrong

	// A rollout has no lines for steps after the one that ended it, unless it goes
	// on from the expected reply. The line that ended it, or the last one where
	// none did, has how far it came. Live scripts go on after a wrong command; there,
	// too, one line says how far it came.
	Survived int `json:"survived,omitempty"` // steps before the first wrong one
	Of       int `json:"of,omitempty"`       // steps of the trace; 0 in all other lines

	InputTokens  int     `json:"input_tokens"`
	CachedTokens int     `json:"cached_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cost         float64 `json:"cost"` // US dollars; 0 where the price is unknown
	Millis       float64 `json:"ms"`
	FromCache    bool    `json:"from_cache,omitempty"` // answered by an earlier run and not paid again
}

// Diff is one field that is not as expected.
type Diff struct {
	Path  string `json:"path"`  // "Out.Attr.Nlink"
	Class string `json:"class"` // determined, renamed, set, bounded
	Want  string `json:"want"`
	Have  string `json:"have"`
}

// Tags say what makes a step hard. They are computed from the trace alone.
type Tags struct {
	Mutating bool `json:"mutating"` // it changes what later replies say
	Changed  int  `json:"changed"`  // fields that it changes in the filesystem's state
	Distance int  `json:"distance"` // steps back to the fact that decides the answer, 0 where the request does
	Dir      int  `json:"dir"`      // entries of the largest directory that it is about
	History  int  `json:"history"`  // steps before it
	Bytes    int  `json:"bytes"`    // of payload, asked or answered
}

// Summary is what a run came to, one file beside the log.
type Summary struct {
	LogHeader
	Finished time.Time      `json:"finished"`
	Steps    int            `json:"steps"`
	Infra    int            `json:"infra"`
	Why      string         `json:"why,omitempty"` // one of the reasons of Infra
	Scores   []ModelSummary `json:"scores"`
}

// ModelSummary is one model in one mode.
type ModelSummary struct {
	Model        string        `json:"model"`
	Mode         Mode          `json:"mode"`
	Steps        int           `json:"steps"` // scored
	Stages       map[Stage]int `json:"stages"`
	Score        float64       `json:"score"`              // share of Correct
	Survived     float64       `json:"survived,omitempty"` // rollouts: mean share of a trace before the first divergence
	Infra        int           `json:"infra"`
	Cost         float64       `json:"cost"`
	InputTokens  int           `json:"input_tokens"`
	CachedTokens int           `json:"cached_tokens"`
	OutputTokens int           `json:"output_tokens"`
}
