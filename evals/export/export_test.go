package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/evals/sample"
	"github.com/llmfs-raw/llmfs-raw/evals/score"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

func TestFamily(t *testing.T) {
	for trace, want := range map[string]string{
		"rename/exchange": "rename/exchange", "rename/stranger-types": "rename/stranger", "rename/stranger": "rename/stranger", "alone": "alone/",
	} {
		assert.Equal(t, want, Family(trace), trace)
	}
}

// Shares are about what was asked for, the seed deals anew, and a family stays
// where it is whoever else there is.
func TestSplitOf(t *testing.T) {
	count, moved := map[Split]int{}, 0
	for i := range 2000 {
		family := fmt.Sprintf("area/name%d", i)
		s := SplitOf(family, 1, 10, 20)
		count[s]++
		assert.Equal(t, s, SplitOf(family, 1, 10, 20))
		if SplitOf(family, 2, 10, 20) != s {
			moved++
		}
	}
	assert.InDelta(t, 200, count[Test], 60)
	assert.InDelta(t, 400, count[Validation], 80)
	assert.Greater(t, moved, 500)
	assert.Equal(t, Train, SplitOf("a/b", 1, 0, 0))
	assert.Equal(t, Test, SplitOf("a/b", 1, 100, 0))
}

func TestSign(t *testing.T) {
	const q = `{"Op":"READ","Header":{"Unique":8,"NodeId":2,"Pid":4,"Comm":"cat","Now":{"Sec":1767322445,"Nsec":6}},"In":{"Offset":0}}`
	const a = `{"Reply":{"Errno":0,"Data":"x"}}`
	same := strings.NewReplacer(`"Unique":8`, `"Unique":99`, `"Pid":4`, `"Pid":5`, `"cat"`, `"head"`, `"Sec":1767322445`, `"Sec":3`, `"Nsec":6`, `"Nsec":0`)
	assert.Equal(t, signOf(q, a), signOf(same.Replace(q), a))
	for _, other := range []string{strings.Replace(q, `"NodeId":2`, `"NodeId":3`, 1), strings.Replace(q, `"Offset":0`, `"Offset":1`, 1), strings.Replace(q, "READ", "WRITE", 1)} {
		assert.NotEqual(t, signOf(q, a), signOf(other, a), other)
	}
	assert.NotEqual(t, signOf(q, a), signOf(q, strings.Replace(a, "x", "y", 1)))
	assert.Equal(t, signOf(`{\"Mtime\":5}`, ""), signOf(`{\"Mtime\":6}`, ""), "within a string")
}

// many is a corpus with families that say the same in part.
func many(t *testing.T) *evals.Corpus {
	var traces []*evals.Trace
	for i := range 12 {
		tape := sample.Files()
		if i%2 == 1 {
			tape = sample.Names()
		}
		traces = append(traces, tape.Trace(fmt.Sprintf("name%d", i)))
	}
	c, err := sample.Corpus(t.TempDir(), traces...)
	require.NoError(t, err)
	return c
}

func options(t *testing.T, c *evals.Corpus, f Format, context string) Options {
	kind, err := session.ParseContext(context)
	require.NoError(t, err)
	return Options{
		Corpus: c, Traces: c.Traces(evals.Full), Format: f, Session: session.Options{Context: kind, Fields: schema.Lean},
		Seed: 3, Test: 20, Validation: 20, Dir: t.TempDir(),
	}
}

func lines(t *testing.T, file string) (list []string) {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		list = append(list, in.Text())
	}
	require.NoError(t, in.Err())
	return list
}

func TestNothingLeaks(t *testing.T) {
	for _, context := range []string{"full", "window:3", "ledger"} {
		t.Run(context, func(t *testing.T) {
			o := options(t, many(t), ShareGPT, context)
			set, err := Export(o)
			require.NoError(t, err)
			family, step, total := map[string]Split{}, map[sign]Split{}, 0
			for _, s := range Splits {
				part := set.Splits[s]
				for _, f := range part.Families {
					assert.NotContains(t, family, f)
					family[f] = s
				}
				all := lines(t, filepath.Join(o.Dir, part.File))
				assert.Len(t, all, part.Steps)
				total += part.Steps
				for _, line := range all {
					var l shareGPTLine
					require.NoError(t, json.Unmarshal([]byte(line), &l))
					trace, _, _ := strings.Cut(l.ID, "#")
					assert.Equal(t, s, family[Family(trace)], l.ID)
					n := len(l.Conversations)
					k := signOf(l.Conversations[n-2].Value, l.Conversations[n-1].Value)
					assert.NotContains(t, step, k, l.ID)
					step[k] = s
				}
			}
			assert.Len(t, family, 12)
			assert.Positive(t, total)
			assert.Positive(t, set.Splits[Train].Leaking[Test]+set.Splits[Train].Leaking[Validation], "the same steps are in many traces")
		})
	}
}

// What the assistant says is what scores full marks.
func TestAnswersAreRight(t *testing.T) {
	c, err := evals.Embedded()
	require.NoError(t, err)
	for _, fields := range []schema.Form{schema.All, schema.Lean} {
		failed := 0
		for _, info := range c.Traces(evals.Core) {
			tr, err := c.Trace(info)
			require.NoError(t, err)
			g := score.NewGold(tr)
			s := g.Forced()
			s.Fields = fields
			o := run.Options{Session: session.Options{Context: session.Context{Kind: session.Ledger, Pairs: 8}, Fields: fields}}
			way := o.Transcript(tr.Header.Options)
			require.NoError(t, run.Prompts(g, way, func(i int, _ *model.Prompt) error {
				answer, err := way.Said(g.Pairs[i].Req, g.Pairs[i].Rep)
				r := s.Step(i, answer, way.Attrs(g.Pairs[i].Req))
				assert.Equal(t, evals.Correct, r.Stage, "%s#%d %s %v %v", info.Name, i, answer, r.Diffs, r.Problems)
				if g.Pairs[i].Rep.Errno != 0 {
					failed++
				}
				return err
			}))
		}
		assert.Positive(t, failed, "errors are steps, too")
	}
}

func TestOpenAILines(t *testing.T) {
	o := options(t, many(t), OpenAI, "window:3")
	o.Test, o.Validation = 0, 0
	set, err := Export(o)
	require.NoError(t, err)
	learned, history := 0, 0
	for _, line := range lines(t, filepath.Join(o.Dir, set.Splits[Train].File)) {
		var l openAILine
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		last := l.Messages[len(l.Messages)-1]
		assert.Equal(t, "system", l.Messages[0].Role)
		assert.Equal(t, "assistant", last.Role)
		assert.Nil(t, last.Weight)
		assert.True(t, json.Valid([]byte(last.Content)), last.Content)
		for _, m := range l.Messages[:len(l.Messages)-1] {
			if m.Role == "assistant" {
				require.NotNil(t, m.Weight)
				assert.Zero(t, *m.Weight)
				history++
			}
		}
		learned++
	}
	assert.Equal(t, set.Splits[Train].Steps, learned)
	assert.Positive(t, history)
}

func TestSetIsDescribed(t *testing.T) {
	o := options(t, many(t), OpenAI, "ledger")
	set, err := Export(o)
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(o.Dir, SetFile))
	require.NoError(t, err)
	var read Set
	require.NoError(t, json.Unmarshal(b, &read))
	assert.Equal(t, set, &read)
	assert.Len(t, read.Traces, 12)
	again, err := Export(options(t, o.Corpus, OpenAI, "ledger"))
	require.NoError(t, err)
	assert.Equal(t, set, again, "the same every time")
}

func TestSharesAreChecked(t *testing.T) {
	o := options(t, many(t), OpenAI, "ledger")
	o.Test, o.Validation = 60, 50
	_, err := Export(o)
	assert.ErrorContains(t, err, "60% and 50%")
	_, err = ParseFormat("csv")
	assert.ErrorContains(t, err, "openai-finetune")
}
