package serve

// Errors in OpenAI's form.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// apiError is an answer that is an error.
type apiError struct {
	status     int
	kind       string // "type" of the error
	code       string // "" is null
	param      string // "" is null
	message    string
	retryAfter time.Duration // 0 is not sent
}

func (e *apiError) Error() string { return e.message }

const invalidRequest = "invalid_request_error"

// invalid is what most wrong bodies get.
func invalid(param, code, format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: invalidRequest, code: code, param: param, message: fmt.Sprintf(format, args...)}
}

func notFound(code, format string, args ...any) *apiError {
	e := invalid("", code, format, args...)
	e.status = http.StatusNotFound
	return e
}

// errorBody is the JSON around an error.
type errorBody struct {
	Error errorFields `json:"error"`
}

type errorFields struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func (e *apiError) body() errorBody {
	return errorBody{errorFields{e.message, e.kind, orNull(e.param), orNull(e.code)}}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (e *apiError) write(w http.ResponseWriter) {
	if e.retryAfter > 0 {
		seconds := (e.retryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
		w.Header().Set("Retry-After-Ms", strconv.FormatInt(e.retryAfter.Milliseconds(), 10))
	}
	writeJSON(w, e.status, e.body())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"message":"no JSON","type":"server_error","param":null,"code":null}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have gone
}
