package report

// The page in a real browser: opened, sorted, filtered, a failed step opened.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/llmfs-raw/llmfs-raw/evals"
)

// browser is one tab, and what went wrong in it.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	troubles []string
}

var chromiumFlags = []chromedp.ExecAllocatorOption{
	chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
	chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
	chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
}

// open opens a page. Without a browser the test fails: make deps installs one.
func open(t *testing.T, page string, width, height int64) *browser {
	t.Helper()
	alloc, stop := chromedp.NewExecAllocator(t.Context(), append(chromiumFlags, chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel() })
	b := &browser{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	b.ctx, cancel = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	_, err := chromedp.Call(b.ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	b.do(chromedp.EmulateViewport(width, height), chromedp.Navigate("file://"+page), chromedp.WaitVisible(chromedp.CSS("#leaders tbody tr")))
	return b
}

// listen runs in the loop that reads from the browser: what happened before a
// command ended is known when the command returns.
func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.troubles = append(b.troubles, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		b.troubles = append(b.troubles, "console."+string(e.Type))
	case *log.EventEntryAdded:
		b.troubles = append(b.troubles, e.Entry.Text+" "+e.Entry.URL)
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, actions...), "%s", b.complaints())
}

// eval is the value of a JavaScript expression.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b.t, err, expression)
	return value
}

// set gives an input a value, as a person would.
func (b *browser) set(id, value string) {
	b.t.Helper()
	b.script(fmt.Sprintf(`(() => { const i = document.getElementById(%q); i.value = %q; i.dispatchEvent(new Event("input")); })()`, id, value))
}

func (b *browser) script(expression string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](expression))
}

// calm demands that nothing was complained of.
func (b *browser) calm() {
	b.t.Helper()
	assert.Empty(b.t, b.complaints())
}

func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.troubles)
}

// scheme makes the system ask for light or dark.
func (b *browser) scheme(name string) {
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	require.NoError(b.t, err)
}

// shot keeps a picture where SCREENSHOTS names a directory, for people to look at.
func (b *browser) shot(name string, whole bool) {
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	take := chromedp.CaptureScreenshot()
	if whole {
		take = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(b.ctx, take)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

func writePage(t *testing.T, models []fake, steps, trials int, modes ...evals.Mode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, Build(runsOf(fakeRun(models, steps, trials, modes...))).WriteHTML(f))
	require.NoError(t, f.Close())
	return path
}

const (
	names    = `[...document.querySelectorAll("#leaders tbody td.name")].map((td) => td.textContent)`
	failures = `document.querySelectorAll("#list details").length`
	overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
)

func TestPageOnADesk(t *testing.T) {
	b := open(t, writePage(t, fakes, 400, 2, evals.Forced, evals.Rollout), 1400, 900)
	assert.Equal(t, "reference", eval[[]string](b, names)[0])
	b.shot("desk-light", true)

	b.do(chromedp.Click(`//th//button[text()="$ / 1k steps"]`), chromedp.Click(`//th//button[text()="$ / 1k steps"]`))
	assert.Equal(t, "large-2", eval[[]string](b, names)[0], "sorted by cost, the dearest first")
	assert.Equal(t, 1, eval[int](b, `document.querySelectorAll('#leaders th[aria-sort="descending"]').length`))

	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "large"))
	assert.ElementsMatch(t, []string{"large-2", "large-1"}, eval[[]string](b, names))
	assert.Equal(t, 2, eval[int](b, `document.querySelectorAll("#ops tbody tr").length`))
	assert.True(t, eval[bool](b, `[...document.querySelectorAll("#list .m")].every((m) => m.textContent.startsWith("large"))`))
	b.set("filter", "")
	assert.Len(t, eval[[]string](b, names), len(fakes))

	b.do(chromedp.Click(`//*[@id="modes"]/button[text()="rollout"]`))
	assert.Contains(t, eval[string](b, `document.querySelector("#leaders thead").textContent`), "survived")
	b.shot("desk-rollout", true)
	b.calm()
}

func TestPageOpensAFailedStep(t *testing.T) {
	b := open(t, writePage(t, fakes, 400, 1, evals.Forced), 1400, 900)
	b.script(`document.querySelector("#ops td.has").click()`)
	require.Positive(t, eval[int](b, failures))
	assert.NotEmpty(t, eval[string](b, `document.getElementById("f-op").value`), "the cell's opcode is filtered for")
	b.set("f-op", "")
	b.set("f-model", "")
	b.set("f-outcome", "wrong data")
	b.do(chromedp.Click(chromedp.CSS("#list details summary")), chromedp.WaitVisible(chromedp.CSS("#list details .detail")))
	detail := eval[string](b, `document.querySelector("#list .detail").textContent`)
	for _, want := range []string{"Request", "Expected", "Reply", "Out.Attr.Nlink", `"Comm": "sh"`, "18446744073709551615"} {
		assert.Contains(t, detail, want)
	}
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#list details")))
	b.shot("failed-step", false)
	b.calm()
}

// What a model wrote is shown as it is and never becomes part of the page.
func TestPageShowsHostileReplies(t *testing.T) {
	models := []fake{{`<img src=x onerror="document.title='owned'">`, 0.9, 0.001, 10}}
	b := open(t, writePage(t, models, 60, 1, evals.Forced), 1000, 800)
	b.do(chromedp.SendKeys(chromedp.CSS("#f-text"), "onerror"))
	b.script(`for (const d of document.querySelectorAll("#list details")) d.open = true`)
	b.do(chromedp.WaitVisible(chromedp.CSS("#list .detail pre")))
	assert.Contains(t, eval[string](b, `document.getElementById("list").textContent`), hostile)
	assert.Zero(t, eval[int](b, `document.querySelectorAll("img").length`))
	assert.Equal(t, "llmfs-raw evals", eval[string](b, `document.title`))
	b.calm()
}

func TestPageOnAPhone(t *testing.T) {
	b := open(t, writePage(t, fakes, 400, 2, evals.Forced, evals.Rollout), 375, 740)
	assert.LessOrEqual(t, eval[int](b, overflow), 0, "the page scrolls sideways")
	b.shot("phone", false)
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#ops")))
	b.shot("phone-ops", false)
	b.script(`document.querySelector("#list details summary").click()`)
	b.do(chromedp.WaitReady(chromedp.CSS("#list .detail")))
	assert.LessOrEqual(t, eval[int](b, overflow), 0, "the page scrolls sideways with a step open")
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#list details")))
	b.shot("phone-step", false)
	b.calm()
}

func TestPageInTheDark(t *testing.T) {
	background := `getComputedStyle(document.body).backgroundColor`
	b := open(t, writePage(t, fakes, 400, 2, evals.Forced, evals.Rollout), 1400, 900)
	light := eval[string](b, background)
	b.scheme("dark")
	dark := eval[string](b, background)
	assert.NotEqual(t, light, dark)
	b.shot("desk-dark", true)
	b.do(chromedp.Click(chromedp.CSS("#theme")))
	assert.Equal(t, light, eval[string](b, background), "the button overrules the system")
	b.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#leaders tbody tr")))
	assert.Equal(t, light, eval[string](b, background), "and is remembered")
	b.calm()
}

// Forty models, both modes.
func TestPageStaysUsable(t *testing.T) {
	path := writePage(t, manyFakes(40), 400, 1, evals.Forced, evals.Rollout)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(10<<20))
	b := open(t, path, 1400, 900)
	assert.LessOrEqual(t, eval[int](b, failures), 40, "failed steps are drawn as they are asked for")
	took := eval[float64](b, `(() => { const t = performance.now(); document.getElementById("filter").dispatchEvent(new Event("input")); return performance.now() - t; })()`)
	assert.Less(t, took, 2000.0, "ms to draw everything again")
	b.script(`document.getElementById("more").click()`)
	assert.Equal(t, 80, eval[int](b, failures))
	b.do(chromedp.ScrollIntoView(chromedp.CSS(".plots")))
	b.shot("many-plots", false)
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#ops")))
	b.shot("many-ops", false)
	t.Logf("%d KB, redrawn in %.0f ms", info.Size()>>10, took)
	b.calm()
}

// What is embedded is what page/README.md says.
func TestChartIsTheReleasedOne(t *testing.T) {
	readme, err := os.ReadFile("page/README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), fmt.Sprintf("%x", sha256.Sum256([]byte(chartJS))))
}
