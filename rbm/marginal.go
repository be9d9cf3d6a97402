package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// A Marginal has the Gaussian visible units of a model summed out. With precisions γ and fields θ
// of these and binary hidden units h,
//
//	log ∫ exp(−E) = Shift + Σ_j f_j h_j + Σ_{j<k} K_jk h_j h_k + the terms of the other visible units
//	K_jk = Σ_i W_ij W_ik/γ_i,   f_j = c_j + Σ_i (θ_i W_ij/γ_i + W_ij²/2γ_i)
//	Shift = Σ_i [θ_i²/2γ_i + ½ log(2π/γ_i)]
//
// with sums over the Gaussian units i. So where all visible units are Gaussian, the hidden ones are
// a Boltzmann machine, whatever the number of visible units. All numbers are in nats.
type Marginal struct {
	Fields []float64 // f
	Shift  float64

	couplings []float64 // hidden × hidden, in rows of whole blocks
	stride    int
	lists     []uint32 // of each unit of a block: where the Gaussian units' rows of a panel begin
	cuts      []uint32
	panels    []marginalPanel
	each      parallel.Loop
	m         *RBM // the argument of the current Set
}

// A marginalPanel is the memory for a panel of hidden units.
type marginalPanel struct {
	over   []float64 // W/γ, rows × vec.Block
	values []float32 // weights of another panel, unit by unit
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
	q.Set(m)
	return q
}

// Row returns the couplings K of hidden unit j to all hidden units, with 0 for itself. The slice
// is q's own and not to be written to.
func (q *Marginal) Row(j int) []float64 { return q.couplings[j*q.stride:][:len(q.Fields)] }

// Set makes q the marginal of m, which must have the shape that q was made for, and allocates
// nothing. It takes visible × hidden²/2 multiply-adds, and is divided among goroutines where these
// are many. Results do not depend on that.
func (q *Marginal) Set(m *RBM) {
	q.m, q.Shift = m, 0
	gaussian := q.lists[:q.cuts[1]]
	for _, o := range gaussian {
		i := int(o / vec.Block)
		b, p := float64(m.VisibleBias[i]), float64(m.VisibleParams()[0][i])
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
	q.m = nil
}

// setPanel sets the fields of the hidden units of panel k and, of each unit of this panel and of
// those before it, the couplings to the units of panel k.
func (q *Marginal) setPanel(k int) {
	m, p := q.m, &q.panels[k]
	first := k * vec.Block
	panel, gaussian := m.panel(k), q.lists[:q.cuts[1]]
	for j := first; j < min(first+vec.Block, m.Hidden()); j++ {
		q.Fields[j] = float64(m.HiddenBias[j])
	}
	fields := q.Fields[first:min(first+vec.Block, m.Hidden())]
	for _, o := range gaussian {
		i := int(o / vec.Block)
		bias, precision := float64(m.VisibleBias[i]), float64(m.VisibleParams()[0][i])
		over := p.over[o:][:vec.Block]
		for c, w := range panel[o:][:vec.Block] {
			over[c] = float64(w) / precision
		}
		for c := range fields {
			fields[c] += float64(over[c]*bias) + float64(over[c]*float64(panel[int(o)+c])/2)
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
