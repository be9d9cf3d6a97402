package walk

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
)

// source is a random source that returns given words.
type source struct{ words []uint64 }

func (s *source) Uint64() uint64 {
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// summed reports whether the sums of b agree with its leaves.
func summed(b *Blocks) bool {
	fresh := NewBlocks(len(b.Leaf))
	for i, w := range b.Leaf {
		fresh.Set(i, w)
	}
	return reflect.DeepEqual(b, fresh)
}

func TestWeight(t *testing.T) {
	const sites, top = 1000, 12.0
	for _, family := range []Family{HeatBath, Boltzmann} {
		b := NewBias(family, sites, top)
		table := NewTable(b)
		last := uint64(math.MaxUint64)
		for x := -top; x <= top; x += 1. / 128 {
			phi := 1 / (1 + math.Exp(x))
			if family == Boltzmann {
				phi = math.Exp(-x - top)
			}
			want := phi * (1 << unitBits)
			got := b.Weight(x)
			// The error of rounding to a whole number, and a relative error of 2⁻⁵⁰ of two
			// exponentials and a division.
			if math.Abs(float64(got)-want) > 0.5+want*0x1p-50 {
				t.Fatalf("family %d: weight(%v) = %d, want %v", family, x, got, want)
			}
			// The second derivative is at most the function, so the error of interpolation is
			// at most h²/8 times the value at the left knot. This value is at
			// most e^h times that at x. Two truncations are added.
			const h = 1. / tableStep
			if d := math.Abs(float64(table.Weight(x)) - float64(got)); d > want*h*h/8*math.Exp(h)+3 {
				t.Fatalf("family %d: table(%v) = %d, not %d", family, x, table.Weight(x), got)
			}
			if table.Weight(x) > last {
				t.Fatalf("family %d: the table rises at %v", family, x)
			}
			last = table.Weight(x)
		}
		for _, x := range []float64{700, 1e300, math.Inf(1)} {
			if b.Weight(x) != 1 || table.Weight(x) > table.Weight(tableTop) {
				t.Errorf("family %d: weight(%v) = %d, in the table %d", family, x, b.Weight(x), table.Weight(x))
			}
		}
		for _, x := range []float64{-top, -700, -1e300, math.Inf(-1)} {
			if b.Weight(x) < b.Weight(-top) || b.Weight(x) > 1<<unitBits || table.Weight(x) > 1<<unitBits {
				t.Errorf("family %d: weight(%v) = %d, in the table %d", family, x, b.Weight(x), table.Weight(x))
			}
		}
	}
	// The sum over any number of sites is below 2⁶².
	for sites := 1; sites <= 1<<40; sites *= 2 {
		hi := new(big.Int).Mul(new(big.Int).SetUint64(NewBias(HeatBath, sites, 1).Weight(math.Inf(-1))), big.NewInt(int64(sites)))
		if hi.BitLen() > 62 {
			t.Errorf("%d sites: a sum of %v", sites, hi)
		}
	}
}

func TestProduct(t *testing.T) {
	p := One
	want := 0.0
	r := rand.New(rand.NewPCG(1, 2))
	const n = 5000
	for range n {
		const total = 1 << 62
		weight := uint64(math.Exp(-43*r.Float64()) * total) // from the total down to 2⁻⁶² of it
		p.Times(weight, total)
		want += math.Log(float64(weight) / total)
	}
	// n products, and logarithms whose sum is up to 10⁵, with one rounding error each.
	if d := math.Abs(p.Log() - want); d > n*0x1p-52*math.Abs(want) {
		t.Errorf("log of the product %v, want %v", p.Log(), want)
	}
}

// Below rejects words that would make a number too frequent: for n = 3·2⁶², one
// word in four.
func TestBelowIsExact(t *testing.T) {
	const n = 3 << 62
	r := rand.New(&source{[]uint64{0, 1, 2, 3, 4, math.MaxUint64, 5}})
	// word·n mod 2⁶⁴ must be at least 2⁶⁴ mod n = 2⁶²; the words 0 and 4 do not satisfy this.
	var got []uint64
	for range 5 {
		got = append(got, Below(r, n))
	}
	want := []uint64{0, 1, 2, n - 1, 3}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("drawn %v, want %v", got, want)
		}
	}
	g := rand.New(rand.NewPCG(3, 4))
	counts := [7]float64{}
	for range 70_000 {
		counts[Below(g, 7)]++
	}
	x2 := 0.0
	for _, c := range counts {
		x2 += (c - 10_000) * (c - 10_000) / 10_000
	}
	if z := (x2 - 6) / math.Sqrt(12); z > 6 {
		t.Errorf("numbers below 7 drawn %v times: z = %.1f, want at most 6", counts, z)
	}
}

// Of all x below the total, Find maps as many to a site as its weight.
func TestFindGoesThroughAllShares(t *testing.T) {
	for _, sites := range []int{1, 2, 63, 64, 65, 200} {
		b := NewBlocks(sites)
		l := NewLists(3, sites)
		l.Clear(-1)
		weight := [3]uint64{5, 1, 2}
		for c, w := range weight {
			l.List[c].Weight[1] = w
		}
		total := uint64(0)
		r := rand.New(rand.NewPCG(uint64(sites), 1))
		for i := range sites {
			c := uint8(r.IntN(3))
			l.Node[i].List = c
			l.Add(int32(i))
			b.Set(i, 9) // to be overwritten
			b.Set(i, weight[c])
			total += weight[c]
		}
		// Some sites move to another list, and move back or are removed.
		for i := range sites {
			switch i % 3 {
			case 0:
				c := l.Node[i].List
				l.Move(int32(i), (c+1)%3)
				l.Move(int32(i), c)
			case 1:
				l.Remove(int32(i))
				total -= weight[l.Node[i].List]
				b.Set(i, 0)
			}
		}
		if b.Total != total || !summed(b) {
			t.Fatalf("%d sites: total %d, want %d", sites, b.Total, total)
		}
		inLists, inBlocks := make([]uint64, sites), make([]uint64, sites)
		for x := range total {
			inLists[l.Find(x, 0, 1)]++
			inBlocks[b.Find(x)]++
		}
		for i := range sites {
			want := weight[l.Node[i].List]
			if i%3 == 1 {
				want = 0
			}
			if inLists[i] != want || inBlocks[i] != want {
				t.Fatalf("%d sites: site %d found %d times in lists, %d in blocks, want %d", sites, i, inLists[i], inBlocks[i], want)
			}
		}
		b.Leaf[sites/2]++
		if summed(b) {
			t.Error("wrong sums pass")
		}
	}
}
