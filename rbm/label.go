package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// ClassLogProb overwrites dst, v.Rows × Classes() row by row, with log p(y|x) of each class y
// in nats, where x are the inputs in v. It ignores the label units in v. With both kinds of label
//
//	p(y|x) = exp(−F(x,e_y)) / Σ_k exp(−F(x,e_k))
//
// where F is the free energy and e_k the one-hot label of class k (Larochelle & Bengio 2008, eq. 2;
// the infinite-swapping paper, section 4.1). A row is NaN if a constraint allows no state with x
// in any class. It panics if the shapes differ, if m has no classes, or if v is grey and a
// constraint is on all units.
func (m *RBM) ClassLogProb(dst []float64, v Values) {
	m.checkInput(v)
	if m.Classes() == 0 || len(dst) != v.Rows*m.Classes() {
		panic("rbm: ClassLogProb needs a classification RBM and dst of rows × classes")
	}
	m.evaluate(func(e *evaluation) {
		e.v, e.dst, e.units = v, dst, m.Inputs()
		e.labels.set(m, m.labelGroup())
	}, func(e *evaluation, b *rowBlock, first int) {
		classes := e.m.Classes()
		e.m.given().classLogProbs(e, e.dst[first*classes:(first+b.n)*classes], b)
	})
}

// classWeights are summedRows: each row of a block is combined with each class. Row i is row i / Classes() of
// the block with class i mod Classes(). put writes the unnormalised log p(y|x) to b.dst.
type classWeights struct{}

func (classWeights) row(e *evaluation, b *rowBlock, i int) (z []float64, active int) {
	m := e.m
	r, y := i/m.Classes(), i%m.Classes()
	n := vec.RoundUp(m.Hidden())
	b.table = grown(b.table, n)
	a := b.row(r, m.Hidden())
	for k, w := range e.labels.rows[y*n:][:n] {
		b.table[k] = a[k] + w
	}
	return b.table[:n], m.Constraint.activeWithClass(m, e.v, b.first+r)
}

func (classWeights) put(e *evaluation, b *rowBlock, i int, logZ float64, _ []float64) {
	b.dst[i] = e.labels.bias[i%e.m.Classes()] + logZ
}

// classMeans has the rows of classWeights. put adds their hidden means, weighted by p(y|x), to b.mean.
type classMeans struct{ classWeights }

func (classMeans) put(e *evaluation, b *rowBlock, i int, _ float64, mean []float64) {
	p, sum := vec.Exp(b.logp[i]), b.mean[i/e.m.Classes()*e.m.Hidden():][:e.m.Hidden()]
	for k, q := range mean {
		sum[k] += float64(p * q)
	}
}

// labels has the parameters of the label units, or of the units of another softmax group, prepared
// for logProbs.
type labels struct {
	bias   []float64
	rows   []float64 // for each label unit: its weights, padded to a multiple of vec.Wide
	odds   []float64 // exp(weight), by which a label unit multiplies the odds of a hidden unit
	begin  []uint32  // for each label unit: index of its first weight in rows
	hidden *layer
	span   int // number of factors that vec.Products may multiply before it rescales; 0 if a weight is too large
}

// oddsWeight is the largest absolute weight of a label unit for which logProbs multiplies odds.
// Odds below e^−708 are replaced by e^−708, and are still negligible against 1 when multiplied by e^650.
const oddsWeight = 650

func (l *labels) set(m *RBM, g Group) {
	l.hidden = &m.hidden
	n := vec.RoundUp(m.Hidden())
	l.bias, l.begin = grown(l.bias, g.Units), grown(l.begin, g.Units)
	l.rows, l.odds = grown(l.rows, n*g.Units), grown(l.odds, n*g.Units)
	for y := range l.bias {
		l.bias[y], l.begin[y] = float64(m.VisibleBias[g.First+y]), uint32(y*n)
		m.widenRow(l.rows[y*n:][:n], g.First+y)
	}
	l.span = 0
	if m.hidden.isReal { // real units have no odds
		return
	}
	largest := 0.0
	for p := range vec.Blocks(m.Hidden()) {
		largest = max(largest, float64(vec.Largest(m.panel(p)[g.First*vec.Block:(g.First+g.Units)*vec.Block])))
	}
	if largest <= oddsWeight {
		l.span = vec.Span(largest)
		vec.Exps(l.odds, l.rows)
	}
}

// widenRow overwrites w with the weights of visible unit i, followed by zeros.
func (m *RBM) widenRow(w []float64, i int) {
	for p := range vec.Blocks(m.Hidden()) {
		row := m.panel(p)[i*vec.Block:]
		part := w[p*vec.Block : min((p+1)*vec.Block, len(w))]
		vec.Widen(part, row[:len(part)])
	}
}

// logProbs overwrites dst with log p(y|x) of each class, given the hidden preactivations a from
// the inputs alone. Let w be the weights between a label unit and the hidden units. The hidden units contribute
//
//	Σ log(1+e^(a+w)) − Σ log(1+e^a) = Σ log(off + on·e^w) − Σ log(off + on)
//
// where on/off = σ(a)/σ(−a), and sums are over the hidden units. The second sum is the same for all labels.
func (l *labels) logProbs(dst, a []float64, b *rowBlock) {
	above := 0.0
	if l.span > 0 {
		b.m, b.e = grown(b.m, len(dst)), grown(b.e, len(dst))
		for y := range dst {
			b.m[y], b.e[y] = 1, 0
		}
		on, off := b.on[:len(a)], b.off[:len(a)]
		above, _ = vec.Odds(on, off, a)
		vec.Products(b.m, b.e, on, off, l.odds, l.begin, l.span)
		for y := range dst {
			dst[y] = l.bias[y] + vec.LogSplit(b.m[y], b.e[y])
		}
	} else { // real hidden units, or weights beyond the range of products
		b.table = grown(b.table, len(a))
		for y := range dst {
			for k, w := range l.rows[y*len(a):][:len(a)] {
				b.table[k] = a[k] + w
			}
			dst[y] = l.bias[y] + l.hidden.logZ(b.table, &l.hidden.dist)
		}
	}
	normalise(dst)
	if math.IsNaN(above) { // a preactivation is NaN, which the products of odds do not show
		for y := range dst {
			dst[y] = above
		}
	}
}

// normalise subtracts log Σ e^x from x.
func normalise(x []float64) {
	z := vec.LogSumExp(x)
	for y := range x {
		x[y] -= z
	}
}

// HiddenMeanGivenInputs overwrites dst, v.Rows × Hidden(), with the hidden means
// given the inputs x alone, with the label summed out:
//
//	p(h=1|x) = Σ_y p(y|x) p(h=1|x,e_y)
//
// It ignores the label units in v. p(y|x) is that of ClassLogProb, and the sum is over the one-hot
// labels e_y. Under the model any number of Bernoulli label units may be on; with Bernoulli labels the result
// is therefore conditioned on exactly one label unit being on, as in the data. A constraint applies to each
// term.
//
// A row of dst is NaN if a constraint allows no state with x in any class. For a
// model without labels it is HiddenMean. Sums are in float64. It panics if the
// shapes differ, or if v is grey and a constraint is on all units.
func (m *RBM) HiddenMeanGivenInputs(dst Matrix, v Values) {
	m.checkInput(v)
	if dst.Rows != v.Rows || dst.Cols != m.Hidden() {
		panic("rbm: HiddenMeanGivenInputs needs dst of rows × hidden")
	}
	if m.Classes() == 0 {
		m.HiddenMean(dst, v)
		return
	}
	m.evaluate(func(e *evaluation) {
		e.v, e.mean, e.units = v, dst, m.Inputs()
		e.labels.set(m, m.labelGroup())
	}, (*evaluation).meansGivenInputs)
}

func (e *evaluation) meansGivenInputs(b *rowBlock, first int) {
	hidden, classes := e.m.Hidden(), e.m.Classes()
	b.logp, b.mean = grown(b.logp, b.n*classes), grown(b.mean, b.n*hidden)
	clear(b.mean)
	given := e.m.given()
	given.classLogProbs(e, b.logp, b)
	given.sumOut(e, b, len(b.logp), true, classMeans{})
	for r := range b.n {
		dst := e.mean.Row(first + r)
		for k, x := range b.mean[r*hidden:][:hidden] {
			dst[k] = float32(x)
		}
		for _, lp := range b.logp[r*classes:][:classes] {
			if math.IsNaN(lp) { // a parameter is NaN, or no class is possible
				fill(dst, float32(math.NaN()))
				break
			}
		}
	}
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}
