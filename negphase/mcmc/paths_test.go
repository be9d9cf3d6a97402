package mcmc

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// everyMover returns a mover of each kind and order.
func everyMover() []Mover {
	return []Mover{
		Gibbs{}, Gibbs{Chessboard}, Gibbs{Random},
		Metropolis{}, Metropolis{Chessboard}, Metropolis{Random},
		ModifiedMetropolis{}, ModifiedMetropolis{Chessboard}, ModifiedMetropolis{Random},
		Exchange{}, SwendsenWang{}, Wolff{1}, Wolff{3},
	}
}

// The fast paths of Ising systems are identical to the general path. Couplings have few binary digits, so that
// sums in the general path have no rounding error.
func TestFastPathsAreTheGeneralPath(t *testing.T) {
	for name, g := range map[string]*Graph{
		"uniform":  lattice(t, "8x6", Uniform(1), 0.5),
		"signs":    lattice(t, "3x3x3", PlusMinus(0.25, rbm.NewKey(1)), 0),
		"gaussian": lattice(t, "6x6", Gaussian(1, rbm.NewKey(2)), 0.1),
		"dense":    realGraph(t, 20),
		"integers": integerGraph(t, 20, 2),
	} {
		for _, m := range everyMover() {
			switch m.(type) {
			case SwendsenWang, Wolff:
				continue // no general path
			}
			if one, ok := m.(singleSite); ok && one.order() == Chessboard {
				continue // chessboard order needs a lattice
			}
			for _, sites := range [][]int32{nil, {5, 2, 9, 11, 3}} {
				start := RandomState(g.Len(), rbm.NewKey(3))
				fast, slow := NewIsing(g, start), NewIsing(g, start)
				a := must(m.Bind(fast, 0.6, sites))(t)
				b := must(m.Bind(general{slow}, 0.6, sites))(t)
				ra, rb := rbm.NewKey(4).Rand(), rbm.NewKey(4).Rand()
				var ia, ib Info
				for range 100 {
					ia.Add(a.Move(ra))
					ib.Add(b.Move(rb))
				}
				if !slices.Equal(fast.State(), slow.State()) || fast.energy != slow.energy || ia != ib {
					t.Errorf("%s, %T %+v, sites %v: the paths differ (%+v, %+v)", name, m, m, sites, ia, ib)
				}
				if ia.Moves != 100 || ia.Flips == 0 {
					t.Errorf("%s, %T: counts %+v", name, m, ia)
				}
			}
		}
	}
}

// After many moves fields, costs and energy are identical to their recomputation from the state. Sites that
// a chain must not change have not changed, and an exchange has
// kept the number of active sites.
func TestMovesKeepTheSystem(t *testing.T) {
	for name, g := range map[string]*Graph{
		"60x60":    lattice(t, "60x60", Uniform(1), 0),
		"signs":    lattice(t, "9x9x9", PlusMinus(1, rbm.NewKey(1)), 0.5),
		"gaussian": lattice(t, "9x9x9", Gaussian(1, rbm.NewKey(2)), 0.1),
		"chimera":  lattice(t, "chimera:2x3", PlusMinus(0.1, rbm.NewKey(1)), 0),
	} {
		for _, m := range everyMover() {
			start := RandomState(g.Len(), rbm.NewKey(3))
			s := NewIsing(g, start)
			sites := []int32{40, 4, 5, 12, 13, 14, 3, 30, 31}
			chains := []Chain{must(m.Bind(s, critical, nil))(t), must(m.Bind(s, critical, sites))(t)}
			r := rbm.NewKey(4).Rand()
			for k := range 200 {
				before := slices.Clone(s.State())
				chain := chains[k%2]
				chain.Reset()
				chain.Move(r)
				ups := 0
				for i, x := range s.State() {
					ups += int(x) - int(before[i])
					if k%2 == 1 && x != before[i] && !slices.Contains(sites, int32(i)) {
						t.Fatalf("%s, %T changed site %d", name, m, i)
					}
				}
				if _, ok := m.(Exchange); ok && ups != 0 {
					t.Fatalf("%s: an exchange changed the number of ups by %d", name, ups)
				}
			}
			fresh := NewIsing(g, s.State())
			if s.energy != fresh.energy || !slices.Equal(s.local, fresh.local) || !slices.Equal(s.real, fresh.real) || !slices.Equal(flipCosts(s), flipCosts(fresh)) {
				t.Errorf("%s, %T: the system drifted", name, m)
			}
		}
	}
}

func TestMovesDoNotAllocate(t *testing.T) {
	for _, g := range []*Graph{lattice(t, "8x8", PlusMinus(1, rbm.NewKey(1)), 0.5), lattice(t, "8x8", Gaussian(1, rbm.NewKey(1)), 0.1)} {
		for _, m := range everyMover() {
			s := NewIsing(g, RandomState(g.Len(), rbm.NewKey(3)))
			c := must(m.Bind(s, 0.5, nil))(t)
			r := rbm.NewKey(4).Rand()
			if n := testing.AllocsPerRun(20, func() { c.Reset(); c.Move(r) }); n != 0 {
				t.Errorf("%T %+v allocates %g times a move, want 0", m, m, n)
			}
		}
	}
}

// The results for a seed must not change. After 50 moves of each mover, the hash of all states so far is compared.
func TestGoldenMoves(t *testing.T) {
	want := []string{
		"82a2d0c50f3ed4b9", "535a14becedd0d05", "c347d8f71518ff92", "44678992cf997a18", "c2d0540c932e18da",
		"4a334b1467bb310b", "d50d52ed1a73bb93", "866c1bfdddfdc12e", "bc56337c77125db6", "ec560b594b1d0916",
		"a4d75aa0559684ab", "b3bbe39d63c59538", "0d288aa8574987ea", "75c4e30fea97b2d7", "94f0dd9c490f95b0",
		"3003df30f137d05e", "e7cafd2b7670fe22", "03b41b26e63ce6dc", "3594f4750f3c0e54", "3c6aeabfbd2be01d",
		"179737c1b0f1e5da", "1d8b44e5055c82ca", "5531803ca816913e", "5595854be89663d6", "a039ba6a6b1a0353",
		"86c7b64d1612ff0b",
	}
	h := sha256.New()
	for _, g := range []string{"6x6", "4x4x4"} {
		graph := map[string]*Graph{"6x6": lattice(t, "6x6", PlusMinus(0.3, rbm.NewKey(1)), 0.1), "4x4x4": lattice(t, "4x4x4", Gaussian(1, rbm.NewKey(2)), 0.1)}[g]
		for _, m := range everyMover() {
			s := NewIsing(graph, RandomState(graph.Len(), rbm.NewKey(3)))
			c := must(m.Bind(s, 0.5, nil))(t)
			r := rbm.NewKey(4).Rand()
			for range 50 {
				c.Move(r)
				h.Write(s.State())
			}
			got := hex.EncodeToString(h.Sum(nil)[:8])
			if got != want[0] {
				t.Fatalf("%s, %T %+v: the states hash to %s, want %s; those of the movers before are right; the last state is %v", g, m, m, got, want[0], s.State())
			}
			want = want[1:]
		}
	}
}

func TestBindErrors(t *testing.T) {
	g := lattice(t, "4x4", Uniform(1), 0)
	half := NewIsing(g, stateOf(0xff, 16))
	for _, m := range everyMover() {
		for _, beta := range []float64{-1, math.NaN(), math.Inf(1)} {
			if _, err := m.Bind(half, beta, nil); err == nil {
				t.Errorf("%T at %g", m, beta)
			}
		}
		for _, sites := range [][]int32{{}, {16}, {-1}, {6, 8, 6}} {
			if _, err := m.Bind(half, 1, sites); err == nil {
				t.Errorf("%T on sites %v", m, sites)
			}
		}
	}
	for want, bind := range map[string]func() (Chain, error){
		"not a lattice":         func() (Chain, error) { return Gibbs{Chessboard}.Bind(NewIsing(realGraph(t, 5), nil), 1, nil) },
		"one of linear":         func() (Chain, error) { return Metropolis{Order(7)}.Bind(half, 1, nil) },
		"0 of 16 sites are on":  func() (Chain, error) { return Exchange{}.Bind(NewIsing(g, nil), 1, nil) },
		"3 of 3 sites are on":   func() (Chain, error) { return Exchange{}.Bind(half, 1, []int32{0, 1, 2}) },
		"couplings of an Ising": func() (Chain, error) { return SwendsenWang{}.Bind(general{half}, 1, nil) },
	} {
		if _, err := bind(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// At a temperature where exponentials underflow in float64, moves never increase the energy.
func TestColdMoves(t *testing.T) {
	for _, g := range []*Graph{lattice(t, "6x6", Uniform(1), 0), lattice(t, "6x6", Gaussian(1, rbm.NewKey(1)), 0)} {
		for _, m := range everyMover() {
			s := NewIsing(g, RandomState(g.Len(), rbm.NewKey(3)))
			c := must(m.Bind(s, 1e307, nil))(t)
			r := rbm.NewKey(4).Rand()
			for range 20 {
				before := s.Energy()
				if c.Move(r); s.Energy() > before {
					t.Errorf("%T went uphill from %g to %g", m, before, s.Energy())
				}
			}
		}
	}
}

// Couplings that span a large range have large tables; moves with them are correct.
func TestWideIntegerGraphs(t *testing.T) {
	g := must(NewGraph(make([]float64, 3), []Edge{{0, 1, 1}, {1, 2, 60000}}))(t)
	if _, ok := g.Integer(); !ok {
		t.Fatal("no integer graph")
	}
	s := NewIsing(g, []uint8{1, 0, 0})
	c := must(Exchange{}.Bind(s, 1e-4, nil))(t)
	c.Move(rbm.NewKey(1).Rand())
	if fresh := NewIsing(g, s.State()); fresh.energy != s.energy {
		t.Errorf("energy %d, want %d", s.energy, fresh.energy)
	}
}

func sum(x []uint8) (n int) {
	for _, b := range x {
		n += int(b)
	}
	return n
}

func TestOrders(t *testing.T) {
	for k, name := range Orders() {
		m := must(ParseMover("gibbs:order="+name, Linear))(t)
		if o := Order(k); o.String() != name || m != (Gibbs{o}) {
			t.Errorf("%s reads as %v, and is written as %v", name, m, o)
		}
	}
	if Order(9).String() != "Order(9)" {
		t.Errorf("got %q, want %q", Order(9).String(), "Order(9)")
	}
	// Every site once, even sites first.
	g := lattice(t, "4x4", Uniform(1), 0)
	c := must(Gibbs{Chessboard}.Bind(NewIsing(g, nil), 1, nil))(t).(*sweep)
	if want := []int32{0, 2, 5, 7, 8, 10, 13, 15, 1, 3, 4, 6, 9, 11, 12, 14}; !slices.Equal(c.sites, want) {
		t.Errorf("chessboard order %v, want %v", c.sites, want)
	}
}

func TestInfo(t *testing.T) {
	var i Info
	if _, ok := i.Acceptance(); ok {
		t.Error("a rate of nothing")
	}
	i.Add(Info{1, 2, 3, 1, 5})
	i.Add(Info{1, 2, 5, 3, 5})
	if rate, ok := i.Acceptance(); i != (Info{2, 4, 8, 4, 10}) || !ok || rate != 0.5 {
		t.Errorf("%+v, %g", i, rate)
	}
}
