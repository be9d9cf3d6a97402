package rbm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/rbm/parallel"
)

// listedScore returns log Σ_h exp(−E(x,e_k,h)) of each class k, over all hidden states, in float64.
// theta has the weights row by row of visible units, then the visible and the hidden biases.
func listedScore(theta, x []float64, inputs, classes, hidden int) []float64 {
	visible := inputs + classes
	b, c := theta[visible*hidden:][:visible], theta[visible*hidden+visible:]
	scores := make([]float64, classes)
	for k := range scores {
		top, sum := math.Inf(-1), 0.0
		for h := range 1 << hidden {
			e := b[inputs+k]
			for i, v := range x {
				e += v * b[i]
			}
			for j := range hidden {
				if h>>j&1 == 1 {
					e += c[j] + theta[(inputs+k)*hidden+j]
					for i, v := range x {
						e += v * theta[i*hidden+j]
					}
				}
			}
			if e > top {
				sum, top = sum*math.Exp(top-e), e
			}
			sum += math.Exp(e - top)
		}
		scores[k] = top + math.Log(sum)
	}
	return scores
}

func plainLogSumExp(x []float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, v)
	}
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// listedObjective returns the mean of an objective over rows, without log Z.
func listedObjective(theta []float64, o Objective, rows [][]float64, y []int32, inputs, classes, hidden int) float64 {
	sum := 0.0
	for r, x := range rows {
		s := listedScore(theta, x, inputs, classes, hidden)
		if y[r] == NoClass {
			sum += o.Generative * plainLogSumExp(s)
			continue
		}
		sum += o.Discriminative*(s[y[r]]-plainLogSumExp(s)) + o.Generative*s[y[r]]
	}
	return sum / float64(len(rows))
}

// difference returns the derivative of f with respect to theta[i] by central differences of fourth
// order. Its errors are about h⁴ = 10⁻¹² and 10⁻¹⁶/h.
func difference(f func(theta []float64) float64, theta []float64, i int) float64 {
	const h = 1e-3
	at := func(step float64) float64 {
		old := theta[i]
		theta[i] += step
		defer func() { theta[i] = old }()
		return f(theta)
	}
	return (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
}

// objectiveError bounds the rounding error of a step. A preactivation is a float32 sum of n terms.
// p(k|x) changes by twice that for every hidden unit, and a mean by a quarter of it plus 2⁻²² of
// the kernel. Weights and sums add eight roundings. Σ|κ_k| is at most 2(D+G).
func objectiveError(m *RBM, o Objective) float64 {
	e := preactivationError(m)
	return 2 * (o.Discriminative + o.Generative) * (2*float64(m.Hidden())*e + e/4 + 0x1p-22 + 8*0x1p-24)
}

var objectives = []Objective{{Discriminative: 1}, {Generative: 1}, {1, 0.25}}

// The gradient agrees with central differences of the objective, which is computed in float64 by
// listing all hidden states. Rows are bits or grey, with and without classes. log Z is from
// enumeration of all states.
func TestObjectiveAgainstDifferences(t *testing.T) {
	const inputs, hidden, classes, rows = 4, 3, 3, 7
	y := []int32{0, 2, NoClass, 1, 1, NoClass, 2}
	for _, labels := range []Kind{Softmax, Bernoulli} {
		m := shape{inputs + classes, hidden, classes, labels}.random(3, 0.8)
		theta := make([]float64, 0, 64)
		for _, x := range parameters64(m) {
			theta = append(theta, x...)
		}
		for _, grey := range []bool{false, true} {
			for _, o := range objectives {
				p := NewObjectivePhase(m, rows, grey)
				random, listed := NewKey(9).Rand(), make([][]float64, rows)
				for r := range rows {
					for i := range inputs {
						x := float64(random.IntN(2))
						if grey {
							x = float64(random.IntN(5)) / 4
							p.Inputs().Matrix().Row(r)[i] = float32(x)
						} else {
							p.Inputs().Set(r, i, x == 1)
						}
						listed[r] = append(listed[r], x)
					}
				}
				p.Set(m, o, y)
				objective := func(theta []float64) float64 {
					return listedObjective(theta, o, listed, y, inputs, classes, hidden)
				}
				got := New(m.Visible(), hidden, classes, labels)
				none := Phase{Batch: Batch{V: NewBits(0, m.Visible()), H: NewMatrix(0, hidden)}}
				tolerance := objectiveError(m, o)
				check := func(what string, f func(theta []float64) float64) {
					var steps []float64
					for _, x := range parameters64(got) {
						steps = append(steps, x...)
					}
					for i, step := range steps {
						near(t, fmt.Sprintf("%v labels, grey %v, %+v, %s, parameter %d", labels, grey, o, what, i), step, difference(f, theta, i), tolerance)
					}
				}
				new(Ascent).Step(got, 1, 1, Phase{Batch: p.Batch}, none)
				check("without log Z", objective)
				if grey {
					continue
				}
				negative := NewMoments(m)
				z, all := 0.0, states(m)
				for _, s := range all {
					z += math.Exp(-s.energy)
				}
				for _, s := range all {
					q := float32(math.Exp(-s.energy) / z)
					for i, v := range s.v {
						negative.V[i] += float32(v) * q
						for j, h := range s.h {
							negative.VH.Row(i)[j] += float32(v*h) * q
						}
					}
					for j, h := range s.h {
						negative.H[j] += float32(h) * q
					}
				}
				got.Parameters().Zero()
				new(Ascent).Step(got, 1, float32(o.Generative), Phase{Batch: p.Batch}, Phase{Moments: negative})
				tolerance += float64(len(all)) * 0x1p-24 // rounding of the sums of the moments
				check("with log Z", func(theta []float64) float64 {
					energies := make([]float64, len(all))
					for a, s := range all {
						b, c := theta[(inputs+classes)*hidden:], theta[(inputs+classes)*(hidden+1):]
						for i, v := range s.v {
							energies[a] += float64(v) * b[i]
							for j, h := range s.h {
								energies[a] += float64(v*h) * theta[i*hidden+j]
							}
						}
						for j, h := range s.h {
							energies[a] += float64(h) * c[j]
						}
					}
					return objective(theta) - o.Generative*plainLogSumExp(energies)
				})
			}
		}
	}
}

// objectiveOf returns a phase of random rows. Classes alternate, and every third row has none.
func objectiveOf(m *RBM, rows int, grey bool) (*ObjectivePhase, []int32) {
	p, y := NewObjectivePhase(m, rows, grey), make([]int32, rows)
	random := NewKey(5).Rand()
	for r := range rows {
		y[r] = int32(r/3) % int32(m.Classes())
		if r%3 == 2 {
			y[r] = NoClass
		}
		for i := range m.Inputs() {
			on := random.IntN(4) == 0
			p.Inputs().Set(r, i, on)
			if grey && on {
				p.Inputs().Matrix().Row(r)[i] = random.Float32()
			}
		}
	}
	return p, y
}

// Results are bit-identical at every level of the kernels and any number of processors. There are
// more rows than in a tile and in a pass, more classes than rows of a tile, and weights beyond the
// range of products of odds.
func TestObjectiveLevels(t *testing.T) {
	type objectiveCase struct {
		shape
		rows  int
		grey  bool
		large bool
	}
	cases := []objectiveCase{
		{shape: shape{20, 65, 3, Softmax}, rows: 1},
		{shape: shape{140, 200, 10, Bernoulli}, rows: 139},
		{shape: shape{140, 130, 10, Softmax}, rows: 31, grey: true},
		{shape: shape{310, 70, 300, Softmax}, rows: 3},
		{shape: shape{20, 65, 3, Softmax}, rows: 10, large: true},
	}
	if testing.Short() { // plain Go under the race detector takes minutes
		cases = slices.Delete(cases, 1, 4)
	}
	for _, c := range cases {
		m := c.random(7, 0.3)
		if c.large {
			w := NewMatrix(m.Visible(), m.Hidden())
			m.Weights(w)
			w.Row(m.Inputs())[3], w.Row(m.Inputs() + 1)[4] = 700, -900
			m.SetWeights(w)
		}
		var want *trace
		forLevelsAndProcessors(func(name string) {
			p, y := objectiveOf(m, c.rows, c.grey)
			all := m.Clone()
			for _, o := range objectives {
				p.Set(m, o, y)
				new(Ascent).Step(all, 0.1, float32(o.Generative), Phase{Batch: p.Batch}, Phase{Batch: p.Batch})
			}
			got := &trace{}
			got.add("log p(k|x)", p.LogProb)
			got.addModel(all)
			got.add("hidden means", p.H.Data)
			if want == nil {
				want = got
			}
			if why := got.difference(want); why != "" || all.CheckFinite() != nil {
				t.Errorf("%+v, %s: %s; %v, want nothing", c, name, why, all.CheckFinite())
			}
			logp := make([]float64, len(p.LogProb))
			m.ClassLogProb(logp, p.Inputs())
			for i, x := range p.LogProb {
				near(t, "log p(k|x)", x, logp[i], 4*float64(m.Hidden())*preactivationError(m))
			}
		})
	}
}

// preactivationError bounds the rounding of a preactivation, a float32 sum of the weights of all
// units and a bias.
func preactivationError(m *RBM) float64 {
	most := 0.0
	for j, c := range m.HiddenBias {
		sum := math.Abs(float64(c))
		for i := range m.Visible() {
			sum += math.Abs(float64(m.Weight(i, j)))
		}
		most = max(most, sum)
	}
	return float64(m.Visible()+2) * 0x1p-24 * most
}

// If all rows have a class, the generative phase is the positive phase of the likelihood.
func TestGenerativeObjectiveIsTheLikelihoods(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const rows = 150 // three tiles
	m := shape{74, 130, 4, Softmax}.random(2, 0.2)
	p, y := objectiveOf(m, rows, false)
	v := NewBits(rows, m.Visible())
	for r := range y {
		y[r] = int32(r / 3 % 4) // tiles differ
		copy(v.Row(r), p.Inputs().Row(r))
		v.Set(r, m.Inputs()+r/3%4, true)
	}
	b := Batch{V: v, H: NewMatrix(rows, m.Hidden())}
	m.HiddenMean(b.H, b.V)
	p.Set(m, Objective{Generative: 1}, y)
	for r := range rows {
		for j, x := range b.H.Row(r) {
			if x != p.H.Row(r)[j] {
				t.Fatalf("row %d, unit %d: %v, want %v", r, j, p.H.Row(r)[j], x)
			}
		}
	}
	got, want := NewMoments(m), NewMoments(m)
	got.Set(p.Batch)
	want.Set(b)
	for i, x := range append(append(got.VH.Data, got.V...), got.H...) { // additions in another order
		near(t, "moment", float64(x), float64(append(append(want.VH.Data, want.V...), want.H...)[i]), 4*0x1p-24)
	}
	// Subtracting a quarter of the phase leaves three quarters, whichever phase is an objective's.
	for _, neg := range []Phase{{Batch: b}, {Batch: p.Batch}, {Moments: want}} {
		rest, three := New(m.Visible(), m.Hidden(), 4, Softmax), NewMoments(m)
		new(Ascent).Step(rest, 1, 0.25, Phase{Batch: b}, neg)
		rest.Weights(three.VH)
		for i, x := range append(append(three.VH.Data, rest.VisibleBias...), rest.HiddenBias...) {
			near(t, "three quarters", float64(x), 0.75*float64(append(append(want.VH.Data, want.V...), want.H...)[i]), 4*0x1p-24)
		}
	}
}

func TestObjectiveAllocatesNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("the race detector makes pools forget")
	}
	for _, grey := range []bool{false, true} {
		m := shape{74, 130, 10, Softmax}.random(2, 0.2)
		p, y := objectiveOf(m, 10, grey)
		var a Ascent
		step := func() {
			p.Set(m, Objective{1, 0.5}, y)
			a.Step(m, 1e-4, 0.5, Phase{Batch: p.Batch}, Phase{Batch: Batch{V: p.Inputs(), H: p.H.Slice(0, 10)}})
		}
		step()
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("grey %v: %v allocations, want 0", grey, n)
		}
	}
}

func TestObjectivePanics(t *testing.T) {
	m := shape{9, 3, 3, Softmax}.random(1, 1)
	plain := New(6, 3, 0, Softmax)
	kept := m.Clone()
	kept.Constraint = &Constraint{On: HiddenUnits, Active: 1}
	o := Objective{Discriminative: 1}
	p := NewObjectivePhase(m, 2, false)
	for name, f := range map[string]func(){
		"no classes":      func() { NewObjectivePhase(plain, 2, false) },
		"no rows":         func() { NewObjectivePhase(m, 0, false) },
		"too few classes": func() { p.Set(m, o, []int32{1}) },
		"class 3 of 3":    func() { p.Set(m, o, []int32{1, 3}) },
		"class -2":        func() { p.Set(m, o, []int32{-2, 0}) },
		"constraint":      func() { p.Set(kept, o, []int32{1, 0}) },
		"other model":     func() { p.Set(New(9, 4, 3, Softmax), o, []int32{1, 0}) },
		"weights of biases alone": func() {
			b := p.Batch
			b.Weight = nil
			new(Ascent).Step(m, 1, 1, Phase{Batch: b}, Phase{Batch: b})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
