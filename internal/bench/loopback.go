// go-fuse's loopback as a child process that counts what reaches it.

package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// loopbackCommand is the hidden first argument that makes this program the server.
const loopbackCommand = "serve-loopback"

// validity is how long the kernel may trust entries and attributes, as in the
// reference model's replies.
const validity = time.Hour

// serveLoopback mirrors src at mnt until it is interrupted. Passthrough is off, so
// that data travels through the daemon as it does through ours.
func serveLoopback(src, mnt string) error {
	root, err := fs.NewLoopbackRoot(src)
	if err != nil {
		return fmt.Errorf("loopback of %s: %w", src, err)
	}
	ttl := validity
	opts := &fs.Options{EntryTimeout: &ttl, AttrTimeout: &ttl, NegativeTimeout: &ttl}
	opts.DirectMountStrict = true
	opts.FsName = "bench-loopback"
	opts.DisabledCapabilities = fuse.CAP_PASSTHROUGH
	// The kernel checks permissions for both. It then asks for a directory's
	// attributes after each change of it, which without this only ours would pay.
	opts.MountOptions.Options = append(opts.MountOptions.Options, "default_permissions")
	counted := &counter{RawFileSystem: fs.NewNodeFS(root, opts)}
	server, err := fuse.NewServer(counted, mnt, &opts.MountOptions)
	if err != nil {
		return fmt.Errorf("mount the loopback on %s: %w", mnt, err)
	}
	go unmountOnSignal(server)
	server.Serve()
	fmt.Printf(countsFormat, counted.lookups.Load(), counted.read.Load(), counted.written.Load())
	return nil
}

func unmountOnSignal(server *fuse.Server) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	for range signals {
		if err := server.Unmount(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
}

// countsFormat is the line that the child prints at its end.
const countsFormat = "lookups %d read %d written %d\n"

// A counter counts what the kernel asked of a filesystem.
type counter struct {
	fuse.RawFileSystem
	lookups, read, written atomic.Int64 // the last two in bytes
}

func (c *counter) Lookup(cancel <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	c.lookups.Add(1)
	return c.RawFileSystem.Lookup(cancel, h, name, out)
}

func (c *counter) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	res, status := c.RawFileSystem.Read(cancel, in, buf)
	if status.Ok() {
		c.read.Add(int64(res.Size()))
	}
	return res, status
}

func (c *counter) Writev(cancel <-chan struct{}, in *fuse.WriteIn, data [][]byte) (uint32, fuse.Status) {
	n, status := c.RawFileSystem.Writev(cancel, in, data)
	c.written.Add(int64(n))
	return n, status
}
