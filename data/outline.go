package data

import (
	"fmt"
	"math"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/gofont/gosmallcaps"
	"golang.org/x/image/font/gofont/gosmallcapsitalic"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// An outline is the boundary of the ink of a glyph, as polygons. The glyph's box is centred at the origin
// and has height 1; y points down.
type outline struct {
	points []outlinePoint
	ends   []int   // end of each polygon in points
	stroke float32 // mean thickness of the strokes
}

// An outlinePoint is a corner (x, y) of a polygon. (nx, ny) is the unit vector away from the ink, along
// which the corner moves if strokes become thicker.
type outlinePoint struct{ x, y, nx, ny float32 }

// outlineStep is the longest side of a polygon. At 20 pixels to the unit it is so short that curves look
// smooth when the corners are moved.
const outlineStep = 0.08

// faces returns the digits 0 to 9 of all faces of the Go fonts. The fonts are
// compiled in, so an error is a mistake of this package and panics.
var faces = sync.OnceValue(func() [][10]outline {
	var out [][10]outline
	for _, ttf := range [][]byte{
		goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF, gobold.TTF, gobolditalic.TTF,
		gomono.TTF, gomonoitalic.TTF, gomonobold.TTF, gomonobolditalic.TTF, gosmallcaps.TTF, gosmallcapsitalic.TTF,
	} {
		digits, err := faceDigits(ttf)
		if err != nil {
			panic("data: embedded font: " + err.Error())
		}
		out = append(out, digits)
	}
	return out
})

func faceDigits(ttf []byte) (digits [10]outline, err error) {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		return digits, err
	}
	var buf sfnt.Buffer
	for d := range digits {
		g, err := f.GlyphIndex(&buf, rune('0'+d))
		if err != nil {
			return digits, err
		}
		// At 1024 pixels to the em the rounding of 26.6 fixed point is negligible.
		segments, err := f.LoadGlyph(&buf, g, fixed.I(1024), nil)
		if err != nil {
			return digits, err
		}
		if len(segments) == 0 {
			return digits, fmt.Errorf("no glyph for %d", d)
		}
		digits[d] = newOutline(segments)
	}
	return digits, nil
}

// newOutline makes polygons of the lines and parabolas of a TrueType glyph. It uses arithmetic and square
// roots in float64 only, which round identically on every machine if products are rounded before they are
// added.
func newOutline(segments sfnt.Segments) outline {
	box := segments.Bounds()
	height := float64(box.Max.Y - box.Min.Y)
	cx, cy := float64(float64(box.Min.X+box.Max.X)/2), float64(float64(box.Min.Y+box.Max.Y)/2)
	at := func(p fixed.Point26_6) (x, y float64) {
		return (float64(p.X) - cx) / height, (float64(p.Y) - cy) / height
	}
	var polygons [][][2]float64
	var penX, penY float64
	for _, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo {
			penX, penY = at(s.Args[0])
			polygons = append(polygons, [][2]float64{{penX, penY}})
			continue
		}
		// A line is a parabola whose control point is its midpoint.
		toX, toY := at(s.Args[0])
		midX, midY := (penX+toX)/2, (penY+toY)/2
		if s.Op == sfnt.SegmentOpQuadTo {
			midX, midY = toX, toY
			toX, toY = at(s.Args[1])
		}
		length := distance(penX, penY, midX, midY) + distance(midX, midY, toX, toY)
		n := 1 + int(length/outlineStep)
		last := &polygons[len(polygons)-1]
		for i := 1; i <= n; i++ {
			t := float64(i) / float64(n)
			a, b, c := (1-t)*(1-t), 2*t*(1-t), t*t
			*last = append(*last, [2]float64{
				float64(a*penX) + float64(b*midX) + float64(c*toX),
				float64(a*penY) + float64(b*midY) + float64(c*toY),
			})
		}
		penX, penY = toX, toY
	}
	var o outline
	area, around := 0.0, 0.0
	for _, p := range polygons {
		area, around = o.add(p, area, around)
	}
	// A stroke of thickness t and length l has area t·l and outline 2·l.
	o.stroke = float32(2 * math.Abs(area) / around)
	return o
}

// add appends a polygon with the directions of its corners, and adds its area
// and length to the sums.
func (o *outline) add(p [][2]float64, area, around float64) (float64, float64) {
	if n := len(p); n > 1 && p[0] == p[n-1] {
		p = p[:n-1] // the last corner closes the polygon
	}
	n := len(p)
	for i, b := range p {
		a, c := p[(i+n-1)%n], p[(i+1)%n]
		inX, inY := unit(b[0]-a[0], b[1]-a[1])
		outX, outY := unit(c[0]-b[0], c[1]-b[1])
		// In TrueType the ink is to the right of the direction of drawing. As y points down, (dy, −dx) is
		// to the left of the direction (dx, dy) and points away from the ink.
		nx, ny := unit(inY+outY, -(inX + outX))
		o.points = append(o.points, outlinePoint{float32(b[0]), float32(b[1]), float32(nx), float32(ny)})
		area += float64((float64(b[0]*c[1]) - float64(c[0]*b[1])) / 2)
		around += distance(b[0], b[1], c[0], c[1])
	}
	o.ends = append(o.ends, len(o.points))
	return area, around
}

func distance(ax, ay, bx, by float64) float64 {
	dx, dy := bx-ax, by-ay
	return math.Sqrt(float64(dx*dx) + float64(dy*dy))
}

// unit returns (x, y) scaled to length 1, or (0, 0) if both are 0.
func unit(x, y float64) (float64, float64) {
	n := distance(0, 0, x, y)
	if n == 0 {
		return 0, 0
	}
	return x / n, y / n
}
