package plots

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// painted returns a page as an image.
func painted(t *testing.T, page *Page) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, PNG); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// count returns the number of pixels in part of an image that have one of the colours of curves and no
// other's.
func count(img image.Image, colour int, part image.Rectangle) (n int) {
	want := Colors[colour]
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			if uint8(r>>8) == want.R && uint8(g>>8) == want.G && uint8(b>>8) == want.B {
				n++
			}
		}
	}
	return n
}

// TestCharts checks that each chart with something to show has a panel, whose curves have their colours,
// whatever the values.
func TestCharts(t *testing.T) {
	line := func(f func(x float64) float64) (l Line) {
		for i := range 20 {
			l.X, l.Y = append(l.X, float64(i)), append(l.Y, f(float64(i)))
		}
		return l
	}
	gap := func(instead float64) func(x float64) float64 {
		return func(x float64) float64 {
			if x < 10 {
				return x
			}
			return instead
		}
	}
	for name, f := range map[string]func(x float64) float64{
		"rising":       func(x float64) float64 { return x / 20 },
		"with gaps":    gap(math.NaN()),
		"not finite":   gap(math.Inf(1)),
		"without size": func(float64) float64 { return 0.25 },
		"zero":         func(float64) float64 { return 0 },
		"huge":         func(x float64) float64 { return x * 1e300 },
	} {
		two := []Line{line(f), line(func(x float64) float64 { return 1 - f(x) })}
		two[0].Name, two[1].Name = "one", "another"
		charts := []Chart{{Lines: two}, {Lines: two[:1]}, {Lines: []Line{line(func(float64) float64 { return math.NaN() })}}, {Lines: []Line{{Color: 3, X: two[0].X, Y: two[0].Y}}}}
		img := painted(t, Charts(charts, 1, 300, 200))
		size := img.Bounds().Size()
		for panel, inks := range [][]int{{0, 1}, {0}, {2}} {
			part := image.Rect(0, size.Y*panel/3, size.X, size.Y*(panel+1)/3)
			for colour := range Colors {
				if got, want := count(img, colour, part) > 10, slices.Contains(inks, colour); got != want {
					t.Errorf("%s: panel %d has colour %d: %v, want %v", name, panel, colour, got, want)
				}
			}
		}
	}
	if Charts([]Chart{{}, {Lines: []Line{{X: []float64{0}, Y: []float64{1}}}, LogX: true}}, 2, 100, 100) != nil {
		t.Error("a picture of nothing")
	}
}

// Two lines with Layers on one curve are both visible, in about equal parts. A grey line has none of the
// colours.
func TestTurns(t *testing.T) {
	x, y := []float64{0, 1, 2}, []float64{1, 1, 1}
	c := Chart{Lines: []Line{{Name: "one", X: x, Y: y, Layers: 2}, {Name: "two", X: x, Y: y, Layer: 1, Layers: 2},
		{Name: "grey", X: x, Y: []float64{0, 0, 0}, Grey: true, Dashed: true}}}
	p, key := c.Plot()
	if dashes := key[0].Mark.(*plotter.Line).Dashes; len(dashes) > 0 {
		t.Errorf("the legend is dashed %v, want none", dashes)
	}
	var b bytes.Buffer
	if err := Grid([][]*Plot{{p}}, 10*vg.Centimeter, 6*vg.Centimeter).Write(&b, PNG); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, one := inked(img, Colors[0])
	_, two := inked(img, Colors[1])
	if _, third := inked(img, Colors[2]); third > 0 || one < 50 || two < 50 || one > 2*two || two > 2*one {
		t.Errorf("%d dots of the first line, %d of the second, %d of a colour of the grey one", one, two, third)
	}
}

// TestFrames checks that the frame of a panel fills the panel, whatever the axes.
func TestFrames(t *testing.T) {
	for _, c := range []Chart{{}, {LogX: true}, {LogY: true}, {LogX: true, LogY: true}} {
		for _, dots := range []bool{false, true} {
			c.Title, c.X, c.Y = "title", "x", "y"
			c.Lines = []Line{{Dots: dots, X: []float64{1, 10, 1000}, Y: []float64{11, 0.5, 0.04}}}
			p, _ := c.Plot()
			whole := draw.New(vgimg.New(300, 200))
			// Labels, ticks and title need three lines below and above the frame, and some more to the
			// left.
			line := vg.Points(1.5 * titleSize)
			if frame := p.frame(whole); frame.Size().X < 300-4*line || frame.Size().Y < 200-4*line {
				t.Errorf("logarithmic %v %v, dots %v: the frame is %v of 300 × 200", c.LogX, c.LogY, dots, frame.Size())
			}
		}
	}
}

// TestSpans checks the ranges of the axes. They include the first values without compressing the rest.
// Bands are ±2 standard errors, axes of counts and fractions stay above 0, and given bounds are kept.
func TestSpans(t *testing.T) {
	x := []float64{0, 10, 20, 30}
	for _, c := range []struct {
		what       string
		chart      Chart
		low, high  float64
		slackBelow float64 // fraction of the range that may lie below low
	}{
		{"crushed", Chart{Lines: []Line{{X: x, Y: []float64{-500, -80, math.NaN(), -78}}}}, -500, -78, 0},
		{"not crushed", Chart{Lines: []Line{{X: x, Y: []float64{-81, -80, -79, -78}}}}, -81, -78, 0.06},
		{"band", Chart{Lines: []Line{{X: x, Y: []float64{1, 2, 3, 4}, Err: []float64{0, 3, 0, math.NaN()}}}}, -4, 8, 0.06},
		{"counts", Chart{Whole: true, Lines: []Line{{X: x, Y: []float64{0, 0, 1, 0}}}}, 0, 1, 0},
		{"share", Chart{Lines: []Line{{X: x, Y: []float64{0.01, 0.02, 0.5, 0.9}}}}, 0, 0.9, 0},
		{"bounds", Chart{Low: -1, High: 1, Lines: []Line{{X: x, Y: x}}}, -1, 1, 0},
	} {
		_, y := c.chart.Axes()
		room := 0.06 * (c.high - c.low)
		if y.Low < c.low-room || y.Low > c.low || c.slackBelow == 0 && y.Low != c.low || y.High < c.high || y.High > c.high+room {
			t.Errorf("%s: y reaches over %v, want [%v, %v] and some room", c.what, y, c.low, c.high)
		}
	}
	five := Chart{Whole: true, Left: -5, Right: 50, Lines: []Line{{X: x, Y: []float64{5, 5, 5, 5}}}}
	if at, y := five.Axes(); at.Span != (Span{-5, 50}) || y.Span != (Span{4, 6}) {
		t.Errorf("a constant count reaches over %v and %v", at, y)
	}
	if marks := five.YMarks(); len(marks) != 3 || marks[0].Text != "4" {
		t.Errorf("a count of 5 has the marks %v", marks)
	}
}

// An axis is broken where the first values would compress the rest, below or above. All values have a
// position on it, the later ones most of the length, and the far end is labelled.
func TestBrokenAxis(t *testing.T) {
	x := []float64{0, 10, 20, 30}
	for name, c := range map[string]struct {
		y      []float64
		breaks []float64
		far    string
	}{
		"below": {[]float64{-500, -80, -79, -78}, []float64{-80.1}, "−500"},
		"above": {[]float64{90, 4, 3, 2}, []float64{4.1}, "90"},
		"none":  {[]float64{4, 3.5, 3, 2}, nil, ""},
	} {
		chart := Chart{Lines: []Line{{X: x, Y: c.y}}}
		_, y := chart.Axes()
		if got := y.Breaks(); len(got) != len(c.breaks) || len(got) > 0 && math.Abs(got[0]-c.breaks[0]) > 1e-9 {
			t.Errorf("%s: broken at %v, want %v", name, got, c.breaks)
		}
		places := []float64{y.At(c.y[0]), y.At(c.y[1]), y.At(c.y[3])}
		for _, p := range places {
			if p < 0 || p > 1 {
				t.Errorf("%s: places %v", name, places)
			}
		}
		if c.breaks == nil {
			continue
		}
		if math.Abs(places[2]-places[1]) < 0.7 || places[0] != 0 && places[0] != 1 {
			t.Errorf("%s: the later values have the places %v", name, places)
		}
		if marks := chart.YMarks(); marks[len(marks)-1].Text != c.far {
			t.Errorf("%s: marks %v, got %q, want %q", name, marks, marks[len(marks)-1].Text, c.far)
		}
	}
}

// A chart is flat if all of its values are equal and there is more than one point.
func TestFlat(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		y    []float64
		want bool
	}{{[]float64{5, 5, nan}, true}, {[]float64{5, 5, 6}, false}, {[]float64{5, nan, nan}, false}, {[]float64{nan, nan, nan}, false}} {
		if v, flat := (Chart{Lines: []Line{{X: []float64{1, 2, 3}, Y: c.y}}}).Flat(); flat != c.want || flat && v != 5 {
			t.Errorf("%v: %v, %v", c.y, v, flat)
		}
	}
}

// A band that would reach 0 on a logarithmic axis extends as far down as up.
func TestBand(t *testing.T) {
	c, l := Chart{LogY: true}, Line{X: []float64{1}, Y: []float64{1}, Err: []float64{1}}
	if low, high, ok := c.Band(l, 0); !ok || high != 3 || math.Abs(low*high-1) > 1e-12 {
		t.Errorf("1 ± 2 has the band %v to %v, %v", low, high, ok)
	}
	l.Low, l.High = []float64{0.5}, []float64{2}
	if low, high, ok := c.Band(l, 0); !ok || low != 0.5 || high != 2 {
		t.Errorf("a band of its own is %v to %v, %v", low, high, ok)
	}
}

// TestMarks checks that no two marks of an axis have the same text, and that each
// axis has some.
func TestMarks(t *testing.T) {
	for _, s := range []Span{{3.84, 3.93}, {0, 48000}, {-500, -70}, {1e-9, 3e-9}, {0, 1}, {5, 5}, {-1e7, 1e7}, {0.01, 100}, {3, 250}, {1e-4, 900}} {
		for _, log := range []bool{false, true} {
			if log && s.Low <= 0 {
				continue
			}
			seen := map[string]bool{}
			all := Marks(s.Low, s.High, log)
			for _, m := range all {
				if seen[m.Text] || m.Value < s.Low-1e-9*math.Abs(s.Low) || m.Value > s.High+1e-9*math.Abs(s.High) {
					t.Errorf("%v: %v among %v", s, m, all)
				}
				seen[m.Text] = true
			}
			if len(all) == 0 || len(all) > 12 {
				t.Errorf("%v has the marks %v", s, all)
			}
		}
	}
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{3, 250, "5 10 20 50 100 200 "},
		{3, 350, "10 100 "}, // more than two powers of ten
		{2e-6, 3e-4, "0.00001 0.0001 "},
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

// Lines of very many points are thinned, and keep values that are measured only now and then.
func TestThinned(t *testing.T) {
	thinned := func(l Line) Line { return Chart{Lines: []Line{l}}.Thinned().Lines[0] }
	long, seldom := Line{}, Line{}
	for i := range 100_001 {
		long.X, long.Y = append(long.X, float64(i)), append(long.Y, float64(i))
	}
	for i := range 4001 {
		y := math.NaN()
		if i%60 == 0 {
			y = float64(i)
		}
		seldom.X, seldom.Y = append(seldom.X, float64(i)), append(seldom.Y, y)
	}
	if n := len(thinned(seldom).Y); n != 67 {
		t.Errorf("of 67 values that were measured now and then %d are left", n)
	}
	if short := thinned(long); len(short.X) > mostPoints || len(short.X) < mostPoints/2 || short.X[len(short.X)-1] != 100_000 || len(short.Y) != len(short.X) {
		t.Errorf("a line of %d points is thinned to %d, the last at %v", len(long.X), len(short.X), short.X[len(short.X)-1])
	}
	for i := range long.Y { // values at every 37th step: thinning may drop only every other of them
		if i%37 != 5 {
			long.Y[i] = math.NaN()
		}
	}
	if short := thinned(long); len(short.X) != ((100_001+31)/37+1)/2 || math.IsNaN(slices.Min(short.Y)) {
		t.Errorf("a line of %d values is thinned to %d", (100_001+31)/37, len(short.Y))
	}
}

// TestNames checks that names are written at the ends of curves that reach the right, without overlap, and
// otherwise above the page.
func TestNames(t *testing.T) {
	lines := []Line{
		{Name: "first", X: []float64{0, 10}, Y: []float64{0, 1}}, {Name: "second", X: []float64{0, 10}, Y: []float64{1, 1}},
		{Name: "third", X: []float64{0, 10}, Y: []float64{2, 1}},
	}
	direct := Chart{Lines: lines}
	early := Chart{Lines: slices.Clone(lines)}
	early.Lines[2] = Line{Name: "third", X: []float64{0, 5}, Y: []float64{0, 1}}
	if !direct.endsRight() || early.endsRight() {
		t.Errorf("names can stand at the ends: %v and %v", direct.endsRight(), early.endsRight())
	}
	page := Charts([]Chart{direct}, 1, 300, 200)
	if key := Charts([]Chart{early}, 1, 300, 200); !(key.height > page.height) {
		t.Errorf("there is no room for the names above the page: got %v, want more than %v", key.height, page.height)
	}
	var b bytes.Buffer
	if err := page.Write(&b, SVG); err != nil {
		t.Fatal(err)
	}
	var at []float64
	decode := xml.NewDecoder(&b)
	for {
		token, err := decode.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the SVG is malformed: %v", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "text" {
			continue
		}
		var y float64
		for _, a := range start.Attr {
			if a.Name.Local == "y" {
				y, _ = strconv.ParseFloat(a.Value, 64)
			}
		}
		var text string
		if err := decode.DecodeElement(&text, &start); err != nil {
			t.Fatal(err)
		}
		if slices.Contains([]string{"first", "second", "third"}, strings.TrimSpace(text)) {
			at = append(at, y)
		}
	}
	slices.Sort(at)
	if len(at) != 3 || at[1]-at[0] < tickSize || at[2]-at[1] < tickSize {
		t.Errorf("three curves that end at one place have their names at %v", at)
	}
}

// TestErrors checks that writing the page returns the error of what cannot be drawn, and that a logarithmic
// axis without values is drawn.
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
			grid := Grid([][]*Plot{{p}}, 200, 200).Write(io.Discard, PNG)
			column := Column([]*Plot{p}, 200, []vg.Length{200}).Write(io.Discard, PNG)
			if ok := name == "valid"; (grid == nil) != ok || (column == nil) != ok {
				t.Errorf("%s of %v: %v and %v", name, bad, grid, column)
			}
		}
	}
}

// TestFormats checks the first bytes of the files, and that a PNG keeps the pixels of an image.
func TestFormats(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 7, 3))
	img.Set(2, 1, Colors[1])
	for _, page := range []*Page{Sheet(img), Charts([]Chart{{Lines: []Line{{X: []float64{0, 1}, Y: []float64{0, 1}}}}}, 1, 200, 200)} {
		for f, begin := range map[Format]string{PNG: "\x89PNG", SVG: "<?xml", PDF: "%PDF"} {
			var b bytes.Buffer
			if err := page.Write(&b, f); err != nil || !strings.HasPrefix(b.String(), begin) {
				t.Errorf("%s begins with %.10q, %v, want %q at its start", f, b.String(), err, begin)
			}
		}
		if err := page.Write(io.Discard, "gif"); err == nil {
			t.Error("a GIF is written")
		}
	}
	if got := painted(t, Sheet(img)); got.Bounds() != img.Bounds() || color.RGBAModel.Convert(got.At(2, 1)) != color.Color(Colors[1]) {
		t.Errorf("the image is %v with %v", got.Bounds(), got.At(2, 1))
	}
	for path, want := range map[string]Format{"a.png": PNG, "b/A.SVG": SVG, "x.pdf": PDF} {
		if f, ok := FormatOf(path); !ok || f != want {
			t.Errorf("%s is %s, %v", path, f, ok)
		}
	}
	if _, ok := FormatOf("x.csv"); ok {
		t.Error("a .csv is a picture")
	}
}
