package rbm

import "testing"

// Batch.Means of bits and of the same values as grey rows, compared with sums row by row. All are
// sums of ones and exact.
func TestMeans(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {63, 64}, {64, 65}, {65, 130}, {150, 100}} {
		rows, cols := shape[0], shape[1]
		r := NewKey(uint64(rows)).Rand()
		bits, grey, h := NewBits(rows, cols), NewMatrix(rows, cols), NewMatrix(rows, 3)
		want := make([]float64, cols)
		for i := range rows {
			for j := range cols {
				if r.Float64() < 0.3 {
					bits.Set(i, j, true)
					grey.Row(i)[j] = 1
					want[j]++
				}
			}
		}
		for _, v := range []Values{bits, grey.Values()} {
			got, hidden := make([]float64, cols), make([]float64, 3)
			Batch{V: v, H: h}.Means(got, hidden)
			for j, n := range want {
				if got[j] != 1/float64(rows)*n {
					t.Fatalf("%d × %d, grey %v: mean %d is %v, want %v of %d", rows, cols, v.IsReal(), j, got[j], n, rows)
				}
			}
		}
	}
}
