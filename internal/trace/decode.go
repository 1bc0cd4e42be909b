package trace

// Lines: bytes to structs, by the version of the trace.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/llmfs-raw/llmfs-raw/proto"
)

// decoders reads a pair's line of each version into today's structs.
var decoders = [...]func(line []byte) (*Pair, error){
	0: decodePilot,
	1: decodePair,
}

// decodeHeader reads the first line. A line that is a pair and no header is
// one of version 0, which had none; first then says that the line is a pair.
func decodeHeader(line []byte) (h Header, first bool, err error) {
	var probe struct {
		Trace   *string         `json:"trace"`
		Version int             `json:"version"`
		Req     json.RawMessage `json:"req"`
	}
	if err := json.Unmarshal(line, &probe); err != nil {
		return h, false, fmt.Errorf("header: %w", err)
	}
	if probe.Trace == nil && probe.Req != nil {
		return pilotHeader, true, nil
	}
	if probe.Trace == nil || *probe.Trace != Name {
		return h, false, fmt.Errorf(`header: have no "trace":%q`, Name)
	}
	if probe.Version < 1 || probe.Version > Version {
		return h, false, fmt.Errorf("header: have version %d, want 1 to %d: recorded by a newer program", probe.Version, Version)
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, false, fmt.Errorf("header: %w", err)
	}
	return h, false, nil
}

func decodePair(line []byte) (*Pair, error) {
	var env struct {
		Req    json.RawMessage `json:"req"`
		Rep    json.RawMessage `json:"rep"`
		Ns     int64           `json:"ns"`
		Usage  Usage           `json:"usage"`
		Kernel *Kernel         `json:"kernel"`
		Note   string          `json:"note"`
	}
	if err := json.Unmarshal(line, &env); err != nil {
		return nil, err
	}
	p := &Pair{Took: time.Duration(env.Ns), Usage: env.Usage, Kernel: env.Kernel, Note: env.Note}
	return p, p.decodeMessages(env.Req, env.Rep)
}

func (p *Pair) decodeMessages(req, rep []byte) (err error) {
	if req == nil || rep == nil {
		return errors.New(`pair: want "req" and "rep"`)
	}
	if p.Req, err = proto.ParseRequestJSON(req); err != nil || bytes.Equal(rep, []byte("null")) {
		return err
	}
	p.Rep, err = proto.ParseReplyJSON(p.Req, rep)
	return err
}
