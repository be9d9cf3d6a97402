package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/finitejson"
	"gorbm/train"
)

// asProgram makes the test binary act as the program, for the tests in Python.
const asProgram = "GORBM_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A client sends requests to serve.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	done chan error
}

func newClient(t *testing.T) *client {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t, toServer, fromServer, make(chan error, 1)}
	go func() {
		err := serve(context.Background(), in, out)
		out.Close()
		c.done <- err
	}()
	t.Cleanup(func() { toServer.Close(); fromServer.Close() })
	return c
}

func (c *client) send(header map[string]any, arrays ...array) {
	c.t.Helper()
	if err := writeFrame(c.in, maps.Clone(header), arrays...); err != nil {
		c.t.Fatal(err)
	}
}

// answer returns the last frame of an answer, and the number of reports before it.
func (c *client) answer() (frame, map[string]any, int) {
	c.t.Helper()
	for reports := 0; ; reports++ {
		f, err := readFrame(c.out)
		if err != nil {
			c.t.Fatal(err)
		}
		header := map[string]any{}
		if err := json.Unmarshal(f.header, &header); err != nil {
			c.t.Fatal(err)
		}
		if header["progress"] == nil {
			return f, header, reports
		}
	}
}

// request sends a request and fails the test if the answer is an error.
func (c *client) request(header map[string]any, arrays ...array) (frame, map[string]any) {
	c.t.Helper()
	c.send(header, arrays...)
	f, h, _ := c.answer()
	if h["error"] != nil {
		c.t.Fatal(h["error"])
	}
	return f, h
}

// bars returns rows of n bits, switched on in pairs, and their classes.
func bars(rows, n int) (x []float32, y []int32) {
	for r := range rows {
		for i := range n {
			x = append(x, float32((r>>(i/2))&1))
		}
		y = append(y, int32(r&1))
	}
	return x, y
}

func settingsOf(op string, more map[string]any) map[string]any {
	h := map[string]any{"op": op, "visible": 6, "hidden": 5, "classes": 0, "rate": 0.1, "batch": 4, "negphase": "pcd",
		"schedule": "constant", "seed": 3, "steps": 50}
	maps.Copy(h, more)
	return h
}

func intArray(name string, x []int32, shape ...int) array {
	a := floatArray(name, make([]float32, len(x)), shape...)
	a.Type = "<i4"
	for i, v := range x {
		for b := range 4 {
			a.data[4*i+b] = byte(uint32(v) >> (8 * b))
		}
	}
	return a
}

// The program returns the results of package train for the same rows and settings.
func TestFitIsTrain(t *testing.T) {
	x, y := bars(20, 6)
	c := newClient(t)
	got, h := c.request(settingsOf("fit", map[string]any{"visible": 8, "classes": 2, "labels": "softmax", "objective": "hybrid", "alpha": 0.1, "momentum": 0.5}),
		floatArray("x", x, 20, 6), intArray("y", y, 20))

	set := &data.Set{X: rbm.NewBits(20, 6), Y: y, Classes: []string{"0", "1"}}
	for i, v := range x {
		set.X.Set(i/6, i%6, v == 1)
	}
	m := train.NewModel(set, 5, true, rbm.Softmax, 3)
	train.SetLogOdds(m, set)
	negative, err := negphase.Parse("pcd:chains=4", negphase.DefaultSettings("pcd"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := train.New(train.Settings{Rate: 0.1, Schedule: "constant", Horizon: 50, Batch: 4, Seed: 3, Momentum: 0.5,
		Objective: train.Hybrid, Alpha: 0.1, Negative: negative}, set, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Run(context.Background(), 50); err != nil {
		t.Fatal(err)
	}
	for _, want := range modelArrays(m) {
		if !bytes.Equal(got.arrays[want.Name].data, want.data) {
			t.Errorf("%s differs from that of the trainer", want.Name)
		}
	}
	if h["steps"] != 50.0 || h["stopped"] != false {
		t.Errorf("the header is %v", h)
	}
}

// Sparse rows give the results of dense ones, for bits and grey values.
func TestSparseRows(t *testing.T) {
	for _, grey := range []float32{1, 0.25} {
		x, _ := bars(20, 6)
		var values []float32
		var columns []int32
		ends := []int32{0}
		for i := range x {
			if x[i] *= grey; x[i] != 0 {
				values, columns = append(values, x[i]), append(columns, int32(i%6))
			}
			if i%6 == 5 {
				ends = append(ends, int32(len(values)))
			}
		}
		c := newClient(t)
		dense, _ := c.request(settingsOf("fit", nil), floatArray("x", x, 20, 6))
		sparse, _ := c.request(settingsOf("fit", nil), floatArray("data", values, len(values)), intArray("indices", columns, len(columns)), intArray("indptr", ends, 21))
		if !bytes.Equal(dense.arrays["weights"].data, sparse.arrays["weights"].data) {
			t.Errorf("values of %g: sparse rows train to another model", grey)
		}
	}
}

// A stream continues identically in the process that began it and, by its state, in another.
func TestPartialFitContinues(t *testing.T) {
	x, _ := bars(30, 6)
	for _, negative := range []string{"pcd", "ins", "cd", "exact", "pt:tau=auto"} {
		h := settingsOf("partial_fit", map[string]any{"negphase": negative, "momentum": 0.5, "center": 0.1, "average": 0.9})
		rows := func(i int) array { return floatArray("x", x[60*i:60*i+60], 10, 6) }
		c := newClient(t)
		begun, _ := c.request(settingsOf("partial_fit", map[string]any{"negphase": negative, "momentum": 0.5, "center": 0.1, "average": 0.9, "begin": true}), rows(0))
		resident, header := c.request(h, rows(1))
		if header["steps"] != 6.0 { // three for each ten rows, in batches of four
			t.Errorf("%s: %v steps, want 6", negative, header["steps"])
		}
		moved, _ := newClient(t).request(h, rows(1), begun.arrays["state"])
		if !bytes.Equal(resident.arrays["state"].data, moved.arrays["state"].data) || !bytes.Equal(resident.arrays["weights"].data, moved.arrays["weights"].data) {
			t.Errorf("%s: by its state the stream continues differently", negative)
		}
		if bytes.Equal(resident.arrays["weights"].data, begun.arrays["weights"].data) {
			t.Errorf("%s: nothing was learned", negative)
		}
	}
}

func TestStop(t *testing.T) {
	x, _ := bars(20, 6)
	c := newClient(t)
	c.send(settingsOf("fit", map[string]any{"steps": train.MaxSteps, "report": 1000}), floatArray("x", x, 20, 6))
	if _, err := readFrame(c.out); err != nil { // training has begun
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- writeFrame(c.in, map[string]any{"op": "stop"}) }() // while the server writes
	f, h, _ := c.answer()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if n := h["steps"].(float64); h["stopped"] != true || n < 1000 || n == train.MaxSteps {
		t.Errorf("the header is %v", h)
	}
	m := rbm.New(6, 5, 0, rbm.Softmax)
	if ok, err := readModel(f, m); err != nil || !ok || m.Weight(0, 0) == 0 {
		t.Errorf("the model of a fit that was stopped: %v", err)
	}
	if _, h := c.request(settingsOf("fit", nil), floatArray("x", x, 20, 6)); h["stopped"] != false {
		t.Error("the next request is stopped too")
	}
}

// The program ends with its input, also while it works.
func TestEnd(t *testing.T) {
	x, _ := bars(20, 6)
	c := newClient(t)
	c.send(settingsOf("fit", map[string]any{"steps": train.MaxSteps}), floatArray("x", x, 20, 6))
	c.in.Close()
	select {
	case err := <-c.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it works on without an input")
	}
}

func TestLogZ(t *testing.T) {
	m := rbm.New(30, 4, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))
	want, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	_, h := newClient(t).request(map[string]any{"op": "log_z", "visible": 30, "hidden": 4}, modelArrays(m)...)
	if got := h["log_z"].(float64); math.Abs(got-want) > 1e-9 || h["std_err"] != 0.0 || h["by"] != "enumeration" {
		t.Errorf("log Z is %v, not %v", h, want)
	}

	// Too many states to be enumerated within a second, but a product of two models with known log Z.
	small := rbm.New(13, 13, 0, rbm.Softmax)
	small.Randomize(0.5, rbm.NewKey(2))
	if want, err = exact.LogZ(context.Background(), small); err != nil {
		t.Fatal(err)
	}
	large := rbm.New(39, 39, 0, rbm.Softmax)
	w := rbm.NewMatrix(39, 39)
	for b := 0; b < 39; b += 13 {
		copy(large.VisibleBias[b:], small.VisibleBias)
		copy(large.HiddenBias[b:], small.HiddenBias)
		for i := range 13 {
			for j := range 13 {
				w.Row(b + i)[b+j] = small.Weight(i, j)
			}
		}
	}
	large.SetWeights(w)
	_, h = newClient(t).request(map[string]any{"op": "log_z", "visible": 39, "hidden": 39, "seed": 1}, modelArrays(large)...)
	got, stdErr := h["log_z"].(float64), h["std_err"].(float64)
	if !(stdErr > 0) || math.Abs(got-3*want) > 6*stdErr+1e-3 { // 1e-3: a standard error is itself an estimate
		t.Errorf("log Z is %g ± %g, not %g", got, stdErr, 3*want)
	}
	if len(h["warnings"].([]any)) > 0 {
		t.Errorf("warnings of a model that mixes: %v", h["warnings"])
	}
	// AIS starts at the base that the request has, of both layers.
	s := logz.DefaultSettings()
	s.Annealing.Base = rbm.UniformBase(large)
	for i := range 39 {
		s.Annealing.Base.VisibleBias[i], s.Annealing.Base.HiddenBias[i] = 0.1*float32(i%3), 0.2*float32(i%5)
	}
	est, err := logz.Estimate(context.Background(), large, s, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantZ, _, _ := est.Best()
	base := append(modelArrays(large), floatArray("base_visible", s.Annealing.Base.VisibleBias, 39), floatArray("base_hidden", s.Annealing.Base.HiddenBias, 39))
	if _, h = newClient(t).request(map[string]any{"op": "log_z", "visible": 39, "hidden": 39, "seed": 1}, base...); h["log_z"] != wantZ || wantZ == got {
		t.Errorf("log Z from a base is %v, want %v, and not %v", h["log_z"], wantZ, got)
	}
}

// Draws have the frequencies from enumeration.
func TestSample(t *testing.T) {
	m := rbm.New(3, 3, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(5))
	const n = 2000
	f, h := newClient(t).request(map[string]any{"op": "sample", "visible": 3, "hidden": 3, "samples": n, "seed": 2}, modelArrays(m)...)
	if h["mixed"] != true {
		t.Errorf("the chains have not mixed: %v", h["why"])
	}
	v, free := rbm.NewBits(8, 3), make([]float64, 8)
	for r := range 8 {
		for i := range 3 {
			v.Set(r, i, r>>i&1 == 1)
		}
	}
	m.FreeEnergy(free, v)
	z := 0.0
	for r := range free {
		free[r] = math.Exp(-free[r])
		z += free[r]
	}
	var counts [8]float64
	x := f.arrays["x"].floats()
	for r := range n {
		counts[int(x[3*r]+2*x[3*r+1]+4*x[3*r+2])]++
	}
	for r, p := range free {
		// Draws are two autocorrelation times apart, so their spread is larger than that of independent draws.
		if p /= z; math.Abs(counts[r]-n*p) > 2*6*math.Sqrt(n*p*(1-p)) {
			t.Errorf("state %d: %g draws of %d, at probability %g, want %g ± %.3g", r, counts[r], n, p, n*p, 2*6*math.Sqrt(n*p*(1-p)))
		}
	}
}

// Missing bits get their means given the others: exactly where there are few states, otherwise within the reported errors.
func TestFill(t *testing.T) {
	nan := float32(math.NaN())
	for _, units := range []int{6, 18} { // with 18 units both layers have too many states
		m := rbm.New(units, units, 0, rbm.Softmax)
		m.Randomize(1, rbm.NewKey(5))
		row := make([]float32, units)
		inputs := make([]float32, units)
		for i := range row {
			row[i], inputs[i] = nan, rbm.FreeInput
		}
		row[1], inputs[1] = 1, 1
		row[4], inputs[4] = 0.25, 0 // below ½
		f, h := newClient(t).request(map[string]any{"op": "fill", "visible": units, "hidden": units, "samples": 1, "seed": 2}, append(modelArrays(m), floatArray("given", row, 1, units))...)
		c, err := m.Given(inputs, rbm.Free)
		if err != nil {
			t.Fatal(err)
		}
		e, err := exact.New(c, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		e.Set(c)
		want := rbm.NewMoments(c)
		e.Moments(want)
		tolerance := 1e-6
		if units > 14 {
			stdErr, _ := h["std_err"].(float64)
			if tolerance = 6 * stdErr; h["estimated"] != 1.0 || !(stdErr > 0 && stdErr < 0.1) {
				t.Errorf("of one row that is estimated: %v", h)
			}
		} else if h["estimated"] != 0.0 || h["std_err"] != 0.0 {
			t.Errorf("of a row that is enumerated: %v", h)
		}
		at := 0
		for i, x := range f.arrays["mean"].floats() {
			if inputs[i] == rbm.FreeInput {
				if math.Abs(float64(x-want.V[at])) > tolerance {
					t.Errorf("%d units: input %d has the mean %g, want %g", units, i, x, want.V[at])
				}
				at++
			}
		}
	}
}

// realModel returns a model of Gaussian units with several precisions.
func realModel() *rbm.RBM {
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Gaussian, Units: 4})
	m.Randomize(1, rbm.NewKey(6))
	copy(m.VisibleParams()[0], []float32{0.5, 2, 1, 3})
	return m
}

// Missing numbers get their means given the others:
// Σ_h p(h|x) (θ + Wh)/γ, with p(h|x) ∝ exp((c + Wᵀx)ᵀh + Σ_missing (θ + Wh)²/2γ).
func TestFillReal(t *testing.T) {
	m := realModel()
	nan := float32(math.NaN())
	row := []float32{0.5, nan, -1.25, nan}
	f, _ := newClient(t).request(map[string]any{"op": "fill", "visible": 4, "hidden": 3, "groups": "gaussian:4", "samples": 1},
		append(modelArrays(m), floatArray("given", row, 1, 4))...)
	var z, want [4]float64
	total := 0.0
	for h := range 8 {
		log := 0.0
		for i, x := range row {
			z[i] = float64(m.VisibleBias[i])
			for j := range 3 {
				if h>>j&1 == 1 {
					z[i] += float64(m.Weight(i, j))
					if !isNaN(x) {
						log += float64(x) * float64(m.Weight(i, j))
					}
				}
			}
			if isNaN(x) {
				log += z[i] * z[i] / 2 / float64(m.VisibleParams()[0][i])
			}
		}
		for j := range 3 {
			log += float64(m.HiddenBias[j]) * float64(h>>j&1)
		}
		p := math.Exp(log)
		total += p
		for i := range z {
			want[i] += p * z[i] / float64(m.VisibleParams()[0][i])
		}
	}
	for i, x := range f.arrays["mean"].floats() {
		w := want[i] / total
		if !isNaN(row[i]) {
			w = float64(row[i])
		}
		if math.Abs(float64(x)-w) > 1e-5 {
			t.Errorf("input %d has the mean %g, want %g", i, x, w)
		}
	}
}

// Real rows train the same model as package train, and log Z takes account of the precisions.
func TestRealFit(t *testing.T) {
	const rows = 40
	x := rbm.NewMatrix(rows, 3)
	for r := range rows {
		side := float32(2*(r%2) - 1)
		x.Row(r)[0], x.Row(r)[1] = side, 0.5*side+float32(r%5)/4
	}
	c := newClient(t)
	h := settingsOf("fit", map[string]any{"visible": 3, "groups": "gaussian:3", "learn_precision": true, "rate": 0.05, "steps": 300})
	constant := array{Name: "constant", Type: "|u1", Shape: []int{3}, data: []byte{0, 0, 1}}
	got, _ := c.request(h, floatArray("x", x.Data, rows, 3), constant)
	set := &data.Set{X: rbm.NewBits(rows, 3), Grey: x, Binarize: data.Standard, Groups: []rbm.Group{{Kind: rbm.Gaussian, Units: 3}}, Deviations: []float64{1, 1, 0}, Means: make([]float64, 3)}
	for i, v := range x.Data {
		set.X.Set(i/3, i%3, v > 0)
	}
	m := train.NewModel(set, 5, false, rbm.Softmax, 3)
	train.SetLogOdds(m, set)
	negative, err := negphase.Parse("pcd:chains=4", negphase.DefaultSettings("pcd"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := train.New(train.Settings{Rate: 0.05, Schedule: "constant", Horizon: 300, Batch: 4, Seed: 3, Negative: negative, LearnPrecision: true}, set, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Run(context.Background(), 300); err != nil {
		t.Fatal(err)
	}
	for _, want := range modelArrays(m) {
		if !bytes.Equal(got.arrays[want.Name].data, want.data) {
			t.Errorf("%s differs from that of the trainer", want.Name)
		}
	}
	if p := got.arrays["visible_precision"].floats(); p[1] < 1.5 || p[2] != 1 {
		t.Errorf("the precisions are %v; that of the second column should have grown, and that of the constant one not moved", p)
	}

	m = realModel()
	want, err := exact.LogZ(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	_, z := c.request(map[string]any{"op": "log_z", "visible": 4, "hidden": 3, "groups": "gaussian:4"}, modelArrays(m)...)
	if z["log_z"] != want {
		t.Errorf("log Z is %v, want %v", z["log_z"], want)
	}
}

// A fit whose chains lag behind the model gives a warning with the names of the package.
func TestWarnings(t *testing.T) {
	x, _ := bars(20, 6)
	c := newClient(t)
	warnings := func(h map[string]any) string {
		text, err := finitejson.Marshal(h["warnings"])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	rows := floatArray("x", x, 20, 6)
	_, h := c.request(settingsOf("fit", map[string]any{"rate": 5, "steps": 2000, "batch": 20}), rows)
	if said := warnings(h); !strings.Contains(said, "learning_rate") || flagName.MatchString(said) {
		t.Errorf("a rate of 5: %s", said)
	}
	if _, h = c.request(settingsOf("fit", map[string]any{"rate": 0.05, "steps": 2000, "schedule": "linear"}), rows); warnings(h) != "[]" {
		t.Errorf("a run without a fault: %v", h["warnings"])
	}
}

var flagName = regexp.MustCompile(`(^|[ (])-[a-z]`)

// A bad request gets a line that names the fault, and the program answers the next request.
func TestErrors(t *testing.T) {
	x, y := bars(20, 6)
	rows := floatArray("x", x, 20, 6)
	bad := slices.Clone(x)
	bad[7] = 1.5
	nan := slices.Clone(x)
	nan[7] = float32(math.NaN())
	diverged := rbm.New(6, 5, 0, rbm.Softmax)
	diverged.HiddenBias[2] = float32(math.Inf(1))
	c := newClient(t)
	for _, e := range []struct {
		name   string
		header map[string]any
		arrays []array
		want   string
	}{
		{"operation", map[string]any{"op": "flt"}, nil, `"flt" is unknown`},
		{"no rows", settingsOf("fit", nil), nil, "no rows"},
		{"shape", settingsOf("fit", nil), []array{floatArray("x", x, 24, 5)}, `array "x"`},
		{"range", settingsOf("fit", nil), []array{floatArray("x", bad, 20, 6)}, "row 1, column 1: 1.5 is not in [0,1]"},
		{"NaN", settingsOf("fit", nil), []array{floatArray("x", nan, 20, 6)}, "NaN is not in [0,1]"},
		{"rate", settingsOf("fit", map[string]any{"rate": -1}), []array{rows}, "rate is -1"},
		{"negative phase", settingsOf("fit", map[string]any{"negphase": "pdc"}), []array{rows}, "negphase: unknown negative phase"},
		{"hidden", settingsOf("fit", map[string]any{"hidden": 0}), []array{rows}, "6 × 0 units"},
		{"steps", settingsOf("fit", map[string]any{"steps": 1 << 40}), []array{rows}, "lower n_iter"},
		{"classes", settingsOf("fit", map[string]any{"visible": 7, "classes": 1, "labels": "softmax"}), []array{rows, intArray("y", y, 20)}, "class 1 is out of range"},
		{"no classes", settingsOf("fit", map[string]any{"visible": 8, "classes": 2, "labels": "softmax"}), []array{rows}, "needs the array y"},
		{"sparse", settingsOf("fit", nil), []array{floatArray("data", x[:1], 1), intArray("indices", []int32{6}, 1), intArray("indptr", []int32{0, 1}, 2)}, "column 6"},
		{"sparse ends", settingsOf("fit", nil), []array{floatArray("data", x[:1], 1), intArray("indices", []int32{0}, 1), intArray("indptr", []int32{1, 0}, 2)}, "indptr"},
		{"not begun", settingsOf("partial_fit", nil), []array{rows}, "neither begun"},
		{"damaged", settingsOf("partial_fit", nil), []array{rows, {Name: "state", Type: "|u1", Shape: []int{3}, data: []byte("abc")}}, "not a saved run"},
		{"all rows", settingsOf("partial_fit", map[string]any{"begin": true, "negphase": "pins:path=data"}), []array{rows}, "path=data"},
		{"no model", map[string]any{"op": "log_z", "visible": 6, "hidden": 5}, nil, "no model"},
		{"infinite", map[string]any{"op": "log_z", "visible": 6, "hidden": 5}, modelArrays(diverged), "hidden_bias[2] is +Inf"},
		{"groups", map[string]any{"op": "log_z", "visible": 6, "hidden": 5, "groups": "softmax:3 softmax:4"}, nil, "are not of 6 units"},
		{"kind", map[string]any{"op": "log_z", "visible": 6, "hidden": 5, "groups": "poisson:6"}, nil, "poisson"},
		{"precision", map[string]any{"op": "log_z", "visible": 4, "hidden": 3, "groups": "gaussian:4"}, modelArrays(realModel())[:3], "visible_precision"},
		{"not finite", settingsOf("fit", map[string]any{"groups": "gaussian:6"}), []array{floatArray("x", nan, 20, 6)}, "row 1, column 1: NaN is not finite"},
		{"sampler", settingsOf("fit", map[string]any{"groups": "gaussian:6", "negphase": "ptt"}), []array{rows}, "units"},
		{"one of each group", map[string]any{"op": "sample", "visible": 6, "hidden": 5, "groups": "softmax:6", "samples": 1}, append(modelArrays(rbm.New(6, 5, 0, rbm.Softmax)), rows), "softmax"},
		{"nothing to fill", map[string]any{"op": "fill", "visible": 6, "hidden": 5, "samples": 1}, modelArrays(rbm.New(6, 5, 0, rbm.Softmax)), "no rows to fill"},
		{"samples", map[string]any{"op": "sample", "visible": 6, "hidden": 5, "samples": 0}, modelArrays(rbm.New(6, 5, 0, rbm.Softmax)), "0 samples"},
	} {
		c.send(e.header, e.arrays...)
		_, h, _ := c.answer()
		said, _ := h["error"].(string)
		if !strings.Contains(said, e.want) || strings.Contains(said, "\n") || h["usage"] != true {
			t.Errorf("%s: %q, a wrong usage: %v; it should say %q", e.name, said, h["usage"], e.want)
		}
	}
	if _, h := c.request(settingsOf("fit", nil), rows); h["steps"] != 50.0 {
		t.Errorf("after errors: %v", h)
	}

	// Failed training is not a usage error.
	c.send(settingsOf("fit", map[string]any{"rate": 100, "steps": 100000, "momentum": 0.999}), rows)
	if _, h, _ := c.answer(); h["error"] == nil || h["usage"] != false {
		t.Errorf("a rate at which training diverges: %v", h)
	}
}

// Input of another kind gets an error, and its bytes are not taken for a size of memory to allocate.
func TestGarbage(t *testing.T) {
	huge := []byte(`{"arrays":[{"name":"x","type":"<f4","shape":[2000000000,2000000000]}]}`)
	for _, in := range []string{"hello, program", "\x05\x00\x00\x00hello", "\x02", string([]byte{byte(len(huge)), 0, 0, 0}) + string(huge),
		"\x40\x00\x00\x00" + `{"arrays":[{"name":"x","type":"<f4","shape":[10]}]}             `} {
		if err := serve(context.Background(), strings.NewReader(in), io.Discard); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%.20q: %v", in, err)
		}
	}
	if err := serve(context.Background(), strings.NewReader(""), io.Discard); err != nil {
		t.Errorf("no input: %v", err)
	}
}
