package train

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"gorbm/data"
	"gorbm/rbm/memory"
)

// SiteStatistics compares the frequencies of levels in two sets of rows with the same categorical columns,
// such as samples of a model and held-out rows.
type SiteStatistics struct {
	// Correlation of the frequencies of all levels of all columns, and slope of the samples' frequencies
	// against those of the rows.
	OnePearson float64 `json:"one_site_pearson"`
	OneSlope   float64 `json:"one_site_slope"`
	// The same for the frequencies f(a,b) of all pairs of levels in two columns. f(a,b) is mostly
	// determined by the frequencies f(a) and f(b) of the two levels.
	PairPearson float64 `json:"pair_frequency_pearson"`
	PairSlope   float64 `json:"pair_frequency_slope"`
	// The same for the connected correlations f(a,b) − f(a)·f(b).
	TwoPearson float64 `json:"two_site_pearson"`
	TwoSlope   float64 `json:"two_site_slope"`
	// The compared frequencies and correlations, for pictures.
	SamplesOne, RowsOne, SamplesPair, RowsPair, SamplesTwo, RowsTwo []float64 `json:"-"`
}

// CompareSites returns the statistics of samples against rows, which must have the same columns. Rows count
// by their weights. Each frequency is over the rows in which the cells of its columns are known. It is left
// out if one of the sets has no such row. The error says that the columns differ or are too few, that there
// are too few rows, that a statistic has no value because nothing varies, or that memory is short.
func CompareSites(samples, rows *data.Set) (s SiteStatistics, err error) {
	switch {
	case samples.Schema == nil || rows.Schema == nil || samples.Schema.Text() != rows.Schema.Text():
		return s, fmt.Errorf("%s and %s do not have the same columns of levels", samples.Name, rows.Name)
	case samples.Len() < 2 || rows.Len() < 2:
		return s, fmt.Errorf("%s has %d rows and %s %d; statistics need two or more", samples.Name, samples.Len(), rows.Name, rows.Len())
	}
	n, columns := float64(rows.X.Cols), len(rows.Schema.Columns)
	if err := memory.Check(fmt.Sprintf("comparing the pairs of %d columns", columns), float64(40*n*n)); err != nil {
		return s, err
	}
	if columns < 2 {
		return s, fmt.Errorf("%s has one column; the statistics compare pairs of columns, so give two or more", rows.Name)
	}
	x1, x12, x2 := frequencies(samples)
	y1, y12, y2 := frequencies(rows)
	x1, y1 = bothKnown(x1, y1)
	x12, y12 = bothKnown(x12, y12)
	x2, y2 = bothKnown(x2, y2)
	_, s.OneSlope = stat.LinearRegression(y1, x1, nil, false)
	_, s.PairSlope = stat.LinearRegression(y12, x12, nil, false)
	_, s.TwoSlope = stat.LinearRegression(y2, x2, nil, false)
	s.OnePearson, s.PairPearson, s.TwoPearson = stat.Correlation(x1, y1, nil), stat.Correlation(x12, y12, nil), stat.Correlation(x2, y2, nil)
	if x := s.OnePearson + s.OneSlope + s.PairPearson + s.PairSlope + s.TwoPearson + s.TwoSlope; math.IsNaN(x) || math.IsInf(x, 0) {
		return s, fmt.Errorf("the frequencies of %s or of %s, or their correlations, are all equal; there is nothing to correlate", samples.Name, rows.Name)
	}
	s.SamplesOne, s.RowsOne, s.SamplesPair, s.RowsPair, s.SamplesTwo, s.RowsTwo = x1, y1, x12, y12, x2, y2
	return s, nil
}

// bothKnown removes, in place, each index at which x or y is NaN from both slices, which have equal
// lengths.
func bothKnown(x, y []float64) (a, b []float64) {
	a, b = x[:0], y[:0]
	for i := range x {
		if !math.IsNaN(x[i] + y[i]) {
			a, b = append(a, x[i]), append(b, y[i])
		}
	}
	return a, b
}

// frequencies returns the frequencies of the units of set, and for all pairs of units in different columns
// their frequencies and connected correlations. Each value is over the rows in which the cells of its units
// are known, and NaN if there is no such row. In a correlation, the frequencies of the two units are over
// the rows in which both cells are known.
func frequencies(set *data.Set) (one, pair, two []float64) {
	n, columns := set.X.Cols, len(set.Schema.Columns)
	both := make([]float64, n*n) // weight of the rows in which units i and j are on, at i·n+j
	known := make([]float64, columns*columns)
	column, first := make([]int, 0, n), make([]int, 0, columns)
	for j := range columns {
		first = append(first, len(column))
		for range set.Schema.Columns[j].Units() {
			column = append(column, j)
		}
	}
	// alone is the weight of the rows in which unit i is on and column j is known, at i·columns+j.
	gaps := set.Missing.Rows > 0
	var alone []float64
	if gaps {
		alone = make([]float64, n*columns)
	}
	var on, there []int
	for r := range set.Len() {
		w := set.Weight(int32(r))
		on, there = on[:0], there[:0]
		set.X.Each(r, func(i int) {
			if !gaps || !set.Missing.Get(r, i) {
				on = append(on, i)
			}
		})
		if !gaps {
			known[0] += w
		} else {
			for j, i := range first {
				if !set.Missing.Get(r, i) {
					there = append(there, j)
				}
			}
			for _, j := range there {
				for _, k := range there {
					known[j*columns+k] += w
				}
				for _, i := range on {
					alone[i*columns+j] += w
				}
			}
		}
		for _, i := range on {
			for _, j := range on {
				both[i*n+j] += w
			}
		}
	}
	weight := func(i, j int) float64 { // of the rows in which the columns of both units are known
		if !gaps {
			return known[0]
		}
		return known[column[i]*columns+column[j]]
	}
	share := func(i, j int) float64 { // frequency of unit i in the rows in which the column of j is known
		if !gaps {
			return both[i*n+i] / known[0]
		}
		return alone[i*columns+column[j]] / weight(i, j)
	}
	for i := range n {
		one = append(one, both[i*n+i]/weight(i, i))
		for j := i + 1; j < n; j++ {
			if column[i] != column[j] {
				f := both[i*n+j] / weight(i, j)
				pair, two = append(pair, f), append(two, f-float64(share(i, j)*share(j, i)))
			}
		}
	}
	return one, pair, two
}
