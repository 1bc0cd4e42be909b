package main

// doctor: what a mount needs, each checked, and the command that mends it.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

func doctorCommand() *cobra.Command {
	var (
		model  string
		server modelFlags
		form   = formFlag{schema.Lean}
	)
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what a mount needs, and say what mends it",
		Long: `Check what a mount needs, and say what mends it. With --model, check instead
whether a model's server keeps to the schema of each opcode's reply: it is sent
each of them twice, with a question that tempts it to answer otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if model != "" {
				return probe(c, &server, model, form.Form)
			}
			return diagnose(c.OutOrStdout(), checks)
		},
	}
	c.Flags().StringVar(&model, "model", "", "the language model to check, by `NAME`")
	c.Flags().Var(&form, "fields", "the schemas to check: all, or lean")
	server.flags(c.Flags())
	return c
}

// finding is what one check found. mend is the command for a problem; with
// advisory, mounts work without it.
type finding struct {
	text     string
	problem  bool
	advisory bool
	mend     string
}

type check struct {
	name string
	run  func() finding
}

var checks = []check{
	{"kernel", checkKernel},
	{"fuse", checkFuse},
	{"/dev/fuse", checkDevice},
	{"fusermount3", checkFusermount},
	{"allow-other", checkAllowOther},
	{"dead mounts", checkDeadMounts},
	{"a mount", checkMount},
}

func diagnose(w io.Writer, checks []check) error {
	problems := 0
	for _, c := range checks {
		f := c.run()
		mark := "ok"
		switch {
		case f.problem && f.advisory:
			mark = "note"
		case f.problem:
			mark = "BAD"
			problems++
		}
		fmt.Fprintf(w, "%-4s  %-12s  %s\n", mark, c.name, f.text)
		if f.problem && f.mend != "" {
			fmt.Fprintf(w, "      %-12s  mend it with: %s\n", "", f.mend)
		}
	}
	if problems > 0 {
		return fmt.Errorf("%d of %d checks found a problem", problems, len(checks))
	}
	return nil
}

func checkKernel() finding {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return finding{text: err.Error(), problem: true}
	}
	release := unix.ByteSliceToString(u.Release[:])
	var major, minor int
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); n == 2 && (major < 5 || major == 5 && minor < 4) {
		return finding{text: "Linux " + release + ", want 5.4 or newer", problem: true, mend: "sudo apt-get install linux-image-amd64 && sudo reboot"}
	}
	return finding{text: "Linux " + release}
}

func checkFuse() finding {
	list, err := os.ReadFile("/proc/filesystems")
	switch {
	case err != nil:
		return finding{text: err.Error(), problem: true}
	case !strings.Contains(string(list), "\tfuse\n"):
		return finding{text: "the kernel has no fuse loaded", problem: true, mend: "sudo modprobe fuse"}
	}
	return finding{text: "the kernel has it"}
}

func checkDevice() finding {
	err := fuseraw.CheckDevice()
	switch {
	case errors.Is(err, unix.ENOENT):
		return finding{text: "there is none (in a container, start it with --device /dev/fuse)", problem: true, mend: "sudo mknod -m 666 /dev/fuse c 10 229"}
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return finding{text: "may not be opened: " + err.Error(), problem: true, mend: "sudo chmod 666 /dev/fuse"}
	case err != nil:
		return finding{text: err.Error(), problem: true, mend: "sudo modprobe fuse"}
	}
	return finding{text: "can be opened"}
}

const installFuse3 = "sudo apt-get install -y fuse3"

func checkFusermount() finding {
	path, err := exec.LookPath("fusermount3")
	if err != nil {
		return finding{text: "not installed; only root can mount without it", problem: true, advisory: os.Geteuid() == 0, mend: installFuse3}
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return finding{text: err.Error(), problem: true, mend: installFuse3}
	case st.Mode()&os.ModeSetuid == 0 && os.Geteuid() != 0:
		return finding{text: path + " is not set-user-ID root", problem: true, mend: "sudo chmod u+s " + path}
	}
	return finding{text: path}
}

func checkAllowOther() finding {
	conf, err := os.ReadFile("/etc/fuse.conf")
	for _, line := range strings.Split(string(conf), "\n") {
		if err == nil && strings.TrimSpace(line) == "user_allow_other" {
			return finding{text: "any user may mount with --allow-other"}
		}
	}
	if os.Geteuid() == 0 {
		return finding{text: "root may mount with --allow-other"}
	}
	return finding{text: "only root may mount with --allow-other", problem: true, advisory: true, mend: "echo user_allow_other | sudo tee -a /etc/fuse.conf"}
}

func checkDeadMounts() finding {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return finding{text: err.Error(), problem: true}
	}
	for _, line := range strings.Split(string(mounts), "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || f[2] != fuseraw.Type {
			continue
		}
		dir := unescapeMount(f[1])
		if sick := diagnoseMount(dir); sick != "" {
			return finding{text: sick, problem: true, advisory: true, mend: "llmfs-raw umount " + shellQuote(dir)}
		}
	}
	return finding{text: "none"}
}

// diagnoseMount says what is wrong with a mount of ours, "" for nothing. A
// daemon that hangs must not hang the doctor.
func diagnoseMount(dir string) string {
	found := make(chan error, 1)
	go func() {
		_, err := os.Stat(dir)
		found <- err
	}()
	select {
	case err := <-found:
		if errors.Is(err, unix.ENOTCONN) {
			return "the daemon of " + dir + " has died"
		}
	case <-time.After(2 * time.Second):
		return "the daemon of " + dir + " has not answered for 2 s"
	}
	return ""
}

// unescapeMount undoes the octal escapes of /proc/mounts.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// checkMount makes a real mount, writes a file into it and reads it back.
func checkMount() finding {
	dir, err := os.MkdirTemp("", "llmfs-raw-doctor")
	if err != nil {
		return finding{text: err.Error(), problem: true, mend: "export TMPDIR to a directory that you may write to"}
	}
	defer os.Remove(dir)
	if err := tryMount(dir); err != nil {
		mend := installFuse3
		if os.Geteuid() == 0 {
			mend = "run it where mount(2) is allowed (in a container, with --cap-add SYS_ADMIN --device /dev/fuse)"
		}
		return finding{text: err.Error(), problem: true, mend: mend}
	}
	return finding{text: "made, written to, read from and unmounted"}
}

func tryMount(dir string) error {
	stop, err := mountReference(dir)
	if err != nil {
		return err
	}
	defer stop()
	const text = "hello\n"
	back, err := writeAndRead(filepath.Join(dir, "hello.txt"), text)
	if err == nil && back != text {
		err = fmt.Errorf("hello.txt: have %q, want %q", back, text)
	}
	return err
}

// writeAndRead uses plain system calls: package os would register the file with
// the poller, which then waits for this very process to answer POLL.
func writeAndRead(path, text string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return "", fmt.Errorf("create %s: %w", path, err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	back := make([]byte, len(text))
	n, err := unix.Pread(fd, back, 0)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return string(back[:n]), nil
}
