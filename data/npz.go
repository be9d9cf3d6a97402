package data

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gorbm/rbm"
	"gorbm/rbm/npz"
)

// loadNPZ reads the arrays x and, if it is there, y of a NumPy archive as a
// training set, or x_train, y_train, x_test and y_test as Keras names them.
// x is examples × inputs or examples × height × width (or height × width × 1):
// 0 and 1 of any type, floats in [0,1], or bytes of grey up to 255. y is one
// label an example: integers, or text.
func loadNPZ(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	archive, err := npz.Open(f, size)
	var sets []*Set
	if err == nil {
		sets, err = arraySets(archive, path, opt)
	}
	if err != nil {
		return nil, formatErrorf("%s: %w", path, err)
	}
	return sets, nil
}

// arraySets is loadNPZ of an open archive. Its errors do not name the file.
func arraySets(a *npz.Archive, path string, opt Options) ([]*Set, error) {
	x, y := []string{"x"}, []string{"y"}
	if !a.Has("x") {
		if !a.Has("x_train") {
			return nil, fmt.Errorf("no array x or x_train, only %s; name the inputs x and the labels y", a.Names())
		}
		x, y = []string{"x_train"}, []string{"y_train"}
		if a.Has("x_test") {
			x, y = append(x, "x_test"), append(y, "y_test")
		}
	}

	// All inputs are read once before any are stored: then it is known that the
	// archive holds what its headers say, and what the bytes of all parts mean.
	scans := make([]inputScan, len(x))
	var all inputScan
	for i, name := range x {
		s, err := scanInputs(a, name)
		if err != nil {
			return nil, err
		}
		all.most, all.between, all.one = max(all.most, s.most), all.between || s.between, all.one || s.one
		scans[i] = s
	}
	if s := scans; len(s) == 2 && (s[0].height != s[1].height || s[0].width != s[1].width) {
		return nil, fmt.Errorf("rows of x_train are %d × %d, of x_test %d × %d; give both the same shape",
			s[0].height, s[0].width, s[1].height, s[1].width)
	}
	white, why := byteScale(all.most)
	if why != "" {
		return nil, errors.New(why)
	}
	var sets []*Set
	for i, scan := range scans {
		s, bin := opt.part(path, i, all.between || all.one && white > 1)
		if err := packInputs(a, x[i], s, scan, white, bin); err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	if opt.LabelColumn != "none" && (a.Has(y[0]) || opt.LabelColumn == "last") {
		return sets, readLabels(a, y, sets)
	}
	return sets, nil
}

// An inputScan is what is known of an array of inputs after reading it once.
type inputScan struct {
	rows, height, width int
	bytes               bool    // elements are bytes, perhaps of grey
	most                float64 // the largest value
	between             bool    // some value lies between 0 and 1, or is a byte from 2 to 254
	one                 bool    // some byte is 1, which is white or, if 255 is, nearly black
}

// scanInputs reads an array of inputs and checks its shape and every value.
func scanInputs(a *npz.Archive, name string) (s inputScan, err error) {
	r, err := a.Array(name)
	if err != nil {
		return s, err
	}
	defer r.Close()
	shape := r.Shape
	if len(shape) == 4 && shape[3] == 1 {
		shape = shape[:3] // pictures of a single channel
	}
	switch {
	case len(shape) != 2 && len(shape) != 3:
		return s, r.Errorf("an array of %d dimensions; give it two, examples × inputs, or three, examples × height × width", len(r.Shape))
	case r.Kind == 'U':
		return s, r.Errorf("inputs are text; give numbers in [0,1]")
	case r.Fortran:
		return s, r.Errorf("an array in Fortran order; save numpy.ascontiguousarray(%s)", name)
	case shape[0] == 0 || r.Elements() == 0:
		return s, r.Errorf("no examples; the shape must not have a 0")
	}
	cols := shape[1]
	if len(shape) == 3 {
		cols *= shape[2]
	}
	if why := checkShape(shape[0], cols); why != "" {
		return s, r.Errorf("%s; save less", why)
	}
	s.rows = int(shape[0])
	s.height, s.width = NearSquare(int(cols))
	if len(shape) == 3 {
		s.height, s.width = int(shape[1]), int(shape[2])
	}
	s.bytes = r.Kind == 'u' && r.Size == 1
	err = r.Rows(s.rows, int(cols), func(i, j int, v float64) error {
		switch {
		case v == 0:
		case s.bytes:
			s.between = s.between || v > 1 && v < 255
			s.one = s.one || v == 1
		case v == 1:
		case math.IsNaN(v):
			return r.Errorf("row %d, column %d: NaN is not a number in [0,1]; fill in missing values first", i, j)
		case !(v > 0 && v < 1):
			return r.Errorf("row %d, column %d: %g is outside [0,1]; scale the values to it first, or save grey ones as uint8", i, j, v)
		default:
			s.between = true
		}
		s.most = max(s.most, v)
		return nil
	})
	return s, err
}

// packInputs reads an array of inputs again, into the rows of a set. Bytes are
// divided by white.
func packInputs(a *npz.Archive, name string, s *Set, scan inputScan, white float64, bin binarizer) error {
	r, err := a.Array(name)
	if err != nil {
		return err
	}
	defer r.Close()
	unit := 1.0
	if scan.bytes {
		unit = white
	}
	s.Height, s.Width = scan.height, scan.width
	s.X = rbm.NewBits(scan.rows, s.Height*s.Width)
	if why := bin.keep(s); why != "" {
		return r.Errorf("%s", why)
	}
	var key rbm.Key
	return r.Rows(scan.rows, s.X.Cols, func(i, j int, v float64) error {
		if j == 0 {
			key = bin.row(i)
		}
		v /= unit
		if bin.one(key, j, v) {
			s.X.Words[i*s.X.Stride+j/64] |= 1 << (j % 64)
		}
		if bin.mode == None {
			s.Grey.Data[i*s.X.Cols+j] = float32(v)
		}
		return nil
	})
}

// readLabels reads the labels of each set from the array of its name.
func readLabels(a *npz.Archive, names []string, sets []*Set) error {
	var l labeller
	for i, name := range names {
		r, err := a.Array(name)
		if err != nil {
			return err
		}
		defer r.Close()
		n := sets[i].Len()
		if len(r.Shape) == 0 || len(r.Shape) > 2 || len(r.Shape) == 2 && r.Shape[1] != 1 || r.Shape[0] != int64(n) {
			return r.Errorf("labels of shape %v for %d examples; give one label each, as integers or text", r.Shape, n)
		}
		for k := range n {
			b, err := r.Next(1)
			if err != nil {
				return err
			}
			label, ok := r.Text(b)
			if !ok {
				return r.Errorf("the label of row %d is not a whole number or a word; give one label each", k)
			}
			if why := l.add(label); why != "" {
				return r.Errorf("%s; are these labels?", why)
			}
		}
		if err := r.End(); err != nil {
			return err
		}
	}
	l.give(sets...)
	return nil
}
