package units

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// Softmax units form one categorical variable. Exactly one unit of the group is 1, and it is unit k
// with probability ∝ e^zₖ.
var Softmax VisibleKind = softmax{}

type softmax struct{}

func (softmax) String() string   { return "softmax" }
func (softmax) Support() Support { return OneHot }
func (softmax) Params() []Param  { return nil }

func (softmax) Means(dst Means, b *Block) {
	for r := range b.Rows {
		vec.Softmax(dst.Data[r*dst.Cols+b.First:][:b.Width], b.In[r*b.Stride:][:b.Width])
	}
}

// Draw overwrites the inputs z of each row in b.In with exp(βz − max βz).
func (softmax) Draw(x States, b *Block, s vec.Stream) {
	for r := range b.Rows {
		z, beta := b.In[r*b.Stride:][:b.Width], b.BetaOf(r)
		if b.Base != nil {
			for c, base := range b.Base.Field[b.First:][:b.Width] {
				z[c] = float32(beta*z[c]) + float32((1-beta)*base)
			}
			beta = 1
		}
		x.setOne(r, b.First, b.Width, vec.DrawOne(z, s.Uniform(b.Row+uint32(r), uint32(b.First)), beta))
	}
}

// DrawTransposed is Draw for a softmax group in at most 64 rows, with transposed inputs: that of unit
// i of the group in row r is in[64·i+r]. It ignores b.In, may overwrite in, and uses
// scratch as working memory.
func DrawTransposed(x States, b *Block, in []float32, s vec.Stream, scratch *Transposed) {
	for r := range scratch.beta {
		scratch.beta[r] = 1
	}
	copy(scratch.beta[:], b.Beta[:min(len(b.Beta), b.Rows)])
	if b.Base != nil {
		for c, base := range b.Base.Field[b.First:][:b.Width] {
			for r, z := range in[c*vec.Block:][:vec.Block] {
				beta := scratch.beta[r]
				in[c*vec.Block+r] = float32(beta*z) + float32((1-beta)*base)
			}
		}
		for r := range scratch.beta {
			scratch.beta[r] = 1
		}
	}
	u := s.Column(&scratch.uniforms, b.Row, uint32(b.First))
	vec.Choose(&scratch.state, in, b.Width, &scratch.beta, u)
	for r, y := range scratch.state[:b.Rows] {
		x.setOne(r, b.First, b.Width, int(y))
	}
}

// Transposed is the working memory of DrawTransposed.
type Transposed struct {
	state    [vec.Block]uint32
	beta     [vec.Block]float32
	uniforms [4 * vec.Block]float32
}

// setOne sets unit first+y of row r to 1, and the other units of first … first+number−1 to 0.
func (x States) setOne(r, first, number, y int) {
	if x.Real != nil {
		row := x.Real[r*x.Stride:]
		clear(row[first : first+number])
		row[first+y] = 1
		return
	}
	row := x.Words[r*x.Stride:]
	for lo, end := first, first+number; lo < end; { // word by word
		k := lo / vec.Block
		hi := min(end, (k+1)*vec.Block)
		row[k] &^= vec.WordMask(hi-lo) << (lo % vec.Block)
		lo = hi
	}
	row[(first+y)/vec.Block] |= 1 << ((first + y) % vec.Block)
}

func (softmax) LogZs(sum, product []float64, stride int, _ Means, b *Block) {
	for r := range b.Rows {
		sum[r*stride], product[r*stride] = b.logSumExp(r, 1), 1
	}
}

func (softmax) Rises(sum, product []float64, b *Block, from, to float64) {
	for r := range b.Rows {
		sum[r], product[r] = b.logSumExp(r, to)-b.logSumExp(r, from), 1
	}
}

// logSumExp returns log Σ exp(z) over the inputs z of row r at inverse temperature β.
func (b *Block) logSumExp(r int, beta float64) float64 {
	input := func(i int) float64 {
		z := float64(beta * float64(b.In[r*b.Stride+i]))
		if b.Base != nil {
			z += float64((1 - beta) * b.Base.At(b.First+i))
		}
		return z
	}
	top, sum := math.Inf(-1), 0.0
	for i := range b.Width {
		top = max(top, input(i))
	}
	for i := range b.Width {
		sum += vec.Exp(input(i) - top)
	}
	return top + vec.Log(sum)
}

func (softmax) LogZ(z []float64, _ *Distribution, _ int) float64 { return vec.LogSumExp(z) }

func (softmax) Field(dst, mean []float32, rows float64) {
	for i, p := range mean {
		dst[i] = float32(vec.Log(float64(float64(p)*rows) + 0.5))
	}
}

// FieldOfStates overwrites dst with the fields of a softmax group without weights. mean has the
// frequency of each state of the group in the data, over the given number of rows. One
// pseudo-row, divided among all states, keeps the fields finite for states that never occur. The
// fields sum to zero.
func FieldOfStates(dst, mean []float32, rows float64) {
	for i, p := range mean {
		dst[i] = float32(vec.Log(float64(float64(p)*rows) + 1/float64(len(mean))))
	}
	Centre(dst)
}

// Centre subtracts the mean of x from its elements, and returns the mean.
func Centre(x []float32) (mean float64) {
	for _, x := range x {
		mean += float64(x)
	}
	mean /= float64(len(x))
	for i := range x {
		x[i] = float32(float64(x[i]) - mean)
	}
	return mean
}
