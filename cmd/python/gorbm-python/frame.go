package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gorbm/rbm/finitejson"
	"gorbm/rbm/memory"
)

// A frame is a message in either direction:
//
//	length of the header, uint32, little endian
//	header: a JSON object
//	arrays: their elements in C order, little endian, one array after another
//
// The field "arrays" of the header lists name, type and shape of each array. Types are NumPy's:
// "<f4", "<i4" and "|u1".
type frame struct {
	header []byte
	arrays map[string]array
}

// An array is one array of a frame.
type array struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	data  []byte
}

const (
	maxHeader  = 1 << 24
	maxPayload = 1 << 38 // bytes of all arrays of a frame
)

// errNoFrame is the error for input that the Python package did not write.
var errNoFrame = errors.New("standard input has no message of the Python package gorbm; only that package can use this program")

// readFrame reads a frame. It returns io.EOF at the end of r.
func readFrame(r io.Reader) (frame, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return frame{}, errNoFrame
		}
		return frame{}, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n < 2 || n > maxHeader {
		return frame{}, errNoFrame
	}
	f := frame{header: make([]byte, n), arrays: map[string]array{}}
	if _, err := io.ReadFull(r, f.header); err != nil {
		return frame{}, errNoFrame
	}
	var list struct {
		Arrays []array `json:"arrays"`
	}
	if err := json.Unmarshal(f.header, &list); err != nil {
		return frame{}, errNoFrame
	}
	total := int64(0)
	for _, a := range list.Arrays {
		bytes := int64(1)
		if a.Type != "|u1" {
			bytes = 4
		}
		if a.Type != "|u1" && a.Type != "<f4" && a.Type != "<i4" {
			return frame{}, fmt.Errorf("array %q has the type %q; there are |u1, <f4 and <i4", a.Name, a.Type)
		}
		for _, n := range a.Shape {
			if n < 0 || int64(n) > (maxPayload-total)/max(1, bytes) {
				return frame{}, fmt.Errorf("array %q has the shape %d, which is out of range", a.Name, a.Shape)
			}
			bytes *= int64(n)
		}
		total += bytes
		if bytes > 1<<24 { // only large arrays, as the check reads files
			if err := memory.Check(fmt.Sprintf("array %q", a.Name), float64(bytes)); err != nil {
				return frame{}, err
			}
		}
		a.data = make([]byte, bytes)
		if _, err := io.ReadFull(r, a.data); err != nil {
			return frame{}, fmt.Errorf("array %q is cut short", a.Name)
		}
		f.arrays[a.Name] = a
	}
	return f, nil
}

// writeFrame writes a frame with the fields of header and the arrays. It sets header["arrays"].
func writeFrame(w io.Writer, header map[string]any, arrays ...array) error {
	if arrays == nil {
		arrays = []array{}
	}
	header["arrays"] = arrays
	text, err := finitejson.Marshal(header)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)); err != nil {
		return err
	}
	for _, a := range arrays {
		if _, err := w.Write(a.data); err != nil {
			return err
		}
	}
	return nil
}

// array returns the array called name. ok is false if there is none. It fails if the type is not
// kind, or the shape is not dims, where −1 allows any length.
func (f frame) array(name, kind string, dims ...int) (a array, ok bool, err error) {
	if a, ok = f.arrays[name]; !ok {
		return a, false, nil
	}
	bad := a.Type != kind || len(a.Shape) != len(dims)
	for i := range dims {
		bad = bad || dims[i] >= 0 && a.Shape[i] != dims[i]
	}
	if bad {
		return a, true, fmt.Errorf("array %q is %s %d, not %s %d (-1: any)", name, a.Type, a.Shape, kind, dims)
	}
	return a, true, nil
}

func (a array) floats() []float32 {
	x := make([]float32, len(a.data)/4)
	_, _ = binary.Decode(a.data, binary.LittleEndian, x) // fails for other types only
	return x
}

func (a array) ints() []int32 {
	x := make([]int32, len(a.data)/4)
	_, _ = binary.Decode(a.data, binary.LittleEndian, x) // fails for other types only
	return x
}

func floatArray(name string, x []float32, shape ...int) array {
	data, _ := binary.Append(nil, binary.LittleEndian, x) // fails for other types only
	return array{Name: name, Type: "<f4", Shape: shape, data: data}
}
