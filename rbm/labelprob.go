package rbm

import (
	"gorbm/rbm/internal/vec"
)

// ClassLogProb overwrites dst, v.Rows() × Classes() row by row, with log p(y|x)
// in nats of each class, where x are the inputs in v; the label units in v are
// ignored. Both kinds of label give
//
//	p(y|x) = exp(−F(x,e_y)) / Σ_k exp(−F(x,e_k))
//
// (Larochelle & Bengio 2008, eq. 2; the infinite-swapping paper, section 4.1);
// NaN where a constraint leaves x no state in any class. It panics if the shapes
// differ, m has no classes, or v is grey and a constraint is on all units.
func (m *RBM) ClassLogProb(dst []float64, v Input) {
	m.checkInput(v)
	if m.Classes() == 0 || len(dst) != v.Rows()*m.Classes() {
		panic("rbm: ClassLogProb needs a classification RBM and rows × classes places")
	}
	m.judge(func(j *judging) {
		j.v, j.dst, j.units = v, dst, m.Inputs()
		j.labels.set(m)
	}, (*judging).takeClasses)
}

func (j *judging) takeClasses(s *judged, lo int) {
	classes := j.m.Classes()
	if j.m.Constraint != nil {
		j.countClasses(j.dst[lo*classes:(lo+s.n)*classes], s, lo)
		return
	}
	s.on, s.off = grown(s.on, vec.RoundUp(j.m.Hidden())), grown(s.off, vec.RoundUp(j.m.Hidden()))
	for r := range s.n {
		j.classes(j.dst[(lo+r)*classes:][:classes], s.row(r, j.m.Hidden()), s)
	}
}

// labels are the weights of the label units, and what follows of them.
type labels struct {
	bias  []float64
	rows  []float64 // of each label: its weights, filled up to a multiple of vec.Wide
	odds  []float64 // of these e^weight, what it multiplies the odds of the hidden units by
	begin []uint32  // of each label in rows
	span  int       // units that may be multiplied at once; none if weights are beyond range
}

// ratios is the working memory of products.
type ratios struct {
	m       []float64
	e       []int64
	table   []float64
	weights []float64
	logp    []float64
	score   []score
}

// oddsWeight is the largest weight of a label that may multiply odds: their
// least, e^−708 in place of anything smaller, is then nothing beside 1.
const oddsWeight = 650

func (l *labels) set(m *RBM) {
	n := vec.RoundUp(m.Hidden())
	l.bias, l.begin = grown(l.bias, m.Classes()), grown(l.begin, m.Classes())
	l.rows, l.odds = grown(l.rows, n*m.Classes()), grown(l.odds, n*m.Classes())
	largest := 0.0
	for y := range l.bias {
		l.bias[y], l.begin[y] = float64(m.VisibleBias[m.Inputs()+y]), uint32(y*n)
		largest = max(largest, m.widenRow(l.rows[y*n:][:n], m.Inputs()+y))
	}
	l.span = 0
	if largest <= oddsWeight {
		l.span = vec.Span(largest)
		vec.Exps(l.odds, l.rows)
	}
}

// widenRow overwrites w with the weights of visible unit i, then zeros, and
// returns the largest size, NaN if there is one.
func (m *RBM) widenRow(w []float64, i int) (largest float64) {
	for p := range vec.Blocks(m.Hidden()) {
		row := m.panel(p)[i*vec.Block:]
		part := w[p*vec.Block : min((p+1)*vec.Block, len(w))]
		vec.Widen(part, row[:len(part)])
	}
	return vec.LargestSize(w)
}

// classes overwrites dst with log p(y|x) given the hidden preactivations a of
// the inputs alone. What the hidden units gain from a label is
//
//	Σ log(1+e^(a+w)) − Σ log(1+e^a) = Σ log(off + on·e^w) − Σ log(off + on)
//
// with on to off in the ratio of σ(a) to σ(−a); what is taken away is the same
// for all labels.
func (l *labels) classes(dst, a []float64, s *judged) {
	if l.span == 0 {
		l.wildClasses(dst, a, s)
		return
	}
	s.m, s.e = grown(s.m, len(dst)), grown(s.e, len(dst))
	for y := range dst {
		s.m[y], s.e[y] = 1, 0
	}
	on, off := s.on[:len(a)], s.off[:len(a)]
	above, _ := vec.Odds(on, off, a)
	vec.Products(s.m, s.e, on, off, l.odds, l.begin, l.span)
	for y := range dst {
		dst[y] = l.bias[y] + vec.LogSplit(s.m[y], s.e[y])
	}
	z := vec.LogSumExp(dst)
	for y := range dst {
		dst[y] -= z
		if above != above {
			dst[y] = above // the odds hide a NaN
		}
	}
}

// wildClasses is classes without products, for weights beyond their range.
func (l *labels) wildClasses(dst, a []float64, s *judged) {
	s.table = grown(s.table, len(a))
	for y := range dst {
		for k, w := range l.rows[y*len(a):][:len(a)] {
			s.table[k] = a[k] + w
		}
		dst[y] = l.bias[y] + vec.SoftplusSum(s.table)
	}
	z := vec.LogSumExp(dst)
	for y := range dst {
		dst[y] -= z
	}
}
