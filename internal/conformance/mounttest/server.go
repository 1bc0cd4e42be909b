package mounttest

// `llmfs-raw serve` as a child process.

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A Server is a child process that serves the OpenAI API.
type Server struct {
	URL string

	cmd    *exec.Cmd
	output output
	exited chan struct{}
}

// StartServer runs `bin serve` with these flags on a free port, and returns
// when it accepts connections.
func StartServer(bin string, flags ...string) (*Server, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + addr + "/v1", exited: make(chan struct{})}
	s.cmd = exec.Command(bin, append([]string{"serve", "--listen", addr}, flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT, Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %v: %w", s.cmd.Args, err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	if err := s.await(addr); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%v: %w\n%s", s.cmd.Args, err, s.output.String())
	}
	return s, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *Server) await(addr string) error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(pollInterval) {
		if c, err := net.Dial("tcp", addr); err == nil {
			return c.Close()
		}
		select {
		case <-s.exited:
			return errors.New("the server ended before it listened")
		default:
		}
	}
	return fmt.Errorf("nobody listens after %v", startTimeout)
}

// Stop ends the server.
func (s *Server) Stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.exited:
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
}

// Serve is StartServer for as long as a test lives.
func Serve(t testing.TB, flags ...string) *Server {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s, err := StartServer(bin, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}
