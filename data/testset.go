package data

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// LoadTest returns rows from a separate source, to test models of train: the test rows of the source, or
// all its rows if it has none. They are read like train, with the same shape and the same scale, to which
// values are clipped. Classes are matched by name and get their numbers in train. Either set may lack
// labels.
//
// Errors are those of [Load]. An [ErrFormat] also means that rows have another length, or a label that is
// not among the classes of train.
func LoadTest(ctx context.Context, spec string, train *Set, opt Options) (*Set, error) {
	if train.Scale != "" {
		opt.Scale, opt.Clip = train.Scale, true
	}
	opt.Height, opt.Width, opt.Redraw = 0, 0, false
	opt.IgnoreKnown, opt.Holdout = true, 0
	opt.Columns = train.Columns
	if train.Means != nil {
		opt.Binarize, opt.Means, opt.Deviations = Standard, train.Means, train.Deviations
	}
	if opt.Schema = train.Schema; !train.WeightColumn {
		opt.Weights = ""
	}
	first, test, err := Load(ctx, spec, opt)
	if err != nil {
		return nil, err
	}
	if test == nil {
		test = first
	}
	if test.X.Cols != train.X.Cols {
		return nil, formatErrorf("%s: rows of %d inputs, where those of %s have %d; give both the same columns, and labels in the same way",
			test.Name, test.X.Cols, train.Name, train.X.Cols)
	}
	if err := test.CheckColumns(train.Columns, train.Name); err != nil {
		return nil, err
	}
	if err := test.CheckSchema(train.Schema, train.Name); err != nil {
		return nil, err
	}
	test.Height, test.Width = train.Height, train.Width
	if note := train.beyond(test); note != "" {
		test.Notes = append(test.Notes, note)
	}
	if test.Y == nil || train.Y == nil {
		return test, nil
	}
	return test.WithClasses(train.Classes)
}

// CheckColumns returns an [ErrFormat] if the inputs of s do not have these names, in this order. It returns
// nil if s or names have none. other names the data or the model that has names, for the error.
func (s *Set) CheckColumns(names []string, other string) error {
	if s.Columns == nil || names == nil || len(names) != s.X.Cols || len(s.Columns) != s.X.Cols {
		return nil
	}
	for j, name := range names {
		if s.Columns[j] != name {
			return formatErrorf("%s: column %d is %s, where %s has %s; give both the same columns in the same order",
				s.Name, j+1, quote(s.Columns[j]), other, quote(name))
		}
	}
	return nil
}

// CheckSchema returns an [ErrFormat] if the inputs of s stand for other values than those of want. It
// returns nil if s has no schema or want is nil. other names the data or the model that has want, for the
// error.
func (s *Set) CheckSchema(want *Schema, other string) error {
	if s.Schema == nil || want == nil {
		return nil
	}
	same := func(a, b Column) bool {
		return a.Name == b.Name && slices.Equal(a.Levels, b.Levels) && slices.Equal(a.Edges, b.Edges) &&
			(a.Number == nil) == (b.Number == nil) && (a.Number == nil || *a.Number == *b.Number)
	}
	switch has := s.Schema; {
	case has.Alphabet != want.Alphabet && has.Alphabet != "" && want.Alphabet != "":
		return formatErrorf("%s: the alphabet is %s, where %s has %s; read both with the same alphabet", s.Name, has.Alphabet, other, want.Alphabet)
	case has.Alphabet != want.Alphabet, !slices.EqualFunc(has.Columns, want.Columns, same):
		return formatErrorf("%s: %v, which stand for other values than the %v of %s; read both alike", s.Name, has, want, other)
	}
	return nil
}

// WithClasses returns s with names as its classes. Labels are renumbered so that each row keeps the name of
// its class. Some of names may have no rows in s. If s has no labels, or names is nil, it returns s.
//
// It returns an [ErrFormat] if the label of a row is not among names.
func (s *Set) WithClasses(names []string) (*Set, error) {
	if s.Y == nil || names == nil || slices.Equal(s.Classes, names) {
		return s, nil
	}
	class := make([]int32, len(s.Classes)) // new number of each class of s, or −1
	back := make([]int, len(names))        // old number of each class in names, or −1
	for c := range back {
		back[c] = classNamed(s.Classes, names[c])
	}
	for c, name := range s.Classes {
		class[c] = int32(classNamed(names, name))
	}
	t := *s
	t.Y, t.Classes = make([]int32, s.Len()), names
	for r, y := range s.Y {
		if y == NoClass {
			t.Y[r] = NoClass
			continue
		}
		if t.Y[r] = class[y]; class[y] < 0 {
			return nil, formatErrorf("%s: row %d has the label %s, which is none of the %d classes %s; leave such rows out, or name the classes alike",
				s.Name, r, quote(s.Classes[y]), len(names), someNames(names))
		}
	}
	if logProb := s.LogProb; logProb != nil {
		t.LogProb = func(x []uint64, y int) float64 {
			if y >= 0 {
				if y = back[y]; y < 0 {
					return math.Inf(-1)
				}
			}
			return logProb(x, y)
		}
	}
	return &t, nil
}

// classNamed returns the index of name in names, or that of the same number in another spelling, as of 1 and
// 1.0, or −1.
func classNamed(names []string, name string) int {
	at := slices.Index(names, name)
	if v, ok := number(name); at < 0 && ok {
		at = slices.IndexFunc(names, func(other string) bool { x, is := number(other); return is && x == v })
	}
	return at
}

// someNames lists the first names for a message.
func someNames(names []string) string {
	const most = 10
	text := fmt.Sprintf("%q", names[:min(len(names), most)])
	text = strings.ReplaceAll(strings.Trim(text, "[]"), `" "`, `", "`)
	if len(names) > most {
		text += ", …"
	}
	return text
}

// TestBeside returns the path of a file of test rows that belongs by its name to the training rows of spec,
// such as test.csv next to train.csv. It returns "" if there is none.
func TestBeside(spec string) string {
	if name, _, _ := strings.Cut(spec, ":"); Known(name) {
		return ""
	}
	return besideTest(splitPair(spec).x)
}

// besideTest returns the path of the file that has test or t10k in its name where path has train, or "".
func besideTest(path string) string {
	return cmp.Or(sibling(path, "train", "t10k"), sibling(path, "train", "test"))
}
