package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// Bernoulli units are 0 or 1, independent given the other layer: p(1) = 1/(1+e^−z).
var Bernoulli VisibleKind = bernoulli{}

type bernoulli struct{}

func (bernoulli) String() string   { return "bernoulli" }
func (bernoulli) Support() Support { return Bits }
func (bernoulli) Params() []Param  { return nil }

func (bernoulli) Means(dst Means, b *Block) {
	if b.From == 0 {
		vec.Sigmoids(dst.Data[b.First:], dst.Cols, b.In, b.Rows, b.Width)
		return
	}
	for r := range b.Rows { // the kernel always writes from the block's first unit on
		var mean [vec.Block]float32
		vec.Sigmoids(mean[:], vec.Block, b.In[r*vec.Block:], 1, b.Width)
		copy(dst.Data[r*dst.Cols+b.First+b.From:][:b.Width-b.From], mean[b.From:])
	}
}

// blendRows is the number of rows whose inputs are interpolated with the base and drawn in one
// call. These rows fit into the first-level cache.
const blendRows = 16

// Draw overwrites the words of the block and clears their bits beyond Width. In a layer of real
// values it does not change units of other groups.
func (bernoulli) Draw(x States, b *Block, s vec.Stream) {
	if x.Real == nil {
		drawWords(x.Words[b.First/vec.Block:], x.Stride, b, 0, b.Rows, s)
		return
	}
	for r := range b.Rows {
		var word [1]uint64
		drawWords(word[:], 1, b, r, 1, s)
		for i := b.From; i < b.Width; i++ {
			x.Real[r*x.Stride+b.First+i] = float32(word[0] >> i & 1)
		}
	}
}

// drawWords draws the units of rows lo … lo+n−1 of b. It writes the word of row lo+r to words[r·stride].
func drawWords(words []uint64, stride int, b *Block, lo, n int, s vec.Stream) {
	k, first, in := uint32(b.First/vec.Block), b.Row+uint32(lo), b.In[lo*vec.Block:]
	var beta []float32
	if b.Beta != nil {
		beta = b.Beta[lo:]
	}
	if b.Base == nil || beta == nil {
		s.Draws(words, stride, in, beta, first, k, n, b.Width)
		return
	}
	var from [vec.Block]float32
	copy(from[:], b.Base.Field[b.First:])
	var blends [blendRows * vec.Block]float32
	for r := 0; r < n; r += blendRows {
		some := min(blendRows, n-r)
		vec.Blend(blends[:], in[r*vec.Block:], beta[r:], &from, some)
		s.Draws(words[r*stride:], stride, blends[:], nil, first+uint32(r), k, some, b.Width)
	}
}

// LogZs uses log(1+eᶻ) = max(z,0) − log max(p,1−p), where p is the mean of the unit. The relative error
// of p is at most about 2⁻²⁴, so each unit adds an error of at most about 2⁻²⁴.
// The product is at least 2⁻⁶⁴.
func (bernoulli) LogZs(sum, product []float64, stride int, mean Means, b *Block) {
	for r := range b.Rows {
		z := b.In[r*vec.Block:][b.From:b.Width]
		p := mean.Data[r*mean.Cols+b.First:][b.From:b.Width]
		// Two independent sums and products, over even and odd units, hide latency. There are no
		// branches: z+|z| is exactly 2·max(z,0), and ½+|p−½| is exactly max(p,1−p).
		var above [2]float64
		below := [2]float64{1, 1}
		i := 0
		for ; i+1 < len(z) && i+1 < len(p); i += 2 {
			x, y := float64(z[i]), float64(z[i+1])
			above[0] += x + math.Abs(x)
			above[1] += y + math.Abs(y)
			below[0] *= 0.5 + math.Abs(float64(p[i])-0.5)
			below[1] *= 0.5 + math.Abs(float64(p[i+1])-0.5)
		}
		if i < len(z) {
			x := float64(z[i])
			above[0] += x + math.Abs(x)
			below[0] *= 0.5 + math.Abs(float64(p[i])-0.5)
		}
		sum[r*stride], product[r*stride] = (above[0]+above[1])/2, below[0]*below[1]
	}
}

// Rises reads the inputs of all 64 units of the block. Inputs beyond the last unit must be zero; they
// add nothing. The product lies between 2⁻⁶⁴ and 2⁶⁴.
func (bernoulli) Rises(sum, product []float64, b *Block, from, to float64) {
	var fromShift, toShift [vec.Block]float64
	if b.Base != nil {
		for i, c := range b.Base.Field[b.First:][:b.Width] {
			fromShift[i] = float64((1 - from) * float64(c))
			toShift[i] = float64((1 - to) * float64(c))
		}
	}
	if b.From == 0 {
		vec.Rises(product, sum, b.In, from, to, &fromShift, &toShift, b.Rows)
		return
	}
	clear(fromShift[:b.From])
	clear(toShift[:b.From])
	for r := range b.Rows {
		var in [vec.Block]float32
		copy(in[b.From:], b.In[r*vec.Block:][b.From:b.Width])
		vec.Rises(product[r:], sum[r:], in[:], from, to, &fromShift, &toShift, 1)
	}
}

func (bernoulli) LogZ(z []float64, _ *Distribution, _ int) float64 { return vec.SoftplusSum(z) }

func (bernoulli) Field(dst, mean []float32, rows float64) {
	for i, p := range mean {
		n := float64(float64(p) * rows)
		b := vec.Log(n + 0.5)
		b -= vec.Log(rows - n + 0.5)
		dst[i] = float32(b)
	}
}
