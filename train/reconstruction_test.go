package train

import (
	"math"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// greys returns a set of equal grey rows of two classes.
func greys(rows int, values ...float32) *data.Set {
	s := &data.Set{Name: "greys", X: rbm.NewBits(rows, len(values)), Grey: rbm.NewMatrix(rows, len(values)),
		Y: make([]int32, rows), Classes: []string{"a", "b"}, Height: 1, Width: len(values), Binarize: data.None}
	for r := range rows {
		copy(s.Grey.Row(r), values)
		for i, v := range values {
			s.X.Set(r, i, v >= 0.5)
		}
		s.Y[r] = int32(r % 2)
	}
	return s
}

// The reconstruction error is the mean of (v − p(v|h))² over inputs and over
// draws of h given the row and its label: here by summing over all h.
func TestReconstructionByHand(t *testing.T) {
	const rows, inputs, hidden = 4000, 3, 2
	set := greys(rows, 0.25, 0.75, 0)
	m := rbm.New(inputs+2, hidden, 2, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(3))
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	mean, square := 0.0, 0.0 // of the error of a row
	for y := range 2 {
		for state := range 1 << hidden {
			p, e := 0.5, 0.0 // half of the rows are of each class
			for j := range hidden {
				a := float64(m.HiddenBias[j]) + float64(m.Weight(inputs+y, j))
				for i, v := range set.Grey.Row(0) {
					a += float64(v) * float64(m.Weight(i, j))
				}
				if on := state>>j&1 == 1; on {
					p *= sigmoid(a)
				} else {
					p *= sigmoid(-a)
				}
			}
			for i, v := range set.Grey.Row(0) {
				a := float64(m.VisibleBias[i])
				for j := range hidden {
					a += float64(state>>j&1) * float64(m.Weight(i, j))
				}
				d := float64(v) - sigmoid(a)
				e += d * d / inputs
			}
			mean, square = mean+p*e, square+p*e*e
		}
	}
	// Six standard errors of the mean over that many draws. Rows are divided evenly among the classes,
	// which makes the true error still smaller.
	tol := 6 * math.Sqrt((square-mean*mean)/rows)
	if tol > mean/10 {
		t.Fatalf("%v ± %v: nothing is tested, want at most %v", mean, tol, mean/10)
	}
	got := measure(t, "reconstruction", m, Sets{Train: set, Test: greys(rows, 0.25, 0.75, 0)}, false)
	near(t, "reconstruction", got["reconstruction_error_train"], mean, tol)
	near(t, "of test rows", got["reconstruction_error_test"], mean, tol)
	plain := rbm.New(inputs, hidden, 0, rbm.Softmax) // for this model all rows are equal, in any order
	plain.Randomize(1, rbm.NewKey(3))
	got = measure(t, "reconstruction", plain, Sets{Train: set, Test: set}, false)
	if got["reconstruction_error_train"] == got["reconstruction_error_test"] {
		t.Error("training and test rows have the same draws")
	}

	// If hidden units are on whatever the row, nothing is random.
	m.HiddenBias[0], m.HiddenBias[1] = 60, 60
	want := 0.0
	for i, v := range set.Grey.Row(0) {
		d := float64(v) - sigmoid(float64(m.VisibleBias[i])+float64(m.Weight(i, 0))+float64(m.Weight(i, 1)))
		want += d * d / inputs
	}
	near(t, "without chance", measure(t, "reconstruction", m, Sets{Train: set}, true)["reconstruction_error_train"], want, handTol)
}

// For grey rows "auto" includes the score, if it is affordable, and the reconstruction error. Their labels,
// formats and panels are those of the table.
func TestMetricsOfGreyRows(t *testing.T) {
	set := greys(4, 0.25, 0.75, 0)
	for _, c := range []struct {
		m    *rbm.RBM
		want string
	}{
		{rbm.New(3, 2, 0, rbm.Softmax), "log_likelihood reconstruction"},
		{rbm.New(5, 2, 2, rbm.Softmax), "classification log_likelihood reconstruction"},
	} {
		metrics, err := NewMetrics([]string{"auto"}, c.m, Sets{Train: set}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var names, lines, axes []string
		for _, m := range metrics {
			names = append(names, m.Name)
			lines = append(lines, m.Report(Evaluation{Values: []Value{{"log_likelihood_train", -1.5}, {"reconstruction_error_train", 0.0123456}}}, true)...)
			for _, c := range m.Columns {
				axes = append(axes, c.Axis)
			}
		}
		if strings.Join(names, " ") != c.want {
			t.Errorf("metrics %q, want %s", names, c.want)
		}
		if got := strings.Join(lines, "\n"); got != "score −F − log Z: train -1.5 nats (grey values kept: no likelihood)\nmean squared reconstruction error: train 0.01235" {
			t.Errorf("the report is\n%s", got)
		}
		if got := strings.Join(axes[len(axes)-2:], "; "); got != "score −F − log Z / nats; reconstruction error / mean square" {
			t.Errorf("panels %s, want %s", got, "score −F − log Z / nats; reconstruction error / mean square")
		}
	}
	large := &data.Set{Name: "large", X: rbm.NewBits(2, 40), Grey: rbm.NewMatrix(2, 40), Height: 4, Width: 10, Binarize: data.None}
	metrics, err := NewMetrics([]string{"auto"}, rbm.New(40, 40, 0, rbm.Softmax), Sets{Train: large}, 1)
	if err != nil || len(metrics) != 1 || metrics[0].Name != "reconstruction" {
		t.Errorf("of a model too large to enumerate: %+v, %v", metrics, err)
	}
	all := rbm.New(3, 2, 0, rbm.Softmax)
	all.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 2}
	if _, err := NewMetrics([]string{"reconstruction"}, all, Sets{Train: tinySet()}, 1); err == nil || !strings.Contains(err.Error(), "all=2") {
		t.Errorf("under a constraint on all units: %v, want %q in it", err, "all=2")
	}
}
