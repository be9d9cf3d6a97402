// Scale measures what the ranks of one training run do and forecasts from it how far
// they share the work out.
//
//	go run ./experiments/scale
//
// See its page.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/ranks"
	"gorbm/train/plots"
)

func main() { cli.MainRanks("scale", run) }

func run(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.SetOutput(stderr)
	out := f.String("out", "experiments/scale", "folder for scale.csv and scale.png")
	quick := f.Bool("quick", false, "leave the large model out")
	if err := f.Parse(args); err != nil {
		return err
	}
	if g.Size() > 1 {
		return gathers(g, stdout)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	table := [][]string{{"case", "ranks", "seconds", "speed_up", "limit"}}
	var lines []plotter.XYs
	var names []string
	for _, c := range cases {
		if *quick && c.visible > 1000 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := c.measure()
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: a pass over 1, %d rows %.3g, %.3g ms; ascent %.3g ms; swaps %.3g ms\n", c.name, passRows, 1e3*p.one, 1e3*p.many, 1e3*p.ascent, 1e3*p.swaps)
		alone, _ := c.step(p, 1)
		var line plotter.XYs
		best, limit, at := 0.0, "", 0
		for k := 0.0; k <= 16; k++ { // four a decade, to 10⁴
			n := int(math.Round(math.Pow(10, k/4)))
			seconds, by := c.step(p, n)
			table = append(table, []string{c.name, fmt.Sprint(n), cli.Field(seconds, 4), cli.Field(alone/seconds, 4), by})
			line = append(line, plotter.XY{X: float64(n), Y: alone / seconds})
			if alone/seconds > best {
				best, limit, at = alone/seconds, by, n
			}
		}
		fmt.Fprintf(stdout, "  at most %.3g times as fast, with %d ranks; then the limit is %s\n", best, at, limit)
		lines, names = append(lines, line), append(names, c.name)
	}
	if err := atomicfile.Write(filepath.Join(*out, "scale.csv"), cli.WriteCSV(table)); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(*out, "scale.png"), func(w io.Writer) error { return draw(w, names, lines) })
}

// A workload is a training run.
type workload struct {
	name            string
	negphase        string
	visible, hidden int
	rows, weighted  int // of chains, and of these those that count in the estimate
	gathers         int // a step, beside those of the parameters
}

// The batch of each run.
const batch = 100

var cases = []workload{
	{"pcd, 10000 chains, 784×500", "pcd:chains=10000", 784, 500, 10000, 10000, 4},
	{"pins, 100×40 replicas, 784×500", "pins:chains=100:tau=%s", 784, 500, 4000, 800, 4},
	{"pcd, 10000 chains, 4096×16384", "pcd:chains=10000", 4096, 16384, 10000, 10000, 4},
	{"pins, 100×40 replicas, 4096×16384", "pins:chains=100:tau=%s", 4096, 16384, 4000, 800, 4},
}

// The network: the time of a message, and bytes a second, of a cluster of today (100 Gbit/s).
const latency, bandwidth = 1.5e-6, 12.5e9

// prices are times of one core, in seconds.
type prices struct {
	one, many float64 // a Gibbs step of one row, and of passRows rows
	ascent    float64 // a particle
	swaps     float64 // of all rows
}

const passRows, ascentRows = 64, 256

// density is the share of units that are on: that of MNIST is 0.13, and of hidden units
// some 0.2.
const density = 0.15

// step returns the time of a step on n ranks, and what takes most of it.
func (c *workload) step(p prices, n int) (seconds float64, most string) {
	rows := math.Ceil(float64(c.rows) / float64(n))
	perRow := (p.many - p.one) / (passRows - 1)
	panels := math.Ceil(float64(c.hidden) / rbm.PanelUnits)
	if n == 1 {
		panels = 1
	} else {
		panels = min(panels, float64(n))
	}
	bytes := 8*float64(c.rows) + float64(c.rows)*float64(c.visible+c.hidden)/8 + 4*float64(c.weighted)*float64(c.hidden)
	messages := float64(c.gathers) * math.Ceil(math.Log2(float64(n)))
	if n > 1 { // the parameters that an ascent has moved
		bytes += 4 * float64(c.visible) * float64(c.hidden)
		messages += 2 * math.Ceil(math.Log2(float64(n)))
	}
	parts := []struct {
		name    string
		seconds float64
	}{
		{"the passes over rows", rows * perRow},
		{"reading the weights once", p.one - perRow},
		{"the ascent", float64(c.weighted+batch) * p.ascent / panels},
		{"the positive phase", math.Ceil(batch/float64(n)) * perRow / 2},
		{"the swaps, which each rank draws", p.swaps},
		{"the bandwidth of the network", bytes / bandwidth * (1 - 1/float64(n))},
		{"the latency of the network", messages * latency},
	}
	longest := 0.0
	for _, x := range parts {
		if seconds += x.seconds; x.seconds > longest {
			longest, most = x.seconds, x.name
		}
	}
	return seconds, most
}

// measure returns the prices on one core of this machine.
func (c *workload) measure() (p prices, err error) {
	m := rbm.New(c.visible, c.hidden, 0, rbm.Softmax)
	m.Randomize(0.01, rbm.NewKey(1))
	bias := float32(math.Log(density / (1 - density)))
	for _, x := range [][]float32{m.VisibleBias, m.HiddenBias} {
		for i := range x {
			x[i] = bias
		}
	}
	s := rbm.NewStates(m, ascentRows)
	m.RandomizeHidden(s.H, rbm.NewKey(2))
	m.Step(s, nil, 2, rbm.NewKey(3)) // units find their density
	p.one = least(func() { m.StepRows(s, 0, 1, nil, 1, rbm.NewKey(4)) })
	p.many = least(func() { m.StepRows(s, 0, passRows, nil, 1, rbm.NewKey(4)) })
	phase := func(lo, hi int) rbm.Phase {
		return rbm.Phase{Batch: rbm.Batch{V: s.V.Slice(lo, hi).Input(), H: s.Mean.Slice(lo, hi)}}
	}
	p.ascent = least(func() { m.Ascend(1e-9, phase(0, ascentRows/2), phase(ascentRows/2, ascentRows)) }) / ascentRows
	if c.weighted == c.rows {
		return p, nil
	}
	// The swaps alone, by as many rows of the smallest model.
	text := c.negphase
	tau := "1"
	for k := 1; k < 40; k++ {
		tau += fmt.Sprintf("/%g", 1+0.1*float64(k))
	}
	settings, err := negphase.Parse(fmt.Sprintf(text, tau), negphase.DefaultSettings(""))
	if err != nil {
		return p, err
	}
	e, err := negphase.New(settings)
	if err != nil {
		return p, err
	}
	tiny := rbm.New(1, 1, 0, rbm.Softmax)
	tiny.Randomize(1, rbm.NewKey(5))
	none := rbm.Batch{V: rbm.NewBits(0, 1).Input(), H: rbm.NewMatrix(0, 1)}
	calls := uint64(0)
	all := least(func() {
		calls++
		if _, _, e := e.Estimate(tiny, none, rbm.NewKey(6).Child(calls)); e != nil {
			err = e
		}
	})
	steps := rbm.NewStates(tiny, c.rows)
	p.swaps = max(0, all-least(func() { tiny.Step(steps, nil, 1, rbm.NewKey(7)) }))
	return p, err
}

// least returns the shortest time of f, in at least five calls and a fifth of a second.
func least(f func()) float64 {
	best := math.Inf(1)
	for n, start := 0, time.Now(); n < 5 || time.Since(start) < 200*time.Millisecond; n++ {
		t := time.Now()
		f()
		best = min(best, time.Since(t).Seconds())
	}
	return best
}

// gathers prints the time of gathers of all sizes among these ranks, the median of
// many.
func gathers(g *ranks.Group, w io.Writer) error {
	fmt.Fprintf(w, "%d ranks\nbytes,microseconds\n", g.Size())
	for size := 8 * g.Size(); size <= 1<<24; size *= 8 {
		x := make([]uint8, size)
		times := make([]float64, 101)
		for i := range times {
			start := time.Now()
			if err := ranks.GatherRows(g, x, g.Size()); err != nil {
				return err
			}
			times[i] = time.Since(start).Seconds()
		}
		slices.Sort(times)
		fmt.Fprintf(w, "%d,%.3g\n", size, 1e6*times[len(times)/2])
	}
	return nil
}

// draw draws speed-up against the number of ranks.
func draw(w io.Writer, names []string, lines []plotter.XYs) error {
	p := plots.New("ranks, of one core each", "times as fast as one core")
	p.Log(&p.X, &p.Y)
	p.Grid()
	p.Legend.Top, p.Legend.Left = true, true
	for i, line := range lines {
		p.Legend.Add(names[i], p.Line(line, plots.Colors[i%len(plots.Colors)], vg.Points(1.5)))
	}
	return plots.Grid([][]*plots.Plot{{p}}, 18*vg.Centimeter, 11*vg.Centimeter).Write(w, plots.PNG)
}
