package train

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"gorbm/data"
	"gorbm/rbm"
)

// Components are the principal components of rows of binary inputs.
type Components struct {
	Mean      []float64   // mean of each input
	Axes      [][]float64 // unit vectors, in order of falling variance; the entry of largest size in each is positive
	Variances []float64   // variance of the rows along each axis
	Total     float64     // sum of the variances of all inputs
}

// componentsKey is the key of the start of PrincipalComponents.
var componentsKey = rbm.NewKey(0).Child(0x504341)

// PrincipalComponents returns the first n principal components of the weighted rows of set: eigenvectors of
// the covariance matrix of the inputs. They are found by subspace iteration in n + 6 dimensions. Each
// iteration passes over the rows once. The iteration ends after 300 passes, or when no variance has changed
// by more than 1e-9 of its value.
//
// It returns an error if the context ends, if set has fewer than two rows or fewer than n inputs, or if the
// eigenvalues are not found.
func PrincipalComponents(ctx context.Context, set *data.Set, n int) (*Components, error) {
	cols := set.X.Cols
	if set.Len() < 2 || cols < n {
		return nil, fmt.Errorf("%s has %d rows of %d inputs; %d principal components need two rows and %[4]d inputs or more", set.Name, set.Len(), cols, n)
	}
	c := &Components{Mean: make([]float64, cols)}
	total := set.TotalWeight()
	for r := range set.Len() {
		w := set.Weight(int32(r)) / total
		set.X.Each(r, func(i int) { c.Mean[i] += w })
	}
	for _, p := range c.Mean {
		c.Total += float64(p * (1 - p))
	}
	const more, most, tolerance = 6, 300, 1e-9
	k := min(n+more, cols)
	at := mat.NewDense(cols, k, nil)
	random := componentsKey.Rand()
	for i := range at.RawMatrix().Data {
		at.RawMatrix().Data[i] = random.NormFloat64()
	}
	var q mat.Dense
	previous := make([]float64, n)
	for range most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var qr mat.QR
		qr.Factorize(at)
		qr.QTo(&q)
		basis := mat.DenseCopyOf(q.Slice(0, cols, 0, k))
		next := c.times(set, basis, total)
		// Ritz values and vectors.
		var small mat.Dense
		small.Mul(basis.T(), next)
		half := mat.NewSymDense(k, nil)
		for i := range k {
			for j := i; j < k; j++ {
				half.SetSym(i, j, (small.At(i, j)+small.At(j, i))/2)
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(half, true) {
			return nil, fmt.Errorf("%s: principal components: the eigenvalues of its covariance were not found", set.Name)
		}
		values := eigen.Values(nil) // ascending
		var vectors, axes mat.Dense
		eigen.VectorsTo(&vectors)
		axes.Mul(basis, &vectors)
		c.Variances, c.Axes = nil, nil
		settled := true
		for a := range n {
			c.Variances = append(c.Variances, max(0, values[k-1-a]))
			c.Axes = append(c.Axes, pointed(mat.Col(nil, k-1-a, &axes)))
			settled = settled && math.Abs(c.Variances[a]-previous[a]) <= float64(tolerance*c.Variances[a])
		}
		if settled {
			break
		}
		copy(previous, c.Variances)
		at = next
	}
	return c, nil
}

// pointed flips the sign of x, in place, if its entry of largest size is negative.
func pointed(x []float64) []float64 {
	at := 0
	for i := range x {
		if math.Abs(x[i]) > math.Abs(x[at]) {
			at = i
		}
	}
	if x[at] < 0 {
		for i := range x {
			x[i] = -x[i]
		}
	}
	return x
}

// times returns the product of the rows' covariance matrix, inputs × inputs, and basis, inputs × k.
func (c *Components) times(set *data.Set, basis *mat.Dense, total float64) *mat.Dense {
	cols, k := basis.Dims()
	from := basis.RawMatrix().Data
	shift := make([]float64, k)
	for i, m := range c.Mean {
		for a := range k {
			shift[a] += float64(m * from[i*k+a])
		}
	}
	next := mat.NewDense(cols, k, nil)
	to := next.RawMatrix().Data
	y := make([]float64, k)
	for r := range set.Len() {
		for a := range y {
			y[a] = -shift[a]
		}
		set.X.Each(r, func(i int) {
			for a, x := range from[i*k : (i+1)*k] {
				y[a] += x
			}
		})
		w := set.Weight(int32(r)) / total
		for a := range y {
			y[a] = float64(y[a] * w)
		}
		set.X.Each(r, func(i int) {
			for a, x := range y {
				to[i*k+a] += x
			}
		})
	}
	return next // subtracting the mean row from x too would add nothing: the weighted y sum to zero
}

// Project returns the coordinates of the rows of set along the axes, with Mean as the origin: one slice for
// each axis.
func (c *Components) Project(set *data.Set) [][]float64 {
	all := make([][]float64, len(c.Axes))
	for a, axis := range c.Axes {
		origin := 0.0
		for i, m := range c.Mean {
			origin += float64(m * axis[i])
		}
		all[a] = make([]float64, set.Len())
		for r := range all[a] {
			x := -origin
			set.X.Each(r, func(i int) { x += axis[i] })
			all[a][r] = x
		}
	}
	return all
}
