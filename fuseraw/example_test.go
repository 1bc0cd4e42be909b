package fuseraw_test

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/llmfs-raw/llmfs-raw/fuseraw"
	"github.com/llmfs-raw/llmfs-raw/proto"
)

// refuses is a filesystem that has nothing in it and does nothing.
type refuses struct{}

func (refuses) Handle(_ context.Context, req *proto.Request) *proto.Reply {
	return &proto.Reply{Errno: syscall.ENOSYS}
}

// Mount a filesystem and serve it until ^C.
func ExampleMount() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := fuseraw.Mount("/mnt", fuseraw.Options{Deadline: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Serve(ctx, refuses{}); err != nil {
		log.Fatal(err)
	}
	log.Printf("%+v", c.Stats())
}
