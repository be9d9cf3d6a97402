package data

import (
	"image"
	"image/draw"

	"golang.org/x/image/vector"

	"gorbm/rbm"
)

// How far digits are varied. Lengths are in units of a digit's height. The
// amounts are chosen so that a linear classifier and nearest neighbours find
// the set as hard as MNIST, which a test holds them to, while a person reads
// every digit at once; rotation and bending stay far below what would make a 6
// of a 9 or a 1 of a 7.
const (
	digitHeight   = 19.5 // pixels
	varyHeight    = 0.14 // relative, either way
	narrowest     = 0.70 // width, relative to the face's
	widest        = 1.25
	varySlant     = 0.42 // sideways shift over the height: bell-shaped
	varyTurn      = 0.22 // tangent of half the angle: bell-shaped
	varyShift     = 1.7  // pixels: bell-shaped
	thinnest      = 0.085
	thickest      = 0.185
	varyThickness = 0.045 // at most from the face's own, by moving the outline
	varyBend      = 0.62  // of the control points of the free-form bending: bell-shaped
	varyEdge      = 60    // of 255, the noise that roughens edges, either way
)

// A digitPen draws digits, one after the other into the same picture. It
// serves one goroutine at a time.
type digitPen struct {
	rng   rng
	faces [][10]outline
	lines vector.Rasterizer
	grey  *image.Alpha // the last digit drawn, 0 paper to 255 ink
}

func newDigitPen() *digitPen {
	return &digitPen{faces: faces(), grey: image.NewAlpha(image.Rect(0, 0, fontSide, fontSide))}
}

// draw draws the digit that a key stands for into p.grey and returns which it
// is. Digits and faces are drawn uniformly.
//
// Here too every product is rounded before it is added, so that the picture is
// the same on machines that could fuse the two.
func (p *digitPen) draw(key rbm.Key) int {
	r := &p.rng
	r.seed(key)
	digit := r.intn(10)
	o := &p.faces[r.intn(len(p.faces))][digit]

	grow := (r.between(thinnest, thickest) - o.stroke) / 2
	grow = min(max(grow, -varyThickness), varyThickness)
	var b bend
	b.random(r)
	tall := digitHeight * r.between(1-varyHeight, 1+varyHeight)
	wide := tall * r.between(narrowest, widest)
	slant := varySlant * r.bell()
	// Cosine and sine from the tangent of half the angle need no library. That
	// is rounded by name as 2·t may be t+t, which could be fused.
	t := float32(varyTurn * r.bell())
	tt := float32(t * t)
	cos, sin := (1-tt)/(1+tt), 2*t/(1+tt)
	midX := fontSide/2 + float32(varyShift*r.bell())
	midY := fontSide/2 + float32(varyShift*r.bell())

	p.lines.Reset(fontSide, fontSide)
	p.lines.DrawOp = draw.Src
	start := 0
	for _, end := range o.ends {
		for i, q := range o.points[start:end] {
			x, y := b.at(q.x+float32(grow*q.nx), q.y+float32(grow*q.ny))
			x, y = wide*(x-float32(slant*y)), tall*y
			x, y = midX+float32(cos*x)-float32(sin*y), midY+float32(sin*x)+float32(cos*y)
			if i == 0 {
				p.lines.MoveTo(x, y)
			} else {
				p.lines.LineTo(x, y)
			}
		}
		p.lines.ClosePath()
		start = end
	}
	p.lines.Draw(p.grey, p.grey.Bounds(), image.Opaque, image.Point{})
	p.roughen()
	return digit
}

// roughen adds noise to the pixels at the edges of the ink, where the paper
// shows through; full ink and blank paper stay.
func (p *digitPen) roughen() {
	for i, g := range p.grey.Pix {
		if g != 0 && g != 255 {
			n := int(g) + p.rng.intn(2*varyEdge+1) - varyEdge
			p.grey.Pix[i] = uint8(min(max(n, 0), 255))
		}
	}
}

// A bend is a smooth deformation of the plane around a digit: the free-form
// deformation of Sederberg and Parry (1986), in which a 4×4 net of control
// points moves and what lies between follows by cubic Bernstein polynomials.
type bend [4][4][2]float32

// random moves the control points.
func (b *bend) random(r *rng) {
	for i := range b {
		for j := range b[i] {
			b[i][j] = [2]float32{varyBend * r.bell(), varyBend * r.bell()}
		}
	}
}

// at returns where the point (x, y) goes. The net spans the square of side 1.2
// around the origin, a little more than a digit.
func (b *bend) at(x, y float32) (float32, float32) {
	u, v := bernstein(x), bernstein(y)
	toX, toY := x, y
	for i := range b {
		for j := range b[i] {
			w := float32(v[i] * u[j])
			toX += float32(w * b[i][j][0])
			toY += float32(w * b[i][j][1])
		}
	}
	return toX, toY
}

// bernstein returns the cubic Bernstein polynomials at x of [−0.6, 0.6].
func bernstein(x float32) [4]float32 {
	t := min(max(x/1.2+0.5, 0), 1)
	s := 1 - t
	ss, tt := float32(s*s), float32(t*t)
	return [4]float32{ss * s, 3 * ss * t, 3 * s * tt, tt * t}
}
