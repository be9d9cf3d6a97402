package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/figures"
	"gorbm/negphase/mcmc"
	"gorbm/negphase/tune"
	"gorbm/rbm"
)

// Curves of the contests, in addition to those of figure II.
const (
	sardonics = "SARDONICS"
	oneSite   = "Gibbs, a site a move"
	manySites = "Gibbs, 40 sites a move"
	sweeps    = "Gibbs, a sweep a move"
	blocks    = "block Gibbs"
)

var contestants = []string{sardonics, sweeps, clusters, blocks, oneSite, manySites}

// Units of cost, and panels in addition to those of package chains. Flips are updates of sites, or proposed flips of walks.
const (
	moves      = "moves"
	flips      = "flips"
	seconds    = "seconds"
	tracePanel = "energies"
	reward     = "rewards"
	flipsPanel = "flips a move"
	tunePanel  = "seconds of tuning"
	filePanel  = "model of a file" // 1 if -model names the RBM
)

// The protocol of the paper's section 5.
const (
	contestMoves = 100_000 // moves of each sampler
	contestBurn  = 0.2     // fraction of the moves that SARDONICS uses for tuning and the others discard
	paperSites   = 40      // updates of Gibbs in the time of a move of SARDONICS, by the paper's Table III
	mostLag      = 500.    // largest lag in moves, as in the paper's pictures
	rewardBlock  = 10      // number of trials over which rewards are averaged
	firstTrials  = 20      // number of first trials in claims about rewards
	lastTrials   = 50      // number of last trials in these claims
	frozenMoves  = 300     // moves of Swendsen–Wang on the RBM, some 3 ms each
)

// A contest is a figure in which each sampler makes the same number of moves from a random state.
type contest struct {
	name, flags string
	systems     []system
	rewards     bool // show the rewards of tuning
	alone       bool // run SARDONICS alone, as in the paper's picture
	repeats     int
	claims      func(s system, t *figures.Table) []figures.Claim
	more        func(t *figures.Table) []figures.Claim // claims about several systems; nil: none
}

// has reports whether t has runs on the system.
func (s system) has(t *figures.Table) bool { return t.Has(s.Panel(chains.Tau + moves)) }

func (c contest) figure(p *programs) figures.Figure {
	return figures.Figure{
		Name: c.name, Flags: c.flags,
		Jobs: func(o figures.Options) []figures.Job {
			return chains.Repeated(c.systems, o.Seeds(3, c.repeats), func(ctx context.Context, s system, seed int, add figures.Add) error {
				return s.contest(ctx, p, seed, c.alone, o.Quick, s.Adder(add))
			})
		},
		Claims: func(t *figures.Table) (all []figures.Claim) {
			for _, s := range c.systems {
				if s.has(t) && c.claims != nil {
					all = append(all, c.claims(s, t)...)
				}
			}
			if c.more != nil {
				all = append(all, c.more(t)...)
			}
			return all
		},
		Draw: func(w io.Writer, t *figures.Table) error {
			var panels []figures.Panel
			for _, s := range c.systems {
				panels = append(panels, s.Rho(chains.Rho+moves, "autocorrelation of the energy", "lag / moves", false))
				if !c.alone {
					panels = append(panels, s.Rho(chains.Rho+flips, "by flips", "lag / flips", true), s.Rho(chains.Rho+seconds, "by time", "lag / s", true))
				}
				panels = append(panels, figures.Panel{Name: s.Panel(tracePanel), Title: s.Panel("energies of a run"), X: "moves", Y: "energy / site", LogX: true})
				if c.rewards {
					panels = append(panels, figures.Panel{Name: s.Panel(reward), Title: s.Panel("rewards of tuning"), X: "trials", Y: "1 − |ρ|"})
				}
			}
			across := 2
			if c.rewards {
				across = 3
			}
			return figures.Curves(across, contestants, panels...)(w, t)
		},
		Table: func(t *figures.Table) string {
			var lines []figures.Line
			var b strings.Builder
			for _, s := range c.systems {
				for _, name := range contestants {
					lines = append(lines, figures.Line{Words: []string{string(s.Label), name}, Prefix: s.Panel(""), Curve: name})
				}
				s.remarks(&b, t)
			}
			return t.Markdown([]string{"system", "sampler"}, lines, []figures.Column{
				{Title: "flips per move", Panel: flipsPanel, Write: figures.Short},
				{Title: "µs per move", Panel: chains.Micro, Write: figures.Short},
				{Title: "τ / moves", Panel: chains.Tau + moves, Write: figures.Factor},
				{Title: "τ / flips", Panel: chains.Tau + flips, Write: figures.Factor},
				{Title: "τ / s", Panel: chains.Tau + seconds, Write: figures.Factor},
				{Title: "independent energies per second", Panel: chains.Gain, Write: figures.Factor},
				{Title: "energy / site", Panel: chains.Mean, Write: figures.Accurate(5)},
				{Title: "standard deviation", Panel: chains.Spread, Write: figures.Mean(5)},
			}) + b.String()
		},
	}
}

// contest tunes SARDONICS on the system from a random state. It then runs SARDONICS and, unless alone is set, the other
// samplers.
func (s system) contest(ctx context.Context, p *programs, seed int, alone, quick bool, add figures.Add) error {
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return err
	}
	start, err := s.random(c, seed)
	if err != nil {
		return err
	}
	key := rbm.NewKey(uint64(seed))
	runtime.LockOSThread() // the clock is that of the thread
	defer runtime.UnlockOSThread()
	begin := cli.ThreadTime()
	tuned, state, err := s.tune(ctx, c, start, quick, key.Child(1))
	if err != nil {
		return err
	}
	add(tunePanel, sardonics, 0, (cli.ThreadTime() - begin).Seconds())
	rewards := make([]float64, len(tuned.Trials))
	for i, trial := range tuned.Trials {
		rewards[i] = trial.Reward
	}
	for k := rewardBlock; k <= len(rewards); k += rewardBlock {
		add(reward, sardonics, float64(k), stat.Mean(rewards[k-rewardBlock:k], nil))
	}
	made := contestMoves
	if quick {
		made = 400
	}
	burn := int(contestBurn * float64(made))
	samplers := []chains.Sampler{{Name: sardonics, Mover: mcmc.Mixture(tuned.Kernels), System: chains.Onto(c.build, state), Moves: made - burn}}
	if !alone {
		for _, o := range []chains.Sampler{{Name: sweeps, Mover: mcmc.Gibbs{}}, {Name: clusters, Mover: mcmc.SwendsenWang{}}, {Name: oneSite, Mover: heatBath{1}}, {Name: manySites, Mover: heatBath{paperSites}}} {
			build := c.build
			if o.Moves = made; o.Name == clusters {
				build = c.ising
				if c.hidden > 0 {
					o.Moves = min(made, frozenMoves)
				}
			}
			o.System = chains.Onto(build, start)
			samplers = append(samplers, o)
		}
		if c.hidden > 0 {
			samplers = append(samplers, chains.Sampler{Name: blocks, Mover: mcmc.BlockGibbs{}, System: chains.Onto(c.build, start), Moves: made})
		}
	}
	if c.hidden > 0 {
		add(filePanel, sardonics, 0, map[bool]float64{true: 1}[p.model != ""])
	}
	// Swendsen–Wang runs on the Ising system of an RBM, whose energies lack a constant.
	offset := chains.Onto(c.build, start).Energy() - chains.Onto(c.ising, start).Energy()
	runs, err := chains.Race(ctx, samplers, s.beta, math.Inf(1), key.Child(2))
	for _, r := range runs {
		if r.Name == clusters {
			floats.AddConst(offset, r.Energies)
		}
		// The moves of SARDONICS count from the first one of its tuning.
		burnt, before := int(contestBurn*float64(len(r.Energies))), 0
		if r.Name == sardonics {
			burnt, before = 0, burn
		}
		measure(add, r, burnt, float64(len(start)))
		if seed == 1 {
			for _, at := range traceAt(before, len(r.Energies)) {
				add(tracePanel, r.Name, float64(before+at+1), r.Energies[at]/float64(len(start)))
			}
		}
	}
	return err
}

// traceAt returns the indices, among n energies, that a picture with a logarithmic axis shows. before is the number of moves
// before the first energy.
func traceAt(before, n int) (at []int) {
	for _, x := range chains.Log(float64(before+1), float64(before+n), 80) {
		if k := min(int(x)-before-1, n-1); len(at) == 0 || k > at[len(at)-1] {
			at = append(at, k)
		}
	}
	return at
}

// A heatBath is a Gibbs sampler whose move updates the given number of random sites. With one site it is the Gibbs
// sampler of the paper's authors.
type heatBath struct{ updates int }

// Bind implements mcmc.Mover. It ignores the list of sites: each update draws its site from all of them.
func (h heatBath) Bind(s mcmc.System, beta float64, _ []int32) (mcmc.Chain, error) {
	return &heatBathChain{h.updates, s, beta}, nil
}

type heatBathChain struct {
	updates int
	system  mcmc.System
	beta    float64
}

// Move implements mcmc.Chain.
func (c *heatBathChain) Move(r *rand.Rand) mcmc.Info {
	info := mcmc.Info{Moves: 1, Updates: int64(c.updates)}
	for range c.updates {
		site := r.IntN(c.system.Len())
		if r.Float64() < 1/(1+math.Exp(c.beta*c.system.FlipCost(site))) {
			c.system.Flip(site)
			info.Flips++
		}
	}
	return info
}

// Reset implements mcmc.Chain. The chain has no caches.
func (c *heatBathChain) Reset() {}

// measure adds the points of a run on the given number of sites. It discards the first burnt energies. Autocorrelations at lags
// above a tenth of the run are too noisy.
func measure(add figures.Add, r chains.Run, burnt int, sites float64) {
	made := float64(len(r.Energies))
	cost := sites
	switch r.Name {
	case sweeps, oneSite, manySites:
		cost = float64(r.Info.Updates) / made
	case clusters, blocks: // a move updates all sites
	default:
		cost = float64(r.Info.Flips) / made
	}
	lags := []float64{1}
	for lag := 10.; lag <= mostLag; lag += 10 {
		lags = append(lags, lag)
	}
	units := []chains.Unit{{Name: moves, Cost: 1, Lags: lags}, {Name: flips, Cost: cost, Lags: chains.Log(1, 1e8, 40)}, {Name: seconds, Cost: r.Seconds / made, Lags: chains.Log(1e-6, 1, 40)}}
	switch r.Name {
	case sweeps: // a sweep is not a move of the paper
		units[0].Lags = nil
	case oneSite: // the run is too short for the lags
		units[1].Lags, units[2].Lags = nil, nil
	}
	chains.Measure(add, r, burnt, sites, 1, 0.1, units...)
	add(flipsPanel, r.Name, 0, cost)
}

// tune tunes SARDONICS as in the paper. On the RBM it does not tune the number of walks, which is 1 in each half of a move,
// nor the proportions of the kinds of moves: all moves have the first bias in both halves. It returns the last state of its
// chain, from which sampling continues.
func (s system) tune(ctx context.Context, c copies, start []uint8, quick bool, key rbm.Key) (*tune.Result, []uint8, error) {
	base, lengths, options := mcmc.DefaultSardonics(), [2]int{}, tune.DefaultOptions()
	var held []string
	if c.hidden > 0 {
		held = []string{"walks", "mix"}
	}
	if quick {
		lengths = [2]int{1, 7}
		options.Evaluations, options.Moves, options.Kernels = 10, 10, 10
		base.MaxLength = 7
	}
	space, err := tune.NewSpace(base, held, len(start), lengths)
	if err != nil {
		return nil, nil, err
	}
	var chain mcmc.System // the protocol makes only one system
	problem := &tune.Problem{
		Space: space, Beta: s.beta, Start: start, Key: key,
		NewSystem: func(state []uint8) mcmc.System { chain = chains.Onto(c.build, state); return chain },
	}
	result, err := problem.Tune(ctx, options, func(float64) {})
	if err != nil {
		return nil, nil, err
	}
	return result, slices.Clone(chain.State()), nil
}

// remarks writes reasons not to trust numbers of a system.
func (s system) remarks(b *strings.Builder, t *figures.Table) {
	mean := func(panel, curve string) float64 { return s.At(t, panel, curve).Mean() }
	if mean(filePanel, sardonics) < 1 {
		b.WriteString("\nThe RBM was trained on the built-in digits, because `-model` gave no file.\n")
	}
	// Gibbs with few sites per move does not reach equilibrium in these runs.
	settled := []string{sardonics, sweeps, blocks, clusters}
	if s.lattice == "" {
		settled = settled[:3]
		fmt.Fprintf(b, "\nSwendsen–Wang makes %d moves here, at %.1f ms each, and stays near the energy of the random state: %.2f per unit, where block Gibbs has %.2f. Its τ is therefore meaningless.\n",
			frozenMoves, mean(chains.Micro, clusters)/1000, mean(chains.Mean, clusters), mean(chains.Mean, blocks))
	}
	for _, curve := range contestants {
		runs, frozen := s.At(t, chains.Spread, curve), 0
		for _, sd := range runs {
			frozen += map[bool]int{true: 1}[sd == 0]
		}
		if frozen > 0 {
			fmt.Fprintf(b, "\n%s: in %d of %d runs the energy of %s never changed. In these runs ρ counts as 1.\n", s.Label, frozen, len(runs), curve)
		}
	}
	s.Apart(b, t, settled)
}
