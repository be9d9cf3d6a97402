package rbm

// States are the states of a number of Markov chains of an RBM, one chain a row.
// NewStates makes them. H persists from step to step; Step overwrites the rest.
type States struct {
	V, H   Values    // visible and hidden states
	Mean   Matrix    // p(h|v) at β = 1, or the means of other hidden units
	Energy []float64 // E(v,h), a float64 sum of float32 preactivations; nil: Step does not compute it

	Base       *Base     // the distribution at β = 0 of the rows' path; nil: see Base
	BaseEnergy []float64 // E₀(v,h), if there are a Base and an Energy; Step makes it if it is nil

	pass *pass
}

// NewStates returns all-zero states of rows chains of an RBM of m's shape.
func NewStates(m *RBM, rows int) *States {
	return &States{
		V:      m.NewVisible(rows),
		H:      m.NewHidden(rows),
		Mean:   NewMatrix(rows, m.Hidden()),
		Energy: make([]float64, rows),
		pass:   newPass(),
	}
}

// Step takes each row of s, at its own inverse temperature on the path from
// s.Base to m, through steps block Gibbs steps: v|h, then h|v. It starts from
// s.H and overwrites all other states of s. The last up pass gives Mean (at
// β = 1, whatever the row's β), the new H and the Energy and BaseEnergy of the new
// (V,H). beta has one value for each row; nil means 1 for all. At β = 0
// rows are independent draws from the base. Draws depend on key, the row, the
// step and the unit alone.
//
// Under a constraint on the hidden units they are drawn among the states that
// meet it, so H need not meet it at first. Step panics if the constraint is on
// all units, because these steps would never change the number of visible units
// that are active. It panics if the shapes differ or steps < 1.
func (m *RBM) Step(s *States, beta []float32, steps int, key Key) {
	m.StepRows(s, 0, s.H.Rows, beta, steps, key)
}

// StepRows is Step of the rows lo … hi−1 alone, to the bits that Step gives them. It
// leaves all other rows as they are. It panics where Step does, or if there are no
// such rows.
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

// checkRows panics if s has no rows lo … hi−1.
func (s *States) checkRows(lo, hi int) {
	if lo < 0 || lo > hi || hi > s.H.Rows {
		panic("rbm: states have no such rows")
	}
}

// check panics if the shape of s is not that of m or its parts differ in shape.
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
			panic("rbm: States.BaseEnergy needs one place a row")
		}
		s.BaseEnergy = make([]float64, rows)
	}
}

// stepRows takes rows lo … hi−1, at most chunkRows, through the steps.
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
