package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// A Marginal is the distribution of a model with its Gaussian visible units integrated out. Let γ_i
// and θ_i be the precision and field of Gaussian unit i, and h binary hidden units with biases c. Then
//
//	log ∫ exp(−E) = Shift + Σ_j f_j h_j + Σ_{j<k} K_jk h_j h_k + the terms of the other visible units
//	K_jk = Σ_i W_ij W_ik/γ_i,   f_j = c_j + Σ_i (θ_i W_ij/γ_i + W_ij²/2γ_i)
//	Shift = Σ_i [θ_i²/2γ_i + ½ log(2π/γ_i)]
//
// If all visible units are Gaussian, the hidden units are therefore a Boltzmann machine with
// biases f and couplings K. All numbers are in nats. At inverse temperature β on the path from a
// base, β·W replaces W and the other parameters are interpolated: see Base.
type Marginal struct {
	Fields []float64 // f
	Shift  float64

	couplings []float64 // K, hidden × hidden, each row padded to whole blocks
	stride    int       // length of a row of couplings
	lists     []uint32  // offsets of the Gaussian units' rows in a panel, repeated for each unit of a block
	cuts      []uint32  // index in lists where the offsets for each unit of a block begin
	panels    []marginalPanel
	each      parallel.Loop
	now       struct { // the arguments of the current Set
		m    *RBM
		base *Base
		beta float64
	}
}

// A marginalPanel is the working memory for a panel of hidden units.
type marginalPanel struct {
	over   []float64 // β²W/γ, rows × vec.Block
	values []float32 // weights of Gaussian units in another panel, hidden unit by hidden unit
}

// NewMarginal returns the marginal of m, whose hidden units must be binary.
func NewMarginal(m *RBM) *Marginal {
	blocks := vec.Blocks(m.Hidden())
	q := &Marginal{Fields: make([]float64, m.Hidden()), stride: blocks * vec.Block, cuts: make([]uint32, vec.Block+1), panels: make([]marginalPanel, blocks)}
	q.couplings = make([]float64, q.stride*q.stride)
	for c := range vec.Block {
		for _, g := range m.visible.groups {
			for i := g.First; g.Kind == Gaussian && i < g.First+g.Units; i++ {
				q.lists = append(q.lists, uint32(i*vec.Block))
			}
		}
		q.cuts[c+1] = uint32(len(q.lists))
	}
	for k := range q.panels {
		q.panels[k] = marginalPanel{make([]float64, m.rows*vec.Block), make([]float32, len(q.lists))}
	}
	q.each.Body = q.setPanel
	q.Set(m, nil, 1)
	return q
}

// Row returns the couplings K_jk of hidden unit j to all hidden units k, with 0 for k = j. The caller
// must not change the slice, which belongs to q.
func (q *Marginal) Row(j int) []float64 { return q.couplings[j*q.stride:][:len(q.Fields)] }

// Set computes the marginal at inverse temperature beta on the path from base to m. m must have the
// shape for which q was made. Set costs Gaussian units × hidden²/2 multiply-adds, in parallel if
// these are many. It allocates nothing at beta = 1.
func (q *Marginal) Set(m *RBM, base *Base, beta float64) {
	base.mustFit(m)
	if beta != 1 {
		base = m.baseOr(base)
	}
	q.now.m, q.now.base, q.now.beta, q.Shift = m, base, beta, 0
	gaussian := q.lists[:q.cuts[1]]
	for _, o := range gaussian {
		b, p := q.unit(int(o / vec.Block))
		q.Shift += float64(b*b)/(2*p) + float64(vec.Log(2*math.Pi/p)/2)
	}
	clear(q.couplings)
	q.each.Run(len(q.panels), len(gaussian)*m.Hidden()*m.Hidden()/2)
	for j := range q.Fields {
		row := q.Row(j)
		row[j] = 0
		for k := range j {
			row[k] = q.couplings[k*q.stride+j]
		}
	}
	q.now.m, q.now.base = nil, nil
}

// unit returns the field and precision of Gaussian unit i at the current β.
func (q *Marginal) unit(i int) (field, precision float64) {
	m := q.now.m
	field, precision = float64(m.VisibleBias[i]), float64(m.VisibleParams()[0][i])
	if b, beta := q.now.base, q.now.beta; beta != 1 {
		field = blend(beta, field, float64(b.VisibleBias[i]))
		precision = blend(beta, precision, float64(b.VisibleParams[0][i]))
	}
	return field, precision
}

// blend interpolates linearly between base at β = 0 and x at β = 1.
func blend(beta, x, base float64) float64 { return float64(beta*x) + float64((1-beta)*base) }

// setPanel computes the fields of the hidden units of panel k, and the couplings between them and
// all units of panels 0 … k.
func (q *Marginal) setPanel(k int) {
	m, p, beta := q.now.m, &q.panels[k], q.now.beta
	first := k * vec.Block
	panel, gaussian := m.panel(k), q.lists[:q.cuts[1]]
	for j := first; j < min(first+vec.Block, m.Hidden()); j++ {
		if q.Fields[j] = float64(m.HiddenBias[j]); beta != 1 {
			q.Fields[j] = blend(beta, q.Fields[j], float64(q.now.base.HiddenBias[j]))
		}
	}
	fields := q.Fields[first:min(first+vec.Block, m.Hidden())]
	for _, o := range gaussian {
		field, precision := q.unit(int(o / vec.Block))
		over := p.over[o:][:vec.Block]
		for c, w := range panel[o:][:vec.Block] {
			over[c] = float64(beta*float64(w)) / precision
		}
		for c := range fields {
			once := over[c]
			over[c] *= beta
			fields[c] += float64(once*field) + float64(over[c]*float64(panel[int(o)+c])/2)
		}
	}
	for before := range k + 1 {
		from := m.panel(before)
		units := min(vec.Block, m.Hidden()-before*vec.Block)
		for n, o := range gaussian {
			for c, w := range from[o:][:units] {
				p.values[c*len(gaussian)+n] = w
			}
		}
		vec.RowSums64(q.couplings[before*vec.Block*q.stride+first:], q.stride, p.over, q.lists, p.values, q.cuts[:units+1])
	}
}
