package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/training"
	"gorbm/rbm"
)

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
	byPaper    = "tuned as in the paper"
	untuned    = "untuned"
	tableII    = "settings of Table II"
	gibbs      = "Gibbs"
	clusters   = "Swendsen–Wang"
	tauPanel   = "τ"
	worthPanel = "worth" // independent energies per second
)

var curves = []string{byPaper, untuned, tableII, gibbs, clusters}

// untunedSettings are the defaults of isingmc. They set all settings, so that nothing is tuned.
const untunedSettings = "k=1-25:gamma=1.02:walks=1:mix=1/0/0"

func tuning(p *programs) figures.Figure {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return figures.Figure{
		Name: "II", Flags: "-model FILE",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			var last []figures.Job // those that need -model
			for seed := 1; seed <= o.Seeds(3, heavyRepeats); seed++ {
				for i, r := range rows {
					j := figures.Job{Name: fmt.Sprintf("%s, seed %d", r.name, seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
						return p.race(ctx, r, float64(i), seed, o.Quick, add)
					}}
					switch {
					case seed > r.seeds:
					case r.lattice != "":
						jobs = append(jobs, j)
					case !o.Quick:
						last = append(last, j)
					}
				}
			}
			return append(jobs, last...)
		},
		Claims: tuningClaims,
		Draw: figures.Curves(2, curves,
			figures.Panel{Name: tauPanel, Title: "integrated autocorrelation time of the energy", Y: "moves", LogY: true, Geometric: true, Words: names},
			figures.Panel{Name: worthPanel, Title: "independent energies", Y: "per second", LogY: true, Geometric: true, Words: names}),
		Table: func(t *figures.Table) string {
			var lines []figures.Line
			for i, r := range rows {
				for _, c := range curves {
					lines = append(lines, figures.Line{Words: []string{r.name, c}, Curve: c, X: float64(i)})
				}
			}
			return t.Markdown([]string{"system", "sampler"}, lines, []figures.Column{
				{Title: "τ, moves", Panel: tauPanel, Write: figures.Factor},
				{Title: "independent energies per second", Panel: worthPanel, Write: figures.Factor},
				{Title: "largest over smallest", Panel: worthPanel, Write: func(r figures.Repeats) string {
					x := slices.Sorted(maps.Values(r))
					return figures.Digits(x[len(x)-1] / x[0])
				}},
			})
		},
	}
}

func tuningClaims(t *figures.Table) (all []figures.Claim) {
	for i, r := range rows {
		at := func(panel, curve string) figures.Repeats { return t.At(panel, curve, float64(i)).Logs() }
		tau := func(curve string) figures.Repeats { return at(tauPanel, curve) }
		worth := func(curve string) figures.Repeats { return at(worthPanel, curve) }
		if len(tau(byPaper)) == 0 {
			continue
		}
		all = append(all,
			figures.Smaller(r.name+": tuned as in the paper, τ in moves is shorter than untuned", tau(byPaper), tau(untuned)),
			figures.NotLess(r.name+": tuned as in the paper, τ in moves is not longer than with the settings of Table II", tau(tableII), tau(byPaper)).Aside(),
			figures.Larger(r.name+": tuned as in the paper gives more independent energies per second than untuned", worth(byPaper), worth(untuned)).InOtherUnit())
		if len(worth(gibbs)) > 0 {
			all = append(all, figures.Larger(r.name+": tuned as in the paper gives more independent energies per second than Gibbs", worth(byPaper), worth(gibbs)).InOtherUnit())
		}
	}
	return all
}

// programs has the program isingmc, and the RBM, which is read or trained once.
type programs struct {
	commands training.Commands
	model    string

	load    sync.Once
	machine *rbm.RBM
	loadErr error
}

// isingmc runs isingmc and returns the results of the samplers.
func (p *programs) isingmc(ctx context.Context, args ...string) ([]result, error) {
	var all struct {
		Samplers []result `json:"samplers"`
	}
	_, err := p.commands.Call(ctx, &all, "isingmc", append(args, "-json")...)
	return all.Samplers, err
}

// A result has the numbers that are used here of the JSON output of isingmc about a sampler.
type result struct {
	Sampler string   `json:"sampler"`
	Tau     *float64 `json:"tau_int"`
	Worth   *float64 `json:"effective_samples_per_second"`
}

// race tunes SARDONICS on a row, and compares the result with the other samplers.
func (p *programs) race(ctx context.Context, r row, at float64, seed int, quick bool, add figures.Add) error {
	system := slices.Clone(r.flags)
	switch {
	case system != nil:
	case r.lattice != "":
		file, err := r.file(ctx, p, quick)
		if err != nil {
			return err
		}
		defer os.Remove(file)
		system = []string{"-lattice", file, "-beta", fmt.Sprint(r.beta)}
	case p.model == "":
		return errors.New("give the RBM by -model")
	default:
		system = []string{"-model", p.model}
	}
	times := []string{"-seconds", "2.5", "-burn", "0.6"}
	if r.lattice == "" {
		times = []string{"-seconds", "5", "-burn", "0.3"} // τ is longer
	}
	paper := "-tune=paper"
	table := r.tableII(true, true)
	if quick {
		for i, word := range system {
			system[i] = cmp.Or(small[word], word)
		}
		times = []string{"-seconds", "0.02"}
		paper = "-tune=paper:evaluations=6:moves=10:k=1-7"
		table = "sardonics:k=2-7:gamma=1.02:walks=2:mix=1/0/0"
	}
	args := append(slices.Concat(system, times), "-seed", strconv.Itoa(seed))
	names := []string{untuned, tableII, gibbs, clusters}
	settings := untunedSettings
	if quick {
		settings = "k=1-8:gamma=1.02:walks=1:mix=1/0/0"
	}
	samplers := append([]string{"sardonics:" + settings, table}, r.others...)
	first, err := p.isingmc(ctx, append(args, "-sampler", strings.Join(samplers, ","))...)
	if err != nil {
		return err
	}
	second, err := p.isingmc(ctx, append(args, "-sampler", "sardonics", paper)...)
	if err != nil {
		return err
	}
	names = append(names[:len(first)], byPaper)
	for i, s := range append(first, second...) {
		if s.Tau == nil || s.Worth == nil || *s.Worth == 0 {
			return fmt.Errorf("%s on %s: the energy never changed", s.Sampler, r.name)
		}
		add(tauPanel, names[i], at, *s.Tau)
		add(worthPanel, names[i], at, *s.Worth)
	}
	return nil
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
