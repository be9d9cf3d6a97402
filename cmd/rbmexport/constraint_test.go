package main

import (
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// A constraint is kept in Gorbm's formats. scikit-learn has none, and -sklearn is refused.
func TestConstraint(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []*rbm.Constraint{{On: rbm.HiddenUnits, Active: 2}, {On: rbm.AllUnits, Active: 4}} {
		m := clitest.Model(9, 5, 0, rbm.Softmax)
		m.Constraint = c
		name := string(c.On)
		clitest.Save(t, name+".safetensors", m, modelfile.About{})
		rbmexport.OK(t, "-model", name+".safetensors", "-out", name+".npz")
		if back, _ := clitest.Load(t, name+".npz"); !back.Equal(m) {
			t.Errorf("%v: it comes back as another model", c)
		}
		rbmexport.Fails(t, cli.Usage, []string{"-model", name + ".npz", "-sklearn", "-out", name + "-sklearn.npz"}, "scikit-learn", c.String())
	}
}
