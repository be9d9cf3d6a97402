package data

import (
	"testing"

	"gorbm/rbm"
)

// Groups belong to the data: a set of the same bits with other groups has another hash.
func TestGroupsOfSet(t *testing.T) {
	s := &Set{X: rbm.NewBits(2, 3)}
	bare := s.Hash()
	if got := rbm.GroupsText(s.InputGroups()); got != "bernoulli:3" {
		t.Errorf("without groups: %s, want %s", got, "bernoulli:3")
	}
	s.Groups = []rbm.Group{{Kind: rbm.Softmax, Units: 3}}
	if s.Hash() == bare {
		t.Error("the hash does not see the groups")
	}
	if got := rbm.GroupsText(s.Take([]int32{1}).InputGroups()); got != "softmax:3" {
		t.Errorf("rows of the set: %s, want %s", got, "softmax:3")
	}
}
