package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
	"gorbm/rbm"
)

var errNoModel = errors.New("give the RBM by -model")

// A row is a system of the paper's Table II.
type row struct {
	name  string
	flags []string // flags of isingmc; nil: -model names the system, or a file with the couplings and fields of the system
	system
	others []string // the other samplers
	seeds  int
}

// rows are the systems of Table II, at the temperatures of the paper's figures.
var rows = []row{
	{"ferromagnet", []string{"-lattice", "60x60", "-temperature", "2.27"}, ferro(2.27), []string{"gibbs", "sw"}, 10},
	{"frustrated 2D", nil, frustrated, []string{"gibbs", "sw"}, 5},
	{"cube", []string{"-lattice", "9x9x9", "-J", "pm1", "-beta", "1"}, cube, []string{"gibbs", "sw"}, heavyRepeats},
	{"chimera", nil, chimera, []string{"gibbs", "sw"}, 5},
	{"RBM", nil, machine, []string{"block-gibbs"}, heavyRepeats},
}

// heavyRepeats is the number of repetitions on systems whose τ differs between runs by large factors.
const heavyRepeats = 16

// small has the lattices that replace those of the paper with -quick.
var small = map[string]string{"60x60": "8x8", "9x9x9": "4x4x4", "chimera:4": "chimera:2"}

// Curves of the figure.
const (
	tuned      = "tuned by seconds"
	byPaper    = "tuned as in the paper"
	untuned    = "untuned"
	tableII    = "settings of Table II"
	gibbs      = "Gibbs"
	clusters   = "Swendsen–Wang"
	tauPanel   = "τ"
	worthPanel = "worth" // independent energies per second
	keptPanel  = "kept"  // 1 if tuning kept the initial settings
)

var curves = []string{byPaper, untuned, tableII, tuned, gibbs, clusters}

// untunedSettings are the defaults of isingmc. They set all settings, so that nothing is tuned.
const untunedSettings = "k=1-25:gamma=1.02:walks=1:mix=1/0/0"

func tuning(p *programs) claims.Figure {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return claims.Figure{
		Name:  "II",
		Flags: "-model FILE",
		Title: "the systems of Table II, tuned and untuned, against Gibbs and Swendsen–Wang",
		Says:  "Bayesian optimisation finds settings of SARDONICS automatically for a varied set of models.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			var last []claims.Job // those that need -model
			for repeat := range o.Seeds(3, heavyRepeats) {
				for i, r := range rows {
					if repeat >= r.seeds {
						continue
					}
					j := claims.Job{
						Name: fmt.Sprintf("%s, seed %d", r.name, repeat+1),
						Run:  func(ctx context.Context) ([]claims.Point, error) { return p.race(ctx, r, i, repeat+1, o.Quick) },
					}
					switch {
					case r.lattice != "":
						jobs = append(jobs, j)
					case !o.Quick:
						last = append(last, j)
					}
				}
			}
			return append(jobs, last...)
		},
		Claims:  tuningClaims,
		Finding: tuningFinding,
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: tauPanel, Title: "integrated autocorrelation time of the energy", Y: "moves", LogY: true, Geometric: true, Words: names},
				{Name: worthPanel, Title: "independent energies", Y: "per second", LogY: true, Geometric: true, Words: names},
			}, curves)
		},
		Notes: tuningNotes,
	}
}

// logsAt returns the logarithms of the values of a curve for a row.
func logsAt(t *claims.Table, panel, curve string, row int) claims.Repeats {
	return chains.Logs(t.At(panel, curve, float64(row)))
}

func tuningClaims(t *claims.Table) (all []claims.Claim) {
	for i, r := range rows {
		if len(t.At(tauPanel, byPaper, float64(i))) == 0 {
			continue
		}
		tau := func(curve string) claims.Repeats { return logsAt(t, tauPanel, curve, i) }
		worth := func(curve string) claims.Repeats { return logsAt(t, worthPanel, curve, i) }
		all = append(all,
			claims.Smaller(r.name+": tuned as in the paper, τ in moves is shorter than untuned", tau(byPaper), tau(untuned)),
			claims.NotLess(r.name+": tuned as in the paper, τ in moves is not longer than with the settings of Table II", tau(tableII), tau(byPaper), claims.Factor).Resolved().Aside(),
			claims.Larger(r.name+": tuned as in the paper gives more independent energies per second than untuned", worth(byPaper), worth(untuned)).InOtherUnit(),
			claims.NotLess(r.name+": tuned by seconds gives no fewer independent energies per second than untuned", worth(tuned), worth(untuned), claims.Factor).Resolved().Aside(),
			claims.NotLess(r.name+": tuned by seconds gives no fewer independent energies per second than the settings of Table II", worth(tuned), worth(tableII), claims.Factor).Resolved().Aside(),
			claims.Larger(r.name+": tuned by seconds gives more independent energies per second than tuned as in the paper", worth(tuned), worth(byPaper)).Aside())
		if len(worth(gibbs)) > 0 {
			all = append(all, claims.Larger(r.name+": tuned as in the paper gives more independent energies per second than Gibbs", worth(byPaper), worth(gibbs)).InOtherUnit())
		}
	}
	return all
}

// tuningFinding lists τ for each row.
func tuningFinding(t *claims.Table) string {
	var parts []string
	for i, r := range rows {
		tau := func(curve string) float64 { mean, _ := logsAt(t, tauPanel, curve, i).Average(); return math.Exp(mean) }
		if len(t.At(tauPanel, byPaper, float64(i))) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s, %s and %s", r.name, chains.Digits(tau(byPaper)), chains.Digits(tau(untuned)), chains.Digits(tau(tableII))))
		}
	}
	return "τ in moves, for SARDONICS tuned as in the paper, untuned, and with the settings of Table II: " + strings.Join(parts, "; ") + "."
}

// tuningNotes returns the table of geometric means.
func tuningNotes(t *claims.Table) string {
	var b strings.Builder
	b.WriteString("Differences are of natural logarithms: 0.69 is a factor of 2. The table has geometric means over the repetitions; the factor after ×/÷ is one standard error. Bars in the picture are one standard deviation. \"tuned as in the paper\" uses 200 trials of 100 moves, with the paper's reward, which counts moves. The figures above show how the reward rises. \"tuned by seconds\" is `-tune=ei` of isingmc: 16 s of trials, whose reward is the number of effective samples of the energy per second. Each sampler then has a burn-in of 1.5 s, and is measured for 2.5 s, on the RBM for 5 s. The samplers of a system run in turns, except for the sampler tuned as in the paper. On the RBM, Gibbs is block Gibbs.\n\n" +
		"Tuning by seconds keeps the initial settings, unless others are better by more than 2 standard errors in its final trials. If it keeps them, its run and that of \"untuned\" have the same settings, and differ only by chance. ")
	for i, r := range rows {
		if kept := t.At(keptPanel, tuned, float64(i)); len(kept) > 0 {
			mean, _ := kept.Average()
			fmt.Fprintf(&b, "On %s it kept them in %.0f of %d runs. ", "the "+r.name, mean*float64(len(kept)), len(kept))
		}
	}
	b.WriteString("\n\nτ of a run uses the mean of that run. Therefore a chain that stays in one mode for the whole run looks fast, and a chain that changes modes looks slow. The last column is the largest number of independent energies per second among the runs, divided by the smallest. If it is large, the numbers show this effect more than the speed of the sampler.\n\n" +
		"| system | sampler | τ, moves | independent energies per second | largest over smallest |\n| --- | --- | --- | --- | --- |\n")
	for i, r := range rows {
		for _, c := range curves {
			tau, worth := logsAt(t, tauPanel, c, i), logsAt(t, worthPanel, c, i)
			if x := slices.Collect(maps.Values(worth)); len(tau) > 1 {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.name, c, chains.Factor(tau), chains.Factor(worth), chains.Digits(math.Exp(slices.Max(x)-slices.Min(x))))
			}
		}
	}
	return b.String()
}

// programs has the program isingmc, and the RBM, which is read or trained once.
type programs struct {
	runs program.Runs

	model   string
	load    sync.Once
	machine *rbm.RBM
	loadErr error
}

func newPrograms() *programs { return &programs{runs: program.Runs{Commands: []string{"isingmc"}}} }

// isingmc runs isingmc and returns the results of the samplers, and whether tuning kept the
// initial settings.
func (p *programs) isingmc(ctx context.Context, args ...string) (samplers []result, kept bool, err error) {
	var all struct {
		Samplers []result `json:"samplers"`
		Policy   struct {
			Untuned bool `json:"untuned"`
		} `json:"policy"`
	}
	_, err = p.runs.Call(ctx, &all, "isingmc", append(args, "-json")...)
	return all.Samplers, all.Policy.Untuned, err
}

// A result has the numbers that are used here of the JSON output of isingmc about a sampler.
type result struct {
	Sampler string   `json:"sampler"`
	Tau     *float64 `json:"tau_int"`
	Worth   *float64 `json:"effective_samples_per_second"`
}

// race tunes SARDONICS on a row by both protocols, and compares the results with the
// other samplers.
func (p *programs) race(ctx context.Context, r row, at, seed int, quick bool) ([]claims.Point, error) {
	system := slices.Clone(r.flags)
	switch {
	case system != nil:
	case r.lattice != "":
		file, err := r.file(ctx, p, quick)
		if err != nil {
			return nil, err
		}
		defer os.Remove(file)
		system = []string{"-lattice", file, "-beta", fmt.Sprint(r.beta)}
	case p.model == "":
		return nil, errNoModel
	default:
		system = []string{"-model", p.model}
	}
	times := []string{"-seconds", "2.5", "-burn", "0.6"}
	if r.lattice == "" {
		times = []string{"-seconds", "5", "-burn", "0.3"} // τ is longer
	}
	ei, paper := "-tune=ei:of=energy:seconds=16", "-tune=paper"
	table := r.tableII(true, true)
	if quick {
		for i, word := range system {
			system[i] = cmp.Or(small[word], word)
		}
		times = []string{"-seconds", "0.02"}
		ei, paper = "-tune=ei:of=energy:seconds=0.03:evaluations=6:k=1-7", "-tune=paper:evaluations=6:moves=10:k=1-7"
		table = "sardonics:k=2-7:gamma=1.02:walks=2:mix=1/0/0"
	}
	args := append(slices.Concat(system, times), "-seed", strconv.Itoa(seed))
	names := []string{tuned, untuned, tableII, gibbs, clusters}
	settings := untunedSettings
	if quick {
		settings = "k=1-8:gamma=1.02:walks=1:mix=1/0/0"
	}
	samplers := append([]string{"sardonics", "sardonics:" + settings, table}, r.others...)
	first, kept, err := p.isingmc(ctx, append(args, "-sampler", strings.Join(samplers, ","), ei)...)
	if err != nil {
		return nil, err
	}
	second, _, err := p.isingmc(ctx, append(args, "-sampler", "sardonics", paper)...)
	if err != nil {
		return nil, err
	}
	names = append(names[:len(first)], byPaper)
	points := []claims.Point{{Panel: keptPanel, Curve: tuned, Repeat: seed, X: float64(at), Y: map[bool]float64{true: 1}[kept]}}
	for i, s := range append(first, second...) {
		if s.Tau == nil || s.Worth == nil || *s.Worth == 0 {
			return nil, fmt.Errorf("%s on %s: the energy never changed", s.Sampler, r.name)
		}
		points = append(points,
			claims.Point{Panel: tauPanel, Curve: names[i], Repeat: seed, X: float64(at), Y: *s.Tau},
			claims.Point{Panel: worthPanel, Curve: names[i], Repeat: seed, X: float64(at), Y: *s.Worth})
	}
	return points, nil
}

// file writes the couplings and fields of the system to a temporary file that isingmc reads.
func (s system) file(ctx context.Context, p *programs, quick bool) (string, error) {
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "lattice")
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	for i := range c.graph.Len() {
		if h := c.graph.Field(i); h != 0 {
			fmt.Fprintf(w, "%d %v\n", i, h)
		}
		neighbors, couplings := c.graph.Neighbors(i)
		for k, j := range neighbors {
			if int(j) > i {
				fmt.Fprintf(w, "%d %d %v\n", i, j, couplings[k])
			}
		}
	}
	return f.Name(), errors.Join(w.Flush(), f.Close())
}
