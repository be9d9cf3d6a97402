package main

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
)

// A model with a constraint is evaluated under it: log Z is a sum over the allowed states, exact and
// by estimates. Unavailable quantities are refused.
func TestConstraint(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	isolate(t)
	for _, c := range []struct {
		model      *rbm.RBM
		constraint *rbm.Constraint
	}{
		{clitest.Model(12, 5, 4, rbm.Softmax), &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}},
		{clitest.Model(12, 5, 4, rbm.Bernoulli), &rbm.Constraint{On: rbm.HiddenUnits, Active: 4}},
		{clitest.Model(12, 9, 4, rbm.Softmax), &rbm.Constraint{On: rbm.AllUnits, Active: 9}},
	} {
		m := c.model
		m.Constraint = c.constraint
		clitest.Save(t, "constrained.safetensors", m, toy)
		logZ, err := exact.LogZ(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		args := "-model constrained.safetensors -exact -pl -classify"
		if c.constraint.On == rbm.HiddenUnits {
			args += " -ais -reverse-ais -bennett -ais-temperatures 200 -ladder-rounds 1500"
		}
		r, e := evaluate(t, args)
		if r.LogZ == nil || math.Abs(*r.LogZ-logZ) > 1e-9 || r.Constraint != c.constraint.String() {
			t.Errorf("%v: log Z %v of %s, want %v", c.constraint, r.LogZ, r.Constraint, logZ)
		}
		for name, x := range map[string]estimate{"AIS": e.AIS, "reverse AIS": e.ReverseAIS, "Bennett": e.Bennett} {
			if x.LogZ == nil || x.StdErr == nil {
				if c.constraint.On == rbm.HiddenUnits {
					t.Errorf("%v: %s has no number", c.constraint, name)
				}
				continue
			}
			if d := math.Abs(*x.LogZ - logZ); d > 6**x.StdErr {
				t.Errorf("%v: %s says %v ± %v, exact is %v", c.constraint, name, *x.LogZ, *x.StdErr, logZ)
			}
		}
		text := rbmeval.OK(t, "-model", "constrained.safetensors", "-exact")
		if !strings.Contains(text, "hidden units, ") || !strings.Contains(text, " of all on") && !strings.Contains(text, "hidden units on") && !strings.Contains(text, "away from a reference") {
			t.Errorf("the constraint is not printed: %s", text)
		}
	}
	rbmeval.Fails(t, 2, []string{"-model", "constrained.safetensors", "-ais"}, "-ais", "all=9", "-exact")
	// Rows without labels: the label is summed out, and some classes may be impossible.
	if out := rbmeval.OK(t, "-model", "constrained.safetensors", "-data", clitest.Toy+":plain", "-exact"); !strings.Contains(out, "mean log p(x) ") {
		t.Errorf("output: %s, want %q in it", out, "mean log p(x) ")
	}
	rbmeval.OK(t, "-model", "constrained.safetensors", "-data", clitest.Toy+":plain", "-features", "bare.npz")
	rbmeval.OK(t, "-model", "constrained.safetensors", "-features", "labelled.npz")
	if !reflect.DeepEqual(features(t, "bare.npz"), features(t, "labelled.npz")) {
		t.Error("features are others without the labels")
	}
	// Three inputs that are on use up the constraint, so no class is possible.
	three := clitest.Model(12, 9, 4, rbm.Bernoulli)
	three.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 3}
	clitest.Save(t, "three.safetensors", three, modelfile.About{})
	clitest.Write(t, "rows.csv", "0,0,0,0,0,0,0,1\n0,0,0,0,0,1,1,1\n")
	rbmeval.Fails(t, 1, []string{"-model", "three.safetensors", "-data", "rows.csv", "-features", "f.npz"}, "row 1 of rows.csv", "probability zero", "all=3")
	large := clitest.Model(42, 64, 2, rbm.Softmax)
	large.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 60}
	clitest.Save(t, "large.safetensors", large, modelfile.About{})
	if out := rbmeval.OK(t, "-model", "large.safetensors", "-data", "toy:2,40,2,0.2"); !strings.Contains(out, "no log-likelihood: the constraint all=60") {
		t.Errorf("output: %s, want %q in it", out, "no log-likelihood: the constraint all=60")
	}
	m := clitest.Model(12, 3, 4, rbm.Softmax)
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 2}
	clitest.Save(t, "narrow.safetensors", m, toy)
	rbmeval.Fails(t, 1, []string{"-model", "narrow.safetensors"}, "row ", "probability zero", "all=2")
	rbmeval.Fails(t, 1, []string{"-model", "constrained.safetensors", "-data", "fontdigits"}, "does not fit")
}
