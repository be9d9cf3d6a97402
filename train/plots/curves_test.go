package plots

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// panels are those of the tests.
var panels = []Panel{{Stem: "log_likelihood_"}, {Stem: "error_"}, {Stem: "swap_", OfSteps: true}}

// curves draws a table; nil if nothing is drawn.
func curves(t *testing.T, columns []string, rows [][]float64) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := Curves(&b, panels, columns, rows); err != nil {
		t.Fatal(err)
	}
	if b.Len() == 0 {
		return nil
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// count returns the number of pixels in rows lo … hi−1 that are painted in one
// of the colours of curves, and not another's.
func count(img image.Image, colour, lo, hi int) int {
	want, n := Colors[colour], 0
	for y := lo; y < hi; y++ {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			if uint8(r>>8) == want.R && uint8(g>>8) == want.G && uint8(b>>8) == want.B {
				n++
			}
		}
	}
	return n
}

// TestCurves checks that there is a panel for each kind of metric, with as many
// curves as columns.
func TestCurves(t *testing.T) {
	line := func(n int, f func(x float64) float64) (rows [][]float64) {
		for i := range n {
			x := float64(i)
			rows = append(rows, []float64{x, x, f(x), 1 - f(x), 2 + f(x), f(x) / 2})
		}
		return rows
	}
	columns := []string{"step", "seconds", "log_likelihood_train", "log_likelihood_test", "error_train", "swap_1_2"}
	for name, rows := range map[string][][]float64{
		"rising":       line(20, func(x float64) float64 { return x / 20 }),
		"two points":   line(2, func(x float64) float64 { return x }),
		"with gaps":    line(20, func(x float64) float64 { return map[bool]float64{true: x, false: math.NaN()}[x < 10] }),
		"not finite":   line(20, func(x float64) float64 { return map[bool]float64{true: x, false: math.Inf(1)}[x < 10] }),
		"without size": line(20, func(float64) float64 { return 0.25 }),
		"huge":         line(20, func(x float64) float64 { return x * 1e300 }),
	} {
		img := curves(t, columns, rows)
		if img == nil {
			t.Errorf("%s: nothing is drawn", name)
			continue
		}
		h := img.Bounds().Dy()
		for panel, n := range []int{2, 1, 1} {
			for colour := range Colors {
				lo, hi := h*panel/3, h*(panel+1)/3
				if got := count(img, colour, lo, hi); (got > 10) != (colour < n) {
					t.Errorf("%s: panel %d has %d pixels of colour %d, of %d curves", name, panel, got, colour, n)
				}
			}
		}
	}
	one, three := curves(t, columns[:3], line(5, math.Sqrt)[:0]), curves(t, columns[:3], [][]float64{{0, 0, 1}})
	_, _ = one, three // no rows, and one: nothing to see, and no panic
	if img := curves(t, columns[:2], [][]float64{{0, 0}, {1, 1}}); img != nil {
		t.Error("a picture of no metric")
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{3, 250, "5 10 20 50 100 200 "},
		{3, 350, "10 100 "}, // more than two powers of ten
		{2e-6, 3e-4, "1e-05 0.0001 "},
	} {
		labels := ""
		for _, tick := range logTicks(c.low, c.high) {
			if tick.Label != "" {
				labels += tick.Label + " "
			}
		}
		if labels != c.want {
			t.Errorf("from %v to %v: ticks %s, want %s", c.low, c.high, labels, c.want)
		}
	}
}

// TestErrors checks that what cannot be drawn is told by the picture, and that
// a logarithmic axis without values does no harm.
func TestErrors(t *testing.T) {
	for name, draw := range map[string]func(p *Plot, bad plotter.XYs){
		"line":  func(p *Plot, bad plotter.XYs) { p.Line(bad, Colors[0], 1) },
		"dots":  func(p *Plot, bad plotter.XYs) { p.Dots(bad, Colors[0], 1) },
		"bars":  func(p *Plot, bad plotter.XYs) { p.ErrorBars(bad, []float64{1}) },
		"area":  func(p *Plot, bad plotter.XYs) { p.Area(bad, Colors[0]) },
		"valid": func(p *Plot, bad plotter.XYs) { p.Log(&p.X, &p.Y) },
	} {
		for _, bad := range []plotter.XYs{{{X: 1, Y: math.NaN()}}, {{X: math.Inf(1), Y: 1}}} {
			p := New("x", "y")
			draw(p, bad)
			grid := Grid(new(bytes.Buffer), [][]*Plot{{p}}, 100, 100, 1)
			column := Column(new(bytes.Buffer), []*Plot{p}, 100, []vg.Length{100})
			if ok := name == "valid"; (grid == nil) != ok || (column == nil) != ok {
				t.Errorf("%s of %v: %v and %v", name, bad, grid, column)
			}
		}
	}
}

// A curve of very many points is drawn with a part of them, the last among them.
func TestThinned(t *testing.T) {
	for _, n := range []int{1, mostPoints, mostPoints + 1, 1_000_000} {
		xy := make(plotter.XYs, n)
		for i := range xy {
			xy[i].X = float64(i)
		}
		got := thinned(xy)
		if len(got) < min(n, mostPoints/2) || len(got) > mostPoints || got[len(got)-1] != xy[n-1] {
			t.Errorf("of %d points %d are drawn, the last at %v", n, len(got), got[len(got)-1].X)
		}
	}
}
