package mcmc

import (
	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// setting is what Set works with: it takes parameters over and sums their
// magnitudes on the way, a panel of the model at a time.
type setting struct {
	columns []float32   // Σ|w| and the bias of each hidden unit
	rows    [][]float32 // of each panel, Σ|w| of each visible unit
	panels  parallel.Loop
	now     struct {
		m     *rbm.RBM
		scale float32
	}
}

func (s *setting) prepare(c *Machine) {
	s.columns = make([]float32, c.size[hidden])
	s.rows = make([][]float32, (c.units[hidden]+rbm.PanelUnits-1)/rbm.PanelUnits)
	for k := range s.rows {
		s.rows[k] = make([]float32, c.size[visible])
	}
	s.panels.Body = c.takePanel
}

const (
	// wideWork is the number of systems times weights from which a Load is
	// shared out, 80 µs of one core: below, to wake another takes about as long.
	wideWork = 1 << 21
	// setWork is the number of systems whose Load takes as long as a Set does.
	setWork = 7
)

// cost is that of a Load of so many systems, for its loops.
func (c *Machine) cost(systems int) int {
	if systems*c.units[visible]*c.units[hidden] >= wideWork {
		return parallel.Always
	}
	return 0
}

// take sets both orientations and the biases, in units of 1/scale, and sums.
func (c *Machine) take(m *rbm.RBM, scale float32) {
	for l, b := range [2][]float32{m.VisibleBias, m.HiddenBias} {
		walk.Quantize(c.bias[l], b, scale)
	}
	s := &c.setting
	for j, x := range m.HiddenBias {
		s.columns[j] = max(x, -x)
	}
	s.now.m, s.now.scale = m, scale
	s.panels.Run(len(s.rows), c.cost(setWork))
	s.now.m = nil
}

// takePanel takes over panel k of the weights.
func (c *Machine) takePanel(k int) {
	s, j := &c.setting, k*rbm.PanelUnits
	panel, columns := s.now.m.WeightPanel(k), s.columns[j:min(j+rbm.PanelUnits, c.size[hidden])]
	clear(s.rows[k])
	for i := 0; i < c.units[visible]; i += walk.Square {
		walk.Take(c.row[visible][i*c.stride[hidden]+j:], c.stride[hidden], c.row[hidden][j*c.stride[visible]+i:], c.stride[visible],
			panel[i*rbm.PanelUnits:], rbm.PanelUnits, s.now.scale, columns, (*[walk.Square]float32)(s.rows[k][i:]))
	}
}

// largest returns a bound of the preactivations of m in any state, from the
// sums.
func (s *setting) largest(m *rbm.RBM) float64 {
	top := float32(0)
	for _, x := range s.columns {
		top = max(top, x)
	}
	for i, x := range m.VisibleBias {
		x = max(x, -x)
		for _, rows := range s.rows {
			x += rows[i]
		}
		top = max(top, x)
	}
	// A float32 sum of n terms is short by at most n·2⁻²⁴ of it, so that twice
	// that on top of it bounds the true one.
	n := float64(max(m.Visible(), m.Hidden()) + 1)
	return float64(top) * (1 + float64(n*0x1p-23))
}
