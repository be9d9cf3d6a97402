package npz

import (
	"io"
	"reflect"

	npyio "github.com/sbinet/npyio/npz"
)

// Named is an array with its name in the archive: a slice, or a Matrix.
type Named struct {
	Name string
	Data any
}

// Matrix returns data, rows × cols in row-major order, in the only form in which
// the library writes float32 matrices: as an array of arrays.
func Matrix(rows, cols int, data []float32) any {
	v := reflect.New(reflect.ArrayOf(rows, reflect.ArrayOf(cols, reflect.TypeFor[float32]()))).Elem()
	for i := range rows {
		reflect.Copy(v.Index(i), reflect.ValueOf(data[i*cols:(i+1)*cols]))
	}
	return v.Interface()
}

// Write writes an archive of the arrays, in order.
func Write(w io.Writer, arrays []Named) error {
	z := npyio.NewWriter(w)
	for _, a := range arrays {
		if err := z.Write(a.Name+".npy", a.Data); err != nil {
			return err
		}
	}
	return z.Close()
}
