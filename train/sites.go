package train

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"gorbm/data"
)

// SiteStatistics compares rows of two sets of columns, such as samples with rows held out.
type SiteStatistics struct {
	// Of the frequencies of all levels of all columns.
	OnePearson float64 `json:"one_site_pearson"`
	OneSlope   float64 `json:"one_site_slope"` // of the samples' on the rows'
	// Of the connected correlations f(a,b) − f(a)·f(b) of all levels of all pairs of columns.
	TwoPearson float64 `json:"two_site_pearson"`
	TwoSlope   float64 `json:"two_site_slope"`
}

// CompareSites returns the statistics of samples against rows of the same columns, by their
// weights. The error says that they differ in columns, or are too few.
func CompareSites(samples, rows *data.Set) (s SiteStatistics, err error) {
	switch {
	case samples.Schema == nil || rows.Schema == nil || samples.Schema.Text() != rows.Schema.Text():
		return s, fmt.Errorf("%s and %s do not have the same columns of levels", samples.Name, rows.Name)
	case samples.Len() < 2 || rows.Len() < 2:
		return s, fmt.Errorf("%s has %d rows and %s %d; statistics need two or more", samples.Name, samples.Len(), rows.Name, rows.Len())
	}
	x1, x2 := frequencies(samples)
	y1, y2 := frequencies(rows)
	_, s.OneSlope = stat.LinearRegression(y1, x1, nil, false)
	_, s.TwoSlope = stat.LinearRegression(y2, x2, nil, false)
	s.OnePearson, s.TwoPearson = stat.Correlation(x1, y1, nil), stat.Correlation(x2, y2, nil)
	return s, nil
}

// frequencies returns the frequencies of the units of set, and the connected correlations of those
// of all pairs of columns.
func frequencies(set *data.Set) (one, two []float64) {
	n := set.X.Cols
	one = make([]float64, n)
	both := make([]float64, n*n)
	total := set.Effective()
	var on []int
	for r := range set.Len() {
		w := set.Weight(int32(r)) / total
		on = on[:0]
		set.X.Each(r, func(i int) { on = append(on, i) })
		for _, i := range on {
			one[i] += w
			for _, j := range on {
				both[i*n+j] += w
			}
		}
	}
	column := make([]int, 0, n)
	for j := range set.Schema.Columns {
		for range set.Schema.Columns[j].Units() {
			column = append(column, j)
		}
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if column[i] != column[j] {
				two = append(two, both[i*n+j]-float64(one[i]*one[j]))
			}
		}
	}
	return one, two
}
