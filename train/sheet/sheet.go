// Package sheet draws rows of numbers as sheets of small pictures.
package sheet

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"

	"gorbm/rbm"
)

// tileSide is the least longer side of a picture on a sheet, in pixels: smaller
// ones are enlarged by a whole factor.
const tileSide = 56

// gap is the space between pictures, in pixels.
const gap = 2

// Tiles arranges pictures of height × width, one a row of rows, in columns
// columns, and colours each value by paint. It panics if the sizes do not fit.
func Tiles(rows rbm.Matrix, height, width, columns int, paint func(float32) color.RGBA) *image.RGBA {
	if height*width != rows.Cols || columns < 1 {
		panic("sheet: the shape does not fit the rows")
	}
	scale := max(1, (tileSide+max(height, width)-1)/max(height, width))
	lines := (rows.Rows + columns - 1) / columns
	cellW, cellH := width*scale+gap, height*scale+gap
	img := image.NewRGBA(image.Rect(0, 0, columns*cellW+gap, lines*cellH+gap))
	for i := range img.Pix {
		img.Pix[i] = 0xC0 // grey ground
	}
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 0xFF
	}
	for r := range rows.Rows {
		x0, y0 := gap+r%columns*cellW, gap+r/columns*cellH
		for i, v := range rows.Row(r) {
			c := paint(v)
			for dy := range scale {
				for dx := range scale {
					img.SetRGBA(x0+i%width*scale+dx, y0+i/width*scale+dy, c)
				}
			}
		}
	}
	return img
}

// Ink paints probabilities from 0, white, to 1, black.
func Ink(p float32) color.RGBA {
	g := uint8(255 - 255*min(max(p, 0), 1) + 0.5)
	return color.RGBA{g, g, g, 255}
}

// Signed returns a paint for values from −limit, blue, over 0, white, to
// limit, red.
func Signed(limit float32) func(float32) color.RGBA {
	return func(x float32) color.RGBA {
		t := float32(0)
		if limit > 0 {
			t = min(max(x/limit, -1), 1)
		}
		fade := func(to uint8) uint8 {
			a := t
			if a < 0 {
				a = -a
			}
			return uint8(255 - a*float32(255-to) + 0.5)
		}
		if t >= 0 {
			return color.RGBA{fade(178), fade(24), fade(43), 255} // ColorBrewer RdBu ends
		}
		return color.RGBA{fade(33), fade(102), fade(172), 255}
	}
}

// maxFilters is the number of filters on a sheet.
const maxFilters = 100

// Filters draws the weights of the first hidden units of m to its inputs as
// pictures of height × width, red above zero and blue below. All are on one
// scale, whose end is the 99.5th percentile of the weights shown, so units
// that have learnt nothing look empty.
func Filters(m *rbm.RBM, height, width int) *image.RGBA {
	n := min(m.Hidden(), maxFilters)
	f := rbm.NewMatrix(n, m.Inputs())
	size := make([]float64, 0, len(f.Data))
	for j := range n {
		row := f.Row(j)
		for i := range row {
			row[i] = m.Weight(i, j)
			size = append(size, math.Abs(float64(row[i])))
		}
	}
	slices.Sort(size)
	return Tiles(f, height, width, Columns(n), Signed(float32(size[(len(size)-1)*199/200])))
}

// Columns returns the number of columns of a squarish sheet of n pictures.
func Columns(n int) int { return max(1, int(math.Ceil(math.Sqrt(float64(n))))) }

// Encode writes img as PNG.
func Encode(w io.Writer, img image.Image) error { return png.Encode(w, img) }
