package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/clock"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/negphase/tune"
	"gorbm/rbm"
)

// Curves and panels of the contests, besides those of figure II.
const (
	sardonics  = "SARDONICS"
	blocks     = "block Gibbs"
	rhoMoves   = "ρ by moves"
	rhoSeconds = "ρ by seconds"
	tracePanel = "energies"
	reward     = "rewards"
	tauMoves   = "τ in moves"
	tauUpdates = "τ in updates" // of one site
	tauSeconds = "τ in seconds"
	gainPanel  = "independent energies a second"
	meanPanel  = "mean energy"
	sdPanel    = "spread of energies"
	microPanel = "µs a move"
	tunePanel  = "seconds of tuning"
	filePanel  = "model of a file" // 1 if -model gave it
)

var contestants = []string{sardonics, gibbs, clusters, blocks}

const (
	contestBurn = 0.2  // of a run, as the paper discards 2·10⁴ of 10⁵ samples
	mostLag     = 500. // moves, as in the paper's pictures
	traceMoves  = 2000 // the last ones of the first run
	tracePoints = 100  // of them
	rewardBlock = 10   // trials whose rewards are averaged
)

// A contest is a figure in which samplers run on systems for as much time each.
type contest struct {
	name, title, says, flags string
	systems                  []system
	rewards                  bool // shown
	repeats                  int
	claims                   func(s system, t *claims.Table) []claims.Claim
	more                     func(t *claims.Table) []claims.Claim // over several systems; nil: none
}

// has reports whether t has runs on the system.
func (s system) has(t *claims.Table) bool { return len(t.Curves(s.Panel(tauMoves))) > 0 }

func (c contest) figure(p *programs) claims.Figure {
	return claims.Figure{
		Name: c.name, Title: c.title, Says: c.says, Flags: c.flags,
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range o.Seeds(3, c.repeats) {
				for _, s := range c.systems {
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, seed %d", s.Label, repeat+1),
						Run:  func(ctx context.Context) ([]claims.Point, error) { return s.contest(ctx, p, repeat+1, o.Quick) },
					})
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, s := range c.systems {
				if s.has(t) {
					all = append(all, c.claims(s, t)...)
				}
			}
			if c.more != nil {
				all = append(all, c.more(t)...)
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var panels []claims.Panel
			across := 3
			for _, s := range c.systems {
				panels = append(panels,
					s.Rho(rhoMoves, "autocorrelation of the energy", "lag / moves", false), s.Rho(rhoSeconds, "for equal computing time", "lag / s", true),
					claims.Panel{Name: s.Panel(tracePanel), Title: s.Panel("energies of a run"), X: "last moves", Y: "energy / site"})
				if c.rewards {
					across = 2
					panels = append(panels, claims.Panel{Name: s.Panel(reward), Title: s.Panel("rewards of tuning"), X: "trials", Y: "1 − |ρ|"})
				}
			}
			return claims.Curves(w, t, across, panels, contestants)
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			b.WriteString("| system | sampler | µs a move | τ / moves | τ / s | independent energies a second | energy / site | standard deviation |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
			for _, s := range c.systems {
				s.table(&b, t)
			}
			for _, s := range c.systems {
				s.remarks(&b, t)
			}
			return b.String()
		},
	}
}

// adder returns what adds points of the system, those of finite numbers.
func (s system) adder(points *[]claims.Point, seed int) func(panel, curve string, x, y float64) {
	return func(panel, curve string, x, y float64) {
		if finite(y) {
			*points = append(*points, claims.Point{Panel: s.Panel(panel), Curve: curve, Repeat: seed, X: x, Y: y})
		}
	}
}

// contest tunes SARDONICS on the system and runs it against the others.
func (s system) contest(ctx context.Context, p *programs, seed int, quick bool) (points []claims.Point, err error) {
	add := s.adder(&points, seed)
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return nil, err
	}
	start, err := s.start(c, seed)
	if err != nil {
		return nil, err
	}
	key := rbm.NewKey(uint64(seed))
	begin := clock.Now()
	tuned, err := s.tune(ctx, c, start, quick, key.Child(1))
	if err != nil {
		return nil, err
	}
	add(tunePanel, sardonics, 0, (clock.Now() - begin).Seconds())
	for k := rewardBlock; k <= len(tuned.Trials); k += rewardBlock {
		sum := 0.
		for _, trial := range tuned.Trials[k-rewardBlock : k] {
			sum += trial.Reward
		}
		add(reward, sardonics, float64(k), sum/rewardBlock)
	}
	samplers := []chains.Sampler{{Name: sardonics, Mover: mcmc.Mixture(tuned.Kernels)}, {Name: gibbs, Mover: mcmc.Gibbs{}}, {Name: clusters, Mover: mcmc.SwendsenWang{}}}
	if c.hidden > 0 {
		samplers = append(samplers, chains.Sampler{Name: blocks, Mover: mcmc.BlockGibbs{}})
		add(filePanel, sardonics, 0, map[bool]float64{true: 1}[p.model != ""])
	}
	seconds := s.seconds
	if quick {
		seconds = 0.005
	}
	err = s.race(ctx, c, start, samplers, seconds, key.Child(2), add, seed == 1)
	return points, err
}

// race runs samplers from a state of the system for this many seconds each, and adds what is measured.
func (s system) race(ctx context.Context, c copies, start []uint8, samplers []chains.Sampler, seconds float64, key rbm.Key, add func(panel, curve string, x, y float64), trace bool) error {
	for i := range samplers {
		build := c.build
		if samplers[i].Name == clusters {
			build = c.ising
		}
		samplers[i].System = chains.Onto(build, start)
	}
	// The energies of an RBM as an Ising system differ by a constant.
	offset := chains.Onto(c.build, start).Energy() - chains.Onto(c.ising, start).Energy()
	runs, err := chains.Race(ctx, samplers, s.beta, seconds, key)
	for _, r := range runs {
		if r.Name == clusters {
			floats.AddConst(offset, r.Energies)
		}
		measure(add, r, float64(len(start)), trace)
	}
	return err
}

// measure adds the points of a run on the given number of sites.
func measure(add func(panel, curve string, x, y float64), r chains.Run, sites float64, trace bool) {
	energies := r.After(contestBurn)
	moves := make([]float64, 0, 51)
	for lag := 0.; lag <= mostLag; lag += 10 {
		moves = append(moves, max(1, lag))
	}
	chains.Decay(energies, moves, 1, func(lag, rho float64) { add(rhoMoves, r.Name, lag, rho) })
	perMove := r.Seconds / float64(len(r.Energies))
	chains.Decay(energies, chains.Log(1e-5, 0.3, 40), perMove, func(lag, rho float64) { add(rhoSeconds, r.Name, lag, rho) })
	if last := r.Energies[max(0, len(r.Energies)-traceMoves):]; trace {
		for k := range tracePoints {
			add(tracePanel, r.Name, float64(k*traceMoves/tracePoints), last[k*len(last)/tracePoints]/sites)
		}
	}
	tau := diag.Summarize(energies).Time.Tau
	if math.IsInf(tau, 1) { // the energy never changed
		tau = float64(len(energies))
	}
	add(tauMoves, r.Name, 0, tau)
	if r.Name == gibbs {
		add(tauUpdates, r.Name, 0, tau*sites)
	}
	add(tauSeconds, r.Name, 0, tau*perMove)
	add(gainPanel, r.Name, 0, 1/(2*tau*perMove))
	mean, sd := stat.MeanStdDev(energies, nil)
	add(meanPanel, r.Name, 0, mean/sites)
	add(sdPanel, r.Name, 0, sd/sites)
	add(microPanel, r.Name, 0, 1e6*perMove)
}

// tune tunes SARDONICS as in the paper, on the RBM by pairs of walks alone.
func (s system) tune(ctx context.Context, c copies, start []uint8, quick bool, key rbm.Key) (*tune.Result, error) {
	base, limits, options := mcmc.DefaultSardonics(), tune.Limits{}, tune.DefaultOptions(tune.Paper)
	var held []string
	if c.hidden > 0 {
		held = []string{"walks", "mix"}
	}
	if quick {
		limits.Length = [2]int{1, 7}
		options.Evaluations, options.Moves, options.Kernels = 10, 10, 10
		base.MaxLength = 7
	}
	space, err := tune.NewSpace(base, held, len(start), limits, true)
	if err != nil {
		return nil, err
	}
	problem := &tune.Problem{
		Space: space, Beta: s.beta, Start: start, Key: key, Clock: clock.Now, Hidden: c.hidden, Symmetric: c.symmetric,
		NewSystem: func(state []uint8) mcmc.System { return chains.Onto(c.build, state) },
	}
	return problem.Tune(ctx, options, func(float64) {})
}

// table writes the numbers of a system as rows.
func (s system) table(b *strings.Builder, t *claims.Table) {
	for _, c := range contestants {
		mean := s.At(t, meanPanel, c)
		if len(mean) < 2 {
			continue
		}
		energy, sd := mean.Average()
		geometric := func(panel string) string {
			if l := s.Logs(t, panel, c); len(l) > 1 {
				return chains.Factor(l)
			}
			return "?"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %.5f ± %.5f | %.5f |\n", s.Label, c, chains.Digits(s.Mean(t, microPanel, c)), geometric(tauMoves), geometric(tauSeconds), geometric(gainPanel),
			energy, sd/math.Sqrt(float64(len(mean))), s.Mean(t, sdPanel, c))
	}
}

// remarks says what makes the numbers of a system poor ones.
func (s system) remarks(b *strings.Builder, t *claims.Table) {
	if len(s.At(t, filePanel, sardonics)) > 0 && s.Mean(t, filePanel, sardonics) < 1 {
		b.WriteString("\nThe RBM was trained on the built-in digits, as no file was given by `-model`.\n")
	}
	s.Apart(b, t, meanPanel, contestants)
}
