// A worker as seen by the test: started, asked, ended.

package diff

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// answerTime is how long a system call may take before the filesystem counts as hung.
const answerTime = 15 * time.Second

// proc is a running worker.
type proc struct {
	cmd     *exec.Cmd
	in, out *os.File
	enc     *gob.Encoder
	dec     *gob.Decoder
	stderr  bytes.Buffer
}

// startProc starts the worker of an actor in dir, a directory to which it confines itself.
func startProc(dir string, actor int) (*proc, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &proc{in: inWrite, out: outRead, enc: gob.NewEncoder(inWrite), dec: gob.NewDecoder(outRead)}
	p.cmd = exec.Command("/proc/self/exe")
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", workerEnv, actor, dir))
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inRead, outWrite, &p.stderr
	err = p.cmd.Start()
	inRead.Close()
	outWrite.Close()
	if err != nil {
		return nil, fmt.Errorf("start worker %d: %w", actor, err)
	}
	return p, nil
}

// ask has the worker do one thing and waits for the result, which is Bad if there was none.
func (p *proc) ask(req request) result {
	if err := p.enc.Encode(&req); err != nil {
		return result{Bad: fmt.Sprintf("worker does not read: %v; %s", err, p.stderr.String())}
	}
	var res result
	p.out.SetReadDeadline(time.Now().Add(answerTime))
	if err := p.dec.Decode(&res); err != nil {
		return result{Bad: fmt.Sprintf("worker does not answer: %v; %s", err, p.stderr.String())}
	}
	return res
}

// stop ends the worker, by force if it does not end itself.
func (p *proc) stop() {
	p.in.Close()
	ended := make(chan struct{})
	go func() { p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		p.cmd.Process.Kill()
		<-ended
	}
	p.out.Close()
}
