package npz

import (
	"io"
	"slices"
)

// Sparse is the name that Archive.Array accepts for the sparse matrix in an archive of
// scipy.sparse.save_npz.
const Sparse = "sparse matrix"

// sparse has the positions of the elements of a matrix in compressed sparse row format.
type sparse struct {
	starts  []int64 // index of the first element of each row, then the number of all elements
	columns *Array  // the column of each element
}

// hasSparse reports whether the archive has the arrays of a sparse matrix.
func (a *Archive) hasSparse() bool {
	for _, name := range []string{"format", "shape", "data"} {
		if at, _ := a.index(name); at < 0 {
			return false
		}
	}
	return true
}

// openSparse opens the sparse matrix as an array with the shape of the matrix.
func (a *Archive) openSparse() (_ *Array, err error) {
	format, err := a.word("format")
	if err != nil {
		return nil, err
	}
	if format != "csr" {
		return nil, errorf("a sparse matrix of format %s; save it by scipy.sparse.save_npz(FILE, matrix.tocsr())", Quote(format))
	}
	shape, err := a.integers("shape")
	if err != nil {
		return nil, err
	}
	starts, err := a.integers("indptr")
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] < 0 || shape[1] < 0 || shape[1] > 1<<62/max(shape[0], 1) || shape[0] != int64(len(starts))-1 || starts[0] != 0 || !slices.IsSorted(starts) {
		return nil, errorf("shape and indptr do not describe the rows of a matrix; save it by scipy.sparse.save_npz")
	}
	columns, err := a.Array("indices")
	if err != nil {
		return nil, err
	}
	r, err := a.Array("data")
	if err != nil {
		columns.Close()
		return nil, err
	}
	n := []int64{starts[len(starts)-1]}
	if !slices.Equal(r.Shape, n) || !slices.Equal(columns.Shape, n) || columns.Kind != 'i' && columns.Kind != 'u' || r.IsText() {
		columns.Close()
		r.Close()
		return nil, errorf("data and indices do not hold %d numbers each, as indptr says; save it by scipy.sparse.save_npz", n[0])
	}
	return NewSparse(Sparse, shape[1], starts, columns, r), nil
}

// word reads the text of an array with one element.
func (a *Archive) word(name string) (string, error) {
	r, err := a.Array(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if r.Elements() != 1 {
		return "", r.Errorf("%d elements instead of one", r.Elements())
	}
	b, err := r.Next(1)
	if err != nil {
		return "", err
	}
	text, _ := r.Text(b)
	return text, r.End()
}

// integers reads a vector of integers.
func (a *Archive) integers(name string) ([]int64, error) {
	r, err := a.Array(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if len(r.Shape) != 1 || r.Shape[0] == 0 || r.Kind != 'i' && r.Kind != 'u' {
		return nil, r.Errorf("it is not a list of integers; save it by scipy.sparse.save_npz")
	}
	var all []int64 // not allocated at once, because the file may be shorter than its header says
	for range r.Shape[0] {
		b, err := r.Next(1)
		if err != nil {
			return nil, err
		}
		all = append(all, r.integer(b))
	}
	return all, r.End()
}

func (h *header) integer(b []byte) int64 {
	if h.Kind == 'i' {
		return h.signed(b)
	}
	return int64(h.unsigned(b))
}

// IsSparse reports whether the array is a sparse matrix, which SparseRows reads.
func (r *Array) IsSparse() bool { return r.sparse != nil }

// NewSparse returns the sparse matrix of an array of values and an array of their columns, which it takes
// over. starts has the index of the first value of each row, and at the end the number of values.
func NewSparse(name string, cols int64, starts []int64, columns, values *Array) *Array {
	values.sparse = &sparse{starts, columns}
	values.Shape, values.name = []int64{int64(len(starts)) - 1, cols}, name
	return values
}

// SparseRows calls do for each row of a sparse matrix, with the columns of its elements, in any order, and
// their values. Both are valid until do returns. It stops at the first error of do.
func (r *Array) SparseRows(do func(i int, columns []int, values []float64) error) error {
	last := make([]int, r.Shape[1]) // 1 + the last row with an element in this column
	var columns []int
	var values []float64
	for i := range len(r.sparse.starts) - 1 {
		n := int(r.sparse.starts[i+1] - r.sparse.starts[i])
		if n > len(last) {
			return r.Errorf("row %d has %d elements in %d columns; call sum_duplicates() and save it again", i, n, len(last))
		}
		at, err := r.sparse.columns.Next(n)
		if err != nil {
			return err
		}
		columns, values = columns[:0], slices.Grow(values[:0], n)[:n]
		for k := range n {
			j := r.sparse.columns.integer(at[k*r.sparse.columns.Size:])
			if j < 0 || j >= int64(len(last)) {
				return r.Errorf("row %d has an element in column %d of %d", i, j, len(last))
			}
			if last[j] == i+1 {
				return r.Errorf("row %d has two elements in column %d; call sum_duplicates() and save it again", i, j)
			}
			last[j] = i + 1
			columns = append(columns, int(j))
		}
		b, err := r.Next(n)
		if err != nil {
			return err
		}
		r.numbers(values, b)
		if err := do(i, columns, values); err != nil {
			return err
		}
	}
	if err := r.sparse.columns.End(); err != nil {
		return err
	}
	return r.End()
}

// fortranRows is Rows for an array whose elements are stored column by column. It reads the array into
// memory.
func (r *Array) fortranRows(rows, cols int, do func(i int, values []float64) error) error {
	all := make([]byte, 0, 1<<16)
	for len(all) < rows*cols*r.Size { // not allocated at once, because the file may be shorter than its header says
		n := min(rows*cols*r.Size-len(all), max(len(all), 1<<16))
		all = slices.Grow(all, n)
		if _, err := io.ReadFull(r.in, all[len(all):len(all)+n]); err != nil {
			return r.Errorf("%w", readError(err))
		}
		all = all[:len(all)+n]
	}
	// Column j combines the indices of all dimensions after the first. The last dimension varies
	// fastest in j, but slowest in the file.
	from := make([]int, cols)
	for j := range from {
		rest, stride := j, rows
		inner := cols
		for _, d := range r.Shape[1:] {
			inner /= int(d)
			from[j] += rest / inner * stride
			rest, stride = rest%inner, stride*int(d)
		}
	}
	// Some rows at once, because their elements are next to each other.
	var some [32]float64
	block := make([]float64, len(some)*cols)
	for first := 0; first < rows; first += len(some) {
		n := min(len(some), rows-first)
		for j, at := range from {
			r.numbers(some[:n], all[(at+first)*r.Size:])
			for i, v := range some[:n] {
				block[i*cols+j] = v
			}
		}
		for i := range n {
			if err := do(first+i, block[i*cols:(i+1)*cols]); err != nil {
				return err
			}
		}
	}
	return r.End()
}
