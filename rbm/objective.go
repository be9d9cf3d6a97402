package rbm

import (
	"math"
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// An Objective has the weights of the two terms that training maximises (Larochelle, Mandel,
// Pascanu & Bengio, Learning algorithms for the classification restricted
// Boltzmann machine, JMLR 13, 2012). For a row of inputs x with class y the objective is
//
//	Discriminative · log p(y|x) + Generative · log p(x,y)
//
// and for a row without a class it is Generative · log p(x).
type Objective struct{ Discriminative, Generative float64 }

// NoClass is the class of a row that has none.
const NoClass = -1

// An ObjectivePhase computes the positive phase of an Objective: its gradient except for the
// negative phase of the generative term, an expectation under the model. Let D and G be the
// weights of the objective, F(x,y) the free energy of inputs x with label y, and e_k the one-hot
// label of class k. With the weights
//
//	κ_k = (D+G)·[k=y] − D·p(k|x)   for a row of class y
//	κ_k = G·p(k|x)                 for a row without a class
//
// a row contributes the gradient of
//
//	Σ_k κ_k · −F(x,e_k)
//
// at fixed κ. This is exact: p(k|x) is that of ClassLogProb, and no state is drawn.
// Classes are one-hot under both kinds of label. With a Bernoulli label p(x) is therefore
// the probability of x together with exactly one label unit on.
//
// The result is a Batch for an Ascent. Row r has the inputs x and, as hidden means, Σ_k κ_k p(h=1|x,e_k).
// After these rows there is one for each class k: label unit k alone is on, and the hidden means are Σ_r κ_k
// p(h=1|x,e_k). An ascent therefore sums rows + classes terms instead of rows · classes.
type ObjectivePhase struct {
	Batch             // V has rows + classes rows; the gradient is that of the mean over the rows
	LogProb []float64 // log p(k|x) of the last Set, rows × classes

	rows, classes int
	m             *RBM
	objective     Objective
	y             []int32

	labels labels
	acts   []float32 // preactivations of the hidden units from the inputs: panel by panel, each rows × 64
	kappa  []float32 // κ, rows × classes
	sums   []float64 // Σ_r κ_k for each class k
	// The terms of the label rows, tile by tile and, within a tile, class by class: terms has their
	// weights κ, and places the offsets of their means within the tile.
	places []uint32
	terms  []float32

	// The terms of the input rows of a tile: inOrder has the offsets of their means, and ofRows the
	// index of the first term of each row.
	inOrder, ofRows []uint32

	byRow, byPanel parallel.Loop
}

// An objectiveTile is the working memory for some rows of one panel.
type objectiveTile struct {
	means, sums, labels []float32
	cuts                []uint32
}

var objectiveTiles = sync.Pool{New: func() any { return new(objectiveTile) }}

// tileTerms is the number of rows times classes of a tile. The means of a tile then fit into
// the first two levels of the cache.
const tileTerms = 256

// NewObjectivePhase allocates a phase for batches of the given number of rows, bits or grey, and
// models of m's shape. It panics if rows is not positive or m has no classes.
func NewObjectivePhase(m *RBM, rows int, grey bool) *ObjectivePhase {
	classes := m.Classes()
	if rows <= 0 || classes == 0 {
		panic("rbm: an objective of classes needs rows and a model with labels")
	}
	n := rows + classes
	p := &ObjectivePhase{
		Batch: Batch{V: NewValues(n, m.Visible(), grey), H: NewMatrix(n, m.Hidden()),
			Weight: make([]float32, n), BiasWeight: make([]float32, n), LabelRows: classes},
		LogProb: make([]float64, rows*classes), rows: rows, classes: classes,
		acts:  make([]float32, vec.Blocks(m.Hidden())*rows*vec.Block),
		kappa: make([]float32, rows*classes), sums: make([]float64, classes),
		places: make([]uint32, rows*classes), terms: make([]float32, rows*classes),
	}
	for k := range classes {
		p.V.Set(rows+k, m.Inputs()+k, true)
	}
	fill(p.Weight, float32(1/float64(rows)))
	tile := p.tileRows() * classes
	p.inOrder = make([]uint32, tile)
	for i := range tile {
		p.inOrder[i] = uint32(i * vec.Block)
	}
	for r := range p.tileRows() + 1 {
		p.ofRows = append(p.ofRows, uint32(r*classes))
	}
	for first := 0; first < rows; first += p.tileRows() {
		n := min(p.tileRows(), rows-first)
		places := p.places[first*classes:]
		for k := range classes {
			for r := range n {
				places[k*n+r] = uint32((r*classes + k) * vec.Block)
			}
		}
	}
	p.byRow.Body, p.byPanel.Body = p.weigh, p.panelPart
	return p
}

// tileRows returns the number of rows of a tile.
func (p *ObjectivePhase) tileRows() int { return min(p.rows, max(1, tileTerms/p.classes)) }

// Inputs returns the rows of V that the caller fills before Set. The label units of these rows must be off.
func (p *ObjectivePhase) Inputs() Values { return p.V.Slice(0, p.rows) }

// Set computes the phase of the rows in Inputs under m. y has the class of each row, or
// NoClass. It allocates nothing. It panics if the shapes differ, if a class is out
// of range, or if m has a constraint.
func (p *ObjectivePhase) Set(m *RBM, o Objective, y []int32) {
	if m.Constraint != nil {
		panic("rbm: an objective of classes under a constraint")
	}
	if m.Classes() != p.classes || len(y) != p.rows || m.Hidden() != p.H.Cols {
		panic("rbm: an objective of another shape than the model or the rows")
	}
	for _, y := range y {
		if y < NoClass || int(y) >= p.classes {
			panic("rbm: class out of range")
		}
	}
	x := p.Inputs()
	m.checkInput(x)
	p.m, p.objective, p.y = m, o, y
	m.passes(p.rows, func(s *pass, lo, hi int) {
		s.mean = Matrix{}
		s.runUp(x.Slice(lo, hi))
		for k := range vec.Blocks(m.Hidden()) {
			copy(p.acts[(k*p.rows+lo)*vec.Block:], s.acts[k*s.rows*vec.Block:][:s.rows*vec.Block])
		}
	})
	p.labels.set(m, m.labelGroup())
	p.byRow.Run(p.rows, 4*len(p.LogProb)*m.Hidden()) // 4: cost of a float64 product
	p.arrange()
	p.byPanel.Run(vec.Blocks(m.Hidden()), 8*len(p.LogProb)*m.Hidden()) // 8: cost of an exponential
	p.m, p.y = nil, nil
}

// weigh computes log p(k|x), κ_k and BiasWeight of row r.
func (p *ObjectivePhase) weigh(r int) {
	hidden := p.m.Hidden()
	n := vec.RoundUp(hidden)
	b := rowBlockPool.Get().(*rowBlock)
	b.on, b.off, b.acts = grown(b.on, n), grown(b.off, n), grown(b.acts, vec.Blocks(hidden)*vec.Block)
	for k := range vec.Blocks(hidden) {
		vec.Widen(b.acts[k*vec.Block:], p.acts[(k*p.rows+r)*vec.Block:][:vec.Block])
	}
	fill(b.acts[hidden:n], math.Inf(-1))
	logp, kappa := p.LogProb[r*p.classes:][:p.classes], p.kappa[r*p.classes:][:p.classes]
	p.labels.logProbs(logp, b.acts[:n], b)
	rowBlockPool.Put(b)

	o, y := p.objective, int(p.y[r])
	share := o.Generative
	if y != NoClass {
		share = -o.Discriminative
	}
	others := 0.0 // 1 − p(y|x), to full relative precision
	for k, lp := range logp {
		q := vec.Exp(lp)
		if k != y {
			others += q
		}
		kappa[k] = float32(share * q)
	}
	if y != NoClass {
		kappa[y] = float32(o.Generative + float64(o.Discriminative*others))
	}
	p.BiasWeight[r] = float32(o.Generative / float64(p.rows))
}

// arrange sums κ over the rows of each class, and copies κ to terms.
func (p *ObjectivePhase) arrange() {
	clear(p.sums)
	for i, x := range p.kappa {
		p.sums[i%p.classes] += float64(x)
	}
	for k, sum := range p.sums {
		p.BiasWeight[p.rows+k] = float32(sum / float64(p.rows))
	}
	for first := 0; first < p.rows; first += p.tileRows() {
		n := min(p.tileRows(), p.rows-first)
		terms := p.terms[first*p.classes:]
		for k := range p.classes {
			for r := range n {
				terms[k*n+r] = p.kappa[(first+r)*p.classes+k]
			}
		}
	}
}

// panelPart computes the hidden means of panel k for the input rows and for the label rows.
func (p *ObjectivePhase) panelPart(k int) {
	t := objectiveTiles.Get().(*objectiveTile)
	size, classes := p.tileRows(), p.classes
	t.means = grown(t.means, size*classes*vec.Block)
	t.sums, t.labels, t.cuts = grown(t.sums, size*vec.Block), grown(t.labels, classes*vec.Block), grown(t.cuts, classes+1)
	clear(t.labels)
	labels := p.m.panel(k)[p.m.Inputs()*vec.Block:]
	lo := k * vec.Block
	width := min(vec.Block, p.H.Cols-lo)
	for first := 0; first < p.rows; first += size {
		n := min(size, p.rows-first)
		vec.SigmoidsOfSums(t.means, p.acts[(k*p.rows+first)*vec.Block:], labels, n, classes)
		clear(t.sums)
		vec.AddSumsTimes(t.sums, t.means, p.inOrder, p.kappa[first*classes:], p.ofRows[:n+1], 0)
		for c := range t.cuts {
			t.cuts[c] = uint32(c * n)
		}
		vec.AddSumsTimes(t.labels, t.means, p.places[first*classes:], p.terms[first*classes:], t.cuts, 0)
		for r := range n {
			copy(p.H.Row(first + r)[lo:lo+width], t.sums[r*vec.Block:])
		}
	}
	for c := range classes {
		copy(p.H.Row(p.rows + c)[lo:lo+width], t.labels[c*vec.Block:])
	}
	objectiveTiles.Put(t)
}
