package data

import (
	"errors"
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
func loadNPZ(f io.ReaderAt, size int64, path string, opt Options) (train, test *Set, err error) {
	a := archive{path: path}
	if a.Archive, err = npz.Open(f, size); err != nil {
		return nil, nil, a.wrap(err)
	}
	x, y := []string{"x"}, []string{"y"}
	if !a.Has("x") {
		if !a.Has("x_train") {
			return nil, nil, formatErrorf("%s: no array x or x_train, only %s; name the inputs x and the labels y", path, a.Names())
		}
		x, y = []string{"x_train"}, []string{"y_train"}
		if a.Has("x_test") {
			x, y = append(x, "x_test"), append(y, "y_test")
		}
	}

	// All inputs are looked through before any are stored: that the archive
	// holds what its headers say is then known before memory is taken for it,
	// and what its bytes mean is decided for both parts alike.
	var scans []inputScan
	for _, name := range x {
		s, err := a.scan(name)
		if err != nil {
			return nil, nil, err
		}
		scans = append(scans, s)
	}
	if len(scans) == 2 && (scans[0].height != scans[1].height || scans[0].width != scans[1].width) {
		return nil, nil, formatErrorf("%s: rows of x_train are %d × %d, of x_test %d × %d; give both the same shape",
			path, scans[0].height, scans[0].width, scans[1].height, scans[1].width)
	}
	most, between, one := 0.0, false, false
	for _, s := range scans {
		most, between, one = max(most, s.most), between || s.between, one || s.one
	}
	white, why := byteScale(most)
	if why != "" {
		return nil, nil, formatErrorf("%s: %s", path, why)
	}
	between = between || one && white > 1
	var sets []*Set
	for i, s := range scans {
		set := &Set{Name: path, Height: s.height, Width: s.width, Binarize: Binary}
		if i == 1 {
			set.Name += " test"
		}
		bin := opt.binarizer(streamTrain + uint64(i))
		if !between {
			bin.mode = Threshold // with nothing to do
		} else {
			set.Binarize = bin.mode
		}
		unit := 1.0
		if s.bytes {
			unit = white
		}
		if err := a.pack(x[i], set, s.rows, unit, bin); err != nil {
			return nil, nil, err
		}
		sets = append(sets, set)
	}
	if opt.LabelColumn != "none" && (a.Has(y[0]) || opt.LabelColumn == "last") {
		if err := a.label(sets, y); err != nil {
			return nil, nil, err
		}
	}
	if len(sets) == 2 {
		test = sets[1]
	}
	return sets[0], test, nil
}

// An inputScan is what a first reading of an array of inputs tells.
type inputScan struct {
	rows, height, width int
	bytes               bool    // elements are bytes, perhaps of grey
	most                float64 // the largest value
	between             bool    // some value is neither 0 nor 1, nor a byte of 255
	one                 bool    // some byte is 1: white, or nearly black
}

// scan reads an array of inputs and checks its shape and every value.
func (a archive) scan(name string) (s inputScan, err error) {
	r, err := a.open(name)
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
		return s, a.errorf(name, "an array of %d dimensions; give it two, examples × inputs, or three, examples × height × width", len(r.Shape))
	case r.Kind == 'U':
		return s, a.errorf(name, "inputs are text; give numbers in [0,1]")
	case r.Fortran:
		return s, a.errorf(name, "an array in Fortran order; save numpy.ascontiguousarray(%s)", name)
	case shape[0] == 0 || r.Elements() == 0:
		return s, a.errorf(name, "no examples; the shape must not have a 0")
	}
	cols := shape[1]
	if len(shape) == 3 {
		cols *= shape[2]
	}
	if why := checkShape(shape[0], cols); why != "" {
		return s, a.errorf(name, "%s; save less", why)
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
			return a.errorf(name, "row %d, column %d: NaN is not a number in [0,1]; fill in missing values first", i, j)
		case !(v > 0 && v < 1):
			return a.errorf(name, "row %d, column %d: %g is outside [0,1]; scale the values to it first, or save grey ones as uint8", i, j, v)
		default:
			s.between = true
		}
		s.most = max(s.most, v)
		return nil
	})
	return s, a.wrap(err)
}

// pack reads an array of inputs again, into the rows of a set, in units of what
// stands for 1.
func (a archive) pack(name string, s *Set, rows int, unit float64, bin binarizer) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	s.X = rbm.NewBits(rows, s.Height*s.Width)
	if why := bin.keep(s); why != "" {
		return a.errorf(name, "%s", why)
	}
	var key rbm.Key
	err = r.Rows(rows, s.X.Cols, func(i, j int, v float64) error {
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
	return a.wrap(err)
}

// label reads the labels of all sets, whose classes are those of all together.
func (a archive) label(sets []*Set, names []string) error {
	var l labeller
	for i, name := range names {
		r, err := a.open(name)
		if err != nil {
			return err
		}
		defer r.Close()
		n := sets[i].Len()
		if len(r.Shape) == 0 || len(r.Shape) > 2 || len(r.Shape) == 2 && r.Shape[1] != 1 || r.Shape[0] != int64(n) {
			return a.errorf(name, "labels of shape %v for %d examples; give one label each, as integers or text", r.Shape, n)
		}
		for k := range n {
			b, err := r.Next(1)
			if err != nil {
				return a.wrap(err)
			}
			label, ok := r.Text(b)
			if !ok {
				return a.errorf(name, "the label of row %d is not a whole number or a word; give one label each", k)
			}
			if why := l.add(label); why != "" {
				return a.errorf(name, "%s; are these labels?", why)
			}
		}
		if err := r.End(); err != nil {
			return a.wrap(err)
		}
	}
	l.give(sets)
	return nil
}

// An archive is an npz file with the name that messages call it by.
type archive struct {
	*npz.Archive
	path string
}

// open opens an array.
func (a archive) open(name string) (*npz.Array, error) {
	r, err := a.Array(name)
	return r, a.wrap(err)
}

// wrap puts the file's name before an error of the archive's reader.
func (a archive) wrap(err error) error {
	if errors.Is(err, npz.ErrFormat) {
		return formatErrorf("%s: %w", a.path, err)
	}
	return err
}

// errorf is the error for an array.
func (a archive) errorf(name, format string, args ...any) error {
	return formatErrorf("%s: %s: "+format, append([]any{a.path, name}, args...)...)
}
