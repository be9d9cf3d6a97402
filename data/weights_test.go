package data

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

func TestWeightColumn(t *testing.T) {
	path := writeFile(t, "a.csv", "a,w,b,label\n1,2,0,x\n0,0,1,y\n1,0.5,1,y\n")
	s, _, err := Load(context.Background(), path, Options{Weights: "w"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 2 || s.X.Cols != 2 || !slices.Equal(s.Weights, []float64{2, 0.5}) || s.TotalWeight() != 2.5 || s.Y[1] != 1 {
		t.Errorf("%d rows of %d inputs with weights %v, classes %v", s.Len(), s.X.Cols, s.Weights, s.Y)
	}
	if got := strings.Join(s.Notes, ""); got != "1 of 3 rows have weight 0 and are left out" {
		t.Errorf("notes %q, want %q", got, "1 of 3 rows have weight 0 and are left out")
	}
	file := writeFile(t, "w.txt", "2\n0\n5e-1\n")
	o, _, err := Load(context.Background(), writeFile(t, "b.csv", "a,b,label\n1,0,x\n0,1,y\n1,1,y\n"), Options{Weights: file})
	if err != nil || o.Hash() != s.Hash() {
		t.Errorf("weights of a file: %v", err)
	}
	o.Weights = nil
	if o.Hash() == s.Hash() {
		t.Error("the hash does not see the weights")
	}
}

func TestBadWeights(t *testing.T) {
	for _, c := range []struct{ rows, weights, want string }{
		{"a,w\n1,-1\n", "w", `a.csv:2: column 2 ("w"): the weight is "-1"; it must be a finite number from 0 up`},
		{"w,a\n1,1\nNaN,0\n", "w", `a.csv:3: column 1 ("w"): the weight is "NaN"; it must be a finite number from 0 up`},
		{"w,a\n1,1\n,0\n", "w", `a.csv:3: column 1 ("w"): the weight is missing; write a number from 0 up`},
		{"w,a\n1,2\n", "w", `a.csv:2: column 2 ("a"): "2" is outside [0,1]`},
		{"w,a\n0,1\n0,0\n", "w", `a.csv: the weights of the 2 rows sum to 0; some must be above 0, and the sum finite`},
		{"a\n1\n0\n", "1\n", `w.txt holds 1 weights, and a.csv 2 rows; give one a row`},
		{"a\n1\n0\n", "1\nx\n", `w.txt:2: the weight is "x"; it must be a finite number from 0 up`},
		{"a\n1\n0\n", "1\n\n", `w.txt:2: the weight is missing; write a number from 0 up`},
		{"a\n1\n0\n", "absent", `-weights "absent": file does not exist, and a.csv has no column of this name; its columns are "a"`},
	} {
		path := writeFile(t, "a.csv", c.rows)
		opt := Options{Weights: c.weights}
		if strings.Contains(c.weights, "\n") {
			opt.Weights = writeFile(t, "w.txt", c.weights)
		}
		_, _, err := Load(context.Background(), path, opt)
		if err == nil {
			t.Errorf("%q with weights %q is taken", c.rows, c.weights)
			continue
		}
		got := strings.NewReplacer(filepath.Dir(path)+"/", "", filepath.Dir(opt.Weights)+"/", "").Replace(err.Error())
		if !strings.Contains(got, c.want) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Averaged over the starting points of an epoch, a row occurs w·n/Σw times. In each epoch this number is
// rounded down or up. With equal weights each row occurs once.
func TestWeightedBatches(t *testing.T) {
	weights := []float64{1, 2.5, 0.1, 4, 0.4}
	b := NewBatches(5, 5, rbm.NewKey(3)).Weigh(weights)
	const epochs = 20000
	counts := make([]float64, 5)
	rows := make([]int32, 5)
	for e := range epochs {
		b.Rows(rows, e)
		var one [5]float64
		for _, r := range rows {
			one[r]++
		}
		for i, n := range one {
			counts[i] += n
			if want := weights[i] * 5 / 8; math.Abs(n-want) >= 1 {
				t.Fatalf("epoch %d has row %d %v times; %v are expected", e, i, n, want)
			}
		}
	}
	for i, n := range counts {
		p := weights[i] * 5 / 8
		f := p - math.Floor(p) // probability of the larger number
		if se := math.Sqrt(epochs * f * (1 - f)); math.Abs(n-epochs*p) > 6*se {
			t.Errorf("row %d: met %v times, want %v ± %v", i, n, epochs*p, se)
		}
	}
	equal, all := NewBatches(7, 7, rbm.NewKey(4)).Weigh([]float64{2, 2, 2, 2, 2, 2, 2}), make([]int32, 7)
	for step := range 20 {
		equal.Rows(all, step)
		slices.Sort(all)
		if !slices.Equal(all, RowNumbers(0, 7)) {
			t.Errorf("epoch %d of equal weights has the rows %v", step, all)
		}
	}
}

// The gradient of a minibatch has the same expectation with weights and with rows repeated that often. The
// expectation is computed exactly, as a sum over all first points of an epoch, which fall into intervals of
// equal rows, and over all orders of its rows. Two broken twins have other gradients: rows without weights,
// and points that always begin in the middle.
func TestWeightedGradient(t *testing.T) {
	weights := []float64{3, 1, 2, 1, 4}
	const n, visible, hidden, batch = 5, 3, 2, 2
	m := rbm.New(visible, hidden, 0, rbm.Bernoulli)
	m.Randomize(1, rbm.NewKey(2))
	m.HiddenBias[0], m.HiddenBias[1] = 0.3, -0.7
	x := rbm.NewBits(n, visible)
	for r := range n {
		for i := range visible {
			x.Set(r, i, (r+1)>>i&1 == 1)
		}
	}
	h := rbm.NewMatrix(n, hidden)
	m.HiddenMean(h, x)
	// add adds to sum the mean of vh, v and h over rows, times p: the positive phase of their gradient.
	add := func(sum []float64, p float64, rows ...int32) {
		for _, r := range rows {
			share := p / float64(len(rows))
			for j := range hidden {
				mean := share * float64(h.Row(int(r))[j])
				for i := range visible {
					sum[j*visible+i] += mean * float64(x.At(int(r), i))
				}
				sum[hidden*visible+j] += mean
			}
			for i := range visible {
				sum[hidden*visible+hidden+i] += share * float64(x.At(int(r), i))
			}
		}
	}
	const size = hidden*visible + hidden + visible
	var repeated []int32
	for r, w := range weights {
		for range int(w) {
			repeated = append(repeated, int32(r))
		}
	}
	want := make([]float64, size)
	add(want, 1, repeated...)
	// orders calls f with all orders of rows[k:].
	var orders func(rows []int32, k int, f func())
	orders = func(rows []int32, k int, f func()) {
		if k == len(rows) {
			f()
			return
		}
		for i := k; i < len(rows); i++ {
			rows[k], rows[i] = rows[i], rows[k]
			orders(rows, k+1, f)
			rows[k], rows[i] = rows[i], rows[k]
		}
	}
	// expected returns the expectation of the gradient of a minibatch in an epoch, where ends are those of
	// the intervals of the first points.
	expected := func(weights []float64, ends []float64) []float64 {
		b := NewBatches(n, batch, rbm.NewKey(1)).Weigh(weights)
		sum := make([]float64, size)
		for k := range ends[1:] {
			b.systematic((ends[k] + ends[k+1]) / 2)
			orders(b.perm, 0, func() {
				for first := 0; first+batch <= n; first += batch { // the minibatches of an epoch
					add(sum, (ends[k+1]-ends[k])/120/2, b.perm[first:first+batch]...)
				}
			})
		}
		return sum
	}
	farthest := func(x []float64) (d float64) {
		for i := range x {
			d = max(d, math.Abs(x[i]-want[i]))
		}
		return d
	}
	ends := []float64{0, 1} // first points at which some point moves from one row to the next
	at := 0.0
	for _, w := range weights {
		at += w * n / 11
		ends = append(ends, at-math.Floor(at))
	}
	slices.Sort(ends)
	if d := farthest(expected(weights, ends)); d > 1e-12 { // sums of some thousand terms below 1, rounded to 2⁻⁵³
		t.Errorf("the expected gradient is off that of repeated rows by %v", d)
	}
	if d := farthest(expected(slices.Repeat([]float64{1}, n), ends)); d < 0.01 {
		t.Errorf("without weights it is off by %v", d)
	}
	if d := farthest(expected(weights, []float64{0, 1})); d < 0.01 {
		t.Errorf("with a first point that is fixed it is off by %v", d)
	}
}

// The weights of sequences agree with counting letter by letter.
func TestReweight(t *testing.T) {
	for _, sites := range []int{5, 64, 130} {
		const n = 150
		a, err := newAlphabet("protein")
		if err != nil {
			t.Fatal(err)
		}
		var r rng
		r.seed(rbm.NewKey(uint64(sites)))
		states := make([]uint8, n*sites)
		for i := range states {
			if states[i] = uint8(r.intn(21)); i >= 10*sites && r.intn(10) > 0 {
				states[i] = states[i%(10*sites)] // equal to one of the first ten
			}
		}
		s := newSequences("x", a, sites, states)
		for _, identity := range []float64{0.2, 0.8, 0.95, 1} {
			got, err := s.neighbourWeights(context.Background(), identity, Options{}.progress("", "rows", 0))
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				count := 0
				for j := range n {
					equal := 0
					for k := range sites {
						if states[i*sites+k] == states[j*sites+k] {
							equal++
						}
					}
					if float64(equal)/float64(sites) >= identity {
						count++
					}
				}
				if got[i] != 1/float64(count) {
					t.Fatalf("%d sites, identity %v: row %d has weight 1/%v, want 1/%d", sites, identity, i, 1/got[i], count)
				}
			}
		}
	}
	if _, _, err := Load(context.Background(), "toy", Options{Reweight: 0.8}); err == nil || !strings.Contains(err.Error(), "has no aligned sequences") {
		t.Errorf("bits by neighbours: %v, want %q in it", err, "has no aligned sequences")
	}
}

func BenchmarkReweight(b *testing.B) {
	a, _ := newAlphabet("protein")
	const n, sites = 40000, 100
	var r rng
	states := make([]uint8, n*sites)
	for i := range states {
		states[i] = uint8(r.intn(21))
		if r.intn(5) < 2 {
			states[i] = states[i%sites] // equal to the first row, so that sites are conserved
		}
	}
	s := newSequences("x", a, sites, states)
	for b.Loop() {
		s.neighbourWeights(context.Background(), 0.8, Options{}.progress("", "rows", 0))
	}
}

// weightedTable returns the rows of a table, one of which has a word that no other row has, and their weights.
func weightedTable() (rows []string, weights []int) {
	r := rbm.NewKey(3).Rand()
	for i := range 120 {
		word := []string{"a", "b", "c"}[r.IntN(3)]
		if i == 70 {
			word = "rare"
		}
		rows = append(rows, fmt.Sprintf("%s,%.4f,%.3f", word, r.NormFloat64(), float64(i)+r.Float64()))
		weights = append(weights, (i/10)%4) // of row 70: 3
	}
	weights[70] = 0
	return rows, weights
}

// A row of weight w counts as w rows in the levels, means and deviations of a table's columns, whether the
// weights are a column or a file. In particular a word of rows of weight 0 is no level.
func TestWeightsOfTables(t *testing.T) {
	rows, weights := weightedTable()
	const header = "word,x,y"
	column, lines, repeated := header+",w\n", "", header+"\n"
	for i, row := range rows {
		column += fmt.Sprintf("%s,%d\n", row, weights[i])
		lines += fmt.Sprintf("%d\n", weights[i])
		repeated += strings.Repeat(row+"\n", weights[i])
	}
	plain := header + "\n" + strings.Join(rows, "\n") + "\n"
	near := func(a, b *Schema) bool {
		return slices.EqualFunc(a.Columns, b.Columns, func(a, b Column) bool {
			if a.Number != nil && b.Number != nil && math.Abs(a.Number.Mean-b.Number.Mean) < 1e-12*max(1, math.Abs(b.Number.Mean)) && math.Abs(a.Number.Deviation/b.Number.Deviation-1) < 1e-12 {
				a.Number, b.Number = nil, nil
			}
			return a.Name == b.Name && slices.Equal(a.Levels, b.Levels) && slices.Equal(a.Edges, b.Edges) && a.Number == b.Number
		})
	}
	for _, numbers := range []string{NumbersLevels, NumbersGaussian} {
		opt := Options{Numbers: numbers, Levels: 5}
		load := func(rows, weights string) *Set {
			opt := opt
			opt.Weights = weights
			s, _, err := Load(context.Background(), writeFile(t, "a.csv", rows), opt)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		want := load(repeated, "")
		for name, s := range map[string]*Set{"column": load(column, "w"), "file": load(plain, writeFile(t, "w.txt", lines))} {
			if s.Len() != 89 || !near(s.Schema, want.Schema) || s.Missing.Rows > 0 {
				t.Errorf("%s, weights in a %s: %d rows\n%s\nwant 89 rows\n%s", numbers, name, s.Len(), s.Schema.Text(), want.Schema.Text())
			}
		}
		if near(load(plain, "").Schema, want.Schema) {
			t.Errorf("%s: a schema that ignores the weights is not seen", numbers)
		}
	}
	for _, bad := range []string{strings.Repeat("0\n", 120), strings.Repeat("1e308\n", 120)} {
		if _, _, err := Load(context.Background(), writeFile(t, "a.csv", plain), Options{Levels: 5, Weights: writeFile(t, "w.txt", bad)}); err == nil || !strings.Contains(err.Error(), "some must be above 0, and the sum finite") {
			t.Errorf("weights %.6q…: got %v, want an error about their sum", bad, err)
		}
	}
}

// Means, deviations and levels are those of the rows that are not held out, by their weights: of reals, and
// of the columns of a table. A column that is constant in these rows is left out, as without a holdout.
func TestHoldoutIsNotSeen(t *testing.T) {
	rows, weights := weightedTable()
	for name, c := range map[string]struct {
		from int // first column of the rows that is used
		opt  Options
	}{
		"reals":             {1, Options{Binarize: Standard}},
		"reals, found":      {1, Options{Real: true}},
		"numbers of tables": {0, Options{Numbers: NumbersGaussian, Categorical: "word"}},
		"levels of tables":  {0, Options{Levels: 5, Categorical: "word"}},
	} {
		write := func(keep func(row int) bool) string {
			text := []string{"word,x,y,w", "x,y,w"}[c.from] + "\n"
			for i, row := range rows {
				if keep(i) {
					_, short, _ := strings.Cut(row, ",")
					text += []string{row, short}[c.from] + fmt.Sprintf(",%d\n", weights[i])
				}
			}
			return writeFile(t, "a.csv", text)
		}
		load := func(path string, holdout float64) *Set {
			opt := c.opt
			opt.Weights, opt.Holdout, opt.HoldoutKey = "w", holdout, HoldoutKey(7)
			s, _, err := Load(context.Background(), path, opt)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		all := load(write(func(int) bool { return true }), 0.4)
		part, held, err := all.Split(0.4, HoldoutKey(7))
		if err != nil {
			t.Fatal(err)
		}
		used := map[int]bool{}
		for _, n := range part.Numbers {
			used[int(n)] = true
		}
		alone := load(write(func(row int) bool { return used[row] }), 0)
		if part.Len() != alone.Len() || held.Len() == 0 || !slices.Equal(part.X.Words, alone.X.Words) {
			t.Errorf("%s: %d training rows and %d held out, want %d rows of the same bits as without the others", name, part.Len(), held.Len(), alone.Len())
		}
		if c.opt.Levels == 0 {
			for i, x := range part.Grey.Data {
				if d := math.Abs(float64(x - alone.Grey.Data[i])); d > 1e-6 {
					t.Fatalf("%s: value %d of the training rows differs by %v from that without the others, want at most 1e-6", name, i, d)
				}
			}
		} else if part.Schema.Text() != alone.Schema.Text() {
			t.Errorf("%s: the schema is\n%s\nwant that of the training rows\n%s", name, part.Schema.Text(), alone.Schema.Text())
		}
		blind, _, err := load(write(func(int) bool { return true }), 0).Split(0.4, HoldoutKey(7))
		if err != nil || slices.Equal(blind.X.Words, alone.X.Words) {
			t.Errorf("%s: levels and means of all rows are not seen: %v", name, err)
		}
	}
}
