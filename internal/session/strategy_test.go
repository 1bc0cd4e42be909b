package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

func TestPromptsOfASmallSession(t *testing.T) {
	for name, c := range map[string]Options{
		"full":   conversation(Full, 0),
		"window": conversation(Window, 2),
		"ledger": conversation(Ledger, 2),
	} {
		t.Run(name, func(t *testing.T) {
			m := newRight()
			story(callerOf(t, New(m, c)))
			golden(t, "prompt-"+name+".txt", transcript(m.last().Messages))
		})
	}
}

func TestFullKeepsItsPrefix(t *testing.T) {
	m := newRight()
	story(callerOf(t, New(m, conversation(Full, 0))))
	for i := 1; i < len(m.prompts); i++ {
		before, after := m.prompts[i-1].Messages, m.prompts[i].Messages
		require.Equal(t, len(before)+2, len(after))
		assert.Equal(t, before, after[:len(before)], "prompt %d begins with all of prompt %d", i, i-1)
	}
}

func TestEveryTurnIsARequestOrAnEnvelope(t *testing.T) {
	m := newRight()
	story(callerOf(t, New(m, conversation(Window, 3))))
	for _, message := range m.last().Messages[1:] {
		if message.Role == model.RoleAssistant {
			assert.True(t, strings.HasPrefix(message.Content, `{"Reply":{"Errno":`), message.Content)
			continue
		}
		if _, err := proto.ParseRequestJSON([]byte(message.Content)); err != nil {
			assert.Regexp(t, `^\{("LeftOut":\{.*?\},)?("Since":\[.*?\],)?"Request":\{.*\}\}$`, message.Content)
		}
	}
}

func TestStoriesEndWellInEveryForm(t *testing.T) {
	for _, kind := range []ContextKind{Full, Window, Ledger} {
		for _, form := range []schema.Form{schema.All, schema.Lean} {
			m, o := newRight(), conversation(kind, 3)
			o.Fields = form
			s := New(m, o)
			c := callerOf(t, s)
			story(c)
			totals := s.Totals()
			assert.Zero(t, totals.Repairs+totals.Failed, "%v %v: %v", o.Context, form, totals)
			assert.EqualValues(t, 4, totals.Quiet)
			holdAgainst(t, s.memory.ledger, oracleOf(t, m, c.now))
		}
	}
}
