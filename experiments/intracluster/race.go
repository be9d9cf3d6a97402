package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// Curves.
const (
	im       = "IM"
	ours     = "IM, our settings"
	exchange = "exchange"
)

var curves = []string{im, exchange, ours}

// A unit is a unit of cost for lags and τ.
type unit struct {
	name   string  // follows rhoPanel and tauPanel in the names of panels
	label  string  // axis label
	lo, hi float64 // smallest and largest lag that is drawn
	claim  string
}

// The lags of a panel reach from one move to where the autocorrelation has decayed or the run ends.
var units = []unit{
	{"seconds", "lag / s", 2e-6, 1, "in seconds"},
	{"flips", "lag / proposed flips", 10, 1e8, "in flips"},
	{"moves", "lag / moves of IM", 1, 1e6, "at the paper's relative speeds"},
}

// Panels. X is seconds in energyPanel, a lag in rhoPanel, and otherwise 0. Energies are per site.
const (
	energyPanel   = "energy"
	meanPanel     = "mean"     // mean energy of the run
	paperPanel    = "paper"    // mean energy over the second half of the first moves, as many as in the paper
	acceptedPanel = "accepted" // accepted fraction of the moves, or attempts
	microPanel    = "µs"       // time of a move, or an attempt
	worthPanel    = "worth"    // independent energies per second
	tauPanel      = "τ "       // the name of a unit follows
	rhoPanel      = "ρ "       // the name of a unit follows
)

const (
	seconds = 6. // computing time of each sampler
	burn    = 1. / 3
	relax   = 100 // sweeps of exchange from a random state to the start
)

func figures(model *string) []claims.Figure {
	return []claims.Figure{
		figure("2", "60×60 ferromagnet at half magnetisation", "", model,
			"at the critical temperature IM and exchange explore the same energies, and the autocorrelation of IM falls much faster in computing time.", ferromagnet),
		figure("3", "9×9×9 glass of couplings ±1 with 364 of 729 spins up", "", model,
			"IM mixes considerably faster in computing time, and exchange has not settled into the energies of IM at the end.", cube),
		figure("4", "RBM of 784 × 500 units, a third of them on", "-model FILE", model,
			"IM is markedly superior in computing time: its autocorrelation falls to 0, and exchange has not reached the energies that IM reaches early.", filters, trained),
	}
}

func figure(name, title, flags string, model *string, says string, systems ...system) claims.Figure {
	return claims.Figure{
		Name: name, Title: title, Says: says, Flags: flags,
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for _, s := range systems {
				if s.Label == trained.Label && o.Quick {
					continue
				}
				for repeat := range o.Seeds(3, s.repeats) {
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, seed %d", s.Label, repeat+1),
						Run: func(ctx context.Context) ([]claims.Point, error) {
							return s.race(ctx, *model, repeat+1, o.Quick)
						},
					})
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, s := range systems {
				all = append(all, s.claims(t)...)
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var panels []claims.Panel
			for _, s := range systems {
				if len(t.Curves(s.Panel(meanPanel))) == 0 {
					continue
				}
				panels = append(panels, claims.Panel{Name: s.Panel(energyPanel), Title: s.Panel("energy"), X: "processor time / s", Y: "energy / site", LogX: true})
				for _, u := range units {
					if u.name == "moves" {
						u.label += fmt.Sprintf(", or %d attempts", s.attempts/s.moves)
					}
					panels = append(panels, s.Rho(rhoPanel+u.name, "autocorrelation", u.label, true))
				}
			}
			return claims.Curves(w, t, 2, panels, curves)
		},
		Finding: func(t *claims.Table) string {
			var parts []string
			for _, s := range systems {
				if len(t.Curves(s.Panel(meanPanel))) > 0 {
					faster := func(unit string) string {
						a, _ := s.Logs(t, tauPanel+unit, exchange).Average()
						b, _ := s.Logs(t, tauPanel+unit, im).Average()
						return chains.Digits(math.Exp(a - b))
					}
					parts = append(parts, fmt.Sprintf("on the %s, τ of exchange divided by that of IM is %s in moves (%v attempts count as one move, as in the paper), %s in flips and %s in seconds", s.Label, faster("moves"), s.attempts/s.moves, faster("flips"), faster("seconds")))
				}
			}
			return strings.ToUpper(parts[0][:1]) + strings.Join(parts, "; ")[1:] + "."
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			fmt.Fprintf(&b, "Bands are ± one standard deviation between runs. Each sampler runs for %g s. The first third is discarded, except in the picture of energies. "+
				"τ is the integrated autocorrelation time of the energy, ½ + Σρ. Exchange records its energy once per sweep, which has as many attempts as there are sites. "+
				"Claims compare the natural logarithms of τ: a difference of 0.69 is a factor of 2. Tables have geometric means over the runs; the factor after ×/÷ is one standard error.\n\n", seconds)
			for _, s := range systems {
				s.table(&b, t)
			}
			return b.String()
		},
	}
}

// race runs all samplers on the system and returns the points of the figures.
func (s system) race(ctx context.Context, model string, seed int, quick bool) (points []claims.Point, err error) {
	build, err := s.build(model, quick)
	if err != nil {
		return nil, err
	}
	n, time, mine := build().Len(), seconds, mcmc.DefaultIntracluster()
	if quick {
		s, time = s.small(n), 0.05
		mine.MaxLength = 5
	}
	key := rbm.NewKey(uint64(seed))
	start, err := chains.Relaxed(build(), mcmc.Exchange{}, s.beta, s.active, relax, key.Child(0))
	if err != nil {
		return nil, err
	}
	var samplers []chains.Sampler
	for i, m := range []mcmc.Mover{s.im, mcmc.Exchange{}, mine} {
		samplers = append(samplers, chains.Sampler{Name: curves[i], Mover: m, System: chains.Onto(build, start)})
	}
	runs, err := chains.Race(ctx, samplers, s.beta, time, key.Child(1))
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		points = append(points, s.measure(r, seed, n, time)...)
	}
	return points, nil
}

// measure returns the points of a run on n sites.
func (s system) measure(r chains.Run, seed, n int, time float64) (points []claims.Point) {
	add := func(panel string, x, y float64) {
		points = append(points, claims.Point{Panel: s.Panel(panel), Curve: r.Name, Repeat: seed, X: x, Y: y})
	}
	for _, t := range chains.Log(1e-3, time, 25) {
		add(energyPanel, t, r.At(t)/float64(n))
	}
	// The cost of a move in each unit. A move of exchange is a sweep of n attempts.
	moves, attempts, flips, paper := float64(len(r.Energies)), 1., float64(r.Info.Flips), s.moves
	perMove := 1.
	if r.Name == exchange {
		attempts, flips, paper = float64(n), 2*float64(r.Info.Updates), s.attempts/n
		perMove = attempts * float64(s.moves) / float64(s.attempts)
	}
	cost := []float64{r.Seconds / moves, flips / moves, perMove}
	energies := r.After(burn)
	summary := diag.Summarize(energies)
	for i, u := range units {
		chains.Decay(energies, chains.Log(u.lo, u.hi, 40), cost[i], func(lag, rho float64) { add(rhoPanel+u.name, lag, rho) })
		add(tauPanel+u.name, 0, summary.Time.Tau*cost[i])
	}
	add(meanPanel, 0, stat.Mean(energies, nil)/float64(n))
	first := r.Energies[:min(len(r.Energies), max(2, paper))]
	add(paperPanel, 0, stat.Mean(first[len(first)/2:], nil)/float64(n))
	add(worthPanel, 0, summary.Effective*moves/float64(len(energies))/(r.Seconds))
	add(microPanel, 0, 1e6*r.Seconds/moves/attempts)
	accepted, _ := r.Info.Acceptance()
	add(acceptedPanel, 0, accepted)
	return points
}

func (s system) claims(t *claims.Table) (all []claims.Claim) {
	if len(t.Curves(s.Panel(meanPanel))) == 0 {
		return nil
	}
	for _, u := range units {
		c := claims.Smaller(fmt.Sprintf("%s: τ of IM is shorter than that of exchange, %s", s.Label, u.claim), s.Logs(t, tauPanel+u.name, im), s.Logs(t, tauPanel+u.name, exchange))
		if u.name != "moves" {
			c = c.InOtherUnit()
		}
		all = append(all, c)
	}
	all = append(all, claims.Smaller(s.Panel("τ of IM with our settings is shorter than that of exchange, in seconds"), s.Logs(t, tauPanel+"seconds", ours), s.Logs(t, tauPanel+"seconds", exchange)).Aside())
	end := fmt.Sprintf("at the end of the paper's runs (IM %d moves, exchange %d attempts)", s.moves, s.attempts)
	at := func(panel, curve string) claims.Repeats { return s.At(t, panel, curve) }
	if s.settled {
		return append(all,
			claims.Alike(s.Panel("exchange has the energies of IM ")+end, at(paperPanel, exchange), at(paperPanel, im)),
			claims.Alike(s.Panel("exchange has the energies of IM at equal computing time"), at(meanPanel, exchange), at(meanPanel, im)).InOtherUnit())
	}
	return append(all,
		claims.Larger(s.Panel("exchange is still above the energies of IM ")+end, at(paperPanel, exchange), at(paperPanel, im)),
		claims.Larger(s.Panel("exchange is still above the energies of IM at equal computing time"), at(meanPanel, exchange), at(meanPanel, im)).InOtherUnit())
}

// table writes the numbers of a system.
func (s system) table(b *strings.Builder, t *claims.Table) {
	if len(t.Curves(s.Panel(meanPanel))) == 0 {
		return
	}
	fmt.Fprintf(b, "On the %s a move of IM takes as long as %.0f attempts to exchange; in the paper it took as long as %d.\n\n", s.Label, s.Mean(t, microPanel, im)/s.Mean(t, microPanel, exchange), s.attempts/s.moves)
	b.WriteString("| sampler | accepted | µs per move or attempt | τ / s | τ / flips | τ / moves at the paper's relative speeds | independent energies per second | energy / site |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range curves {
		mean, sd := t.At(s.Panel(meanPanel), c, 0).Average()
		n := float64(len(t.At(s.Panel(meanPanel), c, 0)))
		fmt.Fprintf(b, "| %s | %.2g | %.3g", c, s.Mean(t, acceptedPanel, c), s.Mean(t, microPanel, c))
		for _, p := range []string{tauPanel + "seconds", tauPanel + "flips", tauPanel + "moves", worthPanel} {
			fmt.Fprintf(b, " | %s", chains.Factor(s.Logs(t, p, c)))
		}
		fmt.Fprintf(b, " | %.5f ± %.5f |\n", mean, sd/math.Sqrt(n))
	}
	s.Apart(b, t, meanPanel, curves)
	b.WriteString("\n")
}
