package data

import (
	"fmt"
	"slices"

	"gorbm/rbm"
	"gorbm/rbm/memory"
	"gorbm/rbm/npz"
)

// arrays opens the arrays of a source, which are in one archive or in several files. It can be called twice
// for the same array. Errors name the array.
type arrays func(name string) (*npz.Array, error)

// An arrayPart names the arrays of the training or the test set: inputs, and labels, "" if there are none.
type arrayPart struct{ x, y string }

// sets reads the training set and, if there is a second part, the test set. Inputs are examples × inputs,
// or examples × height × width with perhaps one channel before or after. Their values are 0 and 1 of any
// type, floats in [0,1], grey bytes up to 255, or numbers that Options.Scale maps to [0,1]. There is a label
// for each example, an integer or text. Sets are named after path.
func (open arrays) sets(parts []arrayPart, path string, opt Options) ([]*Set, error) {
	// All inputs are read once before any are stored. This checks that the arrays hold what their headers
	// say, and finds whether bytes are bits or grey values.
	scans := make([]inputScan, len(parts))
	for i, p := range parts {
		var err error
		if scans[i], err = open.scan(p.x, opt.scaling()); err != nil {
			return nil, err
		}
	}
	if s := scans; len(s) == 2 && (s[0].height != s[1].height || s[0].width != s[1].width) {
		return nil, formatErrorf("%s: rows of %d × %d, but of %d × %d in %s; give both the same shape",
			parts[1].x, s[1].height, s[1].width, s[0].height, s[0].width, parts[0].x)
	}
	to, grey := make([]scales, len(parts)), false
	for i := range scans {
		scan := &scans[i]
		var all extent // values of the arrays that share a scale
		for _, s := range scans {
			if s.bytes == scan.bytes || opt.scaling().rule != "auto" {
				all.join(s.extent)
			}
		}
		var why string
		if to[i], why = opt.scaling().fit(all, scan.bytes); why != "" {
			return nil, formatErrorf("%s: %s", parts[i].x, why)
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
		if err := open.pack(parts[i].x, s, scan, to[i], bin); err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	if parts[0].y == "" {
		return sets, nil
	}
	return sets, open.labels(parts, sets, opt.labeller())
}

// An inputScan describes an array of inputs after one pass over it.
type inputScan struct {
	rows, height, width int
	pictures            bool // the array has the dimensions height × width
	bytes               bool // elements are bytes, perhaps grey values
	counted             bool // they are read as bytes, not as numbers
	grey                bool // with given scales: some value lies between the ends of its scale
	clipped             int  // number of values beyond given scales
	extent
}

// shape sets the sizes of rows to those of an array, and returns their number of inputs.
func (s *inputScan) shape(r *npz.Array) (cols int, err error) {
	shape := r.Shape
	if len(shape) == 4 && shape[1] == 1 { // pictures of a single channel
		shape = slices.Delete(slices.Clone(shape), 1, 2)
	} else if len(shape) == 4 && shape[3] == 1 {
		shape = shape[:3]
	}
	switch {
	case len(r.Shape) == 1:
		return 0, r.Errorf("an array of 1 dimensions, as of labels; inputs have two, examples × inputs, or three, examples × height × width")
	case len(shape) == 4:
		return 0, r.Errorf("an array of 4 dimensions, %v, as of pictures with several channels; give it one channel, as by x.mean(axis) over the dimension of the channels", r.Shape)
	case len(shape) != 2 && len(shape) != 3:
		return 0, r.Errorf("an array of %d dimensions; give it two, examples × inputs, or three, examples × height × width", len(r.Shape))
	case r.IsText():
		return 0, r.Errorf("inputs are text; give numbers in [0,1]")
	case shape[0] == 0 || r.Elements() == 0:
		return 0, r.Errorf("no examples; the shape must not have a 0")
	}
	inputs := shape[1]
	if len(shape) == 3 {
		inputs *= shape[2]
	}
	if why := checkShape(shape[0], inputs); why != "" {
		return 0, r.Errorf("%s; save less", why)
	}
	s.rows = int(shape[0])
	s.height, s.width = NearSquare(int(inputs))
	if len(shape) == 3 {
		s.height, s.width, s.pictures = int(shape[1]), int(shape[2]), true
	}
	return int(inputs), nil
}

// scan reads an array of inputs and checks its shape and every value.
func (open arrays) scan(name string, g scaling) (s inputScan, err error) {
	r, err := open(name)
	if err != nil {
		return s, err
	}
	defer r.Close()
	cols, err := s.shape(r)
	if err != nil {
		return s, err
	}
	if r.Fortran {
		if err := memory.Check(fmt.Sprintf("%s, an array in Fortran order,", name), float64(r.Elements())*float64(r.Size)); err != nil {
			return s, r.Errorf("%w; save numpy.ascontiguousarray(%s)", err, name)
		}
	}
	s.bytes = r.Kind == 'u' && r.Size == 1
	to, known := g.known(s.bytes)
	if why := to.check(cols); known && why != "" {
		return s, r.Errorf("%s", why)
	}
	s.counted = s.bytes && !r.IsSparse() && !r.Fortran && len(g.given) <= 1 && g.rule != "raw"
	if s.counted {
		var counts [256]int
		err := eachByte(r, s.rows*cols, func(b []byte) {
			for _, v := range b {
				counts[v]++
			}
		})
		for v, n := range counts {
			if n == 0 {
				continue
			}
			if why := g.wrong(0, float64(v), true); why != "" {
				return s, r.Errorf("byte %d %s", v, why)
			}
			s.add(float64(v))
			if g.rule == "" && !to[0].holds(float64(v)) {
				s.clipped += n
			}
		}
		return s, err
	}
	value := func(j int, v float64, n int) (why string) { // n: how often
		if why := g.wrong(j, v, s.bytes); why != "" {
			return fmt.Sprintf("%g %s", v, why)
		}
		if g.rule == "" {
			to := to.at(j)
			if !to.holds(v) {
				s.clipped += n
				v = to.clip(v)
			}
			s.grey = s.grey || v != to.low && v != to.high
		}
		s.add(v)
		return ""
	}
	if r.IsSparse() && len(g.given) <= 1 { // without its zeros
		zeros := s.rows * cols
		err = r.SparseRows(func(i int, columns []int, values []float64) error {
			zeros -= len(values)
			for k, v := range values {
				if why := value(columns[k], v, 1); why != "" {
					return r.Errorf("row %d, column %d: %s", i, columns[k], why)
				}
			}
			return nil
		})
		if err == nil && zeros > 0 {
			if why := value(0, 0, zeros); why != "" {
				err = r.Errorf("%s", why)
			}
		}
		return s, err
	}
	common := len(g.given) <= 1 && g.rule != "spins" // all columns have one scale, an interval
	err = r.Rows(s.rows, cols, func(i int, values []float64) error {
		if common && s.more && (g.rule != "" || s.grey) {
			low, high, nan := values[0], values[0], false
			for _, v := range values {
				if v < low {
					low = v
				}
				if v > high {
					high = v
				}
				nan = nan || v != v
			}
			if !nan && g.wrong(0, low, s.bytes) == "" && g.wrong(0, high, s.bytes) == "" && (g.rule != "" || to[0].holds(low) && to[0].holds(high)) {
				s.add(low)
				s.add(high)
				return nil
			}
		}
		for j, v := range values {
			if common && (s.n > 0 && v == s.distinct[0] || s.n > 1 && v == s.distinct[1]) && !g.clip {
				continue // as nearly all values of binary data
			}
			if why := value(j, v, 1); why != "" {
				return r.Errorf("row %d, column %d: %s", i, j, why)
			}
		}
		return nil
	})
	return s, err
}

// eachByte calls do for all n bytes of an array, some at a time.
func eachByte(r *npz.Array, n int, do func(b []byte)) error {
	for n > 0 {
		b, err := r.Next(min(n, 1<<16))
		if err != nil {
			return err
		}
		do(b)
		n -= len(b)
	}
	return r.End()
}

// pack reads an array of inputs again, into the rows of s.
func (open arrays) pack(name string, s *Set, scan inputScan, to scales, bin binarizer) error {
	r, err := open(name)
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
	if scan.counted {
		p := &packer{bin: bin, set: s, levels: to[0].levels()}
		defer p.flush()
		return eachByte(r, s.X.Rows*s.X.Cols, func(b []byte) { p.Write(b) })
	}
	var key rbm.Key
	value := func(i, j int, v float64) {
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
	}
	if r.IsSparse() && len(to) == 1 && to[0].apply(to[0].clip(0)) == 0 && bin.mode != Standard {
		return r.SparseRows(func(i int, columns []int, values []float64) error {
			key = bin.row(i)
			for k, v := range values {
				value(i, columns[k], v)
			}
			return nil
		})
	}
	defer func() { s.origin = bin.origin }()
	plain := len(to) == 1 && to[0] == asIs && scan.clipped == 0 && bin.mode == Threshold && !bin.grey
	return r.Rows(scan.rows, s.X.Cols, func(i int, values []float64) error {
		if plain {
			row := s.X.Row(i)
			for k := range row {
				word := uint64(0)
				for j, v := range values[k*64 : min((k+1)*64, len(values))] {
					if v >= 0.5 {
						word |= 1 << j
					}
				}
				row[k] = word
			}
			return nil
		}
		key = bin.row(i)
		for j, v := range values {
			value(i, j, v)
		}
		return nil
	})
}

// labels reads the labels of the parts of sets.
func (open arrays) labels(parts []arrayPart, sets []*Set, l labeller) error {
	for i, p := range parts {
		r, err := open(p.y)
		if err != nil {
			return err
		}
		defer r.Close()
		n := sets[i].Len()
		switch {
		case len(r.Shape) == 2 && r.Shape[0] == int64(n) && r.Shape[1] > 1:
			return r.Errorf("labels of shape %v for %d examples; give one label each, as integers or text, of one-hot rows by %s.argmax(1)", r.Shape, n, p.y)
		case len(r.Shape) == 0 || len(r.Shape) > 2 || len(r.Shape) == 2 && r.Shape[1] != 1 || r.Shape[0] != int64(n):
			return r.Errorf("labels of shape %v for %d examples of %s; give one label each, as integers or text", r.Shape, n, p.x)
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
