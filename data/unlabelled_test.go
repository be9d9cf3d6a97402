package data

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// If missing labels are allowed, empty labels and those equal to NoLabel are missing.
func TestUnlabelled(t *testing.T) {
	const text = "0,1,a\n1,1,\n0,0,-1\n1,0,b\n"
	csv := func(text string, opt Options) (*Set, error) {
		opt.LabelColumn = "last"
		return one(readText(strings.NewReader(text), "t.csv", opt))
	}
	s, err := csv(text, Options{Unlabelled: true, NoLabel: "-1"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Y, []int32{0, NoClass, NoClass, 1}) || !slices.Equal(s.Classes, []string{"a", "b"}) {
		t.Errorf("labels %v of %q, want %v and %q", s.Y, s.Classes, []int32{0, NoClass, NoClass, 1}, []string{"a", "b"})
	}
	if s.Unlabelled() != 2 || !slices.Equal(s.Labelled(), []int32{0, 3}) {
		t.Errorf("%d rows without a label, %v with one, want 2 and %v", s.Unlabelled(), s.Labelled(), []int32{0, 3})
	}
	// −1 is an ordinary class unless NoLabel is −1.
	if s, err := csv(text, Options{Unlabelled: true}); err != nil || !slices.Equal(s.Y, []int32{1, NoClass, 0, 2}) {
		t.Errorf("labels %v, %v", s, err)
	}
	_, err = csv(text, Options{NoLabel: "-1"})
	checkFormat(t, err, "t.csv:2: column 3: the label is missing; name a class")
	// Without labels there are no classes.
	if s, err := csv("0,1,\n1,1,?\n", Options{Unlabelled: true, NoLabel: "?"}); err != nil || s.Y != nil || s.Classes != nil || s.X.Cols != 2 {
		t.Errorf("%+v, %v: got %v, want 2", s, err, s.X.Cols)
	}

	x := npyBytes("|u1", "3, 2", []byte{0, 1, 1, 1, 0, 0})
	b := zipped(0, "x", x, "y", npyBytes("<i8", "3,", []int64{4, -1, 2}), "x_test", x, "y_test", npyBytes("<i8", "3,", []int64{-1, 4, 7}))
	train, test, err := two(loadNPZ(bytes.NewReader(b), int64(len(b)), "t.npz", Options{Unlabelled: true, NoLabel: "-1"}))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Y, []int32{1, NoClass, 0}) || !slices.Equal(test.Y, []int32{NoClass, 1, 2}) || !slices.Equal(test.Classes, []string{"2", "4", "7"}) {
		t.Errorf("labels %v and %v of %q, want %v, %v, %q", train.Y, test.Y, test.Classes, []int32{1, NoClass, 0}, []int32{NoClass, 1, 2}, []string{"2", "4", "7"})
	}

	// Rows without a label stay so, and have all label units off.
	named, err := train.WithClasses([]string{"4", "7", "2"})
	if err != nil || !slices.Equal(named.Y, []int32{0, NoClass, 2}) {
		t.Errorf("by other names: %v, %v", named, err)
	}
	v := rbm.NewBits(3, 2+3)
	v.Randomize(rbm.NewKey(1))
	train.Visible(v, RowNumbers(0, 3), 3)
	if got := rowText(v, 0) + rowText(v, 1) + rowText(v, 2); got != "01010"+"11000"+"00100" {
		t.Errorf("visible units %s, want %s", got, "01010"+"11000"+"00100")
	}
	bare := *train
	bare.Y = nil
	if bare.Unlabelled() != 0 || len(bare.Labelled()) != 3 {
		t.Error("rows of a set without labels are not all there")
	}
}
