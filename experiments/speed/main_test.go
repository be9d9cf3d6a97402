package main

import (
	"context"
	"os/exec"
	"testing"

	"gorbm/data"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/experiments/internal/training"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

func TestCommitted(t *testing.T) { figurestest.Committed(t, (&speed{}).experiment()) }

// At 6 s gorbm has −79.6 and at 60 s −69.6: it reaches −75 after 6·10^0.46 = 17 s, on a line in the logarithms, and the loop, which
// has −79.8 after 20 s and −70.8 after 60 s, after 20·3^(48/90) = 36 s.
func TestReached(t *testing.T) {
	var points []figures.Point
	for _, p := range []struct {
		name string
		x, y float64
	}{{gorbm, 6, -79.6}, {gorbm, 60, -69.6}, {pytorch, 20, -79.8}, {pytorch, 60, -70.8}} {
		points = append(points, figures.Point{Panel: testPanel, Curve: p.name, Repeat: 1, X: p.x, Y: p.y}, figures.Point{Panel: secondsPanel, Curve: p.name, Repeat: 1, X: p.x, Y: p.x})
	}
	table := figures.TableOf(points...)
	for _, c := range []struct {
		name string
		y    float64
		want string
	}{{gorbm, -80, "below 6"}, {gorbm, -75, "17"}, {pytorch, -75, "36"}, {pytorch, -70, "above 60"}} {
		if _, text := reached(table, c.name, c.y); text != c.want {
			t.Errorf("%s reaches %v after %s s, want %s", c.name, c.y, text, c.want)
		}
	}
}

// The loops stop in time, write models that gorbm reads, and learn: the exact log-likelihood of the rows rises from −231 nats by more than 10, also by
// parallel tempering, whose negative phase would otherwise be that of a hotter model.
func TestLoops(t *testing.T) {
	figurestest.Long(t)
	const spec = "fontdigits:300"
	set, err := training.Load(context.Background(), spec, "")
	if err != nil {
		t.Fatal(err)
	}
	ladder := []float64{1, 0.9, 0.8}
	for name, module := range libraries {
		t.Run(name, func(t *testing.T) {
			if err := exec.Command("python3", "-c", "import numpy, "+module).Run(); err != nil {
				t.Skip("no python3 with " + module)
			}
			all := []recipe{{Rate: 0.05, Batch: 20, Chains: 30}, {Rate: 0.05, Batch: 20, Chains: 30, Center: 0.01, L2: 1e-3, Average: 0.9}, {Rate: 0.05, Batch: 20, Chains: 30, Betas: ladder}}
			if name == sklearn {
				all = all[:1]
			}
			for _, r := range all {
				q := &speed{python: "python3"}
				updates, used, model, err := q.train(t.Context(), task{contestant: name, data: spec, hidden: 8, seconds: 0.3, seed: 1, recipe: r}, t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				m, _, err := modelfile.Read(model)
				if err != nil {
					t.Fatal(err)
				}
				if updates < 1 || used <= 0 || m.Hidden() != 8 {
					t.Fatalf("%v: %v updates in %v s, %d hidden units", r, updates, used, m.Hidden())
				}
				logZ, err := exact.LogZ(t.Context(), m)
				if err != nil {
					t.Fatal(err)
				}
				free := make([]float64, set.Len())
				m.FreeEnergy(free, set.Rows(data.RowNumbers(0, set.Len()), 0))
				if l := -train.Mean(free) - logZ; l < -220 && name != sklearn { // it makes only one pass over the rows
					t.Errorf("%v: %.0f updates end at %.1f nats, want more than -220", r, updates, l)
				}
			}
		})
	}
}
