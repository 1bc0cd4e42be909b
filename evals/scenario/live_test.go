package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
	"github.com/llmfs-raw/llmfs-raw/internal/model/reference"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

func player(t *testing.T) *Player {
	require.Zero(t, os.Geteuid(), "this test mounts: run it as root")
	p := &Player{Self: []string{os.Args[0], child}, Work: t.TempDir(), Log: testLog{t}}
	require.NoError(t, os.Chmod(p.Work, 0o755))
	t.Cleanup(func() {
		mounts, err := os.ReadFile("/proc/self/mounts")
		require.NoError(t, err)
		assert.NotContains(t, string(mounts), p.Work+"/", "a mount is left")
		left, err := os.ReadDir(p.Work)
		require.NoError(t, err)
		assert.Empty(t, left)
	})
	return p
}

// Every scenario that has a mount has a transcript, of the script that it is now.
func TestScenariosAreTranscribed(t *testing.T) {
	list, err := Load(evals.Scenarios())
	require.NoError(t, err)
	c := corpus(t)
	for i, s := range list {
		tr, err := c.Transcript(c.Manifest.Traces[i])
		require.NoError(t, err)
		if s.Wire {
			assert.Nil(t, tr, s.Name)
			continue
		}
		require.NotNil(t, tr, s.Name)
		assert.Equal(t, s.Name, tr.Name)
		assert.Equal(t, string(s.File), tr.Script, s.Name)
		assert.Equal(t, s.Mount.options(), tr.Settings, s.Name)
		assert.Len(t, tr.Commands, c.Manifest.Traces[i].Live.Commands)
	}
}

// The same scenarios give the same transcripts, which are those of the corpus.
func TestTranscribingAgain(t *testing.T) {
	again := []string{"files/basic", "locks/interrupted", "rename/stranger", "permissions/kernel", "times/basic", "programs/tar", "big/pages"}
	c := corpus(t)
	list, err := Load(evals.Scenarios())
	require.NoError(t, err)
	for i, s := range list {
		if !slices.Contains(again, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			have, err := player(t).Transcribe(t.Context(), s)
			require.NoError(t, err)
			want, err := c.Transcript(c.Manifest.Traces[i])
			require.NoError(t, err)
			assert.Equal(t, want, have)
		})
	}
}

// answers is a reference with something wrong.
type answers struct {
	model.Model
	answer func(ctx context.Context, p *model.Prompt) (*model.Answer, error) // nil, nil for the reference's
}

func (a answers) Answer(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
	if said, err := a.answer(ctx, p); said != nil || err != nil {
		return said, err
	}
	return a.Model.Answer(ctx, p)
}

func mistaken(answer func(context.Context, *model.Prompt) (*model.Answer, error)) *session.Session {
	return session.New(answers{reference.New(reference.Options{Size: 1 << 20, Inodes: 100}), answer}, session.Options{})
}

// outcomes plays a script and returns what its commands gave, by line.
func outcomes(t *testing.T, p *Player, script string, sess *session.Session) (got map[int]evals.Outcome, err error) {
	got = map[int]evals.Outcome{}
	err = p.Play(t.Context(), &evals.Transcript{Name: "test/script", Script: "# tier: core\n" + script}, sess, func(line int, o evals.Outcome) error {
		got[line] = o
		return nil
	})
	return got, err
}

func never(context.Context, *model.Prompt) (*model.Answer, error) { return nil, nil }

// What commands give: exit codes, output without what is a run's own, errnos.
func TestOutcomes(t *testing.T) {
	// Commands are a second apart, from the second after the epoch's on.
	at := epoch.Unix()
	got, err := outcomes(t, player(t), `env WORD=spoken
exec sh -c 'echo $WORD $PWD; echo oops >&2; exit 7'
sys open a O_RDWR|O_CREAT 0644 > f
! sys write f 'a\xff' = 99
sys pread f 10 0
sys open missing O_RDONLY
sys close g
exec sh -c 'kill -9 $$'
exec $MNT/a
exec /no/such/program
sys @alice open a O_WRONLY
stdout nothing
exec cat $WORK/file
sys stat a
sys utimensat a now 7
sys stat a
-- file --
text
`, mistaken(never))
	require.NoError(t, err)
	assert.Equal(t, map[int]evals.Outcome{
		3:  {Exit: "7", Stdout: "spoken $MNT\n", Stderr: "oops\n"},
		4:  {Exit: "0"},
		5:  {Exit: "0", Stdout: "2"},
		6:  {Exit: "0", Stdout: `a\xff`},
		7:  {Exit: "ENOENT"},
		8:  {Exit: `close: have no descriptor "g"`},
		9:  {Exit: "signal: killed"},
		10: {Exit: "EACCES"},
		11: {Exit: "ENOENT"},
		12: {Exit: "EACCES"},
		14: {Exit: "0", Stdout: "text\n"},
		15: {Exit: "0", Stdout: fmt.Sprintf("100644 1 0:0 2 mtime %d ctime %d", at+2, at+2)},
		16: {Exit: "0"},
		17: {Exit: "0", Stdout: fmt.Sprintf("100644 1 0:0 2 mtime 7 ctime %d", at+12)},
	}, got)
}

// A model that never answers one sort of requests costs a command its deadline,
// and the script goes on.
func TestSilenceEndsACommand(t *testing.T) {
	silent := mistaken(func(ctx context.Context, p *model.Prompt) (*model.Answer, error) {
		if p.Op != proto.OpMkdir && p.Op != proto.OpSymlink {
			return nil, nil
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	p := player(t)
	p.Command = 500 * time.Millisecond
	start := time.Now()
	got, err := outcomes(t, p, "exec sh -c 'mkdir d; sleep 100 & sleep 100'\nsys open a O_CREAT|O_RDWR 0644 > f\nsys symlink x y\nsys fstat f\nsys stat .\n", silent)
	require.NoError(t, err)
	assert.Less(t, time.Since(start), 10*time.Second)
	require.Len(t, got, 5)
	assert.Equal(t, "no end within 500ms", got[2].Why)
	assert.Equal(t, "0", got[3].Exit)
	assert.NotEqual(t, "0", got[4].Exit, "late, or told so by the mount's own deadline")
	assert.Equal(t, "0", got[6].Exit)
}

// A script whose time is over is ended, whatever it waits for.
func TestScriptsEnd(t *testing.T) {
	for name, answer := range map[string]func(context.Context, *model.Prompt) (*model.Answer, error){
		"waits": never,
		"silent": func(ctx context.Context, _ *model.Prompt) (*model.Answer, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		},
		"deaf": func(context.Context, *model.Prompt) (*model.Answer, error) {
			time.Sleep(3 * time.Second)
			return nil, syscall.EIO
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := player(t)
			p.Whole = time.Second
			start := time.Now()
			_, err := outcomes(t, p, "exec sh -c '(setsid sleep 1234567 &); sleep 1234567; ls'\n", mistaken(answer))
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			assert.Less(t, time.Since(start), 20*time.Second)
			assert.Empty(t, running(t, "1234567"))
		})
	}
}

// running lists the processes with a word on their command line.
func running(t *testing.T, word string) (list []string) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), "\x00"+word) {
			list = append(list, string(text))
		}
	}
	return list
}

// An error of done ends a run at once, and is its result.
func TestStoppedRuns(t *testing.T) {
	p, n := player(t), 0
	err := p.Play(t.Context(), &evals.Transcript{Name: "a/b", Script: "# tier: core\nsys mkdir a 0755\nsys mkdir b 0755\n"}, mistaken(never), func(int, evals.Outcome) error {
		n++
		return syscall.ECONNREFUSED
	})
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.Equal(t, 1, n)
}

func TestLively(t *testing.T) {
	script := "# comment\nenv A=B\nsys a\n\n! exec b\nstdout x\n! stdout .\n-- file --\nexec c\n"
	assert.Equal(t, "# comment\nlive 2 env A=B\nlive 3 sys a\n\nlive 5 exec b\n\n\n-- file --\nexec c\n", string(lively([]byte(script))))
	assert.Equal(t, []evals.Command{{Line: 3, Text: "sys a"}, {Line: 5, Text: "! exec b"}}, commandsOf([]byte(script)))
}

func TestOutputIsBounded(t *testing.T) {
	assert.Equal(t, "ä\\xff", printable([]byte("ä\xff")))
	long := cut(strings.Repeat("ä", 100), 11)
	assert.True(t, strings.HasPrefix(long, "äääää… 200 bytes, SHA-256 "), long)
	assert.NotEqual(t, long, cut(strings.Repeat("ä", 99)+"oo", 11))
	assert.Equal(t, "short", cut("short", 5))
}
