package data

import (
	"slices"
	"testing"

	"gorbm/rbm"
)

func TestConstantColumns(t *testing.T) {
	s := randomSet(40, 130, 2)
	if c := s.ConstantColumns(); c != nil || s.DescribeConstantColumns() != "" {
		t.Errorf("coin flips have constant columns %v", c)
	}
	set := func(on bool, columns ...int) {
		for _, j := range columns {
			for r := range s.Len() {
				s.X.Set(r, j, on)
			}
		}
	}
	set(true, 64)
	if got, want := s.DescribeConstantColumns(), "1 of 130 columns is constant (64)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	set(false, 0, 129)
	if got, want := s.DescribeConstantColumns(), "3 of 130 columns are constant (0, 64, 129)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	set(true, 63)
	if got, want := s.ConstantColumns(), []int{0, 63, 64, 129}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := s.DescribeConstantColumns(), "4 of 130 columns are constant (0, 63, 64, …)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	one := s.Take([]int32{7})
	if got, want := one.DescribeConstantColumns(), "all 130 columns are constant"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Grey values that round to the same bit are not constant.
	grey := &Set{X: rbm.NewBits(2, 3), Grey: rbm.Matrix{Rows: 2, Cols: 3, Data: []float32{0.1, 0.2, 0.3, 0.1, 0.25, 0.3}}}
	if got, want := grey.ConstantColumns(), []int{0, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (&Set{}).ConstantColumns(); got != nil {
		t.Errorf("an empty set has constant columns %v", got)
	}
}
