package main

import (
	"testing"

	"gorbm/experiments/internal/figures"
)

// The early and the late state differ, and their negative phases are exact.
func TestStates(t *testing.T) {
	both, err := statesOf(smallToy.size(figures.Options{Quick: true}))
	if err != nil {
		t.Fatal(err)
	}
	if !(both[1].truth.Norm() > 0) || both[0].model.Equal(both[1].model) || !both[1].truth.Exact {
		t.Error("the states are alike")
	}
}
