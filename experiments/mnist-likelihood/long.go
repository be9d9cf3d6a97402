package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

// A row is a long run and the published number that it is compared with.
type row struct {
	name      string
	binarize  string
	flags     string
	published float64 // test log-likelihood in nats
	source    string  // source of the published number
}

var rows = []row{
	{"sampled", "sample", "-binarize sample -redraw -negphase pcd:chains=300 -batch 100 -rate 0.1 -steps 190000 -eval-every 25000 -metrics free_energy_gap",
		-86.34, "contrastive divergence of 25 steps, by AIS; Salakhutdinov & Murray 2008"},
	{"thresholded", "threshold", "-binarize threshold -negphase pcd:chains=300 -batch 100 -rate 0.1 -steps 60000 -eval-every 6000 -metrics free_energy_gap",
		-84.9, "centred persistent chains, 200 epochs, by AIS; the reverse of AIS gives −96.6"},
}

// aim is the log-likelihood of sampled rows to be reached, in nats, and narrow the largest allowed distance between
// the two ends of its bracket.
const aim, narrow = -84, 1

// testFlags are the flags of rbmeval. They ask for more temperatures and rounds than the defaults.
const testFlags = "-ais -reverse-ais -bennett -ais-temperatures 20000 -ladder-rounds 6000"

// Curves and panels of the long runs. X is the index of the row.
const (
	byAIS       = "AIS"         // its log Z is too low on average
	byReverse   = "reverse AIS" // its log Z is too high on average
	byBennett   = "Bennett"
	testPanel   = "test log-likelihood"
	stdErrPanel = "standard error"
	essPanel    = "effective draws"
	gapPanel    = "free-energy gap"
	timePanel   = "processor seconds"
)

func long(p *program.Runs) claims.Figure {
	return claims.Figure{
		Name:  "long",
		Ours:  true,
		Title: "long runs, with brackets of their test log-likelihood",
		Says:  "how high does the test log-likelihood of such a model become, and how accurately is it known?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for at := range rows {
				jobs = append(jobs, claims.Job{Name: rows[at].name, Run: func(ctx context.Context) ([]claims.Point, error) { return measure(ctx, p, at, o.Quick) }})
			}
			return jobs
		},
		Claims: longClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			var names []string
			for _, r := range rows {
				names = append(names, r.name)
			}
			return claims.Curves(w, t, 1, []claims.Panel{{Name: testPanel, Title: "test rows", Y: "log-likelihood / nats", Words: names}}, []string{byReverse, byBennett, byAIS})
		},
		Finding: func(t *claims.Table) string {
			var parts []string
			for at, r := range rows {
				if y, ok := tested(t, testPanel, byBennett, at); ok {
					high, _ := tested(t, testPanel, byAIS, at)
					low, _ := tested(t, testPanel, byReverse, at)
					parts = append(parts, fmt.Sprintf("%s MNIST ends at %.2f nats, in a bracket %.2f nats wide", r.name, y, math.Abs(high-low)))
				}
			}
			return strings.ToUpper(parts[0][:1]) + strings.Join(parts, "; ")[1:] + "."
		},
		Notes: longNotes,
	}
}

// measure trains the row with index at, or resumes its run, and brackets its likelihood.
func measure(ctx context.Context, p *program.Runs, at int, quick bool) ([]claims.Point, error) {
	r := rows[at]
	folder, remove, err := p.Folder("long " + r.name)
	if err != nil {
		return nil, err
	}
	defer remove()
	f := program.FlagsOf(common, r.flags, 1, quick, quickCommon)
	seconds, err := p.Train(ctx, folder, f)
	if err != nil {
		return nil, err
	}
	gap, err := program.LastMeasured(folder, "free_energy_gap")
	if err != nil {
		return nil, err
	}
	args := strings.Fields("-model " + folder + " -data " + f["data"] + " -binarize " + r.binarize + " " + testFlags)
	if quick {
		args = append(args, "-ais-temperatures", "100", "-ladder-rounds", "300")
	}
	tested, err := p.Evaluate(ctx, args...)
	if err != nil {
		return nil, err
	}
	points := []claims.Point{
		{Panel: gapPanel, Curve: r.name, Repeat: 1, X: float64(at), Y: gap},
		{Panel: timePanel, Curve: r.name, Repeat: 1, X: float64(at), Y: seconds},
	}
	for _, e := range []struct {
		curve string
		program.Estimate
	}{{byAIS, tested.AIS}, {byReverse, tested.Reverse}, {byBennett, tested.Bennett}} {
		point := func(panel string, y float64) claims.Point {
			return claims.Point{Panel: panel, Curve: e.curve, Repeat: 1, X: float64(at), Y: y}
		}
		points = append(points, point(testPanel, tested.Likelihood(e.Estimate)), point(stdErrPanel, e.StdErr), point(essPanel, e.ESS))
	}
	return points, nil
}

// tested returns the value of a curve for a row, and whether there is one.
func tested(t *claims.Table, panel, curve string, at int) (float64, bool) {
	y, ok := t.At(panel, curve, float64(at))[1]
	return y, ok
}

func longClaims(t *claims.Table) (all []claims.Claim) {
	for at, r := range rows {
		y, ok := tested(t, testPanel, byBennett, at)
		if !ok {
			continue
		}
		high, _ := tested(t, testPanel, byAIS, at)
		low, _ := tested(t, testPanel, byReverse, at)
		all = append(all,
			claims.Holds(fmt.Sprintf("%s: better than the published %.2f nats", r.name, r.published), y > r.published, y-r.published, "%.2f nats by Bennett's ratio", y),
			claims.Holds(fmt.Sprintf("%s: AIS and reverse AIS differ by less than %d nat", r.name, narrow), high-low < narrow && low-high < narrow, high-low, "%.2f and %.2f nats", high, low))
		if r.binarize == "sample" {
			all = append(all, claims.Holds(fmt.Sprintf("%s: better than %d nats", r.name, aim), y > aim, y-aim, "%.2f nats by Bennett's ratio", y))
		}
	}
	return all
}

func longNotes(t *claims.Table) string {
	var b strings.Builder
	b.WriteString("Mean log-likelihood of the 10000 test rows, in nats, by three estimates of log Z. AIS underestimates log Z on average, so its log-likelihood is too high; reverse AIS overestimates log Z, so its log-likelihood is too low. " +
		"± is the standard error of log Z, and the number in brackets is the number of effective independent draws. The gap is the mean log-likelihood of the training rows minus that of the test rows. Seconds are processor time of training.\n\n" +
		"| rows | reverse AIS | Bennett | AIS | gap | seconds | published |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for at, r := range rows {
		if _, ok := tested(t, testPanel, byBennett, at); !ok {
			continue
		}
		x := func(panel, curve string) float64 { y, _ := tested(t, panel, curve, at); return y }
		by := func(curve string) string {
			return fmt.Sprintf("%.2f ± %.2f (%.0f)", x(testPanel, curve), x(stdErrPanel, curve), x(essPanel, curve))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.2f | %.0f | %.2f: %s |\n", r.name, by(byReverse), by(byBennett), by(byAIS), x(gapPanel, r.name), x(timePanel, r.name), r.published, r.source)
	}
	fmt.Fprintf(&b, "\nAll runs have the flags `%s`. Each run also has:\n\n", common)
	for _, r := range rows {
		fmt.Fprintf(&b, "- %s: `%s`\n", r.name, r.flags)
	}
	fmt.Fprintf(&b, "\n`rbmeval %s` evaluated both runs. The run on sampled rows began with `-steps 250000`. It was resumed by `-resume` at step 58819 with "+
		"`-steps 140000`, and at step 140000 with `-steps 190000`. Each time the learning rate followed the schedule of the new length. At step 140000, where the rate reached 0 for the first time, "+
		"the log-likelihood of the same test rows was −84.06 ± 0.15 by Bennett's ratio, −84.02 by AIS and −84.17 by reverse AIS.\n\n"+
		"These numbers are from an earlier version of `rbmeval`, in which the base, the distribution at the hottest end of the ladders, was not fitted to the mean states of both layers. Its log-likelihoods of models that are not centred, like these two, "+
		"were too high by several nats in each case that we could repeat. The following runs have one seed each and the default settings, which centre the model; the first two start with `-init log-odds` instead. The present `rbmeval -bennett` evaluated them (for sampled rows with `-ladder-rounds 12000`):\n\n"+
		"| rows | flags | test | round trips | seconds |\n| --- | --- | --- | --- | --- |\n"+
		"| thresholded | `-data mnist -labels none -init log-odds -steps 26000` | -67.98 ± 0.13 | 1861 | 60 |\n"+
		"| sampled | `-data mnist -labels none -binarize sample -redraw -init log-odds -steps 52000` | -84.23 ± 0.13 | 1103 | 120 |\n"+
		"| sampled | `-data mnist -labels none -binarize sample -redraw -steps 130000` | -83.68 ± 0.09 | 1048 | 212 |\n"+
		"| sampled | `-data mnist -labels none -binarize sample -redraw -steps 184000` | -83.50 ± 0.16 | 1011 | 295 |\n", testFlags)
	return b.String()
}
