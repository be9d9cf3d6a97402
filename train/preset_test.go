package train

import (
	"math"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// Presets make at most Passes passes over the rows of files, and a moving average covers the same fraction
// of the run. Sets with many rows, and sets of a known distribution other than sequences, leave a preset
// unchanged.
func TestPresetFitsTheRows(t *testing.T) {
	set := func(rows int, known bool) *data.Set {
		s := &data.Set{Name: "rows", X: rbm.NewBits(rows, 784), Y: make([]int32, rows), Classes: []string{"a", "b"}}
		if known {
			s.LogProb = func([]uint64, int) float64 { return 0 }
		}
		return s
	}
	for _, c := range []struct {
		preset, rows int
		known        bool
		batch, steps int
		average      float64
	}{
		{0, 60000, false, 20, 48000, 0},
		{0, 2000, false, 20, 5000, 0},
		{0, 500, false, 20, 1250, 0},
		{0, 7, false, 7, 1000, 0},
		{0, 500, true, 20, 48000, 0},
		{1, 5000, false, 50, 5000, 0},
		{2, 2000, false, 20, 20000, 0},
		{3, 50000, false, 10, 150000, 0.9998},
		{3, 500, false, 10, 2500, 0.988},
		{6, 500, false, 10, 10000, 0},
	} {
		p := Presets()[c.preset].Fit(set(c.rows, c.known)).Common
		if p.Batch != c.batch || p.Horizon != c.steps || math.Abs(p.Average-c.average) > 1e-9 {
			t.Errorf("%s of %d rows: batch %d, %d steps, average %v; want %+v", Presets()[c.preset].Name, c.rows, p.Batch, p.Horizon, p.Average, c)
		}
	}
	for rows, steps := range map[int]int{1000: 1000, 10000: 4000, 60000: 10000} {
		for _, known := range []bool{false, true} {
			s := set(rows, known)
			s.Schema = data.NewSequenceSchema("-ACGT", 3)
			if p := Presets()[1].Fit(s).Common; p.Horizon != steps {
				t.Errorf("%d sequences: %d steps, want %d", rows, p.Horizon, steps)
			}
		}
	}
	for _, c := range []struct {
		steps   int
		average float64
	}{{150000, 0.9998}, {2000, 0.985}, {300000, 0.9999}, {30, 0}, {1, 0}} {
		if p := Presets()[3].Over(c.steps).Common; p.Horizon != c.steps || math.Abs(p.Average-c.average) > 1e-9 {
			t.Errorf("%d steps: horizon %d, average %v; want %v", c.steps, p.Horizon, p.Average, c.average)
		}
	}
}

// For data without labels the preset and its model have no labels, whatever the caller asks for.
func TestPresetIgnoresLabelsThatAreMissing(t *testing.T) {
	set := halves(10, 120)
	p := PresetFor(set, true)
	if m := p.NewModel(set, 3, true, 1); p.Name != "classifier" || m.Classes() != 2 {
		t.Errorf("with labels: %s of %d classes, want %s and 2", p.Name, m.Classes(), "classifier")
	}
	set.Y, set.Classes = nil, nil
	p = PresetFor(set, true)
	if m := p.NewModel(set, 3, true, 1); p.Name != "generative" || m.Classes() != 0 {
		t.Errorf("without labels: %s of %d classes, want %s and 0", p.Name, m.Classes(), "generative")
	}
}

// A preset without Init starts from the random parameters of NewModel. Another word than those of Starts panics.
func TestPresetInit(t *testing.T) {
	set := &data.Set{Name: "rows", X: rbm.NewBits(5, 4)}
	want := NewModel(set, 3, false, rbm.Softmax, 1)
	for _, c := range []struct {
		init           string
		visible, lower bool
	}{{"", false, false}, {"random", false, false}, {"log-odds", true, false}, {"sparse", true, true}} {
		m := Preset{Init: c.init}.NewModel(set, 3, false, 1)
		if visible, lower := m.VisibleBias[0] != want.VisibleBias[0], m.HiddenBias[0] != want.HiddenBias[0]; visible != c.visible || lower != c.lower {
			t.Errorf("Init %q changes the visible biases: %v, and the hidden ones: %v; want %v and %v", c.init, visible, lower, c.visible, c.lower)
		}
	}
	if got := Presets()[1].RealHidden().Init; got != "log-odds" {
		t.Errorf("for real hidden units the preset generative starts from %s, want log-odds", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("Init log-ods does not panic")
		}
	}()
	Preset{Init: "log-ods"}.NewModel(set, 3, false, 1)
}
