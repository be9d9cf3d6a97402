package mcmc

import (
	"fmt"
	"slices"

	"gorbm/rbm"
)

func ExampleSardonics() {
	lattice, _ := Grid([]int{9, 9, 9}, true)
	glass, _ := lattice.Graph(PlusMinus(1, rbm.NewKey(1)), 0)
	s := NewIsing(glass, nil)
	chain, err := DefaultSardonics().Bind(s, 0.5, nil)
	if err != nil {
		panic(err)
	}
	r := rbm.NewKey(2).Rand()
	var info Info
	for range 2000 {
		info.Add(chain.Move(r))
	}
	accepted, _ := info.Acceptance()
	fmt.Printf("%.0f flips a move, accepted %.1f\n", float64(info.Flips)/float64(info.Moves), accepted)
	// Output: 26 flips a move, accepted 1.0
}

func ExampleIntracluster() {
	lattice, _ := Grid([]int{60, 60}, true)
	ferromagnet, _ := lattice.Graph(Uniform(1), 0)
	half := slices.Repeat([]uint8{0, 1}, 1800)
	s := NewIsing(ferromagnet, half)
	m := DefaultIntracluster()
	m.MinLength, m.MaxLength = 90, 90
	chain, err := m.Bind(s, 1/2.27, nil)
	if err != nil {
		panic(err)
	}
	r := rbm.NewKey(2).Rand()
	for range 100 {
		chain.Move(r)
	}
	up := 0
	for _, x := range s.State() {
		up += int(x)
	}
	fmt.Println(up, "spins up")
	// Output: 1800 spins up
}

// Systems of an RBM load states from a batch, walks move them, and Store writes the states
// back.
func ExampleParameters() {
	m := rbm.New(784, 500, 0, rbm.Softmax)
	m.Randomize(0.1, rbm.NewKey(1))
	states := rbm.NewStates(m, 2)

	parameters := NewParameters(m)
	systems := []*RBM{NewRBM(parameters), NewRBM(parameters)}
	parameters.Load(systems, states.V, states.H)
	walks := DefaultSardonics()
	walks.MaxLength, walks.Gamma1 = 20, 1
	var info Info
	for r, s := range systems {
		chain, err := walks.Bind(s, 1, nil)
		if err != nil {
			panic(err)
		}
		random := rbm.NewKey(2).Child(uint64(r)).Rand()
		for range 100 {
			info.Add(chain.Move(random))
		}
		s.Store(states.V, states.H, r)
	}
	accepted, _ := info.Acceptance()
	fmt.Printf("%.0f flips a move, accepted %.2f\n", float64(info.Flips)/float64(info.Moves), accepted)
	// Output: 20 flips a move, accepted 0.99
}

func ExampleParseMover() {
	m, _ := ParseMover("sardonics:k=1-20:gamma=1.02", Linear)
	fmt.Println(FormatMover(m))
	_, err := ParseMover("sardonics:k=4:walks=single", Linear)
	fmt.Println(err)
	// Output:
	// sardonics:k=1-20:gamma=1.02:weights=heatbath:walks=1
	// sardonics: if all walks have 4 flips, an even number, half of all states can never be reached; let the length vary, such as k=3-4
}
