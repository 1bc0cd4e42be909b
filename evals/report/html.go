package report

// The report as one page of HTML that needs nothing but itself. What models
// wrote is hostile: it reaches the page as JSON that html/template has escaped,
// the script only ever makes text of it, and the page's policy runs no other
// script than the two whose hashes it names.

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string
	//go:embed page/chart.umd.min.js
	chartJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// failureBudget bounds the bytes of failed steps in a page, for all models together.
const failureBudget = 6 << 20

// page is what the template gets.
type page struct {
	Policy string
	CSS    template.CSS
	Chart  template.JS
	Script template.JS
	Data   *pageData
}

// pageData is what the page's script gets.
type pageData struct {
	*Report
	Stages     []evals.Stage `json:"stages"`
	Outcomes   []string      `json:"outcome_names"`
	Dimensions []string      `json:"dimensions"`
	Steps      []pageStep    `json:"steps"`
	Texts      []string      `json:"texts"` // each but once: models are shown the same requests
	Failures   []pageFailure `json:"failures"`
	Failed     []int         `json:"failed"` // of each entry, in all
}

type pageStep struct {
	Trace string     `json:"trace"`
	Pair  int        `json:"pair"`
	Area  string     `json:"area"`
	Op    string     `json:"op"`
	Tags  evals.Tags `json:"tags"`
}

// pageFailure has indices of entries, steps, outcomes and texts.
type pageFailure struct {
	Entry    int         `json:"e"`
	Step     int         `json:"s"`
	Trial    int         `json:"t"`
	Outcome  Outcome     `json:"o"`
	Stage    evals.Stage `json:"stage"`
	Want     string      `json:"want"`
	Have     string      `json:"have"`
	Refused  bool        `json:"refused,omitempty"`
	Ended    bool        `json:"ended,omitempty"`
	Millis   float64     `json:"ms"`
	Request  int         `json:"request"`
	Expected int         `json:"expected"`
	Reply    int         `json:"reply"`
	Diffs    [][4]string `json:"diffs"` // path, class, want, have
	Problems []string    `json:"problems"`
}

// WriteHTML writes the page.
func (rep *Report) WriteHTML(w io.Writer) error {
	return pageTemplate.Execute(w, page{
		Policy: fmt.Sprintf("default-src 'none'; script-src %s %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'",
			sourceHash(chartJS), sourceHash(pageJS), sourceHash(pageCSS)),
		CSS: template.CSS(pageCSS), Chart: template.JS(chartJS), Script: template.JS(pageJS), Data: rep.pageData(),
	})
}

func sourceHash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (rep *Report) pageData() *pageData {
	d := &pageData{Report: rep, Stages: evals.Stages, Outcomes: OutcomeNames, Failures: []pageFailure{}, Texts: []string{}}
	for _, dim := range dimensions {
		d.Dimensions = append(d.Dimensions, dim.name)
	}
	for _, s := range rep.steps {
		d.Steps = append(d.Steps, pageStep{s.trace, s.pair, s.area, s.op, s.tags})
	}
	for _, e := range rep.Entries {
		d.Failed = append(d.Failed, e.Steps-e.right())
	}
	d.addFailures()
	return d
}

// addFailures takes each entry's first failed step, then each one's second, until
// the budget is used up.
func (d *pageData) addFailures() {
	lists := make([][]*Failure, len(d.Entries))
	for i, e := range d.Entries {
		lists[i] = e.Failures()
	}
	texts, left := map[string]int{}, failureBudget
	for round := range sampleSize {
		for i, list := range lists {
			if round >= len(list) || left <= 0 {
				continue
			}
			f := d.failure(i, list[round], texts, &left)
			left -= size(f)
			d.Failures = append(d.Failures, f)
		}
	}
}

func (d *pageData) failure(entry int, f *Failure, texts map[string]int, left *int) pageFailure {
	text := func(s string) int {
		i, ok := texts[s]
		if !ok {
			i = len(d.Texts)
			texts[s] = i
			d.Texts = append(d.Texts, s)
			*left -= size(s)
		}
		return i
	}
	p := pageFailure{
		Entry: entry, Step: f.Step, Trial: f.Trial, Outcome: f.Outcome, Stage: f.Stage, Want: f.Want, Have: f.Have,
		Refused: f.Refused, Ended: f.Ended, Millis: f.Millis, Problems: f.Problems,
		Request: text(f.Request), Expected: text(f.Expected), Reply: text(f.Reply),
	}
	for _, diff := range f.Diffs {
		p.Diffs = append(p.Diffs, [4]string{diff.Path, diff.Class, diff.Want, diff.Have})
	}
	return p
}

// size is that of v in the page.
func size(v any) int {
	b, _ := json.Marshal(v) // strings and numbers
	return len(b)
}
