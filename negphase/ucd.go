package negphase

import (
	"fmt"
	"slices"

	"gorbm/rbm"
)

// ucd is unbiased contrastive divergence (Qiu, Zhang & Wang, ICLR 2020, by the
// coupling of Jacob, O'Leary & Atchadé 2020). Each of its R pairs is a chain X
// and a chain Y that is one step behind,
//
//	X_0 = Y_0,   X_1 given X_0,   then (X_t, Y_{t−1}) for t = 2, 3, …
//
// moved together by rbm.StepCoupled until they meet at step τ, when both have
// the same visible states; from there on they are one chain. With f = v p(h|v)ᵀ
//
//	f(X_k) + Σ_{t=k+1}^{τ−1} [f(X_t) − f(Y_{t−1})]
//
// has the mean of f under the model, wherever the chains begin and however
// small k is: the sum makes up for all steps after k. So the particles weigh
// 1/R and −1/R. A pair that has not met after step max is cut: the terms that
// are missing then are a bias, so cuts are counted. Every call starts anew.
//
// Where the modes of a model are far apart a pair meets in the mode in which it
// starts; the mean is then carried by the rare pairs that part, and the
// variance is more than any practical number of pairs shows.
type ucd struct {
	rows    int
	start   Start
	k, max  int
	x, y    *rbm.States // pairs that have not met come first
	batch   rbm.Batch
	info    Info
	weights [2]float32 // of a particle of X and of Y
}

func newUCD(s Settings) *ucd {
	w := 1 / float32(s.Chains)
	return &ucd{rows: s.Chains, start: s.Start, k: s.K, max: s.Max, weights: [2]float32{w, -w}}
}

func (u *ucd) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := u.begin(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	u.info.Reset()
	steps := key.Child(roundKeys)
	apart := u.rows // pairs that have not met: the first ones
	for t := 1; t <= u.k || apart > 0 && t <= u.max; t++ {
		if t > u.k {
			take(u.x, apart)
		}
		take(u.y, apart)
		if t == 1 {
			m.Step(u.x, nil, 1, steps.Child(1))
		} else {
			m.StepCoupled(u.x, u.y, steps.Child(uint64(t)))
			u.info.Updates += int64(apart)
		}
		u.info.Updates += int64(u.x.H.Rows)
		if err := finite(u.x); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		if t > 1 {
			met := u.part(apart)
			u.info.Meetings += int64(met)
			u.info.MeetingTime += int64(met) * int64(t)
			apart -= met
		}
		switch {
		case t == u.k:
			u.add(u.x, u.rows, u.weights[0])
		case t > u.k:
			u.add(u.x, apart, u.weights[0])
			u.add(u.y, apart, u.weights[1])
		}
	}
	u.info.Cuts = int64(apart)
	return rbm.Phase{Batch: u.batch}, u.info, nil
}

// begin draws where the chains start, both of a pair at the same state, and
// forgets the particles of the call before.
func (u *ucd) begin(m *rbm.RBM, pos rbm.Batch, key rbm.Key) error {
	if err := Keeps("ucd", m.Constraint); err != nil {
		return err
	}
	if u.x == nil {
		u.x, u.y = rbm.NewStates(m, u.rows), rbm.NewStates(m, u.rows)
		u.batch = rbm.Batch{V: rbm.NewBits(0, m.Visible()).Input(), H: rbm.NewMatrix(0, m.Hidden())}
	}
	take(u.x, u.rows)
	take(u.y, u.rows)
	if err := checkShape(u.x, m); err != nil {
		return err
	}
	if err := drawStart(m, u.x, u.start, pos, key); err != nil {
		return err
	}
	u.y.H.CopyFrom(u.x.H)
	b := &u.batch
	b.V.Bits.Rows, b.V.Bits.Words = 0, b.V.Bits.Words[:0]
	b.H.Rows, b.H.Data = 0, b.H.Data[:0]
	b.Weight = b.Weight[:0]
	return nil
}

// part moves the pairs that have met behind the others of the first n, and
// returns their number. Which row a pair is in has no influence on its law.
func (u *ucd) part(n int) (met int) {
	for r := 0; r < n-met; {
		if !slices.Equal(u.x.V.Row(r), u.y.V.Row(r)) {
			r++
			continue
		}
		met++
		swapRows(u.x, r, n-met)
		swapRows(u.y, r, n-met)
	}
	return met
}

// add appends the first n rows of s to the particles, with weight w each.
func (u *ucd) add(s *rbm.States, n int, w float32) {
	b := &u.batch
	b.V.Bits.Rows += n
	b.V.Bits.Words = append(b.V.Bits.Words, s.V.Slice(0, n).Words...)
	b.H.Rows += n
	b.H.Data = append(b.H.Data, s.Mean.Slice(0, n).Data...)
	for range n {
		b.Weight = append(b.Weight, w)
	}
}

// take makes s its first n rows; rows beyond them are kept for a later take.
func take(s *rbm.States, n int) {
	s.V, s.H, s.Mean, s.Energy = s.V.Slice(0, n), s.H.Slice(0, n), s.Mean.Slice(0, n), s.Energy[:n]
}

// swapRows exchanges rows a and b of s but for the energies.
func swapRows(s *rbm.States, a, b int) {
	if a == b {
		return
	}
	for _, bits := range []rbm.Bits{s.V, s.H} {
		x, y := bits.Row(a), bits.Row(b)
		for i := range x {
			x[i], y[i] = y[i], x[i]
		}
	}
	x, y := s.Mean.Row(a), s.Mean.Row(b)
	for i := range x {
		x[i], y[i] = y[i], x[i]
	}
}

// MarshalBinary returns nothing: every call starts anew.
func (u *ucd) MarshalBinary() ([]byte, error) { return nil, nil }

func (u *ucd) UnmarshalBinary(b []byte) error {
	if len(b) != 0 {
		return fmt.Errorf("%w: ucd keeps no chains, but %d bytes are saved", rbm.ErrFormat, len(b))
	}
	return nil
}
