package data

import (
	"fmt"
	"strconv"
	"strings"
)

// ConstantColumns returns the inputs, counted from 0, that have the same value
// in every row: grey values count as they are. A model learns nothing from them
// but how likely their one value is, and their biases grow without end.
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

// DescribeConstantColumns says for a message what ConstantColumns there are:
// "24 of 784 columns are constant (0, 1, 2, …)". It is "" if there are none.
func (s *Set) DescribeConstantColumns() string {
	const most = 3
	columns := s.ConstantColumns()
	switch len(columns) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 of %d columns is constant (%d)", s.X.Cols, columns[0])
	case s.X.Cols:
		return fmt.Sprintf("all %d columns are constant", s.X.Cols)
	}
	var list []string
	for _, c := range columns {
		if len(list) == most {
			list = append(list, "…")
			break
		}
		list = append(list, strconv.Itoa(c))
	}
	return fmt.Sprintf("%d of %d columns are constant (%s)", len(columns), s.X.Cols, strings.Join(list, ", "))
}
