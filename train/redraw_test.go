package train

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// redrawn returns a set whose rows are redrawn from values between 0 and 1.
func redrawn(t *testing.T) *data.Set {
	t.Helper()
	s := *toy(t, smallToy)
	s.Chances = rbm.NewMatrix(s.X.Rows, s.X.Cols)
	for i := range s.Chances.Data {
		s.Chances.Data[i] = float32(1+i%9) / 10
	}
	return &s
}

// The rows of a minibatch are redrawn at each step, for every objective. A saved run continues with the
// same draws, and is refused for other rows.
func TestRowsAreDrawnAnew(t *testing.T) {
	set := redrawn(t)
	for _, objective := range []string{Joint, Hybrid, Discriminative} {
		s := settingsOf(t, "cd:k=1")
		s.Objective = objective
		if objective == Hybrid {
			s.Alpha = 0.5
		}
		whole := newTrainer(t, s, set, 6, true, rbm.Softmax)
		var drawn [2]rbm.Values
		for step := range drawn {
			run(t, whole, step+1)
			input := whole.batch.V
			if objective != Joint {
				input = whole.objective.phase.Inputs()
			}
			drawn[step] = rbm.NewBits(input.Rows, set.X.Cols)
			for r := range input.Rows {
				for i := range set.X.Cols {
					drawn[step].Set(r, i, input.Get(r, i))
				}
			}
			plain := set.Rows(whole.rows, 0)
			again := set.Rows(whole.rows, 0)
			set.Redraw(again, whole.rows, rbm.NewKey(s.Seed).Child(redrawKey).Child(uint64(step)))
			if !slices.Equal(drawn[step].Words, again.Words) || slices.Equal(drawn[step].Words, plain.Words) {
				t.Errorf("%s, step %d: the rows are not those drawn anew", objective, step)
			}
			if objective == Hybrid { // chains start at the same draws
				for r := range drawn[step].Rows {
					for i := range set.X.Cols {
						if whole.batch.V.Get(r, i) != drawn[step].Get(r, i) {
							t.Fatalf("step %d: the rows that chains start at are others", step)
						}
					}
				}
			}
		}
		run(t, whole, 20)
		first := newTrainer(t, s, set, 6, true, rbm.Softmax)
		run(t, first, 8)
		var b bytes.Buffer
		if err := first.Save(&b, nil); err != nil {
			t.Fatal(err)
		}
		second := newTrainer(t, s, set, 6, true, rbm.Softmax)
		if _, err := second.Load(bytes.NewReader(b.Bytes())); err != nil {
			t.Fatal(err)
		}
		run(t, second, 20)
		if !second.Model().Equal(whole.Model()) {
			t.Errorf("%s: a run that was saved goes on with other bits", objective)
		}
		plain := newTrainer(t, s, toy(t, smallToy), 6, true, rbm.Softmax)
		if _, err := plain.Load(bytes.NewReader(b.Bytes())); err == nil || !strings.Contains(err.Error(), "other data") {
			t.Errorf("%s: a run whose rows stay goes on with one whose rows are drawn: %v, want %q in it", objective, err, "other data")
		}
	}
}
