package data

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"gorbm/rbm"
	"gorbm/rbm/memory"
	"gorbm/rbm/npz"
)

// inputNames are the names of training rows and their labels in an archive, in order of preference: plain
// names, the names of Keras, the names of rbmeval -features, and the matrix of scipy.sparse.save_npz.
var inputNames = [][2]string{{"x", "y"}, {"x_train", "y_train"}, {"features", "y"}, {npz.Sparse, "y"}}

// loadNPZ reads the arrays x and y of a NumPy archive as a training set, and x_test and y_test as a test
// set. All but x may be missing; inputNames lists other names of x and y. x is examples × inputs or
// examples × height × width (or height × width × 1). Its values are 0 and 1 of any type, floats in [0,1],
// grey bytes up to 255, or numbers that Options.Scale maps to [0,1]. y has a label for each example, an
// integer or text.
func loadNPZ(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	a, err := npz.Open(f, size)
	if err != nil {
		return nil, formatErrorf("%s: %w", path, err)
	}
	return loadArrays(a, path, opt)
}

// loadNPY reads a single NumPy array, like x of loadNPZ.
func loadNPY(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	return loadArrays(npz.Single(f, size, "x"), path, opt)
}

func loadArrays(a *npz.Archive, path string, opt Options) (sets []*Set, err error) {
	if sets, err = arraySets(a, path, opt); err != nil {
		return nil, formatErrorf("%s: %w", path, err)
	}
	return sets, nil
}

// arraySets is loadNPZ, given an open archive. Its errors do not name the file.
func arraySets(a *npz.Archive, path string, opt Options) ([]*Set, error) {
	at := slices.IndexFunc(inputNames, func(names [2]string) bool { return a.Has(names[0]) })
	if at < 0 {
		return nil, fmt.Errorf("no array x or x_train, only %s; name the inputs x and the labels y", a.Names())
	}
	x, y := []string{inputNames[at][0]}, []string{inputNames[at][1]}
	if a.Has("x_test") {
		x, y = append(x, "x_test"), append(y, "y_test")
	}

	// All inputs are read once before any are stored. This checks that the archive holds what its headers
	// say, and finds whether bytes are bits or grey values.
	scans := make([]inputScan, len(x))
	for i, name := range x {
		s, err := scanInputs(a, name, opt.scaling())
		if err != nil {
			return nil, err
		}
		scans[i] = s
	}
	if s := scans; len(s) == 2 && (s[0].height != s[1].height || s[0].width != s[1].width) {
		return nil, fmt.Errorf("rows of %s are %d × %d, of x_test %d × %d; give both the same shape",
			x[0], s[0].height, s[0].width, s[1].height, s[1].width)
	}
	to, grey := make([]scales, len(x)), false
	for i, scan := range scans {
		var all extent // values of the arrays that share a scale
		for _, s := range scans {
			if s.bytes == scan.bytes || opt.scaling().rule != "auto" {
				all.join(s.extent)
			}
		}
		var why string
		if to[i], why = opt.scaling().fit(all, scan.bytes); why != "" {
			return nil, errors.New(why)
		}
		if len(to[i]) == 1 {
			scan.grey = scan.between(to[i][0])
		}
		grey = grey || scan.grey
	}
	var sets []*Set
	for i, scan := range scans {
		s, bin := opt.emptySet(path, i, grey)
		s.Scale = opt.describe(to[i])
		if err := packInputs(a, x[i], s, scan, to[i], bin); err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	if opt.LabelColumn != "none" && (a.Has(y[0]) || opt.LabelColumn == "last") {
		return sets, readLabels(a, y, sets, opt.labeller())
	}
	return sets, nil
}

// An inputScan describes an array of inputs after one pass over it.
type inputScan struct {
	rows, height, width int
	pictures            bool // the array has the dimensions height × width
	bytes               bool // elements are bytes, perhaps grey values
	grey                bool // with given scales: some value lies between the ends of its scale
	clipped             int  // number of values beyond given scales
	extent
}

// scanInputs reads an array of inputs and checks its shape and every value.
func scanInputs(a *npz.Archive, name string, g scaling) (s inputScan, err error) {
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
	case r.IsText():
		return s, r.Errorf("inputs are text; give numbers in [0,1]")
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
		s.height, s.width, s.pictures = int(shape[1]), int(shape[2]), true
	}
	if r.Fortran {
		if err := memory.Check(fmt.Sprintf("%s, an array in Fortran order,", name), float64(r.Elements())*float64(r.Size)); err != nil {
			return s, r.Errorf("%w; save numpy.ascontiguousarray(%s)", err, name)
		}
	}
	s.bytes = r.Kind == 'u' && r.Size == 1
	to, known := g.known(s.bytes)
	if why := to.check(int(cols)); known && why != "" {
		return s, r.Errorf("%s", why)
	}
	err = r.Rows(s.rows, int(cols), func(i, j int, v float64) error {
		if why := g.wrong(j, v, s.bytes); why != "" {
			return r.Errorf("row %d, column %d: %g %s", i, j, v, why)
		}
		if g.rule == "" {
			to := to.at(j)
			if !to.holds(v) {
				s.clipped++
				v = to.clip(v)
			}
			s.grey = s.grey || v != to.low && v != to.high
		}
		s.add(v)
		return nil
	})
	return s, err
}

// packInputs reads an array of inputs again, into the rows of s.
func packInputs(a *npz.Archive, name string, s *Set, scan inputScan, to scales, bin binarizer) error {
	r, err := a.Array(name)
	if err != nil {
		return err
	}
	defer r.Close()
	s.Height, s.Width, s.Pictures, s.guessed = scan.height, scan.width, scan.pictures, !scan.pictures
	s.X = rbm.NewBits(scan.rows, s.Height*s.Width)
	if why := bin.keep(s); why != "" {
		return r.Errorf("%s", why)
	}
	if scan.clipped > 0 {
		s.Notes = append(s.Notes, clipped(scan.clipped, s.X.Rows*s.X.Cols))
	}
	var key rbm.Key
	defer func() { s.origin = bin.origin }()
	return r.Rows(scan.rows, s.X.Cols, func(i, j int, v float64) error {
		if j == 0 {
			key = bin.row(i)
		}
		to := to.at(j)
		if scan.clipped > 0 {
			v = to.clip(v)
		}
		v = to.apply(v)
		if bin.isOne(key, j, v) {
			s.X.Words[i*s.X.Stride+j/64] |= 1 << (j % 64)
		}
		if bin.grey {
			s.Grey.Data[i*s.X.Cols+j] = bin.kept(j, v)
		}
		return nil
	})
}

// readLabels reads the labels of sets[i] from the array names[i].
func readLabels(a *npz.Archive, names []string, sets []*Set, l labeller) error {
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
			if !ok && !(label == "" && l.missing(label)) {
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
