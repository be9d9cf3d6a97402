package main

import (
	"context"
	"fmt"
	"io"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// Curves of the figure.
const (
	bySwaps = "swaps"
	byINS   = "INS weights"
)

func variance(p *places) claims.Figure {
	return claims.Figure{
		Name:  "variance",
		Ours:  true,
		Flags: "-digits FILE",
		Title: "variance of the negative phase of ptt at a fixed model, with and without INS weights",
		Says:  "do the particles of the newest rung, weighed by infinite swapping, lower the variance of the gradient?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for at, seed := range eachProblem(o) {
				jobs = append(jobs, claims.Job{
					Name: fmt.Sprintf("%s, seed %d", problems[at].name, seed),
					Run: func(ctx context.Context) ([]claims.Point, error) {
						return variances(ctx, p, at, seed, claims.Size(o, 100, 2000), claims.Size(o, 20, 200))
					},
				})
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			for _, panel := range []string{onePanel, meanPanel} {
				for i, d := range problems {
					if swaps := t.At(panel, bySwaps, float64(i)); len(swaps) > 0 {
						all = append(all, claims.Smaller(d.name+": INS weights lower "+panel, t.At(panel, byINS, float64(i)), swaps))
					}
				}
			}
			return all
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			var words []string
			for _, d := range problems {
				words = append(words, d.name)
			}
			var panels []claims.Panel
			for _, name := range []string{onePanel, meanPanel} {
				panels = append(panels, claims.Panel{Name: name, Title: name, Y: "variance, summed over all moments", Words: words, LogY: true, Geometric: true})
			}
			return claims.Curves(w, t, 2, panels, []string{bySwaps, byINS})
		},
		Notes: func(t *claims.Table) string {
			text := "A run of `ptt:chains=20` trains the model. Copies of its chains and rungs, with the same keys, then go on while the model stands still and no rung is added.\n\n| data | INS weights over swaps, one update | mean of updates |\n| --- | --- | --- |\n"
			for i, d := range problems {
				swaps := t.At(onePanel, bySwaps, float64(i))
				if len(swaps) == 0 {
					continue
				}
				ratio := func(panel string) float64 {
					a, _ := t.At(panel, byINS, float64(i)).Average()
					b, _ := t.At(panel, bySwaps, float64(i)).Average()
					return a / b
				}
				text += fmt.Sprintf("| %s | %.3f | %.3f |\n", d.name, ratio(onePanel), ratio(meanPanel))
			}
			return text
		},
	}
}

const (
	onePanel  = "the variance of one update"
	meanPanel = "the variance of the mean of 20 updates"
	// together is the number of updates of a mean.
	together = 20
)

// variances trains by ptt and returns the variances of its negative phase, over so many
// means of updates, with both kinds of weights.
func variances(ctx context.Context, p *places, at int, seed uint64, steps, means int) (points []claims.Point, err error) {
	d := problems[at]
	plain := estimator{"ptt", "ptt:chains=20"}
	set, err := d.load(ctx, p)
	if err != nil {
		return nil, err
	}
	settings, err := d.settings(plain, seed)
	if err != nil {
		return nil, err
	}
	trained, err := negphase.New(settings.Negative)
	if err != nil {
		return nil, err
	}
	t, err := train.NewWith(trained, settings, set, d.model(set, seed))
	if err != nil {
		return nil, err
	}
	if err := t.Run(ctx, steps); err != nil {
		return nil, err
	}
	chains, err := trained.MarshalBinary()
	if err != nil {
		return nil, err
	}
	for _, c := range []struct{ name, settings string }{{bySwaps, plain.settings}, {byINS, plain.settings + ":weights=ins"}} {
		s, err := negphase.Parse(c.settings, negphase.Settings{})
		if err != nil {
			return nil, err
		}
		e, err := negphase.New(s)
		if err == nil {
			err = e.UnmarshalBinary(chains)
		}
		if err != nil {
			return nil, err
		}
		e.(negphase.Freezer).Freeze() // as ptt has rungs
		one, all := &spread{}, &spread{}
		sum := make([]float64, d.hidden*t.Model().Visible())
		for i := range means * together {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			phase, _, err := e.Estimate(t.Model(), rbm.Batch{}, rbm.NewKey(seed).Child(uint64(i)))
			if err != nil {
				return nil, err
			}
			m := rbm.Moments{V: make([]float32, t.Model().Visible()), H: make([]float32, d.hidden), VH: rbm.NewMatrix(t.Model().Visible(), d.hidden)}
			m.Set(phase.Batch)
			x := make([]float64, len(m.VH.Data))
			for k, y := range m.VH.Data {
				x[k] = float64(y)
				sum[k] += x[k] / together
			}
			one.add(x)
			if i%together == together-1 {
				all.add(sum)
				clear(sum)
			}
		}
		points = append(points,
			claims.Point{Panel: onePanel, Curve: c.name, Repeat: int(seed), X: float64(at), Y: one.variance()},
			claims.Point{Panel: meanPanel, Curve: c.name, Repeat: int(seed), X: float64(at), Y: all.variance()})
	}
	return points, nil
}

// A spread sums vectors and their squares.
type spread struct {
	n            float64
	sum, squares []float64
}

func (s *spread) add(x []float64) {
	if s.sum == nil {
		s.sum, s.squares = make([]float64, len(x)), make([]float64, len(x))
	}
	s.n++
	for i, y := range x {
		s.sum[i] += y
		s.squares[i] += y * y
	}
}

// variance returns the sum of the variances of the components.
func (s *spread) variance() (v float64) {
	for i, x := range s.sum {
		v += (s.squares[i] - x*x/s.n) / (s.n - 1)
	}
	return v
}
