package plots

import (
	"image"
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// inked returns the smallest rectangle around the pixels of a colour, and their number.
func inked(img image.Image, want color.Color) (r image.Rectangle, n int) {
	wr, wg, wb, _ := want.RGBA()
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if cr, cg, cb, _ := img.At(x, y).RGBA(); cr == wr && cg == wg && cb == wb {
				r, n = r.Union(image.Rect(x, y, x+1, y+1)), n+1
			}
		}
	}
	return r, n
}

// A letter fills its rectangle, whatever its shape, and its holes stay open. A gap is a full rectangle.
func TestGlyphs(t *testing.T) {
	const letters = "-AOQ"
	for k, g := range newGlyphs(letters) {
		c := vgimg.New(200, 200)
		ink := Colors[0]
		g.fill(draw.New(c), ink, vg.Rectangle{Min: vg.Point{X: 20, Y: 50}, Max: vg.Point{X: 120, Y: 180}})
		at, n := inked(c.Image(), ink)
		scale := float64(c.Image().Bounds().Dx()) / 200
		want := image.Rect(int(20*scale), int(20*scale), int(120*scale), int(150*scale)) // from the top
		for _, d := range []int{at.Min.X - want.Min.X, at.Max.X - want.Max.X, at.Min.Y - want.Min.Y, at.Max.Y - want.Max.Y} {
			if d < -3 || d > 3 {
				t.Errorf("%c: inked %v, want %v", letters[k], at, want)
				break
			}
		}
		share := float64(n) / float64(want.Dx()*want.Dy())
		if full := letters[k] == '-'; full != (share > 0.95) || share < 0.2 || !full && share > 0.75 {
			t.Errorf("%c: %.2f of the rectangle is inked", letters[k], share)
		}
	}
}

// Letters with positive weights are above the axis and those with negative weights below, with the height
// of their weights. Long sequences are broken into lines.
func TestLogos(t *testing.T) {
	weights := make([][]float64, 100)
	for i := range weights {
		weights[i] = make([]float64, 5)
	}
	weights[1][1], weights[1][2] = 1, -0.5 // for A and C at site 2
	weights[90][3] = 1                     // for G at site 91
	page := Logos("-ACGU", []LogoUnit{{Title: "unit", Weights: weights}})
	img := painted(t, page)
	below := image.Rect(0, 100, img.Bounds().Dx(), img.Bounds().Dy()) // the legend is above
	sub := img.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(below)
	a, _ := inked(sub, Colors[2])
	c, _ := inked(sub, Colors[0])
	g, _ := inked(sub, Colors[4])
	if a.Max.Y > c.Min.Y+3 || math.Abs(float64(a.Dy())-2*float64(c.Dy())) > 6 || a.Dy() < 20 {
		t.Errorf("A of weight 1 is at %v, C of weight −0.5 at %v", a, c)
	}
	if g.Min.Y < c.Max.Y || g.Min.X < a.Max.X {
		t.Errorf("site 91 is at %v, site 2 at %v: want a second line", g, a)
	}
	// Letters of an unknown alphabet, and units without weights, can be drawn.
	painted(t, Logos("-XYZ", []LogoUnit{{Weights: [][]float64{{0, 0, 0, 0}}}}))
}

// Right, wrong and unknown contacts have different colours. A map without contacts, or with scores that are
// all zero, can be drawn.
func TestContactMap(t *testing.T) {
	scores := make([][]float64, 20)
	for i := range scores {
		scores[i] = make([]float64, 20)
		for j := range scores[i] {
			scores[i][j] = float64((i*j)%7) - 2
		}
	}
	m := ContactMap{Scores: scores, Contacts: [][2]int{{1, 9}}, Predicted: [][2]int{{1, 9}, {2, 12}, {3, 17}}, Precision: []float64{1, 0.5}, Best: 1,
		Touch: func(p [2]int) (bool, bool) { return p[1] == 9, p[1] != 17 }}
	img := painted(t, m.Page())
	for _, ink := range []int{0, 1, 2, 5} {
		if n := count(img, ink, img.Bounds()); n < 10 {
			t.Errorf("%d pixels of colour %d, want at least 10", n, ink)
		}
	}
	bare := painted(t, ContactMap{Scores: make([][]float64, 1), Touch: m.Touch}.Page())
	if bare.Bounds().Dx() >= img.Bounds().Dx() {
		t.Error("a map without known contacts has a panel of their precision")
	}
}

// Few points are drawn as dots, and many as shades of their density.
func TestAgreements(t *testing.T) {
	few := Agreement{Rows: []float64{0, 1, 2}, Samples: []float64{0, 1, 2}}
	many := Agreement{}
	for i := range manyPoints + 100 {
		many.Rows, many.Samples = append(many.Rows, float64(i%100)), append(many.Samples, float64(i%100))
	}
	img := painted(t, Agreements(few, many))
	half := img.Bounds()
	half.Max.X /= 2
	if n := count(img, 0, half); n < 5 {
		t.Errorf("three dots have %d pixels, want at least 5", n)
	}
	if _, n := inked(img, MarkedInk(Given(1))); n < 30 {
		t.Errorf("the densest cells have %d pixels, want at least 30", n)
	}
	painted(t, Agreements(Agreement{Rows: []float64{1}, Samples: []float64{1}}))
}
