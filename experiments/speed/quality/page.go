package main

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/experiments/internal/claims"
)

// best returns the name of the curve with the largest mean at x, or "" if none has a value there.
func best(t *claims.Table, panel string, x float64, curves ...string) (name string) {
	most := math.Inf(-1)
	for _, c := range curves {
		if all := t.At(panel, c, x); len(all) > 0 {
			if mean, _ := all.Average(); mean > most {
				name, most = c, mean
			}
		}
	}
	return name
}

func searchClaims(t *claims.Table) []claims.Claim {
	return append(chosenClaims(t), startClaim(t)...)
}

// startClaim is the claim about recipes that differ in the start alone, of all programs together.
func startClaim(t *claims.Table) []claims.Claim {
	sparse, dense := claims.Repeats{}, claims.Repeats{}
	for i, r := range recipes {
		r.Start = ""
		j := slices.Index(recipes, r)
		if i == j || j < 0 {
			continue
		}
		for _, name := range contestants {
			a, b := t.At(heldPanel, name, float64(i)), t.At(heldPanel, name, float64(j))
			if len(a) > 0 && len(b) > 0 {
				sparse[len(sparse)], dense[len(dense)] = a.Mean(), b.Mean()
			}
		}
	}
	if len(sparse) == 0 {
		return nil
	}
	return []claims.Claim{claims.Larger("with equal settings otherwise, the sparse start is better", sparse, dense)}
}

func chosenClaims(t *claims.Table) (all []claims.Claim) {
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		most, at := math.Inf(-1), -1
		for _, x := range t.Xs(heldPanel, name) {
			if mean, _ := t.At(heldPanel, name, x).Average(); mean > most {
				most, at = mean, int(x)
			}
		}
		if at >= 0 {
			all = append(all, claims.Holds(fmt.Sprintf("%s has its best settings in the race", name), recipes[at] == chosen[name], most,
				"%.2f nats with %v", most, recipes[at]))
		}
	}
	return all
}

func drawSearch(w io.Writer, t *claims.Table) error {
	var names []string
	for i := range recipes {
		names = append(names, fmt.Sprint(i+1))
	}
	return claims.Curves(w, t, 1, []claims.Panel{{Name: heldPanel, Title: fmt.Sprintf("after %d s of a core", searchSeconds), X: "number of the settings", Y: heldPanel + " / nats", Words: names}}, contestants)
}

func searchNotes(t *claims.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Log-likelihood in nats of 5000 rows that training leaves out, and in parentheses the processor time of an update in ms. One seed. log Z is Bennett's estimate from %d rounds; its standard error is in the CSV file. "+
		"The settings are the same for all.\n\n| | settings |", searchRounds)
	for _, name := range contestants {
		fmt.Fprintf(&b, " %s |", name)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(contestants)) + "\n")
	least, most := math.Inf(1), 0.0
	for i, r := range recipes {
		fmt.Fprintf(&b, "| %d | %v |", i+1, r)
		step := map[string]float64{}
		for _, name := range contestants {
			if all := t.At(heldPanel, name, float64(i)); len(all) > 0 {
				mean, _ := all.Average()
				seconds, _ := t.At(secondsPanel, name, float64(i)).Average()
				updates, _ := t.At(updatesPanel, name, float64(i)).Average()
				step[name] = 1e3 * seconds / updates
				fmt.Fprintf(&b, " %.1f (%.1f) |", mean, step[name])
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
		for _, name := range loopsOfRace {
			if ratio := step[name] / step[gorbm]; ratio > 0 {
				least, most = min(least, ratio), max(most, ratio)
			}
		}
	}
	fmt.Fprintf(&b, "\nWith equal settings an update of gorbm is %.1f to %.1f times as fast as a loop's. The race can show no more than that. The factor is least "+
		"where many hidden units are on, because gorbm sums only over units that are on. The sparse start leaves fewer of them on.\n\nFor gorbm the table is an ablation at equal time too. Centring is worth most; a moving average pays with few chains; twice the rate does not pay; "+
		"100 and 200 chains are level.\n", least, most)
	b.WriteString(ablationNotes())
	return b.String()
}

// ablations are runs of rbmtrain with changes of the recipe, some of which were made to its code for the trial
// alone.
//
//go:embed ablation.csv
var ablations string

// ablationText is the paragraph above their table.
const ablationText = `
What else was tried, on one core with 784 × 500 units. The base of the rows before "spectral steps" is persistent contrastive divergence from
the log-odds start with the default recipe's rate, batch and 200 chains, for 4000 updates. Settings name what differs from it. Runs take some
nine seconds of processor time, so that a change that makes updates cheaper gets more of them. Trials marked * have as many updates as the
base and take longer, because their code was not made fast. Spectral steps have their own base of 1000 updates with 100 chains. log Z is
Bennett's estimate from 2500 rounds. Runs of 23 s have 6000 rounds, and runs of 60 s as many as were needed, so that none of their estimates is
doubtful. Such models make few round trips, and most of the other estimates are doubtful.
Seeds of the base differ by a nat, so that differences below two nats between single seeds show nothing. All runs are in
[ablation.csv](ablation.csv).

None of these changes is better by three standard errors, so none is in the program. The best are chains and a batch that double where the rate has
fallen to a half and to a tenth. They are 1.7 ± 0.7 nats better than the base, paired over three seeds. With infinite swapping, which the
default recipe has, they gain nothing: −0.2 ± 0.4 nats in 20 s, paired over three seeds, and −0.7 ± 0.2 in 60 s, over two. Nothing else is
clearly better than a rate of 0.3. Level with the base are S-DCP (two negative steps for each minibatch), L2 and larger k late. Two changes are level
if they make as many updates as the base: Rao-Blackwellising both phases, which takes another pass down, and the standardised gradient (centred,
divided by the variances of both units) at rate 0.2. An average with a rate that is dropped late, spectral steps and Adam are worse.

The last rows are infinite swapping with 200 chains, as in the default recipe, from the log-odds start. Those without the first 5000 rows took
20 s. They are compared by the log-likelihood of the rows left out, with log Z from 5000 rounds. Rates of 0.25 and 0.3, batches of 40, 150 chains and three
or four temperatures are level with the recipe: paired over three seeds, no held-out likelihood differs by 0.2 nats, nor by half its
standard error. What wins are hidden biases that start lower by 1: over five seeds the held-out likelihood is 0.99 ± 0.27 nats better. Fewer hidden
units are on, so that an update takes 1.77 ms in place of 2.14. This is the sparse start, which the default recipe has since; −2 does as well.
With this start, runs of a minute reach −67.47 ± 0.11 nats by 20000 rounds, without doubt. The 5000 rounds of the race are too few for such models.`

// ablationNotes is the table of the ablations, with the mean of the seeds of each.
func ablationNotes() string {
	rows, err := csv.NewReader(strings.NewReader(ablations)).ReadAll()
	if err != nil {
		panic("quality: ablation.csv: " + err.Error()) // it is part of the program
	}
	var b strings.Builder
	b.WriteString(ablationText + "\n\n| change | settings | updates | s used | test | held out | std. err. of log Z | round trips | seeds |\n|" + strings.Repeat(" --- |", 9) + "\n")
	type name struct{ change, settings string }
	lines, names := map[name][]claims.Repeats{}, []name{} // of updates, seconds, and so on
	for _, r := range rows[1:] {
		n := name{r[0], r[1]}
		if lines[n] == nil {
			names = append(names, n)
			for range r[3:] {
				lines[n] = append(lines[n], claims.Repeats{})
			}
		}
		seed, err := strconv.Atoi(r[2])
		for i, text := range r[3:] {
			if text == "" {
				continue
			}
			x, e := strconv.ParseFloat(text, 64)
			err = cmp.Or(err, e)
			lines[n][i][seed] = x
		}
		if err != nil {
			panic("quality: ablation.csv: " + err.Error())
		}
	}
	for _, n := range names {
		of := lines[n]
		fmt.Fprintf(&b, "| %s | %s | %.0f | %.1f | %s | %s | %.2f | %.0f | %d |\n", n.change, n.settings, of[0].Mean(), of[1].Mean(), spread(of[2]), spread(of[3]), of[4].Mean(), of[5].Mean(), len(of[2]))
	}
	return b.String()
}

// spread returns the mean of repetitions as text, with their standard deviation if there are several.
func spread(all claims.Repeats) string {
	mean, sd := all.Average()
	switch len(all) {
	case 0:
		return "–"
	case 1:
		return fmt.Sprintf("%.2f", mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", mean, sd)
}

// late is the time of the best loop with which shorter runs of gorbm are compared: the first of
// them would make it ten times as fast.
const late = 60

var early = []float64{6, 20}

func qualityClaims(t *claims.Table) (all []claims.Claim) {
	larger := func(text string, x, y float64) {
		loop := best(t, testPanel, y, loopsOfRace...)
		own, other := t.At(testPanel, gorbm, x), t.At(testPanel, loop, y)
		if len(own) == 0 || len(other) == 0 {
			return
		}
		c := claims.Larger(text, own, other)
		u, _ := own.Average()
		v, _ := other.Average()
		c.Statistic = fmt.Sprintf("%.2f against %.2f nats of %s; %s", u, v, loop, c.Statistic)
		all = append(all, c)
	}
	for _, x := range early {
		larger(fmt.Sprintf("gorbm's default recipe is better after %v s than the best loop after %d s", x, late), x, late)
	}
	for _, x := range t.Xs(testPanel, gorbm) {
		larger(fmt.Sprintf("gorbm's default recipe is better than the best loop, both after %v s", x), x, x)
	}
	return all
}

func qualityFinding(t *claims.Table) string {
	var parts []string
	for _, name := range contestants {
		var ends []string
		for _, x := range append(early[:len(early):len(early)], late) {
			ends = append(ends, fmt.Sprintf("%.2f", t.At(testPanel, name, x).Mean()))
		}
		parts = append(parts, name+" "+strings.Join(ends, ", "))
	}
	return fmt.Sprintf("Test log-likelihoods in nats after 6, 20 and %d s of a core: %s.", late, strings.Join(parts, "; "))
}

func searchFinding(t *claims.Table) string {
	all := chosenClaims(t)
	return fmt.Sprintf("In the race %d of %d loops have the settings that were best for them in this search.", claims.Passed(all), len(all))
}

// reached returns the processor seconds at which the mean test log-likelihood of a contestant
// reaches y, interpolated in the logarithm of the time, as a number and as text.
func reached(t *claims.Table, name string, y float64) (seconds float64, text string) {
	lastX, lastY := 0.0, 0.0
	for i, x := range t.Xs(testPanel, name) {
		now, _ := t.At(testPanel, name, x).Average()
		used, _ := t.At(secondsPanel, name, x).Average()
		if now >= y {
			if i == 0 {
				return math.NaN(), fmt.Sprintf("below %.0f", used)
			}
			s := lastX * math.Pow(used/lastX, (y-lastY)/(now-lastY))
			return s, fmt.Sprintf("%.0f", s)
		}
		lastX, lastY = used, now
	}
	return math.NaN(), fmt.Sprintf("above %.0f", lastX)
}

func drawQuality(w io.Writer, t *claims.Table) error {
	var points []claims.Point
	for _, panel := range []string{testPanel, trainPanel} {
		for _, name := range contestants {
			for _, p := range t.Curve(panel, name) {
				used, _ := t.At(secondsPanel, name, p.X).Average()
				p.X = math.Round(100*used) / 100
				points = append(points, p)
			}
		}
	}
	panel := func(name string) claims.Panel {
		return claims.Panel{Name: name, Title: "MNIST, 784 × 500 units", X: "processor time of one core / s", Y: name + " / nats", LogX: true, Dots: true}
	}
	return claims.Curves(w, claims.TableOf(points...), 2, []claims.Panel{panel(testPanel), panel(trainPanel)}, contestants)
}

func qualityNotes(t *claims.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "gorbm has the default recipe (%v; its infinite swapping has five chains a group), the others:\n\n", preset)
	for _, name := range contestants[1:] {
		fmt.Fprintf(&b, "- %s: %v\n", name, chosen[name])
	}
	fmt.Fprintf(&b, "\nMeans over seeds of the log-likelihood in nats, of the 10000 test rows and the 60000 training rows; ± is the spread of the seeds. log Z is Bennett's estimate from %d rounds. Its standard error is the mean over seeds. An estimate is doubtful if there were few round trips. It then tends to be too low, so that the likelihood is too high. This favours the loops, which have most of the doubtful estimates.\n\n"+
		"| program | s allowed | s used | updates | ms an update | test | training | std. err. of log Z | round trips | doubtful | seeds |\n|"+strings.Repeat(" --- |", 11)+"\n", raceRounds)
	for _, name := range contestants {
		for _, x := range t.Xs(testPanel, name) {
			mean := func(panel string) float64 {
				m, _ := t.At(panel, name, x).Average()
				return m
			}
			test := t.At(testPanel, name, x)
			fmt.Fprintf(&b, "| %s | %v | %.1f | %.0f | %.1f | %s | %.2f | %.2f | %.0f | %.0f | %d |\n", name, x, mean(secondsPanel), mean(updatesPanel), 1e3*mean(secondsPanel)/mean(updatesPanel),
				spread(test), mean(trainPanel), mean(stdErrPanel), mean(tripsPanel), mean(doubtPanel)*float64(len(test)), len(test))
		}
	}
	targets := []float64{-80, -77.5, -75, -72, -70}
	b.WriteString("\nProcessor seconds after which a test log-likelihood is reached. Between the times above they are interpolated, linearly in the logarithm of time:\n\n| program |")
	for _, y := range targets {
		fmt.Fprintf(&b, " %v nats |", strings.Replace(fmt.Sprint(y), "-", "−", 1))
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(targets)) + "\n")
	fastest := make([]float64, len(targets)) // of the loops
	for _, name := range contestants {
		fmt.Fprintf(&b, "| %s |", name)
		for i, y := range targets {
			seconds, text := reached(t, name, y)
			fmt.Fprintf(&b, " %s |", text)
			if slices.Contains(loopsOfRace, name) && !math.IsNaN(seconds) && !(seconds > fastest[i] && fastest[i] > 0) {
				fastest[i] = seconds
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("| the best loop's over that of gorbm |")
	for i, y := range targets {
		text := " – |"
		if seconds, _ := reached(t, gorbm, y); !math.IsNaN(seconds) && fastest[i] > 0 {
			text = fmt.Sprintf(" %.1f |", fastest[i]/seconds)
		}
		b.WriteString(text)
	}
	b.WriteString("\n")
	b.WriteString("\nA ratio of ten is out of reach, because both programs make the same updates. With equal settings they need equally many, " +
		"and an update of gorbm is faster only by the factor in figure search.\n")
	return b.String()
}
