package train

import (
	"math"

	"gorbm/data"
)

// A Confusion is a confusion matrix: the total weight of the rows of each true class that a model assigns
// to each class.
type Confusion struct {
	Classes int
	Rows    []float64 // Classes × Classes, row-major; row k has the rows of true class k
}

// Confuse returns the confusion matrix of log p(y|x) on rows with the labels y. logp has shape rows ×
// classes. weights are the rows' weights, or nil if they are equal.
func Confuse(logp []float64, y []int32, weights []float64, classes int) Confusion {
	c := Confusion{classes, make([]float64, classes*classes)}
	for i, label := range y {
		c.Rows[int(label)*classes+Likeliest(logp[i*classes:(i+1)*classes])] += weightAt(weights, i)
	}
	return c
}

// weightAt returns weights[i], or 1 if weights is nil.
func weightAt(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// class returns three sums of weights of rows. total sums over the rows of class k, read over the rows that
// are classified as k, and right over the rows of both kinds at once.
func (c Confusion) class(k int) (total, right, read float64) {
	for j := range c.Classes {
		total += c.Rows[k*c.Classes+j]
		read += c.Rows[j*c.Classes+k]
	}
	return total, c.Rows[k*c.Classes+k], read
}

// Recall returns the fraction of the rows of class k that are classified as k, and NaN if the class has no
// rows.
func (c Confusion) Recall(k int) float64 {
	total, right, _ := c.class(k)
	return right / total
}

// BalancedError returns the mean of the error rates of the classes that have rows, or NaN if none has. A
// model that always answers the same of n classes has 1 − 1/n, whatever the class sizes.
func (c Confusion) BalancedError() float64 {
	rows, wrong := make([]float64, c.Classes), make([]float64, c.Classes)
	for k := range c.Classes {
		total, right, _ := c.class(k)
		rows[k], wrong[k] = total, total-right
	}
	return balancedError(rows, wrong)
}

// balancedError returns the mean of wrong/rows over the classes that have rows, or NaN if none has.
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

// Never returns the classes that have rows but that the model assigns to no row.
func (c Confusion) Never() (classes []int) {
	for k := range c.Classes {
		if total, _, read := c.class(k); total > 0 && read == 0 {
			classes = append(classes, k)
		}
	}
	return classes
}

// Unequal reports whether one class has more than twice as many rows as another, apart from classes without
// rows. The error then says little about the smaller class.
func (c Confusion) Unequal() bool {
	rows := make([]float64, c.Classes)
	for k := range rows {
		rows[k], _, _ = c.class(k)
	}
	return unequal(rows)
}

// unequal is Confusion.Unequal, given the rows of each class.
func unequal(rows []float64) bool {
	least, most := math.Inf(1), 0.0
	for _, n := range rows {
		if n > 0 {
			least, most = min(least, n), max(most, n)
		}
	}
	return most > float64(2*least)
}

// classRows returns the total weight of the rows of each class of set, or nil if set has no labels.
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

// unequalClasses reports whether the classes of set are unequal, by their numbers of rows or by the rows'
// weights. Weights that balance the classes do not hide that a class has few rows.
func unequalClasses(set *data.Set) bool {
	rows := *set
	rows.Weights = nil
	return unequal(classRows(set)) || unequal(classRows(&rows))
}

// Skewed reports whether the largest class of set is so frequent that always answering it has less than
// half the error that it would have with classes of equal size. A model that always gives this answer may
// then have a low error, but its balanced error is high.
func Skewed(set *data.Set) bool {
	sum, most, n := 0.0, 0.0, 0
	for _, rows := range classRows(set) {
		if rows > 0 {
			sum, most, n = sum+rows, max(most, rows), n+1
		}
	}
	return n > 1 && float64(2*float64(sum-most)) < sum-sum/float64(n)
}
