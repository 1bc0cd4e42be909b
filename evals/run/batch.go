package run

// The questions of a run as files, and their answers from files: for batches, or
// for whoever answers by hand. What comes back goes where answers are kept, so
// that the run itself then asks nothing.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/llmfs-raw/llmfs-raw/evals"
	"github.com/llmfs-raw/llmfs-raw/internal/model"
)

// Limits of a file in the Batch API.
const (
	MostQuestions = 50_000
	MostBytes     = 200 << 20
)

// QuestionFiles are the names of the files that Export writes.
const QuestionFiles = "questions-*.jsonl"

// Bodies is what a contestant's model has to have beside answers: the request
// that would be sent, and the answer in a response.
type Bodies interface {
	Endpoint() string
	Body(*model.Prompt) ([]byte, error)
	ReadBody([]byte) (*model.Answer, error)
}

// question is a line of a file.
type question struct {
	ID     string          `json:"custom_id"` // the key under which the answer is kept
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Body   json.RawMessage `json:"body"`
}

// Export writes the questions of forced steps that have no answer yet to files in
// Dir, and returns their names and the number of questions. There is one language
// model.
func Export(o Options) (files []string, questions int, err error) {
	o.Trials = max(o.Trials, 1)
	c, err := o.only()
	if err != nil {
		return nil, 0, err
	}
	answers, err := openCache(cmp.Or(o.Cache, o.Dir))
	if err != nil {
		return nil, 0, err
	}
	if err := removeQuestions(o.Dir); err != nil {
		return nil, 0, errors.Join(err, answers.close())
	}
	w := &exporter{dir: o.Dir, contestant: c, answers: answers, seen: map[string]bool{}}
	read := newTraces(o.Corpus, nil)
	for _, u := range o.Shard.of(units(o.Traces, o.Trials, o.Seed)) {
		if err = w.unit(&o, read, u); err != nil {
			break
		}
	}
	return w.files, len(w.seen), errors.Join(err, w.end(), answers.close())
}

// removeQuestions clears away those of an earlier export.
func removeQuestions(dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, QuestionFiles))
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// only is the one language model among the contestants.
func (o *Options) only() (*Contestant, error) {
	if len(o.Contestants) != 1 || o.Contestants[0].World != nil {
		return nil, errors.New("batch: want one language model")
	}
	return o.Contestants[0], nil
}

type exporter struct {
	dir        string
	contestant *Contestant
	answers    *cache
	seen       map[string]bool

	files []string
	file  *os.File
	lines int
	bytes int
}

func (w *exporter) unit(o *Options, read *traces, u unit) error {
	bodies, err := w.contestant.bodies(u.trial)
	if err != nil {
		return err
	}
	r, err := read.get(u.info)
	if err != nil {
		return err
	}
	return Prompts(r.gold, o.Transcript(r.trace.Header.Options), func(_ int, p *model.Prompt) error {
		key := questionKey(w.contestant, u.trial, p)
		if _, answered := w.answers.get(key); answered || w.seen[key] {
			return nil
		}
		w.seen[key] = true
		body, err := bodies.Body(p)
		if err != nil {
			return err
		}
		return w.add(question{ID: key, Method: "POST", URL: bodies.Endpoint(), Body: body})
	})
}

func (c *Contestant) bodies(trial int) (Bodies, error) {
	m, err := c.Model(trial)
	if err != nil {
		return nil, err
	}
	b, ok := m.(Bodies)
	if !ok {
		return nil, fmt.Errorf("batch: %s is not behind a server", c.Name)
	}
	return b, nil
}

// add writes a line, in a new file where the last one is full.
func (w *exporter) add(q question) error {
	line, err := evals.AppendLine(nil, q)
	if err != nil {
		return err
	}
	if w.file == nil || w.lines == MostQuestions || w.bytes+len(line) > MostBytes {
		if err := w.next(); err != nil {
			return err
		}
	}
	w.lines++
	w.bytes += len(line)
	_, err = w.file.Write(line)
	return err
}

func (w *exporter) next() error {
	if err := w.end(); err != nil {
		return err
	}
	name := filepath.Join(w.dir, strings.Replace(QuestionFiles, "*", fmt.Sprintf("%03d", len(w.files)+1), 1))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	w.file, w.files, w.lines, w.bytes = f, append(w.files, name), 0, 0
	return err
}

func (w *exporter) end() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

// Imported is what came of a file of answers.
type Imported struct {
	Answers int // that are kept now
	Failed  int // lines that are errors; they can be asked again
}

// answerLine is a line of a batch's output, or of what somebody made by hand.
type answerLine struct {
	ID       string `json:"custom_id"`
	Response struct {
		Status int             `json:"status_code"` // 0 by hand
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
}

// Import keeps the answers that r has a line of each.
func Import(o Options, r io.Reader) (done Imported, err error) {
	c, err := o.only()
	if err != nil {
		return done, err
	}
	bodies, err := c.bodies(0)
	if err != nil {
		return done, err
	}
	answers, err := openCache(cmp.Or(o.Cache, o.Dir))
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, answers.close()) }()
	lines := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			if err := done.line(answers, bodies, line); err != nil {
				return done, fmt.Errorf("answers, line %d: %w", n, err)
			}
		}
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
	}
}

func (done *Imported) line(answers *cache, bodies Bodies, line []byte) error {
	var a answerLine
	if err := json.Unmarshal(line, &a); err != nil {
		return err
	}
	if len(a.ID) != keyLength {
		return fmt.Errorf("custom_id %q is not one of the questions", a.ID)
	}
	if _, known := answers.get(a.ID); known {
		return nil
	}
	const failed = 400
	if a.Response.Status >= failed || len(a.Response.Body) == 0 {
		done.Failed++
		return nil
	}
	k := &kept{Key: a.ID}
	said, err := bodies.ReadBody(a.Response.Body)
	if !k.take(said, err) {
		done.Failed++
		return nil
	}
	done.Answers++
	return answers.put(k)
}
