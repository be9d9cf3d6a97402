package sample

import (
	"context"
	"math"
	"testing"

	"gorbm/rbm"
)

// gappy returns a model with a bit, a variable of three states and one of four states. All its states
// can be enumerated.
func gappy() *rbm.RBM {
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Bernoulli, Units: 1}, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Softmax, Units: 4})
	m.Randomize(2, rbm.NewKey(3))
	return m
}

// joint returns the probabilities of all 2 × 3 × 4 states of gappy.
func joint(m *rbm.RBM) (p [2][3][4]float64) {
	v, f := rbm.NewBits(1, 8), make([]float64, 1)
	cells, sum := Cells(m), 0.0
	for a := range 2 {
		for b := range 3 {
			for c := range 4 {
				cells[0].put(v, 0, a, 0)
				cells[1].put(v, 0, b, 0)
				cells[2].put(v, 0, c, 0)
				m.FreeEnergy(f, v)
				p[a][b][c] = math.Exp(-f[0])
				sum += p[a][b][c]
			}
		}
	}
	for a := range p {
		for b := range p[a] {
			for c := range p[a][b] {
				p[a][b][c] /= sum
			}
		}
	}
	return p
}

// Rows with each pattern of gaps reach the conditional distributions.
func TestGapsAgainstEnumeration(t *testing.T) {
	m := gappy()
	p := joint(m)
	const rows = 4000
	g := NewGaps(m, rows)
	mask := func(r int, cells ...int) {
		for _, i := range cells {
			c := g.cells[i]
			for k := range c.Units {
				g.Missing.Set(r, c.First+k, true)
			}
		}
	}
	for r := range rows {
		g.cells[0].put(g.V, r, 1, 0)
		g.cells[1].put(g.V, r, 2, 0)
		g.cells[2].put(g.V, r, 0, 0)
		if r < rows/2 {
			mask(r, 1, 2) // two cells in the first half of the rows, one in the others
		} else {
			mask(r, 2)
		}
	}
	for step := range 60 {
		g.Move(m, rbm.NewKey(5).Child(uint64(step)))
	}
	var two [3][4]float64
	var one [4]float64
	for r := range rows {
		b, c := g.cells[1].Level(g.V, r), g.cells[2].Level(g.V, r)
		if g.cells[0].Level(g.V, r) != 1 || r >= rows/2 && b != 2 {
			t.Fatalf("row %d: a known cell has changed", r)
		}
		if r < rows/2 {
			two[b][c]++
		} else {
			one[c]++
		}
	}
	sum2, sum1 := 0.0, 0.0
	for b := range 3 {
		for c := range 4 {
			sum2 += p[1][b][c]
		}
	}
	for c := range 4 {
		sum1 += p[1][2][c]
	}
	chi2, chi1 := 0.0, 0.0
	for c := range 4 {
		for b := range 3 {
			want := rows / 2 * p[1][b][c] / sum2
			chi2 += (two[b][c] - want) * (two[b][c] - want) / want
		}
		want := rows / 2 * p[1][2][c] / sum1
		chi1 += (one[c] - want) * (one[c] - want) / want
	}
	if z := (chi2 - 11) / math.Sqrt(22); z > 6 {
		t.Errorf("two missing cells: z = %.1f, want at most 6", z)
	}
	if z := (chi1 - 3) / math.Sqrt(6); z > 6 {
		t.Errorf("one missing cell: z = %.1f, want at most 6", z)
	}
	// Broken: draws of two cells do not agree with the distribution that ignores the known bit.
	broken, total := 0.0, 0.0
	for b := range 3 {
		for c := range 4 {
			total += p[0][b][c]
		}
	}
	for b := range 3 {
		for c := range 4 {
			want := rows / 2 * p[0][b][c] / total
			broken += (two[b][c] - want) * (two[b][c] - want) / want
		}
	}
	if z := (broken - 11) / math.Sqrt(22); z < 20 {
		t.Errorf("the draws given another bit are as good: z = %.1f, want at least 20", z)
	}
}

// Scores of rows with 0, 1 and 2 missing cells agree with enumeration.
func TestScoresAgainstEnumeration(t *testing.T) {
	m := gappy()
	p := joint(m)
	g := NewGaps(m, 3)
	for r := range 3 {
		g.cells[0].put(g.V, r, 1, 0)
		g.cells[1].put(g.V, r, 2, 0)
		g.cells[2].put(g.V, r, 0, 0)
	}
	for r, cells := range [][]int{nil, {2}, {1, 2}} {
		for _, i := range cells {
			for k := range g.cells[i].Units {
				g.Missing.Set(r, g.cells[i].First+k, true)
			}
		}
	}
	logp := [][]float64{make([]float64, 9), make([]float64, 9), make([]float64, 9)}
	if err := g.Scores(context.Background(), m, logp, make([]float64, 3), true, rbm.NewKey(9)); err != nil {
		t.Fatal(err)
	}
	check := func(what string, got float64, num, den float64, tol float64) {
		t.Helper()
		if want := math.Log(num / den); !(math.Abs(got-want) <= tol) {
			t.Errorf("%s: log p is %v, want %v ± %v", what, got, want, tol)
		}
	}
	sum := func(as, bs, cs []int) (s float64) {
		for _, a := range as {
			for _, b := range bs {
				for _, c := range cs {
					s += p[a][b][c]
				}
			}
		}
		return s
	}
	a, b, c := []int{0, 1}, []int{0, 1, 2}, []int{0, 1, 2, 3}
	one := func(k int) []int { return []int{k} }
	const tol = 1e-6
	for k := range 2 {
		check("no gap, the bit", logp[0][k], p[k][2][0], sum(a, one(2), one(0)), 1e-6)
		check("one gap, the bit", logp[1][k], sum(one(k), one(2), c), sum(a, one(2), c), tol)
		check("two gaps, the bit", logp[2][k], sum(one(k), b, c), sum(a, b, c), tol)
	}
	for k := range 4 {
		check("no gap", logp[0][5+k], p[1][2][k], sum(one(1), one(2), c), 1e-6)
		check("the one gap", logp[1][5+k], p[1][2][k], sum(one(1), one(2), c), 1e-6)
		check("one of two gaps", logp[2][5+k], sum(one(1), b, one(k)), sum(one(1), b, c), tol)
	}
}

// Free energies of rows with zero to three missing cells agree with enumeration.
func TestFreeEnergyOfGaps(t *testing.T) {
	m := gappy()
	p := joint(m)
	g := NewGaps(m, 4)
	whole := make([]float64, 4)
	for r := range 4 {
		g.cells[0].put(g.V, r, 1, 0)
		g.cells[1].put(g.V, r, 2, 0)
		g.cells[2].put(g.V, r, 0, 0)
		for i := 3 - r; i < 3; i++ {
			for k := range g.cells[i].Units {
				g.Missing.Set(r, g.cells[i].First+k, true)
			}
		}
	}
	m.FreeEnergy(whole, g.V)
	logZ := -whole[0] - math.Log(p[1][2][0])
	free := make([]float64, 4)
	if err := g.FreeEnergy(context.Background(), m, free, make([]float64, 4), rbm.NewKey(3)); err != nil {
		t.Fatal(err)
	}
	var sums [4]float64
	sums[0] = p[1][2][0]
	for a := range 2 {
		for b := range 3 {
			for c := range 4 {
				if a == 1 && b == 2 {
					sums[1] += p[a][b][c]
				}
				if a == 1 {
					sums[2] += p[a][b][c]
				}
				sums[3] += p[a][b][c]
			}
		}
	}
	for r := range free {
		if want := -math.Log(sums[r]) - logZ; !(math.Abs(free[r]-want) <= 1e-6) {
			t.Errorf("%d gaps: F is %v, want %v", r, free[r], want)
		}
	}
}
