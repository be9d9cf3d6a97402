package main

import (
	"testing"

	"gorbm/experiments/internal/claims"
)

// The early and the late state differ, and their negative phases are exact.
func TestStates(t *testing.T) {
	early, late, err := statesOf(smallToy.size(claims.Options{Quick: true}))
	if err != nil {
		t.Fatal(err)
	}
	if !(late.truth.Norm() > 0) || early.model.Equal(late.model) || !late.truth.Exact {
		t.Error("the states are alike")
	}
}
