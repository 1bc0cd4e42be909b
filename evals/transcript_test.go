package evals

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHold(t *testing.T) {
	command := func(text, stdout string) *Command {
		return &Command{Text: text, Outcome: Outcome{Exit: "0", Stdout: stdout}}
	}
	for _, c := range []struct {
		name   string
		want   *Command
		have   Outcome
		differ []string
		credit float64
	}{
		{"same", command("exec cat a", "x"), Outcome{Exit: "0", Stdout: "x"}, nil, 1},
		{"exit", command("exec cat a", "x"), Outcome{Exit: "1", Stdout: "x"}, []string{"Exit"}, 2. / 3},
		{"output", command("exec cat a", "x"), Outcome{Exit: "0", Stdout: "y"}, []string{"Stdout"}, 2. / 3},
		{"all", command("exec cat a", "x"), Outcome{Exit: "1", Stderr: "no"}, []string{"Exit", "Stdout", "Stderr"}, 0},
		{"order of cat", command("exec cat a", "a\nb\n"), Outcome{Exit: "0", Stdout: "b\na\n"}, []string{"Stdout"}, 2. / 3},
		{"order of find", command("exec find .", "a\nb\n"), Outcome{Exit: "0", Stdout: "b\na\n"}, nil, 1},
		{"names of find", command("exec find .", "a\nb\n"), Outcome{Exit: "0", Stdout: "b\nb\n"}, []string{"Stdout"}, 2. / 3},
		{"a page", command("sys getdents d 120", "a b"), Outcome{Exit: "0", Stdout: "c"}, nil, 1},
		{"no page", command("sys getdents d 120", "a b"), Outcome{Exit: "EIO"}, []string{"Exit"}, 2. / 3},
		{"a mixed call", command("mix 1 4", "a\nb\nc\nd\n"), Outcome{Exit: "0", Stdout: "a\nb\nx\nd\n"}, []string{"Stdout[2]"}, 0.5},
		{"fewer mixed calls", command("mix 1 4", "a\nb\nc\nd\n"), Outcome{Exit: "0", Stdout: "a\n"}, []string{"Stdout[1]"}, 0.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			diffs, credit := c.want.Hold(c.have)
			var differ []string
			for _, d := range diffs {
				differ = append(differ, d.Path)
			}
			assert.Equal(t, c.differ, differ)
			assert.InDelta(t, c.credit, credit, 1e-9)
		})
	}
}

func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"exec cat a": "cat", "! exec flock -n a true": "flock", "sys open a 0": "open", "sys @bob/2 & setlkw f": "setlkw",
		"sys @other wait": "wait", "mix 4 2600": "mix", "exec $MNT/bin/true": "true",
	} {
		assert.Equal(t, want, (&Command{Text: text}).Word(), text)
	}
}
