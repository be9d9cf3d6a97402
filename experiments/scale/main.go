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
	binary := f.String("pair", "", "time two ranks of one worker against one rank of two, with this rbmtrain built by -tags mpi, in place of all else")
	runs := f.Int("runs", 5, "with -pair: runs of each, which take turns")
	if err := f.Parse(args); err != nil {
		return err
	}
	if g.Size() > 1 {
		return gathers(g, stdout)
	}
	if *binary != "" {
		return pair(ctx, *binary, *runs, stdout)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	table := [][]string{{"case", "ranks", "seconds", "speed_up", "limit"}}
	chart := plots.Chart{Title: "A step on many ranks, by the model of its cost", X: "ranks, of one core each", Y: "times as fast as one core", LogX: true, LogY: true}
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
		fmt.Fprintf(stdout, "%s: a pass over 1, %d rows %.3g, %.3g ms; a particle's ascent %.3g ms, of one part %.3g ms; permutations %.3g ms, records %.3g ms\n",
			c.name, passRows, 1e3*p.one, 1e3*p.many, 1e3*p.ascent, 1e3*p.part, 1e3*p.swaps, 1e3*p.books)
		alone, _ := c.step(p, 1)
		line := plots.Line{Name: c.name}
		best, limit, at := 0.0, "", 0
		for k := 0.0; k <= 16; k++ { // four a decade, to 10⁴
			n := int(math.Round(math.Pow(10, k/4)))
			seconds, by := c.step(p, n)
			table = append(table, []string{c.name, fmt.Sprint(n), cli.Field(seconds, 4), cli.Field(alone/seconds, 4), by})
			line.X, line.Y = append(line.X, float64(n)), append(line.Y, alone/seconds)
			if alone/seconds > best {
				best, limit, at = alone/seconds, by, n
			}
		}
		fmt.Fprintf(stdout, "  at most %.3g times as fast, with %d ranks; then the limit is %s\n", best, at, limit)
		chart.Lines = append(chart.Lines, line)
	}
	if err := atomicfile.Write(filepath.Join(*out, "scale.csv"), cli.WriteCSV(table)); err != nil {
		return err
	}
	return cli.WritePicture(filepath.Join(*out, "scale.png"), plots.Charts([]plots.Chart{chart}, 1, 18*vg.Centimeter, 11*vg.Centimeter))
}

// A workload is a training run.
type workload struct {
	name            string
	negphase        string
	visible, hidden int
	rows, weighted  int // of chains, and of these those that count in the estimate
	groups          int // of replicas; 0 of chains
	gathers         int // a step, beside those of the parameters
}

// The batch of each run.
const batch = 100

var cases = []workload{
	{"pcd, 10000 chains, 784×500", "pcd:chains=10000", 784, 500, 10000, 10000, 0, 4},
	{"pins, 100×40 replicas, 784×500", "pins:chains=100:tau=%s", 784, 500, 4000, 800, 100, 8},
	{"pcd, 10000 chains, 4096×16384", "pcd:chains=10000", 4096, 16384, 10000, 10000, 0, 4},
	{"pins, 100×40 replicas, 4096×16384", "pins:chains=100:tau=%s", 4096, 16384, 4000, 800, 100, 8},
}

// The network: the time of a message, and bytes a second, of a cluster of today (100 Gbit/s).
const latency, bandwidth = 1.5e-6, 12.5e9

// prices are times of one core, in seconds.
type prices struct {
	one, many float64 // a Gibbs step of one row, and of passRows rows
	ascent    float64 // of a particle: all parts of the weights, and one
	part      float64
	swaps     float64 // of all rows: the draws of permutations
	books     float64 // and what every rank does beside: what a ladder keeps of its rounds
}

// passRows and ascentRows are the numbers of rows that are measured; the model takes the
// time of others to be in proportion.
const passRows, ascentRows = 64, 2048

// density is the share of units that are on: that of MNIST is 0.13, and of hidden units
// some 0.2.
const density = 0.15

// step returns the time of a step on n ranks, and what takes most of it.
func (c *workload) step(p prices, n int) (seconds float64, most string) {
	size := float64(n)
	rows := math.Ceil(float64(c.rows) / size)
	perRow := (p.many - p.one) / (passRows - 1)
	parts := math.Ceil(float64(c.hidden)/rbm.PanelUnits) * math.Ceil(float64(c.visible)/rbm.PanelUnits)
	mine := math.Ceil(parts / size) // parts of the ascent
	particle := p.part + (p.ascent-p.part)*(mine-1)/(parts-1)
	swaps := 0.0
	if c.groups > 0 {
		swaps = math.Ceil(float64(c.groups)/size) / float64(c.groups) * p.swaps
	}
	// 8 bytes of energy and one bit a unit of each row, the hidden means of those that count; of a replica its
	// place (4), its weight (4) and what its pair rejects (8); the parameters that an ascent has moved.
	bytes := 8*float64(c.rows) + float64(c.rows)*float64(c.visible+c.hidden)/8 + 4*float64(c.weighted)*float64(c.hidden)
	if c.groups > 0 {
		bytes += 16 * float64(c.rows)
	}
	bytes += 4 * float64(c.visible) * float64(c.hidden)
	messages := float64(c.gathers+3) * math.Ceil(math.Log2(size))
	costs := []struct {
		name    string
		seconds float64
	}{
		{"the passes over rows", rows * perRow},
		{"reading the weights once", p.one - perRow},
		{"the ascent", float64(c.weighted+batch) * particle},
		{"the positive phase", math.Ceil(batch/size) * perRow / 2},
		{"the permutations", swaps},
		{"the records of the ladder, which each rank keeps", p.books},
		{"the bandwidth of the network", bytes / bandwidth * (1 - 1/size)},
		{"the latency of the network", messages * latency},
	}
	longest := 0.0
	for _, x := range costs {
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
	p.ascent = ascent(m, s)
	// A part is the ascent of a model of 64 × 64 units.
	small := rbm.New(rbm.PanelUnits, rbm.PanelUnits, 0, rbm.Softmax)
	few := rbm.NewStates(small, ascentRows)
	copyUnits(few.V, s.V)
	for r := range ascentRows {
		copy(few.Mean.Row(r), s.Mean.Row(r))
	}
	p.part = ascent(small, few)
	if c.groups == 0 {
		return p, nil
	}
	// The permutations by as many replicas of the smallest model. What pt does beside its swaps, of which it
	// tries half as many in the order evenodd, is what remains with each rank.
	tau := "1"
	for k := 1; k < c.rows/c.groups; k++ {
		tau += fmt.Sprintf("/%g", 1+0.1*float64(k))
	}
	var call [3]float64
	for i, text := range []string{fmt.Sprintf(c.negphase, tau), fmt.Sprintf("pt:chains=%d:tau=%s", c.groups, tau), fmt.Sprintf("pt:order=evenodd:chains=%d:tau=%s", c.groups, tau)} {
		if call[i], err = rounds(text); err != nil {
			return p, err
		}
	}
	tiny := tinyModel()
	steps := rbm.NewStates(tiny, c.rows)
	beside := 2*call[2] - call[1]
	p.swaps, p.books = max(0, call[0]-beside), max(0, beside-least(func() { tiny.Step(steps, nil, 1, rbm.NewKey(7)) }))
	return p, err
}

// copyUnits overwrites dst with the first units of each row of src.
func copyUnits(dst, src rbm.Values) {
	for r := range dst.Rows {
		copy(dst.Row(r), src.Row(r))
	}
}

// ascent returns the time of the ascent of m by a particle of s, of all of which the first half is
// the positive phase.
func ascent(m *rbm.RBM, s *rbm.States) float64 {
	rows := s.H.Rows
	phase := func(lo, hi int) rbm.Phase {
		return rbm.Phase{Batch: rbm.Batch{V: s.V.Slice(lo, hi), H: s.Mean.Slice(lo, hi)}}
	}
	var a rbm.Ascent
	return least(func() { a.Step(m, 1e-9, 1, phase(0, rows/2), phase(rows/2, rows)) }) / float64(rows)
}

func tinyModel() *rbm.RBM {
	m := rbm.New(1, 1, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(5))
	return m
}

// rounds returns the time of a call of an estimator on the smallest model.
func rounds(negative string) (seconds float64, err error) {
	settings, err := negphase.Parse(negative, negphase.DefaultSettings(""))
	if err != nil {
		return 0, err
	}
	e, err := negphase.New(settings)
	if err != nil {
		return 0, err
	}
	tiny := tinyModel()
	none := rbm.Batch{V: rbm.NewBits(0, 1), H: rbm.NewMatrix(0, 1)}
	calls := uint64(0)
	seconds = least(func() {
		calls++
		if _, _, e := e.Estimate(tiny, none, rbm.NewKey(6).Child(calls)); e != nil {
			err = e
		}
	})
	return seconds, err
}

// longCall is a time from which other work of the machine may well interrupt a call: then the time is that
// of the processor.
const longCall = 5 * time.Millisecond

// least returns the shortest time of f, in at least five calls and a fifth of a second.
func least(f func()) float64 {
	best := time.Duration(math.MaxInt64)
	for n, start := 0, time.Now(); n < 5 || time.Since(start) < 200*time.Millisecond; n++ {
		before, known := processorTime()
		t := time.Now()
		f()
		took := time.Since(t)
		if after, _ := processorTime(); known && took > longCall {
			took = min(took, after-before)
		}
		best = min(best, took)
	}
	return best.Seconds()
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
