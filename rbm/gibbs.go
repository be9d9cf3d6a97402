package rbm

// States has the states of Markov chains of an RBM, one chain in each row. Make it with
// NewStates. Step starts from H and overwrites the other fields except Base.
type States struct {
	V, H   Values    // visible and hidden states
	Mean   Matrix    // means of the hidden units given v at β = 1
	Energy []float64 // E(v,h) in nats, a float64 sum of float32 preactivations; nil: Step does not compute it

	Base       *Base     // the distribution at β = 0; nil: see Base
	BaseEnergy []float64 // E₀(v,h) in nats, computed if Base and Energy are not nil; Step allocates it if it is nil

	pass *pass
}

// NewStates returns all-zero states for the given number of chains of an RBM of m's shape.
func NewStates(m *RBM, rows int) *States {
	return &States{
		V:      m.NewVisible(rows),
		H:      m.NewHidden(rows),
		Mean:   NewMatrix(rows, m.Hidden()),
		Energy: make([]float64, rows),
		pass:   newPass(),
	}
}

// Step advances each chain of s by the given number of block Gibbs steps: v|h, then h|v.
// Row r is at inverse temperature beta[r] on the path from s.Base to m; a nil beta means 1 for
// all. At β = 0 the rows are independent draws from the base.
//
// Step starts from s.H. After the last step V and H have the new states, Energy and BaseEnergy
// their energies, and Mean the hidden means at β = 1, whatever the β of the row. Draws depend only
// on key, the row, the step and the unit.
//
// Under a constraint on the hidden units Step draws hidden states that satisfy it; the
// initial H need not satisfy it. Step panics if the constraint is on all units, because block Gibbs
// steps would never change the number of active visible units. It panics if the shapes differ or
// steps < 1.
func (m *RBM) Step(s *States, beta []float32, steps int, key Key) {
	m.StepRows(s, 0, s.H.Rows, beta, steps, key)
}

// StepRows is Step for the rows lo … hi−1 alone, with bit-identical results for these rows. Other rows do not
// change. It panics where Step does, or if lo … hi−1 is out of range.
func (m *RBM) StepRows(s *States, lo, hi int, beta []float32, steps int, key Key) {
	s.check(m)
	s.checkRows(lo, hi)
	if beta != nil && len(beta) != s.H.Rows {
		panic("rbm: Step needs one beta a row")
	}
	if steps < 1 {
		panic("rbm: Step needs at least one step")
	}
	m.mustStep("Step")
	p := s.pass
	if p.base = s.Base; beta != nil {
		p.base = m.baseOr(s.Base)
	}
	p.grow(m, min(hi-lo, chunkRows))
	for ; lo < hi; lo += chunkRows {
		end := min(lo+chunkRows, hi)
		if beta != nil {
			p.beta = beta[lo:end]
		}
		s.stepRows(lo, end, steps, key)
	}
	p.forget()
}

// StepVisible makes a block Gibbs step that starts and ends at the visible states: h|v, then v|h. It starts from
// s.V and overwrites s.V and s.H, and leaves the other fields. Draws depend only on key, the row and the unit. It
// panics where Step does.
func (m *RBM) StepVisible(s *States, key Key) {
	s.check(m)
	m.mustStep("StepVisible")
	p := s.pass
	p.grow(m, min(s.V.Rows, chunkRows))
	p.draw, p.mean = true, Matrix{}
	for first := 0; first < s.V.Rows; first += chunkRows {
		end := min(first+chunkRows, s.V.Rows)
		p.first, p.v, p.h = first, s.V.Slice(first, end), s.H.Slice(first, end)
		p.stream = key.Child(0).stream()
		p.runUp(p.v)
		p.stream = key.Child(1).stream()
		p.runDown()
	}
	p.forget()
}

// checkRows panics if s has no rows lo … hi−1.
func (s *States) checkRows(lo, hi int) {
	if lo < 0 || lo > hi || hi > s.H.Rows {
		panic("rbm: states have no such rows")
	}
}

// check panics unless all fields of s have the shape of m and the same number of rows. It allocates
// BaseEnergy if that is missing.
func (s *States) check(m *RBM) {
	if s.V.Cols != m.Visible() || s.H.Cols != m.Hidden() {
		panic("rbm: states of another shape than the model")
	}
	rows := s.H.Rows
	if s.V.Rows != rows || s.Mean.Rows != rows || s.Mean.Cols != m.Hidden() || s.Energy != nil && len(s.Energy) != rows {
		panic("rbm: states whose parts do not fit together; make them by NewStates")
	}
	m.checkHidden(s.H)
	s.Base.mustFit(m)
	if s.Base != nil && s.Energy != nil && len(s.BaseEnergy) != rows {
		if s.BaseEnergy != nil {
			panic("rbm: States.BaseEnergy needs one element for each row")
		}
		s.BaseEnergy = make([]float64, rows)
	}
}

// stepRows advances rows lo … hi−1, at most chunkRows of them.
func (s *States) stepRows(lo, hi, steps int, key Key) {
	p := s.pass
	p.draw = true
	p.first, p.v, p.h = lo, s.V.Slice(lo, hi), s.H.Slice(lo, hi)
	for t := range steps {
		p.mean, p.energy, p.baseEnergy = Matrix{}, nil, nil
		p.stream = key.Child(uint64(2 * t)).stream()
		p.runDown()

		if t == steps-1 {
			p.mean = s.Mean.Slice(lo, hi)
			if s.Energy != nil {
				p.energy = s.Energy[lo:hi]
				if s.Base != nil {
					p.baseEnergy = s.BaseEnergy[lo:hi]
				}
			}
		}
		p.stream = key.Child(uint64(2*t + 1)).stream()
		p.runUp(p.v)
	}
	if p.energy != nil {
		p.sumEnergy()
	}
}
