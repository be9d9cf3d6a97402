package main

import (
	"math"
	"testing"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/claims/claimstest"
)

func TestQuick(t *testing.T) { claimstest.Quick(t, experiment(), run) }

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment()) }

// The best estimator is that of the least mean; it wins if it beats pcd by three standard
// errors, and shares the place with those that it does not beat.
func TestWinner(t *testing.T) {
	d := clusters[0]
	table := func(values map[string][3]float64) *claims.Table {
		var points []claims.Point
		for name, ys := range values {
			for k, y := range ys {
				points = append(points, claims.Point{Panel: d.name, Curve: name, Repeat: k + 1, X: 1, Y: y})
			}
		}
		return claims.TableOf(points...)
	}
	v := winner(table(map[string][3]float64{"pcd": {5, 6, 5}, "pt": {1, 2, 1.1}, "jar": {1, 2.1, 1.05}, "cd": {3, 4, 3}}), d, 1)
	if v.best != "pt" || !v.sure || len(v.others) < 1 || v.others[len(v.others)-1] != "jar" && v.others[0] != "jar" {
		t.Errorf("%+v", v)
	}
	for _, name := range v.others {
		if name == "cd" || name == "pcd" {
			t.Errorf("%s is not beaten: %+v", name, v)
		}
	}
	if v := winner(table(map[string][3]float64{"pcd": {5, 1, 5}, "pt": {4, 1.1, 4.5}}), d, 1); v.best != "pt" || v.sure {
		t.Errorf("%+v", v)
	}
}

// The law of unequal modes sums to 1, its modes differ in the distance, and the rows are
// draws from it.
func TestUnequal(t *testing.T) {
	const distance = 4
	set, err := unequal(distance).load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, entropy, square := 0., 0., 0.
	for x := range uint64(1) << (2 * distance) {
		l := set.LogProb([]uint64{x}, -1)
		sum += math.Exp(l)
		entropy -= l * math.Exp(l)
		square += l * l * math.Exp(l)
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities sum to %g", sum)
	}
	mean := 0.
	for r := range set.Len() {
		mean -= set.LogProb(set.X.Row(r), -1) / float64(set.Len())
	}
	if z := (mean - entropy) / math.Sqrt((square-entropy*entropy)/float64(set.Len())); math.Abs(z) > 4 {
		t.Errorf("rows have a mean log probability of %g, the law %g: %.1f standard errors", -mean, -entropy, z)
	}
	ones, zeros := set.LogProb([]uint64{0xFF}, -1), set.LogProb([]uint64{0}, -1)
	if math.Abs(ones-zeros-math.Log(8)) > 1e-3 { // 8 of 15 against 1 of 15, but for rows of other modes, 0.02⁴/8
		t.Errorf("the first mode is %g times as probable as the last", math.Exp(ones-zeros))
	}
	if half := set.LogProb([]uint64{0xF0}, -1); math.Abs(ones-half-math.Log(2)) > 1e-3 {
		t.Errorf("the first mode is %g times as probable as the second", math.Exp(ones-half))
	}
}
