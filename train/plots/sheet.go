package plots

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"gorbm/rbm"
)

// tileSide is the smallest length of the longer side of a picture on a sheet, in pixels. Smaller pictures
// are enlarged by a whole factor.
const tileSide = 56

// sheetGap is the space between pictures, in pixels.
const sheetGap = 2

// Tiles arranges pictures in columns on a sheet. Each row of rows is one picture of height × width values,
// and paint gives the colour of a value. It panics if the sizes do not fit.
func Tiles(rows rbm.Matrix, height, width, columns int, paint func(float32) color.RGBA) *image.RGBA {
	if height*width != rows.Cols || columns < 1 {
		panic("plots: the shape does not fit the rows")
	}
	scale := max(1, (tileSide+max(height, width)-1)/max(height, width))
	lines := (rows.Rows + columns - 1) / columns
	cellW, cellH := width*scale+sheetGap, height*scale+sheetGap
	img := image.NewRGBA(image.Rect(0, 0, columns*cellW+sheetGap, lines*cellH+sheetGap))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.Gray{0xC0}), image.Point{}, draw.Src)
	for r := range rows.Rows {
		for i, v := range rows.Row(r) {
			x, y := sheetGap+r%columns*cellW+i%width*scale, sheetGap+r/columns*cellH+i/width*scale
			c := paint(v)
			for k := range scale * scale {
				img.SetRGBA(x+k%scale, y+k/scale, c)
			}
		}
	}
	return img
}

// Compact returns an image of at most 256 colours with a palette, which takes a third of the bytes or less
// in a file. It returns other images unchanged.
func Compact(img image.Image) image.Image {
	rgba, ok := img.(*image.RGBA)
	if !ok {
		return img
	}
	index := map[color.RGBA]uint8{}
	out := image.NewPaletted(rgba.Bounds(), nil)
	last, at := color.RGBA{}, uint8(0)
	for y := rgba.Rect.Min.Y; y < rgba.Rect.Max.Y; y++ {
		line := out.Pix[out.PixOffset(rgba.Rect.Min.X, y):]
		for x := range rgba.Rect.Dx() {
			c := rgba.RGBAAt(rgba.Rect.Min.X+x, y)
			if c != last || len(index) == 0 {
				if at, ok = index[c]; !ok {
					if len(index) == 256 {
						return img
					}
					at = uint8(len(index))
					index[c] = at
					out.Palette = append(out.Palette, c)
				}
				last = c
			}
			line[x] = at
		}
	}
	return out
}

// merged returns an image with a palette, like Compact. An image with more than 256 colours, as at the
// edges of lines and letters, loses some of them: colours that agree in the upper four bits of each channel, or
// in the upper three if that is not enough, become the most frequent of these. A colour with the fraction
// frequentShare of the pixels stays, such as the light grey of a grid next to white. If there are still more
// than 256 colours, the image is returned unchanged.
func merged(img image.Image) image.Image {
	out := Compact(img)
	rgba, ok := out.(*image.RGBA)
	if !ok {
		return out
	}
	count := map[color.RGBA]int{}
	each := func(do func(at int, c color.RGBA, n int)) { // calls do for each run of one colour
		for y := rgba.Rect.Min.Y; y < rgba.Rect.Max.Y; y++ {
			line := rgba.Pix[rgba.PixOffset(rgba.Rect.Min.X, y):][:4*rgba.Rect.Dx()]
			for lo := 0; lo < len(line); {
				c, hi := [4]uint8(line[lo:]), lo+4
				for hi < len(line) && [4]uint8(line[hi:]) == c {
					hi += 4
				}
				do((y-rgba.Rect.Min.Y)*rgba.Rect.Dx()+lo/4, color.RGBA{c[0], c[1], c[2], c[3]}, (hi-lo)/4)
				lo = hi
			}
		}
	}
	each(func(_ int, c color.RGBA, n int) { count[c] += n })
	var becomes func(c color.RGBA) color.RGBA
	palette := map[color.RGBA]bool{}
	for _, lost := range []int{4, 5} { // bits of a channel
		cell := func(c color.RGBA) color.RGBA {
			return color.RGBA{c.R >> lost, c.G >> lost, c.B >> lost, c.A >> lost}
		}
		most := map[color.RGBA]color.RGBA{}
		for c, n := range count {
			m, ok := most[cell(c)]
			if d := count[m]; !ok || n > d || n == d && slices.Compare([]uint8{c.R, c.G, c.B, c.A}, []uint8{m.R, m.G, m.B, m.A}) < 0 {
				most[cell(c)] = c
			}
		}
		becomes = func(c color.RGBA) color.RGBA {
			if float64(count[c]) >= frequentShare*float64(rgba.Rect.Dx()*rgba.Rect.Dy()) {
				return c
			}
			return most[cell(c)]
		}
		clear(palette)
		for c := range count {
			palette[becomes(c)] = true
		}
		if len(palette) <= 256 {
			break
		}
	}
	if len(palette) > 256 {
		return img
	}
	paletted := image.NewPaletted(rgba.Rect, nil)
	index := map[color.RGBA]uint8{} // index in the palette, of each colour of img
	each(func(at int, c color.RGBA, n int) {
		k, ok := index[c]
		if !ok {
			m := becomes(c)
			if k, ok = index[m]; !ok {
				k = uint8(len(paletted.Palette))
				paletted.Palette = append(paletted.Palette, m)
				index[m] = k
			}
			index[c] = k
		}
		line := paletted.Pix[at:][:n]
		for i := range line {
			line[i] = k
		}
	})
	return paletted
}

// frequentShare is a smaller fraction of the pixels than a thin line across a chart has.
const frequentShare = 1. / 8192

const (
	captionSize  = 16 // height of letters, in pixels
	captionSpace = 6  // around texts, in pixels
	// captionLetters is the largest number of letters of a name next to a sheet.
	captionLetters = 12
)

// Caption returns a sheet with names to the left of its lines, which must be equally high, and a line of
// text below it. names may be nil, and text empty. Names are left out if the lines are too low for them.
func Caption(sheet image.Image, names []string, text string) (*image.RGBA, error) {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: captionSize, DPI: 72})
	if err != nil {
		return nil, err
	}
	d := font.Drawer{Src: image.Black, Face: face}
	if len(names) > 0 && sheet.Bounds().Dy()/len(names) < captionSize {
		names = nil
	}
	names = slices.Clone(names)
	left, below := 0, 0
	for i, name := range names {
		if letters := []rune(name); len(letters) > captionLetters {
			names[i] = string(letters[:captionLetters-1]) + "…"
		}
		left = max(left, d.MeasureString(names[i]).Ceil()+2*captionSpace)
	}
	if text != "" {
		below = captionSize + 2*captionSpace
	}
	size := sheet.Bounds().Size()
	img := image.NewRGBA(image.Rect(0, 0, max(left+size.X, d.MeasureString(text).Ceil()+2*captionSpace), size.Y+below))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(left, 0, left+size.X, size.Y), sheet, sheet.Bounds().Min, draw.Src)
	d.Dst = img
	for i, name := range names {
		middle := (2*i + 1) * size.Y / (2 * len(names))
		d.Dot = fixed.P(left-captionSpace-d.MeasureString(name).Ceil(), middle+captionSize/3) // digits are two thirds of captionSize high
		d.DrawString(name)
	}
	d.Dot = fixed.P(captionSpace, size.Y+captionSpace+captionSize*4/5)
	d.DrawString(text)
	return img, nil
}

// Ink is the paint for probabilities, from white for 0 to black for 1.
func Ink(p float32) color.RGBA {
	g := uint8(255 - 255*min(max(p, 0), 1) + 0.5)
	return color.RGBA{g, g, g, 255}
}

// InkOf returns the paint for inputs of m: Ink if they are binary. Real inputs, which are standardised, are
// white at three standard deviations below the mean and black at three above.
func InkOf(m *rbm.RBM) func(float32) color.RGBA {
	if !m.Real() {
		return Ink
	}
	return func(x float32) color.RGBA { return Ink(0.5 + x/6) }
}

// signed returns a paint for values between ±limit: blue for −limit, white for 0 and red for limit, with
// shades in between.
func signed(limit float32) func(float32) color.RGBA {
	return func(x float32) color.RGBA {
		t := float32(0)
		if limit > 0 {
			t = float32(math.Round(100*float64(min(max(x/limit, -1), 1)))) / 100 // few enough colours for Compact
		}
		fade := func(to uint8) uint8 { return uint8(255 - max(t, -t)*float32(255-to) + 0.5) }
		if t >= 0 {
			return color.RGBA{fade(178), fade(24), fade(43), 255} // the ends of ColorBrewer RdBu
		}
		return color.RGBA{fade(33), fade(102), fade(172), 255}
	}
}

const (
	// maxFilters is the largest number of filters on a sheet.
	maxFilters = 100
	// MaxValues bounds the number of values on a sheet of pictures, to that of 2048 × 2048 pixels. Larger
	// sheets take long to draw and to open.
	MaxValues = 1 << 22
)

// Filters draws the weights between the inputs of m and its first hidden units, up to a hundred. Each unit
// is a picture of height × width, as in Weights. There are fewer pictures if a hundred would have more than
// MaxValues values.
func Filters(m *rbm.RBM, height, width int) *image.RGBA {
	n := min(m.Hidden(), maxFilters, max(1, MaxValues/m.Inputs()))
	f := rbm.NewMatrix(n, m.Inputs())
	for j := range n {
		row := f.Row(j)
		for i := range row {
			row[i] = m.Weight(i, j)
		}
	}
	return Weights(f, height, width, squarish(n))
}

// Weights arranges pictures of weights as Tiles does, red above zero and blue below. All pictures share one
// scale, which ends at the 99.5th percentile of the sizes of the weights. Units that have learnt nothing
// therefore look empty.
func Weights(rows rbm.Matrix, height, width, columns int) *image.RGBA {
	size := make([]float64, 0, len(rows.Data))
	for _, w := range rows.Data {
		size = append(size, math.Abs(float64(w)))
	}
	slices.Sort(size)
	return Tiles(rows, height, width, columns, signed(float32(size[(len(size)-1)*199/200])))
}

// squarish returns the number of columns of an almost square sheet of n pictures.
func squarish(n int) int { return max(1, int(math.Ceil(math.Sqrt(float64(n))))) }

// Hole is the value of a missing input for MarkedInk.
const Hole = -1

// Given marks a value in [0,1] as given rather than sampled, for MarkedInk.
func Given(p float32) float32 { return givenFrom + min(max(p, 0), 1) }

// givenFrom is the smallest value that Given returns.
const givenFrom = 2

// MarkedInk is Ink, but paints values of Given in shades of blue and Hole in light yellow.
func MarkedInk(p float32) color.RGBA {
	switch {
	case p < 0:
		return color.RGBA{0xFF, 0xF3, 0xC4, 0xFF}
	case p < givenFrom:
		return Ink(p)
	}
	t := p - givenFrom
	fade := func(from, to float32) uint8 { return uint8(from + t*(to-from) + 0.5) }
	return color.RGBA{fade(0xD6, 0x08), fade(0xE6, 0x30), fade(0xF7, 0x6B), 0xFF} // ColorBrewer Blues
}
