package fuseraw

// Counters of everything that the loop did on its own account.

import "sync/atomic"

// Stats counts since the mount. Every fallback has a counter.
type Stats struct {
	Requests       uint64 // read from the kernel, INIT and INTERRUPT included
	Replies        uint64 // written to the kernel
	Undecodable    uint64 // answered with EIO, or ENOSYS for an unknown opcode
	Unencodable    uint64 // replies that are not of the request's shape; answered with EIO
	Clamped        uint64 // replies with an errno that the kernel refuses
	Refused        uint64 // replies that the kernel refused; replaced by EIO
	Gone           uint64 // replies to requests that the kernel had given up (ENOENT)
	Panics         uint64 // of the handler; answered with EIO
	Empty          uint64 // nil replies of the handler; answered with EIO
	Interrupts     uint64 // INTERRUPT requests
	Interrupted    uint64 // requests answered with EINTR by the loop
	Ignored        uint64 // looks at an interrupted caller that found nothing but housekeeping signals
	Timeouts       uint64 // requests answered with ETIMEDOUT by the loop
	Aborted        uint64 // requests answered with ECONNABORTED at the unmount
	Late           uint64 // results of handlers dropped because the loop had answered
	Notified       uint64 // notifications written
	NotifyRetried  uint64 // STOREs sent again because the kernel did not know their new node yet
	NotifyUnknown  uint64 // notifications about nodes or names the kernel does not hold (ENOENT)
	NotifyRefused  uint64 // notifications that could not be encoded or that the kernel refused
	NotifyDropped  uint64 // STOREs dropped: the queue was full, or the mount ended
	StoreOvertaken uint64 // STOREs dropped or undone because a change of the node came first
	StoreReads     uint64 // READs answered from the bytes of a STORE in flight
	StoreKnown     uint64 // STOREs left out because the kernel knew the node of their entry before
	HeldAttrs      uint64 // GETATTRs answered from the entry that brought the file's content along
	InFlight       int    // requests that a handler is working on
}

type counters struct {
	requests, replies, undecodable, unencodable, clamped, refused, gone                    atomic.Uint64
	panics, empty, interrupts, interrupted, ignored, timeouts                              atomic.Uint64
	aborted, late                                                                          atomic.Uint64
	notified, notifyRetried, notifyUnknown, notifyRefused, notifyDropped, overtaken, reads atomic.Uint64
	storeKnown, heldAttrs                                                                  atomic.Uint64
}

// Stats is a snapshot of the counters.
func (c *Conn) Stats() Stats {
	n := &c.count
	return Stats{
		Requests: n.requests.Load(), Replies: n.replies.Load(),
		Undecodable: n.undecodable.Load(), Unencodable: n.unencodable.Load(),
		Clamped: n.clamped.Load(), Refused: n.refused.Load(), Gone: n.gone.Load(),
		Panics: n.panics.Load(), Empty: n.empty.Load(),
		Interrupts: n.interrupts.Load(), Interrupted: n.interrupted.Load(), Ignored: n.ignored.Load(),
		Timeouts: n.timeouts.Load(), Aborted: n.aborted.Load(), Late: n.late.Load(),
		Notified: n.notified.Load(), NotifyRetried: n.notifyRetried.Load(), NotifyUnknown: n.notifyUnknown.Load(),
		NotifyRefused: n.notifyRefused.Load(), NotifyDropped: n.notifyDropped.Load(),
		StoreOvertaken: n.overtaken.Load(), StoreReads: n.reads.Load(),
		StoreKnown: n.storeKnown.Load(), HeldAttrs: n.heldAttrs.Load(),
		InFlight: c.inflight.len(),
	}
}
