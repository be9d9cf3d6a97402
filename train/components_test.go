package train

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/data"
)

// Axes and variances are those of a full eigendecomposition of the covariance matrix, for weighted rows
// too, and projections have these variances.
func TestPrincipalComponents(t *testing.T) {
	ctx := context.Background()
	for _, weighted := range []bool{false, true} {
		set, _, err := data.Load(ctx, "toy", data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		set = set.Take(data.RowNumbers(0, 500))
		if weighted {
			set.Weights = make([]float64, 500)
			for r := range set.Weights {
				set.Weights[r] = 0.5 + float64(r%7)
			}
		}
		c, err := PrincipalComponents(ctx, set, 2)
		if err != nil {
			t.Fatal(err)
		}
		n := set.X.Cols
		cov, trace := mat.NewSymDense(n, nil), 0.0
		for i := range n {
			for j := i; j < n; j++ {
				sum := 0.0
				for r := range set.Len() {
					x := [2]float64{-c.Mean[i], -c.Mean[j]}
					for k, u := range [2]int{i, j} {
						if set.X.Get(r, u) {
							x[k]++
						}
					}
					sum += set.Weight(int32(r)) * x[0] * x[1]
				}
				cov.SetSym(i, j, sum/set.TotalWeight())
			}
			trace += cov.At(i, i)
		}
		var eigen mat.EigenSym
		eigen.Factorize(cov, true)
		values := eigen.Values(nil)
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		if math.Abs(c.Total-trace) > 1e-12 {
			t.Errorf("the variances sum to %v, want %v", c.Total, trace)
		}
		along, total := c.Project(set), set.TotalWeight()
		for a := range c.Axes {
			if got, want := c.Variances[a], values[n-1-a]; math.Abs(got-want) > 1e-9 {
				t.Errorf("variance %d is %v, want %v", a, got, want)
			}
			dot := mat.Dot(mat.NewVecDense(n, c.Axes[a]), vectors.ColView(n-1-a))
			if math.Abs(math.Abs(dot)-1) > 1e-6 {
				t.Errorf("axis %d has the cosine %v with the eigenvector", a, dot)
			}
			sum := 0.0
			for r, x := range along[a] {
				sum += set.Weight(int32(r)) / total * x * x
			}
			if math.Abs(sum-c.Variances[a]) > 1e-9 {
				t.Errorf("projections on axis %d have the mean square %v, want %v", a, sum, c.Variances[a])
			}
		}
		if _, err := PrincipalComponents(ctx, set.Take(data.RowNumbers(0, 1)), 2); err == nil {
			t.Error("components of one row")
		}
	}
}
