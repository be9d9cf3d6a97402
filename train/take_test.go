package train

import (
	"bytes"
	"errors"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// rowsOf returns the rows lo … hi−1 of set.
func rowsOf(set *data.Set, lo, hi int) *data.Set {
	part := *set
	part.X = set.X.Slice(lo, hi)
	if set.Y != nil {
		part.Y = set.Y[lo:hi]
	}
	return &part
}

// Steps on rows given to Take equal those on minibatches of the same rows. A trainer after Take continues
// identically in another process, with any rows.
func TestTakeContinues(t *testing.T) {
	set := toy(t, smallToy)
	eachRun(t, func(t *testing.T, s Settings, labelled bool, kind rbm.Kind) {
		sizes := []int{3, 1, 7, 7, 2, 5}
		take := func(tr *Trainer, i int) {
			lo := 3 * i
			if err := tr.Take(rowsOf(set, lo, lo+sizes[i])); err != nil {
				t.Fatal(err)
			}
			run(t, tr, tr.Steps()+1)
		}
		whole := newTrainer(t, s, set, 6, labelled, kind)
		for i := range sizes {
			take(whole, i)
		}
		first := newTrainer(t, s, set, 6, labelled, kind)
		for i := range 3 {
			take(first, i)
		}
		second := newTrainer(t, s, rowsOf(set, 20, 20+max(s.Batch, 8)), 6, labelled, kind)
		if _, err := second.Load(bytes.NewReader(save(t, first))); err != nil {
			t.Fatal(err)
		}
		for i := 3; i < len(sizes); i++ {
			take(second, i)
		}
		if !bytes.Equal(save(t, second), save(t, whole)) {
			t.Error("after a save between rows the run continues differently")
		}
	})
}

// A step on the rows of a minibatch, given to Take, moves the model like the step on that minibatch. The
// exact gradient depends on the order of rows by rounding only.
func TestTakeIsAMinibatch(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "exact")
	s.Batch = 9
	ordinary, taken, other := newTrainer(t, s, set, 6, true, rbm.Softmax), newTrainer(t, s, set, 6, true, rbm.Softmax), newTrainer(t, s, set, 6, true, rbm.Softmax)
	run(t, ordinary, 1)
	part := *set
	part.X, part.Y = rbm.NewBits(9, set.X.Cols), nil
	for i, r := range ordinary.rows {
		copy(part.X.Row(i), set.X.Row(int(r)))
		part.Y = append(part.Y, set.Y[r])
	}
	for _, c := range []struct {
		tr  *Trainer
		set *data.Set
	}{{taken, &part}, {other, rowsOf(set, 0, 9)}} {
		if err := c.tr.Take(c.set); err != nil {
			t.Fatal(err)
		}
		run(t, c.tr, 1)
	}
	distance := func(m *rbm.RBM) (d float64) {
		for i := range m.Visible() {
			for j := range m.Hidden() {
				x := float64(m.Weight(i, j) - ordinary.Model().Weight(i, j))
				d = max(d, x, -x)
			}
		}
		return d
	}
	if d := distance(taken.Model()); d > 1e-7 { // some roundings of weights of size 0.03
		t.Errorf("a minibatch that is taken moves a weight by %g more, want at most 1e-7", d)
	}
	if d := distance(other.Model()); d < 1e-5 {
		t.Errorf("other rows move the weights alike, to %g: the test sees nothing, want at least 1e-5", d)
	}
}

func TestTakeRefuses(t *testing.T) {
	set := toy(t, smallToy)
	tr := newTrainer(t, settingsOf(t, "pcd:chains=8"), set, 6, true, rbm.Softmax)
	before := save(t, tr)
	narrow := *set
	narrow.X = rbm.NewBits(set.Len(), set.X.Cols-1)
	unlabelled := *set
	unlabelled.Y = nil
	for name, other := range map[string]*data.Set{"no rows": rowsOf(set, 0, 0), "fewer inputs": &narrow, "no labels": &unlabelled} {
		if err := tr.Take(other); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if !bytes.Equal(save(t, tr), before) {
		t.Error("rows that were refused have changed the trainer")
	}
	// Without Take, a saved run still belongs to its data.
	other := newTrainer(t, settingsOf(t, "pcd:chains=8"), rowsOf(set, 0, 30), 6, true, rbm.Softmax)
	if _, err := other.Load(bytes.NewReader(before)); err == nil || errors.Is(err, rbm.ErrFormat) {
		t.Errorf("a saved run loads on other data: %v", err)
	}
}
