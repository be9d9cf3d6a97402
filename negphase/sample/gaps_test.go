package sample

import (
	"context"
	"math"
	"slices"
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
				cells[0].put(v, 0, a)
				cells[1].put(v, 0, b)
				cells[2].put(v, 0, c)
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
		g.cells[0].put(g.V, r, 1)
		g.cells[1].put(g.V, r, 2)
		g.cells[2].put(g.V, r, 0)
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

// Log-probabilities of cells of rows with 0, 1 and 2 missing cells agree with enumeration, and so does the
// distribution of the missing ones.
func TestCellsAgainstEnumeration(t *testing.T) {
	m := gappy()
	p := joint(m)
	g := NewGaps(m, 3)
	for r := range 3 {
		g.cells[0].put(g.V, r, 1)
		g.cells[1].put(g.V, r, 2)
		g.cells[2].put(g.V, r, 0)
	}
	for r, cells := range [][]int{nil, {2}, {1, 2}} {
		for _, i := range cells {
			g.mark(r, i, true)
		}
	}
	var logp [3][3]float64
	for r := range logp {
		if stdErr, err := g.cellLogProbs(t.Context(), m, r, logp[r][:], rbm.NewKey(9)); err != nil || stdErr != 0 {
			t.Fatal(err, stdErr)
		}
	}
	check := func(what string, got float64, num, den float64) {
		t.Helper()
		if want := math.Log(num / den); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%s: log p is %v, want %v", what, got, want)
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
	check("no gap, the bit", logp[0][0], p[1][2][0], sum(a, one(2), one(0)))
	check("one gap, the bit", logp[1][0], sum(one(1), one(2), c), sum(a, one(2), c))
	check("two gaps, the bit", logp[2][0], sum(one(1), b, c), sum(a, b, c))
	check("no gap, the last cell", logp[0][2], p[1][2][0], sum(one(1), one(2), c))
	if !math.IsNaN(logp[1][2]) || !math.IsNaN(logp[2][1]) {
		t.Errorf("missing cells have log p %v and %v", logp[1][2], logp[2][1])
	}
	for r, cells := range [][]int{1: {2}, 2: {1, 2}} {
		if r == 0 {
			continue
		}
		got, post, err := g.Posterior(t.Context(), m, r, rbm.NewKey(9))
		if err != nil || post.Worst() != 0 || !slices.Equal(got, cells) {
			t.Fatalf("row %d: cells %v, error %v, %v", r, got, post.Worst(), err)
		}
		last := post.LogP[len(cells)-1]
		for k := range 4 {
			if r == 1 {
				check("the one gap", last[k], p[1][2][k], sum(one(1), one(2), c))
			} else {
				check("one of two gaps", last[k], sum(one(1), b, one(k)), sum(one(1), b, c))
			}
		}
	}
}

// Free energies of rows with zero to three missing cells agree with enumeration.
func TestFreeEnergyOfGaps(t *testing.T) {
	m := gappy()
	p := joint(m)
	g := NewGaps(m, 4)
	whole := make([]float64, 4)
	for r := range 4 {
		g.cells[0].put(g.V, r, 1)
		g.cells[1].put(g.V, r, 2)
		g.cells[2].put(g.V, r, 0)
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
