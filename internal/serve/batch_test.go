package serve

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func sdkClient(base string) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(base), option.WithAPIKey(testKey), option.WithMaxRetries(0))
}

// line is a request of a batch.
func line(id, url, body string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":%q,"body":%s}`+"\n", id, url, body)
}

// submit uploads lines and makes a batch of them.
func submit(t *testing.T, c sdk.Client, url, lines string) *sdk.Batch {
	t.Helper()
	file, err := c.Files.New(t.Context(), sdk.FileNewParams{File: sdk.File(strings.NewReader(lines), "in.jsonl", "application/jsonl"), Purpose: sdk.FilePurposeBatch})
	require.NoError(t, err)
	b, err := c.Batches.New(t.Context(), sdk.BatchNewParams{
		InputFileID: file.ID, Endpoint: sdk.BatchNewParamsEndpoint(url), CompletionWindow: sdk.BatchNewParamsCompletionWindow24h,
		Metadata: map[string]string{"suite": "x"},
	})
	require.NoError(t, err)
	return b
}

func ended(t *testing.T, c sdk.Client, id string) *sdk.Batch {
	t.Helper()
	for range 500 {
		b, err := c.Batches.Get(t.Context(), id)
		require.NoError(t, err)
		if b.Status == "completed" || b.Status == "failed" || b.Status == "cancelled" {
			return b
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the batch has no end")
	return nil
}

// content is the lines of a file.
func content(t *testing.T, c sdk.Client, id string) (lines []string) {
	t.Helper()
	res, err := c.Files.Content(t.Context(), id)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	scanner := bufio.NewScanner(res.Body)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	return lines
}

func TestBatch(t *testing.T) {
	base, _, stop := started(t, Options{Faults: script(t, "rules: [{op: MKDIR, every: 4, do: error, status: 429}]")})
	defer stop()
	c := sdkClient(base)
	var lines bytes.Buffer
	const url = "/v1/chat/completions"
	for i := range 5 {
		request := fmt.Sprintf(`{"Op":"MKDIR","Header":{"Unique":%d,"NodeId":1,"Uid":0,"Gid":0,"Pid":1,"Comm":"","Now":{"Sec":%d,"Nsec":0}},"In":{"Mode":493,"Umask":0},"Names":["d%d"]}`, 2*i+2, i, i)
		lines.WriteString(line(fmt.Sprint("r", i), url, `{"model":"gpt-test","messages":[{"role":"user","content":`+quoted(request)+`}]}`))
	}
	lines.WriteString(line("bad", url, `{"model":"gpt-test","messages":[]}`))
	b := submit(t, c, url, lines.String())
	assert.Equal(t, "x", b.Metadata["suite"])
	b = ended(t, c, b.ID)
	assert.Equal(t, sdk.BatchStatusCompleted, b.Status)
	assert.Equal(t, []int64{6, 4, 2}, []int64{b.RequestCounts.Total, b.RequestCounts.Completed, b.RequestCounts.Failed})
	output, mistakes := content(t, c, b.OutputFileID), content(t, c, b.ErrorFileID)
	var ids []string
	for _, text := range output {
		ids = append(ids, gjson.Get(text, "custom_id").Str)
		assert.EqualValues(t, 200, gjson.Get(text, "response.status_code").Int())
		assert.Contains(t, gjson.Get(text, "response.body.choices.0.message.content").Str, `{"Reply":{"Errno":0,"Out":{"NodeId":`)
	}
	assert.Equal(t, []string{"r0", "r1", "r2", "r4"}, ids, "in order")
	assert.EqualValues(t, 429, gjson.Get(mistakes[0], "response.status_code").Int())
	assert.Equal(t, "empty_array", gjson.Get(mistakes[1], "response.body.error.code").Str)

	list, err := c.Batches.List(t.Context(), sdk.BatchListParams{})
	require.NoError(t, err)
	assert.Len(t, list.Data, 1)
	files, err := c.Files.List(t.Context(), sdk.FileListParams{})
	require.NoError(t, err)
	assert.Len(t, files.Data, 3)
	gone, err := c.Files.Delete(t.Context(), b.OutputFileID)
	require.NoError(t, err)
	assert.True(t, gone.Deleted)
	_, err = c.Files.Get(t.Context(), b.OutputFileID)
	assert.ErrorContains(t, err, "404")
}

func TestBatchOfResponses(t *testing.T) {
	base, _, stop := started(t, Options{})
	defer stop()
	c := sdkClient(base)
	const url = "/v1/responses"
	b := ended(t, c, submit(t, c, url, line("a", url, `{"model":"gpt-test","input":"hi"}`)+line("b", url, `{"model":"gpt-test","input":"hi","stream":true}`)).ID)
	assert.Equal(t, "completed", gjson.Get(content(t, c, b.OutputFileID)[0], "response.body.status").Str)
	assert.Equal(t, "stream", gjson.Get(content(t, c, b.ErrorFileID)[0], "response.body.error.param").Str)
}

func TestWrongBatches(t *testing.T) {
	base, s, stop := started(t, Options{})
	defer stop()
	c := sdkClient(base)
	const url = "/v1/chat/completions"
	for text, want := range map[string]string{
		"{\n":                            "invalid_json_line",
		line("", url, "{}"):              "duplicate_custom_id",
		line("a", url, "1"):              "missing_required_parameter",
		line("a", "/v1/responses", "{}"): "mismatched_url",
		strings.Repeat(line("a", url, chatBody("")), 2): "duplicate_custom_id",
	} {
		b := ended(t, c, submit(t, c, url, text).ID)
		assert.Equal(t, sdk.BatchStatusFailed, b.Status)
		assert.Equal(t, want, b.Errors.Data[0].Code, text)
	}
	other := s.addFile("x", "evals", []byte("x"))
	_, text := send(t, "POST", base+"/batches", testKey, `{"input_file_id":"`+other.ID+`","endpoint":"`+url+`","completion_window":"24h"}`)
	assert.Equal(t, "invalid_purpose", gjson.Get(text, "error.code").Str)
}

func TestCancelBatch(t *testing.T) {
	base, s, stop := started(t, Options{})
	defer stop()
	c := sdkClient(base)
	const url = "/v1/chat/completions"
	var lines strings.Builder
	for i := range 20_000 {
		lines.WriteString(line(fmt.Sprint(i), url, chatBody("")))
	}
	b := submit(t, c, url, lines.String())
	cancelling, err := c.Batches.Cancel(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, sdk.BatchStatusCancelling, cancelling.Status)
	b = ended(t, c, b.ID)
	assert.Equal(t, sdk.BatchStatusCancelled, b.Status)
	assert.Less(t, b.RequestCounts.Completed, int64(20_000))
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	assert.Len(t, s.store.batches, 1)
}
