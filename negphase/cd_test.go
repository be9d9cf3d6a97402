package negphase

import (
	"fmt"
	"testing"

	"gorbm/rbm"
)

// batchOf returns a positive phase with the given number of rows, which have the given visible
// states in turn.
func batchOf(m *rbm.RBM, rows int, from ...[]int) rbm.Batch {
	b := rbm.Batch{V: rbm.NewBits(rows, m.Visible()), H: rbm.NewMatrix(rows, m.Hidden())}
	for r := range rows {
		for i, v := range from[r%len(from)] {
			b.V.Set(r, i, v != 0)
		}
	}
	m.HiddenMean(b.H, b.V)
	return b
}

// distributionAfter returns the distribution of the joint state of a chain after the given number of Gibbs steps. The
// chain starts at visible states v, with h drawn given v.
func distributionAfter(m *rbm.RBM, all []state, gibbs [][]float64, v []int, steps int) []float64 {
	p := make([]float64, len(all))
	code := func(v []int) (n int) {
		for i, x := range v {
			n |= x << i
		}
		return n
	}
	for x, s := range all {
		if code(s.v) != code(v) {
			continue
		}
		p[x] = 1
		for j, a := range hiddenField(m, v) {
			p[x] *= sigmoid(a * float64(2*s.h[j]-1))
		}
	}
	for range steps {
		p = after(p, gibbs)
	}
	return p
}

// farState returns the least probable visible states. The distribution of chains that
// start there differs from equilibrium for some steps.
func farState(all []state) []int {
	p := distribution(all, 1)
	sum := map[string]float64{}
	name := func(s state) string {
		b := make([]byte, len(s.v))
		for i, v := range s.v {
			b[i] = byte(v)
		}
		return string(b)
	}
	for x, s := range all {
		sum[name(s)] += p[x]
	}
	far := all[0]
	for _, s := range all {
		if sum[name(s)] < sum[name(far)] {
			far = s
		}
	}
	return far.v
}

// After an update of cd the particles have the distribution of a chain that made
// k Gibbs steps from the data, and their hidden means are those given the final visible states. The
// particles of pcd, which starts at the data here, have made k steps more after each call.
// The distributions after one step less or more differ.
func TestCDTakesKSteps(t *testing.T) {
	const rows = 4 * exactGroups
	for _, s := range fewer(sharp) {
		m := s.random(31, sharpSD)
		all := states(m)
		gibbs := gibbsKernel(m, nil, all, 1)
		c := newCensus(all)
		from := farState(all)
		check := func(name string, e Estimator, states func() *rbm.States, steps int) {
			t.Helper()
			phase, info, err := e.Estimate(m, batchOf(m, rows, from), callFrom.Child(uint64(steps)))
			if err != nil {
				t.Fatal(err)
			}
			var z [3]float64 // for one step less, the right number of steps, and one more
			for i := range z {
				z[i] = c.z(t, states(), numbers(rows), distributionAfter(m, all, gibbs, from, steps-1+i))
			}
			t.Logf("%v, %s: z = %.1f; of a step less %.1f, of one more %.1f", s, name, z[1], z[0], z[2])
			if z[1] > 6 {
				t.Errorf("%v, %s: z = %.1f, want at most 6", s, name, z[1])
			}
			if z[0] < 6 || z[2] < 6 {
				t.Errorf("%v, %s: another number of steps is not seen: a step less z = %.1f, one more %.1f", s, name, z[0], z[2])
			}
			mean := rbm.NewMatrix(rows, m.Hidden())
			m.HiddenMean(mean, phase.V)
			for i, h := range mean.Data {
				near(t, name+": hidden mean", float64(phase.H.Data[i]), float64(h), 0x1p-22)
			}
			if each := info.Updates / rows; int(each) != steps && name[0] == 'c' {
				t.Errorf("%v, %s: %d Gibbs steps a chain are counted", s, name, each)
			}
		}
		for _, k := range []int{1, 2} {
			e := build[*cd](set(t, "cd", "k", k))
			check(fmt.Sprint("cd, k=", k), e, func() *rbm.States { return e.states }, k)
		}
		p := build[*pcd](set(t, "pcd:start=data", "chains", rows))
		for call := range 2 {
			check(fmt.Sprint("pcd, call ", call), p, func() *rbm.States { return p.states }, 1+call)
		}
		two := build[*pcd](set(t, "pcd:k=2:start=data", "chains", rows))
		check("pcd, k=2", two, func() *rbm.States { return two.states }, 2)
	}
}

// A particle of cd has the weight of the row of the batch at which its chain started. So for weighted rows the
// estimate has the mean Σ_r w_r E f(X_k | X_0 = v_r). With equal weights the mean differs.
func TestCDKeepsTheWeights(t *testing.T) {
	const rows = 8 * exactGroups
	for _, s := range sharp {
		m := s.random(31, sharpSD)
		all := states(m)
		gibbs := gibbsKernel(m, nil, all, 1)
		near := all[0]
		for _, x := range all {
			if x.energy < near.energy {
				near = x
			}
		}
		from, share := [][]int{farState(all), near.v}, []float64{1.75, 0.25} // divided by the mean weight, in turn
		pos := batchOf(m, rows, from...)
		pos.Weight = make([]float32, rows)
		var want []float64
		for r := range pos.Weight {
			pos.Weight[r] = float32(share[r%2] / rows)
		}
		for i, v := range from {
			want = addTo(want, share[i]/2, expectation(m, all, distributionAfter(m, all, gibbs, v, 1)))
		}
		phase, _, err := build[*cd](set(t, "cd", "k", 1)).Estimate(m, pos, callFrom)
		if err != nil {
			t.Fatal(err)
		}
		got := deviation(groupEstimates(phase, rows/2), want)
		phase.Weight = nil
		equal := deviation(groupEstimates(phase, rows/2), want)
		t.Logf("%v: %.2f of the tolerance; with equal weights %.2f", s, got, equal)
		if got > 1 {
			t.Errorf("%v: the mean is off by %.2f tolerances, want at most 1", s, got)
		}
		if equal < 1 {
			t.Errorf("%v: equal weights are not seen: %.2f, want at least 1", s, equal)
		}
	}
}
