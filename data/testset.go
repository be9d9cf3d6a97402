package data

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// LoadTest returns rows to test models of train with, from a separate source:
// its test rows if it has any, else all of its rows. They are read as train
// was: on its scale, if it has one, and clipped to it, with its shape, and with its numbers of the
// classes, by their names. Labels may be missing in either.
//
// Errors are those of [Load]; it is an [ErrFormat] if rows have another length,
// or a label is not among the classes of train.
func LoadTest(ctx context.Context, spec string, train *Set, opt Options) (*Set, error) {
	if train.Scale != "" {
		opt.Scale, opt.Clip = train.Scale, true
	}
	opt.Height, opt.Width, opt.Redraw = 0, 0, false
	opt.IgnoreKnown = true
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
	if test.Y == nil || train.Y == nil {
		return test, nil
	}
	return test.WithClasses(train.Classes)
}

// CheckColumns returns an [ErrFormat] if the inputs of s have other names than these, or in another
// order. Where s or the names are without, nothing can be said, and the error is nil. other is what has the names.
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

// CheckSchema returns an [ErrFormat] if the inputs of s stand for other values than those of a schema.
// Where s or other has none, nothing can be said, and the error is nil. other is what has the schema.
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

// WithClasses returns s with these classes in place of those it had: its labels are
// renumbered by their names. Some of the names may have no rows in s. A set
// without labels is returned as it is, and so is any set if there are no names.
//
// The error, an [ErrFormat], is that of a row whose label is not among the names.
func (s *Set) WithClasses(names []string) (*Set, error) {
	if s.Y == nil || names == nil || slices.Equal(s.Classes, names) {
		return s, nil
	}
	class := make([]int32, len(s.Classes)) // for each of s, or −1
	back := make([]int, len(names))        // and the way back
	for c := range back {
		back[c] = slices.Index(s.Classes, names[c])
	}
	for c, name := range s.Classes {
		class[c] = int32(slices.Index(names, name))
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
	if law := s.LogProb; law != nil {
		t.LogProb = func(x []uint64, y int) float64 {
			if y >= 0 {
				if y = back[y]; y < 0 {
					return math.Inf(-1)
				}
			}
			return law(x, y)
		}
	}
	return &t, nil
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

// TestBeside returns the path of a file that by its name holds the test rows of
// the training rows in the file of spec, or "": test.csv next to train.csv.
func TestBeside(spec string) string {
	if name, _, _ := strings.Cut(spec, ":"); Known(name) {
		return ""
	}
	return besideTest(splitPair(spec).images)
}

// besideTest returns the path of the file that has test or t10k in its name
// where this one has train, or "".
func besideTest(path string) string {
	return cmp.Or(sibling(path, "train", "t10k"), sibling(path, "train", "test"))
}
