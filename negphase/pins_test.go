package negphase

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// partition returns the ends of the blocks in a round.
func (n *ins) partition(round int64) []int {
	n.rounds = round
	var ends []int
	for lo := 0; lo < len(n.beta); {
		lo = n.blockEnd(lo)
		ends = append(ends, lo)
	}
	return ends
}

func TestPartitions(t *testing.T) {
	for _, c := range []struct {
		k, block  int
		even, odd []int
	}{
		{2, 2, []int{2}, []int{2}},
		{8, 8, []int{8}, []int{8}}, // a single block is ins
		{5, 8, []int{5}, []int{5}},
		{3, 2, []int{2, 3}, []int{1, 3}},
		{9, 8, []int{8, 9}, []int{4, 9}},
		{10, 4, []int{4, 8, 10}, []int{2, 6, 10}},
		{7, 3, []int{3, 6, 7}, []int{1, 4, 7}},
	} {
		n := build[*ins](set(t, "pins", "chains", 1, "block", c.block, "tau", temperatures(c.k)))
		for round, want := range [][]int{c.even, c.odd, c.even} {
			if got := n.partition(int64(round)); !slices.Equal(got, want) {
				t.Errorf("%d temperatures in blocks of %d, round %d: blocks end at %v, want %v", c.k, c.block, round, got, want)
			}
		}
	}
}

// With one block the results of pins are identical to those of ins; with two blocks they are not.
func TestPINSOfOneBlockIsINS(t *testing.T) {
	m := shape{9, 7, 0, rbm.Softmax}.random(3, 1.5)
	const rest = ":k=1:swaps=3:chains=5:tau=1/1.3/1.7/2.5/4"
	want := call(t, estimator(t, "ins"+rest), m, rbm.Batch{}, 0, 4)
	for _, block := range []int{5, 6, 16} {
		if got := call(t, estimator(t, fmt.Sprint("pins", rest, ":block=", block)), m, rbm.Batch{}, 0, 4); !slices.Equal(got, want) {
			t.Errorf("blocks of %d: other bits than ins: %s", block, firstDifference(got, want))
		}
	}
	if got := call(t, estimator(t, fmt.Sprint("pins", rest, ":block=4")), m, rbm.Batch{}, 0, 4); slices.Equal(got, want) {
		t.Error("two blocks give the bits of ins")
	}
}

// steps returns the distribution of the particles by temperature after one Gibbs step from the
// distribution q.
func (s *replicated) steps(q []float64) []float64 {
	for k, kernel := range s.gibbs {
		next := make([]float64, len(q))
		for n, x := range s.joint {
			y := slices.Clone(x)
			for to, p := range kernel[x[k]] {
				y[k] = to
				next[s.number(y)] += q[n] * p
			}
		}
		q = next
	}
	return q
}

// blockwise returns for each X the distribution, over s.perms, of the permutation that is drawn within blocks with the
// given ends, by the implementation's tables for the inverse temperatures beta.
func (s *replicated) blockwise(ends []int, beta []float64) (rho [][]float64) {
	for _, x := range s.joint {
		e := s.energies(x)
		distribution := make([]float64, len(s.perms))
		for i, at := range s.perms {
			distribution[i] = 1
			lo := 0
			for _, hi := range ends {
				p := newPermanent(beta[lo:hi])
				p.set(e[lo:hi])
				var local []int
				for _, particle := range at[lo:hi] {
					local = append(local, particle-lo)
				}
				if slices.Min(local) < 0 || slices.Max(local) >= hi-lo {
					distribution[i] = 0
					break
				}
				prob, _ := p.path(local)
				distribution[i] *= prob
				lo = hi
			}
		}
		rho = append(rho, distribution)
	}
	return rho
}

// permuted returns the distribution of the particles by temperature after the
// permutation.
func (s *replicated) permuted(q []float64, rho [][]float64) []float64 {
	end := make([]float64, len(q))
	y := make([]int, len(s.beta))
	for n, x := range s.joint {
		for i, at := range s.perms {
			if rho[n][i] == 0 {
				continue
			}
			for j, k := range at {
				y[j] = x[k]
			}
			end[s.number(y)] += q[n] * rho[n][i]
		}
	}
	return end
}

// blockWeights returns the estimator's weights of the particles of
// each X, if the first block ends at hi.
func (s *replicated) blockWeights(n *ins, hi int) (weights [][]float64) {
	part := newPart(hi)
	n.lo, n.hi, n.weigh = 0, hi, true
	for g, x := range s.joint {
		s.set(&n.ladder, g, x)
		n.permute(part, g)
		weights = append(weights, make([]float64, len(x)))
		copy(weights[g], part.share)
	}
	return weights
}

// Both half-steps of pins leave the distribution invariant, and the estimate after the Gibbs steps of each is exact: on
// three units at three and four temperatures in blocks of two, on both paths.
func TestPartialInfiniteSwappingKernel(t *testing.T) {
	m := shape{2, 1, 0, rbm.Softmax}.random(21, 1.5)
	for name, s := range map[string]*replicated{
		"K=3": newReplicated(m, nil, []float64{1, 0.7, 0.25}), "K=3/base": newReplicated(m, randomBase(m, 5), []float64{1, 0.7, 0.25}),
		"K=4": newReplicated(m, nil, []float64{1, 0.8, 0.5, 0.25}), "K=4/base": newReplicated(m, randomBase(m, 5), []float64{1, 0.8, 0.5, 0.25}),
	} {
		t.Run(name, func(t *testing.T) {
			beta := s.beta
			k := len(beta)
			settings := set(t, "pins:block=2", "chains", len(s.joint), "tau", inverse(beta))
			start, want := s.product(), expectation(s.m, s.all, s.p[0])
			mutant := func(name string, d float64) {
				t.Helper()
				t.Logf("%s: off by %.2g", name, d)
				if d < mutantBreak {
					t.Errorf("mutant is not seen: %s: off by %v only", name, d)
				}
			}
			for round := range 2 {
				n := build[*ins](settings)
				n.beta = beta // as float64
				n.states = s.states(&n.ladder)
				ends := n.partition(int64(round))
				rho := s.blockwise(ends, beta)
				moved := s.steps(start)
				if d := farthest(s.permuted(moved, rho), start); d > kernelTol {
					t.Errorf("round %d: Π p_k is moved by %v, want at most %v", round, d, kernelTol)
				}
				weights := s.blockWeights(n, ends[0])
				if d := farthest(s.estimate(moved, weights, ones(k)), want); d > kernelTol {
					t.Errorf("round %d: the estimate is off by %v, want at most %v", round, d, kernelTol)
				}

				// Broken: the tables of a block for the temperatures of the next block.
				beside := append(slices.Clone(beta[1:]), 0)
				mutant("β of the next temperature", farthest(s.permuted(start, s.blockwise(ends, beside)), start))
				if ends[0] == 1 {
					continue // nothing else can be broken in a block of one
				}
				// Broken: the weights of a block without temperature 1.
				other := make([][]float64, len(weights))
				for x := range other {
					other[x] = append(make([]float64, k-2), weights[x][:2]...)
				}
				mutant("weights on the last block", farthest(s.estimate(start, other, ones(k)), want))
				if k > 3 {
					continue // what follows is a sum over pairs of states
				}
				// Broken: the weights of the state before the Gibbs steps.
				var stale []float64
				old := make([][]float64, len(s.joint))
				for x, from := range s.joint {
					for y := range old {
						old[y] = weights[x]
					}
					stale = addTo(stale, start[x], s.estimate(s.move(s.perms[0], from), old, ones(k)))
				}
				mutant("weights before the Gibbs steps", farthest(stale, want))
			}
		})
	}
}

// Pairs and partitions alternate from round to round, also between calls: every pair of temperatures
// exchanges within two rounds, in one call or in two. If they do not alternate, some pairs never exchange.
func TestTurnsAlternate(t *testing.T) {
	m := shape{6, 4, 0, rbm.Softmax}.random(1, 0.1)
	const rest = ":chains=60:tau=1/1.1/1.2/1.3/1.4/1.5"
	type parts interface {
		Tempered
		turn() *int64
	}
	tried := func(e parts, calls int, stuck bool) (info Info) {
		for n := range calls {
			if stuck {
				*e.turn() = 1
			}
			_, i, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(uint64(n)))
			if err != nil {
				t.Fatal(err)
			}
			info.Add(i)
		}
		return info
	}
	for _, c := range []struct {
		text  string
		tries []int64 // attempts in two rounds of 60 groups
		stuck []int64
	}{
		{"pt:order=evenodd" + rest, []int64{60, 60, 60, 60, 60}, []int64{0, 120, 0, 120, 0}},
		{"pins:block=4" + rest, []int64{120, 60, 120, 60, 120}, []int64{120, 0, 120, 120, 120}},
	} {
		one, two := tried(estimator(t, c.text+":swaps=2").(parts), 1, false), tried(estimator(t, c.text).(parts), 2, false)
		stuck := tried(estimator(t, c.text).(parts), 2, true)
		if !slices.Equal(one.SwapTries, c.tries) || !slices.Equal(two.SwapTries, c.tries) {
			t.Errorf("%s: %v pairs are tried in one call, %v in two, want %v", c.text, one.SwapTries, two.SwapTries, c.tries)
		}
		if !slices.Equal(stuck.SwapTries, c.stuck) {
			t.Errorf("%s: with the turn stuck %v pairs are tried, want %v", c.text, stuck.SwapTries, c.stuck)
		}
		for k, n := range two.Swaps {
			if n == 0 {
				t.Errorf("%s: pair %d never exchanges", c.text, k)
			}
		}
		if rates := stuck.SwapRates(); rates == nil || slices.Min(rates) != 0 {
			t.Errorf("%s: with the turn stuck the rates are %v", c.text, rates)
		}
	}
}

func (l *ladder) turn() *int64 { return &l.rounds }

// Particles outside of the block with temperature 1 have no weight.
func TestRowsOfOtherBlocksHaveNoWeight(t *testing.T) {
	m := shape{9, 7, 0, rbm.Softmax}.random(3, 1)
	e := estimator(t, "pins:chains=3:tau=1/1.2/1.4/1.6/1.8/2/2.2:block=4").(*ins)
	for round, want := range []int{4, 2, 4, 2} {
		was := slices.Clone(e.at)
		phase, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(uint64(round)))
		if err != nil {
			t.Fatal(err)
		}
		for g := range e.groups {
			for k, row := range was[g*7 : (g+1)*7] {
				if (phase.Weight[row] > 0) != (k < want) {
					t.Errorf("round %d: the particle at temperature %d has weight %v", round, k, phase.Weight[row])
				}
			}
		}
	}
}

// With an even number of rounds per call, the estimate has weights within a whole block. With an odd number, it has
// weights within a whole block and within half a block in alternate calls.
func TestWeighedBlocks(t *testing.T) {
	m := shape{9, 7, 0, rbm.Softmax}.random(3, 0.1)
	for swaps, want := range map[int][]int{1: {4, 2, 4, 2}, 2: {4, 4, 4, 4}, 3: {4, 2, 4, 2}, 4: {4, 4, 4, 4}} {
		e := estimator(t, fmt.Sprintf("pins:chains=1:tau=1/1.2/1.4/1.6/1.8/2/2.2:block=4:swaps=%d", swaps))
		for call, want := range want {
			phase, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(uint64(call)))
			if err != nil {
				t.Fatal(err)
			}
			weighed := 0
			for _, w := range phase.Weight {
				if w > 0 {
					weighed++
				}
			}
			if weighed != want {
				t.Errorf("%d rounds a call, call %d: %d particles have weight, want %d", swaps, call, weighed, want)
			}
		}
	}
}

// BenchmarkLadder measures an update of 10 groups at 30 temperatures of a model of
// 784 × 500 units. pins should take as long as pt.
func BenchmarkLadder(b *testing.B) {
	for _, name := range []string{"pt", "pt:order=evenodd", "pins:block=4", "pins:block=6", "pins:block=8", "pins:block=10", "pins:block=12"} {
		b.Run("negphase="+name, func(b *testing.B) { benchmarkLadder(b, name, 30) })
	}
}

// BenchmarkINS measures an update of 10 groups for several numbers of temperatures. With 14 it should take
// at most 2 times, and with 16 at most 5 times, as long as with 10.
func BenchmarkINS(b *testing.B) {
	for _, k := range []int{5, 10, 14, maxBlock} {
		b.Run(fmt.Sprintf("K=%d", k), func(b *testing.B) { benchmarkLadder(b, "ins", k) })
	}
}

func benchmarkLadder(b *testing.B, name string, temperatures int) {
	m := rbm.New(784, 500, 0, rbm.Softmax)
	m.Randomize(0.1, rbm.NewKey(1))
	// A fifth of the units is on, as in trained models.
	r := rand.New(rand.NewPCG(1, 2))
	for _, bias := range [][]float32{m.VisibleBias, m.HiddenBias} {
		for i := range bias {
			bias[i] = float32(-1.5 + 0.3*r.NormFloat64())
		}
	}
	tau := ":chains=10:tau=1"
	for k := range temperatures - 1 {
		tau += fmt.Sprintf("/%.4g", 1/(1-float64(k+1)/float64(temperatures)))
	}
	e := estimator(b, name+tau)
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(n)); err != nil {
			b.Fatal(err)
		}
	}
}

// Groups are permuted on all processors. The results do not depend on the number of processors.
func TestINSAtAnyGOMAXPROCS(t *testing.T) {
	m := shape{5, 4, 0, rbm.Softmax}.random(3, 1)
	run := func(processors int) (weights []float32, off float64, at []int32) {
		defer parallel.SetProcessors(processors)()
		n := build[*ins](set(t, "ins", "chains", 9, "tau", inverse(ladderOf(14))))
		for call := range uint64(4) {
			phase, info, err := n.Estimate(m, rbm.Batch{}, rbm.NewKey(call))
			if err != nil {
				t.Fatal(err)
			}
			weights, off = append(weights, phase.Weight...), off+info.Get("Off")
		}
		if len(n.parts) != min(processors, 9) {
			t.Fatalf("%d processors: %d parts, want %d", processors, len(n.parts), min(processors, 9))
		}
		return weights, off, slices.Clone(n.at)
	}
	weights, off, at := run(1)
	for _, processors := range []int{2, 4, 16} {
		w, o, a := run(processors)
		if !slices.Equal(w, weights) || o != off || !slices.Equal(a, at) {
			t.Errorf("%d processors: weights, their sum or temperatures are others", processors)
		}
	}
}
