package main

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/rbm"
	"gorbm/train/plots"
)

// Panels of figure 8.
const (
	flipPanel    = "flips"        // one step of the first run: +1 if a spin turned up, −1 if it turned down; X is the site
	changedPanel = "changed bits" // mean number of changed bits over the steps of a run that changed any
)

// steps are the samplers of figure 8.
var steps = []string{sardonics, clusters, gibbs}

// Sides of the lattice, in full size and with -quick.
const stepSides, quickSides = 60, 8

const sidePanel = "sides"

// bits returns the figure of the flips of a step.
func bits(p *programs) claims.Figure {
	return claims.Figure{
		Name: "8", Title: "bits flipped in one step on the frustrated square lattice",
		Says: "SARDONICS is able to make large moves in state space, with many variables being flipped simultaneously.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for repeat := range o.Seeds(3, 10) {
				jobs = append(jobs, claims.Job{
					Name: fmt.Sprintf("seed %d", repeat+1),
					Run: func(ctx context.Context) ([]claims.Point, error) {
						return step(ctx, p, repeat+1, claims.Size(o, 50, 500), o.Quick)
					},
				})
			}
			return jobs
		},
		Claims: func(t *claims.Table) []claims.Claim {
			changed := func(curve string) claims.Repeats { return t.At(changedPanel, curve, 0) }
			return []claims.Claim{
				claims.Larger("an accepted step of SARDONICS changes more bits than a sweep of Gibbs", changed(sardonics), changed(gibbs)).Aside(),
				claims.Larger("an accepted step of SARDONICS changes more bits than a step of Swendsen–Wang", changed(sardonics), changed(clusters)),
			}
		},
		Draw: drawSteps,
		Finding: func(t *claims.Table) string {
			mean := func(curve string) float64 { return t.At(changedPanel, curve, 0).Mean() }
			return fmt.Sprintf("Of %d bits an accepted step of SARDONICS changes %.0f, a step of Swendsen–Wang %.0f and a sweep of Gibbs %.0f.", stepSides*stepSides, mean(sardonics), mean(clusters), mean(gibbs))
		},
		Notes: func(t *claims.Table) string {
			mean := func(curve string) float64 {
				m, _ := t.At(changedPanel, curve, 0).Average()
				return m
			}
			return fmt.Sprintf("From left to right: an accepted step of SARDONICS with the settings of Table II, a step of Swendsen–Wang and a sweep of Gibbs. Orange: from −1 to 1; blue: from 1 to −1; "+
				"grey: unchanged. (Some readers cannot distinguish the paper's red, blue and green.) Of 3600 bits, a step of SARDONICS changes %.0f on average, a step of Swendsen–Wang %.0f and a sweep of Gibbs %.0f. "+
				"SARDONICS proposes far more flips, because a walk may flip back bits that an earlier walk of the same move flipped.", mean(sardonics), mean(clusters), mean(gibbs))
		},
	}
}

// step makes moves by each sampler from the same state and counts the bits that each move
// changes.
func step(ctx context.Context, p *programs, seed, moves int, quick bool) (points []claims.Point, err error) {
	c, start, err := frustrated.begin(ctx, p, seed, quick)
	if err != nil {
		return nil, err
	}
	side := stepSides
	if quick {
		side = quickSides
	}
	points = append(points, claims.Point{Panel: sidePanel, Curve: sardonics, Repeat: seed, Y: float64(side)})
	for i, name := range steps {
		mover := frustrated.version(cmp.Or(map[string]string{sardonics: full}[name], name))
		if quick {
			mover = shortened(mover, len(start))
		}
		x := chains.Onto(c.build, start)
		chain, err := mover.Bind(x, frustrated.beta, nil)
		if err != nil {
			return nil, err
		}
		r := rbm.NewKey(uint64(seed)).Child(uint64(3 + i)).Rand()
		before := make([]uint8, len(start))
		changed, counted := 0, 0
		for move := range moves {
			if move < moves/5 { // burn-in
				chain.Move(r)
				continue
			}
			copy(before, x.State())
			chain.Move(r)
			sites := flipped(before, x.State())
			if len(sites) == 0 {
				continue // rejected
			}
			if counted == 0 && seed == 1 {
				for _, site := range sites {
					points = append(points, claims.Point{Panel: flipPanel, Curve: name, Repeat: seed, X: float64(site), Y: float64(2*int(x.State()[site]) - 1)})
				}
			}
			changed += len(sites)
			counted++
		}
		points = append(points, claims.Point{Panel: changedPanel, Curve: name, Repeat: seed, Y: float64(changed) / float64(max(1, counted))})
	}
	return points, nil
}

// flipped returns the sites at which states differ.
func flipped(a, b []uint8) (sites []int) {
	for i := range a {
		if a[i] != b[i] {
			sites = append(sites, i)
		}
	}
	return sites
}

// drawSteps draws the flips of the first run's steps.
func drawSteps(w io.Writer, t *claims.Table) error {
	sides, _ := t.At(sidePanel, sardonics, 0).Average()
	side := int(sides)
	const pixels, gap = 5, 20 // side of a site and distance of lattices, in pixels
	img := image.NewRGBA(image.Rect(0, 0, len(steps)*(side*pixels+gap)-gap, side*pixels))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	for k, name := range steps {
		left := k * (side*pixels + gap)
		paint := func(site int, c color.Color) {
			at := image.Pt(left+site%side*pixels, site/side*pixels)
			draw.Draw(img, image.Rectangle{at, at.Add(image.Pt(pixels, pixels))}, image.NewUniform(c), image.Point{}, draw.Src)
		}
		for site := range side * side {
			paint(site, color.Gray{0xE0})
		}
		for _, p := range t.Curve(flipPanel, name) {
			if p.Y > 0 {
				paint(int(p.X), plots.Colors[1])
			} else {
				paint(int(p.X), plots.Colors[0])
			}
		}
	}
	captioned, err := plots.Caption(img, nil, "SARDONICS, Swendsen–Wang, Gibbs. Orange: turned up; blue: turned down")
	if err != nil {
		return err
	}
	return png.Encode(w, captioned)
}
