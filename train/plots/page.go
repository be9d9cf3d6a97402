package plots

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Format is a format of picture files.
type Format string

const (
	PNG Format = "png"
	SVG Format = "svg"
	PDF Format = "pdf"
)

// FormatOf returns the format that the ending of a file's name stands for, and whether it is a known
// format.
func FormatOf(path string) (f Format, ok bool) {
	f = Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")))
	return f, slices.Contains([]Format{PNG, SVG, PDF}, f)
}

// dpi is the number of pixels per inch of a PNG.
const dpi = 144

// A Page is a picture of one or more plots that can be written in several formats.
type Page struct {
	width, height vg.Length
	err           error
	image         image.Image // pixels of the PNG; nil: not drawn yet
	draw          func(c draw.Canvas)
}

// Write writes the picture in the given format. If plots of the page have errors, it returns the first.
func (p *Page) Write(w io.Writer, f Format) error {
	if p.err != nil {
		return p.err
	}
	// The default compression takes up to three times as long and saves a tenth of the bytes.
	encoder := &png.Encoder{CompressionLevel: png.BestSpeed}
	if f == PNG {
		return encoder.Encode(w, p.pixels())
	}
	var page vg.CanvasWriterTo
	switch f {
	case SVG:
		page = vgsvg.New(p.width, p.height)
	case PDF:
		page = vgpdf.New(p.width, p.height)
	default:
		return fmt.Errorf("%q is not a picture format; use png, svg or pdf", f)
	}
	c := draw.NewCanvas(page, p.width, p.height)
	c.SetColor(color.White) // a PNG is white from the start
	c.Fill(c.Rectangle.Path())
	p.draw(c)
	_, err := page.WriteTo(w)
	return err
}

// pixels returns the image of p, which must not have an error. Only the first call draws it.
func (p *Page) pixels() image.Image {
	if p.image == nil {
		page := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dpi))
		p.draw(draw.NewCanvas(page, p.width, p.height))
		p.image = merged(page.Image())
	}
	return p.image
}

// Columns divides the pixels of p into n pages of equal width, from left to right.
func (p *Page) Columns(n int) []*Page {
	columns := make([]*Page, n)
	for i := range columns {
		if p.err != nil {
			columns[i] = p
			continue
		}
		img := p.pixels()
		b := img.Bounds()
		from, to := b.Min.X+b.Dx()*i/n, b.Min.X+b.Dx()*(i+1)/n
		columns[i] = Sheet(img.(interface {
			SubImage(image.Rectangle) image.Image
		}).SubImage(image.Rect(from, b.Min.Y, to, b.Max.Y)))
	}
	return columns
}

// As returns a function that writes the page in the given format.
func (p *Page) As(f Format) func(w io.Writer) error {
	return func(w io.Writer) error { return p.Write(w, f) }
}

// Sheet returns a page of one image. As a PNG it has the same pixels.
func Sheet(img image.Image) *Page {
	size := img.Bounds().Size()
	page := &Page{width: vg.Length(size.X) * vg.Inch / dpi, height: vg.Length(size.Y) * vg.Inch / dpi, image: img}
	page.draw = func(c draw.Canvas) { c.DrawImage(c.Rectangle, img) }
	return page
}

// A LegendEntry is a name in a legend, with the mark of its curve.
type LegendEntry struct {
	Name string
	Mark plot.Thumbnailer
}

// margin is the space around the plots of a page, and gap the space between them.
const margin, gap = 3 * vg.Millimeter, 5 * vg.Millimeter

// Grid returns a page of rows of plots with aligned axes. Each plot, with its margins, is width × height.
// Rows that are shorter than the first end with blank space. The legend, if there is one, is above all
// plots. There must be a plot.
func Grid(rows [][]*Plot, width, height vg.Length, legend ...LegendEntry) *Page {
	across := len(rows[0])
	page := &Page{width: width * vg.Length(across)}
	for _, row := range rows {
		for _, p := range row {
			page.check(p)
		}
	}
	key := newKey(legend, page.width-2*margin)
	page.height = height*vg.Length(len(rows)) + key.height
	page.draw = func(c draw.Canvas) {
		c = key.draw(c)
		t := draw.Tiles{Rows: len(rows), Cols: across, PadX: gap, PadY: gap, PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin}
		// To align the axes, all plots of a column get the widest left and right margins that one of them
		// needs, and all plots of a row the highest margins above and below.
		left, right := make([]vg.Length, across), make([]vg.Length, across)
		above, below := make([]vg.Length, len(rows)), make([]vg.Length, len(rows))
		around := func(i, j int) (place draw.Canvas, l, r, b, a vg.Length) {
			place = t.At(c, j, i)
			frame := rows[i][j].frame(place)
			return place, frame.Min.X - place.Min.X, place.Max.X - frame.Max.X, frame.Min.Y - place.Min.Y, place.Max.Y - frame.Max.Y
		}
		for i, row := range rows {
			for j := range row {
				_, l, r, b, a := around(i, j)
				left[j], right[j], below[i], above[i] = max(left[j], l), max(right[j], r), max(below[i], b), max(above[i], a)
			}
		}
		for i, row := range rows {
			for j, p := range row {
				place, l, r, b, a := around(i, j)
				p.draw(draw.Crop(place, left[j]-l, r-right[j], below[i]-b, a-above[i]))
			}
		}
	}
	return page
}

// Column returns a page of plots below each other, of one width and with the given heights. The legend, if
// there is one, is above them.
func Column(plots []*Plot, width vg.Length, heights []vg.Length, legend ...LegendEntry) *Page {
	page := &Page{width: width}
	for i, p := range plots {
		page.check(p)
		page.height += heights[i]
	}
	key := newKey(legend, width-2*margin)
	page.height += key.height
	page.draw = func(c draw.Canvas) {
		c = key.draw(c)
		places := make([]draw.Canvas, len(plots))
		left := vg.Length(0) // where the widest axis ends
		top := c.Max.Y
		for i, p := range plots {
			places[i] = draw.Crop(c, margin, -margin, top-heights[i]-c.Min.Y+margin/2, top-c.Max.Y-margin/2)
			top -= heights[i]
			left = max(left, p.frame(places[i]).Min.X)
		}
		for i, p := range plots {
			p.draw(draw.Crop(places[i], left-p.frame(places[i]).Min.X, 0, 0, 0))
		}
	}
	return page
}

func (p *Page) check(plot *Plot) {
	if p.err == nil {
		p.err = plot.err
	}
}

// A key is a legend as lines of text, each filled up to the width of the page.
type key struct {
	lines  [][]LegendEntry
	height vg.Length
}

const (
	keyLine   = 5.5 * vg.Millimeter
	keySwatch = 7 * vg.Millimeter
	keySpace  = 6 * vg.Millimeter // between entries
)

func newKey(legend []LegendEntry, width vg.Length) (k key) {
	at := vg.Length(0)
	for _, e := range legend {
		w := e.width()
		if len(k.lines) == 0 || at+w > width {
			k.lines, at = append(k.lines, nil), 0
		}
		last := &k.lines[len(k.lines)-1]
		*last = append(*last, e)
		at += w + keySpace
	}
	if len(k.lines) > 0 {
		k.height = keyLine*vg.Length(len(k.lines)) + margin
	}
	return k
}

func (e LegendEntry) width() vg.Length {
	return keySwatch + vg.Millimeter + style(labelSize).Width(e.Name)
}

// draw draws the legend at the top of c and returns the rest of c.
func (k key) draw(c draw.Canvas) draw.Canvas {
	y := c.Max.Y - margin - keyLine
	for _, line := range k.lines {
		x := c.Min.X + margin
		for _, e := range line {
			swatch := c
			swatch.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: y + keyLine/4}, Max: vg.Point{X: x + keySwatch, Y: y + keyLine*3/4}}
			if e.Mark != nil {
				e.Mark.Thumbnail(&swatch)
			}
			s := style(labelSize)
			s.YAlign = draw.YCenter
			c.FillText(s, vg.Point{X: x + keySwatch + vg.Millimeter, Y: y + keyLine/2}, e.Name)
			x += e.width() + keySpace
		}
		y -= keyLine
	}
	return draw.Crop(c, 0, 0, 0, -k.height)
}
