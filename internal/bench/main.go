// Bench compares three filesystems in one run on one machine: llmfs-raw with the
// reference model, go-fuse's own loopback over tmpfs, and tmpfs itself.
//
//	go run ./internal/bench            everything, 3 rounds
//	go run ./internal/bench -quick     a tenth of the work
//	go run ./internal/bench -only 'create|clone' -rounds 5
//
// The machine is noisy and so the contestants take turns: each workload runs on
// the first, the second and the third before the next workload starts, in every
// round, and the table shows medians. Each round has fresh mounts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
)

type options struct {
	only       *regexp.Regexp
	rounds     int
	quick      bool
	bin        string
	cpuprofile string
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == loopbackCommand {
		exit(serveLoopback(os.Args[2], os.Args[3]))
	}
	o, err := parse()
	if err == nil {
		err = bench(o)
	}
	exit(err)
}

func parse() (options, error) {
	var o options
	only := flag.String("only", "", "run only the workloads whose name matches this regular expression")
	flag.IntVar(&o.rounds, "rounds", 3, "how many rounds to take the median of")
	flag.BoolVar(&o.quick, "quick", false, "do a tenth of the work")
	flag.StringVar(&o.bin, "bin", "", "measure this llmfs-raw instead of building one")
	flag.StringVar(&o.cpuprofile, "cpuprofile", "", "have llmfs-raw write a CPU profile of its last round to this file")
	flag.Parse()
	var err error
	o.only, err = regexp.Compile(*only)
	if o.rounds < 1 {
		err = fmt.Errorf("-rounds %d: want at least 1", o.rounds)
	}
	return o, err
}

// threads of the driver are never to wait for one another: its system calls block.
const driverThreads = 32

func bench(o options) error {
	runtime.GOMAXPROCS(driverThreads)
	if os.Getuid() != 0 {
		return fmt.Errorf("mounting tmpfs and dropping caches need root: run `sudo -E make bench`")
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := setUp(o, dir)
	if err != nil {
		return err
	}
	if err := s.runRounds(); err != nil {
		return err
	}
	s.board.print(os.Stdout)
	return errors.Join(s.memory(os.Stdout), s.models(os.Stdout), s.curve(os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
