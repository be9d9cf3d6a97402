package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

const (
	// Seconds and number of runs, except in figure long.
	shortSeconds, repeats = 0.3, 10
	// leastTimes is the smallest length of a run, in units of τ, at which its τ is trusted. The sum of ρ ends at lag 6 τ,
	// and misses a tenth of τ in a run of this length.
	leastTimes = 50
)

// Panels. X is the index of the arena. Names of panels of samplers on p(v) begin with freeMark.
const (
	gainPanel     = "independent values a second"
	byErrorPanel  = "independent values a second, by the error"
	flipsTau      = "flips for an independent value"
	timesPanel    = "length of the run in τ"
	microPanel    = "µs a move"
	flipsPanel    = "flips a move"
	acceptedPanel = "accepted"
	foundPanel    = "found" // setting that the warm-up found
	tauPanel      = "τ in moves"
	halvesPanel   = "halves of the reference" // largest difference of their means of an observable, in standard deviations
	freeMark      = "p(v): "
	perSecond     = "independent values per second" // axis label
)

// A contest is a figure that compares samplers in several arenas.
type contest struct {
	name, title, says string
	seconds           float64 // of each run
	repeats           int
	arenas            []arena
	contestants       []contestant
	pictures          []string // curves of the picture
	notes             string
}

// panel returns the name of a panel of samplers on p(v) if free, and otherwise name.
func panel(name string, free bool) string {
	if free {
		return freeMark + name
	}
	return name
}

func (c contest) figure() claims.Figure {
	return claims.Figure{
		Name: c.name, Title: c.title, Says: c.says, Ours: true,
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for at, a := range c.arenas {
				for repeat := range o.Seeds(3, c.repeats) {
					jobs = append(jobs, claims.Job{
						Name: fmt.Sprintf("%s, seed %d", a.label, repeat+1),
						Run: func(ctx context.Context) ([]claims.Point, error) {
							return c.race(ctx, at, repeat+1, o.Quick)
						},
					})
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for at := range c.arenas {
				all = append(all, c.claims(t, at)...)
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var words []string
			for _, a := range c.arenas {
				words = append(words, a.word)
			}
			free := newNames(c.contestants, true)
			var panels []claims.Panel
			for _, f := range []bool{false, true}[:min(2, 1+len(free))] {
				on := ""
				if len(free) > 0 {
					on = map[bool]string{false: " on (v,h)", true: " on p(v)"}[f]
				}
				panels = append(panels, claims.Panel{Name: panel(gainPanel, f), Title: "by τ of the slowest observable" + on, Y: perSecond, LogY: true, Geometric: true, Words: words})
				second := claims.Panel{Name: panel(flipsTau, f), Title: "flips" + on, Y: "flips per independent value", LogY: true, Geometric: true, Words: words}
				if len(free) > 0 {
					second.Name, second.Title, second.Y = panel(byErrorPanel, f), "by the squared error of means"+on, perSecond
				}
				panels = append(panels, second)
			}
			return claims.Curves(w, t, 2, panels, c.pictures)
		},
		Finding: c.finding,
		Notes:   c.table,
	}
}

// race runs all samplers in an arena, from one state of its distribution.
func (c contest) race(ctx context.Context, at, seed int, quick bool) (points []claims.Point, err error) {
	a := c.arenas[at]
	g, err := a.make(ctx, quick)
	if err != nil {
		return nil, err
	}
	time := c.seconds
	if quick {
		time = 0.02
	}
	key := rbm.NewKey(uint64(seed))
	start := g.starts[key.Child(0).Rand().IntN(len(g.starts))]
	var samplers []chains.Sampler
	found := make([]float64, len(c.contestants))
	for i, x := range c.contestants {
		build := g.build
		if x.free {
			build = g.free
		}
		s := build()
		state := start[:s.Len()]
		s.SetState(state)
		warmed := chains.Warmed{Mover: x.mover, Start: state, Key: key.Child(2).Child(uint64(i)), Bound: func(c mcmc.Chain, _ float64) { found[i] = setting(c) }}
		samplers = append(samplers, chains.Sampler{Name: x.name, Mover: warmed, System: s,
			Observe: g.observer(s), Values: g.observables, Every: x.every})
	}
	runs, err := chains.Race(ctx, samplers, a.beta, time, key.Child(1))
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		x := c.contestants[i]
		frees := []bool{x.free}
		if i == 0 && g.free != nil {
			frees = []bool{false, true} // the panels of p(v) show the first sampler too
		}
		for _, free := range frees {
			g.measure(r, x.every, found[i], func(name string, y float64) {
				points = append(points, claims.Point{Panel: panel(name, free), Curve: x.name, Repeat: seed, X: float64(at), Y: y})
			})
		}
	}
	return append(points, claims.Point{Panel: halvesPanel, Curve: a.truth, Repeat: seed, X: float64(at), Y: g.halves}), nil
}

// measure adds the points of a run.
func (g *ground) measure(r chains.Run, every int, found float64, add func(name string, y float64)) {
	slowest, errors := 0., 0.
	n := len(r.Observed[0])
	for k, x := range r.Observed {
		s := diag.Summarize(x)
		tau := s.Time.Tau
		if !(tau < float64(n)) { // the observable never changed
			tau = float64(n)
		}
		slowest = max(slowest, tau)
		d := s.Mean - g.mean[k]
		errors += d * d / g.variance[k] / float64(len(r.Observed))
	}
	moves := float64(len(r.Energies))
	tau := slowest * float64(every)
	flips := float64(r.Info.Flips) / moves
	accepted, proposed := r.Info.Acceptance()
	add(tauPanel, tau)
	add(gainPanel, moves/r.Seconds/(2*tau))
	add(flipsTau, 2*tau*flips)
	add(timesPanel, float64(n)/slowest)
	add(byErrorPanel, 1/(errors*r.Seconds))
	add(microPanel, 1e6*r.Seconds/moves)
	add(flipsPanel, flips)
	if proposed {
		add(acceptedPanel, accepted)
	}
	if found > 0 {
		add(foundPanel, found)
	}
}

// logs returns the logarithms of the values of a sampler in a panel, by run.
func logs(t *claims.Table, name string, x contestant, at int) claims.Repeats {
	return chains.Logs(t.At(panel(name, x.free), x.name, float64(at)))
}

// Chains count as stuck if their mean squared error is more than tooWrong times the prediction by τ of the slowest observable.
// With ten runs this happens by chance to one sampler in a thousand.
const tooWrong = 3

// stuck returns the independent values per second by the mean squared error, and whether they are so few that chains must
// stay in part of the states.
func stuck(t *claims.Table, x contestant, at int) (byError float64, yes bool) {
	squares := claims.Repeats{}
	for run, rate := range t.At(panel(byErrorPanel, x.free), x.name, float64(at)) {
		squares[run] = 1 / rate
	}
	byError = 1 / squares.Mean()
	return byError, chains.Exp(logs(t, gainPanel, x, at)) > tooWrong*byError
}

// best returns the wanted sampler with the largest geometric mean of independent values per second, by τ. Stuck samplers
// count only if all are stuck.
func (c contest) best(t *claims.Table, at int, wanted func(x contestant) bool) (top contestant) {
	most, topStuck := math.Inf(-1), true
	for _, x := range c.contestants {
		l := logs(t, gainPanel, x, at)
		if !wanted(x) || len(l) == 0 {
			continue
		}
		if _, stuck := stuck(t, x, at); topStuck && !stuck || topStuck == stuck && l.Mean() > most {
			top, most, topStuck = x, l.Mean(), stuck
		}
	}
	return top
}

func isNew(x contestant) bool { return x.new }
func isOld(x contestant) bool { return !x.new }

// has reports whether t has runs in the arena with index at.
func (c contest) has(t *claims.Table, at int) bool {
	return len(logs(t, gainPanel, c.contestants[0], at)) > 0
}

// fullName returns the name of a sampler, with its target if that is p(v).
func (x contestant) fullName() string {
	if x.free {
		return x.name + " on p(v)"
	}
	return x.name
}

// short returns the length of the runs of a sampler in units of τ, and whether it is too short for τ to be known.
func short(t *claims.Table, x contestant, at int) (times float64, yes bool) {
	times = chains.Exp(logs(t, timesPanel, x, at))
	return times, times < leastTimes
}

// doubt returns the reason why τ of a sampler does not show that the sampler is better; "": none.
func (c contest) doubt(t *claims.Table, x contestant, at int) string {
	if rate, stuck := stuck(t, x, at); stuck {
		const values = leastTimes / 2 // independent values of a run of leastTimes τ
		return fmt.Sprintf("in runs of %g s, chains of %s stay in part of the states; by the errors of means a run has %s independent values, and %d of them would take at least %s s",
			c.seconds, x.fullName(), chains.Digits(rate*c.seconds), values, chains.Digits(values/rate))
	}
	if times, yes := short(t, x, at); yes {
		return fmt.Sprintf("runs of %s are %.0f τ long, and at least %d are needed to know τ", x.fullName(), times, leastTimes)
	}
	return ""
}

// refuse withdraws the verdict of a claim that the sampler better is better than other, if there is a doubt about τ of better. Runs that are
// too short, and stuck chains, underestimate τ. A doubt about τ of other means that other is at most as good as it looks, so it withdraws
// only the verdict of a failed claim.
func (c contest) refuse(t *claims.Table, claim claims.Claim, better, other contestant, at int) claims.Claim {
	if why := c.doubt(t, better, at); why != "" {
		claim = claim.Refused("%s", why)
	} else if why := c.doubt(t, other, at); why != "" && claim.Verdict == claims.Fail {
		claim = claim.Refused("%s", why)
	}
	return claim.Resolved()
}

func (c contest) claims(t *claims.Table, at int) (all []claims.Claim) {
	if !c.has(t, at) {
		return nil
	}
	champion, rival := c.best(t, at, isOld), c.best(t, at, isNew)
	larger := func(text, name string, a, b contestant) claims.Claim {
		return claims.Larger(c.arenas[at].label+": "+text, logs(t, name, a, at), logs(t, name, b, at)).Aside()
	}
	sard := contestant{name: sardonics}
	paths := c.best(t, at, func(x contestant) bool { return !x.free && strings.HasPrefix(x.name, "PAS") })
	return []claims.Claim{
		c.refuse(t, larger(fmt.Sprintf("the fastest old sampler, %s, gives more independent values per second than the fastest new one, %s", champion.fullName(), rival.fullName()), gainPanel, champion, rival), champion, rival, at),
		larger(fmt.Sprintf("in equal time, the means of %s have smaller squared errors than those of %s", champion.fullName(), rival.fullName()), byErrorPanel, champion, rival),
		c.refuse(t, larger(fmt.Sprintf("SARDONICS gives more independent values per second than the fastest path sampler, %s", paths.name), gainPanel, sard, paths), sard, paths, at),
		c.refuse(t, claims.Smaller(fmt.Sprintf("%s: SARDONICS makes fewer flips per independent value than %s", c.arenas[at].label, paths.name), logs(t, flipsTau, sard, at), logs(t, flipsTau, paths, at)).Aside(), sard, paths, at),
	}
}

// finding names the best sampler in each arena, and its factor.
func (c contest) finding(t *claims.Table) string {
	var texts []string
	for at, a := range c.arenas {
		if !c.has(t, at) {
			continue
		}
		champion, rival := c.best(t, at, isOld), c.best(t, at, isNew)
		all := c.claims(t, at)
		byTau, byError := all[0], all[1]
		gives := func(claim claims.Claim, more string) string {
			return fmt.Sprintf("%s gives %s times as many as %s%s", champion.fullName(), chains.Digits(math.Exp(claim.Mean)), rival.fullName(), more)
		}
		text := "there is no verdict, because " + byTau.Refusal
		if c.doubt(t, champion, at) == "" {
			text = fmt.Sprintf("%s gives %s per second. On the new samplers %s", champion.fullName(), chains.Digits(chains.Exp(logs(t, gainPanel, champion, at))), text)
		}
		switch {
		case byTau.Refusal == "":
			text = gives(byTau, "")
		case byError.Verdict == claims.Pass:
			text = gives(byError, ", judged by the errors of means, because τ gives no verdict")
		}
		texts = append(texts, fmt.Sprintf("On %s: %s.", a.label, text))
	}
	return "We compare the independent values per second of the slowest observable. " + strings.Join(texts, " ")
}

// table returns the tables of all arenas.
func (c contest) table(t *claims.Table) string {
	var b strings.Builder
	b.WriteString(c.notes)
	for at, a := range c.arenas {
		if !c.has(t, at) {
			continue
		}
		halves := t.At(halvesPanel, a.truth, float64(at)).Mean()
		fmt.Fprintf(&b, "\n\n%s. The reference is from %s. Its two halves differ by at most %s standard deviations of an observable:\n\n", a.label, a.truth, chains.Digits(halves))
		b.WriteString("| sampler | length or step | accepted | flips per move | µs per move | τ / moves | flips per independent value | independent values per second, by τ | by the error | run / τ |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
		for _, x := range c.contestants {
			typical := func(name string) string {
				if l := t.At(panel(name, x.free), x.name, float64(at)); len(l) > 0 {
					return chains.Typical(l)
				}
				return ""
			}
			gain := chains.Factor(logs(t, gainPanel, x, at))
			times, tooShort := short(t, x, at)
			byError, stuck := stuck(t, x, at)
			switch {
			case stuck:
				gain += ", stuck"
			case tooShort:
				gain += ", too short"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %.0f |\n", x.fullName(), typical(foundPanel), typical(acceptedPanel), typical(flipsPanel), typical(microPanel), typical(tauPanel), typical(flipsTau), gain,
				chains.Digits(byError), times)
		}
	}
	return b.String()
}
