package train

import (
	"gorbm/rbm"
)

const (
	annealSteps = 200 // Gibbs steps of rising β
	restSteps   = 50  // at β = 1 after them
)

// Samples returns p(v=1|h) of the inputs for chains of m that know nothing of
// the data: they start uniformly, anneal through 200 Gibbs steps while β rises
// evenly to 1, and rest for 50. A classification RBM is sampled given each
// class in turn, perClass rows each; else perClass·10 rows are drawn. The rows
// are a look at the model, not proof that its chains have mixed.
func Samples(m *rbm.RBM, perClass int, seed uint64) rbm.Matrix {
	key := rbm.NewKey(seed).Child(pictureKey)
	if m.Classes == 0 {
		return anneal(m, 10*perClass, key)
	}
	all := rbm.NewMatrix(m.Classes*perClass, m.Inputs())
	for y := range m.Classes {
		rows := anneal(m.GivenClass(y), perClass, key.Child(uint64(y)))
		copy(all.Data[y*perClass*all.Cols:], rows.Data)
	}
	return all
}

func anneal(m *rbm.RBM, rows int, key rbm.Key) rbm.Matrix {
	s := rbm.NewStates(m, rows)
	s.H.Randomize(key)
	beta := make([]float32, rows)
	for t := 1; t <= annealSteps+restSteps; t++ {
		for r := range beta {
			beta[r] = min(1, float32(t)/annealSteps)
		}
		m.Step(s, beta, 1, key.Child(uint64(t)))
	}
	mean := rbm.NewMatrix(rows, m.Visible())
	m.VisibleMean(mean, s.H)
	return mean
}
