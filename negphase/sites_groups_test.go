package negphase

import (
	"errors"
	"testing"

	"gorbm/rbm"
)

// Samplers that flip units return an error for softmax groups other than a label.
func TestSamplersRefuseGroups(t *testing.T) {
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2})
	for _, text := range []string{"walk:exchange", "im", "sardonics"} {
		s, err := Parse(text, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CheckModel(m); !errors.Is(err, rbm.ErrUnits) {
			t.Errorf("%s: CheckModel gives %v, want %v", text, err, rbm.ErrUnits)
		}
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(1)); !errors.Is(err, rbm.ErrUnits) {
			t.Errorf("%s: got %v, want ErrUnits", text, err)
		}
	}
	pcd, err := Parse("pcd:chains=3", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(pcd)
	if err != nil {
		t.Fatal(err)
	}
	phase, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(1))
	if err != nil || m.CheckSoftmax(phase.V) != nil {
		t.Errorf("pcd: %v, %v", err, m.CheckSoftmax(phase.V))
	}
}
