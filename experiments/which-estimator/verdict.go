package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/experiments/internal/claims"
)

// resolution is the number of nats below which models are not distinguished, a choice: such a model
// gives a row 5 % less probability than the distribution of the data does.
const resolution = 0.05

// scores returns what is compared. Where the truth is known it is the logarithm of the nats below it,
// so that one bad run of an estimator does not hide that all are bad; otherwise nats.
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

// words say what is measured, and what it means to be better or worse.
func (d problem) words() (measure, nearer, farther string) {
	if d.unknown {
		return "−log-likelihood / nats", "at a higher likelihood than", "at a lower likelihood than"
	}
	return "nats below the truth", "nearer to the truth than", "farther from the truth than"
}

// against compares the scores of an estimator with those of pcd: where chains of pcd mix it should
// not be worse, and elsewhere better.
func (d problem) against(name string, its, base claims.Repeats) claims.Claim {
	_, nearer, farther := d.words()
	if !d.mixes {
		return claims.Smaller(fmt.Sprintf("%s: %s ends %s %s", d.name, name, nearer, estimators[0].name), its, base)
	}
	loss := claims.Factor
	if d.unknown {
		loss = func(x float64) string { return fmt.Sprintf("%.2g nats", x) }
	}
	return claims.NotLess(fmt.Sprintf("%s: %s does not end %s %s by more than the error", d.name, name, farther, estimators[0].name), base, its, loss)
}

// ladders compares pt with its own ladder and with that of the paper.
func (d problem) ladders(own, paper claims.Repeats) claims.Claim {
	_, nearer, _ := d.words()
	return claims.Smaller(fmt.Sprintf("%s: pt ends %s with the ladder of the paper, if it tunes its own", d.name, nearer), own, paper)
}

// last returns the largest x of the data, false if there is none.
func (d problem) last(t *claims.Table) (x float64, ok bool) {
	for _, curve := range t.Curves(d.name) {
		for _, at := range t.Xs(d.name, curve) {
			x, ok = max(x, at), true
		}
	}
	return x, ok
}

// A verdict is what came out for some data at some x.
type verdict struct {
	best   string   // estimator
	nats   float64  // of it
	sure   bool     // that it is better than pcd, by more than three standard errors
	others []string // that it does not beat
}

// winner returns the best estimator at x on some data.
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

// ends returns the ends of the runs and the verdicts as tables.
func ends(t *claims.Table, estimators []estimator, problems []problem) string {
	var b strings.Builder
	b.WriteString("Nats at the end, means over the repetitions ± one standard deviation: below the truth, or, where it is unknown, minus the log-likelihood. Less is better. " +
		"Bold: the best, and those that it does not beat by three standard errors. The best is chosen from the same runs, which favours it a little. " +
		"Nats below the truth are compared by their natural logarithms, of at least 0.05: models nearer to it are not distinguished.\n\n| data | nats |")
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
		of := map[bool]string{false: "below the truth", true: "−log-likelihood"}[d.unknown]
		fmt.Fprintf(&b, "| %s | %s |", d.name, of)
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
			verdict = fmt.Sprintf("%d of %d data | %d", wins[e.name], count, losses[e.name])
		}
		settings := "`" + e.settings + "`"
		if e.mover != nil {
			settings = e.settings
		}
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
