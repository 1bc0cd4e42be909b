// How long prompts get: a session of 5,000 calls under --context ledger.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"text/tabwriter"

	"github.com/llmfs-raw/llmfs-raw/internal/conformance/mounttest"
)

// curveMarks are the calls at which the curve has a point.
var curveMarks = []int{100, 500, 1000, 2000, 3000, 4000, 5000}

// curveStep is a batch of work on the mount, after which the account is read:
// about 100 calls.
const curveStep = `mkdir $M/d$N; cd $M/d$N
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "file $i of $N" > f$i; cat f$i; mv f$i g$i; chmod 600 g$i; done
ls -l; rm g1 g2 g3; cat g4 g5; test ! -e f1`

// curve prints the mean length of prompts around each mark.
func (s *session) curve(out io.Writer) error {
	if !s.only.MatchString("models: curve") {
		return nil
	}
	server, err := mounttest.StartServer(s.bin, "--cache", "aggressive")
	if err != nil {
		return err
	}
	defer server.Stop()
	d, err := s.mountModel(server.URL, "--context", "ledger")
	if err != nil {
		return err
	}
	return errors.Join(s.followCurve(out, d), d.Stop())
}

func (s *session) followCurve(out io.Writer, d *mounttest.Daemon) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer t.Flush()
	fmt.Fprintf(t, "ledger, calls so far\ttokens a prompt\tof them cached\tout\t\n")
	var before mounttest.Account
	for n, mark := 0, 0; mark < len(curveMarks); n++ {
		cmd := exec.Command("sh", "-ec", curveStep)
		cmd.Env = append(os.Environ(), "M="+d.Dir, fmt.Sprint("N=", n))
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("curve: step %d: %w: %s", n, err, said)
		}
		now, err := d.Account()
		if err != nil {
			return err
		}
		if now.Calls >= curveMarks[mark] {
			step := now.Less(before)
			fmt.Fprintf(t, "%d\t%d\t%d\t%d\t\n", now.Calls, step.In/step.Calls, step.Cached/step.Calls, step.Out/step.Calls)
			mark++
		}
		before = now
	}
	return nil
}
