package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase"
	"gorbm/negphase/compare"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// gaussianEstimators run on models of Gaussian visible and binary hidden units with fixed parameters. The
// last two integrate the visible units out and move only the hidden ones. All are compared with the first.
var gaussianEstimators = []estimator{
	{name: "pcd", settings: "pcd:chains=50"},
	{name: "cd", settings: "cd:k=1"},
	{name: "pt", settings: "pt:chains=10:tau=auto"},
	{name: "ins", settings: "ins:chains=10:tau=auto/5"},
	{name: "gibbs on p(h)", settings: "walk:gibbs:chains=50"},
	{name: "sardonics on p(h)", settings: "sardonics:chains=50"},
}

const (
	gaussianPanel   = "gaussian"
	gaussianUpdates = gaussianPanel + updatesPanel
	gaussianVisible = 100
	gaussianHidden  = 16
	gaussianSeconds = 0.5
	// drawnWeights scales the weights of the model from which the rows of cd are drawn.
	drawnWeights    = 0.9
	gaussianBatch   = 50
	gaussianBatches = 400
	tuneUpdates     = 500
)

// gaussianStrengths are the norms of the weight vectors of hidden units.
var gaussianStrengths = []float64{1, 2, 3, 4, 6, 8}

// gaussianModel returns a model with weights drawn from N(0, strength²/visible) and multiplied by scale. Its hidden units
// are on with probability ½: with the visible units integrated out they are a spin glass without fields.
func gaussianModel(strength, scale float64, seed uint64) *rbm.RBM {
	m := rbm.NewGroups(gaussianHidden, rbm.Group{Kind: rbm.Gaussian, Units: gaussianVisible})
	m.Randomize(strength*scale/math.Sqrt(gaussianVisible), rbm.NewKey(seed))
	clear(m.VisibleBias)
	clear(m.HiddenBias)
	q := rbm.NewMarginal(m)
	for j, f := range q.Fields {
		for _, k := range q.Row(j) {
			f += k / 2
		}
		m.HiddenBias[j] = float32(-f)
	}
	return m
}

// distances returns the distance of each estimator from the exact negative phase after this many seconds, divided by
// the norm of the exact negative phase.
func distances(ctx context.Context, strength float64, seed uint64, seconds float64) (points []claims.Point, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := gaussianModel(strength, 1, seed)
	truth, err := compare.Enumerate(m)
	if err != nil {
		return nil, err
	}
	key := rbm.NewKey(seed).Child(uint64(1000 * strength))
	rows := m.NewVisible(gaussianBatch * gaussianBatches)
	if err := exact.Draw(ctx, gaussianModel(strength, drawnWeights, seed), rows, rbm.NewBits(rows.Rows, m.Hidden()), key); err != nil {
		return nil, err
	}
	pos := rbm.Batch{H: rbm.NewMatrix(gaussianBatch, m.Hidden())}
	for i, e := range gaussianEstimators {
		s, err := negphase.Parse(e.settings, negphase.Settings{})
		if err == nil {
			s, err = negphase.Tuned(nil, s, m, rbm.Batch{}, tuneUpdates, key.Child(uint64(i)))
		}
		if err != nil {
			return nil, err
		}
		run, err := negphase.New(s)
		if err != nil {
			return nil, err
		}
		mean, updates := compare.NewMean(m), uint64(0)
		for spent := time.Duration(0); spent.Seconds() < seconds; updates++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			first := int(updates) % gaussianBatches * gaussianBatch
			pos.V = rows.Slice(first, first+gaussianBatch)
			m.HiddenMean(pos.H, pos.V)
			start := cli.ThreadTime()
			phase, _, err := run.Estimate(m, pos, key.Child(uint64(i)).Child(updates))
			spent += cli.ThreadTime() - start
			if err != nil {
				return nil, err
			}
			mean.Add(phase)
		}
		add := func(panel string, y float64) {
			points = append(points, claims.Point{Panel: panel, Curve: e.name, Repeat: int(seed), X: strength, Y: y})
		}
		add(gaussianPanel, mean.Distance(truth.Negative)/truth.Norm())
		add(gaussianUpdates, float64(updates))
	}
	return points, nil
}

// gaussianFigure compares estimators on Gaussian–binary models.
func gaussianFigure() claims.Figure {
	at := func(t *claims.Table, name string, x float64) claims.Repeats {
		return chains.Logs(t.At(gaussianPanel, name, x))
	}
	closer := func(t *claims.Table, a, b string, x float64) claims.Claim {
		return claims.Smaller(fmt.Sprintf("weight vectors of norm %g: %s is nearer to the exact negative phase than %s", x, a, b), at(t, a, x), at(t, b, x))
	}
	return claims.Figure{
		Name: "gaussian", Ours: true, Title: "Gaussian visible units, and couplings from weak to strong",
		Says: "what is gained by integrating the Gaussian units out and moving only the hidden units?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for _, x := range claims.Size(o, []float64{1, 4}, gaussianStrengths) {
				for seed := range o.Seeds(3, 5) {
					jobs = append(jobs, claims.Job{Name: fmt.Sprintf("length %g, seed %d", x, seed+1), Run: func(ctx context.Context) ([]claims.Point, error) {
						return distances(ctx, x, uint64(seed+1), claims.Size(o, 0.005, gaussianSeconds))
					}})
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			first := gaussianEstimators[0].name
			for _, x := range t.Xs(gaussianPanel, first) {
				for _, name := range names(gaussianEstimators)[1:] {
					all = append(all, closer(t, name, first, x))
				}
				all = append(all, closer(t, "gibbs on p(h)", "pt", x), closer(t, "sardonics on p(h)", "gibbs on p(h)", x))
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			return claims.Curves(w, t, 1, []claims.Panel{{Name: gaussianPanel, Title: "relative error of the negative phase", X: "norm of the weight vectors", Y: "error", LogX: true, LogY: true, Geometric: true, Dots: true}}, names(gaussianEstimators))
		},
		Finding: func(t *claims.Table) string {
			var texts []string
			for _, x := range t.Xs(gaussianPanel, gaussianEstimators[0].name) {
				rivals := slices.DeleteFunc(names(gaussianEstimators), func(name string) bool { return name == "cd" })
				best := slices.MinFunc(rivals, func(a, b string) int { return cmp.Compare(at(t, a, x).Mean(), at(t, b, x).Mean()) })
				ratio := math.Exp(at(t, gaussianEstimators[0].name, x).Mean() - at(t, best, x).Mean())
				texts = append(texts, fmt.Sprintf("norm %g: %s (%.1f)", x, best, ratio))
			}
			return "For each norm of the weight vectors, this estimator is the best of those that do not start at the data, and its error is smaller than that of pcd by the factor in parentheses: " + strings.Join(texts, "; ") + "."
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			fmt.Fprintf(&b, "\nThe models have %d Gaussian visible units of precision 1, %d binary hidden units that are on with probability ½, and random weights. "+
				"A number is the distance of the mean of all estimates of a run from the exact negative phase, divided by the norm of the exact negative phase. It is a geometric mean over the models, ×/÷ one standard deviation as a factor. A run has %g s of one core; the temperatures of pt and ins are tuned before this time begins. "+
				"cd starts at rows of a model with weights smaller by a tenth, and the other estimators at uniform states. If the weights are large, cd hardly leaves these rows, whose moments are nearly those of the model.\n\n| norm of weight vectors |", gaussianVisible, gaussianHidden, gaussianSeconds)
			for _, e := range gaussianEstimators {
				fmt.Fprintf(&b, " %s `%s` |", e.name, e.settings)
			}
			b.WriteString("\n|" + strings.Repeat(" --- |", 1+len(gaussianEstimators)) + "\n")
			for _, x := range t.Xs(gaussianPanel, gaussianEstimators[0].name) {
				fmt.Fprintf(&b, "| %g |", x)
				for _, name := range names(gaussianEstimators) {
					mean, sd := at(t, name, x).Average()
					n, _ := t.At(gaussianUpdates, name, x).Average()
					fmt.Fprintf(&b, " %.4f ×/÷ %.2f (%.0f updates) |", math.Exp(mean), math.Exp(sd), n)
				}
				b.WriteString("\n")
			}
			return b.String()
		},
	}
}
