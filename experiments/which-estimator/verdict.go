package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/experiments/internal/claims"
)

// resolution is the number of nats below the truth at which models are no longer distinguished. The number is a choice: such a model
// gives a row 5 % less probability than the distribution of the data.
const resolution = 0.05

// scores returns the numbers that are compared. They are logarithms of the nats below the truth if it is known, so that
// one very bad run of an estimator does not dominate the standard error, and otherwise nats.
func (d problem) scores(r claims.Repeats) claims.Repeats {
	if d.unknown {
		return r
	}
	s := claims.Repeats{}
	for k, x := range r {
		s[k] = math.Log(max(x, resolution))
	}
	return s
}

// words returns the measure, and the words for better and worse.
func (d problem) words() (measure, nearer, farther string) {
	if d.unknown {
		return "−log-likelihood / nats", "at a higher likelihood than", "at a lower likelihood than"
	}
	return "nats below the truth", "nearer to the truth than", "farther from the truth than"
}

// against returns the claim that the scores of an estimator are not worse than those of pcd if chains of pcd mix,
// and better otherwise.
func (d problem) against(name string, its, base claims.Repeats) claims.Claim {
	_, nearer, farther := d.words()
	if !d.mixes {
		return claims.Smaller(fmt.Sprintf("%s: %s ends %s %s", d.name, name, nearer, estimators[0].name), its, base)
	}
	loss := claims.Factor
	if d.unknown {
		loss = func(x float64) string { return fmt.Sprintf("%.2g nats", x) }
	}
	return claims.NotLess(fmt.Sprintf("%s: %s does not end %s %s", d.name, name, farther, estimators[0].name), base, its, loss)
}

// ladders returns the claim that pt is better with a tuned ladder than with that of the paper.
func (d problem) ladders(tuned, paper claims.Repeats) claims.Claim {
	_, nearer, _ := d.words()
	return claims.Smaller(fmt.Sprintf("%s: pt with a tuned ladder ends %s pt with the ladder of the paper", d.name, nearer), tuned, paper)
}

// last returns the largest x of the data. ok is false if there is none.
func (d problem) last(t *claims.Table) (x float64, ok bool) {
	for _, curve := range t.Curves(d.name) {
		for _, at := range t.Xs(d.name, curve) {
			x, ok = max(x, at), true
		}
	}
	return x, ok
}

// A verdict is the result for a data set at some x, in seconds.
type verdict struct {
	best   string   // best estimator
	nats   float64  // nats of the best estimator
	sure   bool     // the best is better than pcd by more than three standard errors
	others []string // estimators that are not worse than the best by three standard errors
}

// winner returns the verdict for the data set d at x.
func winner(t *claims.Table, estimators []estimator, d problem, x float64) (v verdict) {
	at := func(name string) claims.Repeats { return d.scores(t.At(d.name, name, x)) }
	least := math.Inf(1)
	for _, e := range estimators {
		if mean, _ := at(e.name).Average(); mean < least {
			least, v.best = mean, e.name
		}
	}
	v.nats, _ = t.At(d.name, v.best, x).Average()
	v.sure = beats(at(v.best), at(estimators[0].name))
	for _, e := range estimators {
		if e.name != v.best && claims.Smaller("", at(v.best), at(e.name)).Verdict == claims.Fail {
			v.others = append(v.others, e.name)
		}
	}
	return v
}

// beats reports whether scores a are below b by more than three standard errors.
func beats(a, b claims.Repeats) bool { return claims.Smaller("", a, b).Verdict == claims.Pass }

// ends returns tables of the ends of the runs and of the verdicts.
func ends(t *claims.Table, estimators []estimator, problems []problem) string {
	var b strings.Builder
	b.WriteString("The table has, for the end of the runs, the nats below the truth, or minus the log-likelihood if the truth is unknown. Numbers are means ± one standard deviation over the repetitions. Less is better. " +
		"The best estimator and those that are not worse by three standard errors are bold. The best is chosen from the same runs, which favours it a little. " +
		"Nats below the truth are compared by their natural logarithms. Numbers below 0.05 count as 0.05, so that models nearer to the truth are not distinguished.\n\n| data | nats |")
	for _, e := range estimators {
		fmt.Fprintf(&b, " %s |", e.name)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", 2+len(estimators)) + "\n")
	wins, losses, updates := map[string]int{}, map[string]int{}, map[string][]float64{}
	count, many := 0, []int(nil)
	for _, d := range problems {
		x, ok := d.last(t)
		if !ok {
			continue
		}
		count++
		many = append(many, 10*d.temperatures())
		v := winner(t, estimators, d, x)
		measure := map[bool]string{false: "below the truth", true: "−log-likelihood"}[d.unknown]
		fmt.Fprintf(&b, "| %s | %s |", d.name, measure)
		base := d.scores(t.At(d.name, estimators[0].name, x))
		for _, e := range estimators {
			end := t.At(d.name, e.name, x)
			if n := t.Last(d.name+updatesPanel, e.name); len(n) > 0 {
				mean, _ := n.Average()
				updates[e.name] = append(updates[e.name], mean)
			}
			if len(end) == 0 {
				b.WriteString(" none |")
				continue
			}
			mean, sd := end.Average()
			mark := ""
			if e.name == v.best || slices.Contains(v.others, e.name) {
				mark = "**"
			}
			fmt.Fprintf(&b, " %s%.2f ± %.2f%s |", mark, mean, sd, mark)
			if beats(d.scores(end), base) {
				wins[e.name]++
			}
			if beats(base, d.scores(end)) {
				losses[e.name]++
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n| estimator | settings | updates in a run | better than pcd on | worse on |\n| --- | --- | --- | --- | --- |\n")
	for _, e := range estimators {
		verdict := "– | –"
		if e.name != estimators[0].name {
			verdict = fmt.Sprintf("%d of %d data sets | %d", wins[e.name], count, losses[e.name])
		}
		settings := "`" + e.settings + "`"
		if e.name == manyPCD {
			settings = fmt.Sprintf("`pcd:chains=%d`", many[0])
			if most := slices.Max(many); most > many[0] {
				settings += fmt.Sprintf(" … %d", most)
			}
		}
		steps := fmt.Sprintf("%.0f", slices.Min(updates[e.name]))
		if len(updates[e.name]) > 1 {
			steps += fmt.Sprintf(" … %.0f", slices.Max(updates[e.name]))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.name, settings, steps, verdict)
	}
	return b.String()
}
