// Isingmc runs Markov chain Monte Carlo samplers on an Ising system or an RBM for equal computing time, and
// measures how fast each decorrelates.
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
states. These are two different distributions, so one run cannot have samplers of both.
Two more samplers run replicas of the system at several temperatures. SAMPLER moves
each replica (default: gibbs, or block-gibbs on an RBM):

%s
Settings follow the name, as in sardonics:k=89-90:gamma=1.02:

%s
For each sampler it prints its speed; the mean energy with its standard error; τ,
the integrated autocorrelation time of the energy, ½ + Σρ(t) over Sokal's window; and
the number of independent energies per second, n/(2τ), where n is the number of moves per
second. For a run shorter than some 100 τ it prints a lower bound of τ instead. It also
compares all means between samplers. If two means differ by more than chance explains, given
the number of comparisons (Bonferroni), one of the two samplers has not converged, and
a warning names both.

-observables measures the magnetisation per spin m of an Ising system after each move. It
prints the susceptibility βN(<m²> − <|m|>²), the Binder cumulant 1 − <m⁴>/(3<m²>²) and the
specific heat β²(<E²> − <E>²)/N of N spins. -overlap measures q, the mean of s s' over the
spins of two replicas. Errors include the autocorrelation (Wolff 2004).

With -moves and one sampler, equal seeds give equal results except for times. With
several samplers, the first makes -moves moves, and the others as many as they can in the
same time. The states of a chain depend only on the seed and the sampler's settings; with
a time limit, only the number of moves depends on the clock.

-scan LOW:HIGH:N runs each sampler at N temperatures at once, on each lattice of -lattice.
It prints energy, specific heat, |m|, susceptibility and Binder cumulant at each. The column
"overlap" has another meaning than -overlap: it is the probability that a swap with the next
hotter temperature is accepted. pt and ins swap replicas between these temperatures; other
samplers do not. LOW:HIGH:auto chooses N and the temperatures, so that all neighbouring
replicas accept about half of their swaps. It measures the acceptance in pilot runs of the
first sampler, which have a fixed number of moves.

Curves between the temperatures are computed by multiple-histogram reweighting (Ferrenberg &
Swendsen 1989; MBAR, Shirts & Chodera 2008). Their errors come from the differences between
segments of the run. If the scan begins at beta=0 the curves include log Z. If -lattice names
several lattices, isingmc prints where their Binder cumulants cross: the critical
temperature, up to finite-size corrections. In a scan with -moves, every sampler makes that
many moves. A scan has at most 6 curves, one for each lattice and sampler. A curve uses at
most 160 000 states of a chain, over all temperatures, at equal intervals of moves. For
smaller errors of curves and crossings, increase -chains rather than -moves.

-chains runs independent chains of each sampler. mpirun -n N distributes them over N
processes; for this build the command by
` + ranks.Build + `

-tune finds settings of sardonics by Bayesian optimisation: a Gaussian process predicts
from short trials which settings to try next. The result is a policy: many good settings
of the sampler (kernels), of which one is drawn at random for every 100 moves. The measured
chain starts after tuning, from a new state. Of k, gamma, walks and mix, only the settings
that -sampler does not give are tuned. This is the protocol of Hamze et al. (2012). The
reward of a trial is the mean of 1 − |ρ(t)| over lags t, in moves, where ρ is the
autocorrelation of the energy. -tune=key=value:… has the keys:

  evaluations=200   number of trials
  moves=100         length of a trial
  kernels=1000      number of kernels of the policy
  k=1-120           range of the lengths of walks to try

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

type options struct {
	flags *cli.Flags

	lattice, modelFile, boundary, couplings string
	class, active                           int
	field, beta, temperature                float64
	samplers, order                         string
	tune                                    tuneFlag
	policy                                  string
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

// critical is the inverse temperature of the experiments on 60x60 in the papers on IM and SARDONICS. The
// critical point of the square lattice is at ½ ln(1+√2) = 0.4407.
const critical = 1 / 2.27

const (
	defaultSeconds = 2 // short, for a first look
	defaultBurn    = 0.2
)

func newOptions() *options {
	kinds, keys := mcmc.Help()
	ladders, ladderKeys := mcmc.TemperingHelp()
	f := cli.NewFlags("isingmc", fmt.Sprintf(summary, kinds, ladders, keys+ladderKeys), "isingmc [flags]")
	f.Screen = screen
	o := &options{flags: f}
	f.Group("system")
	f.StringVar(&o.lattice, "lattice", "60x60", "spins and their bonds: the sides of a square or cubic lattice (60x60, 9x9x9), chimera:M (M×M cells of 8 spins) or chimera:MxN, or a file. The file has a line \"i j J\" for each coupling and \"i h\" for each field; spins count from 0, or from 1 if none is 0. A first line may have the number of spins, as in the files of Gset").
		Main("NAME  60x60, 9x9x9, chimera:4, or a file of couplings").Not("model")
	f.Float64Var(&o.temperature, "temperature", 1/critical, "temperature, instead of -beta").Main("T  or its inverse, -beta").Above(0, math.Inf(1)).Not("scan")
	f.StringVar(&o.couplings, "J", "1", "couplings of a lattice: a number, pm1 (±1 with equal probability), gaussian (mean 0, standard deviation 1), or a file with a line \"i j J\" for each pair of neighbours. pm1:seed=N draws other couplings; -seed does not change them").
		Main("NAME  couplings: a number, pm1, gaussian, or a file").Not("model")
	f.StringVar(&o.modelFile, "model", "", "an RBM in place of an Ising system: a .safetensors or .npz file, or the folder of a run. Its units are bits with E = −vᵀWh − bᵀv − cᵀh, visible units first. Gaussian units are integrated out, which leaves an Ising system of the binary units with couplings between all hidden units. β is 1 by default, and a constraint all=K, that K units are active, is kept").
		Main("FILE  an RBM in place of an Ising system").Mode("takes an RBM instead of an Ising system")
	f.Float64Var(&o.beta, "beta", critical, "inverse temperature").Above(0, math.Inf(1)).Same("temperature").Not("scan")
	f.StringVar(&o.boundary, "boundary", "periodic", "boundary of a lattice: periodic or free").Choice("periodic", "free").Not("model")
	f.Float64Var(&o.field, "field", 0, "field h on every spin of a lattice").Finite().Not("model")
	f.IntVar(&o.active, "active", 0, "number of spins that are up, for exchange and im (default: half of them)").Not("gap")
	f.IntVar(&o.class, "class", 0, "class to which the label of -model is fixed. Energies include the label's bias, and energy/spin is the energy divided by the number of other units").For("model")
	f.StringVar(&o.scan, "scan", "", "run at N temperatures at once, LOW:HIGH:N, or at inverse temperatures, beta=LOW:HIGH:N; auto in place of N chooses them. pt and ins swap replicas between them. -lattice may name several lattices, separated by commas").
		Main("LOW:HIGH:N  temperatures at once, with curves between; N: number, or auto").Mode("measures at many temperatures").Not("gap")
	f.Group("samplers")
	f.StringVar(&o.samplers, "sampler", "", "samplers, separated by commas (default: gibbs, sw and sardonics; exchange and im with -active; the single-site samplers with -gap)").
		Main("LIST  gibbs, sw, sardonics, block-gibbs, exchange, …; see -h all")
	f.Var(&o.tune, "tune", "tune the settings of sardonics that -sampler does not give, then sample with the resulting policy; see above").
		Main("  tune the settings of sardonics first").Not("scan", "gap")
	f.StringVar(&o.order, "order", "", "order of updates of samplers without order= in -sampler: linear, chessboard or random").Choice(mcmc.Orders()...)
	f.StringVar(&o.policy, "policy", "", "with -tune: write the policy to this .json file; without -tune: sample with the policy in this file").New(".json").Not("scan", "gap")
	f.Group("length")
	f.Float64Var(&o.seconds, "seconds", defaultSeconds, "computing time of each sampler").Main("X  computing time of each sampler (2)").Above(0, maxSeconds).Not("gap")
	f.Int64Var(&o.moves, "moves", 0, "number of moves of the first sampler, instead of -seconds").Same("seconds").Main("N  moves of the first sampler, in place of -seconds").Between(1, maxMoves).Not("gap")
	f.IntVar(&o.chains, "chains", 1, "number of independent chains of each sampler, each with -moves or -seconds. Results combine all chains; pictures show the first. mpirun distributes the chains over processes").
		Main("N  independent chains of each sampler (1)").Between(1, maxChains).Not("gap")
	f.Float64Var(&o.burn, "burn", defaultBurn, "length of the burn-in before measuring, as a fraction of -moves or -seconds").Between(0, maxBurn).Not("gap")
	f.Group("results")
	f.BoolVar(&o.observables, "observables", false, "also measure the magnetisation m, |m|, the susceptibility, the Binder cumulant and the specific heat, with standard errors; see above").
		Main("  magnetisation, susceptibility, Binder cumulant, specific heat").Not("scan", "gap", "model")
	f.BoolVar(&o.overlap, "overlap", false, "also measure the specific heat, and the overlap q of two replicas: each sampler moves a second chain from another start, whose time also counts").
		Main("  overlap of two replicas").Not("scan", "gap", "model")
	f.StringVar(&o.out, "out", "", "write a picture of energies and autocorrelation against time to this .png, .svg or .pdf file, or to a .html file a report: charts, the table and conclusions").
		Main("FILE  a picture, .png, .svg or .pdf, or a report, .html").New(append(slices.Clone(cli.Pictures), ".html")...).Not("gap")
	f.StringVar(&o.states, "states", "", "write sampled states to this .npz file, for a single sampler. Array x has a row of spins −1 and +1 for each state; energy and move have a number for each. For an RBM x has the visible bits, and h the hidden ones. rbmtrain -data reads the file").
		Main("FILE  sampled states, .npz").New(".npz").Not("scan", "gap")
	f.IntVar(&o.keep, "keep", defaultKeep, "largest number of states that -states writes, at equal intervals of moves. From a run of more moves it writes at least half as many").For("states")
	f.StringVar(&o.trace, "trace", "", "write the energies to this .csv file").New(".csv").Not("scan", "gap")
	f.BoolVar(&o.gap, "gap", false, "print the spectral gap of a sweep instead, from its transition matrix (small systems only)").Mode("runs no chain").Not("model")
	f.StringVar(&o.table, "table", "", "write the measurements of -scan, and the reweighted curves between them, to this .csv file").New(".csv").For("scan")
	f.Group("the run")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the initial states and of all moves")
	f.AddOutput("no progress bar and no table; errors and warnings remain",
		"print the result as one JSON object and nothing else on standard output; energies are of the whole system, and tau_int is in moves")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "isingmc runs Markov chain Monte Carlo samplers on an Ising system or an RBM, for equal computing\ntime, and measures how fast each decorrelates.",
	Examples: []string{
		"isingmc -sampler gibbs,sw -temperature 2.5 -out race.png  # side by side, with a picture",
		"isingmc -lattice 8x8,16x16,32x32 -scan 2:2.6:13 -out binder.png  # curves, and T_c from them",
		"isingmc -lattice 9x9x9 -J pm1 -beta 1 -sampler sardonics -tune  # Bayesian optimisation",
	},
}

// A clock returns the time since a fixed moment.
type clock func() time.Duration

// runRanks runs the command as one rank of g, or as a single process if g is nil. Chains are divided
// among the ranks. Only rank 0 writes and prints. now measures the computing time of samplers. It may
// be the clock of a thread, so goroutines lock themselves to their thread between two readings.
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
		if g.Rank() > 0 { // rank 0 computes all gaps
			return nil
		}
		return p.printGaps()
	}
	if err := p.tuneSampler(ctx); err != nil {
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
			err = errors.New("stopped before the end; these are the results so far")
		}
		return err
	}
	rows := newRows(p.contestants, p.runs)
	if err := errors.Join(p.write(rows), p.print(rows)); err != nil {
		return err
	}
	if stopped {
		return fmt.Errorf("stopped after %.3g s of each sampler; these are the results so far", rows[0].seconds)
	}
	return nil
}

// sample runs the samplers, first for the burn-in and then for the measurements. The progress bar moves from
// the fraction begin to begin + share.
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
