package mcmc

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// gaussianRBM returns an RBM whose parameters are normal variates with the given
// standard deviation.
func gaussianRBM(visible, hidden int, sd float64, seed uint64) *rbm.RBM {
	m := rbm.New(visible, hidden, 0, rbm.Softmax)
	m.Randomize(sd, rbm.NewKey(seed))
	return m
}

// rbmEnergy returns the energy of a state from the definition.
func rbmEnergy(m *rbm.RBM, x []uint8) (e float64) {
	v, h := x[:m.Visible()], x[m.Visible():]
	for i := range v {
		e -= float64(v[i]) * float64(m.VisibleBias[i])
		for j := range h {
			e -= float64(v[i]) * float64(h[j]) * float64(m.Weight(i, j))
		}
	}
	for j := range h {
		e -= float64(h[j]) * float64(m.HiddenBias[j])
	}
	return e
}

// roundings bounds the error of the energy of an RBM system due to the rounding of parameters: half a quantum
// for each parameter.
func roundings(c *Parameters) float64 {
	n, m := float64(c.units[visible]), float64(c.units[hidden])
	return c.quantum / 2 * (n*m + n + m)
}

func TestRBMHasTheEnergyAndCostsOfTheModel(t *testing.T) {
	for _, shape := range []struct {
		visible, hidden int
		sd              float64
	}{{1, 1, .5}, {3, 5, .5}, {17, 16, .5}, {70, 33, .5}, {130, 129, .5}, {20, 9, 1e33}, {20, 9, 1e-25}} {
		m := gaussianRBM(shape.visible, shape.hidden, shape.sd, 1)
		c := NewParameters(m)
		s := NewRBM(c)
		r := rbm.NewKey(2).Rand()
		for range 3 {
			s.SetState(RandomState(s.Len(), rbm.NewKey(r.Uint64())))
			for range 20 {
				i := r.IntN(s.Len())
				before, cost := s.Energy(), s.FlipCost(i)
				s.Flip(i)
				// Both are exact sums of quanta with one rounding error each.
				if got := s.Energy() - before; math.Abs(got-cost) > 0x1p-52*math.Abs(before) {
					t.Fatalf("%v: a flip of %d costs %v, %v was said", shape, i, got, cost)
				}
				if want := rbmEnergy(m, s.State()); math.Abs(s.Energy()-want) > roundings(c) {
					t.Fatalf("%v: energy %v, want %v", shape, s.Energy(), want)
				}
			}
			fresh := NewRBM(c)
			fresh.SetState(s.State())
			if fresh.energy != s.energy || !slices.Equal(flipCosts(fresh), flipCosts(s)) || !slices.Equal(fresh.field[0], s.field[0]) || !slices.Equal(fresh.field[1], s.field[1]) {
				t.Fatalf("%v: sums drifted from their recomputation", shape)
			}
		}
	}
}

func TestLoadStoreAndSet(t *testing.T) {
	for _, shape := range [][3]int{{70, 33, 3}, {64, 128, 1}, {200, 64, 70}, {5, 3, 0}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) { loadStoreAndSet(t, shape[0], shape[1], shape[2]) })
	}
}

func loadStoreAndSet(t *testing.T, visible, hidden, rows int) {
	m := gaussianRBM(visible, hidden, .5, 1)
	c := NewParameters(m)
	v, h := rbm.NewBits(rows, visible), rbm.NewBits(rows, hidden)
	v.Randomize(rbm.NewKey(3))
	h.Randomize(rbm.NewKey(4))
	systems := make([]*RBM, rows)
	for r := range systems {
		systems[r] = NewRBM(c)
	}
	m.Randomize(2, rbm.NewKey(5))
	if n := testing.AllocsPerRun(3, func() { c.Set(m); c.Load(systems, v, h) }); n != 0 {
		t.Errorf("Set and Load allocate %v times, want 0", n)
	}
	energy := make([]float64, rows)
	m.Energy(energy, v, h)
	back := [2]rbm.Values{rbm.NewBits(rows, visible), rbm.NewBits(rows, hidden)}
	for r, s := range systems {
		if math.Abs(s.Energy()-energy[r]) > roundings(c) {
			t.Errorf("row %d: energy %v, want %v", r, s.Energy(), energy[r])
		}
		fresh := NewRBM(c)
		fresh.SetState(s.State())
		if fresh.energy != s.energy || !slices.Equal(flipCosts(fresh), flipCosts(s)) {
			t.Errorf("row %d: Load and SetState differ", r)
		}
		s.Store(back[0], back[1], r)
	}
	if !slices.Equal(back[0].Words, v.Words) || !slices.Equal(back[1].Words, h.Words) {
		t.Error("Store does not give back what Load took")
	}
}

// Parameters depend only on the last RBM given to Set, not on the quantum
// before.
func TestSetForgets(t *testing.T) {
	small, large := gaussianRBM(70, 33, .01, 1), gaussianRBM(70, 33, 3, 2)
	for _, m := range []*rbm.RBM{small, large} {
		for _, before := range []*rbm.RBM{small, large} {
			c, want := NewParameters(before), NewParameters(m)
			c.Set(m)
			if c.quantum != want.quantum || c.reach != want.reach {
				t.Errorf("quantum %v and reach %v, want %v and %v", c.quantum, c.reach, want.quantum, want.reach)
			}
			for l := range c.row {
				if !slices.Equal(c.row[l], want.row[l]) || !slices.Equal(c.bias[l], want.bias[l]) {
					t.Errorf("layer %d has other parameters", l)
				}
			}
		}
	}
}
