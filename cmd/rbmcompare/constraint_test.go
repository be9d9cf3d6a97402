package main

import (
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// Under a constraint the exact statistics are sums over the allowed states. Persistent chains approach
// them, and estimators that cannot keep the constraint are refused.
func TestConstraint(t *testing.T) {
	clitest.Isolate(t)
	m := clitest.Model(8, 5, 0, rbm.Softmax)
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	clitest.Save(t, "hidden.safetensors", m, modelfile.About{})
	out := rbmcompare.OK(t, "-model", "hidden.safetensors", "-negphase", "pcd,pt,exact", "-steps", "400", "-repeats", "5")
	if !strings.Contains(out, "5 hidden units, 2 hidden units on\n") || !strings.Contains(out, "negative phase exact") {
		t.Errorf("output: %s", out)
	}
	rbmcompare.Fails(t, 2, []string{"-model", "hidden.safetensors", "-negphase", "pcd,sardonics"}, "-negphase sardonics", "hidden=2", "use cd, pcd")
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 4}
	clitest.Save(t, "all.safetensors", m, modelfile.About{})
	rbmcompare.OK(t, "-model", "all.safetensors", "-negphase", "exact")
	rbmcompare.Fails(t, 2, []string{"-model", "all.safetensors", "-negphase", "exact", "-reference", "pt"}, "-reference", "all=4", "use im, walk:exchange, exact")
	large := clitest.Model(24, 24, 0, rbm.Softmax)
	large.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 24}
	clitest.Save(t, "large.safetensors", large, modelfile.About{})
	out = rbmcompare.OK(t, "-model", "large.safetensors", "-negphase", "im,walk:exchange", "-steps", "20", "-repeats", "2", "-reference-steps", "4")
	if !strings.Contains(out, "24 units of all on") || !strings.Contains(out, "exchange") {
		t.Errorf("output: %s", out)
	}
	rbmcompare.Fails(t, 1, []string{"-model", "all.safetensors", "-negphase", "exact", "-data", clitest.Toy + ":plain"}, "row ", "probability zero", "all=4")
}
