package main

import (
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

// automatic is the curve of k=auto; the others are those of figure II.
const automatic = "k=auto"

var lengthCurves = []string{automatic, byPaper, untuned, tableII, gibbs}

// Panels of the figure of lengths, besides those of the contests; X is the number of the system.
const (
	allGainPanel = "independent energies a second, tuning included"
	timesPanel   = "length of the run in τ"
)

// leastTimes is the number of autocorrelation times from which the τ of a run is trusted.
const leastTimes = 50

// mostLoss is the factor of τ by which a sampler that does not lose may still be slower, unseen.
const mostLoss = 1.5

// glassy are the systems of Table II that are drawn, each several times.
var glassy = []system{cube, chimera}

// lengths is the figure of walks that find their length, on several draws of the couplings.
func lengths(p *programs) claims.Figure {
	return claims.Figure{
		Name: "lengths", Ours: true, Title: "walks that find their length by acceptance, against Bayesian optimisation",
		Says: "does a warm-up that drives the length to an acceptance of 0.574 (k=auto) do as well as the paper's Bayesian optimisation?",
		Jobs: func(o claims.Options) []claims.Job {
			return repeated(glassy, o.Seeds(3, 6), "draw", func(ctx context.Context, s system, at, draw int) ([]claims.Point, error) {
				return s.lengths(ctx, p, at, draw, o.Quick)
			})
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for at, s := range glassy {
				if len(t.At(tauMoves, automatic, float64(at))) == 0 {
					continue
				}
				logs := func(panel, curve string) claims.Repeats { return logsAt(t, panel, curve, at) }
				refuse := func(c claims.Claim, curve string) claims.Claim {
					if times := chains.Exp(logs(timesPanel, curve)); times < leastTimes {
						c.Verdict = claims.Fail
						c.Statistic = fmt.Sprintf("no verdict: the runs of %s are %.0f τ long, fewer than %d; %s", curve, times, leastTimes, c.Statistic)
					}
					return c
				}
				by := claims.NotLess(s.Panel("τ of k=auto in moves is not longer than tuned as in the paper by more than the error"), inverse(logs(tauMoves, automatic)), inverse(logs(tauMoves, byPaper)), claims.Factor)
				if worst := math.Exp(claims.Errors*by.StdErr - by.Mean); by.Verdict == claims.Pass && worst > mostLoss {
					by.Verdict = claims.Fail
					by.Statistic = fmt.Sprintf("no verdict: these runs cannot exclude a loss by a factor of %.2g; %s", mostLoss, by.Statistic)
				}
				all = append(all,
					refuse(by, automatic),
					refuse(claims.Larger(s.Panel("k=auto gives more independent energies a second than tuned as in the paper, tuning included"), logs(allGainPanel, automatic), logs(allGainPanel, byPaper)), automatic),
					refuse(claims.Larger(s.Panel("k=auto gives more independent energies a second than untuned, tuning included"), logs(allGainPanel, automatic), logs(allGainPanel, untuned)), automatic))
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var names []string
			for _, s := range glassy {
				names = append(names, string(s.Label))
			}
			return claims.Curves(w, t, 2, []claims.Panel{
				{Name: tauMoves, Title: "integrated autocorrelation time of the energy", Y: "moves", LogY: true, Geometric: true, Words: names},
				{Name: allGainPanel, Title: "independent energies, tuning included", Y: "a second", LogY: true, Geometric: true, Words: names},
			}, lengthCurves)
		},
		Finding: func(t *claims.Table) string {
			var parts []string
			for at, s := range glassy {
				of := func(panel, curve string) string { return chains.Digits(chains.Exp(logsAt(t, panel, curve, at))) }
				parts = append(parts, fmt.Sprintf("on the %s τ is %s moves by k=auto, %s tuned as in the paper and %s untuned; independent energies a second, tuning included, are %s, %s and %s, and %s by sweeps of Gibbs",
					s.Label, of(tauMoves, automatic), of(tauMoves, byPaper), of(tauMoves, untuned), of(allGainPanel, automatic), of(allGainPanel, byPaper), of(allGainPanel, untuned), of(allGainPanel, gibbs)))
			}
			return strings.ToUpper(parts[0][:1]) + strings.Join(parts, "; ")[1:] + "."
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			b.WriteString("Each repetition has other couplings. Samplers start after 100 sweeps of Gibbs and run in turns. They run for 2.5 s of computing each; the energies of the first fifth are left out. \"Tuning included\" adds the seconds of the warm-up of 1000 moves, or of the paper's 200 trials. Differences are those of natural logarithms. τ is about the mean of a run, as in figure II.\n\n" +
				"| system | sampler | flips a move | µs a move | τ / moves | independent energies a second | tuning included | seconds of tuning | run / τ |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
			for at, s := range glassy {
				for _, c := range lengthCurves {
					logs := func(panel string) claims.Repeats { return logsAt(t, panel, c, at) }
					fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %.0f |\n", s.Label, c, chains.Digits(chains.Exp(logs(flipsPanel))), chains.Digits(chains.Exp(logs(microPanel))), chains.Factor(logs(tauMoves)),
						chains.Factor(logs(gainPanel)), chains.Factor(logs(allGainPanel)), chains.Digits(t.At(tunePanel, c, float64(at)).Mean()), chains.Exp(logs(timesPanel)))
				}
			}
			return b.String()
		},
	}
}

// lengths tunes SARDONICS on a draw of the system by both ways and races it.
func (s system) lengths(ctx context.Context, p *programs, at, draw int, quick bool) (points []claims.Point, err error) {
	s.draw = uint64(draw)
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return nil, err
	}
	start, err := s.start(c, draw)
	if err != nil {
		return nil, err
	}
	key := rbm.NewKey(uint64(draw))
	seconds, given, full := 2.5, "sardonics:"+untunedSettings, s.settings(true, true)
	if quick {
		seconds, given, full = 0.02, "sardonics:k=1-8:gamma=1.02", shortened(full, len(start))
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
	for i, m := range []mcmc.Mover{warmed, mcmc.Mixture(tuned.Kernels), plain, full, mcmc.Gibbs{}} {
		samplers = append(samplers, chains.Sampler{Name: lengthCurves[i], Mover: m, System: chains.Onto(c.build, start)})
	}
	runs, err := chains.Race(ctx, samplers, s.beta, seconds, key.Child(2))
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
		if r.Name == gibbs {
			flips = float64(r.Info.Updates)
		}
		add(tauMoves, tau)
		add(timesPanel, float64(len(energies))/tau)
		add(flipsPanel, flips/moves)
		add(microPanel, 1e6*r.Seconds/moves)
		add(gainPanel, moves/(2*tau)/r.Seconds)
		add(allGainPanel, moves/(2*tau)/(r.Seconds+spent[r.Name]))
		add(tunePanel, spent[r.Name])
	}
	return points, err
}
