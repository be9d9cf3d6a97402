package mcmc

import (
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// walkers returns the samplers for the tests on large systems.
func walkers(b bench) map[string]Mover {
	pair := DefaultSardonics()
	pair.MinLength, pair.MaxLength = b.low, b.up
	full := pair
	full.Gamma2, full.Walks, full.Mix = .9, 2, [3]float64{.5, .25, .25}
	im := DefaultIntracluster()
	im.MinLength, im.MaxLength = b.low, b.up
	return map[string]Mover{"pair": pair, "full": full, "im": im}
}

func TestWalksKeepTheirCaches(t *testing.T) {
	for _, b := range benches {
		for name, mover := range walkers(b) {
			t.Run(b.name+"/"+name, func(t *testing.T) {
				ising := b.system(t, 5)
				ones := 0
				for _, x := range ising.state {
					ones += int(x)
				}
				// Some chains are bound to a part of the sites.
				var sites []int32
				if name == "pair" {
					sites = everySite(ising.Len())[100:600]
				}
				chain, err := mover.Bind(ising, b.beta, sites)
				if err != nil {
					t.Fatal(err)
				}
				r := rbm.NewKey(6).Rand()
				start := slices.Clone(ising.state)
				rejected := 0
				for move := range 1200 {
					watched := move >= 1150
					var before []uint64
					if watched {
						before = counters(ising, chain)
					}
					info := chain.Move(r)
					if watched && info.Accepted == 0 {
						rejected++
						if !slices.Equal(before, counters(ising, chain)) {
							t.Fatalf("move %d was rejected but not undone", move)
						}
					}
					if move%400 == 399 {
						if what := wrong(ising, chain); what != "" {
							t.Fatalf("after %d moves: wrong %s, want nothing", move+1, what)
						}
					}
					if name == "im" {
						now := 0
						for _, x := range ising.state {
							now += int(x)
						}
						if now != ones {
							t.Fatalf("move %d left the shell: %d bits, were %d", move, now, ones)
						}
					}
				}
				if rejected == 0 {
					t.Error("no move was rejected: nothing seen of undoing")
				}
				for i := range start {
					if sites != nil && (i < 100 || i >= 600) && ising.state[i] != start[i] {
						t.Fatalf("site %d moved: got %v, want %v", i, ising.state[i], start[i])
					}
				}
				// A change of the state without the chain is detected, and
				// Reset recomputes the caches.
				ising.Flip(150)
				if wrong(ising, chain) == "" {
					t.Error("caches of another state pass")
				}
				chain.Reset()
				if what := wrong(ising, chain); what != "" {
					t.Errorf("after Reset: wrong %s, want nothing", what)
				}
			})
		}
	}
}

// A move that changes more weights than the log can store is undone correctly.
func TestUndoOfLongMoves(t *testing.T) {
	const n, k, segments = 300, 150, 3
	ising := NewIsing(realGraph(t, n), RandomState(n, rbm.NewKey(1)))
	m := DefaultSardonics()
	m.MaxLength, m.Gamma2, m.Mix = k, .9, [3]float64{.5, .3, .2}
	c := mustBind(t, m, ising, 0.05).(*sardonicsChain)
	w := c.walker.(*blockWalk)
	before := counters(ising, c)
	r := rbm.NewKey(2).Rand()
	c.begin()
	for s := range segments {
		w.segment(r, nil, k, s%2, &c.half[s%2])
	}
	if w.logged == 0 || w.logged == len(w.path) {
		t.Fatalf("the log begins at flip %d of %d", w.logged, len(w.path))
	}
	w.undo()
	if what := wrong(ising, c); what != "" || !slices.Equal(before, counters(ising, c)) {
		t.Errorf("not undone; wrong %q", what)
	}
}

func TestWalksAllocateNothing(t *testing.T) {
	for _, b := range benches {
		for name, mover := range walkers(b) {
			chain := mustBind(t, mover, b.system(t, 5), b.beta)
			r := rbm.NewKey(6).Rand()
			for range 200 { // buffers grow to their size
				chain.Move(r)
			}
			if n := testing.AllocsPerRun(50, func() { chain.Move(r) }); n != 0 {
				t.Errorf("%s %s: %v allocations a move, want 0", b.name, name, n)
			}
		}
	}
}

func TestWalksRepeatFromEqualSeeds(t *testing.T) {
	for _, b := range benches {
		for name, mover := range walkers(b) {
			var states [2][]uint8
			for n := range states {
				ising := b.system(t, 5)
				chain := mustBind(t, mover, ising, b.beta)
				r := rbm.NewKey(6).Rand()
				for range 50 {
					chain.Move(r)
				}
				states[n] = ising.state
			}
			if !slices.Equal(states[0], states[1]) {
				t.Errorf("%s %s: two runs from one seed differ", b.name, name)
			}
		}
	}
}

// With 10⁵ starts an error of 5 % in the probability of each state is detected: z is then
// 10⁵·0.05²/√(2·511) = 8 on 512 states. With a million starts (-long) an error of 2 % is.
func TestSardonicsStationarity(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	many := 100_000
	if *long {
		many = 1_000_000
	}
	torus := torus(t)
	random := randomGraph(t, 8, false, 31)
	pair := DefaultSardonics()
	pair.MinLength, pair.MaxLength = 1, 4
	full := pair
	full.Gamma2, full.Walks, full.Mix = .3, 2, [3]float64{.4, .3, .3}
	mixed := full
	mixed.Walks = 1
	single := pair
	single.Single = true
	for _, g := range []*Graph{torus, random} {
		on := states(g.Len())
		ising := NewIsing(g, nil)
		if z := zAfter(ising, mustBind(t, mixed, ising, 0.7), on, 0.7, many, 1); z > 6 {
			t.Errorf("%d starts: z = %.1f, want at most 6", many, z)
		}
		for _, m := range []Sardonics{pair, full, single} {
			if z := zAfter(ising, mustBind(t, m, ising, 0.7), on, 0.7, 40_000, 2); z > 6 {
				t.Errorf("%+v: z = %.1f, want at most 6", m, z)
			}
		}
		if z := zAfter(ising, mustBind(t, pair, ising, 0.55), on, 0.7, 40_000, 2); z < 6 {
			t.Errorf("at a wrong temperature z = %.1f, want at least 6", z)
		}
	}
}

// A long chain visits the states with the right frequencies from any start.
func TestSardonicsVisitsStatesByTheirLaw(t *testing.T) {
	g := randomGraph(t, 8, true, 32)
	ising := NewIsing(g, nil)
	m := DefaultSardonics()
	m.MinLength, m.MaxLength = 1, 4
	chain := mustBind(t, m, ising, 0.5)
	r := rbm.NewKey(9).Rand()
	counts := make([]int, 256)
	for range 40_000 {
		for range 12 { // many times the autocorrelation time, so that draws are independent
			chain.Move(r)
		}
		counts[indexOf(ising.state)]++
	}
	if z := diag.StationarityZ(counts, plainOf(g).boltzmann(states(8), 0.5)); z > 6 {
		t.Errorf("z = %.1f, want at most 6", z)
	}
}

// forgetful is a broken walker that keeps the state of rejected moves. The tests above must detect it.
type forgetful struct{ walker }

func (f forgetful) undo() { f.commit() }

type forgetfulShell struct{ shellWalker }

func (f forgetfulShell) undo() { f.commit() }

func TestRejectedMovesThatStayAreSeen(t *testing.T) {
	ising := NewIsing(torus(t), nil)
	m := DefaultSardonics()
	m.MinLength, m.MaxLength = 1, 4
	c := mustBind(t, m, ising, 0.7).(*sardonicsChain)
	c.walker = forgetful{c.walker}
	if z := zAfter(ising, c, states(9), 0.7, 40_000, 2); z < 6 {
		t.Errorf("sardonics: z = %.1f, want at least 6", z)
	}
	on, _ := shell(9, 4)
	ising.SetState(on[0])
	im := DefaultIntracluster()
	im.MaxLength = 4
	s := mustBind(t, im, ising, 0.7).(*intraclusterChain)
	s.walker = forgetfulShell{s.walker}
	if z := zAfter(ising, s, on, 0.7, 40_000, 2); z < 6 {
		t.Errorf("im: z = %.1f, want at least 6", z)
	}
}
