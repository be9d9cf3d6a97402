package vec

import "math/bits"

// Columns are rows of states, ready to be summed over by Dots.
type Columns struct {
	words        []uint64
	stride, rows int
	panelStride  int
	panels       int
	lists        []laneList // of each row, at level Go only
}

// Set takes rows of panels words each, stride apart, as the active columns of
// weights whose panels are panelStride apart. The words are kept, not copied.
func (c *Columns) Set(words []uint64, stride, rows, panels, panelStride int) {
	*c = Columns{words, stride, rows, panelStride, panels, c.lists}
	if InUse() != Go {
		return
	}
	for len(c.lists) < rows {
		c.lists = append(c.lists, laneList{offsets: make([]uint32, 0, panels*Block)})
	}
	for r := range rows {
		c.lists[r].set(words[r*stride:r*stride+panels], panelStride)
	}
}

// Release forgets the words.
func (c *Columns) Release() { c.words = nil }

// Dots writes, for each row r of states from lo to hi−1, the sums of Tile
// consecutive rows of the weights over the active columns of r, plus bias, to
// dst[(r-lo)*Block:]; base starts at the first of these rows. Lane l sums its
// columns in ascending order from zero, in every row:
//
//	for each active column j: lane[j%16] += w[j]
//
// and the sixteen lanes are added as four quads t, then across the quads:
//
//	t[q] = (lane[4q]+lane[4q+2]) + (lane[4q+1]+lane[4q+3])
//	dst  = ((t[0]+t[2]) + (t[1]+t[3])) + bias
//
// Adding zeros for the other columns gives the same bits, because a sum that
// began at +0 is never −0; their weights do not matter even if they are not
// finite.
func (c *Columns) Dots(dst, base []float32, bias *[Tile]float32, lo, hi int) {
	if lo >= hi {
		return
	}
	_ = dst[(hi-lo-1)*Block+Tile-1]
	_ = base[(c.panels-1)*c.panelStride+Tile*Block-1]
	_ = c.words[(hi-1)*c.stride+c.panels-1]
	// A call of assembly cannot be interrupted: it gets a bounded piece.
	step := max(3, dotsWork/c.panels/3*3)
	for ; lo < hi; lo += step {
		n := min(step, hi-lo)
		c.dots(dst, base, bias, lo, n)
		if lo+step < hi {
			dst = dst[step*Block:]
		}
	}
}

// dotsWork is the number of blocks of columns, some 25 ns each, that one call
// of assembly sums.
const dotsWork = 1 << 11

func (c *Columns) dotsGo(dst, base []float32, bias *[Tile]float32, lo, n int) {
	for r := range n {
		dotGo((*[Tile]float32)(dst[r*Block:]), base, bias, &c.lists[lo+r])
	}
}

// A laneList holds the active columns of one row of states, sorted for Dots:
// the offsets of lane l are offsets[end[l-1]:end[l]], ascending.
type laneList struct {
	offsets []uint32
	end     [Lanes]uint32
}

// set fills the list with the offsets, in weights whose panels are stride
// apart, of the one bits of words. Column j belongs to lane j%16.
func (l *laneList) set(words []uint64, stride int) {
	l.offsets = l.offsets[:0]
	for lane := range l.end {
		for k, w := range words {
			for w = w >> lane & 0x0001_0001_0001_0001; w != 0; w &= w - 1 {
				l.offsets = append(l.offsets, uint32(k*stride+lane+bits.TrailingZeros64(w)))
			}
		}
		l.end[lane] = uint32(len(l.offsets))
	}
}

func dotGo(dst *[Tile]float32, base []float32, bias *[Tile]float32, l *laneList) {
	var lanes [Lanes][Tile]float32
	lo := uint32(0)
	for lane, hi := range l.end {
		var a0, a1, a2, a3, a4, a5, a6, a7 float32
		for _, o := range l.offsets[lo:hi] {
			w := (*[7*Block + 1]float32)(base[o:])
			a0 += w[0]
			a1 += w[Block]
			a2 += w[2*Block]
			a3 += w[3*Block]
			a4 += w[4*Block]
			a5 += w[5*Block]
			a6 += w[6*Block]
			a7 += w[7*Block]
		}
		lanes[lane] = [Tile]float32{a0, a1, a2, a3, a4, a5, a6, a7}
		lo = hi
	}
	for r := range dst {
		var t [4]float32
		for q := range t {
			t[q] = (lanes[4*q][r] + lanes[4*q+2][r]) + (lanes[4*q+1][r] + lanes[4*q+3][r])
		}
		dst[r] = ((t[0] + t[2]) + (t[1] + t[3])) + bias[r]
	}
}
