package train

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"strings"
	"testing"
)

// curves draws a table; nil if nothing is drawn.
func curves(t *testing.T, columns []string, rows [][]float64) image.Image {
	t.Helper()
	f := folder(t)
	tableOf(t, f, columns, rows)
	var b bytes.Buffer
	if err := Curves(&b, f.Path(MetricsFile)); err != nil {
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
	want, n := CurveColors[colour], 0
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
			for colour := range CurveColors {
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
	f := folder(t)
	if err := Curves(new(bytes.Buffer), f.Path(MetricsFile)); err == nil {
		t.Error("a picture of no table")
	}
	put(t, f.Path(MetricsFile), []byte("step,error_train\n0,much\n"))
	if err := Curves(new(bytes.Buffer), f.Path(MetricsFile)); err == nil || !strings.Contains(err.Error(), `"much" is not a number`) {
		t.Errorf("a table of words: %v", err)
	}
}
