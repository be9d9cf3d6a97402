package rbm

import "gorbm/rbm/units"

// slopes computes the steps of the learned parameters of hidden units besides their biases, such as the gap
// and skew of dReLU units. Let Z be the partition function of a unit given its input. The gradient with
// respect to such a parameter is the mean of ∂ log Z/∂parameter over the data, minus its mean under the
// model. The hidden means of a Batch do not determine this gradient, so slopes runs a pass from the visible
// states.
type slopes struct {
	sums [units.MaxParams][]float64   // for each learned parameter: the step of each hidden unit
	bits Values                       // rows of a chunk, if they are bits
	real Values                       // rows of a chunk, if they are real
	coef []float64                    // rate times weight of each row of the chunk
	to   [units.MaxParams]units.Means // ∂ log Z/∂parameter, rows × hidden
}

// begin computes the steps from both phases, at the parameters before the ascent.
func (s *slopes) begin(a *Ascent, phases [2]Phase) {
	m := a.m
	learned := false
	for k, p := range m.HiddenKind().Params() {
		if !p.Learned {
			continue
		}
		learned = true
		s.sums[k] = zeros(s.sums[k], m.Hidden())
		s.to[k] = units.Means{Data: grown(s.to[k].Data, chunkRows*m.Hidden()), Cols: m.Hidden()}
	}
	if !learned {
		return
	}
	for k, p := range phases {
		if x := p.Moments; x != nil {
			for i, sums := range s.sums {
				for j := range sums {
					sums[j] += float64(a.rates[k] * float64(x.Slopes[i][j]))
				}
			}
			continue
		}
		rows := &s.bits
		if p.V.IsReal() {
			rows = &s.real
		}
		if rows.Cols != m.Visible() {
			*rows = NewValues(chunkRows, m.Visible(), p.V.IsReal())
		}
		s.coef = s.coef[:0]
		for r := range p.V.Rows {
			w := p.WeightOf(r)
			if w == 0 {
				continue
			}
			rows.CopyRow(len(s.coef), p.V, r)
			if s.coef = append(s.coef, a.rates[k]*w); len(s.coef) == chunkRows {
				s.add(m, rows)
			}
		}
		s.add(m, rows)
	}
}

// add adds the contributions of the rows of the current chunk to sums, and empties the chunk.
func (s *slopes) add(m *RBM, rows *Values) {
	n := len(s.coef)
	if n == 0 {
		return
	}
	p := passPool.Get().(*pass)
	p.grow(m, n)
	p.draw, p.slopes = false, &s.to
	p.v = rows.Slice(0, n)
	p.runUp(p.v)
	p.slopes = nil
	p.forget()
	passPool.Put(p)
	for k, sums := range s.sums {
		for r := 0; r < n && sums != nil; r++ {
			for j, x := range s.to[k].Data[r*m.Hidden():][:m.Hidden()] {
				sums[j] += float64(s.coef[r] * float64(x))
			}
		}
	}
	s.coef = s.coef[:0]
}

// moveParams updates the learned parameters of hidden units lo … hi−1 besides their biases.
func (a *Ascent) moveParams(tile *ascentTile, lo, hi int) {
	for k, sums := range a.slopes.sums {
		if len(a.to.tensors[HiddenParam+Tensor(k)]) == 0 || sums == nil {
			continue
		}
		short := tile.short[:hi-lo]
		narrow(short, sums[lo:hi])
		a.take(&tile.block, HiddenParam+Tensor(k), lo, short)
	}
}

// slopesFrom returns the destinations to, from row lo on.
func slopesFrom(to *[units.MaxParams]units.Means, lo int) (x [units.MaxParams]units.Means) {
	for k, m := range to {
		if m.Data != nil {
			x[k] = units.Means{Data: m.Data[lo*m.Cols:], Cols: m.Cols}
		}
	}
	return x
}
