// Log-z tests the standard errors of estimates of log Z. It estimates log Z of many models
// that are small enough to enumerate, and counts how often the confidence intervals contain
// the exact value.
//
//	go run ./experiments/log-z
//
// Results are in README.md.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
	"gorbm/negphase/logz"

	"gonum.org/v1/gonum/stat/distuv"
)

func main() { cli.Main("log-z", run) }

var run = experiment.Command(nil)

var experiment = figures.Experiment{Name: "log-z", Title: "Are the error bars of log Z right?", Ours: true, Figures: []figures.Figure{coverage}}

var methods = []logz.Method{logz.ByBennett, logz.ByAIS, logz.ByReverse}

// Panels. A curve is a kind of model, and X the index of the model in cases. The name of a method follows.
const (
	scorePanel  = "score of "   // (estimate − log Z) / s; NaN: no estimate
	errorPanel  = "error of "   // estimate − log Z, nats
	warnedPanel = "warning of " // 1 if a warning names the estimate
)

var coverage = figures.Figure{
	Name: "coverage",
	Jobs: func(o figures.Options) (jobs []figures.Job) {
		for seed := range uint64(max(o.Repeats, 1)) {
			for at, d := range cases {
				if !o.Quick || at%10 == 0 {
					jobs = append(jobs, figures.Job{Name: fmt.Sprintf("%v, seed %d", d, seed+1), Repeat: int(seed + 1), Run: func(ctx context.Context, add figures.Add) error {
						return d.measure(ctx, at, seed+1, o.Quick, add)
					}})
				}
			}
		}
		return jobs
	},
	Claims: claims,
	Draw:   draw,
	Table:  table,
}

// A tally has the counts of a method.
type tally struct {
	all, warned, impossible int       // estimates; estimates with a warning; estimates without a number
	scores, doubtful        []float64 // |estimate − log Z| / s without and with a warning
	worst                   float64   // largest |estimate − log Z| without a warning, nats
}

// count counts the estimates of a method for models of a kind, or for all if kind is "".
func count(t *figures.Table, m logz.Method, kind string) (c tally) {
	for _, name := range kinds() {
		if kind != "" && kind != name {
			continue
		}
		scores, errors, warned := t.Curve(scorePanel+string(m), name), t.Curve(errorPanel+string(m), name), t.Curve(warnedPanel+string(m), name)
		for i, s := range scores {
			c.all++
			doubt := warned[i].Y == 1
			if doubt {
				c.warned++
			}
			switch {
			case math.IsNaN(s.Y):
				c.impossible++
			case doubt:
				c.doubtful = append(c.doubtful, math.Abs(s.Y))
			default:
				c.scores = append(c.scores, math.Abs(s.Y))
				c.worst = max(c.worst, math.Abs(errors[i].Y))
			}
		}
	}
	return c
}

// within returns the number of scores that are at most z.
func within(scores []float64, z float64) (n int) {
	for _, s := range scores {
		if s <= z {
			n++
		}
	}
	return n
}

// of95 is half the width of a 95 % interval in standard errors.
const of95 = 1.96

// claims returns the claims that 95 % of the intervals without a warning contain log Z, within three
// binomial standard errors, and that a smaller fraction of the intervals with a warning contain it.
func claims(t *figures.Table) (all []figures.Claim) {
	for _, m := range methods {
		c := count(t, m, "")
		n := len(c.scores)
		if n == 0 {
			continue
		}
		in := within(c.scores, of95)
		covered, sd := float64(in)/float64(n), math.Sqrt(0.95*0.05/float64(n))
		z := (covered - 0.95) / sd
		all = append(all, figures.Holds(fmt.Sprintf("%s: 95 %% intervals without a warning contain log Z in 95 %% of the models", m.Name()), math.Abs(z) <= figures.Errors, z,
			"%d of %d: %.1f %% ± %.1f, %.2f standard errors from 95 %%", in, n, 100*covered, 100*sd, z))
		if d := len(c.doubtful); d > 0 {
			held := within(c.doubtful, of95)
			// p is the probability that at most this number contain log Z, if they contained it as often as
			// intervals without a warning.
			p := distuv.Binomial{N: float64(d), P: covered}.CDF(float64(held))
			all = append(all, figures.Holds(fmt.Sprintf("%s: intervals with a warning contain log Z less often", m.Name()), p < 0.001, p,
				"%d of %d: %.1f %%; by chance with probability %.2g; less than 0.001 is needed", held, d, 100*float64(held)/float64(d), p))
		}
	}
	return all
}

// levels returns the nominal coverages of the picture, in percent.
func levels() (all []float64) {
	for l := 50; l <= 98; l += 4 {
		all = append(all, float64(l))
	}
	return append(all, 99)
}

func draw(w io.Writer, t *figures.Table) error {
	const held, warned = "held", "warned"
	var points []figures.Point
	curves := []string{"nominal"}
	for _, l := range levels() {
		points = append(points, figures.Point{Panel: held, Curve: curves[0], Repeat: 1, X: l, Y: l})
	}
	for _, m := range methods {
		c := count(t, m, "")
		curves = append(curves, m.Name())
		for _, l := range levels() {
			z := distuv.UnitNormal.Quantile(0.5 + l/200)
			points = append(points, figures.Point{Panel: held, Curve: m.Name(), Repeat: 1, X: l, Y: 100 * float64(within(c.scores, z)) / float64(max(1, len(c.scores)))})
		}
		for i, kind := range kinds() {
			if k := count(t, m, kind); k.all > 0 {
				points = append(points, figures.Point{Panel: warned, Curve: m.Name(), Repeat: 1, X: float64(i), Y: 100 * float64(k.warned) / float64(k.all)})
			}
		}
	}
	return figures.Curves(2, curves,
		figures.Panel{Name: held, Title: "intervals without a warning", X: "nominal coverage / %", Y: "coverage of log Z / %", Dots: true},
		figures.Panel{Name: warned, Title: "estimates with a warning", Y: "of the models / %", Words: short()},
	)(w, figures.TableOf(points...))
}

// table returns the number of models of each kind, and for each method the percentage of models with a warning. Of the others it has
// the percentage whose 95 % interval contains log Z, and the largest error in nats.
func table(t *figures.Table) string {
	var lines [][]string
	for _, kind := range append(kinds(), "") {
		line := []string{cmp.Or(kind, "all"), fmt.Sprint(count(t, methods[0], kind).all)}
		for _, m := range methods {
			c := count(t, m, kind)
			held := "–"
			if n := len(c.scores); n > 0 {
				held = fmt.Sprintf("%.1f %%", 100*float64(within(c.scores, of95))/float64(n))
			}
			line = append(line, fmt.Sprintf("%.0f %%", 100*float64(c.warned)/float64(c.all)), held, fmt.Sprintf("%.2g", c.worst))
		}
		if line[1] != "0" {
			lines = append(lines, line)
		}
	}
	text := figures.Grid(strings.Split("models||Bennett: warned|held|worst|AIS: warned|held|worst|reverse AIS: warned|held|worst", "|"), lines)
	for _, m := range methods {
		if c := count(t, m, ""); c.impossible > 0 {
			text += fmt.Sprintf("\n%s has no estimate in %s.", m.Name(), cli.Count(c.impossible, "case"))
		}
	}
	return text
}

// kinds returns the kinds of models, in the order of cases.
func kinds() (all []string) {
	for _, c := range cases {
		if !slices.Contains(all, c.kind) {
			all = append(all, c.kind)
		}
	}
	return all
}

// short returns the first word of each kind.
func short() (all []string) {
	for _, k := range kinds() {
		first, _, _ := strings.Cut(k, " ")
		all = append(all, first)
	}
	return all
}
