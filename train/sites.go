package train

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"gorbm/data"
	"gorbm/rbm/memory"
)

// SiteStatistics compares rows of two sets of columns, such as samples with rows held out.
type SiteStatistics struct {
	// Of the frequencies of all levels of all columns.
	OnePearson float64 `json:"one_site_pearson"`
	OneSlope   float64 `json:"one_site_slope"` // of the samples' on the rows'
	// Of the frequencies f(a,b) of all levels of all pairs of columns, which those of single levels dominate.
	PairPearson float64 `json:"pair_frequency_pearson"`
	PairSlope   float64 `json:"pair_frequency_slope"`
	// Of the connected correlations f(a,b) − f(a)·f(b) of the same.
	TwoPearson float64 `json:"two_site_pearson"`
	TwoSlope   float64 `json:"two_site_slope"`
	// The compared values, for pictures.
	SamplesOne, RowsOne, SamplesPair, RowsPair, SamplesTwo, RowsTwo []float64 `json:"-"`
}

// CompareSites returns the statistics of samples against rows of the same columns, by their
// weights. Each is over the rows that have no gap there; what no row of one of the sets has is
// left out. The error says that they differ in columns, are too few, that some number has no
// value, as where nothing varies, or that memory is short.
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

// bothKnown drops what is NaN in one of two slices of equal length from both, in place.
func bothKnown(x, y []float64) (a, b []float64) {
	a, b = x[:0], y[:0]
	for i := range x {
		if !math.IsNaN(x[i] + y[i]) {
			a, b = append(a, x[i]), append(b, y[i])
		}
	}
	return a, b
}

// frequencies returns the frequencies of the units of set, and those of all pairs of units of two columns with
// their connected correlations, over the rows where the cells are known: NaN where there is none. A
// correlation, with both of its factors, takes the rows where both cells are known.
func frequencies(set *data.Set) (one, pair, two []float64) {
	n, columns := set.X.Cols, len(set.Schema.Columns)
	both := make([]float64, n*n) // of units i and j that both columns have, at i·n+j
	known := make([]float64, columns*columns)
	column, first := make([]int, 0, n), make([]int, 0, columns)
	for j := range columns {
		first = append(first, len(column))
		for range set.Schema.Columns[j].Units() {
			column = append(column, j)
		}
	}
	// alone is the frequency of unit i where column j is known.
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
	weight := func(i, j int) float64 { // of the rows that know the columns of both units
		if !gaps {
			return known[0]
		}
		return known[column[i]*columns+column[j]]
	}
	share := func(i, j int) float64 { // frequency of unit i where that of j is known
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
