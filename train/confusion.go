package train

import (
	"math"

	"gorbm/data"
)

// A Confusion counts rows, by their weights, by their class and by the class that a model takes them
// for.
type Confusion struct {
	Classes int
	Rows    []float64 // Classes × Classes, a line for each true class
}

// Confuse returns the confusion of log p(y|x), rows × classes, and the labels y, by the weights of
// the rows, which are nil if they are equal.
func Confuse(logp []float64, y []int32, weights []float64, classes int) Confusion {
	c := Confusion{classes, make([]float64, classes*classes)}
	for i, label := range y {
		c.Rows[int(label)*classes+Likeliest(logp[i*classes:(i+1)*classes])] += weightAt(weights, i)
	}
	return c
}

// weightAt returns weights[i], or 1 if there are none.
func weightAt(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// class returns three numbers of rows: of class k, of class k and read as k, and of any class and read
// as k.
func (c Confusion) class(k int) (of, right, read float64) {
	for j := range c.Classes {
		of += c.Rows[k*c.Classes+j]
		read += c.Rows[j*c.Classes+k]
	}
	return of, c.Rows[k*c.Classes+k], read
}

// BalancedError returns the mean over the classes that have rows of the fraction of their
// rows that are read as another class. Always answering one of n classes has 1 − 1/n,
// however many rows it has. Of no rows it is NaN.
func (c Confusion) BalancedError() float64 {
	rows, wrong := make([]float64, c.Classes), make([]float64, c.Classes)
	for k := range c.Classes {
		of, right, _ := c.class(k)
		rows[k], wrong[k] = of, of-right
	}
	return balancedError(rows, wrong)
}

// balancedError returns the mean of wrong/rows over the classes that have rows, NaN of no rows.
func balancedError(rows, wrong []float64) float64 {
	sum, n := 0.0, 0
	for k, count := range rows {
		if count > 0 {
			sum += wrong[k] / count
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// Never returns the classes that have rows, and that no row is taken for.
func (c Confusion) Never() (classes []int) {
	for k := range c.Classes {
		if of, _, read := c.class(k); of > 0 && read == 0 {
			classes = append(classes, k)
		}
	}
	return classes
}

// Unequal reports whether some class has more than twice the rows of another that has
// some: then the error says little of the smaller.
func (c Confusion) Unequal() bool {
	rows := make([]float64, c.Classes)
	for k := range rows {
		rows[k], _, _ = c.class(k)
	}
	return unequal(rows)
}

// unequal is Confusion.Unequal of the rows of each class.
func unequal(rows []float64) bool {
	least, most := math.Inf(1), 0.0
	for _, of := range rows {
		if of > 0 {
			least, most = min(least, of), max(most, of)
		}
	}
	return most > float64(2*least)
}

// classRows returns the rows of each class of set by their weights; nil if it has no classes.
func classRows(set *data.Set) []float64 {
	if set.Y == nil {
		return nil
	}
	rows := make([]float64, len(set.Classes))
	for _, r := range set.Labelled() {
		rows[set.Y[r]] += set.Weight(r)
	}
	return rows
}

// unequalClasses is Confusion.Unequal of the classes of set, by its rows or by their weights: weights
// that even out the classes do not hide that a class has few rows.
func unequalClasses(set *data.Set) bool {
	rows := *set
	rows.Weights = nil
	return unequal(classRows(set)) || unequal(classRows(&rows))
}

// Skewed reports whether one class of set is so frequent that always answering it has less than half the
// error that it would have with classes of equal size. Then the balanced error, but not the error, tells a
// model that knows the classes from one that always answers the largest.
func Skewed(set *data.Set) bool {
	sum, most, n := 0.0, 0.0, 0
	for _, of := range classRows(set) {
		if of > 0 {
			sum, most, n = sum+of, max(most, of), n+1
		}
	}
	return n > 1 && float64(2*float64(sum-most)) < sum-sum/float64(n)
}
