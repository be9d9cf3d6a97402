// Isingmc runs Markov chain Monte Carlo samplers on Ising systems, one alone
// or several for equal computing time, and says how fast each forgets.
//
//	isingmc -lattice 60x60 -beta 0.44 -sampler gibbs,sw
//
// See isingmc -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/mcmc"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/ranks"
	"gorbm/train/plots"
	"gorbm/train/report"
)

func main() { cli.MainRanks("isingmc", clock(cli.ThreadTime).runRanks) }

const summary = `isingmc runs Markov chain Monte Carlo samplers on an Ising system, or on an RBM,
and measures how fast each decorrelates.

The energy is E = −Σ J s s − Σ h s over spins s of −1 and +1; states have
probability ∝ exp(−βE). The samplers of -sampler, separated by commas, each get the
same computing time:

%s
exchange and im sample states of fixed magnetisation; all other samplers sample all
states. These are two different distributions, so that one run cannot have samplers of
both. Two more samplers run replicas of the system at several temperatures. SAMPLER moves
each replica (default: gibbs, or block-gibbs on an RBM):

%s
Settings follow the name, as in sardonics:k=89-90:gamma=1.02:

%s
For each sampler it prints its rates; the mean energy with its standard error; τ,
the integrated autocorrelation time of the energy, ½ + Σρ(t) by Sokal's window; and
the independent energies a second, n/(2τ), where n is the number of moves a second. For
a run shorter than some 100 τ it prints a lower bound of τ instead. It also compares all
means between samplers. If two differ by more than chance explains, given the number of
comparisons (Bonferroni), one of the two samplers has not converged, and it names both.

-observables measures the magnetisation per spin m of an Ising system after each move. It prints
the susceptibility βN(<m²> − <|m|>²), the Binder cumulant 1 − <m⁴>/(3<m²>²) and the
specific heat β²(<E²> − <E>²)/N. -overlap measures q, the mean of s s' over the spins of two
replicas. Errors allow for the autocorrelation (Wolff 2004).

With -moves and one sampler, equal seeds give equal results except for times. With
several samplers, the first makes -moves moves, and the others as many as they can in the
same time. The states of a chain depend only on the seed and the sampler's settings; with
a limit of time, only the number of moves depends on the clock.

-scan LOW:HIGH:N runs each sampler at N temperatures at once, on each lattice of -lattice, and
prints energy, specific heat, |m|, susceptibility and Binder cumulant at each. LOW:HIGH:auto chooses
N and the temperatures: neighbouring replicas then accept about half of their swaps, everywhere
equally often. It measures the acceptance by pilot runs of the first sampler, of a fixed number of
moves. The overlap of a temperature is the probability that a swap with the next hotter one is
accepted. pt and ins exchange replicas between these temperatures; the others do not. Curves between
the temperatures are computed by multiple-histogram reweighting (Ferrenberg & Swendsen 1989; MBAR,
Shirts & Chodera 2008), with errors from the differences between segments of the run. If the scan
begins at beta=0 they include log Z. If -lattice names two or more lattices, it prints where their Binder
cumulants cross: the critical temperature, up to finite-size corrections. With -moves every sampler
makes that many moves. A scan has at most 6 curves: one for each lattice and sampler. A curve uses at most
160 000 states of a chain, all temperatures together, equally spaced in moves. To reduce the errors of
curves and crossings further, take more -chains rather than more -moves.

-chains runs independent chains of each sampler. Under mpirun -n N the ranks share them; for this
build the command by
` + ranks.Build + `

-tune finds settings of sardonics by Bayesian optimisation: a Gaussian process predicts
from short trials which settings to try next. The result is a policy: many good settings
of the sampler (kernels), of which one is drawn at random for every 100 moves. The chain
that is measured starts after tuning, from a new state. Only the settings that -sampler leaves
open are tuned, of k, gamma, walks and mix. -tune=METHOD:key=value… takes one of two
methods:

  ei         (default) Trials take equal time. The reward of a trial is the number of
             effective samples per second of the slowest of three observables: energy,
             magnetisation (of an RBM, the number of active hidden units), and overlap
             with an earlier state. If the energy is the same after a flip of all spins,
             the absolute values of the last two count. Settings are proposed four at a
             time, by noisy expected improvement. At the end, trials of growing length
             compare the policy with the settings before tuning. These stay, unless
             the policy is better by more than 2 standard errors.
  paper      200 trials of 100 moves. The reward is the area under the
             autocorrelation of the energy, per move (Hamze et al. 2012).

with these keys:

  seconds=16     computing time of all trials together (ei)
  of=slowest     the observable that the reward counts: slowest, or energy (ei)
  evaluations=40 number of trials, without those that compare at the end (paper: 200)
  moves=100      length of a trial (paper)
  kernels=100    number of kernels of the policy (paper: 1000)
  k=1-120, gamma=0.85/1.12, walks=1-5   ranges of the settings to try; walks=single is tried too

Examples:

  isingmc                                     # three samplers near the critical point
  isingmc -active 1800 -sampler exchange,im:k=90
  isingmc -lattice 3x3 -sampler metropolis,modified-metropolis -gap
  isingmc -lattice 16x16 -sampler sw -seconds 5 -states ising.npz     # data for rbmtrain
  isingmc -lattice 9x9x9 -J pm1 -beta 1 -sampler sardonics,gibbs -tune -policy glass.json
  isingmc -lattice 9x9x9 -J pm1 -beta 1 -policy glass.json -seconds 10
  isingmc -lattice 8x8,16x16,32x32 -scan 2:2.6:13 -out binder.png -table scan.csv
  isingmc -lattice 6x6x6 -J pm1 -sampler pt,ins -scan beta=0:1:auto
  isingmc -model model.safetensors -sampler block-gibbs,sardonics:k=1-20:gamma=1`

// options are the flags.
type options struct {
	flags *cli.Flags

	lattice, modelFile, boundary, couplings string
	class, active                           int
	field, beta, temperature                float64
	samplers, order                         string
	tune                                    tuneFlag
	policy                                  string
	secondsPerFlip                          float64
	moves                                   int64
	seconds, burn                           float64
	seed                                    uint64
	gap                                     bool
	scan, table                             string
	observables, overlap                    bool
	out, trace, states                      string
	keep, chains                            int
	group                                   *ranks.Group
}

// critical is the inverse temperature of the papers' experiments on 60x60. It is
// near the critical one of the square lattice, ½ ln(1+√2) = 0.4407.
const critical = 1 / 2.27

const (
	defaultSeconds = 2 // short: the defaults are for a first look
	defaultBurn    = 0.2
)

func newOptions() *options {
	kinds, keys := mcmc.Help()
	ladders, ladderKeys := mcmc.TemperingHelp()
	f := cli.NewFlags("isingmc", fmt.Sprintf(summary, kinds, ladders, keys+ladderKeys), "isingmc [flags]")
	f.Screen = screen
	o := &options{flags: f}
	f.Group("system")
	f.StringVar(&o.lattice, "lattice", "60x60", "spins and their bonds: sides of a square or cubic lattice (60x60, 9x9x9),\nchimera:M (M×M cells of 8 spins) or chimera:MxN, or a file with a line \"i j J\"\nfor each coupling and \"i h\" for each field, spins numbered from 0").
		Main("NAME  60x60, 9x9x9, chimera:4, or a file of couplings").Not("model")
	f.Float64Var(&o.temperature, "temperature", 1/critical, "temperature, instead of -beta").Main("T  or its inverse, -beta").Above(0, math.Inf(1)).Not("scan")
	f.StringVar(&o.couplings, "J", "1", "couplings of a lattice: a number, pm1 (±1 by fair coins) or gaussian (of\nstandard deviation 1); pm1:seed=N takes other coins, whatever -seed;\nor a file with a line \"i j J\" for each pair of neighbours").
		Main("NAME  couplings: a number, pm1, gaussian, or a file").Not("model")
	f.StringVar(&o.modelFile, "model", "", "an RBM instead, a .safetensors or .npz file or the folder of a run: bits of 0 and 1 with E = −vᵀWh − bᵀv − cᵀh,\nvisible units first; Gaussian units are integrated out, which leaves\nan Ising system of the binary units with couplings between all hidden units;\nβ is 1 unless given, and a constraint all=K is kept").
		Main("FILE  an RBM in place of an Ising system").Mode("takes an RBM instead of an Ising system")
	f.Float64Var(&o.beta, "beta", critical, "inverse temperature").Above(0, math.Inf(1)).Same("temperature").Not("scan")
	f.StringVar(&o.boundary, "boundary", "periodic", "boundary of a lattice: periodic or free").Choice("periodic", "free").Not("model")
	f.Float64Var(&o.field, "field", 0, "field h on every spin of a lattice").Finite().Not("model")
	f.IntVar(&o.active, "active", 0, "spins that are up, for exchange and im (default: half of them)").Not("gap")
	f.IntVar(&o.class, "class", 0, "class at which the label of -model is held; energies are those of the whole model,\nwith the label's bias, and energy/spin is the energy divided by the number of other units").For("model")
	f.StringVar(&o.scan, "scan", "", "run at N temperatures at once, LOW:HIGH:N, or at inverse temperatures, beta=LOW:HIGH:N;\nwith auto in place of N it chooses them; pt and ins exchange replicas between them;\n-lattice may name several lattices, separated by commas").
		Main("LOW:HIGH:N  N temperatures at once (auto: placed), with curves between").Mode("measures at many temperatures").Not("gap")
	f.Group("samplers")
	f.StringVar(&o.samplers, "sampler", "", "samplers, separated by commas (default: gibbs, sw and sardonics;\nexchange and im with -active; the single-site samplers with -gap)").
		Main("LIST  gibbs, sw, sardonics, block-gibbs, exchange, …; see -h all")
	f.Var(&o.tune, "tune", "tune the settings of sardonics that -sampler leaves open, then sample with\nthe policy that it learns; see above").
		Main("  tune the settings of sardonics first").Not("scan", "gap")
	f.StringVar(&o.order, "order", "", "order of updates of samplers that name none: linear, chessboard or random").Choice(mcmc.Orders()...)
	f.StringVar(&o.policy, "policy", "", "with -tune: write the policy to this file, a .json; without: sample with\nthe policy in this file").New(".json").Not("scan", "gap")
	f.Float64Var(&o.secondsPerFlip, "seconds-per-flip", 0, "with -tune: take this for the time of a flip instead of the clock, so that equal\nseeds give equal results").Above(0, 1).For("tune")
	f.Group("length")
	f.Float64Var(&o.seconds, "seconds", defaultSeconds, "computing time of each sampler").Main("X  computing time of each sampler (2)").Above(0, maxSeconds).Not("gap")
	f.Int64Var(&o.moves, "moves", 0, "moves of the first sampler, instead of -seconds").Same("seconds").Main("N  moves of the first sampler, in place of -seconds").Between(1, maxMoves).Not("gap")
	f.IntVar(&o.chains, "chains", 1, "independent chains of each sampler, each of -moves or -seconds; the numbers combine all\nchains, and pictures show the first; under mpirun the ranks share the chains").
		Main("N  independent chains of each sampler (1)").Between(1, maxChains).Not("gap")
	f.Float64Var(&o.burn, "burn", defaultBurn, "run before measuring, as a fraction of -moves or -seconds").Between(0, maxBurn).Not("gap")
	f.Group("results")
	f.BoolVar(&o.observables, "observables", false, "also measure, each with its standard error, the magnetisation m, |m|, its susceptibility,\nthe Binder cumulant, and the specific heat; see above").
		Main("  magnetisation, susceptibility, Binder cumulant, specific heat").Not("scan", "gap", "model")
	f.BoolVar(&o.overlap, "overlap", false, "also measure the specific heat, and the overlap q of two replicas: each sampler moves a\nsecond chain from another start, and its time counts too").
		Main("  overlap of two replicas").Not("scan", "gap", "model")
	f.StringVar(&o.out, "out", "", "draw energies and autocorrelation against time in this file, a .png, .svg or .pdf;\na .html is a report: charts that show their values, the table, and what to make of it").
		Main("FILE  a picture, .png, .svg or .pdf, or a report, .html").New(append(slices.Clone(cli.Pictures), ".html")...).Not("gap")
	f.StringVar(&o.states, "states", "", "write states of the only sampler to this file, an .npz with arrays x, a row of spins −1\nand +1 for each state, energy and move; of an RBM x is its visible bits, and h its hidden\nones; rbmtrain -data reads it").
		Main("FILE  sampled states, .npz").New(".npz").Not("scan", "gap")
	f.IntVar(&o.keep, "keep", defaultKeep, "largest number of states in -states, equally spaced in moves; a longer run has at\nleast half as many").For("states")
	f.StringVar(&o.trace, "trace", "", "write the energies to this file, a CSV table").New(".csv").Not("scan", "gap")
	f.BoolVar(&o.gap, "gap", false, "print the spectral gap of a sweep instead, from its transition matrix (small systems only)").Mode("runs no chain").Not("model")
	f.StringVar(&o.table, "table", "", "write the measurements of -scan, and the reweighted curves between them, to this file, a CSV table").New(".csv").For("scan")
	f.Group("the run")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the first state and of all moves")
	f.AddOutput("no progress bar and no table; errors and warnings remain",
		"print the result as one JSON object and nothing else on standard output:\nthe energy is that of the whole system, tau_int in moves")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "isingmc runs Markov chain Monte Carlo samplers on an Ising system, or on an RBM, for equal\ncomputing time, and measures how fast each decorrelates.",
	Examples: []string{
		"isingmc -sampler gibbs,sw -temperature 2.5 -out race.png  # side by side, with a picture",
		"isingmc -lattice 8x8,16x16,32x32 -scan 2:2.6:13 -out binder.png  # curves, and T_c from them",
		"isingmc -lattice 9x9x9 -J pm1 -beta 1 -sampler sardonics -tune  # Bayesian optimisation",
	},
}

// A clock returns the time since a fixed moment.
type clock func() time.Duration

// runRanks runs the command as one rank of a group, or alone if the group is nil. The ranks
// share the chains. Rank 0 alone writes and prints. The clock measures the computing time of
// samplers. It may be that of a thread, so a goroutine is locked to its thread between two readings.
func (now clock) runRanks(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	o.group = g
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	p, err := o.check()
	if err := p.agree(g, err); err != nil {
		return err
	}
	if p.gap {
		if g.Rank() > 0 { // rank 0 does all
			return nil
		}
		return p.printGaps()
	}
	if err := p.tuneSampler(ctx, now); err != nil {
		return err
	}
	if p.scan != nil {
		if err := p.spaceScan(ctx); err != nil {
			return err
		}
	}
	if !p.flags.JSON && !p.flags.Quiet {
		fmt.Fprintln(stdout, p.describe())
	}
	err = p.sampleChains(ctx, now)
	stopped := errors.Is(err, context.Canceled)
	if g.Rank() > 0 || err != nil && !stopped {
		return err
	}
	if len(p.runs) == 0 {
		return errors.New("stopped before the first measured move; there is nothing to show")
	}
	if p.scan != nil {
		err := p.newScanResult().finish()
		if err == nil && stopped {
			err = errors.New("stopped before the end; the results cover what was done")
		}
		return err
	}
	rows := newRows(p.contestants, p.runs)
	if err := errors.Join(p.write(rows), p.print(rows)); err != nil {
		return err
	}
	if stopped {
		return fmt.Errorf("stopped after %.3g s of each sampler; the results are those until then", rows[0].seconds)
	}
	return nil
}

// sample runs the samplers, first without measuring them. The progress bar moves from the fraction
// begin to begin + share.
func (p *plan) sample(ctx context.Context, field []*contestant, now clock, begin, share float64) error {
	const parts = 1000
	bar := p.flags.NewProgress("", "‰", parts)
	defer bar.Done()
	for _, c := range field {
		c.warm(now)
	}
	whole := 1 + p.burn
	show := func(done float64, what string) { bar.Set(int64(parts*(begin+share*done/whole)), what) }
	if p.burn > 0 {
		err := race(ctx, field, p.length.scaled(p.burn), now, func(done float64) { show(p.burn*done, "burn-in") })
		if err != nil {
			for _, c := range field {
				c.reset()
			}
			return err
		}
	}
	return race(ctx, field, p.length, now, func(done float64) { show(p.burn+done, "sampling") })
}

// write writes the files of -out, -trace and -states.
func (p *plan) write(rows []row) (err error) {
	if p.out != "" {
		err = p.writeOut(func() *plots.Page { return picture(rows, p.tuning) }, func() (report.Report, error) { return p.report(rows) })
	}
	if p.trace != "" {
		err = errors.Join(err, atomicfile.Write(p.trace, cli.WriteCSV(traceLines(rows))))
	}
	if p.states != "" {
		err = errors.Join(err, atomicfile.Write(p.states, func(w io.Writer) error { return p.writeStates(w) }))
	}
	return err
}
