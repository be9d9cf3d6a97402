package potts

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// Norms leave out the gap, the correction subtracts products of means, and pairs of equal scores
// keep their order.
func TestScores(t *testing.T) {
	p, err := New(4, 3)
	if err != nil {
		t.Fatal(err)
	}
	copy(p.Pair(0, 2), []float64{9, 9, 9, 9, 3, 0, 9, 0, 4})
	s := p.Frobenius(1)
	if s[0][2] != 5 || s[2][0] != 5 || s[0][1] != 0 || s[2][2] != 0 {
		t.Errorf("norms %v, want 5 of sites 0 and 2 alone", s)
	}
	if got, want := p.Frobenius(0)[0][2], math.Sqrt(5*81+25); got != want {
		t.Errorf("the norm with the gap is %v, want %v", got, want)
	}
	product := newScores(5)
	for i := range 5 {
		for j := range 5 {
			if i != j {
				product[i][j] = 2
			}
		}
	}
	product[1][4], product[4][1] = 3, 3
	c := product.Corrected()
	// Means of rows are 2, 2.25, 2, 2, 2.25; the mean over all is 2.1.
	for _, x := range []struct {
		i, j int
		want float64
	}{{1, 4, 3 - 2.25*2.25/2.1}, {0, 2, 2 - 4/2.1}, {0, 1, 2 - 2*2.25/2.1}} {
		if got := c[x.i][x.j]; math.Abs(got-x.want) > 1e-14 || c[x.j][x.i] != got {
			t.Errorf("corrected score of %d and %d is %v, want %v", x.i, x.j, got, x.want)
		}
	}
	if got := c.Ranked(2); !slices.Equal(got, [][2]int{{1, 4}, {0, 2}, {0, 3}, {0, 4}, {1, 3}, {2, 4}}) {
		t.Errorf("ranked %v, want %v", got, [][2]int{{1, 4}, {0, 2}, {0, 3}, {0, 4}, {1, 3}, {2, 4}})
	}
	if zero := newScores(3).Corrected(); zero[0][1] != 0 {
		t.Errorf("scores of zero are corrected to %v: got %v, want 0", zero, zero[0][1])
	}
}

func TestDistances(t *testing.T) {
	d, err := ReadDistances(strings.NewReader("i,j,d\n1,3,7.9\n 4\t1 8 # far\n\n2,4,3\n4,2,3\n"), "d.csv", 4)
	if err != nil {
		t.Fatal(err)
	}
	ppv, total := d.Precision([][2]int{{0, 3}, {0, 1}, {1, 3}, {0, 2}}, 8)
	if total != 2 || !slices.Equal(ppv, []float64{0, 0.5, 2. / 3}) {
		t.Errorf("precision %v of %d contacts; pairs of unknown distance do not count", ppv, total)
	}
	for text, want := range map[string]string{
		"1 2\n1 2 3":     "no error: a first line of words",
		"1 2 3\n1 2":     `d:2: "1 2" is not a line of two sites`,
		"1 2 x\n1 2 y":   `d:2: "1 2 y" is not a line`,
		"0 2 3":          "d:1: sites 0 and 2; write two different sites from 1 to 4",
		"1 5 3":          "sites 1 and 5",
		"2 2 3":          "sites 2 and 2",
		"1.5 2 3":        "sites 1.5 and 2",
		"1 2 -3":         "-3 is not a distance",
		"1 2 NaN":        "NaN is not a distance",
		"1 2 3\n2 1 4":   "d:2: the sites 2 and 1 have another distance on an earlier line",
		"# nothing\n":    "d: no distances",
		"1 2 3 4\nx y z": "d:2: ",
	} {
		_, err := ReadDistances(strings.NewReader(text), "d", 4)
		if strings.HasPrefix(want, "no error") {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// Read reads what Write writes, with letters or numbers and upper or lower triangles.
func TestFile(t *testing.T) {
	p, err := Effective(context.Background(), groups(4, 3, 2, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b, "-AC"); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.HasPrefix(text, "J 0 1 - - ") || strings.Count(text, "\n") != 6*9+12 || !strings.Contains(text, "\nJ 2 3 C A ") || !strings.Contains(text, "\nh 3 C ") {
		t.Errorf("writes %.200s", text)
	}
	got, err := Read(bytes.NewReader(b.Bytes()), "p.dat", 4, "-AC")
	if err != nil {
		t.Fatal(err)
	}
	if d := farthest(got, p); d > 1e-8 {
		t.Errorf("what is written and read is off by %v, want at most 1e-8", d)
	}
	numbers := strings.NewReplacer(" - ", " 0 ", " A ", " 1 ", " C ", " 2 ")
	if got, err = Read(strings.NewReader(numbers.Replace(numbers.Replace(b.String()))), "p.dat", 4, "-AC"); err != nil || farthest(got, p) > 1e-8 {
		t.Errorf("with numbers for states: %v", err)
	}
	if got, err = Read(strings.NewReader("J 3 1 A C 0.5\nh 2 - -1\n"), "p.dat", 4, "-AC"); err != nil || got.Pair(1, 3)[2*3+1] != 0.5 || got.Fields[6] != -1 || got.Pair(0, 1)[0] != 0 {
		t.Errorf("the lower triangle: %v", err)
	}
	for text, want := range map[string]string{
		"":                          "p: no lines J i j a b value",
		"h 0 A 1\nj 1 2 A A 3":      "p:2: \"j 1 2 A A 3\" is not a line of adabmDCA",
		"J 0 1 A 3":                 "is not a line of adabmDCA",
		"h 4 A 1":                   `p:1: site "4"; the model has sites 0 to 3`,
		"h 1 D 1":                   `state "D"; it is a letter of -AC, or a number from 0 to 2`,
		"h 1 3 1":                   `state "3"`,
		"h 1 A Inf":                 `"Inf" is not a finite number`,
		"J 1 1 A A 1":               "a coupling of site 1 with itself",
		"J 0 1 A C 1\nJ 1 0 C A 2":  "p:2: J 1 0 C A has another value above",
		"J 0 1 A C 1\nJ 1 0 C A 1x": "is not a finite number",
	} {
		if _, err := Read(strings.NewReader(text), "p", 4, "-AC"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
