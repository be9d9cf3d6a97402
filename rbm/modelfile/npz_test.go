package modelfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// npy returns a NumPy file of floats of size bytes, in the format of numpy.save. elements are in
// the order of the file.
func npy(t *testing.T, size int, big, fortran bool, shape string, elements []float64) []byte {
	t.Helper()
	var order binary.ByteOrder = binary.LittleEndian
	mark, flag := "<", "False"
	if big {
		order, mark = binary.BigEndian, ">"
	}
	if fortran {
		flag = "True"
	}
	header := fmt.Sprintf("{'descr': '%sf%d', 'fortran_order': %s, 'shape': (%s), }", mark, size, flag, shape)
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	file = append(file, header...)
	for _, x := range elements {
		var err error
		if size == 4 {
			file, err = binary.Append(file, order, float32(x))
		} else {
			file, err = binary.Append(file, order, x)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// Weights may be stored row by row or column by column, as by numpy.asfortranarray and transposed
// arrays. They may have the names of this package or of scikit-learn, and any float type.
func TestNPZOrdersOfElements(t *testing.T) {
	m := rbmtest.Random(7, 5, 0, rbm.Softmax, 1, 3)
	for n := range 16 {
		sklearn, fortran, big, size := n&1 != 0, n&2 != 0, n&4 != 0, 4+n&8/2
		names, rows, cols := []string{"weights", "visible_bias", "hidden_bias"}, 7, 5
		if sklearn {
			names, rows, cols = []string{"components_", "intercept_visible_", "intercept_hidden_"}, 5, 7
		}
		weight := func(row, col int) float64 {
			if sklearn {
				return float64(m.Weight(col, row))
			}
			return float64(m.Weight(row, col))
		}
		var weights []float64
		for at := range rows * cols {
			if fortran {
				weights = append(weights, weight(at%rows, at/rows))
			} else {
				weights = append(weights, weight(at/cols, at%cols))
			}
		}
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for i, content := range [][]byte{
			npy(t, size, big, fortran, fmt.Sprintf("%d, %d", rows, cols), weights),
			npy(t, size, big, fortran, "7,", widen(m.VisibleBias)),
			npy(t, size, big, fortran, "5,", widen(m.HiddenBias)),
		} {
			w, err := z.Create(names[i] + ".npy")
			if err != nil {
				t.Fatal(err)
			}
			w.Write(content)
		}
		z.Close()
		got, _, err := ReadNPZ(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil || !got.Equal(m) {
			t.Errorf("scikit-learn %v, Fortran order %v, big-endian %v, floats of %d bytes: another model, %v", sklearn, fortran, big, size, err)
		}
	}
}

func widen(x []float32) []float64 {
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	return wide
}
