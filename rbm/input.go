package rbm

// An Input is rows of visible units from data, one row for each example: bits, or
// grey values in [0,1], each the probability that its unit is on. Grey values
// occur only in the positive phase and in evaluation. States that the model draws
// are always bits.
type Input struct {
	Bits Bits
	Grey Matrix // if it has columns, it holds the rows and Bits is ignored
}

// Input returns b as rows of visible units, which share memory with b.
func (b Bits) Input() Input { return Input{Bits: b} }

// Input returns the grey values a as rows of visible units, which share memory
// with a.
func (a Matrix) Input() Input { return Input{Grey: a} }

// NewInput returns rows × cols zeros, grey or bits. It panics if either number is
// negative.
func NewInput(rows, cols int, grey bool) Input {
	if grey {
		return NewMatrix(rows, cols).Input()
	}
	return NewBits(rows, cols).Input()
}

// IsGrey reports whether the rows are grey values.
func (x Input) IsGrey() bool { return x.Grey.Cols > 0 }

// Rows returns the number of rows.
func (x Input) Rows() int {
	if x.IsGrey() {
		return x.Grey.Rows
	}
	return x.Bits.Rows
}

// Cols returns the number of units of a row.
func (x Input) Cols() int {
	if x.IsGrey() {
		return x.Grey.Cols
	}
	return x.Bits.Cols
}

// Slice returns rows lo … hi−1, which share memory with x.
func (x Input) Slice(lo, hi int) Input {
	if x.IsGrey() {
		return x.Grey.Slice(lo, hi).Input()
	}
	return x.Bits.Slice(lo, hi).Input()
}

// Set makes unit i of row r one or zero. It panics if they are out of range.
func (x Input) Set(r, i int, on bool) {
	if !x.IsGrey() {
		x.Bits.Set(r, i, on)
		return
	}
	x.Grey.Row(r)[i] = 0
	if on {
		x.Grey.Row(r)[i] = 1
	}
}

// Each calls f with every unit of row r that is not zero, in ascending order,
// and its value.
func (x Input) Each(r int, f func(i int, value float32)) {
	if !x.IsGrey() {
		x.Bits.Each(r, func(i int) { f(i, 1) })
		return
	}
	for i, value := range x.Grey.Row(r) {
		if value != 0 {
			f(i, value)
		}
	}
}

// checkInput panics if x has another width than m's visible layer, or if x is grey
// and a constraint is on all units: grey rows have no number of units that are on.
func (m *RBM) checkInput(x Input) {
	switch {
	case x.Cols() != m.Visible():
		panic("rbm: rows of another width than the visible layer")
	case !x.IsGrey():
		x.Bits.check()
	case m.Constraint != nil && m.Constraint.On == AllUnits:
		panic("rbm: grey rows under a constraint on all units")
	}
}
