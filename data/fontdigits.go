package data

import (
	"context"
	"fmt"
	"image"
	"image/draw"
	"io"
	"sync"

	"golang.org/x/image/vector"

	"gorbm/rbm"
)

// The sizes of the set are those of MNIST.
const (
	fontTrain = 60000
	fontTest  = 10000
	fontSide  = 28 // pixels
)

// loadFontDigits renders fontdigits, or fontdigits:N, the first N training rows. Row i of either part
// depends only on the seed, the part and i.
func loadFontDigits(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	n, err := sp.rows(fontTrain)
	if err != nil {
		return nil, err
	}
	name := "fontdigits"
	if n < fontTrain {
		name = fmt.Sprintf("fontdigits:%d", n)
	}
	progress := opt.progress("drawing "+name, "pictures", int64(n+fontTest))
	train, err := fontSet(ctx, sp.withSeed(name), n, dataKey(sp.seed, streamTrain), opt.binarizer(streamTrain), progress)
	if err != nil {
		return nil, err
	}
	test, err := fontSet(ctx, sp.withSeed("fontdigits")+" test", fontTest, dataKey(sp.seed, streamTest), opt.binarizer(streamTest), progress)
	return []*Set{train, test}, err
}

// fontSet renders a set of n digits in blocks, and writes a byte to progress for each digit.
func fontSet(ctx context.Context, name string, n int, key rbm.Key, bin binarizer, progress io.Writer) (*Set, error) {
	s := &Set{
		Name:     name,
		X:        rbm.NewBits(n, fontSide*fontSide),
		Y:        make([]int32, n),
		Classes:  digitNames(),
		Height:   fontSide,
		Width:    fontSide,
		Binarize: bin.mode,
	}
	bin.keep(s) // of MNIST's size, so never too many
	pens := sync.Pool{New: func() any { return newDigitPen() }}
	var mu sync.Mutex
	return s, forBlocks(ctx, n, 256, func(lo, hi int) {
		pen := pens.Get().(*digitPen)
		defer pens.Put(pen)
		for i := lo; i < hi; i++ {
			s.Y[i] = int32(pen.draw(key.Child(uint64(i))))
			bin.picture(s, i, pen.grey.Pix, whiteLevels)
		}
		mu.Lock()
		defer mu.Unlock()
		progress.Write(make([]byte, hi-lo)) // an error of the display does not harm the data
	})
}

// How much digits vary. Lengths that are not in pixels are divided by the height of a digit. The amounts
// are chosen so that a linear classifier and nearest neighbours make about as many errors as on MNIST,
// which a test checks, while a person still reads every digit easily. Rotation and bending are too small to
// turn a 6 into a 9 or a 1 into a 7.
const (
	digitHeight   = 19.5 // pixels
	varyHeight    = 0.14 // relative, up or down
	narrowest     = 0.70 // width, relative to that of the face
	widest        = 1.25
	varySlant     = 0.42 // sideways shift divided by height; bell-shaped
	varyTurn      = 0.22 // tangent of half the angle; bell-shaped
	varyShift     = 1.7  // pixels; bell-shaped
	thinnest      = 0.085
	thickest      = 0.185
	varyThickness = 0.045 // largest change from the face's thickness, by moving the outline
	varyBend      = 0.62  // shift of the control points of the free-form bending; bell-shaped
	varyEdge      = 60    // of 255, up or down: noise at edges
)

// A digitPen renders digits, one after the other into the same picture. Only one goroutine may use it at a
// time.
type digitPen struct {
	rng   rng
	faces [][10]outline
	lines vector.Rasterizer
	grey  *image.Alpha // the last digit: 0 is paper, 255 ink
}

func newDigitPen() *digitPen {
	return &digitPen{faces: faces(), grey: image.NewAlpha(image.Rect(0, 0, fontSide, fontSide))}
}

// draw renders a random digit into p.grey and returns which digit it is. All random numbers derive from
// key. Digits and faces are uniform.
//
// Every product is rounded, by a conversion, before it is added. So the picture is the same on machines
// that could fuse the two operations.
func (p *digitPen) draw(key rbm.Key) int {
	r := &p.rng
	r.seed(key)
	digit := r.intn(10)
	o := &p.faces[r.intn(len(p.faces))][digit]

	grow := (r.between(thinnest, thickest) - o.stroke) / 2
	grow = min(max(grow, -varyThickness), varyThickness)
	var b bend
	for i := range b {
		for j := range b[i] {
			b[i][j] = [2]float32{varyBend * r.bell(), varyBend * r.bell()}
		}
	}
	tall := digitHeight * r.between(1-varyHeight, 1+varyHeight)
	width := tall * r.between(narrowest, widest)
	slant := varySlant * r.bell()
	// Cosine and sine follow from the tangent of half the angle without a
	// library. t is converted because 2·t may be compiled as t+t, which could be
	// fused.
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
			x, y = width*(x-float32(slant*y)), tall*y
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

// roughen adds noise to the grey pixels, at the edges of the ink. Black and white
// pixels stay.
func (p *digitPen) roughen() {
	for i, g := range p.grey.Pix {
		if g != 0 && g != 255 {
			n := int(g) + p.rng.intn(2*varyEdge+1) - varyEdge
			p.grey.Pix[i] = uint8(min(max(n, 0), 255))
		}
	}
}

// A bend is a smooth deformation of the plane around a digit: the free-form
// deformation of Sederberg and Parry (1986). A 4×4 net of control points moves,
// and the plane between them follows by cubic Bernstein polynomials.
type bend [4][4][2]float32

// at returns where the point (x, y) goes. The net covers the square of side 1.2
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

// bernstein returns the cubic Bernstein polynomials at x, in [−0.6, 0.6].
func bernstein(x float32) [4]float32 {
	t := min(max(x/1.2+0.5, 0), 1)
	s := 1 - t
	ss, tt := float32(s*s), float32(t*t)
	return [4]float32{ss * s, 3 * ss * t, 3 * s * tt, tt * t}
}
