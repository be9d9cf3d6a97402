// Intracluster reproduces the figures of "Intracluster Moves for Constrained Discrete-Space
// MCMC" (Hamze & de Freitas 2010).
//
//	go run ./experiments/intracluster -figure 2
//	go run ./experiments/intracluster -figure 4 -model FILE
//
// FILE is an RBM of 784 × 500 units. The committed figures use the RBM of the paper's authors.
// Results are in README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/figures"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

func main() { cli.Main("intracluster", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	model := new(string)
	return experiment(model).Command(func(f *cli.Flags) {
		f.StringVar(model, "model", "", "trained RBM for the second half of figure 4, a .npz or .safetensors file; its runs come last")
	})(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(model *string) figures.Experiment {
	return figures.Experiment{
		Name: "intracluster", Title: "Intracluster moves",
		Figures: []figures.Figure{figure("2", "", model, ferromagnet), figure("3", "", model, cube), figure("4", "-model FILE", model, filters, trained)},
	}
}

// Curves.
const (
	im       = "IM"
	ours     = "IM, our settings"
	exchange = "exchange"
)

var curves = []string{im, exchange, ours}

// The units of cost: their names in panels, their axis labels and their smallest and largest lags that are drawn, from one move to
// where the autocorrelation has decayed or the run ends. "moves" are moves of IM at the paper's relative speeds.
var units = []struct {
	name, label, claim string
	lo, hi             float64
}{
	{"seconds", "lag / s", "in seconds", 2e-6, 1},
	{"flips", "lag / proposed flips", "in flips", 10, 1e8},
	{"moves", "lag / moves of IM", "at the paper's relative speeds", 1, 1e6},
}

// Panels, in addition to those of package chains. X is seconds in energyPanel, and otherwise 0.
const (
	energyPanel   = "energy"
	paperPanel    = "paper"    // mean energy over the second half of the first moves, as many as in the paper
	acceptedPanel = "accepted" // accepted fraction of the moves, or attempts
)

const (
	seconds = 6. // computing time of each sampler
	burn    = 1. / 3
	relax   = 100 // sweeps of exchange from a random state to the start
)

func figure(name, flags string, model *string, systems ...system) figures.Figure {
	return figures.Figure{
		Name: name, Flags: flags,
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for _, s := range systems {
				if s.Label != trained.Label || !o.Quick {
					jobs = append(jobs, chains.Repeated([]system{s}, o.Seeds(3, s.repeats), func(ctx context.Context, s system, seed int, add figures.Add) error {
						return s.race(ctx, *model, seed, o.Quick, s.Adder(add))
					})...)
				}
			}
			return jobs
		},
		Claims: func(t *figures.Table) (all []figures.Claim) {
			for _, s := range systems {
				if t.Has(s.Panel(chains.Mean)) {
					all = append(all, s.claims(t)...)
				}
			}
			return all
		},
		Draw: func(w io.Writer, t *figures.Table) error {
			var panels []figures.Panel
			for _, s := range systems {
				panels = append(panels, figures.Panel{Name: s.Panel(energyPanel), Title: s.Panel("energy"), X: "processor time / s", Y: "energy / site", LogX: true})
				for _, u := range units {
					if u.name == "moves" {
						u.label += fmt.Sprintf(", or %d attempts", s.attempts/s.moves)
					}
					panels = append(panels, s.Rho(chains.Rho+u.name, "autocorrelation", u.label, true))
				}
			}
			return figures.Curves(2, curves, panels...)(w, t)
		},
		Table: func(t *figures.Table) string {
			var b strings.Builder
			for _, s := range systems {
				if t.Has(s.Panel(chains.Mean)) {
					s.table(&b, t)
				}
			}
			return b.String()
		},
	}
}

// race runs all samplers on the system and adds the points of the figures.
func (s system) race(ctx context.Context, model string, seed int, quick bool, add figures.Add) error {
	build, err := s.build(model, quick)
	if err != nil {
		return err
	}
	n, time, mine := build().Len(), seconds, mcmc.DefaultIntracluster()
	if quick {
		s, time = s.small(n), 0.05
		mine.MaxLength = 5
	}
	key := rbm.NewKey(uint64(seed))
	start, err := chains.Relaxed(build(), mcmc.Exchange{}, s.beta, s.active, relax, key.Child(0))
	if err != nil {
		return err
	}
	var samplers []chains.Sampler
	for i, m := range []mcmc.Mover{s.im, mcmc.Exchange{}, mine} {
		samplers = append(samplers, chains.Sampler{Name: curves[i], Mover: m, System: chains.Onto(build, start)})
	}
	runs, err := chains.Race(ctx, samplers, s.beta, time, key.Child(1))
	if err != nil {
		return err
	}
	for _, r := range runs {
		for _, t := range chains.Log(1e-3, time, 25) {
			add(energyPanel, r.Name, t, r.At(t)/float64(n))
		}
		s.measure(r, n, add)
	}
	return nil
}

// measure adds the numbers of a run on n sites. Exchange records its energy once a sweep, which has n attempts.
func (s system) measure(r chains.Run, n int, add figures.Add) {
	made, attempts, flips, first, worth := float64(len(r.Energies)), 1., float64(r.Info.Flips), s.moves, 1.
	if r.Name == exchange {
		attempts, flips, first = float64(n), 2*float64(r.Info.Updates), s.attempts/n
		worth = attempts * float64(s.moves) / float64(s.attempts)
	}
	var all []chains.Unit
	for i, cost := range []float64{r.Seconds / made, flips / made, worth} {
		u := units[i]
		all = append(all, chains.Unit{Name: u.name, Cost: cost, Lags: chains.Log(u.lo, u.hi, 40)})
	}
	chains.Measure(add, r, int(burn*made), float64(n), attempts, 0.5, all...)
	head := r.Energies[:min(len(r.Energies), max(2, first))]
	add(paperPanel, r.Name, 0, stat.Mean(head[len(head)/2:], nil)/float64(n))
	accepted, _ := r.Info.Acceptance()
	add(acceptedPanel, r.Name, 0, accepted)
}

func (s system) claims(t *figures.Table) (all []figures.Claim) {
	shorter := func(text, unit, curve string) figures.Claim {
		return figures.Smaller(s.Panel(text), s.Logs(t, chains.Tau+unit, curve), s.Logs(t, chains.Tau+unit, exchange)).Times()
	}
	for _, u := range units {
		c := shorter("τ of IM is shorter than that of exchange, "+u.claim, u.name, im)
		if u.name != "moves" {
			c = c.InOtherUnit()
		}
		all = append(all, c)
	}
	all = append(all, shorter("τ of IM with our settings is shorter than that of exchange, in seconds", "seconds", ours).Aside())
	end := fmt.Sprintf("at the end of the paper's runs (IM %d moves, exchange %d attempts)", s.moves, s.attempts)
	compare, text := figures.Larger, "exchange is still above the energies of IM "
	if s.settled {
		compare, text = figures.Alike, "exchange has the energies of IM "
	}
	at := func(panel, curve string) figures.Repeats { return s.At(t, panel, curve) }
	return append(all, compare(s.Panel(text+end), at(paperPanel, exchange), at(paperPanel, im)),
		compare(s.Panel(text+"at equal computing time"), at(chains.Mean, exchange), at(chains.Mean, im)).InOtherUnit())
}

// table writes the numbers of a system.
func (s system) table(b *strings.Builder, t *figures.Table) {
	micro := func(curve string) float64 { return s.At(t, chains.Micro, curve).Mean() }
	fmt.Fprintf(b, "On the %s a move of IM takes as long as %.0f attempts to exchange; in the paper it took as long as %d.\n\n", s.Label, micro(im)/micro(exchange), s.attempts/s.moves)
	var lines []figures.Line
	for _, c := range curves {
		lines = append(lines, figures.Line{Words: []string{c}, Prefix: s.Panel(""), Curve: c})
	}
	short := func(digits string) func(r figures.Repeats) string {
		return func(r figures.Repeats) string { return fmt.Sprintf(digits, r.Mean()) }
	}
	b.WriteString(t.Markdown([]string{"sampler"}, lines, []figures.Column{
		{Title: "accepted", Panel: acceptedPanel, Write: short("%.2g")},
		{Title: "µs per move or attempt", Panel: chains.Micro, Write: short("%.3g")},
		{Title: "τ / s", Panel: chains.Tau + "seconds", Write: figures.Factor},
		{Title: "τ / flips", Panel: chains.Tau + "flips", Write: figures.Factor},
		{Title: "τ / moves at the paper's relative speeds", Panel: chains.Tau + "moves", Write: figures.Factor},
		{Title: "independent energies per second", Panel: chains.Gain, Write: figures.Factor},
		{Title: "energy / site", Panel: chains.Mean, Write: figures.Accurate(5)},
	}))
	s.Apart(b, t, curves)
	b.WriteString("\n")
}
