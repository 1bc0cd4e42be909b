package faulty

// Noise: a determined field of the reply is wrong with some probability.

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// noiseMutant errs in that share of its replies. Who errs at 1% errs at the
// same steps at 5%: a step has one number, and it is held against the share.
func noiseMutant(percent float64) Mutant {
	return Mutant{
		Name: fmt.Sprintf("noise:%v", percent), Area: "model",
		Bug: fmt.Sprintf("one field of %v%% of the replies is wrong", percent),
		answer: func(c *call) *proto.Reply {
			c.mind.step++
			r := c.next()
			chance := c.dice(0)
			if float64(chance)/math.MaxUint64 < percent/100 {
				return c.spoil(r)
			}
			return r
		},
	}
}

// dice is a number that the step alone decides.
func (c *call) dice(throw uint64) uint64 {
	h := fnv.New64a()
	text, _ := proto.AppendRequestJSON(nil, c.req)
	h.Write(text)
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], c.mind.step)
	binary.LittleEndian.PutUint64(b[8:], throw)
	h.Write(b[:])
	return mix(h.Sum64())
}

// mix is the finalizer of SplitMix64: FNV's high bits hardly move.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// spoil makes one field wrong.
func (c *call) spoil(r *proto.Reply) *proto.Reply {
	if r.Errno != 0 {
		return fail(c.wrongErrno(r.Errno))
	}
	if spoiled := c.spoilAttr(r); spoiled || c.spoilData(r) {
		return r
	}
	return fail(c.wrongErrno(0))
}

// wrongErrno is another errno, one that is never right for a plain mount.
func (c *call) wrongErrno(right syscall.Errno) syscall.Errno {
	wrong := []syscall.Errno{syscall.EXDEV, syscall.EMLINK, syscall.EDOM}
	e := wrong[c.dice(1)%uint64(len(wrong))]
	if e == right {
		return syscall.EILSEQ
	}
	return e
}

// spoilAttr spoils one attribute of one node.
func (c *call) spoilAttr(r *proto.Reply) bool {
	spoiled := false
	eachAttr(r, func(a *fuse.Attr) {
		if spoiled {
			return
		}
		spoiled = true
		switch c.dice(2) % 4 {
		case 0:
			a.Mode ^= 0o100
		case 1:
			a.Nlink++
		case 2:
			a.Uid++
		default:
			a.Gid++
		}
	})
	return spoiled
}

// spoilData spoils a byte, a name or a count.
func (c *call) spoilData(r *proto.Reply) bool {
	switch out := r.Out.(type) {
	case *fuse.WriteOut:
		out.Size++
		return true
	case *fuse.LseekOut:
		out.Offset++
		return true
	case *fuse.GetXAttrOut:
		out.Size++
		return true
	}
	switch {
	case len(r.Data) > 0:
		r.Data[c.dice(3)%uint64(len(r.Data))] ^= 1
	case len(r.Entries) > 0:
		r.Entries = r.Entries[:len(r.Entries)-1]
	default:
		return false
	}
	return true
}
