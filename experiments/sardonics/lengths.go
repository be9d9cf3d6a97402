package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// automatic is the curve of k=auto. The other curves are those of figure II.
const automatic = "k=auto"

var lengthCurves = []string{automatic, byPaper, untuned, gibbs}

// Panels of the figure of lengths, in addition to those of the contests. X is the index of the system.
const (
	allGainPanel = "independent energies a second, tuning included"
	timesPanel   = "length of the run in τ"
)

const (
	// leastTimes is the smallest length of a run, in units of τ, at which its τ is trusted.
	leastTimes = 50
	// lengthSweeps is the number of sweeps of Gibbs that lead to the common start of all samplers of a draw.
	lengthSweeps = 20_000
)

// A match is a system of Table II on which k=auto is compared with other settings. Draws have different couplings, except on
// the ferromagnet and the RBM: there they differ only in the start and in the random numbers.
type match struct {
	system
	draws   int
	seconds float64 // computing time of each sampler
}

// matches are the systems of the figure. Their numbers of draws resolve a factor of about claims.Resolution, if the time allows it.
var matches = []match{{ferro(2.27), 5, 2.5}, {frustrated, 22, 0.25}, {cube, 20, 0.8}, {chimera, 16, 0.15}, {machine, 5, 1.5}}

// mostDraws is the largest number of draws of any system.
const mostDraws = 22

// resolved withdraws the verdict of a claim about the given curves if their runs are shorter than leastTimes, or if the repetitions
// do not resolve a factor of claims.Resolution.
func resolved(t *claims.Table, c claims.Claim, at int, curves ...string) claims.Claim {
	for _, curve := range curves {
		if times := chains.Exp(logsAt(t, timesPanel, curve, at)); times < leastTimes {
			c = c.Refused("the runs of %s are %.0f τ long, fewer than %d", curve, times, leastTimes)
		}
	}
	return c.Resolved()
}

// lengths returns the figure of k=auto on all systems of Table II.
func lengths(p *programs) claims.Figure {
	return claims.Figure{
		Name: "lengths", Flags: "-model FILE", Ours: true, Title: "walks whose length is tuned by the acceptance, against Bayesian optimisation",
		Says: "k=auto tunes the length of walks in a warm-up, so that a fraction 0.574 of the moves is accepted. Is it as good as the paper's Bayesian optimisation on the systems of Table II?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			var last []claims.Job // jobs that need -model
			for draw := range o.Seeds(3, mostDraws) {
				for at, m := range matches {
					j := claims.Job{
						Name: fmt.Sprintf("%s, draw %d", m.Label, draw+1),
						Run:  func(ctx context.Context) ([]claims.Point, error) { return m.race(ctx, p, at, draw+1, o.Quick) },
					}
					switch {
					case draw >= m.draws:
					case m.lattice == "":
						last = append(last, j)
					default:
						jobs = append(jobs, j)
					}
				}
			}
			return append(jobs, last...)
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for at, m := range matches {
				all = append(all, m.claims(t, at)...)
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var names []string
			for _, m := range matches {
				names = append(names, string(m.Label))
			}
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: tauMoves, Title: "integrated autocorrelation time of the energy", Y: "moves", LogY: true, Geometric: true, Words: names},
				{Name: allGainPanel, Title: "independent energies, tuning included", Y: "per second", LogY: true, Geometric: true, Words: names},
			}, lengthCurves)
		},
		Finding: lengthFinding,
		Notes:   lengthNotes,
	}
}

// claims returns the claims about a system. They compare k=auto with the paper's tuning in moves, and with the paper's tuning and
// untuned settings in seconds. Without runs there are no claims.
func (s match) claims(t *claims.Table, at int) []claims.Claim {
	logs := func(panel, curve string) claims.Repeats { return logsAt(t, panel, curve, at) }
	if len(logs(tauMoves, automatic)) == 0 {
		return nil
	}
	faster := func(rival string) claims.Claim {
		return resolved(t, claims.Larger(s.Panel("k=auto gives more independent energies per second than "+rival+", tuning included"), logs(allGainPanel, automatic), logs(allGainPanel, rival)), at, automatic, rival)
	}
	return []claims.Claim{
		resolved(t, claims.NotLess(s.Panel("τ in moves of k=auto is not longer than that of the paper's tuning"), logs(tauMoves, byPaper), logs(tauMoves, automatic), claims.Factor), at, automatic, byPaper),
		faster(byPaper), faster(untuned),
	}
}

// lengthFinding names the systems on which k=auto is better or worse.
func lengthFinding(t *claims.Table) string {
	better, worse, words := [3][]string{}, [3][]string{}, [3]string{}
	for at, m := range matches {
		for k, c := range m.claims(t, at) {
			factor := fmt.Sprintf("%s (%s times)", m.Label, chains.Digits(math.Exp(math.Abs(c.Mean))))
			switch {
			case c.Refusal != "": // no verdict
			case c.Mean > claims.Errors*c.StdErr:
				better[k] = append(better[k], factor)
			case c.Mean < -claims.Errors*c.StdErr:
				worse[k] = append(worse[k], factor)
			}
		}
	}
	list := func(names []string) string { return cmp.Or(strings.Join(names, ", "), "none of them") }
	for k := range words {
		words[k] = fmt.Sprintf("on %s, and slower on %s", list(better[k]), list(worse[k]))
	}
	return fmt.Sprintf("SARDONICS with k=auto was compared on %d systems. Compared per move with the paper's tuning, it is faster %s. Compared per second with the paper's tuning, tuning included, it is faster %s. Compared per second with untuned settings, it is faster %s. On the other systems the difference is within the error, or there is no verdict.", len(matches), words[0], words[1], words[2])
}

// lengthNotes returns the table of the numbers.
func lengthNotes(t *claims.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Each draw has new couplings, except on the ferromagnet and the RBM, where draws differ only in the start and in the random numbers. All samplers of a draw start from the same state, after %d sweeps of Gibbs. They run in turns for the same computing time, "+
		"and the first fifth of the energies is discarded. \"Tuning included\" is for a fixed budget of time: the number of independent energies that a sampler yields in the time that tuning leaves, divided by the budget. The budget is the time of the paper's protocol: 200 trials of the Bayesian optimisation and %d moves after them. The tuning of k=auto is a warm-up of %d moves, and samplers with given settings need no tuning. "+
		"Differences are of natural logarithms. τ uses the mean of each run, as in figure II. On the RBM, Gibbs is block Gibbs.\n\n"+
		"There is no verdict if runs are shorter than %d τ, or if both the difference and a factor of %g are within %d standard errors. The statistic then gives the factor that the runs can resolve.\n\n"+
		"| system | draws | sampler | flips per move | µs per move | τ / moves | independent energies per second | tuning included | seconds of tuning | run / τ |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
		lengthSweeps, int((1-contestBurn)*contestMoves), mcmc.WarmUpMoves, leastTimes, claims.Resolution, claims.Errors)
	for at, m := range matches {
		for _, c := range lengthCurves {
			logs := func(panel string) claims.Repeats { return logsAt(t, panel, c, at) }
			if n := len(logs(tauMoves)); n > 1 {
				fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %.0f |\n", m.Label, n, c, chains.Digits(chains.Exp(logs(flipsPanel))), chains.Digits(chains.Exp(logs(microPanel))), chains.Factor(logs(tauMoves)),
					chains.Factor(logs(gainPanel)), chains.Factor(logs(allGainPanel)), chains.Digits(t.At(tunePanel, c, float64(at)).Mean()), chains.Exp(logs(timesPanel)))
			}
		}
	}
	return b.String()
}

// race runs all samplers on a draw of the system, and tunes SARDONICS in both ways.
func (s match) race(ctx context.Context, p *programs, at, draw int, quick bool) (points []claims.Point, err error) {
	if s.lattice == "" && p.model == "" && !quick {
		return nil, errNoModel
	}
	s.draw = uint64(draw)
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return nil, err
	}
	key := rbm.NewKey(uint64(draw))
	sweeps, seconds, given := lengthSweeps, s.seconds, "sardonics:"+untunedSettings
	if quick {
		sweeps, seconds, given = 100, 0.02, "sardonics:k=1-8:gamma=1.02"
	}
	var others mcmc.Mover = mcmc.Gibbs{}
	if c.hidden > 0 {
		others = mcmc.BlockGibbs{}
	}
	start, err := chains.Relaxed(c.build(), others, s.beta, 0, sweeps, key.Child(0))
	if err != nil {
		return nil, err
	}
	plain, err := mcmc.ParseMover(given, mcmc.Linear)
	if err != nil {
		return nil, err
	}
	auto, err := mcmc.ParseMover("sardonics:k=auto", mcmc.Linear)
	if err != nil {
		return nil, err
	}
	spent := map[string]float64{}
	runtime.LockOSThread() // the clock is that of the thread
	defer runtime.UnlockOSThread()
	begin := cli.ThreadTime()
	tuned, _, err := s.tune(ctx, c, start, quick, key.Child(1))
	if err != nil {
		return nil, err
	}
	spent[byPaper] = (cli.ThreadTime() - begin).Seconds()
	warmed := chains.Warmed{Mover: auto, Start: start, Key: key.Child(3), Bound: func(_ mcmc.Chain, seconds float64) { spent[automatic] = seconds }}
	var samplers []chains.Sampler
	for i, m := range []mcmc.Mover{warmed, mcmc.Mixture(tuned.Kernels), plain, others} {
		samplers = append(samplers, chains.Sampler{Name: lengthCurves[i], Mover: m, System: chains.Onto(c.build, start)})
	}
	runs, err := chains.Race(ctx, samplers, s.beta, seconds, key.Child(2))
	if err != nil {
		return nil, err
	}
	protocol := spent[byPaper]
	for _, r := range runs {
		if r.Name == byPaper {
			protocol += (1 - contestBurn) * contestMoves / r.Rate()
		}
	}
	for _, r := range runs {
		add := func(panel string, y float64) {
			points = append(points, claims.Point{Panel: panel, Curve: r.Name, Repeat: draw, X: float64(at), Y: y})
		}
		energies := r.Energies[len(r.Energies)/5:]
		moves, tau := float64(len(r.Energies)), diag.Summarize(energies).Time.Tau
		if !(tau < float64(len(energies))) { // the energy never changed
			tau = float64(len(energies))
		}
		flips := float64(r.Info.Flips)
		if r.Name == gibbs && c.hidden == 0 {
			flips = float64(r.Info.Updates)
		}
		gain := r.Rate() / (2 * tau)
		add(tauMoves, tau)
		add(timesPanel, float64(len(energies))/tau)
		add(flipsPanel, flips/moves)
		add(microPanel, 1e6*r.Seconds/moves)
		add(gainPanel, gain)
		add(allGainPanel, gain*(1-spent[r.Name]/protocol))
		add(tunePanel, spent[r.Name])
	}
	return points, nil
}
