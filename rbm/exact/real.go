package exact

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// realStates enumerates the hidden states of a model with Gaussian visible units, in Gray-code order.
// The Gaussian units are integrated out, which leaves a Boltzmann machine of the hidden units
// (rbm.Marginal). A state then costs one addition per hidden unit, whatever the number of Gaussian
// units, plus the work of summing out each visible unit of another kind.
type realStates struct {
	layers
	marginal  *rbm.Marginal
	rows      [][]float64    // weights of each hidden unit
	bias      []float64      // visible biases
	precision []float64      // precisions of the visible units; 0 for those that are not Gaussian
	apart     []rbm.Group    // the groups of visible units that are not Gaussian
	small     bool           // all inputs of apart are within ±mostInput, so that powers can replace their logarithms
	powers    []float64      // exp(bias) of each unit of apart
	times     [2][][]float64 // exp(W) and exp(−W), hidden units × units of apart: factors of powers at a flip
	walks     []*realWalk
}

// A realWalk visits the states of a block: call start, then next until it returns false.
type realWalk struct {
	*realStates
	left    int
	number  uint64    // number of the current state
	active  uint64    // hidden units that are on
	weight  float64   // log weight of the state, without the groups of apart
	rise    []float64 // for each hidden unit: the sum of its couplings to hidden units that are on
	z, mean []float64 // inputs and means of the visible units
	powers  []float64 // exp(z) of the units of apart, if small
	logs    []float64 // log weights of the block
}

// newReal plans the enumeration of m. It lists the hidden layer.
func newReal(m *rbm.RBM, limit int) (*realStates, error) {
	n := m.Hidden()
	if err := checkListed(m, limit); err != nil {
		return nil, err
	}
	s := &realStates{layers: layers{m: m, hidden: true, units: n, other: m.Visible(), soft: m.Visible(), padding: vec.RoundUp(m.Visible()) - m.Visible()},
		marginal: rbm.NewMarginal(m), bias: make([]float64, vec.RoundUp(m.Visible())), precision: make([]float64, m.Visible())}
	for i := range m.Visible() {
		s.order = append(s.order, i)
	}
	s.rows = s.newRows(n)
	for _, g := range m.Groups() {
		if g.Kind != rbm.Gaussian {
			s.apart = append(s.apart, g)
		}
	}
	for range min(s.blocks(), logGroups) {
		s.walks = append(s.walks, &realWalk{realStates: s, rise: make([]float64, n), z: s.newRows(1)[0], mean: s.newRows(1)[0], powers: make([]float64, m.Visible())})
	}
	if s.powers = make([]float64, m.Visible()); s.apart != nil {
		s.times = [2][][]float64{s.newRows(n), s.newRows(n)}
	}
	s.set(m)
	return s, nil
}

// logWeight multiplies the partition functions of single units, and takes the logarithm only when the
// product is above leastLog or below 1/leastLog. If inputs are within ±mostInput, the product stays in
// the range of float64. The relative error of the product grows to 10⁻¹³ within a block of 2¹⁰ states.
const mostInput, leastLog = 300, 1e150

func (s *realStates) count() int     { return 1 << s.units }
func (s *realStates) work() float64  { return float64(s.count()) * float64(s.units+s.apartUnits()) }
func (s *realStates) blockSize() int { return 1 << min(blockBits, s.units) }
func (s *realStates) blocks() int    { return s.count() / s.blockSize() }

// apartUnits returns the number of visible units that are not Gaussian.
func (s *realStates) apartUnits() (n int) {
	for _, g := range s.apart {
		n += g.Units
	}
	return n
}

func (s *realStates) set(m *rbm.RBM) {
	s.m = m
	s.marginal.Set(m, nil, 1)
	for i, b := range m.VisibleBias {
		s.bias[i] = float64(b)
	}
	for j, row := range s.rows {
		for i := range m.Visible() {
			row[i] = float64(m.Weight(i, j))
		}
	}
	for _, g := range m.Groups() {
		for i := g.First; g.Kind == rbm.Gaussian && i < g.First+g.Units; i++ {
			s.precision[i] = float64(m.VisibleParams()[0][i])
		}
	}
	s.small = true
	for _, g := range s.apart {
		for i := g.First; i < g.First+g.Units; i++ {
			most := math.Abs(s.bias[i])
			s.powers[i] = vec.Exp(s.bias[i])
			for j, row := range s.rows {
				most += math.Abs(row[i])
				s.times[0][j][i], s.times[1][j][i] = vec.Exp(row[i]), vec.Exp(-row[i])
			}
			s.small = s.small && most <= mostInput // false for NaN
		}
	}
}

// start moves to just before the first state of block b.
func (q *realWalk) start(b int) {
	q.number = uint64(b) * uint64(q.blockSize())
	q.left, q.active, q.weight = q.blockSize()+1, 0, q.marginal.Shift
	clear(q.rise)
	copy(q.z, q.bias)
	copy(q.powers, q.realStates.powers)
	for w := q.number ^ q.number>>1; w != 0; w &= w - 1 {
		q.flip(bits.TrailingZeros64(w))
	}
	q.number--
}

// next moves to the next state, and reports whether there is one in the block.
func (q *realWalk) next() bool {
	if q.left--; q.left == 0 {
		return false
	}
	q.number++
	if w := q.number ^ q.number>>1 ^ q.active; w != 0 {
		q.flip(bits.TrailingZeros64(w))
	}
	return true
}

// flip flips hidden unit j and updates the weight and the inputs.
func (q *realWalk) flip(j int) {
	sign, off := 1.0, q.active>>j&1
	if off != 0 {
		sign = -1
	}
	q.active ^= 1 << j
	q.weight += float64(sign * (q.marginal.Fields[j] + q.rise[j]))
	floats.AddScaled(q.rise, sign, q.marginal.Row(j))
	for _, g := range q.apart {
		floats.AddScaled(q.z[g.First:][:g.Units], sign, q.rows[j][g.First:][:g.Units])
		powers, times := q.powers[g.First:][:g.Units], q.times[off][j][g.First:][:g.Units]
		for i, x := range times {
			powers[i] *= x
		}
	}
}

// logWeight returns log Σ_v exp(−E) of the current state.
func (q *realWalk) logWeight() float64 {
	sum, product := q.weight, 1.0
	for _, g := range q.apart {
		if !q.small {
			sum += g.Kind.LogZ(q.z[g.First:][:g.Units], nil, g.First)
			continue
		}
		powers, group := q.powers[g.First:][:g.Units], 0.0
		for i, x := range powers {
			if g.Kind.Support() == units.OneHot {
				if group += x; i+1 < len(powers) {
					continue
				}
			} else {
				group = 1 + x
			}
			if product *= group; product > leastLog || product < 1/leastLog {
				sum, product = sum+vec.Log(product), 1
			}
		}
	}
	if product == 1 {
		return sum
	}
	return sum + vec.Log(product)
}

func (s *realStates) logBlock(g, b int) float64 {
	q := s.walks[g]
	q.logs = q.logs[:0]
	for q.start(b); q.next(); {
		q.logs = append(q.logs, q.logWeight())
	}
	return vec.LogSumExp(q.logs)
}

func (s *realStates) newSums() *sums {
	rows := s.newRows(s.units + 2)
	return &sums{listed: make([]float64, s.units), cross: rows[:s.units], all: rows[s.units], summed: rows[s.units+1], squares: make([]float64, s.m.Visible())}
}

// addBlocks adds the moments of blocks lo … hi−1 to sums, by the running sums of grayStates.addBlocks.
func (s *realStates) addBlocks(g, lo, hi int, sums *sums, logZ float64) {
	q := s.walks[g]
	for b := lo; b < hi; b++ {
		q.start(b)
		sums.weight = 0
		clear(sums.all)
		for before := q.active; q.next(); before = q.active {
			for w := before ^ q.active; w != 0; w &= w - 1 {
				j := bits.TrailingZeros64(w)
				sums.addRunning(j, 2*float64(before>>j&1)-1)
			}
			p := vec.Exp(q.logWeight() - logZ)
			sums.weight += p
			q.means()
			floats.AddScaled(sums.all, p, q.mean)
			for i, precision := range s.precision {
				x := float64(q.mean[i] * q.mean[i])
				if precision > 0 {
					x += 1 / precision
				} else { // a bit equals its square
					x = q.mean[i]
				}
				sums.squares[i] += float64(p * x)
			}
		}
		for w := q.active; w != 0; w &= w - 1 {
			sums.addRunning(bits.TrailingZeros64(w), 1)
		}
		floats.Add(sums.summed, sums.all)
	}
}

// means computes the means of the visible units given the current state.
func (q *realWalk) means() {
	copy(q.mean, q.bias)
	for w := q.active; w != 0; w &= w - 1 {
		floats.Add(q.mean, q.rows[bits.TrailingZeros64(w)])
	}
	for i, p := range q.precision {
		if p > 0 {
			q.mean[i] /= p
		}
	}
	for _, g := range q.apart {
		mean, z := q.mean[g.First:][:g.Units], q.z[g.First:][:g.Units]
		if g.Kind.Support() == units.OneHot {
			log := vec.LogSumExp(z)
			for c, x := range z {
				mean[c] = vec.Exp(x - log)
			}
			continue
		}
		for c, x := range z {
			mean[c] = vec.Exp(x - vec.Softplus(x))
		}
	}
}
