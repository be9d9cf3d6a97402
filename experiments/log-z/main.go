// Log-z tests the standard errors of estimates of log Z. It estimates log Z of many models
// that are small enough to enumerate, and counts how often the confidence intervals contain
// the exact value.
//
//	go run ./experiments/log-z
//
// Results are in README.md. See -h for the figures.
package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/logz"

	"gonum.org/v1/gonum/stat/distuv"
)

func main() { cli.Main("log-z", run) }

var run = experiment().Command(nil)

const about = `` + "`rbmeval`" + ` estimates log Z in three ways. Each estimate has a standard error s, and log Z ± 1.96 s is meant to be a 95 % confidence
interval. ` + "`rbmeval`" + ` also warns of estimates that cannot be trusted. The models here are small enough to enumerate, and the page counts
how often the interval contains the exact log Z. Settings are the defaults of ` + "`rbmeval`" + `.

There are six kinds of models: trained on images of font digits; trained on the same images with labels; trained on data of known structure (bars, four
modes, toy data, shifted patterns); with random parameters; with large random parameters ("sharp"); and with a fixed number of active hidden
units. The training used short and long runs of ` + "`cd` and `pcd`" + `, some of which lead to models whose chains hardly mix. The initial model,
its training and the estimate have the same seed.`

// experiment returns all figures.
func experiment() claims.Experiment {
	return claims.Experiment{
		Name:    "log-z",
		Title:   "Are the error bars of log Z right?",
		Paper:   "ours",
		About:   about,
		Figures: []claims.Figure{coverage()},
	}
}

var methods = []logz.Method{logz.ByBennett, logz.ByAIS, logz.ByReverse}

// Panels. A curve is a kind of model, and X the index of the model in cases. The name of a method follows.
const (
	scorePanel  = "score of "   // (estimate − log Z) / s; NaN: no estimate
	errorPanel  = "error of "   // estimate − log Z, nats
	warnedPanel = "warning of " // 1 if a warning names the estimate
)

func coverage() claims.Figure {
	return claims.Figure{
		Name:  "coverage",
		Ours:  true,
		Title: "how often the confidence intervals of log Z contain the exact value",
		Says:  "do 95 % intervals without a warning contain the exact log Z in 95 % of the models, and do warnings find wrong estimates?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for seed := range uint64(max(o.Repeats, 1)) {
				for at, c := range cases {
					if !o.Quick || at%10 == 0 {
						jobs = append(jobs, c.job(at, seed+1, o.Quick))
					}
				}
			}
			return jobs
		},
		Claims: coverageClaims,
		Draw:   draw,
		Finding: func(t *claims.Table) string {
			var parts []string
			for _, m := range methods {
				c := count(t, m, "")
				parts = append(parts, fmt.Sprintf("%d of %d by %s", within(c.scores, of95), len(c.scores), m.Name()))
			}
			return "Intervals without a warning that contain log Z: " + strings.Join(parts, ", ") + "."
		},
		Notes: notes,
	}
}

// A tally has the counts of a method.
type tally struct {
	all, warned, impossible int       // estimates; estimates with a warning; estimates without a number
	scores, doubtful        []float64 // |estimate − log Z| / s without and with a warning
	worst                   float64   // largest |estimate − log Z| without a warning, nats
}

// count counts the estimates of a method for models of a kind, or for all if kind is "".
func count(t *claims.Table, m logz.Method, kind string) (c tally) {
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

// coverageClaims returns the claims that 95 % of the intervals without a warning contain log Z, within three
// binomial standard errors, and that a smaller fraction of the intervals with a warning contain it.
func coverageClaims(t *claims.Table) (all []claims.Claim) {
	for _, m := range methods {
		c := count(t, m, "")
		n := len(c.scores)
		if n == 0 {
			continue
		}
		in := within(c.scores, of95)
		covered, sd := float64(in)/float64(n), math.Sqrt(0.95*0.05/float64(n))
		z := (covered - 0.95) / sd
		all = append(all, claims.Holds(fmt.Sprintf("%s: 95 %% intervals without a warning contain log Z in 95 %% of the models", m.Name()), math.Abs(z) <= claims.Errors, z,
			"%d of %d: %.1f %% ± %.1f, %.2f standard errors from 95 %%", in, n, 100*covered, 100*sd, z))
		if d := len(c.doubtful); d > 0 {
			held := within(c.doubtful, of95)
			// p is the probability that at most this number contain log Z, if they contained it as often as
			// intervals without a warning.
			p := distuv.Binomial{N: float64(d), P: covered}.CDF(float64(held))
			all = append(all, claims.Holds(fmt.Sprintf("%s: intervals with a warning contain log Z less often", m.Name()), p < 0.001, p,
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

func draw(w io.Writer, t *claims.Table) error {
	const held, warned = "held", "warned"
	var points []claims.Point
	curves := []string{"nominal"}
	for _, l := range levels() {
		points = append(points, claims.Point{Panel: held, Curve: curves[0], Repeat: 1, X: l, Y: l})
	}
	for _, m := range methods {
		c := count(t, m, "")
		curves = append(curves, m.Name())
		for _, l := range levels() {
			z := distuv.UnitNormal.Quantile(0.5 + l/200)
			points = append(points, claims.Point{Panel: held, Curve: m.Name(), Repeat: 1, X: l, Y: 100 * float64(within(c.scores, z)) / float64(max(1, len(c.scores)))})
		}
		for i, kind := range kinds() {
			if k := count(t, m, kind); k.all > 0 {
				points = append(points, claims.Point{Panel: warned, Curve: m.Name(), Repeat: 1, X: float64(i), Y: 100 * float64(k.warned) / float64(k.all)})
			}
		}
	}
	return claims.Curves(w, claims.TableOf(points...), 2, []claims.Panel{
		{Name: held, Title: "intervals without a warning", X: "nominal coverage / %", Y: "coverage of log Z / %", Dots: true},
		{Name: warned, Title: "estimates with a warning", Y: "of the models / %", Words: short()},
	}, curves)
}

func notes(t *claims.Table) string {
	var b strings.Builder
	b.WriteString("The table has the number of models of each kind. For each estimator, \"warned\" is the percentage of models with a warning. Of the models without a warning, \"held\" is the percentage whose 95 % interval contains log Z, and \"worst\" the largest error in nats.\n\n" +
		"| models | | Bennett: warned | held | worst | AIS: warned | held | worst | reverse AIS: warned | held | worst |\n|" + strings.Repeat(" --- |", 11) + "\n")
	for _, kind := range append(kinds(), "") {
		line := []string{cmp.Or(kind, "all")}
		for i, m := range methods {
			c := count(t, m, kind)
			if c.all == 0 {
				break
			}
			if i == 0 {
				line = append(line, fmt.Sprint(c.all))
			}
			held := "–"
			if n := len(c.scores); n > 0 {
				held = fmt.Sprintf("%.1f %%", 100*float64(within(c.scores, of95))/float64(n))
			}
			line = append(line, fmt.Sprintf("%.0f %%", 100*float64(c.warned)/float64(c.all)), held, fmt.Sprintf("%.2g", c.worst))
		}
		if len(line) > 1 {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
		}
	}
	for _, m := range methods {
		if c := count(t, m, ""); c.impossible > 0 {
			fmt.Fprintf(&b, "\n%s has no estimate in %s.", m.Name(), cli.Count(c.impossible, "case"))
		}
	}
	return b.String()
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
