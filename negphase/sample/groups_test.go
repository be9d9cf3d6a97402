package sample

import (
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// Target completes the given units of softmax groups, and Target.Data has no rows that the query excludes.
func TestTargetOfGroups(t *testing.T) {
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Softmax, Units: 3})
	m.Randomize(1, rbm.NewKey(1))
	set := &data.Set{Name: "six", X: rbm.NewBits(6, 6), Groups: m.Groups()}
	for r := range 6 {
		set.X.Set(r, r%3, true)
		set.X.Set(r, 3+r/2, true)
	}
	const free, freeInput = rbm.Free, rbm.FreeInput
	// The first group is in state 1; the second is not in state 2.
	target, err := Query{Inputs: []float32{freeInput, 1, freeInput, freeInput, freeInput, 0}, Class: free}.Target(m, set)
	if err != nil {
		t.Fatal(err)
	}
	if got := rbm.GroupsText(target.Model.Groups()); got != "softmax:2" {
		t.Fatalf("the free units are %s, want %s", got, "softmax:2")
	}
	if err := target.Model.CheckSoftmax(target.Data); err != nil || target.Data.Rows != 4 || target.Row[0] != 1 {
		t.Errorf("rows %v: %v", target.Row, err)
	}
	dst := make([]float32, 6)
	target.Fill(dst, []float32{0, 1})
	for i, want := range []float32{0, 1, 0, 0, 1, 0} {
		if dst[i] != want {
			t.Fatalf("filled in: %v, got %v, want %v", dst, dst[i], want)
		}
	}
	if _, err := (Query{Inputs: []float32{1, 1, freeInput, freeInput, freeInput, freeInput}, Class: free}).Target(m, set); err == nil {
		t.Error("a group in two states passes")
	}
}
