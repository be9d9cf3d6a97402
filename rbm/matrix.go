package rbm

// A Matrix is a dense row-major matrix of float32.
type Matrix struct {
	Rows, Cols int
	Data       []float32 // len Rows·Cols
}

// NewMatrix returns a zero matrix, rows × cols. It panics if either number is
// negative.
func NewMatrix(rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic("rbm: negative matrix size")
	}
	return Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
}

// Row returns row i, which shares memory with a.
func (a Matrix) Row(i int) []float32 {
	return a.Data[i*a.Cols : (i+1)*a.Cols : (i+1)*a.Cols]
}

// Slice returns rows lo … hi−1, which share memory with a.
func (a Matrix) Slice(lo, hi int) Matrix {
	return Matrix{Rows: hi - lo, Cols: a.Cols, Data: a.Data[lo*a.Cols : hi*a.Cols]}
}

// Values converts a to real Values, which share memory with a.
func (a Matrix) Values() Values {
	if a.Data == nil {
		a.Data = []float32{}
	}
	return Values{Rows: a.Rows, Cols: a.Cols, Stride: (a.Cols + 63) / 64, Real: a.Data}
}
