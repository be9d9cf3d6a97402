package mcmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// The first words of xoroshiro128++ from the state (1, 2) equal those of its authors'
// program.
func TestStream(t *testing.T) {
	s := stream{1, 2}
	var got []uint64
	for range 5 {
		got = append(got, s.next())
	}
	if want := []uint64{393217, 669327710093319, 1732421326133921491, 11394790081659126983, 9555452776773192676}; !slices.Equal(got, want) {
		t.Errorf("the stream is %d, want %d", got, want)
	}
	// A seed of zeros does not give a constant stream.
	s = newStream(rand.New(zeros{}))
	if first, second := s.next(), s.next(); first == second {
		t.Error("the stream stands still")
	}
}

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

// A squeeze makes the same decisions as its probability: for words next to the probability, and for x next to
// the edges of cells and far away.
func TestSqueezesAreTheirLaws(t *testing.T) {
	r := rbm.NewKey(1).Rand()
	for name, p := range map[string]probability{"gibbs": Gibbs{}.flip, "metropolis": Metropolis{}.flip, "modified": ModifiedMetropolis{}.flip} {
		s := newSqueeze(p)
		xs := []float64{0, math.Copysign(0, -1), 1e-300, -1e-300, 31.999, 32, -32, 40, -40, 1e308, -1e308, math.Inf(1), math.Inf(-1)}
		for range 2000 {
			edge := float64(r.IntN(600)-300) / squeezeCells
			xs = append(xs, 10*r.NormFloat64(), edge, math.Nextafter(edge, 99), math.Nextafter(edge, -99))
		}
		for _, x := range xs {
			want := chanceOf(p(x))
			words := []uint64{0, math.MaxUint64, r.Uint64(), r.Uint64(), uint64(want) << 11, (uint64(want) - 1) << 11, (uint64(want) + 1) << 11}
			for _, w := range words {
				if s.happens(x, w) != want.happens(w) {
					t.Fatalf("%s at %g decides %x wrongly", name, x, w)
				}
			}
		}
		var width float64
		for _, c := range s.cells {
			width = max(width, float64(c.high-c.low)*0x1p-53)
		}
		// The probability of ModifiedMetropolis jumps from ½ to 1 in one cell.
		if limit := map[string]float64{"gibbs": 1.0 / 31, "metropolis": 1.0 / 8, "modified": 0.51}[name]; width > limit {
			t.Errorf("%s: a cell leaves %g of the words undecided, want at most %g", name, width, limit)
		}
	}
}

func TestChances(t *testing.T) {
	if always.happens(math.MaxUint64) != true || chance(0).happens(0) != false {
		t.Error("certainty is uncertain")
	}
	if chanceOf(0.5) != always/2 || !chanceOf(0.5).happens(1<<63-1) || chanceOf(0.5).happens(1<<63) {
		t.Error("a half is not half of the words")
	}
	for _, n := range []int{1, 2, 3, 7, 1000} {
		counts, words := make([]int, n), make([]int, n)
		r := rbm.NewKey(uint64(n)).Rand()
		for range 100 * n {
			counts[below(n, uint32(r.Uint64()))]++
			words[belowWord(n, r.Uint64())]++
		}
		p := slices.Repeat([]float64{1 / float64(n)}, n)
		if z := max(diag.StationarityZ(counts, p), diag.StationarityZ(words, p)); z > 6 {
			t.Errorf("numbers below %d: z = %.1f, want at most 6", n, z)
		}
		if below(n, math.MaxUint32) != n-1 || below(n, 0) != 0 || belowWord(n, math.MaxUint64) != n-1 {
			t.Errorf("numbers below %d leave it", n)
		}
	}
}
