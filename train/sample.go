package train

import (
	"gorbm/data"
	"gorbm/rbm"
)

// Gibbs steps of a sample, and of the annealing that replaces a start at the
// data.
const (
	sampleSteps = 200
	annealSteps = 200
)

// Samples returns p(v=1|h) of the inputs for chains of m after 200 Gibbs steps
// from random rows of set. A classification RBM is sampled given each class in
// turn, perClass rows each, its label clamped and its chains started at rows of
// the class; else perClass·10 rows are drawn. If set is nil, or has no rows of
// a class, chains start uniformly and anneal first, while β rises evenly to 1
// in 200 steps. The rows show the model but do not prove that its chains
// mix: 200 steps from the data may not have left them.
//
// Under a constraint on all units Gibbs steps could not move the chains, and
// exchanges of pairs of units do, without annealing. Rows of a class that the
// constraint makes impossible stay zero. There is an error, under such a
// constraint alone, if the rows of a class are more than negphase.MaxChains or,
// one that wraps rbm.ErrDiverged, if an energy is not finite.
func Samples(m *rbm.RBM, set *data.Set, perClass int, seed uint64) (rbm.Matrix, error) {
	key := rbm.NewKey(seed).Child(pictureKey)
	if m.Classes() == 0 {
		return sample(m, set, -1, 10*perClass, key)
	}
	all := rbm.NewMatrix(m.Classes()*perClass, m.Inputs())
	for y := range m.Classes() {
		if !m.HasClass(y) {
			continue
		}
		rows, err := sample(m.GivenClass(y), set, y, perClass, key.Child(uint64(y)))
		if err != nil {
			return rbm.Matrix{}, err
		}
		copy(all.Data[y*perClass*all.Cols:], rows.Data)
	}
	return all, nil
}

// Purposes of the keys of a sample, beside those of its steps.
const (
	sampleStart = 1<<32 + iota
	sampleRows
	sampleWalk
	sampleEnd
	sampleReference
)

// sample draws rows of m, a model without labels, started at rows of class y,
// or of any class if y < 0.
func sample(m *rbm.RBM, set *data.Set, y, rows int, key rbm.Key) (rbm.Matrix, error) {
	if c := m.Constraint; c != nil && c.On == rbm.AllUnits {
		return sampleShell(m, set, y, rows, key)
	}
	s := rbm.NewStates(m, rows)
	step := uint64(0)
	if from := rowsOf(set, y); len(from) > 0 {
		b := rbm.Batch{V: rbm.NewBits(rows, m.Visible()).Input(), H: rbm.NewMatrix(rows, m.Hidden())}
		set.Visible(b.V, pick(from, rows, key), 0)
		m.HiddenMean(b.H, b.V)
		m.HiddenSample(s.H, b, key.Child(sampleStart))
	} else {
		m.RandomizeHidden(s.H, key.Child(sampleStart))
		beta := make([]float32, rows)
		for ; step < annealSteps; step++ {
			for r := range beta {
				beta[r] = float32(step+1) / annealSteps
			}
			m.Step(s, beta, 1, key.Child(step))
		}
	}
	m.Step(s, nil, sampleSteps, key.Child(step))
	mean := rbm.NewMatrix(rows, m.Visible())
	m.VisibleMean(mean, s.H)
	return mean, nil
}

// pick returns so many draws from rows.
func pick(from []int32, rows int, key rbm.Key) []int32 {
	p := make([]int32, rows)
	for r := range p {
		p[r] = from[int(key.Child(sampleRows).Uniform(uint64(r))*float64(len(from)))]
	}
	return p
}

// rowsOf returns the rows of class y of set, or all if y < 0; nil if there is
// no set, or it has no labels.
func rowsOf(set *data.Set, y int) []int32 {
	if set == nil || y >= 0 && set.Y == nil {
		return nil
	}
	var rows []int32
	for r := range set.Len() {
		if y < 0 || set.Y[r] == int32(y) {
			rows = append(rows, int32(r))
		}
	}
	return rows
}
