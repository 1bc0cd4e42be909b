package run

// Answers that were paid for, in a file that only grows: one JSON object a line,
// each written by one write(2). What a killed run leaves is at worst a torn last
// line, which the next one cuts off.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// CacheFile is the name of the file in its directory.
const CacheFile = "answers.jsonl"

// cacheVersion is part of each key.
const cacheVersion = "1"

// kept is one line.
type kept struct {
	Key   string      `json:"key"`
	Reply string      `json:"reply"`
	Kind  string      `json:"kind,omitempty"` // why there is no reply
	Usage model.Usage `json:"usage"`
	Nanos int64       `json:"ns"`
}

type cache struct {
	file *os.File

	mu    sync.Mutex
	end   int64
	lines map[string][2]int64 // key → where its line is, and how long
}

// openCache reads what there is. Nobody else may have the file open meanwhile.
func openCache(dir string) (*cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, CacheFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	c := &cache{file: f, lines: map[string][2]int64{}}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("answers %s: another run has them", path), f.Close())
	}
	if err := c.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("answers %s: %w", path, err), f.Close())
	}
	return c, nil
}

func (c *cache) read() error {
	r := bufio.NewReaderSize(c.file, 1<<20)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return c.file.Truncate(c.end)
		}
		k := struct {
			Key string `json:"key"`
		}{}
		if err == nil {
			err = json.Unmarshal(line, &k)
		}
		if err != nil || k.Key == "" {
			return fmt.Errorf("line %d is no answer", n)
		}
		c.lines[k.Key] = [2]int64{c.end, int64(len(line))}
		c.end += int64(len(line))
	}
}

func (c *cache) get(key string) (*kept, bool) {
	c.mu.Lock()
	at, ok := c.lines[key]
	c.mu.Unlock()
	if !ok {
		return nil, false
	}
	line := make([]byte, at[1])
	k := &kept{}
	if _, err := c.file.ReadAt(line, at[0]); err != nil || json.Unmarshal(line, k) != nil {
		return nil, false
	}
	return k, true
}

func (c *cache) put(k *kept) error {
	line, err := evals.AppendLine(nil, k)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.file.WriteAt(line, c.end); err != nil {
		return fmt.Errorf("answers: %w", err)
	}
	c.lines[k.Key] = [2]int64{c.end, int64(len(line))}
	c.end += int64(len(line))
	return nil
}

func (c *cache) close() error { return c.file.Close() }

// keyLength is that of a SHA-256 in hex, and what a batch allows a custom_id.
const keyLength = 64

// questionKey is the hash of all that an answer depends on.
func questionKey(c *Contestant, trial int, p *model.Prompt) string {
	return sum(func(h hash.Hash) {
		part := func(s string) { _, _ = io.WriteString(h, strconv.Itoa(len(s))+":"+s) }
		part(cacheVersion)
		part(c.Name)
		for _, k := range slices.Sorted(maps.Keys(c.Settings)) {
			part(k)
			part(c.Settings[k])
		}
		part(strconv.Itoa(trial))
		part(p.Schema.Name)
		part(string(p.Schema.JSON))
		for i := range p.Messages {
			part(p.Messages[i].Role)
			part(p.Messages[i].Content)
		}
	})
}

// validUTF8 is a reply as JSON can hold it.
func validUTF8(b []byte) string { return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))) }
