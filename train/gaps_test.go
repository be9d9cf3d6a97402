package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/parallel"
)

// twins returns rows of a bit and two variables of three states that are always equal. Some cells are
// missing, and X has a random state there.
func twins(missing float64) *data.Set {
	const rows = 400
	s := &data.Set{Name: "twins", X: rbm.NewBits(rows, 7), Missing: rbm.NewBits(rows, 7), Binarize: data.Binary, Height: 1, Width: 7,
		Groups: []rbm.Group{{Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Bernoulli, Units: 1}}}
	r := rbm.NewKey(3).Rand()
	for row := range rows {
		state := r.IntN(3)
		for first := 0; first < 6; first += 3 {
			at := state
			if r.Float64() < missing {
				at = r.IntN(3)
				for k := range 3 {
					s.Missing.Set(row, first+k, true)
				}
			}
			s.X.Set(row, first+at, true)
		}
		s.X.Set(row, 6, r.IntN(2) == 1)
	}
	return s
}

// agreement returns the probability under m that the two variables of twins are equal.
func agreement(t *testing.T, m *rbm.RBM) float64 {
	t.Helper()
	logZ, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	p := 0.0
	v, f := rbm.NewBits(1, 7), make([]float64, 1)
	for state := range 3 {
		for bit := range 2 {
			clear(v.Words)
			v.Set(0, state, true)
			v.Set(0, 3+state, true)
			v.Set(0, 6, bit == 1)
			m.FreeEnergy(f, v)
			p += rbm.Exp(-f[0] - logZ)
		}
	}
	return p
}

// If missing cells are redrawn by the model, it learns from the known cells alone that the variables are
// equal. If the first draws stay, it learns these instead.
func TestTrainingWithGaps(t *testing.T) {
	s := DefaultSettings("exact")
	s.Rate, s.Batch, s.Schedule = 0.5, 50, "constant"
	train := func(set *data.Set) float64 {
		tr, err := New(s, set, NewModel(set, 6, false, rbm.Softmax, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Run(context.Background(), 2000); err != nil {
			t.Fatal(err)
		}
		return agreement(t, tr.Model())
	}
	set := twins(0.3)
	if p := train(set); p < 0.97 {
		t.Errorf("with gaps the variables are equal with probability %.3f, want at least 0.97", p)
	}
	filled := *set
	filled.Missing = rbm.Values{}
	if p := train(&filled); p > 0.85 {
		t.Errorf("by the first draws they are equal with probability %.3f, though one of three rows says else, want at most 0.85", p)
	}
}

// measured returns rows of a variable of three classes, a number whose mean depends on the class, and a
// bit. Some cells are missing.
func measured(missing float64) *data.Set {
	const rows = 300
	s := &data.Set{Name: "measured", X: rbm.NewBits(rows, 5), Grey: rbm.NewMatrix(rows, 5), Missing: rbm.NewBits(rows, 5), Binarize: data.Standard, Height: 1, Width: 5,
		Means: []float64{0, 0, 0, 10, 0}, Deviations: []float64{1, 1, 1, 2, 1},
		Groups: []rbm.Group{{Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Gaussian, Units: 1}, {Kind: rbm.Bernoulli, Units: 1}}}
	r := rbm.NewKey(3).Rand()
	for row := range rows {
		class := r.IntN(3)
		x := []float32{0, 0, 0, float32(1.2*float64(class-1) + 0.5*r.NormFloat64()), float32(r.IntN(2))}
		x[class] = 1
		copy(s.Grey.Row(row), x)
		for i, v := range x {
			s.X.Set(row, i, v > 0)
		}
		for first, units := range map[int]int{0: 3, 3: 1, 4: 1} {
			for i := first; i < first+units && float64(first+row*7%10)/14 < missing; i++ {
				s.Missing.Set(row, i, true)
			}
		}
	}
	return s
}

// If missing numbers and classes are redrawn, the model learns from the known cells alone how the number
// depends on the class, and metrics sum the missing cells out. From the first draws it learns less of the
// dependence.
func TestTrainingWithMissingNumbers(t *testing.T) {
	s := DefaultSettings("exact")
	s.Rate, s.Batch, s.Schedule, s.LearnPrecision = 0.2, 50, "constant", true
	// train returns the means of the number given each of two classes, and the log-likelihood of the rows.
	train := func(set *data.Set) (means [2]float64, likelihood float64) {
		tr, err := New(s, set, NewModel(set, 6, false, rbm.Softmax, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Run(context.Background(), 4000); err != nil {
			t.Fatal(err)
		}
		for k := range means {
			inputs := []float32{0, 0, 0, rbm.FreeInput, rbm.FreeInput}
			inputs[2*k] = 1
			c, err := tr.Model().Given(inputs, rbm.Free)
			if err != nil {
				t.Fatal(err)
			}
			e, err := exact.New(c, exact.GradientLimit)
			if err != nil {
				t.Fatal(err)
			}
			moments := rbm.NewMoments(c)
			e.Moments(moments)
			means[k] = float64(moments.V[0])
		}
		metrics, err := NewRunMetrics([]string{"log_likelihood"}, tr.Model(), Sets{Train: set}, s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := metrics[0].Measure(context.Background(), tr.Model(), true)
		if err != nil {
			t.Fatal(err)
		}
		return means, x[0]
	}
	set := measured(0.4)
	// The standard errors of the means are 0.03. A random 40 % of the numbers would pull them towards 0.
	means, likelihood := train(set)
	if math.Abs(means[0]+1.2) > 0.25 || math.Abs(means[1]-1.2) > 0.25 {
		t.Errorf("the number given a class has the means %.3f", means)
	}
	want := 0.0 // by the distribution of the rows: given the class, the number has the deviation 2·0.5 in its units
	for r := range set.Len() {
		p := 0.0
		for class := range 3 {
			if !set.Missing.Get(r, 0) && set.Grey.Row(r)[class] == 0 {
				continue
			}
			w := 1.0 / 3
			if d := (float64(set.Grey.Row(r)[3]) - 1.2*float64(class-1)) / 0.5; !set.Missing.Get(r, 3) {
				w *= math.Exp(-d*d/2) / math.Sqrt(2*math.Pi)
			}
			p += w
		}
		if !set.Missing.Get(r, 4) {
			p /= 2
		}
		want += math.Log(p) / float64(set.Len())
	}
	// The allowance is for what the precision, 4, has not learned yet, and for the noise of 300 rows.
	if math.Abs(likelihood-want) > 0.1 {
		t.Errorf("the log-likelihood of the known cells is %.3f, of their distribution %.3f", likelihood, want)
	}
	filled := *set
	filled.Missing = rbm.Values{}
	r := rbm.NewKey(9).Rand()
	filled.Grey = rbm.NewMatrix(set.Len(), 5)
	copy(filled.Grey.Data, set.Grey.Data)
	for row := range set.Len() {
		if set.Missing.Get(row, 3) {
			filled.Grey.Row(row)[3] = set.Grey.Row(r.IntN(set.Len()))[3]
		}
	}
	if means, _ := train(&filled); math.Abs(means[0]+1.2) < 0.25 && math.Abs(means[1]-1.2) < 0.25 {
		t.Errorf("by draws of any row the means are %.3f as well", means)
	}
}

// A run with missing cells resumes with identical results, and its steps allocate nothing, with bits alone
// and with numbers too.
func TestGapsResume(t *testing.T) {
	for _, set := range []*data.Set{twins(0.3), measured(0.3)} {
		gapsResume(t, set)
	}
}

func gapsResume(t *testing.T, set *data.Set) {
	s := DefaultSettings("pcd")
	s.LearnPrecision = set.Means != nil
	s.Rate = 0.05
	s.Batch = 20
	start := func() *Trainer {
		tr, err := New(s, set, NewModel(set, 4, false, rbm.Softmax, 1))
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	step := func(tr *Trainer, n int) {
		for range n {
			if _, err := tr.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole, first, second := start(), start(), start()
	step(whole, 60)
	step(first, 30)
	var b bytes.Buffer
	if err := first.Save(&b, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Load(&b); err != nil {
		t.Fatal(err)
	}
	step(second, 30)
	if x, y := whole.Model().Parameters().AppendTo(nil), second.Model().Parameters().AppendTo(nil); !bytes.Equal(x, y) {
		t.Error("the resumed run has other parameters")
	}
	if n := testing.AllocsPerRun(20, func() { step(whole, 1) }); n > 0 && !parallel.Raced() { // under the race detector a pool drops objects at random
		t.Errorf("a step allocates %v times, want 0", n)
	}
	s.Objective = Hybrid
	if err := s.checkMissing(set, whole.Model()); err == nil || !strings.Contains(err.Error(), "cannot go with the objective hybrid") {
		t.Errorf("hybrid: %v, want %q in it", err, "cannot go with the objective hybrid")
	}
}

// The metrics of rows with missing cells are those of their known cells, here of variables that are equal.
// The likelihood of the random states in place of missing cells is much lower. Metrics of whole rows are
// left out.
func TestMetricsOfGaps(t *testing.T) {
	set := twins(0.3)
	m := NewModel(set, 6, false, rbm.Softmax, 1)
	s := DefaultSettings("exact")
	s.Rate, s.Batch, s.Schedule = 0.5, 50, "constant"
	tr, err := New(s, set, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Run(context.Background(), 1000); err != nil {
		t.Fatal(err)
	}
	logZ, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	v, f := rbm.NewBits(1, 7), make([]float64, 1)
	for row := range set.Len() {
		p := 0.0
		for s := range 18 {
			clear(v.Words)
			v.Set(0, s%3, true)
			v.Set(0, 3+s/3%3, true)
			v.Set(0, 6, s >= 9)
			known := true
			for i := range 7 {
				known = known && (set.Missing.Get(row, i) || set.X.Get(row, i) == v.Get(0, i))
			}
			if m.FreeEnergy(f, v); known {
				p += rbm.Exp(-f[0] - logZ)
			}
		}
		want += rbm.Log(p) / float64(set.Len())
	}
	measure := func(set *data.Set) (names []string, ll float64) {
		metrics, err := NewMetrics([]string{"auto"}, m, Sets{Train: set}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range metrics {
			names = append(names, x.Name)
			if x.Name == "log_likelihood" {
				values, err := x.Measure(context.Background(), m, true)
				if err != nil {
					t.Fatal(err)
				}
				ll = values[0]
			}
		}
		return names, ll
	}
	names, ll := measure(set)
	if strings.Join(names, " ") != "log_likelihood pseudo_likelihood" || ll-want > 1e-6 || want-ll > 1e-6 {
		t.Errorf("metrics %v; log-likelihood %v, want %v", names, ll, want)
	}
	filled := *set
	filled.Missing = rbm.Values{}
	if _, ll := measure(&filled); ll > want-0.5 {
		t.Errorf("the fills have log-likelihood %v, the known cells %v, want at most %v", ll, want, want-0.5)
	}
	// Metrics of whole rows use the rows without missing cells, if there are a hundred.
	var whole []int32
	for row := range int32(set.Len()) {
		if !set.MissesCells(row) {
			whole = append(whole, row)
		}
	}
	sum, pl := 0.0, make([]float64, len(whole))
	m.PseudoLogLikelihood(pl, filled.Rows(whole, 0))
	for _, x := range pl {
		sum += x / float64(len(pl))
	}
	metrics, err := NewMetrics([]string{"pseudo_likelihood"}, m, Sets{Train: set}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if values, err := metrics[0].Measure(context.Background(), m, true); err != nil || len(whole) == set.Len() || !(math.Abs(values[0]-sum) < 1e-9) || !strings.Contains(metrics[0].Columns[0].Unit, fmt.Sprintf("; those without missing cells: %d of %d train rows)", len(whole), set.Len())) {
		t.Errorf("%v: pseudo-log-likelihood %v%s, want %v", err, values, metrics[0].Columns[0].Unit, sum)
	}
	few := set.Take(whole[:99])
	few.Missing.Set(0, 0, true)
	if _, err := NewMetrics([]string{"pseudo_likelihood"}, m, Sets{Train: few}, 1); err == nil || !strings.Contains(err.Error(), "needs 100 rows without missing cells; twins has 98") {
		t.Errorf("pseudo_likelihood: %v, want %q in it", err, "needs 100 rows without missing cells; twins has 98")
	}
}

// The classification error and log p(y|x) of rows with missing cells are those of their known cells. Rows
// with too many missing cells have none.
func TestClassificationOfGaps(t *testing.T) {
	set := twins(0.3)
	set.Classes = []string{"x", "y", "z"}
	for r := range set.Len() {
		set.Y = append(set.Y, int32(r%3))
	}
	m := NewModel(set, 6, true, rbm.Softmax, 1)
	m.Randomize(2, rbm.NewKey(5))
	metrics, err := NewMetrics([]string{"classification"}, m, Sets{Train: set}, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := metrics[0].Measure(context.Background(), m, true)
	if err != nil {
		t.Fatal(err)
	}
	wrong, sum, fills := 0.0, 0.0, 0.0
	v, f, logp := rbm.NewBits(1, 10), make([]float64, 1), make([]float64, 3)
	for r := range set.Len() {
		var p [3]float64
		for s := range 18 {
			clear(v.Words)
			v.Set(0, s%3, true)
			v.Set(0, 3+s/3%3, true)
			v.Set(0, 6, s >= 9)
			known := true
			for i := range 7 {
				known = known && (set.Missing.Get(r, i) || set.X.Get(r, i) == v.Get(0, i))
			}
			for y := range p {
				v.Set(0, 7+y, true)
				if m.FreeEnergy(f, v); known {
					p[y] += rbm.Exp(-f[0])
				}
				v.Set(0, 7+y, false)
			}
		}
		y := set.Y[r]
		if Likeliest(p[:]) != int(y) {
			wrong++
		}
		sum += rbm.Log(p[y] / (p[0] + p[1] + p[2]))
		m.ClassLogProb(logp, set.Rows([]int32{int32(r)}, 3))
		fills += logp[y]
	}
	n := float64(set.Len())
	near(t, "error", got[0], wrong/n, 1e-12)
	near(t, "Σ log p(y|x)", got[1], sum, 1e-5)
	near(t, "mean log p(y|x)", got[2], sum/n, 1e-8)
	if d := (fills - sum) / n; d > -1e-3 && d < 1e-3 {
		t.Errorf("the fills have mean log p(y|x) %v, the known cells %v", fills/n, sum/n)
	}
	if !strings.Contains(metrics[0].Columns[0].Unit, FewGaps) {
		t.Errorf("the metric does not say which rows it takes: %q, want %q in it", metrics[0].Columns[0].Unit, FewGaps)
	}
	wide := &data.Set{Name: "wide", X: rbm.NewBits(2, 16), Missing: rbm.NewBits(2, 16), Y: []int32{0, 1}, Classes: []string{"a", "b"}}
	for i := range 15 { // 2¹⁵ states, as many as of the hidden layer
		wide.Missing.Set(1, i, true)
	}
	if logp, kept := ClassLogProbs(rbm.New(18, 15, 2, rbm.Softmax), wide, []int32{0, 1}); len(logp) != 2 || len(kept) != 1 || kept[0] != 0 {
		t.Errorf("rows %v are scored", kept)
	}
}

// Missing cells are redrawn with other random numbers in each step. With those of the first step, the
// number of rows with each state would not change while the model does not.
func TestGapsAreDrawnInEachStep(t *testing.T) {
	set := twins(1)
	s := DefaultSettings("pcd")
	s.Batch, s.Rate, s.Schedule = set.Len(), 1e-12, "constant"
	tr, err := New(s, set, rbm.NewGroups(4, set.Groups...))
	if err != nil {
		t.Fatal(err)
	}
	const steps = 300
	sum, squares := 0.0, 0.0
	for range steps {
		if _, err := tr.Step(); err != nil {
			t.Fatal(err)
		}
		n := 0.0
		for r := range set.Len() {
			if tr.gaps.all.Get(r, 0) {
				n++
			}
		}
		sum, squares = sum+n, squares+n*n
	}
	mean, want := sum/steps, float64(set.Len())/3
	variance, wanted := squares/steps-mean*mean, want*2/3
	if z, zv := (mean-want)/math.Sqrt(wanted/steps), (variance/wanted-1)/math.Sqrt(2./steps); math.Abs(z) > 6 || math.Abs(zv) > 6 {
		t.Errorf("%.1f rows of %d have the first state, with variance %.2f over the steps; want %.1f and %.2f", mean, set.Len(), variance, want, wanted)
	}
}
