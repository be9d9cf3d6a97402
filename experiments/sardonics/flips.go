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
	"gorbm/experiments/internal/figures"
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
func bits(p *programs) figures.Figure {
	return figures.Figure{
		Name: "8",
		Jobs: func(o figures.Options) (jobs []figures.Job) {
			for seed := 1; seed <= o.Seeds(3, 10); seed++ {
				jobs = append(jobs, figures.Job{Name: fmt.Sprintf("seed %d", seed), Repeat: seed, Run: func(ctx context.Context, add figures.Add) error {
					return step(ctx, p, seed, figures.Size(o, 50, 500), o.Quick, add)
				}})
			}
			return jobs
		},
		Claims: func(t *figures.Table) []figures.Claim {
			changed := func(curve string) figures.Repeats { return t.At(changedPanel, curve, 0) }
			return []figures.Claim{
				figures.Larger("an accepted step of SARDONICS changes more bits than a sweep of Gibbs", changed(sardonics), changed(gibbs)).Aside(),
				figures.Larger("an accepted step of SARDONICS changes more bits than a step of Swendsen–Wang", changed(sardonics), changed(clusters)),
			}
		},
		Draw: drawSteps,
		Table: func(t *figures.Table) string {
			var lines []figures.Line
			for _, name := range steps {
				lines = append(lines, figures.Line{Words: []string{name}, Curve: name})
			}
			return t.Markdown([]string{"a step of"}, lines, []figures.Column{{Title: fmt.Sprintf("changed bits of %d", stepSides*stepSides), Panel: changedPanel, Write: figures.Spread(0)}})
		},
	}
}

// step makes moves by each sampler from the same state and counts the bits that each move
// changes.
func step(ctx context.Context, p *programs, seed, moves int, quick bool, add figures.Add) error {
	c, start, err := frustrated.begin(ctx, p, seed, quick)
	if err != nil {
		return err
	}
	side := stepSides
	if quick {
		side = quickSides
	}
	add(sidePanel, sardonics, 0, float64(side))
	for i, name := range steps {
		mover := frustrated.version(cmp.Or(map[string]string{sardonics: full}[name], name))
		if quick {
			mover = shortened(mover, len(start))
		}
		x := chains.Onto(c.build, start)
		chain, err := mover.Bind(x, frustrated.beta, nil)
		if err != nil {
			return err
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
					add(flipPanel, name, float64(site), float64(2*int(x.State()[site])-1))
				}
			}
			changed += len(sites)
			counted++
		}
		add(changedPanel, name, 0, float64(changed)/float64(max(1, counted)))
	}
	return nil
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
func drawSteps(w io.Writer, t *figures.Table) error {
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
