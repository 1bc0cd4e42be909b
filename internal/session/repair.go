package session

// An invalid answer is shown to the model with what is wrong with it, twice at
// most. None of that enters the history.

import (
	"bytes"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

const (
	maxRepairs = 2
	maxInvalid = 2000 // bytes of an invalid answer that are shown again
	maxWrongs  = 8    // faults that are listed
)

// repair is the conversation with the last invalid answer at its end; an
// earlier one is not shown again.
func (q *question) repair(invalid []byte, wrong []string) []model.Message {
	n := len(q.messages)
	e := envelope{invalid: wrong[:min(len(wrong), maxWrongs)], request: q.request}
	return append(q.messages[:n:n],
		model.Message{Role: model.RoleAssistant, Content: shortened(invalid)},
		model.Message{Role: model.RoleUser, Content: e.text()})
}

// shortened is text of bounded length, and never empty, which servers refuse.
func shortened(answer []byte) string {
	cut := ""
	if len(answer) > maxInvalid {
		answer, cut = answer[:maxInvalid], "…"
	}
	if text := string(bytes.ToValidUTF8(answer, []byte("\uFFFD"))) + cut; len(bytes.TrimSpace([]byte(text))) > 0 {
		return text
	}
	return "(nothing)"
}
