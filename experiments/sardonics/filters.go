package main

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/floats"

	"gorbm/data"
	"gorbm/experiments/internal/claims"
	"gorbm/rbm"
	"gorbm/train/plots"
)

// shown is the number of hidden units in figure 11.
const shown = 12

const weightPanel = "weights" // X is the input; the curve is the hidden unit's number

// filters is the figure of the weights of some hidden units.
func filters(p *programs) claims.Figure {
	return claims.Figure{
		Name: "11", Flags: "-model FILE", Title: "weights of the RBM",
		Says: "[right] the parameters between hidden units and all visible ones capture local regularities of natural images. (The trace of Swendsen–Wang, left, is in figure 10.)",
		Jobs: func(o claims.Options) []claims.Job {
			return []claims.Job{{Name: "weights", Run: func(ctx context.Context) (points []claims.Point, err error) {
				m, err := p.rbm(ctx, o.Quick)
				if err != nil {
					return nil, err
				}
				for k := range shown {
					j := k * m.Hidden() / shown // evenly
					for i := range m.Visible() {
						y := math.Round(100*float64(m.Weight(i, j))) / 100
						points = append(points, claims.Point{Panel: weightPanel, Curve: fmt.Sprint(k), X: float64(i), Y: y})
					}
				}
				return points, nil
			}}}
		},
		Claims: func(t *claims.Table) []claims.Claim {
			// A filter is local if half of its squared weights are on few inputs. Of independent
			// normal weights a tenth of the inputs have 0.44 of them: ∫z²φ over |z| > 1.645.
			local := 0
			share := 0.
			for _, name := range t.Curves(weightPanel) {
				s := concentration(t, name)
				share += s / shown
				if s > 0.5 {
					local++
				}
			}
			return []claims.Claim{claims.Holds("the weights of a hidden unit are local: a tenth of the inputs have more than half of the squared weights", local == shown, share,
				"of %d of %d units; on average they have %.2f, and of normal deviates they would have 0.44", local, shown, share)}
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			names := t.Curves(weightPanel)
			n := len(t.Curve(weightPanel, names[0]))
			rows := rbm.NewMatrix(len(names), n)
			for k, name := range names {
				for _, p := range t.Curve(weightPanel, name) {
					rows.Row(k)[int(p.X)] = float32(p.Y)
				}
			}
			height, width := data.NearSquare(n)
			sheet := plots.Weights(rows, height, width, 6)
			large := image.NewRGBA(image.Rectangle{Max: sheet.Bounds().Max.Mul(3)})
			draw.NearestNeighbor.Scale(large, large.Bounds(), sheet, sheet.Bounds(), draw.Src, nil)
			return png.Encode(w, large)
		},
		Notes: func(*claims.Table) string {
			return fmt.Sprintf("%d of the hidden units, evenly spaced. Red: above zero; blue: below.", shown)
		},
	}
}

// concentration returns the share of squared weights on the tenth of the inputs where they
// are largest.
func concentration(t *claims.Table, unit string) float64 {
	var squares []float64
	for _, p := range t.Curve(weightPanel, unit) {
		squares = append(squares, p.Y*p.Y)
	}
	return topShare(squares, 0.1)
}

// topShare returns the part of the sum of x that its largest values have, this share of them.
func topShare(x []float64, share float64) float64 {
	slices.Sort(x)
	return floats.Sum(x[len(x)-int(share*float64(len(x))):]) / floats.Sum(x)
}
