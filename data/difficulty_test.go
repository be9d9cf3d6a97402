package data

import (
	"context"
	"math"
	"math/bits"
	"testing"
)

// logisticError trains multinomial logistic regression on a set of ten classes
// by averaged stochastic gradient ascent and returns its error on another.
func logisticError(train, test *Set, epochs int) float64 {
	const classes, batch = 10, 1
	n, cols := train.Len(), train.X.Cols
	w := make([][classes]float32, cols+1) // the last row is the bias
	mean := make([][classes]float32, cols+1)
	ones := make([]int, 0, cols+1)
	list := func(x []uint64) {
		ones = ones[:0]
		for i, word := range x {
			for ; word != 0; word &= word - 1 {
				ones = append(ones, i*64+bits.TrailingZeros64(word))
			}
		}
		ones = append(ones, cols)
	}
	score := func(w [][classes]float32) (s [classes]float32) {
		for _, j := range ones {
			for c := range s {
				s[c] += w[j][c]
			}
		}
		return s
	}
	b := NewBatches(n, batch, dataKey(1, 99))
	row := make([]int32, batch)
	total := epochs * n
	for step := range total {
		b.Rows(row, step)
		i := int(row[0])
		list(train.X.Row(i))
		s := score(w)
		most, sum := s[0], float32(0)
		for _, v := range s {
			most = max(most, v)
		}
		for c, v := range s {
			s[c] = float32(math.Exp(float64(v - most)))
			sum += s[c]
		}
		rate := 0.02 * (1 - float32(step)/float32(total))
		var g [classes]float32
		for c := range s {
			g[c] = -rate * s[c] / sum
		}
		g[train.Y[i]] += rate
		for _, j := range ones {
			for c := range g {
				w[j][c] += g[c]
			}
		}
		// The mean of the weights over the last steps has a smaller error than the last weights.
		if step > total/2 && step%1000 == 0 {
			for j := range w {
				for c := range w[j] {
					mean[j][c] += w[j][c]
				}
			}
		}
	}
	wrong := 0
	for i := range test.Len() {
		list(test.X.Row(i))
		s := score(mean)
		best := 0
		for c, v := range s {
			if v > s[best] {
				best = c
			}
		}
		if best != int(test.Y[i]) {
			wrong++
		}
	}
	return float64(wrong) / float64(test.Len())
}

// neighbourError returns the error of the nearest neighbour in Hamming
// distance, on the first n rows of test.
func neighbourError(train, test *Set, n int) float64 {
	wrong := make([]bool, n)
	forBlocks(context.Background(), n, 10, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x := test.X.Row(i)
			best, least := 0, math.MaxInt
			for k := range train.Len() {
				d := 0
				y := train.X.Row(k)[:len(x)]
				for j, w := range x {
					d += bits.OnesCount64(w ^ y[j])
				}
				if d < least {
					best, least = k, d
				}
			}
			wrong[i] = train.Y[best] != test.Y[i]
		}
	})
	e := 0
	for _, w := range wrong {
		if w {
			e++
		}
	}
	return float64(e) / float64(n)
}

// The set is about as hard as MNIST, where these two classifiers have errors of some 8 % and 4 % on
// thresholded pixels. It is harder than toys, and easier than what a person could not read. The rows, and
// so the errors, are fixed. A change of the rendering must stay within the bounds.
func TestFontDigitsDifficulty(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	train, test := mustLoad(t, "fontdigits")
	const epochs, rows = 2, 500 // 6 and 2000 give the same, in four times the time
	logistic := logisticError(train, test, epochs)
	t.Logf("logistic regression errs on %.2f %%", 100*logistic)
	if logistic < 0.06 || logistic > 0.15 {
		t.Errorf("logistic regression errs on %.3f, want 0.06 to 0.15", logistic)
	}
	neighbour := neighbourError(train, test, rows)
	t.Logf("the nearest neighbour errs on %.2f %% of %d rows", 100*neighbour, rows)
	if neighbour < 0.01 || neighbour > 0.05 {
		t.Errorf("the nearest neighbour errs on %.3f, want 0.01 to 0.05", neighbour)
	}
}
