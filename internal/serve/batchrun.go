package serve

// Batches, worked off one after the other, and their requests in order.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/tidwall/gjson"
)

const mostBatchLines = 50_000

// runBatches ends with the server.
func (s *Server) runBatches() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.store.wake:
		}
		for id := s.store.next(); id != ""; id = s.store.next() {
			s.runBatch(id)
		}
	}
}

// next is the first batch that has not come to its end, or "".
func (s *store) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		if b.Status == validating || b.Status == cancelling {
			return b.ID
		}
	}
	return ""
}

// batchLine is a request of a batch.
type batchLine struct {
	id   string
	body gjson.Result
}

func (s *Server) runBatch(id string) {
	b, _ := s.store.change(id, func(*batch) {})
	lines, errs := s.batchLines(&b)
	if len(errs) > 0 {
		s.store.change(id, func(b *batch) {
			b.Status, b.FailedAt, b.Errors = failed, time.Now().Unix(), &batchErrors{"list", errs}
		})
		return
	}
	s.store.change(id, func(b *batch) {
		b.InProgress, b.Counts.Total = time.Now().Unix(), len(lines)
		if b.Status == validating {
			b.Status = inProgress
		}
	})
	var output, mistakes bytes.Buffer
	for _, line := range lines {
		if b, _ := s.store.change(id, func(*batch) {}); b.Status == cancelling || s.ctx.Err() != nil {
			break
		}
		s.runLine(id, b.Endpoint, line, &output, &mistakes)
	}
	s.finish(id, output.Bytes(), mistakes.Bytes())
}

// batchLines reads the input file; errors are by line, from 1 on.
func (s *Server) batchLines(b *batch) (lines []batchLine, errs []batchError) {
	wrong := func(line int, code, format string, args ...any) {
		errs = append(errs, batchError{code, fmt.Sprintf(format, args...), &line})
	}
	input := s.store.file(b.InputFile)
	if input == nil {
		wrong(0, "file_not_found", "The input file was deleted.")
		return nil, errs
	}
	seen := map[string]bool{}
	for i, text := range bytes.Split(bytes.TrimSpace(input.content), []byte("\n")) {
		v := gjson.ParseBytes(text)
		id := v.Get("custom_id").Str
		switch {
		case !gjson.ValidBytes(text) || !v.IsObject():
			wrong(i+1, "invalid_json_line", "This line is not parseable as valid JSON.")
		case id == "" || seen[id]:
			wrong(i+1, "duplicate_custom_id", "The custom_id is missing or was used before: '%s'.", id)
		case v.Get("method").Str != http.MethodPost || v.Get("url").Str != b.Endpoint:
			wrong(i+1, "mismatched_url", "The URL provided for this request does not match the batch endpoint.")
		case !v.Get("body").IsObject():
			wrong(i+1, "missing_required_parameter", "Missing required parameter: 'body'.")
		case i >= mostBatchLines:
			wrong(i+1, "too_many_tasks", "The batch has more than %d requests.", mostBatchLines)
			return nil, errs
		}
		seen[id] = true
		lines = append(lines, batchLine{id, v.Get("body")})
	}
	return lines, errs
}

// batchResult is a line of an output file.
type batchResult struct {
	ID       string        `json:"id"`
	CustomID string        `json:"custom_id"`
	Response batchResponse `json:"response"`
	Error    *string       `json:"error"`
}

type batchResponse struct {
	Status    int    `json:"status_code"`
	RequestID string `json:"request_id"`
	Body      any    `json:"body"`
}

func (s *Server) runLine(id, endpoint string, line batchLine, output, mistakes *bytes.Buffer) {
	r := batchResult{ID: s.newID("batch_req_"), CustomID: line.id, Response: batchResponse{Status: http.StatusOK, RequestID: s.newID("req_")}}
	to, count := output, func(b *batch) { b.Counts.Completed++ }
	body, err := s.answerLine(endpoint, line.body)
	if r.Response.Body = body; err != nil {
		to, count = mistakes, func(b *batch) { b.Counts.Failed++ }
		r.Response.Status, r.Response.Body = err.status, err.body()
	}
	text, failure := json.Marshal(r)
	if failure != nil {
		text = []byte("{}")
	}
	to.Write(append(text, '\n'))
	s.store.change(id, count)
}

// answerLine answers a request without a connection, so without the faults of one.
func (s *Server) answerLine(endpoint string, body gjson.Result) (any, *apiError) {
	read, name := s.askChat, "chat"
	if endpoint == batchEndpoints[1] {
		read, name = s.askResponses, "responses"
	}
	a, err := read(membersOf(body))
	if err != nil {
		return nil, err
	}
	if a.stream {
		return nil, invalid("stream", "invalid_value", "'stream' is not supported in batches.")
	}
	f := s.faults.next(circumstances{name, a.op(), a.model})
	if f.is("error") {
		return nil, f.apiError()
	}
	out := s.say(a)
	f.spoil(out)
	s.limit(a, out)
	if name == "chat" {
		return out.completion(a.model), nil
	}
	return out.response(a.model), nil
}

// finish writes the files of a batch.
func (s *Server) finish(id string, output, mistakes []byte) {
	s.store.change(id, func(b *batch) {
		if b.Status == inProgress {
			b.Status, b.Finalizing = finalizing, time.Now().Unix()
		}
	})
	outputFile, errorFile := s.resultFile(id, "output", output), s.resultFile(id, "error", mistakes)
	s.store.change(id, func(b *batch) {
		now := time.Now().Unix()
		b.OutputFile, b.ErrorFile = outputFile, errorFile
		if b.Status == cancelling {
			b.Status, b.CancelledAt = cancelled, now
		} else {
			b.Status, b.CompletedAt = completed, now
		}
	})
}

func (s *Server) resultFile(id, what string, content []byte) *string {
	if len(content) == 0 {
		return nil
	}
	return &s.addFile(id+"_"+what+".jsonl", "batch_output", content).ID
}
