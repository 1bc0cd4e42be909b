package main

// mount: flags and wiring. The kernel's side, the session, the model and the
// recorder are joined here and nowhere else.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// mountOptions are the flags of mount.
type mountOptions struct {
	model          string
	record         string
	recordBytes    bool
	size           byteSize
	allowOther     bool
	readOnly       bool
	dev, suid      bool
	deadline       time.Duration
	verbose        bool
	maxWrite       byteSize
	readahead      byteSize
	syncRead       bool
	readdirplus    bool
	directIO       bool
	ownPermissions bool
	cache          cacheFlag
	profile        string

	server modelFlags
	told   sessionFlags
}

func mountCommand() *cobra.Command {
	o := &mountOptions{}
	c := &cobra.Command{
		Use:   "mount DIR",
		Short: "Mount a filesystem and serve it until it is unmounted",
		Long: `Mount a filesystem on DIR and serve it, in the foreground, until Ctrl-C,
SIGTERM or 'llmfs-raw umount DIR'. SIGUSR1 shows the account so far. DIR of the
form /dev/fd/N is a descriptor of /dev/fuse that someone else has mounted.`,
		Example: `  llmfs-raw mount ~/world
  llmfs-raw mount --record session.jsonl --verbose ~/world`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return mount(c, o, args[0]) },
	}
	o.flags(c)
	return c
}

func (o *mountOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.model, "model", "reference", modelUsage)
	f.StringVar(&o.record, "record", "", "record every request and reply in `FILE`, compressed if it ends in .zst")
	f.BoolVar(&o.recordBytes, "record-bytes", false, "record the kernel's own bytes, too")
	f.Var(&o.size, "size", "most bytes that reference holds (default half of the memory)")
	f.BoolVar(&o.allowOther, "allow-other", false, "let other users in")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse every change")
	f.BoolVar(&o.dev, "dev", false, "let device nodes work (root only)")
	f.BoolVar(&o.suid, "suid", false, "honour set-user-ID bits (root only)")
	f.DurationVar(&o.deadline, "deadline", 60*time.Second, "answer a request with ETIMEDOUT after this long; 0 is never")
	f.Var(&o.cache, "cache", cacheUsage)
	f.Var(&o.maxWrite, "max-write", "most bytes in one request, 4k to 1M (default 128k)")
	o.readahead = 128 << 10
	f.Var(&o.readahead, "readahead", "most bytes that the kernel reads ahead")
	f.BoolVar(&o.syncRead, "sync-read", false, "read ahead one request at a time, in order")
	f.BoolVar(&o.readdirplus, "readdirplus", true, "list names with their attributes")
	f.BoolVar(&o.directIO, "direct-io", false, "send every read and write, past the page cache")
	f.BoolVar(&o.ownPermissions, "own-permissions", false, "let the filesystem check permissions, not the kernel")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print one line an op, as 'trace show' does")
	o.server.flags(f)
	o.told.flags(f)
	f.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of the daemon to `FILE`")
	_ = f.MarkHidden("cpuprofile")
}

func mount(c *cobra.Command, o *mountOptions, dir string) (err error) {
	if err := o.check(); err != nil {
		return misuse(c, err)
	}
	if err := checkMountpoint(dir); err != nil {
		return err
	}
	answerer, err := openModel(o)
	if err != nil {
		return misuse(c, err)
	}
	defer func() { err = errors.Join(err, answerer.Close()) }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	warmUp(ctx, c.ErrOrStderr(), answerer.warm, answerer.session.Fields)
	stopProfile, err := startProfile(o.profile)
	if err != nil {
		return err
	}
	defer stopProfile()
	moreProcs()
	collectLater(os.Getenv("GOGC"))
	sess := session.New(answerer, answerer.session)
	rec, err := newRecorder(c.ErrOrStderr(), o, sess)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	conn, err := fuseraw.Mount(dir, o.fuseOptions(rec, answerer.blind))
	if err != nil {
		return hint(err, "'llmfs-raw doctor' says what is wrong and what mends it")
	}
	return serveMount(ctx, c, o, conn, sess, dir)
}

// check finds options that make no sense, alone or together.
func (o *mountOptions) check() error {
	switch {
	case o.maxWrite != 0 && (o.maxWrite < proto.MinMaxWrite || o.maxWrite > proto.MaxMaxWrite):
		return fmt.Errorf("--max-write: have %d, want %d to %d bytes", o.maxWrite, proto.MinMaxWrite, proto.MaxMaxWrite)
	case o.readahead > math.MaxUint32:
		return fmt.Errorf("--readahead: have %d, want at most %d bytes", o.readahead, math.MaxUint32)
	case o.deadline < 0:
		return errors.New("--deadline: have a negative time, want 0 or more")
	case o.recordBytes && o.record == "":
		return errors.New("--record-bytes goes with --record FILE")
	}
	return o.cache.choose(o)
}

// serveMount answers until the end of the mount and says what came of it.
func serveMount(ctx context.Context, c *cobra.Command, o *mountOptions, conn *fuseraw.Conn, sess *session.Session, dir string) error {
	go func() {
		select {
		case <-conn.Ready():
			fmt.Fprintf(c.ErrOrStderr(), "%s serves %s\nstop it with Ctrl-C or: llmfs-raw umount %s\n", o.model, dir, shellQuote(dir))
		case <-ctx.Done():
		}
	}()
	defer onSignal(syscall.SIGUSR1, func() { summarize(c.ErrOrStderr(), dir+" is mounted", conn.Stats(), sess.Totals()) })()
	err := conn.Serve(ctx, sess)
	summarize(c.ErrOrStderr(), dir+" is unmounted", conn.Stats(), sess.Totals())
	return err
}

func (o *mountOptions) fuseOptions(rec *recorder, blind bool) fuseraw.Options {
	opts := fuseraw.Options{
		FsName:     "llmfs-raw:" + o.model,
		AllowOther: o.allowOther,
		ReadOnly:   o.readOnly,
		Dev:        o.dev,
		Suid:       o.suid,
		Deadline:   o.deadline,
		Record:     rec.hook(),
		Init: proto.InitOptions{
			MaxWrite: uint32(o.maxWrite), MaxReadahead: uint32(o.readahead), SyncRead: o.syncRead,
			NoReaddirplus: !o.readdirplus, OwnPermissions: o.ownPermissions,
		},
	}
	if blind && opts.Record == nil {
		opts.Comm = func(uint32) string { return "" } // looking it up costs more than the answer
	}
	o.cache.init(&opts.Init)
	return opts
}

// checkMountpoint finds the commonest mistakes before anything is begun.
func checkMountpoint(dir string) error {
	if filepath.Dir(dir) == "/dev/fd" {
		return nil
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return hint(fmt.Errorf("mount %s: there is no such directory", dir), "mkdir -p %s", shellQuote(dir))
	case errors.Is(err, syscall.ENOTCONN):
		return hint(fmt.Errorf("mount %s: the daemon of an earlier mount has died", dir), "llmfs-raw umount %s", shellQuote(dir))
	case err != nil:
		return fmt.Errorf("mount %s: %w", dir, err)
	case !st.IsDir():
		return hint(fmt.Errorf("mount %s: have a file, want a directory", dir), "mkdir -p %s.d && llmfs-raw mount %s.d", shellQuote(dir), shellQuote(dir))
	}
	return nil
}
