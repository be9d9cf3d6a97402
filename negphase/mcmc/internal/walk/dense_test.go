package walk

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// levels runs f at every level that the machine supports.
func levels(t *testing.T, f func(t *testing.T)) {
	for l := Go; l <= Best(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			defer SetLevel(l)()
			f(t)
		})
	}
}

// A layer is a random input of the kernels.
type layer struct {
	field, row []int32
	sign, unit []float32
	side       []uint32
}

func randomLayer(units int, seed uint64) layer {
	r := rbm.NewKey(seed).Rand()
	n := (units + Lanes - 1) &^ (Lanes - 1)
	l := layer{make([]int32, n), make([]int32, n), make([]float32, n), make([]float32, n), make([]uint32, n)}
	for i := range n {
		l.field[i] = int32(r.NormFloat64() * (1 << 24))
		l.row[i] = int32(r.NormFloat64() * (1 << 22))
		l.sign[i] = float32(2*r.IntN(2)-1) * 3 * 0x1p-22
		if i < units && r.IntN(8) > 0 {
			l.unit[i] = Unit
		}
		l.side[i] = -uint32(r.IntN(2))
	}
	// The largest and the least fields, beyond the range where weights are clipped.
	l.field[0], l.row[0] = 1<<30, 1<<30-1
	l.field[1], l.row[1] = -1<<30, -1<<30
	return l
}

func (l layer) clone() layer {
	l.field = slices.Clone(l.field)
	return l
}

// results returns the outputs of the three kernels.
func (l layer) results(down bool) (all []any) {
	one := l.clone()
	d := NewDense(len(l.field))
	d.Weigh(one.field, one.row, down, one.sign, one.unit)
	two := l.clone()
	pair := [2]Dense{NewDense(len(l.field)), NewDense(len(l.field))}
	WeighTwo(&pair, two.field, two.row, down, two.sign, two.unit, &[2]float32{.9, 1.07})
	sides := l.clone()
	s := [2]Sums{NewSums(len(l.field)), NewSums(len(l.field))}
	leaf := make([]uint32, len(l.field))
	WeighSides(&s, sides.field, sides.row, down, sides.sign, sides.unit, sides.side, leaf)
	return []any{one.field, d, two.field, pair, sides.field, s, leaf}
}

var layerSizes = []int{1, 16, 17, 100, 500, 784, 1024, 1025, 2100}

func TestWeightsOfEqualBitsAtAllLevels(t *testing.T) {
	for _, units := range layerSizes {
		for _, down := range []bool{false, true} {
			l := randomLayer(units, uint64(units))
			restore := SetLevel(Go)
			want := l.results(down)
			restore()
			levels(t, func(t *testing.T) {
				got := l.results(down)
				for i := range want {
					if !equal(got[i], want[i]) {
						t.Errorf("%d units, down %v: result %d differs", units, down, i)
					}
				}
			})
		}
	}
}

// equal compares results.
func equal(a, b any) bool {
	sums := func(a, b Sums) bool { return a.Total == b.Total && slices.Equal(a.Sum, b.Sum) }
	dense := func(a, b Dense) bool { return sums(a.Sums, b.Sums) && slices.Equal(a.Leaf, b.Leaf) }
	switch a := a.(type) {
	case []int32:
		return slices.Equal(a, b.([]int32))
	case []uint32:
		return slices.Equal(a, b.([]uint32))
	case Dense:
		return dense(a, b.(Dense))
	case [2]Dense:
		return dense(a[0], b.([2]Dense)[0]) && dense(a[1], b.([2]Dense)[1])
	case [2]Sums:
		return sums(a[0], b.([2]Sums)[0]) && sums(a[1], b.([2]Sums)[1])
	}
	return false
}

// The error of Heat is at most that of its cubic plus the rounding down to a whole
// number.
func TestHeat(t *testing.T) {
	const cubic = 1.1e-4 // 1.02e-4 plus rounding errors
	for i := -4000; i <= 4000; i++ {
		x := float64(i) / 200
		field := int32(math.Round(x * (1 << 20)))
		x = float64(field) / (1 << 20)
		got := float64(Heat(field, 0x1p-20, Unit))
		want := Unit / (1 + math.Exp2(min(max(x, -heatTop), heatTop)))
		// The error of e = 2ᵗ is at most cubic·e, so the relative error of 1/(1+e) is at most cubic·e/(1+e).
		if math.Abs(got-want) > want*cubic+1 {
			t.Errorf("weight at %v is %v, want %v", x, got, want)
		}
	}
	for _, f := range []int32{math.MinInt32, math.MaxInt32} {
		if w := Heat(f, 1e38, Unit); w == 0 || w > Unit {
			t.Errorf("weight of field %d is %d", f, w)
		}
		if Heat(f, 1e38, 0) != 0 {
			t.Error("a unit that does not move has a weight")
		}
	}
}

// Of the whole numbers below the total, Find maps as many to a unit as its weight.
func TestDenseDrawsByWeight(t *testing.T) {
	for _, units := range []int{5, 40, 1030} {
		l := randomLayer(units, 3)
		for i := range l.unit {
			l.unit[i] /= Unit / 8 // small weights: all draws can be counted
		}
		n := len(l.unit)
		d := NewDense(n)
		d.Weigh(l.field, l.row, false, l.sign, l.unit)
		s := [2]Sums{NewSums(n), NewSums(n)}
		leaf := make([]uint32, n)
		WeighSides(&s, l.field, make([]int32, n), false, l.sign, l.unit, l.side, leaf)
		count, sides := make([]uint32, n), [2][]uint32{make([]uint32, n), make([]uint32, n)}
		for x := range d.Total {
			count[d.Find(x)]++
		}
		for k := range s {
			for x := range s[k].Total {
				sides[k][s[k].FindOn(leaf, l.side, uint32(k)-1, x)]++
			}
		}
		for i := range n {
			if count[i] != d.Leaf[i] || sides[0][i] != leaf[i]&^l.side[i] || sides[1][i] != leaf[i]&l.side[i] {
				t.Fatalf("%d units: unit %d of weight %d falls to %d and %d, %d draws", units, i, d.Leaf[i], count[i], sides[0][i], sides[1][i])
			}
		}
		total := d.Total
		d.Set(3, d.Leaf[3]+5)
		if d.Total != total+5 || d.Find(d.Total-1) < 0 {
			t.Error("Set does not change the total")
		}
	}
}

func TestRowsOfEqualBitsAtAllLevels(t *testing.T) {
	r := rbm.NewKey(9).Rand()
	for _, shape := range [][2]int{{16, 16}, {32, 64}, {48, 112}, {80, 144}} {
		rows, cols := shape[0], shape[1]
		x := make([]float32, rows*cols)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		x[0], x[1] = 2.5/1024, -3.5/1024 // ties
		all := func() (sum, less, q, transposed, tail []int32, column, row []float32) {
			q, transposed, tail = make([]int32, len(x)), make([]int32, len(x)), make([]int32, 11)
			Quantize(tail, x[:11], 1024) // the last three numbers do not fill a vector
			column, row = make([]float32, cols), make([]float32, rows)
			for i := 0; i < rows; i += Square {
				Take(q[i*cols:], cols, transposed[i:], rows, x[i*cols:], cols, 1024, column, (*[Square]float32)(row[i:]))
			}
			sum, less = slices.Clone(q[:cols]), slices.Clone(q[:cols])
			AddRows(sum, q, cols, []int32{3, 0, int32(rows) - 1})
			SubtractRows(less, q, cols, []int32{5, 2})
			AddRows(sum, q, cols, nil)
			SubtractRows(less, q, cols, nil)
			return
		}
		restore := SetLevel(Go)
		sum, less, q, transposed, tail, column, row := all()
		restore()
		if q[0] != 2 || q[1] != -4 || transposed[rows+2] != q[2*cols+1] || !slices.Equal(tail, q[:11]) {
			t.Fatalf("%v: %d and %d are no ties to even, or transposed wrongly", shape, q[0], q[1])
		}
		sums := [2]float32{}
		for k := range cols {
			sums[0] += max(x[3*cols+k], -x[3*cols+k])
		}
		for k := range rows {
			sums[1] += max(x[k*cols+5], -x[k*cols+5])
		}
		if row[3] != sums[0] || column[5] != sums[1] {
			t.Fatalf("%v: sums of magnitudes %v and %v, want %v", shape, row[3], column[5], sums)
		}
		levels(t, func(t *testing.T) {
			s, l, p, u, e, c, n := all()
			if !slices.Equal(s, sum) || !slices.Equal(l, less) || !slices.Equal(p, q) || !slices.Equal(u, transposed) || !slices.Equal(e, tail) || !slices.Equal(c, column) || !slices.Equal(n, row) {
				t.Errorf("%v: results differ", shape)
			}
		})
	}
}
