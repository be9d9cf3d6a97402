package negphase

import (
	"fmt"
	"slices"

	"gorbm/rbm"
)

// ucdSettings are the settings of ucd.
type ucdSettings struct {
	k, max int
	chainSettings
}

func (s *ucdSettings) keys() []key {
	return append([]key{
		countKey("k", &s.k, 1, 1, maxSteps, "Gibbs steps before the first that counts"),
		{name: "max", value: (*count)(&s.max), initial: "1000", check: s.checkMax, help: "steps after which it gives a pair of chains up"},
	}, s.chainSettings.keys("chains")...)
}

// checkMax bounds the cut and the particles of a call, of which there are two
// for each pair and step.
func (s *ucdSettings) checkMax() error {
	switch {
	case s.max < s.k || s.max > maxSteps:
		return fmt.Errorf("max is %d; it must lie in k … %d, and k is %d", s.max, maxSteps, s.k)
	case s.max > maxReplicas/2/max(s.chains, 1):
		return fmt.Errorf("%d chains of up to max = %d steps make more than %d particles", s.chains, s.max, maxReplicas)
	}
	return nil
}

func (s *ucdSettings) estimator(all Settings) Estimator {
	w := 1 / float32(s.chains)
	return &ucd{settings: all, rows: s.chains, start: s.start, k: s.k, max: s.max, weights: [2]float32{w, -w}}
}

func (*ucdSettings) Traits() Traits {
	return Traits{NoSamples: "weighs states by +1 and −1, so they are no samples; take pcd, pt, ins, pins, sardonics, im or walk"}
}

// Figures implements Reporter: Meetings counts the pairs of chains that met, MeetingTime
// sums the Gibbs steps after which they met, and Cuts counts the pairs that were cut before.
func (s *ucdSettings) Figures(i Info, _ int) []Figure {
	met, cuts := i.Get("Meetings"), i.Get("Cuts")
	time := Figure{Key: "mean_meeting_time", Value: ratio(i.Get("MeetingTime"), met)}
	if met > 0 {
		time.Text = fmt.Sprintf("coupled chains met after %.3g steps in the mean; %.0f of %.0f pairs were cut", time.Value, cuts, met+cuts)
	}
	return []Figure{time, {Key: "cuts", Value: unlessZero(cuts)}}
}

// Warnings implements Warner.
func (s *ucdSettings) Warnings(i, _ Info, _ int) []string {
	cuts := i.Get("Cuts")
	if cuts == 0 {
		return nil
	}
	pairs := i.Get("Meetings") + cuts
	return []string{fmt.Sprintf("the estimates of ucd are biased: %.0f of its %.0f pairs of chains (%s) had not met by the step that max allows; "+
		"raise max, or take pt or ins: chains of a model as sharp as this meet late or never", cuts, pairs, percent(cuts/pairs))}
}

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
// small k is. So the particles have the weights 1/R and −1/R. A pair that has not
// met after step max is cut. The terms that are then missing are a bias, so cuts
// are counted. Every call starts anew.
//
// If the modes of a model are far apart, a pair meets in the mode in which it
// starts. The mean then depends on the rare pairs that separate, and the variance
// is larger than any practical number of pairs shows.
type ucd struct {
	settings Settings
	rows     int
	start    string
	k, max   int
	x, y     *rbm.States // pairs that have not met come first
	batch    rbm.Batch
	info     Info
	weights  [2]float32 // of a particle of X and of Y
	stateless
}

func (u *ucd) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := u.begin(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	u.info.Reset()
	u.info.Chains = u.rows
	steps := key.Child(roundKeys)
	apart := u.rows // pairs that have not met: the first ones
	for t := 1; t <= u.k || apart > 0 && t <= u.max; t++ {
		if t > u.k {
			truncate(u.x, apart)
		}
		truncate(u.y, apart)
		if t == 1 {
			m.Step(u.x, nil, 1, steps.Child(1))
		} else {
			m.StepCoupled(u.x, u.y, steps.Child(uint64(t)))
			u.info.Updates += int64(apart)
		}
		u.info.Updates += int64(u.x.H.Rows)
		if err := finite(u.x.Energy); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		if t > 1 {
			met := u.moveMetBack(apart)
			u.info.Count("Meetings", float64(met))
			u.info.Count("MeetingTime", float64(met*t))
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
	u.info.Count("Cuts", float64(apart))
	return rbm.Phase{Batch: u.batch}, u.info, nil
}

// begin draws where the chains start, both of a pair at the same state, and
// forgets the particles of the call before.
func (u *ucd) begin(m *rbm.RBM, pos rbm.Batch, key rbm.Key) error {
	if err := u.settings.Keeps(m.Constraint); err != nil {
		return err
	}
	if u.x == nil {
		u.x, u.y = rbm.NewStates(m, u.rows), rbm.NewStates(m, u.rows)
		u.batch = rbm.Batch{V: rbm.NewBits(0, m.Visible()), H: rbm.NewMatrix(0, m.Hidden())}
	}
	truncate(u.x, u.rows)
	truncate(u.y, u.rows)
	if err := checkShape(u.x, m); err != nil {
		return err
	}
	if err := drawStart(m, u.x, u.start, pos, key); err != nil {
		return err
	}
	u.y.H.CopyFrom(u.x.H)
	b := &u.batch
	b.V.Rows, b.V.Words = 0, b.V.Words[:0]
	b.H.Rows, b.H.Data = 0, b.H.Data[:0]
	b.Weight = b.Weight[:0]
	return nil
}

// moveMetBack moves the pairs that have met behind the others of the first n
// rows, and returns their number. The distribution of a pair does not depend on
// its row.
func (u *ucd) moveMetBack(n int) (met int) {
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
	b.V.Rows += n
	b.V.Words = append(b.V.Words, s.V.Slice(0, n).Words...)
	b.H.Rows += n
	b.H.Data = append(b.H.Data, s.Mean.Slice(0, n).Data...)
	for range n {
		b.Weight = append(b.Weight, w)
	}
}

// truncate makes s its first n rows. Rows beyond them are kept: a later call may
// bring them back.
func truncate(s *rbm.States, n int) {
	s.V, s.H, s.Mean, s.Energy = s.V.Slice(0, n), s.H.Slice(0, n), s.Mean.Slice(0, n), s.Energy[:n]
}

// swapRows exchanges rows a and b of s but for the energies.
func swapRows(s *rbm.States, a, b int) {
	if a == b {
		return
	}
	for _, bits := range []rbm.Values{s.V, s.H} {
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
