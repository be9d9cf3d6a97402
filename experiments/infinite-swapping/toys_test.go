package main

import (
	"testing"

	"gorbm/experiments/internal/claims"
)

// Both states are fixed, the late one nearer to the data than the early one.
func TestStates(t *testing.T) {
	early, late, err := statesOf(smallToy.size(claims.Options{Quick: true}))
	if err != nil {
		t.Fatal(err)
	}
	if !(late.truth.Norm() > 0) || early.model.Equal(late.model) || !late.truth.Exact {
		t.Error("the states are alike")
	}
}
