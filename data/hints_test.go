package data

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// Each hint comes for a file that it is for, and for no file without the trait; there are at most three.
func TestHints(t *testing.T) {
	r := rbm.NewKey(8).Rand()
	rows := func(n int, row func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		return b.String()
	}
	bits := func(n int) string {
		cells := make([]string, n)
		for j := range cells {
			cells[j] = fmt.Sprint(r.IntN(2))
		}
		return strings.Join(cells, ",")
	}
	onehot := []string{"1,0,0", "0,1,0", "0,0,1"}
	five := []string{bits(24), bits(24), bits(24), bits(24), bits(24)}
	fruit := []string{"red,apple", "yellow,lemon", "green,lime"}
	for _, c := range []struct{ name, text, want string }{
		{"one-hot", "x,red,green,blue,y\n" + rows(100, func(int) string { return bits(1) + "," + onehot[r.IntN(3)] + "," + bits(1) }), `of the columns "red" to "blue" exactly one is 1 in each row`},
		{"nearly one-hot", rows(100, func(i int) string {
			return bits(1) + "," + append(onehot, "1,1,0")[max(r.IntN(3), 3-3*max(i-5, 5-i))] + ",1"
		}), ""},
		{"transposed", rows(8, func(int) string { return bits(100) }), "8 rows of 100 columns: if each column of the file is an example, transpose it"},
		{"a twin", "a,b,c\n" + rows(100, func(int) string { x := bits(1); return x + "," + bits(1) + "," + x }), `column "c" is determined by column "a"; one of them is enough`},
		{"a determined word", "n,colour,fruit\n" + rows(100, func(int) string { return bits(1) + "," + fruit[r.IntN(3)] }), `column "fruit" is determined by column "colour"`},
		{"one value nearly everywhere", "colour,flag\n" + rows(1000, func(i int) string {
			return fruit[r.IntN(3)][:3] + "," + map[bool]string{true: "yes", false: "no"}[i == 7]
		}), `column "flag" has the value "no" in 99.9 % of the rows`},
		{"repeated", rows(300, func(int) string { return five[r.IntN(5)] }), "295 of 300 rows repeat an earlier row"},
		{"few states", rows(300, func(int) string { return bits(3) }), ""},
		{"plain", rows(300, func(int) string { return bits(24) }), ""},
	} {
		s, _, err := Load(t.Context(), writeFile(t, "t.csv", c.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		hints := s.Hints()
		if c.want == "" && len(hints) > 0 || c.want != "" && !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(h, c.want) }) || len(hints) > maxHints {
			t.Errorf("%s: hints %q, want %q", c.name, hints, c.want)
		}
	}
}

// Test rows far outside the training rows are named, with their column and their value in the units of the data.
func TestTestRowsBeyond(t *testing.T) {
	train := "a,b\n"
	for i := range 50 {
		train += fmt.Sprintf("%d.5,%d\n", i, -i)
	}
	near, far := "a,b\n60.5,-3\n", "a,b\n3.5,-3\n4.5,-700\n"
	for _, opt := range []Options{{Real: true}, {Numbers: NumbersGaussian}} {
		s, _, err := Load(t.Context(), writeFile(t, "train.csv", train), opt)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]string{near: "", far: `hint: column "b" reaches -700, far outside the training rows, which have -49 to 0; are the units the same?`} {
			test, err := LoadTest(t.Context(), writeFile(t, "test.csv", text), s, opt)
			if err != nil || strings.Join(test.Notes, "") != want {
				t.Errorf("notes %q, %v, want %q", test.Notes, err, want)
			}
		}
	}
}
