package plots

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A ContactMap is a prediction of which sites of sequences are in contact, that is, close in space.
type ContactMap struct {
	Scores    [][]float64 // score of each pair of sites
	Contacts  [][2]int    // known contacts
	Predicted [][2]int    // pairs with the largest scores
	// Touch reports whether a pair is known to be in contact, and whether its distance is known.
	Touch     func(pair [2]int) (touches, known bool)
	Precision []float64 // of the first 1, 2, … predicted pairs; nil: no contacts are known
	Best      float64   // number of contacts among all ranked pairs
}

// Page draws the map. Below the diagonal are the scores, from white at zero or less to black at the 99.5th
// percentile of the positive scores. Above the diagonal are the known contacts and the predicted pairs.
// Sites count from 1. If the precision is known, a second panel shows it against the number of pairs.
func (c ContactMap) Page() *Page {
	n := len(c.Scores)
	var size []float64
	for i := range c.Scores {
		for _, x := range c.Scores[i][:i] {
			if x > 0 {
				size = append(size, x)
			}
		}
	}
	limit := percentile(size, 0.995)
	p := New("site", "site")
	p.Title.Text = "Scores below the diagonal, contacts above"
	p.raster(n, n, 0.5, 0.5, float64(n)+0.5, float64(n)+0.5, func(x, y int) color.RGBA {
		if x <= y || limit == 0 {
			return color.RGBA{255, 255, 255, 255}
		}
		return Ink(float32(c.Scores[x][y] / limit))
	})
	p.Line(plotter.XYs{{X: 0.5, Y: 0.5}, {X: float64(n) + 0.5, Y: float64(n) + 0.5}}, axisColor, vg.Points(0.5))
	dot := max(1.2, min(3, 110/float64(n))) // points
	above := func(pairs [][2]int) (xy plotter.XYs) {
		for _, pair := range pairs {
			xy = append(xy, plotter.XY{X: float64(min(pair[0], pair[1]) + 1), Y: float64(max(pair[0], pair[1]) + 1)})
		}
		return xy
	}
	var legend []LegendEntry
	add := func(name string, pairs [][2]int, ink color.Color, radius float64) {
		if len(pairs) > 0 {
			legend = append(legend, LegendEntry{name, p.Dots(above(pairs), ink, vg.Points(radius))})
		}
	}
	add("known contact", c.Contacts, color.Gray{0xB0}, 1.7*dot)
	var kinds [3][][2]int
	for _, pair := range c.Predicted {
		touches, known := c.Touch(pair)
		switch {
		case !known:
			kinds[2] = append(kinds[2], pair)
		case touches:
			kinds[0] = append(kinds[0], pair)
		default:
			kinds[1] = append(kinds[1], pair)
		}
	}
	for k, name := range []string{"right", "wrong", "of unknown distance"} {
		add(fmt.Sprintf("predicted, %s (%d)", name, len(kinds[k])), kinds[k], []color.Color{Colors[0], Colors[1], Colors[5]}[k], dot)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.5, float64(n)+0.5, 0.5, float64(n)+0.5
	row := []*Plot{p}
	if c.Precision != nil {
		chart := Chart{Title: "Precision of the first pairs", X: "pairs, by score", Y: "share that touches", Left: 0, Right: float64(len(c.Precision)), Low: 0, High: 1.03}
		line, most := Line{Color: 1}, Line{Color: 3, Dashed: true}
		for k, y := range c.Precision {
			line.X, line.Y = append(line.X, float64(k+1)), append(line.Y, y)
			most.X, most.Y = append(most.X, float64(k+1)), append(most.Y, min(1, c.Best/float64(k+1)))
		}
		chart.Lines = []Line{line, most}
		curve, key := chart.Plot()
		row = append(row, curve)
		legend = append(legend, LegendEntry{"precision", key[0].Mark}, LegendEntry{"best possible", key[1].Mark})
	}
	return Grid([][]*Plot{row}, 12*vg.Centimeter, 11.8*vg.Centimeter, legend...)
}

// percentile returns the value below which the given fraction of x lies, or 0 if x is empty. It sorts x.
func percentile(x []float64, fraction float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return x[int(float64(len(x)-1)*fraction)]
}

// rasterPixels is the least length in pixels of the longer side of a raster.
const rasterPixels = 600

// raster fills a rectangle with columns × rows cells. paint returns the colour of cell (x, y), counted from
// the lower left.
func (p *Plot) raster(columns, rows int, left, low, right, high float64, paint func(x, y int) color.RGBA) {
	scale := max(1, (rasterPixels+max(columns, rows)-1)/max(columns, rows))
	img := image.NewRGBA(image.Rect(0, 0, columns*scale, rows*scale))
	for y := range rows * scale {
		for x := range columns * scale {
			img.SetRGBA(x, rows*scale-1-y, paint(x/scale, y/scale))
		}
	}
	p.Add(plotter.NewImage(img, left, low, right, high))
}

// An Agreement is a panel that compares values of samples with those of rows, such as the frequencies of
// letters.
type Agreement struct {
	Title, X, Y    string
	Rows, Samples  []float64 // coordinates x and y of the points
	Pearson, Slope float64
}

// manyPoints is the largest number of points that a panel shows one by one.
const manyPoints = 5000

// Agreements returns a page of panels side by side, each with its points and the line of equal values. A
// panel with more than manyPoints points shows their density in logarithmic shades. Rows and Samples of a
// panel have equal lengths.
func Agreements(all ...Agreement) *Page {
	var row []*Plot
	for _, a := range all {
		p := New(a.X, a.Y)
		p.Title.Text = fmt.Sprintf("%s: Pearson %.4f, slope %.3f", a.Title, a.Pearson, a.Slope)
		low, high := math.Inf(1), math.Inf(-1)
		for _, values := range [][]float64{a.Rows, a.Samples} {
			for _, x := range values {
				low, high = min(low, x), max(high, x)
			}
		}
		room := 0.03 * (high - low)
		if !(room > 0) {
			room = 0.5
		}
		low, high = low-room, high+room
		if len(a.Rows) > manyPoints {
			p.density(a.Rows, a.Samples, low, high)
		} else {
			p.scatter(a.Rows, a.Samples)
		}
		p.Line(plotter.XYs{{X: low, Y: low}, {X: high, Y: high}}, Colors[1], vg.Points(0.7))
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
		row = append(row, p)
	}
	return Grid([][]*Plot{row}, 12*vg.Centimeter, 11*vg.Centimeter)
}

// density shades the square from low to high by the logarithm of the number of points in each of its cells.
func (p *Plot) density(xs, ys []float64, low, high float64) {
	const cells = 150
	var count [cells][cells]int
	most := 1
	cell := func(v float64) int { return min(cells-1, int((v-low)/(high-low)*cells)) }
	for i := range xs {
		n := &count[cell(xs[i])][cell(ys[i])]
		*n++
		most = max(most, *n)
	}
	from := math.Log(0.5) // below log 1, so that a single point is not white
	p.raster(cells, cells, low, low, high, high, func(x, y int) color.RGBA {
		n := count[x][y]
		if n == 0 {
			return color.RGBA{255, 255, 255, 255}
		}
		t := float32((math.Log(float64(n)) - from) / (math.Log(float64(most)) - from))
		return MarkedInk(Given(t))
	})
}

// Mutations returns a map of the scores of single mutations of a sequence, with a row for each letter
// except the gap and a column for each site. Colours go from blue below zero to red above, up to the 99.5th
// percentile of the scores' sizes. At each site a dot marks the letter of the sequence. levels[i] is the
// index of that letter in letters, and numbers[i] is the number of site i. A site without scores is empty.
func Mutations(letters string, levels []int32, numbers []int, scores [][]float64) *Page {
	var size []float64
	for i, row := range scores {
		for k, x := range row {
			if k > 0 && k != int(levels[i]) {
				size = append(size, math.Abs(x))
			}
		}
	}
	limit := percentile(size, 0.995)
	paint := signed(float32(limit))
	q, n := len(letters), len(scores)
	p := New("position", "letter")
	p.Title.Text = fmt.Sprintf("log p(mutant) − log p(wild type): red above 0, blue below, darkest at ±%.3g nats; dots: the wild type", limit)
	p.raster(n, q-1, 0.5, 0.5, float64(n)+0.5, float64(q)-0.5, func(x, y int) color.RGBA {
		if scores[x] == nil {
			return color.RGBA{0xE8, 0xE8, 0xE8, 255}
		}
		return paint(float32(scores[x][y+1]))
	})
	var wild plotter.XYs
	var sites, rows []plot.Tick
	for i, level := range levels {
		if level > 0 {
			wild = append(wild, plotter.XY{X: float64(i + 1), Y: float64(level)})
		}
		if k := numbers[i]; k == 1 || k > 0 && k%5 == 0 {
			sites = append(sites, plot.Tick{Value: float64(i + 1), Label: fmt.Sprint(k)})
		}
	}
	for k, c := range letters[1:] {
		rows = append(rows, plot.Tick{Value: float64(k + 1), Label: string(c)})
	}
	p.Dots(wild, axisColor, vg.Points(1.2))
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(sites), plot.ConstantTicks(rows)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.5, float64(n)+0.5, 0.5, float64(q)-0.5
	width := max(16*vg.Centimeter, min(100*vg.Centimeter, 2.5*vg.Centimeter+vg.Length(n)*4*vg.Millimeter))
	return Grid([][]*Plot{{p}}, width, 2.5*vg.Centimeter+vg.Length(q)*4*vg.Millimeter)
}

// Scatter returns a page of one panel of points.
func Scatter(title, xName, yName string, x, y []float64) *Page {
	p := New(xName, yName)
	p.Title.Text = title
	p.scatter(x, y)
	return Grid([][]*Plot{{p}}, 12*vg.Centimeter, 11*vg.Centimeter)
}

// scatter adds small dots at the points (x, y).
func (p *Plot) scatter(x, y []float64) {
	xy := make(plotter.XYs, len(x))
	for i := range xy {
		xy[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	p.Dots(xy, Colors[0], vg.Points(0.75*dotRadius))
}

// A LogoUnit is a hidden unit to draw as a logo.
type LogoUnit struct {
	Title   string
	Weights [][]float64 // weight of each letter at each site
}

// logoSites is the largest number of sites in a line of a logo.
const logoSites = 80

// Logos draws the weights of hidden units as sequence logos (Tubiana, Cocco and Monasson 2019, eLife
// 8:e39397). At each site the letters with positive weights are stacked upwards from zero, the largest
// outermost, and those with negative weights downwards. The height of a letter is its weight. Long
// sequences are broken into lines. Sites count from 1. There must be a unit.
func Logos(letters string, units []LogoUnit) *Page {
	glyphs := newGlyphs(letters)
	ink, legend := logoInks(letters)
	var all []*Plot
	var heights []vg.Length
	sites := len(units[0].Weights)
	lines := (sites + logoSites - 1) / logoSites
	across := (sites + lines - 1) / lines // lines of equal lengths
	for _, u := range units {
		high, low := 0.0, 0.0
		for _, w := range u.Weights {
			up, down := 0.0, 0.0
			for _, x := range w {
				up, down = up+max(x, 0), down+min(x, 0)
			}
			high, low = max(high, up), min(low, down)
		}
		for from := 0; from < sites; from += across {
			p := New("", "weight")
			if from == 0 {
				p.Title.Text = u.Title
			}
			l := &logo{letters: letters, glyphs: glyphs, inks: ink, first: from, weights: u.Weights[from:min(from+across, sites)]}
			p.Add(l)
			p.Line(plotter.XYs{{X: float64(from) + 0.5, Y: 0}, {X: float64(from+across) + 0.5, Y: 0}}, axisColor, vg.Points(0.5))
			p.X.Min, p.X.Max = float64(from)+0.5, float64(from+across)+0.5
			p.Y.Min, p.Y.Max = low, high
			if high == low {
				p.Y.Min, p.Y.Max = -1, 1
			}
			p.X.Tick.Marker = plot.TickerFunc(func(a, b float64) (t []plot.Tick) {
				for k := int(math.Ceil(a)); k <= int(b) && k <= sites; k++ {
					if k == 1 || k%5 == 0 {
						t = append(t, plot.Tick{Value: float64(k), Label: fmt.Sprint(k)})
					}
				}
				return t
			})
			all, heights = append(all, p), append(heights, 3.6*vg.Centimeter)
		}
	}
	width := max(12*vg.Centimeter, 2.5*vg.Centimeter+vg.Length(across)*4*vg.Millimeter)
	return Column(all, width, heights, legend...)
}

// A swatch is a coloured square in a legend.
type swatch struct{ ink color.Color }

func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.ink, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// logoInks returns a colour for each letter and the legend. Amino acids and nucleotides are coloured by
// their chemistry.
func logoInks(letters string) (inks []color.Color, legend []LegendEntry) {
	type class struct {
		name, letters string
		ink           color.Color
	}
	gap := class{"gap", letters[:1], color.Gray{0xB0}}
	var classes []class
	switch letters[1:] {
	case "ACDEFGHIKLMNPQRSTVWY":
		classes = []class{{"hydrophobic", "AVLIPWFM", color.Gray{0x20}}, {"polar", "GSTYC", Colors[2]}, {"amide", "NQ", Colors[3]}, {"basic", "KRH", Colors[0]}, {"acidic", "DE", Colors[1]}, gap}
	case "ACGU", "ACGT":
		for k, c := range letters[1:] {
			classes = append(classes, class{string(c), string(c), []color.Color{Colors[2], Colors[0], Colors[4], Colors[1]}[k]})
		}
		classes = append(classes, gap)
	default:
		for k := range letters[1:] {
			inks = append(inks, Colors[k%len(Colors)])
		}
		return append([]color.Color{gap.ink}, inks...), nil
	}
	for _, c := range letters {
		for _, k := range classes {
			if strings.ContainsRune(k.letters, c) {
				inks = append(inks, k.ink)
			}
		}
	}
	for _, k := range classes {
		legend = append(legend, LegendEntry{k.name, swatch{k.ink}})
	}
	return inks, legend
}

// A logo draws weights as letters.
type logo struct {
	letters string
	glyphs  []glyph
	inks    []color.Color
	first   int // number of the first site, from 0
	weights [][]float64
}

// Plot draws the letters that are at least a fifth of a point high. It implements plot.Plotter.
func (l *logo) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	const least, side = 0.2, 0.46 // least height in points; half the width of a letter, in sites
	for i, w := range l.weights {
		x := float64(l.first + i + 1)
		for _, sign := range []float64{1, -1} {
			at := 0.0
			for _, k := range byWeight(w, sign) { // the smallest next to the axis
				from, to := toY(min(at, at+w[k])), toY(max(at, at+w[k]))
				at += w[k]
				if to-from >= least {
					l.glyphs[k].fill(c, l.inks[k], vg.Rectangle{Min: vg.Point{X: toX(x - side), Y: from}, Max: vg.Point{X: toX(x + side), Y: to}})
				}
			}
		}
	}
}

// byWeight returns the indices of the weights with the given sign, the smallest in size first.
func byWeight(w []float64, sign float64) (order []int) {
	for k, x := range w {
		if x*sign > 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(w[a]), math.Abs(w[b])) })
	return order
}

// A glyph is the outline of a letter. fill draws a nil glyph as a filled rectangle.
type glyph []sfnt.Segment

// newGlyphs returns the outlines of letters. The outline is nil for the hyphen and for characters that the
// font does not have.
func newGlyphs(letters string) []glyph {
	face := font.DefaultCache.Lookup(font.Font{Typeface: typeface.Typeface, Variant: typeface.Variant, Weight: xfont.WeightBold}, 12)
	all := make([]glyph, len(letters))
	var b sfnt.Buffer
	for k, c := range letters {
		index, err := face.Face.GlyphIndex(&b, c)
		if err != nil || c == '-' {
			continue
		}
		segments, err := face.Face.LoadGlyph(&b, index, fixed.I(1000), nil)
		if err != nil || len(segments) == 0 {
			continue
		}
		all[k] = append(glyph{}, segments...)
	}
	return all
}

// fill draws the glyph scaled to the rectangle to.
func (g glyph) fill(c draw.Canvas, ink color.Color, to vg.Rectangle) {
	c.SetColor(ink)
	var path vg.Path
	if g == nil {
		c.Fill(to.Path())
		return
	}
	bounds := sfnt.Segments(g).Bounds()
	width, height := float64(bounds.Max.X-bounds.Min.X), float64(bounds.Max.Y-bounds.Min.Y)
	middle := (to.Min.X + to.Max.X) / 2
	across := to.Max.X - to.Min.X
	if narrow := vg.Length(width / 450 / 64); narrow < 1 { // an I is narrower than an M
		across *= max(narrow, 0.3)
	}
	at := func(p fixed.Point26_6) vg.Point { // y points down in fonts
		return vg.Point{X: middle + across*vg.Length(float64(p.X-bounds.Min.X)/width-0.5), Y: to.Max.Y - (to.Max.Y-to.Min.Y)*vg.Length(float64(p.Y-bounds.Min.Y)/height)}
	}
	for k, s := range g {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if k > 0 {
				path.Close()
			}
			path.Move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(at(s.Args[0]), at(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	path.Close()
	c.Fill(path)
}
