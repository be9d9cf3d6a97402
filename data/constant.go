package data

import (
	"fmt"
	"strconv"
	"strings"
)

// ConstantColumns returns the inputs, counted from 0, that have the same value
// in every row; grey values are compared as they are. All that a model learns
// from such an input is its value, and its bias grows without end.
func (s *Set) ConstantColumns() []int {
	if s.Len() == 0 {
		return nil
	}
	// Bit j of differ is set if some row differs from the first in column j.
	differ := make([]uint64, s.X.Stride)
	if s.Grey.Rows > 0 {
		first := s.Grey.Row(0)
		for r := range s.Len() {
			for j, v := range s.Grey.Row(r) {
				if v != first[j] {
					differ[j/64] |= 1 << (j % 64)
				}
			}
		}
	} else {
		first := s.X.Row(0)
		for r := range s.Len() {
			for i, w := range s.X.Row(r) {
				differ[i] |= w ^ first[i]
			}
		}
	}
	var columns []int
	for j := range s.X.Cols {
		if differ[j/64]>>(j%64)&1 == 0 {
			columns = append(columns, j)
		}
	}
	return columns
}

// DescribeConstantColumns lists ConstantColumns for a message, by their names where there are some, as in "24 of 784
// columns are constant (0, 1, 2, …)". It is "" if there are none.
func (s *Set) DescribeConstantColumns() string {
	const most = 3
	columns := s.ConstantColumns()
	n := len(columns)
	var names []string
	for _, j := range columns[:min(n, most)] {
		if s.Columns != nil {
			names = append(names, s.Columns[j])
		} else {
			names = append(names, strconv.Itoa(j))
		}
	}
	list := strings.Join(names, ", ")
	if n > most {
		list += ", …"
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 of %d columns is constant (%s)", s.X.Cols, list)
	case s.X.Cols:
		return fmt.Sprintf("all %d columns are constant", n)
	}
	return fmt.Sprintf("%d of %d columns are constant (%s)", n, s.X.Cols, list)
}
