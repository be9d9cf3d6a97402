package data

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ConstantColumns returns the inputs, counted from 0, that have the same value in every row. Grey values
// are compared exactly. A model learns nothing from such an input but its value, and its bias grows without
// bound.
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

// DescribeConstantColumns lists ConstantColumns for a message, by name if they have names, as in "24 of 784 columns are
// constant (0, 1, 2, …)". For sequences and tables it lists the sites or columns whose units are all constant. It
// returns "" if there are none.
func (s *Set) DescribeConstantColumns() string {
	const most = 3
	columns, all, what := s.ConstantColumns(), s.X.Cols, "column"
	name := strconv.Itoa
	if s.Columns != nil {
		name = func(j int) string { return s.Columns[j] }
	}
	if s.Schema != nil {
		columns, all = s.Schema.whole(columns), len(s.Schema.Columns)
		name = func(j int) string { return s.Schema.Columns[j].Name }
		if s.Schema.Alphabet != "" {
			what = "site"
		}
	}
	n := len(columns)
	var names []string
	for _, j := range columns[:min(n, most)] {
		names = append(names, name(j))
	}
	list := strings.Join(names, ", ")
	if n > most {
		list += ", …"
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 of %d %ss is constant (%s)", all, what, list)
	case all:
		return fmt.Sprintf("all %d %ss are constant", n, what)
	}
	return fmt.Sprintf("%d of %d %ss are constant (%s)", n, all, what, list)
}

// whole returns the columns whose units are all among units, which must be ascending.
func (s *Schema) whole(units []int) (columns []int) {
	first := 0
	for j := range s.Columns {
		n := s.Columns[j].Units()
		from, _ := slices.BinarySearch(units, first)
		to, _ := slices.BinarySearch(units, first+n)
		if to-from == n {
			columns = append(columns, j)
		}
		first += n
	}
	return columns
}
