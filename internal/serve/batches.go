package serve

// /v1/batches.

import (
	"net/http"
	"time"
)

// batch is a file of requests that are answered in the background.
type batch struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	Endpoint    string            `json:"endpoint"`
	Errors      *batchErrors      `json:"errors"`
	InputFile   string            `json:"input_file_id"`
	Window      string            `json:"completion_window"`
	Status      string            `json:"status"`
	OutputFile  *string           `json:"output_file_id"`
	ErrorFile   *string           `json:"error_file_id"`
	CreatedAt   int64             `json:"created_at"`
	InProgress  int64             `json:"in_progress_at,omitempty"`
	ExpiresAt   int64             `json:"expires_at"`
	Finalizing  int64             `json:"finalizing_at,omitempty"`
	CompletedAt int64             `json:"completed_at,omitempty"`
	FailedAt    int64             `json:"failed_at,omitempty"`
	Cancelling  int64             `json:"cancelling_at,omitempty"`
	CancelledAt int64             `json:"cancelled_at,omitempty"`
	Counts      batchCounts       `json:"request_counts"`
	Metadata    map[string]string `json:"metadata"`
}

type batchCounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

type batchErrors struct {
	Object string       `json:"object"`
	Data   []batchError `json:"data"`
}

type batchError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    *int   `json:"line"`
}

// The states of a batch, in their order.
const (
	validating = "validating"
	inProgress = "in_progress"
	finalizing = "finalizing"
	completed  = "completed"
	failed     = "failed"
	cancelling = "cancelling"
	cancelled  = "cancelled"
)

var batchEndpoints = []string{"/v1/chat/completions", "/v1/responses"}

var batchFields = fields{
	"input_file_id": {kind: stringKind, required: true}, "completion_window": {kind: stringKind, required: true, enum: []string{"24h"}},
	"endpoint": {kind: stringKind, required: true, enum: batchEndpoints}, "metadata": object, "output_expires_after": object,
}

func (s *Server) createBatch(x *exchange) *apiError {
	return s.plainly(x, func() *apiError {
		body, err := readBody(x)
		if err == nil {
			err = batchFields.check("", body)
		}
		if err != nil {
			return err
		}
		input := s.store.file(body["input_file_id"].Str)
		switch {
		case input == nil:
			return invalid("input_file_id", "invalid_file_id", "Invalid file id '%s'.", body["input_file_id"].Str)
		case input.Purpose != "batch":
			return invalid("input_file_id", "invalid_purpose", "The file's purpose is '%s', but 'batch' is required.", input.Purpose)
		}
		now := time.Now()
		b := &batch{
			ID: s.newID("batch_"), Object: "batch", Endpoint: body["endpoint"].Str, InputFile: input.ID, Window: "24h",
			Status: validating, CreatedAt: now.Unix(), ExpiresAt: now.Add(24 * time.Hour).Unix(), Metadata: map[string]string{},
		}
		for name, value := range body["metadata"].Map() {
			b.Metadata[name] = value.String()
		}
		writeJSON(x.w, http.StatusOK, s.addBatch(b))
		return nil
	})
}

// addBatch is the batch as it is now: the worker may change it at once.
func (s *Server) addBatch(b *batch) batch {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.batches = append(s.store.batches, b)
	select {
	case s.store.wake <- struct{}{}:
	default:
	}
	return *b
}

func (s *Server) listBatches(x *exchange) *apiError {
	return s.plainly(x, func() *apiError {
		list := listOf[batch]{Object: "list", Data: []batch{}}
		s.store.mu.Lock()
		for i := len(s.store.batches) - 1; i >= 0; i-- {
			list.Data = append(list.Data, *s.store.batches[i])
		}
		s.store.mu.Unlock()
		if n := len(list.Data); n > 0 {
			list.FirstID, list.LastID = list.Data[0].ID, list.Data[n-1].ID
		}
		writeJSON(x.w, http.StatusOK, list)
		return nil
	})
}

func (s *Server) getBatch(x *exchange) *apiError { return s.withBatch(x, func(*batch) {}) }

// cancelBatch ends a batch after the request that is being answered.
func (s *Server) cancelBatch(x *exchange) *apiError {
	return s.withBatch(x, func(b *batch) {
		if b.Status == validating || b.Status == inProgress {
			b.Status, b.Cancelling = cancelling, time.Now().Unix()
		}
	})
}

func (s *Server) withBatch(x *exchange, change func(*batch)) *apiError {
	return s.plainly(x, func() *apiError {
		id := x.r.PathValue("id")
		b, ok := s.store.change(id, change)
		if !ok {
			e := notFound("", "No batch found with id '%s'.", id)
			e.param = "id"
			return e
		}
		writeJSON(x.w, http.StatusOK, b)
		return nil
	})
}
