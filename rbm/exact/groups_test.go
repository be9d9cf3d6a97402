package exact

import (
	"errors"
	"testing"

	"gorbm/rbm"
)

// Enumeration refuses groups besides a label.
func TestGroupsAreRefused(t *testing.T) {
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2})
	if _, err := New(m, EvaluationLimit); !errors.Is(err, rbm.ErrUnits) {
		t.Errorf("got %v, want ErrUnits", err)
	}
}
