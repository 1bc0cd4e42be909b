package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stderr is what commands write there.
type stderr struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *stderr) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *stderr) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func run(t *testing.T, text string, o Options) (*Command, *stderr) {
	t.Helper()
	log := &stderr{}
	o.Stderr = log
	if o.Backoff == 0 {
		o.Backoff = time.Millisecond
	}
	c, err := New(text, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c, log
}

// answering is sh that runs body for each line, with its id in $id.
func answering(body string) string {
	return `while read -r line; do
		id=${line#*:}; id=${id%%[,\}]*}
		` + body + `
	done`
}

func prompt(n int) *model.Prompt {
	return &model.Prompt{Op: proto.OpLookup, Request: fmt.Appendf(nil, `{"Op":"LOOKUP","N":%d}`, n)}
}

func ask(c *Command) (string, error) {
	a, err := c.Answer(context.Background(), prompt(0))
	if err != nil {
		return "", err
	}
	return string(a.Reply), nil
}

func requireKind(t *testing.T, err error, kind model.Kind, text string) {
	t.Helper()
	var e *model.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, kind, e.Kind)
	assert.ErrorContains(t, err, text)
}

// The script of the documentation is a filesystem.
func TestExample(t *testing.T) {
	c, log := run(t, "python3 testdata/hello.py", Options{})
	do := func(op proto.Opcode, node uint64, in any, names ...string) *proto.Reply {
		req := &proto.Request{Op: op, In: in, Names: names, Header: proto.Header{Unique: 2, NodeId: node}}
		text, err := proto.AppendRequestJSON(nil, req)
		require.NoError(t, err)
		a, err := c.Answer(context.Background(), &model.Prompt{Op: op, Request: text})
		require.NoError(t, err)
		reply, err := proto.ParseReplyJSON(req, a.Reply)
		require.NoError(t, err)
		return reply
	}
	entry := do(proto.OpLookup, 1, nil, "hello.txt").Out.(*fuse.EntryOut)
	assert.EqualValues(t, 6, do(proto.OpGetattr, entry.NodeId, &fuse.GetAttrIn{}).Out.(*fuse.AttrOut).Size)
	assert.Equal(t, "hello\n", string(do(proto.OpRead, entry.NodeId, &fuse.ReadIn{Size: 4096}).Data))
	assert.Equal(t, "lo", string(do(proto.OpRead, entry.NodeId, &fuse.ReadIn{Offset: 3, Size: 2}).Data))
	assert.Equal(t, unix.ENOENT, do(proto.OpLookup, 1, nil, "none").Errno)
	assert.Equal(t, unix.ENOSYS, do(proto.OpStatfs, 1, nil).Errno)
	assert.Empty(t, log.String())
}

// What the command reads is what the documentation says.
func TestQuestion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	c, _ := run(t, "tee "+file+" | "+answering(`echo "{\"id\":$id,\"reply\":{\"Errno\":2},\"usage\":{\"input_tokens\":9,\"cached_tokens\":8,\"output_tokens\":4}}"`), Options{})
	p := prompt(0)
	p.Messages = []model.Message{{Role: model.RoleUser, Content: "a\nb"}}
	p.Schema = model.Schema{Name: "LOOKUP", JSON: []byte(`{"z":1,"a":2}`)}
	got, err := c.Answer(context.Background(), p)
	require.NoError(t, err)
	assert.Equal(t, &model.Answer{Reply: []byte(`{"Errno":2}`), Usage: model.Usage{InputTokens: 9, CachedTokens: 8, OutputTokens: 4}}, got)
	_, err = ask(c)
	require.NoError(t, err)

	var lines []byte
	require.Eventually(t, func() bool { // tee writes to the file last
		lines, err = os.ReadFile(file)
		return err == nil && bytes.Count(lines, []byte("\n")) == 2
	}, 5*time.Second, time.Millisecond)
	assert.Equal(t, `{"id":1,"op":"LOOKUP","request":{"Op":"LOOKUP","N":0},"messages":[{"role":"user","content":"a\nb"}],"schema":{"name":"LOOKUP","schema":{"z":1,"a":2}}}
{"id":2,"op":"LOOKUP","request":{"Op":"LOOKUP","N":0}}
`, string(lines))
}

// Requests are in flight together, and answers come in any order.
func TestAnyOrder(t *testing.T) {
	const n = 200
	c, _ := run(t, fmt.Sprintf(`python3 -c '
import json, sys
all = [json.loads(sys.stdin.readline()) for i in range(%d)]
for m in reversed(all):
    print(json.dumps({"id": m["id"], "reply": m["request"]["N"]}))
sys.stdout.flush()
sys.stdin.read()'`, n), Options{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			a, err := c.Answer(context.Background(), prompt(i))
			if assert.NoError(t, err) {
				assert.Equal(t, strconv.Itoa(i), string(a.Reply))
			}
		})
	}
	group.Wait()
}

func TestErrorReply(t *testing.T) {
	c, _ := run(t, answering(`case $id in
		1) echo "{\"id\":$id,\"error\":\"no idea\"}";;
		2) echo "{\"id\":$id}";;
		*) echo; echo "{\"id\":$id,\"reply\":{}}";;
	esac`), Options{})
	_, err := ask(c)
	requireKind(t, err, model.Rejected, "command says: no idea")
	_, err = ask(c)
	requireKind(t, err, model.Empty, "neither")
	got, err := ask(c)
	require.NoError(t, err)
	assert.Equal(t, "{}", got)
}

// A request that is cancelled ends at once; the command is told, and its late
// answer dropped.
func TestCancel(t *testing.T) {
	c, log := run(t, answering(`case $line in
		*cancel*) echo "cancelled ${line}" >&2; echo '{"id":1,"reply":"late"}';;
		*'"N":1'*) echo got >&2;;
		*) echo "{\"id\":$id,\"reply\":{}}";;
	esac`), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { _, err := c.Answer(ctx, prompt(1)); done <- err }()
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "exec: got\n") }, 5*time.Second, time.Millisecond)
	cancel()
	err := <-done
	assert.Equal(t, context.Canceled, err)
	got, err := ask(c)
	require.NoError(t, err)
	assert.Equal(t, "{}", got)
	require.Eventually(t, func() bool { return strings.Contains(log.String(), `exec: cancelled {"cancel":1}`) }, 5*time.Second, time.Millisecond)
}

func TestDeadline(t *testing.T) {
	c, _ := run(t, "cat >/dev/null", Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := c.Answer(ctx, prompt(0))
	requireKind(t, err, model.Outage, "deadline")
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// A command that does not read holds up nobody's cancellation.
func TestDoesNotRead(t *testing.T) {
	c, _ := run(t, "sleep 1000", Options{Grace: 10 * time.Millisecond})
	p := prompt(0)
	p.Request, _ = json.Marshal(strings.Repeat("x", 1<<18)) // more than a pipe holds
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, err := c.Answer(ctx, p)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	group.Wait()
	c.now.out.mu.Lock()
	defer c.now.out.mu.Unlock()
	assert.LessOrEqual(t, len(c.now.out.lines), 1, "what was not sent is taken back")
}

// All that wait fail when the command dies, and the next run answers.
func TestDies(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	c, log := run(t, "if mkdir "+marker+" 2>/dev/null; then read -r a; read -r b; echo oops >&2; exit 3; fi; "+
		answering(`echo "{\"id\":$id,\"reply\":{}}"`), Options{})
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			_, err := ask(c)
			requireKind(t, err, model.Outage, "command ended: exit status 3: oops")
		})
	}
	group.Wait()
	got, err := ask(c)
	require.NoError(t, err)
	assert.Equal(t, "{}", got)
	assert.Equal(t, "exec: oops\n", log.String())
}

// A command that can't run is started Restarts times more, and then no longer.
func TestGivesUp(t *testing.T) {
	c, log := run(t, "/no/such/program", Options{Restarts: 3})
	require.Eventually(t, func() bool {
		_, err := ask(c)
		return err != nil && strings.Contains(err.Error(), "not started again")
	}, 10*time.Second, time.Millisecond)
	_, err := ask(c)
	requireKind(t, err, model.Outage, "exit status 127")
	assert.Equal(t, 4, strings.Count(log.String(), "exec: "))
}

func TestNoRestarts(t *testing.T) {
	c, _ := run(t, "read -r line; exit 0", Options{Restarts: -1})
	_, err := ask(c)
	requireKind(t, err, model.Outage, "command ended: exit status 0")
	_, err = ask(c)
	requireKind(t, err, model.Outage, "not started again")
}

// A command that answers now and then may die any number of times.
func TestAnswersCount(t *testing.T) {
	c, _ := run(t, `read -r line; id=${line#*:}; id=${id%%,*}; echo "{\"id\":$id,\"reply\":{}}"`, Options{Restarts: 1})
	for range 5 {
		require.Eventually(t, func() bool { _, err := ask(c); return err == nil }, 5*time.Second, time.Millisecond)
	}
}

// Requests that come in the pause wait for its end, unless they are cancelled.
func TestPause(t *testing.T) {
	c, _ := run(t, "read -r line", Options{Backoff: time.Hour})
	_, err := ask(c)
	require.Error(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = c.Answer(ctx, prompt(0))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, c.Close())
	_, err = ask(c)
	requireKind(t, err, model.Outage, "closed")
}

// A line that is no answer means that the two are out of step.
func TestGarbage(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"text":       {`echo "Loading model ..."`, `no answer, "Loading model ..."`},
		"half":       {`printf '{"id":1,'; exit 0`, "no answer"},
		"unasked":    {`echo '{"id":77,"reply":{}}'`, "answered request 77, which it was not asked"},
		"without id": {`echo '{"reply":{}}'`, "answered request 0"},
		"oversize":   {`head -c 9000000 /dev/zero | tr '\0' x`, "more than 8388608 bytes"},
		"endless":    {`yes`, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := run(t, answering(tt.body), Options{Restarts: -1})
			_, err := ask(c)
			requireKind(t, err, model.Outage, tt.want)
		})
	}
}

func TestOversizeQuestion(t *testing.T) {
	c, _ := run(t, "cat >/dev/null", Options{})
	p := prompt(0)
	p.Request, _ = json.Marshal(strings.Repeat("x", MaxLine))
	_, err := c.Answer(context.Background(), p)
	requireKind(t, err, model.Rejected, "want at most 8388608")
}

// Close ends the whole group within the grace, whatever it does.
func TestClose(t *testing.T) {
	for name, text := range map[string]string{
		"ends by itself": "cat",
		"ignores all":    `trap "" TERM INT HUP; echo $$ >&2; while :; do sleep 1000; done`,
		"has children":   `sleep 1000 & echo $! >&2; cat`,
		"has left group": `setsid sleep 3 & echo $$ >&2; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			c, log := run(t, text, Options{Grace: 50 * time.Millisecond})
			if text != "cat" {
				require.Eventually(t, func() bool { return strings.HasSuffix(log.String(), "\n") }, 5*time.Second, time.Millisecond)
			}
			start := time.Now()
			require.NoError(t, c.Close())
			assert.Less(t, time.Since(start), 2*time.Second)
			if pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(log.String(), "exec: "))); err == nil {
				require.Eventually(t, func() bool { return !running(pid) }, 5*time.Second, time.Millisecond)
			}
			_, err := ask(c)
			requireKind(t, err, model.Outage, "closed")
		})
	}
}

// running is false for what waits for its parent, too.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// Requests that wait fail when the command is closed.
func TestCloseWhileWaiting(t *testing.T) {
	c, log := run(t, answering("echo got >&2"), Options{Grace: 10 * time.Millisecond})
	done := make(chan error, 1)
	go func() { _, err := ask(c); done <- err }()
	require.Eventually(t, func() bool { return log.String() != "" }, 5*time.Second, time.Millisecond)
	require.NoError(t, c.Close())
	requireKind(t, <-done, model.Outage, "closed")
}

func TestNoShell(t *testing.T) {
	_, err := New("true", Options{Dir: "/no/such/directory"})
	assert.True(t, errors.Is(err, os.ErrNotExist), "%v", err)
}

// Long lines on standard error come through in pieces.
func TestLongStderr(t *testing.T) {
	c, log := run(t, `head -c 200000 /dev/zero | tr '\0' y >&2; echo >&2; `+answering(`echo "{\"id\":$id,\"reply\":{}}"`), Options{})
	_, err := ask(c)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return strings.Count(log.String(), "y") == 200000 }, 5*time.Second, time.Millisecond)
}
