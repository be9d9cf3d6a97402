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
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/negphase/tune"
	"gorbm/rbm"
)

// Curves and panels of the contests, in addition to those of figure II.
const (
	sardonics  = "SARDONICS"
	oneSite    = "Gibbs, a site a move"
	manySites  = "Gibbs, 40 sites a move"
	sweeps     = "Gibbs, a sweep a move"
	blocks     = "block Gibbs"
	rhoMoves   = "ρ by moves"
	rhoFlips   = "ρ by flips"
	rhoSeconds = "ρ by seconds"
	tracePanel = "energies"
	reward     = "rewards"
	tauMoves   = "τ in moves"
	tauFlips   = "τ in flips" // updates of sites, or proposed flips of walks
	tauSeconds = "τ in seconds"
	gainPanel  = "independent energies a second"
	meanPanel  = "mean energy"
	sdPanel    = "spread of energies"
	microPanel = "µs a move"
	flipsPanel = "flips a move"
	tunePanel  = "seconds of tuning"
	filePanel  = "model of a file" // 1 if -model names the RBM
)

var contestants = []string{sardonics, sweeps, clusters, blocks, oneSite, manySites}

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
	name, title, says, flags string
	systems                  []system
	rewards                  bool // show the rewards of tuning
	alone                    bool // run SARDONICS alone, as in the paper's picture
	repeats                  int
	finding                  func(t *claims.Table) string // nil: the finding about the first system
	claims                   func(s system, t *claims.Table) []claims.Claim
	more                     func(t *claims.Table) []claims.Claim // claims about several systems; nil: none
}

// has reports whether t has runs on the system.
func (s system) has(t *claims.Table) bool { return len(t.Curves(s.Panel(tauMoves))) > 0 }

func (c contest) figure(p *programs) claims.Figure {
	return claims.Figure{
		Name: c.name, Title: c.title, Says: c.says, Flags: c.flags,
		Jobs: func(o claims.Options) []claims.Job {
			return repeated(c.systems, o.Seeds(3, c.repeats), func(ctx context.Context, s system, seed int) ([]claims.Point, error) {
				return s.contest(ctx, p, seed, c.alone, o.Quick)
			})
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
				panels = append(panels, s.Rho(rhoMoves, "autocorrelation of the energy", "lag / moves", false))
				if !c.alone {
					panels = append(panels, s.Rho(rhoFlips, "by flips", "lag / flips", true), s.Rho(rhoSeconds, "by time", "lag / s", true))
				}
				panels = append(panels, claims.Panel{Name: s.Panel(tracePanel), Title: s.Panel("energies of a run"), X: "moves", Y: "energy / site", LogX: true})
				if across = 2; c.rewards {
					across = 3
					panels = append(panels, claims.Panel{Name: s.Panel(reward), Title: s.Panel("rewards of tuning"), X: "trials", Y: "1 − |ρ|"})
				}
			}
			return claims.Curves(w, t, across, panels, contestants)
		},
		Finding: func(t *claims.Table) string {
			if c.finding != nil {
				return c.finding(t)
			}
			return c.systems[0].finding(t)
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			b.WriteString("| system | sampler | flips per move | µs per move | τ / moves | τ / flips | τ / s | independent energies per second | energy / site | standard deviation |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
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

// repeated returns jobs for n seeds, from 1, of each system.
func repeated(systems []system, n int, run func(ctx context.Context, s system, seed int) ([]claims.Point, error)) (jobs []claims.Job) {
	for seed := range n {
		for _, s := range systems {
			jobs = append(jobs, claims.Job{
				Name: fmt.Sprintf("%s, seed %d", s.Label, seed+1),
				Run:  func(ctx context.Context) ([]claims.Point, error) { return run(ctx, s, seed+1) },
			})
		}
	}
	return jobs
}

// finding compares the samplers on the system in moves, as in the paper, in flips and in seconds.
func (s system) finding(t *claims.Table) string {
	tau := func(panel, curve string) string { return chains.Typical(s.At(t, panel, curve)) }
	other := fmt.Sprintf("%s by Swendsen–Wang", tau(tauMoves, clusters))
	if s.lattice == "" {
		other = fmt.Sprintf("%s by block Gibbs", tau(tauMoves, blocks))
	}
	gibbsGain, _ := s.Logs(t, gainPanel, sweeps).Average()
	gain, _ := s.Logs(t, gainPanel, sardonics).Average()
	return fmt.Sprintf("τ in moves is %s by SARDONICS and %s; by Gibbs it is %s with one site per move and %s with 40. τ in flips is %s by SARDONICS and %s by sweeps of Gibbs. Sweeps of Gibbs give %s times as many independent energies per second as SARDONICS.",
		tau(tauMoves, sardonics), other, tau(tauMoves, oneSite), tau(tauMoves, manySites), tau(tauFlips, sardonics), tau(tauFlips, sweeps), chains.Digits(math.Exp(gibbsGain-gain)))
}

// adder returns a function that adds points of the system. It leaves out numbers that are not finite.
func (s system) adder(points *[]claims.Point, seed int) func(panel, curve string, x, y float64) {
	return func(panel, curve string, x, y float64) {
		if finite(y) {
			*points = append(*points, claims.Point{Panel: s.Panel(panel), Curve: curve, Repeat: seed, X: x, Y: y})
		}
	}
}

// contest tunes SARDONICS on the system from a random state. It then runs SARDONICS and, unless alone is set, the other
// samplers.
func (s system) contest(ctx context.Context, p *programs, seed int, alone, quick bool) (points []claims.Point, err error) {
	add := s.adder(&points, seed)
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return nil, err
	}
	start, err := s.random(c, seed)
	if err != nil {
		return nil, err
	}
	key := rbm.NewKey(uint64(seed))
	runtime.LockOSThread() // the clock is that of the thread
	defer runtime.UnlockOSThread()
	begin := cli.ThreadTime()
	tuned, state, err := s.tune(ctx, c, start, quick, key.Child(1))
	if err != nil {
		return nil, err
	}
	add(tunePanel, sardonics, 0, (cli.ThreadTime() - begin).Seconds())
	rewards := make([]float64, len(tuned.Trials))
	for i, trial := range tuned.Trials {
		rewards[i] = trial.Reward
	}
	for k := rewardBlock; k <= len(rewards); k += rewardBlock {
		add(reward, sardonics, float64(k), stat.Mean(rewards[k-rewardBlock:k], nil))
	}
	moves := contestMoves
	if quick {
		moves = 400
	}
	burn := int(contestBurn * float64(moves))
	samplers := []chains.Sampler{{Name: sardonics, Mover: mcmc.Mixture(tuned.Kernels), System: chains.Onto(c.build, state), Moves: moves - burn}}
	if !alone {
		for _, o := range []chains.Sampler{{Name: sweeps, Mover: mcmc.Gibbs{}}, {Name: clusters, Mover: mcmc.SwendsenWang{}}, {Name: oneSite, Mover: heatBath{1}}, {Name: manySites, Mover: heatBath{paperSites}}} {
			build := c.build
			if o.Moves = moves; o.Name == clusters {
				build = c.ising
				if c.hidden > 0 {
					o.Moves = min(moves, frozenMoves)
				}
			}
			o.System = chains.Onto(build, start)
			samplers = append(samplers, o)
		}
		if c.hidden > 0 {
			samplers = append(samplers, chains.Sampler{Name: blocks, Mover: mcmc.BlockGibbs{}, System: chains.Onto(c.build, start), Moves: moves})
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
		burnt := int(contestBurn * float64(len(r.Energies)))
		if r.Name == sardonics {
			burnt = 0
		}
		measure(add, r, burnt, float64(len(start)))
		if seed == 1 {
			// The moves of SARDONICS count from the first one of its tuning.
			before := 0
			if r.Name == sardonics {
				before = burn
			}
			for _, at := range traceAt(before, len(r.Energies)) {
				add(tracePanel, r.Name, float64(before+at+1), r.Energies[at]/float64(len(start)))
			}
		}
	}
	return points, err
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

// measure adds the points of a run on the given number of sites. It discards the first burnt energies.
func measure(add func(panel, curve string, x, y float64), r chains.Run, burnt int, sites float64) {
	energies := r.Energies[burnt:]
	decay := func(panel string, lags []float64, cost float64) {
		// The autocorrelation at lags above a tenth of the run is too noisy.
		lags = slices.DeleteFunc(lags, func(lag float64) bool { return lag > cost*float64(len(energies)/10) })
		chains.Decay(energies, lags, cost, func(lag, rho float64) { add(panel, r.Name, lag, rho) })
	}
	if r.Name != sweeps { // a sweep is not a move of the paper
		moves := make([]float64, 0, 51)
		for lag := 0.; lag <= mostLag; lag += 10 {
			moves = append(moves, max(1, lag))
		}
		decay(rhoMoves, moves, 1)
	}
	made := float64(len(r.Energies))
	seconds, flips := r.Seconds/made, sites
	switch r.Name {
	case sweeps, oneSite, manySites:
		flips = float64(r.Info.Updates) / made
	case clusters, blocks: // a move updates all sites
	default:
		flips = float64(r.Info.Flips) / made
	}
	if r.Name != oneSite { // the run of oneSite is too short for the lags
		decay(rhoFlips, chains.Log(1, 1e8, 40), flips)
		decay(rhoSeconds, chains.Log(1e-6, 1, 40), seconds)
	}
	tau := diag.Summarize(energies).Time.Tau
	if math.IsInf(tau, 1) { // the energy never changed
		tau = float64(len(energies))
	}
	add(tauMoves, r.Name, 0, tau)
	add(tauFlips, r.Name, 0, tau*flips)
	add(tauSeconds, r.Name, 0, tau*seconds)
	add(gainPanel, r.Name, 0, 1/(2*tau*seconds))
	mean, sd := stat.MeanStdDev(energies, nil)
	add(meanPanel, r.Name, 0, mean/sites)
	add(sdPanel, r.Name, 0, sd/sites)
	add(microPanel, r.Name, 0, 1e6*seconds)
	add(flipsPanel, r.Name, 0, flips)
}

// tune tunes SARDONICS as in the paper. On the RBM it does not tune the number of walks, which is 1 in each half of a move,
// nor the proportions of the kinds of moves: all moves have the first bias in both halves. It returns the last state of its
// chain, from which sampling continues.
func (s system) tune(ctx context.Context, c copies, start []uint8, quick bool, key rbm.Key) (*tune.Result, []uint8, error) {
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
		return nil, nil, err
	}
	var chain mcmc.System // the protocol makes only one system
	problem := &tune.Problem{
		Space: space, Beta: s.beta, Start: start, Key: key, Clock: cli.ThreadTime, Hidden: c.hidden, Symmetric: c.symmetric,
		NewSystem: func(state []uint8) mcmc.System { chain = chains.Onto(c.build, state); return chain },
	}
	result, err := problem.Tune(ctx, options, func(float64) {})
	if err != nil {
		return nil, nil, err
	}
	return result, slices.Clone(chain.State()), nil
}

// table writes the rows of a system.
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
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %.5f ± %.5f | %.5f |\n", s.Label, c, chains.Digits(s.Mean(t, flipsPanel, c)), chains.Digits(s.Mean(t, microPanel, c)), geometric(tauMoves), geometric(tauFlips), geometric(tauSeconds), geometric(gainPanel),
			energy, sd/math.Sqrt(float64(len(mean))), s.Mean(t, sdPanel, c))
	}
}

// remarks writes reasons not to trust numbers of a system.
func (s system) remarks(b *strings.Builder, t *claims.Table) {
	if len(s.At(t, filePanel, sardonics)) > 0 && s.Mean(t, filePanel, sardonics) < 1 {
		b.WriteString("\nThe RBM was trained on the built-in digits, because `-model` gave no file.\n")
	}
	if s.lattice == "" {
		fmt.Fprintf(b, "\nSwendsen–Wang makes %d moves here, at %.1f ms each, and stays near the energy of the random state: %.2f per unit, where block Gibbs has %.2f. Its τ is therefore meaningless.\n",
			frozenMoves, s.Mean(t, microPanel, clusters)/1000, s.Mean(t, meanPanel, clusters), s.Mean(t, meanPanel, blocks))
	}
	for _, curve := range contestants {
		runs, frozen := s.At(t, sdPanel, curve), 0
		for _, sd := range runs {
			frozen += map[bool]int{true: 1}[sd == 0]
		}
		if frozen > 0 {
			fmt.Fprintf(b, "\n%s: in %d of %d runs the energy of %s never changed. In these runs ρ counts as 1.\n", s.Label, frozen, len(runs), curve)
		}
	}
	// Gibbs with few sites per move does not reach equilibrium in these runs.
	settled := []string{sardonics, sweeps, blocks}
	if s.lattice != "" {
		settled = append(settled, clusters)
	}
	s.Apart(b, t, meanPanel, settled)
}
