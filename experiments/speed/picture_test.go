package main

import (
	"bytes"
	"image/png"
	"testing"
)

// There is a plot of ratios if there are peers, and a plot for each series of
// at least two sizes.
func TestPicture(t *testing.T) {
	peer := Item{Section: ptSection, Ratios: []Ratio{{Program: numPy, Ratio: 3, Low: 2, High: 4}}}
	size := func(batch int) Item {
		j := job{Visible: inputs, Hidden: hidden, Batch: batch}
		return Item{Section: scalingSection, Job: j, Entries: []Entry{{Program: gorbm, Count: 1, Seconds: []float64{1e-4}, Median: 1e-4}}}
	}
	for _, c := range []struct {
		items []Item
		want  int
	}{
		{nil, 0},
		{[]Item{{Section: ptSection}}, 0},
		{[]Item{peer}, 1},
		{[]Item{peer, size(10)}, 1},
		{[]Item{peer, size(10), size(50)}, 2},
	} {
		plots := (&Result{Items: c.items}).plots()
		if len(plots) != c.want {
			t.Errorf("%d plots of %d items; want %d", len(plots), len(c.items), c.want)
			continue
		}
		var b bytes.Buffer
		if c.want == 0 {
			continue
		}
		if err := picture(&b, plots); err != nil {
			t.Fatal(err)
		}
		if m, err := png.Decode(&b); err != nil || m.Bounds().Dy() < m.Bounds().Dx()*c.want/2 || m.Bounds().Dy() > m.Bounds().Dx()*c.want*2/3 { // and a line of names
			t.Errorf("%d plots make %v, %v", c.want, m, err)
		}
	}
}
