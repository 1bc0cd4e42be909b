package main

// evals run: asks models the steps of the corpus.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/llmfs-raw/llmfs-raw/evals"
	evalrun "github.com/llmfs-raw/llmfs-raw/evals/run"
	"github.com/llmfs-raw/llmfs-raw/evals/scenario"
	"github.com/llmfs-raw/llmfs-raw/internal/session"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

// Exit codes of evals beside those of all commands.
const (
	exitRegression     = 3
	exitInfrastructure = 4
)

// progressEvery is how often the bar is drawn.
const progressEvery = 100 * time.Millisecond

// corpusFlags choose traces.
type corpusFlags struct {
	dir  string
	tier string
	only string
}

func (c *corpusFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.tier, "tier", string(evals.Core), "which traces: core, full (core included) or long")
	f.StringVar(&c.only, "only", "", "of these only the traces whose names match a `REGEX`")
	f.StringVar(&c.dir, "corpus", "", "`DIR` of the traces (default the built-in ones)")
}

func (c *corpusFlags) open() (*evals.Corpus, []evals.TraceInfo, error) {
	tier := evals.Tier(c.tier)
	if !slices.Contains(evals.Tiers, tier) {
		return nil, nil, fmt.Errorf("--tier %q: want core, full or long", c.tier)
	}
	only, err := regexp.Compile(c.only)
	if err != nil {
		return nil, nil, fmt.Errorf("--only: %w", err)
	}
	corpus, err := evals.Embedded()
	if c.dir != "" {
		corpus, err = evals.OpenCorpus(os.DirFS(c.dir))
	}
	if err != nil {
		return nil, nil, err
	}
	list := slices.DeleteFunc(corpus.Traces(tier), func(t evals.TraceInfo) bool { return !only.MatchString(t.Name) })
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("--tier %s --only %q: no trace is left", c.tier, c.only)
	}
	return corpus, list, nil
}

// promptFlags are what language models are shown.
type promptFlags struct {
	context string
	fields  formFlag
	persona string
}

func (p *promptFlags) flags(f *pflag.FlagSet, context string) {
	p.fields = formFlag{schema.Lean}
	f.StringVar(&p.context, "context", context, "what a language model is shown of the past: full, window:N, ledger or ledger:N; a ledger lacks what decides 1 step in 100")
	f.Var(&p.fields, "fields", "reply fields to ask for: all, or lean")
	f.StringVar(&p.persona, "persona", "", "what the world is, as `TEXT` or a file of it (default the world of the traces)")
}

func (p *promptFlags) options() (o session.Options, err error) {
	if o.Context, err = session.ParseContext(p.context); err != nil {
		return o, fmt.Errorf("--context: %w", err)
	}
	if o.Context.Kind == session.None {
		return o, errors.New("--context none: want full, window:N or ledger")
	}
	o.Fields = p.fields.Form
	o.Persona, err = session.ReadPersona(p.persona)
	return o, err
}

// evalsRunOptions are the flags of evals run.
type evalsRunOptions struct {
	models      []string
	modes       []string
	trials      int
	concurrency int
	maxCost     float64
	prices      string
	seed        uint64
	seeded      bool
	out, cache  string
	shard       string
	resync      bool
	baseline    string
	tolerance   float64
	dryRun      bool
	player      scenario.Player // its deadlines

	corpus corpusFlags
	prompt promptFlags
	server modelFlags
}

func evalsRunCommand() *cobra.Command {
	o := &evalsRunOptions{}
	c := &cobra.Command{
		Use:   "run",
		Short: "Ask models the steps of recorded traces, and score what they say",
		Long: `Ask models the steps of recorded traces, and score what they say. Forced: each
step with the history that the reference made. Rollout: the model's own replies
make the history, until the first one that is wrong. Live, as root: the scenarios
run on mounts that the model serves, and what their commands give, exit codes,
output and errnos, is held against what they gave over the reference.

Answers of language models are kept in --out as they come: the same command again
goes on where it was killed, and pays for nothing twice. Exit codes: 0, 1 failed,
2 wrong use, 3 a score below the baseline's, 4 questions without an answer for
which the model is not to blame.`,
		Example: `  llmfs-raw evals run --models reference --out /tmp/run
  llmfs-raw evals run --models gpt-5-mini,gpt-5 --mode forced,rollout --trials 4 --max-cost 5 --out runs/gpt-5`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.seeded = c.Flags().Changed("seed")
			return evalsRun(c, o)
		},
	}
	o.flags(c.Flags())
	return c
}

func (o *evalsRunOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringSliceVar(&o.models, "models", []string{"reference"}, contestantUsage)
	f.StringSliceVar(&o.modes, "mode", []string{string(evals.Forced)}, "forced, rollout, live, or several of them")
	o.corpus.flags(f)
	f.IntVar(&o.trials, "trials", 1, "how often each question is asked; embedded models always say the same")
	f.IntVar(&o.concurrency, "concurrency", 8, "questions to a model at the same time, fewer where it says that this is too much")
	f.Float64Var(&o.maxCost, "max-cost", 0, "US dollars to spend at most")
	f.StringVar(&o.prices, "prices", "", "a `FILE` of prices beside the built-in ones")
	f.Uint64Var(&o.seed, "seed", 1, "decides the order of traces; where it is given, models get it, too, plus the trial's number")
	f.StringVar(&o.out, "out", "", "`DIR` of log, summary and answers")
	f.StringVar(&o.cache, "cache", "", "`DIR` of the answers (default that of --out)")
	f.StringVar(&o.shard, "shard", "", "do one of n parts, as `I/N`; evals merge puts them together")
	f.BoolVar(&o.resync, "resync", false, "go on with a rollout that went wrong, from the reply that was expected")
	f.DurationVar(&o.player.Command, "command-deadline", 2*time.Minute, "end a command of a live scenario after this long")
	f.DurationVar(&o.player.Whole, "scenario-deadline", 30*time.Minute, "end a live scenario after this long")
	f.StringVar(&o.baseline, "baseline", "", "the summary, a `FILE` or the directory of a run, that scores must not be below")
	f.Float64Var(&o.tolerance, "tolerance", 0, "how far below it, as a share of all steps, a score may be")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be asked, and about what it would cost")
	o.prompt.flags(f, "full")
	o.server.flags(f)
}

// options are the run's; all errors are wrong use.
func (o *evalsRunOptions) options() (opts evalrun.Options, err error) {
	opts = evalrun.Options{
		Trials: o.trials, Seed: o.seed, Concurrency: o.concurrency, Resync: o.resync, MaxCost: o.maxCost,
		Dir: o.out, Cache: o.cache, Tags: evals.Tag, Header: evals.LogHeader{Program: programVersion(), Args: os.Args[1:], Tier: evals.Tier(o.corpus.tier)},
	}
	prices, err := session.LoadPrices(o.prices)
	if err != nil {
		return opts, err
	}
	var seed *uint64
	if o.seeded {
		seed = &o.seed
	}
	if opts.Contestants, err = contestants(o.models, &o.server, prices, seed); err != nil {
		return opts, err
	}
	for _, c := range opts.Contestants {
		if err := (session.Budget{MaxCost: o.maxCost}).Check(c.Name, c.Price); err != nil && c.World == nil {
			return opts, err
		}
	}
	if opts.Modes, err = modesOf(o.modes); err != nil {
		return opts, err
	}
	if opts.Shard, err = evalrun.ParseShard(o.shard); err != nil {
		return opts, err
	}
	if opts.Session, err = o.prompt.options(); err != nil {
		return opts, err
	}
	opts.Corpus, opts.Traces, err = o.corpus.open()
	return opts, err
}

func modesOf(names []string) (list []evals.Mode, err error) {
	for _, name := range names {
		mode := evals.Mode(name)
		if !slices.Contains([]evals.Mode{evals.Forced, evals.Rollout, evals.Live}, mode) {
			return nil, fmt.Errorf("--mode %q: want forced, rollout or live", name)
		}
		list = append(list, mode)
	}
	return list, nil
}

func evalsRun(c *cobra.Command, o *evalsRunOptions) error {
	opts, err := o.options()
	if err == nil && o.out == "" && !o.dryRun {
		err = errors.New("have no --out, want a directory for the log")
	}
	var baseline *evals.Summary
	if err == nil && o.baseline != "" {
		baseline, err = evals.ReadSummary(o.baseline)
	}
	if err != nil {
		return misuse(c, err)
	}
	if o.dryRun {
		return dryRun(c.OutOrStdout(), opts)
	}
	if err := checkServers(opts.Contestants, &o.server); err != nil {
		return misuse(c, err)
	}
	if opts.Live, err = o.livePlayer(c, opts.Modes); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	opts.Report = progressOf(c.ErrOrStderr())
	summary, err := evalrun.Run(ctx, opts)
	if err != nil {
		return hint(err, "the same command again goes on from here")
	}
	writeScores(c.OutOrStdout(), summary)
	return verdict(summary, baseline, o.tolerance)
}

// livePlayer is nil where nothing is run live.
func (o *evalsRunOptions) livePlayer(c *cobra.Command, modes []evals.Mode) (evalrun.Player, error) {
	if !slices.Contains(modes, evals.Live) {
		return nil, nil
	}
	if os.Geteuid() != 0 {
		return nil, hint(errors.New("--mode live needs root: scenarios change owners and take several users' places"), "sudo %s", c.CommandPath())
	}
	self, err := os.Executable()
	o.player.Self, o.player.Log = []string{self, "evals", "child"}, c.ErrOrStderr()
	return &o.player, err
}

// verdict is what the exit code says.
func verdict(s, baseline *evals.Summary, tolerance float64) error {
	if worse := evalrun.Regressions(s, baseline, tolerance); len(worse) > 0 {
		return &hintedError{err: fmt.Errorf("below the baseline: %s", strings.Join(worse, "; ")), hint: "'llmfs-raw evals compare' shows which steps", code: exitRegression}
	}
	if s.Infra > 0 {
		return &hintedError{err: fmt.Errorf("%d questions have no answer: %s", s.Infra, s.Why), hint: "the same command again asks only these; the log says why", code: exitInfrastructure}
	}
	return nil
}

// progressOf shows a bar with the cost so far; where nobody watches, a line now
// and then.
func progressOf(w io.Writer) func(evalrun.Progress) {
	if f, ok := w.(*os.File); !ok || !isatty.IsTerminal(f.Fd()) {
		return progressLines(w)
	}
	var bar *progressbar.ProgressBar
	return func(p evalrun.Progress) {
		if bar == nil {
			bar = progressbar.NewOptions(p.Total, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
				progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("steps"), progressbar.OptionThrottle(progressEvery))
		}
		if p.Cost > 0 {
			bar.Describe(fmt.Sprintf("steps, $%.4f", p.Cost))
		}
		_ = bar.Set(p.Done)
	}
}

// progressLines says how far a run is once a minute.
func progressLines(w io.Writer) func(evalrun.Progress) {
	said := time.Now()
	return func(p evalrun.Progress) {
		if time.Since(said) > time.Minute {
			said = time.Now()
			fmt.Fprintf(w, "%d of %d steps, $%.4f\n", p.Done, p.Total, p.Cost)
		}
	}
}

func writeScores(w io.Writer, s *evals.Summary) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MODEL\tMODE\tSTEPS\tSCORE\tSURVIVED\tTOKENS IN\tOUT\t$\tINFRA")
	for _, m := range s.Scores {
		survived := "-"
		if m.Mode != evals.Forced {
			survived = percent(m.Survived)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%d\t%d\t%.4f\t%d\n", m.Model, m.Mode, m.Steps, percent(m.Score), survived, m.InputTokens, m.OutputTokens, m.Cost, m.Infra)
	}
	_ = t.Flush()
}

// percent rounds down: only what is whole is shown as 100%.
func percent(share float64) string { return fmt.Sprintf("%.2f%%", float64(int(share*10000))/100) }

func dryRun(w io.Writer, o evalrun.Options) error {
	list, err := evalrun.Estimates(o)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MODEL\tMODE\tSTEPS\tTOKENS IN\tCACHED\tOUT\t$ ABOUT\t$ AT MOST")
	for _, e := range list {
		about, most := "unknown", "unknown"
		if e.Most > 0 || e.Usage.InputTokens == 0 {
			about, most = fmt.Sprintf("%.2f", e.Cost), fmt.Sprintf("%.2f", e.Most)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", e.Model, e.Mode, e.Steps, e.Usage.InputTokens, e.Usage.CachedTokens, e.Usage.OutputTokens, about, most)
	}
	return t.Flush()
}
