package train

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// healthOf returns a Health for models of 4 inputs and 12 hidden units on rows that all differ, and a model
// without weights.
func healthOf(t *testing.T, goal Column) (*Health, *rbm.RBM) {
	t.Helper()
	set := &data.Set{X: rbm.NewBits(16, 4), Height: 1, Width: 4}
	for r := range 16 {
		for i := range 4 {
			set.X.Set(r, i, r>>i&1 == 1)
		}
	}
	m := rbm.New(4, 12, 0, rbm.Softmax)
	return NewHealth(Settings{Batch: 16}, Sets{Train: set}, m, goal), m
}

// corner sets all weights to 0 except one.
func corner(m *rbm.RBM, w float32) {
	x := rbm.NewMatrix(m.Visible(), m.Hidden())
	x.Row(3)[7] = w
	m.SetWeights(x)
}

// Units are dead if their mean is below 1/1000 or above 1 − 1/1000. A warning is given from a quarter of
// all units on.
func TestDeadUnits(t *testing.T) {
	edge := float32(math.Log(1000 - 1)) // σ(−edge) is 1/1000
	for _, c := range []struct {
		dead  int
		bias  float32
		step  int
		warns bool
	}{
		{2, 20, 100, false},
		{3, edge + 0.01, 100, true},
		{3, -edge - 0.01, 100, true},
		{12, edge - 0.01, 100, false},
		{12, -edge + 0.01, 100, false},
		{12, -30, 0, true},
	} {
		h, m := healthOf(t, Column{})
		for j := range c.dead {
			m.HiddenBias[j] = c.bias
		}
		var want []diag.Warning
		if c.warns {
			remedy := map[bool]diag.Remedy{true: AnotherStart, false: SmallerRate}[c.step == 0]
			want = []diag.Warning{{Kind: DeadKind, Help: []diag.Remedy{remedy}, Numbers: diag.Numbers{"dead": float64(c.dead), "hidden": 12, "step": float64(c.step), "limit": deadMean}}}
		}
		if got := h.Warnings(Evaluation{Step: c.step}, m, false); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got %v, want %v", c, got, want)
		}
		if again := h.Warnings(Evaluation{Step: c.step + 1000}, m, false); again != nil {
			t.Errorf("%+v: said again: %v", c, again)
		}
		// At the end the warning holds, or is withdrawn if units came back to life.
		for _, alive := range []bool{false, true} {
			if alive {
				clear(m.HiddenBias)
			}
			if at := h.Warnings(Evaluation{Step: 2000}, m, true); at != nil {
				t.Errorf("%+v: says at the end what is for Final: %v", c, at)
			}
			standing, withdrawn, err := h.Final(context.Background(), &Evaluator{})
			if err != nil || (len(standing) > 0) != (c.warns && !alive) || (len(withdrawn) > 0) != (c.warns && alive) {
				t.Errorf("%+v, alive %v: %v stands and %v is withdrawn: %v", c, alive, standing, withdrawn, err)
			}
		}
	}
}

// Weights explode beyond 100. If they are as large at the start, the warning has another remedy.
func TestExplodingWeights(t *testing.T) {
	for _, c := range []struct {
		first, then float32
		want        diag.Kind
	}{
		{0, 100, ""},
		{0, -101, WeightsKind},
		{101, 101, LargeStartKind},
		{0, float32(math.Inf(1)), ""}, // the next step stops the run
	} {
		h, m := healthOf(t, Column{})
		corner(m, c.first)
		all := h.Warnings(Evaluation{}, m, false)
		corner(m, c.then)
		h.Warnings(Evaluation{Step: 10}, m, true)
		got := append(all, h.Found...)
		if len(all) > 0 { // reported at step 0 and found again
			got = all
		}
		if c.want == "" && got != nil || c.want != "" && (len(got) != 1 || got[0].Kind != c.want || got[0].Numbers["largest"] != 101) {
			t.Errorf("%+v: %v", c, got)
		}
		if _, err := json.Marshal(h.HealthState); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Units are checked after healthShare updates, and at the end.
func TestHealthShare(t *testing.T) {
	h, m := healthOf(t, Column{})
	h.Warnings(Evaluation{}, m, false)
	corner(m, 1e6)
	if got := h.Warnings(Evaluation{Step: healthShare - 1}, m, false); got != nil {
		t.Errorf("looked too soon: %v", got)
	}
	if got := h.Warnings(Evaluation{Step: healthShare}, m, false); len(got) != 1 {
		t.Errorf("says %v, want 1 of them", got)
	}
}

// A likelihood that falls for long is reported once. Noise, a slope, and a fall that is small or short are
// not. A larger value may be worse.
func TestFalling(t *testing.T) {
	noise := func(i int) float64 { return rbm.NewKey(1).Child(uint64(i)).Rand().NormFloat64() }
	rise := func(i int) float64 { return -100 + 90*(1-math.Exp(-float64(i)/10)) }
	for name, c := range map[string]struct {
		value func(i int) float64
		from  int // the warning comes at this measurement or later; 0: never
	}{
		"rises":           {rise, 0},
		"rises, noisy":    {func(i int) float64 { return rise(i) + 3*noise(i) }, 0},
		"noise":           {noise, 0},
		"falls":           {func(i int) float64 { return rise(i) - 2*float64(max(0, i-40)) }, 46},
		"falls, noisy":    {func(i int) float64 { return rise(i) + 0.5*noise(i) - 2*float64(max(0, i-40)) }, 46},
		"falls by little": {func(i int) float64 { return rise(i) - min(8, 2*float64(max(0, i-40))) }, 0},
		"falls and rises": {func(i int) float64 {
			if i >= 40 && i < 44 {
				return -60
			}
			return rise(i)
		}, 0},
		"not a number": {func(i int) float64 { return math.NaN() }, 0},
		"only falls":   {func(i int) float64 { return -float64(i) }, 0}, // never better than at first: reported at the end
	} {
		for _, smaller := range []bool{false, true} {
			h, m := healthOf(t, Column{Name: "goal", Smaller: smaller})
			said := 0
			for i := range 1000 {
				v := c.value(i)
				if smaller {
					v = -v
				}
				state, err := json.Marshal(h.HealthState) // as in a run that is resumed
				if err != nil {
					t.Fatal(err)
				}
				h.HealthState = HealthState{}
				if err := json.Unmarshal(state, &h.HealthState); err != nil {
					t.Fatal(err)
				}
				all := h.Warnings(Evaluation{Step: 10 * i, Values: []Value{{"goal_train", v}}}, m, false)
				if len(all) == 0 {
					continue
				}
				if said++; c.from == 0 || i < c.from || i > c.from+10 || all[0].Kind != GoalKind || all[0].Of[0] != "goal_train" {
					t.Errorf("%s: after %d measurements %v", name, i, all)
				}
			}
			if said > 1 || said == 0 && c.from > 0 {
				t.Errorf("%s: said %d times", name, said)
			}
		}
	}
}
