package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/units"
)

// TestModel compares the mean energy of each sampler of an RBM with the exact one, in
// standard errors.
func TestModel(t *testing.T) {
	clitest.Isolate(t)
	const visible, hidden = 7, 5
	m := rbm.New(visible, hidden, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))
	if err := modelfile.Write("m.safetensors", m, modelfile.About{}); err != nil {
		t.Fatal(err)
	}
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 5}
	if err := modelfile.Write("five.safetensors", m, modelfile.About{}); err != nil {
		t.Fatal(err)
	}
	m.Constraint = nil
	// exact returns the mean energy at β over all states, or over states with active
	// units on.
	exact := func(beta float64, active int) float64 {
		v, h := rbm.NewBits(1, visible), rbm.NewBits(1, hidden)
		var sum, z float64
		for x := range 1 << (visible + hidden) {
			v.Words[0], h.Words[0] = uint64(x)&(1<<visible-1), uint64(x)>>visible
			if active > 0 && v.Count()+h.Count() != active {
				continue
			}
			var e [1]float64
			m.Energy(e[:], v, h)
			w := math.Exp(-beta * e[0])
			sum += w * e[0]
			z += w
		}
		return sum / z
	}
	for _, c := range []struct {
		args   string
		beta   float64
		active int
	}{
		{"", 1, 0},
		{"-sampler gibbs,metropolis:order=random,sardonics:k=1-3:gamma=.9/1.1:mix=1/1/1", 1, 0},
		{"-beta 0.5 -sampler block-gibbs,flip,sardonics:k=1-3:weights=boltzmann:gamma=.5", .5, 0},
		{"-active 5", 1, 5},
		{"-model five.safetensors", 1, 5}, // the last -model counts
	} {
		r := result(t, "-model m.safetensors -moves 40000 "+c.args)
		if r.Spins != visible+hidden || r.Bonds != visible*hidden || r.Beta != c.beta || !strings.Contains(r.System, "7 × 5 units") {
			t.Errorf("%s: %+v", c.args, r)
		}
		want := exact(c.beta, c.active)
		for _, s := range r.Samplers {
			// By chance one in 16,000 differs by more than 4.
			if z := (*s.EnergyMean - want) / *s.EnergyStdErr; !(math.Abs(z) < 4) {
				t.Errorf("%s, %s: mean energy %v ± %v, want %v", c.args, s.Sampler, *s.EnergyMean, *s.EnergyStdErr, want)
			}
		}
	}
}

// For a model with Gaussian units the mean energy is that of the free energy of its hidden units, and
// a scan from β = 0 gives log Z.
func TestGaussianModel(t *testing.T) {
	clitest.Isolate(t)
	m := rbm.NewGroups(6, rbm.Group{Kind: rbm.Gaussian, Units: 9}, rbm.Group{Kind: rbm.Softmax, Units: 2, Label: true})
	m.Randomize(0.4, rbm.NewKey(1))
	m.VisibleParams()[0][3] = 2
	if err := modelfile.Write("m.safetensors", m, modelfile.About{}); err != nil {
		t.Fatal(err)
	}
	const class = 1
	given := m.GivenClass(class)
	constant := -float64(m.VisibleBias[9+class])
	q, err := mcmc.NewMarginal(given)
	if err != nil {
		t.Fatal(err)
	}
	logZ, err := exact.LogZ(t.Context(), given)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for x := range 1 << 6 {
		state := make([]uint8, 6)
		for i := range state {
			state[i] = uint8(x >> i & 1)
		}
		f := mcmc.NewIsing(q.Graph, state).Energy() + q.Shift
		want += math.Exp(-f-logZ) * (f + constant)
	}
	for _, args := range []string{"", "-sampler gibbs:order=random,sardonics:k=1-3:weights=boltzmann:gamma=.5,pt:replicas=3", "-sampler sw,wolff"} {
		r := result(t, "-model m.safetensors -class 1 -moves 10000 "+args)
		if r.Spins != 6 || r.Bonds != 15 || r.Beta != 1 || !strings.Contains(r.System, "9 × 6 units given class 1, the Gaussian ones integrated out") {
			t.Errorf("%s: %+v", args, r)
		}
		for _, s := range r.Samplers {
			if z := (*s.EnergyMean - want) / *s.EnergyStdErr; !(math.Abs(z) < 4) {
				t.Errorf("%s, %s: mean energy %v ± %v, want %v", args, s.Sampler, *s.EnergyMean, *s.EnergyStdErr, want)
			}
		}
	}
	isingmc.OK(t, strings.Fields("-model m.safetensors -class 1 -moves 2000 -sampler sardonics:k=1-3 -states h.npz -quiet")...)
	for _, s := range scanOf(t, "-model m.safetensors -class 1 -moves 6000 -sampler pt,gibbs -scan beta=0:1:5").Samplers {
		cold := s.Curve[slices.IndexFunc(s.Curve, func(p scanPoint) bool { return p.Beta == 1 })]
		if cold.LogZ == nil {
			t.Fatalf("%s: no log Z: %+v", s.Sampler, s.Curve)
		}
		if z := (*cold.LogZ - logZ + constant) / *cold.LogZErr; cold.Beta != 1 || !(math.Abs(z) < 4.5) {
			t.Errorf("%s: log Z %v ± %v at β = %v, want %v", s.Sampler, *cold.LogZ, *cold.LogZErr, cold.Beta, logZ-constant)
		}
	}
	isingmc.Fails(t, cli.Usage, strings.Fields("-model m.safetensors"), "softmax label", "-class, 0 to 1")
	isingmc.Fails(t, cli.Usage, strings.Fields("-model m.safetensors -class 1 -sampler block-gibbs"), "need an RBM")
}

func TestBadModels(t *testing.T) {
	clitest.Isolate(t)
	labelled := rbm.New(4, 2, 2, rbm.Softmax)
	if err := modelfile.Write("labels.safetensors", labelled, modelfile.About{}); err != nil {
		t.Fatal(err)
	}
	if r := result(t, "-model labels.safetensors -class 1 -moves 500"); r.Spins != 4 || !strings.Contains(r.System, "2 × 2 units given class 1") {
		t.Errorf("a held label: %+v", r)
	}
	m := rbm.New(4, 2, 0, rbm.Softmax)
	if err := modelfile.Write("m.safetensors", m, modelfile.About{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]rbm.Constraint{
		"hidden": {On: rbm.HiddenUnits, Active: 1}, "all": {On: rbm.AllUnits, Active: 3},
	} {
		m.Constraint = &c
		if err := modelfile.Write(name+".safetensors", m, modelfile.About{}); err != nil {
			t.Fatal(err)
		}
	}
	bits := rbm.New(4, 2, 2, rbm.Bernoulli)
	bits.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 6}
	if err := modelfile.Write("bits.safetensors", bits, modelfile.About{}); err != nil {
		t.Fatal(err)
	}
	relu, three := rbm.Group{Kind: units.ReLU, Units: 2}, rbm.Group{Kind: units.Softmax, Units: 3}
	clitest.Save(t, "relu.safetensors", rbm.NewLayers(relu, rbm.Group{Kind: rbm.Bernoulli, Units: 3}), modelfile.About{})
	clitest.Save(t, "real.safetensors", rbm.NewLayers(relu, rbm.Group{Kind: rbm.Gaussian, Units: 3}), modelfile.About{})
	clitest.Save(t, "three.safetensors", rbm.NewLayers(rbm.Group{Kind: rbm.Bernoulli, Units: 2}, three), modelfile.About{})
	clitest.Write(t, "text.safetensors", "no model")
	clitest.Save(t, "bare.safetensors", rbm.New(3, 2, 3, rbm.Softmax), modelfile.About{})
	for _, c := range []struct {
		args   string
		status int
		words  []string
	}{
		{"-model nowhere.safetensors", cli.Failed, []string{"-model", "nowhere.safetensors"}},
		{"-model text.safetensors", cli.Failed, []string{"-model", "text.safetensors"}},
		{"-model relu.safetensors", cli.Usage, []string{"units are not binary: the hidden units are relu units"}},
		{"-model real.safetensors", cli.Usage, []string{"summed out: units are not binary: the hidden units are relu units"}},
		{"-model three.safetensors", cli.Usage, []string{"units are not binary: visible units 0 … 2 are one softmax group"}},
		{"-model labels.safetensors", cli.Usage, []string{"softmax label", "-class, 0 to 1"}},
		{"-model labels.safetensors -class 2", cli.Usage, []string{"-class is 2", "0 to 1"}},
		{"-model m.safetensors -class 0", cli.Usage, []string{"-class", "m.safetensors has none"}},
		{"-lattice 3x3 -class 0", cli.Usage, []string{"-class is for -model"}},
		{"-model m.safetensors -lattice 3x3", cli.Usage, []string{"-lattice cannot go with -model"}},
		{"-model m.safetensors -J pm1", cli.Usage, []string{"-J cannot go with -model"}},
		{"-model m.safetensors -gap", cli.Usage, []string{"-gap cannot go with -model"}},
		{"-model hidden.safetensors", cli.Usage, []string{"-model", "the constraint hidden=1", "no sampler here keeps"}},
		{"-model all.safetensors -sampler block-gibbs", cli.Usage, []string{"-sampler: block-gibbs changes the number", "keeps it at 3", "use exchange or im"}},
		{"-model all.safetensors -active 2", cli.Usage, []string{"-active is 2", "the constraint all=3"}},
		{"-model bare.safetensors -class 0", cli.Failed, []string{"bare.safetensors", "no inputs"}},
		{"-model bits.safetensors -class 0", cli.Usage, []string{"-class", "meets the constraint all=6"}},
		{"-model m.safetensors -sampler sw", cli.Usage, []string{"-sampler", "couplings of an Ising system"}},
		{"-model m.safetensors -sampler gibbs:order=chessboard", cli.Usage, []string{"not a lattice"}},
		{"-lattice 3x3 -sampler block-gibbs", cli.Usage, []string{"-sampler", "need an RBM"}},
	} {
		isingmc.Fails(t, c.status, strings.Fields(c.args), c.words...)
	}
}
