package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"testing"

	"gorbm/rbm"
)

var (
	ground = color.RGBA{0xC0, 0xC0, 0xC0, 255}
	white  = color.RGBA{255, 255, 255, 255}
	black  = color.RGBA{0, 0, 0, 255}
	red    = color.RGBA{178, 24, 43, 255}
	blue   = color.RGBA{33, 102, 172, 255}
)

// TestTiles checks every pixel of a sheet.
func TestTiles(t *testing.T) {
	for _, c := range []struct{ rows, height, width, columns, scale int }{
		{5, 2, 3, 2, 19}, // enlarged to 56 pixels or more, with one place empty
		{1, 1, 1, 1, 56},
		{3, 28, 28, 3, 2},
		{3, 56, 57, 3, 1},
		{2, 40, 7, 1, 2},
		{0, 2, 2, 4, 28},
	} {
		rows := rbm.NewMatrix(c.rows, c.height*c.width)
		for i := range rows.Data {
			rows.Data[i] = float32(i)
		}
		paint := func(v float32) color.RGBA { return color.RGBA{uint8(int(v) >> 8), uint8(int(v)), 7, 255} }
		img := Tiles(rows, c.height, c.width, c.columns, paint)
		cellW, cellH := c.width*c.scale+2, c.height*c.scale+2
		size := image.Pt(c.columns*cellW+2, (c.rows+c.columns-1)/c.columns*cellH+2)
		if img.Bounds() != (image.Rectangle{Max: size}) {
			t.Errorf("%+v: bounds %v, want %v", c, img.Bounds(), size)
			continue
		}
		for y := range size.Y {
			for x := range size.X {
				want := ground
				tile := y/cellH*c.columns + x/cellW
				if px, py := x%cellW-2, y%cellH-2; px >= 0 && py >= 0 && x/cellW < c.columns && tile < c.rows {
					want = paint(rows.Row(tile)[py/c.scale*c.width+px/c.scale])
				}
				if got := img.RGBAAt(x, y); got != want {
					t.Fatalf("%+v: pixel %d,%d is %v, want %v", c, x, y, got, want)
				}
			}
		}
	}
}

func TestTilesPanics(t *testing.T) {
	for _, c := range []struct{ height, width, columns int }{{2, 2, 1}, {2, 3, 0}, {2, 3, -1}} {
		func() {
			defer func() {
				if got := recover(); got != "plots: the shape does not fit the rows" {
					t.Errorf("%+v: %v, want %v", c, got, "plots: the shape does not fit the rows")
				}
			}()
			Tiles(rbm.NewMatrix(1, 6), c.height, c.width, c.columns, Ink)
		}()
	}
}

func TestInk(t *testing.T) {
	for _, c := range []struct {
		p    float32
		want color.RGBA
	}{
		{0, white}, {1, black}, {-3, white}, {7, black},
		{0.5, color.RGBA{128, 128, 128, 255}}, {0.1, color.RGBA{230, 230, 230, 255}},
	} {
		if got := Ink(c.p); got != c.want {
			t.Errorf("Ink(%v) = %v, want %v", c.p, got, c.want)
		}
	}
}

func TestSigned(t *testing.T) {
	for _, c := range []struct {
		limit, x float32
		want     color.RGBA
	}{
		{2, 0, white}, {2, 2, red}, {2, 9, red}, {2, -2, blue}, {2, -9, blue},
		{2, 1, color.RGBA{217, 140, 149, 255}}, {2, -1, color.RGBA{144, 179, 214, 255}},
		{0, 1, white}, {0, -1, white}, {-1, 1, white}, // no scale: all is white
	} {
		if got := signed(c.limit)(c.x); got != c.want {
			t.Errorf("signed(%v)(%v) = %v, want %v", c.limit, c.x, got, c.want)
		}
	}
}

// TestFilters checks which weights are drawn where: those of inputs only, with a tile for each hidden unit,
// at most 100, on the scale of the 99.5th percentile.
func TestFilters(t *testing.T) {
	m := rbm.New(6+2, 130, 2, rbm.Softmax)
	w := rbm.NewMatrix(8, 130)
	for j := range 130 {
		for i := range 6 {
			w.Row(i)[j] = 1
		}
		w.Row(6)[j], w.Row(7)[j] = 50, 50 // weights of labels: neither drawn nor in the scale
	}
	w.Row(0)[0] = 1000 // a lone large weight does not set the scale
	w.Row(4)[3] = -1   // row 1, column 1 of unit 3
	w.Row(5)[3] = 0
	w.Row(0)[101] = -1e6 // weight of a unit that is not shown
	m.SetWeights(w)
	img := Filters(m, 2, 3)
	if want := image.Pt(10*59+2, 10*40+2); img.Bounds().Size() != want {
		t.Fatalf("size %v, want %v", img.Bounds().Size(), want)
	}
	at := func(unit, y, x int) color.RGBA {
		return img.RGBAAt(2+unit%10*59+19*x+5, 2+unit/10*40+19*y+5)
	}
	for _, c := range []struct {
		unit, y, x int
		want       color.RGBA
	}{
		{0, 0, 0, red}, {0, 1, 2, red}, {3, 0, 0, red}, {3, 1, 1, blue}, {3, 1, 2, white}, {99, 1, 2, red},
	} {
		if got := at(c.unit, c.y, c.x); got != c.want {
			t.Errorf("unit %d at %d,%d is %v, want %v", c.unit, c.y, c.x, got, c.want)
		}
	}
	// Very wide models have fewer tiles.
	if got, want := Filters(rbm.New(MaxValues/2, 100, 0, rbm.Softmax), 1024, MaxValues/2048).Bounds().Dx(), 2*(MaxValues/2048+2)+2; got != want {
		t.Errorf("filters of %d inputs are %d pixels wide, want %d", MaxValues/2, got, want)
	}
	// A model that has learnt nothing looks empty.
	blank := Filters(rbm.New(4, 1, 0, rbm.Softmax), 2, 2)
	if got := blank.RGBAAt(10, 10); got != white {
		t.Errorf("a weight of zero is %v, want %v", got, white)
	}
}

func TestSquarish(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 2: 2, 4: 2, 5: 3, 9: 3, 10: 4, 99: 10, 100: 10} {
		if got := squarish(n); got != want {
			t.Errorf("squarish(%d) = %d, want %d", n, got, want)
		}
	}
}

// Three pictures of 2 × 3 probabilities in two columns: each value becomes a
// square of 10 × 10 pixels.
func ExampleTiles() {
	rows := rbm.NewMatrix(3, 6)
	rows.Row(1)[5] = 1 // the lower right corner of the second
	img := Tiles(rows, 2, 3, 2, Ink)
	fmt.Println(img.Bounds().Size())
	fmt.Println(img.RGBAAt(110, 30), img.RGBAAt(30, 30))
	// Output:
	// (120,82)
	// {0 0 0 255} {255 255 255 255}
}

// An image of few colours gets a palette and keeps its pixels. One of many colours is unchanged.
func TestCompact(t *testing.T) {
	few, many := image.NewRGBA(image.Rect(3, 2, 40, 30)), image.NewRGBA(image.Rect(0, 0, 30, 30))
	for i := range 30 * 30 {
		few.SetRGBA(3+i%37, 2+i%28, color.RGBA{uint8(i % 200), 1, 2, 255})
		many.SetRGBA(i%30, i/30, color.RGBA{uint8(i), uint8(i / 256), 0, 255})
	}
	got, ok := Compact(few).(*image.Paletted)
	if !ok || got.Bounds() != few.Bounds() {
		t.Fatalf("few colours become %T", Compact(few))
	}
	for y := 2; y < 30; y++ {
		for x := 3; x < 40; x++ {
			if r, g, b, a := got.At(x, y).RGBA(); [4]uint32{r, g, b, a} != rgba(few.At(x, y)) {
				t.Fatalf("pixel %d, %d differs", x, y)
			}
		}
	}
	if Compact(many) != image.Image(many) {
		t.Error("many colours change")
	}
}

func rgba(c color.Color) [4]uint32 {
	r, g, b, a := c.RGBA()
	return [4]uint32{r, g, b, a}
}

// A caption moves the sheet to the right of the names, and its pixels are unchanged.
func TestCaption(t *testing.T) {
	rows := rbm.NewMatrix(6, 4)
	for i := range rows.Data {
		rows.Data[i] = float32(i%3) / 2
	}
	sheet := Tiles(rows, 2, 2, 2, Ink)
	dark := func(img *image.RGBA, r image.Rectangle) (n int) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if img.RGBAAt(x, y).R < 0x80 {
					n++
				}
			}
		}
		return n
	}
	img, err := Caption(sheet, []string{"a", "bb", "a name that is too long"}, "some words")
	if err != nil {
		t.Fatal(err)
	}
	size := sheet.Bounds().Size()
	left := img.Bounds().Dx() - size.X
	if left < 20 || left > 150 || img.Bounds().Dy() <= size.Y {
		t.Fatalf("the picture is %v, the sheet %v", img.Bounds(), size)
	}
	for y := range size.Y {
		for x := range size.X {
			if img.RGBAAt(left+x, y) != sheet.RGBAAt(x, y) {
				t.Fatalf("the sheet has changed at %d, %d", x, y)
			}
		}
	}
	for i := range 3 { // each name is next to its line, within the margin
		if n := dark(img, image.Rect(2, i*size.Y/3, left-2, (i+1)*size.Y/3)); n == 0 {
			t.Errorf("there is no name beside line %d", i)
		}
		if n := dark(img, image.Rect(0, i*size.Y/3, 2, (i+1)*size.Y/3)); n > 0 {
			t.Errorf("the name beside line %d is cut: got %v, want 0", i, n)
		}
	}
	if dark(img, image.Rect(0, size.Y, img.Bounds().Dx(), img.Bounds().Dy())) == 0 {
		t.Error("there are no words below")
	}
	low := Tiles(rbm.NewMatrix(4, 101), 1, 101, 2, Ink)
	if img, err := Caption(low, []string{"a", "b"}, ""); err != nil || img.Bounds() != low.Bounds() {
		t.Errorf("lines too low for names: %v, %v", img.Bounds(), err)
	}
	plain, err := Caption(sheet, nil, "")
	if err != nil || plain.Bounds().Size() != size {
		t.Errorf("without names and words: %v, %v", plain.Bounds(), err)
	}
}

// The edges of lines in a chart have many colours, which merge into a palette. Frequent colours stay, and
// the others change by less than a sixteenth of the range. A picture of too many colours is unchanged.
func TestMerged(t *testing.T) {
	chart := image.NewRGBA(image.Rect(3, 2, 103, 102))
	for y := 2; y < 102; y++ {
		for x := 3; x < 103; x++ {
			c := color.RGBA{255, 255, 255, 255}
			switch {
			case y == 10:
				c = color.RGBA{11, 77, 160, 255} // a line
			case y == 11:
				c = color.RGBA{uint8(11 + x), uint8(77 + x), uint8(155 + x/2), 255} // its edge
			case y == 50:
				c = color.RGBA{240, 240, 240, 255} // a grid, whose upper bits are those of white
			case y > 90:
				c = color.RGBA{uint8(2 * x), uint8(2*x + y), uint8(2 * x), 255}
			}
			chart.SetRGBA(x, y, c)
		}
	}
	if _, ok := Compact(chart).(*image.Paletted); ok {
		t.Fatal("the chart has few colours, and tests nothing")
	}
	got, ok := merged(chart).(*image.Paletted)
	if !ok || got.Rect != chart.Rect {
		t.Fatalf("becomes %T", merged(chart))
	}
	for y := 2; y < 102; y++ {
		for x := 3; x < 103; x++ {
			a, b := chart.RGBAAt(x, y), got.At(x, y).(color.RGBA)
			off := max(math.Abs(float64(a.R)-float64(b.R)), math.Abs(float64(a.G)-float64(b.G)), math.Abs(float64(a.B)-float64(b.B)))
			if off >= 16 || (y <= 10 || y == 50) && a != b {
				t.Fatalf("(%d, %d) is %v, was %v", x, y, b, a)
			}
		}
	}
	noise := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		noise.SetRGBA(i%64, i/64, color.RGBA{uint8(4 * i), uint8(i / 16), uint8(7 * i), 255})
	}
	if merged(noise) != image.Image(noise) {
		t.Error("an image of many colours was changed")
	}
}
