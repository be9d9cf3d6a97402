package negphase

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/parallel"
)

// conformance has settings of every kind, on which all tests in this file run.
var conformance = map[string][]string{
	"cd":        {"cd:k=2"},
	"pcd":       {"pcd:k=2:chains=13", "pcd:k=1:chains=5:start=data"},
	"pt":        {"pt:k=2:swaps=3:chains=7:tau=1/1.5/2.5/6", "pt:k=2:swaps=3:chains=3:tau=1/1.5/inf:sardonics:k=1-2", "pt:chains=2:tau=auto:im", "pt:k=1:chains=3:start=data", "pt:swaps=3:chains=1:tau=1/1.5/2.5/6:order=evenodd", "pt:chains=7:tau=auto"},
	"sardonics": {"sardonics:chains=7", "sardonics:k=1-2:gamma=.9/1.1:mix=1/1/1:chains=3:start=data:moves=3", "sardonics:chains=3:gibbs=2", "sardonics:chains=3:weights=boltzmann:gamma=.5", "sardonics:k=auto:chains=3:moves=2"},
	"im":        {"im:chains=7:moves=2", "im:k=1:gibbs=2:chains=3:start=data", "im:k=auto:chains=3"},
	"walk":      {"walk:gibbs:order=random:chains=5:moves=2", "walk:exchange:chains=3", "walk:metropolis:chains=2:gibbs=1", "walk:block-gibbs:chains=3", "walk:flip:chains=2:moves=3"},
	"ins":       {"ins:k=2:swaps=2:chains=3:tau=1/1.5/6:gibbs", "ins:k=2:swaps=3:chains=7:tau=1/1.5/2.5/6", "ins:k=1:chains=3:start=data", "ins:chains=1:tau=auto/4:hottest=4"},
	"pins":      {"pins:k=2:swaps=3:chains=3:tau=1/1.5/6:block=2:gibbs=1:sardonics", "pins:k=2:swaps=3:chains=7:tau=1/1.5/2.5/6/9:block=2", "pins:k=1:chains=1:start=data:block=3", "pins:chains=7:tau=auto/5:block=4"},
	"ptt":       {"ptt:chains=7:sweeps=10", "ptt:k=2:chains=3:rungs=3:sweeps=4:reservoir=2", "ptt:chains=2:freeze=0.9:sweeps=2:reservoir=1"},
	"exact":     {"exact"},
}

func TestEveryKindIsInTheTable(t *testing.T) {
	for _, kind := range Kinds() {
		if len(conformance[kind]) == 0 {
			t.Errorf("%s is missing from the conformance table", kind)
		}
	}
	if len(conformance) != len(Kinds()) {
		t.Errorf("the table has %d kinds, the package %d", len(conformance), len(Kinds()))
	}
}

// eachKind calls f for all settings in the table.
func eachKind(t *testing.T, f func(t *testing.T, settings string)) {
	for _, kind := range Kinds() {
		for _, s := range conformance[kind] {
			t.Run(s, func(t *testing.T) { f(t, s) })
		}
	}
}

// positive returns a positive phase of rows random examples.
func positive(m *rbm.RBM, rows int, seed uint64) rbm.Batch {
	b := rbm.Batch{V: rbm.NewBits(rows, m.Visible()), H: rbm.NewMatrix(rows, m.Hidden())}
	b.V.Randomize(rbm.NewKey(seed))
	for r := range rows {
		for y := range m.Classes() {
			b.V.Set(r, m.Inputs()+y, y == r%m.Classes())
		}
	}
	m.HiddenMean(b.H, b.V)
	return b
}

// words returns all bits of a phase and its counts, in order.
func words(p rbm.Phase, info Info) []uint64 {
	var w []uint64
	floats := func(x []float32) {
		w = append(w, uint64(len(x)))
		for _, x := range x {
			w = append(w, uint64(math.Float32bits(x)))
		}
	}
	w = append(w, uint64(p.V.Rows), uint64(p.V.Cols))
	w = append(w, p.V.Words...)
	floats(p.V.Real)
	floats(p.H.Data)
	floats(p.Weight)
	if p.Moments != nil {
		floats(p.Moments.V)
		floats(p.Moments.H)
		floats(p.Moments.VH.Data)
	}
	for _, n := range slices.Concat([]int64{info.Updates, info.Tuned}, info.SwapTries, info.Swaps) {
		w = append(w, uint64(n))
	}
	counts := slices.DeleteFunc(slices.Clone(info.Counts), func(c Count) bool { return c.Value == 0 })
	slices.SortFunc(counts, func(a, b Count) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range counts {
		h := fnv.New64()
		h.Write([]byte(c.Name))
		w = append(w, h.Sum64(), math.Float64bits(c.Value))
	}
	return w
}

// call makes the calls from … to−1 of e and returns all bits of the results.
func call(t testing.TB, e Estimator, m *rbm.RBM, pos rbm.Batch, from, to int) []uint64 {
	t.Helper()
	var w []uint64
	for n := from; n < to; n++ {
		phase, info, err := e.Estimate(m, pos, rbm.NewKey(77).Child(uint64(n)))
		if err != nil {
			t.Fatal(err)
		}
		w = append(w, words(phase, info)...)
	}
	return w
}

// firstDifference describes the first difference between two results of call.
func firstDifference(got, want []uint64) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("value %d of %d is %#x, want %#x", i, len(want), got[i], want[i])
		}
	}
	return fmt.Sprintf("%d values, want %d", len(got), len(want))
}

// modest has models on which all kinds run, one for each kind of label.
var modest = []shape{{9, 7, 0, rbm.Softmax}, {70, 6, 3, rbm.Softmax}, {70, 6, 3, rbm.Bernoulli}, {1, 1, 0, rbm.Softmax}}

func TestEqualBitsAtAnyGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	check := func(t *testing.T, settings string, s shape, sd float64, rows int, procs ...int) {
		m := s.random(3, sd)
		pos := positive(m, rows, 4)
		var want []uint64
		for _, procs := range procs {
			runtime.GOMAXPROCS(procs)
			got := call(t, estimator(t, settings), m, pos, 0, 2)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: other bits at GOMAXPROCS %d: %s", s, procs, firstDifference(got, want))
			}
		}
		if other := call(t, estimator(t, settings), m, pos, 1, 2); !strings.HasPrefix(settings, "exact") && slices.Equal(other, want[:min(len(other), len(want))]) {
			t.Errorf("%v: another key gives the same bits", s)
		}
	}
	eachKind(t, func(t *testing.T, settings string) {
		for _, s := range modest[:3] {
			check(t, settings, s, 0.5, 11, 1, 3, 7)
		}
	})
	// Sizes at which several goroutines share the work: rows × weights
	// of at least 2²³, and 2¹⁰ enumerated states × 300 units.
	for _, settings := range []string{"cd:k=2", "pcd:chains=40", "ptt:chains=40:sweeps=2", "pt:chains=14:tau=1/2/3", "ins:chains=14:tau=1/2/3", "pins:chains=14:tau=1/2/3:block=2", "sardonics:chains=40", "im:chains=40", "pt:chains=14:tau=1/2/3:sardonics"} {
		t.Run("wide/"+settings, func(t *testing.T) { check(t, settings, shape{590, 370, 10, rbm.Softmax}, 0.05, 40, 1, 3) })
	}
	t.Run("wide/exact", func(t *testing.T) { check(t, "exact", shape{300, 10, 3, rbm.Softmax}, 0.5, 2, 1, 3) })
}

// An estimator that is saved before the first call or during a run, and restored into a new
// estimator or a used one, continues with identical results.
func TestSavedEstimatorsGoOn(t *testing.T) {
	eachKind(t, func(t *testing.T, settings string) {
		for _, s := range fewer(modest) {
			m := s.random(5, 0.7)
			pos := positive(m, 6, 6)
			for _, at := range []int{0, 1, 4} {
				e := estimator(t, settings)
				call(t, e, m, pos, 0, at)
				saved, err := e.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				want := call(t, e, m, pos, at, at+3)
				final, _ := e.MarshalBinary()

				used := estimator(t, settings)
				call(t, used, m, pos, 40, 42)
				for _, restored := range []Estimator{estimator(t, settings), used} {
					if err := restored.UnmarshalBinary(saved); err != nil {
						t.Fatal(err)
					}
					again, err := restored.MarshalBinary()
					if err != nil || !bytes.Equal(again, saved) {
						t.Fatalf("%v: saved again it has other bytes, %v", s, err)
					}
					if got := call(t, restored, m, pos, at, at+3); !slices.Equal(got, want) {
						t.Errorf("%v: restored after %d calls it continues with other bits: %s", s, at, firstDifference(got, want))
					}
					if got, _ := restored.MarshalBinary(); !bytes.Equal(got, final) {
						t.Errorf("%v: restored after %d calls it ends in another state", s, at)
					}
				}
			}
		}
	})
}

// A copy, into a new estimator or a used one, continues with the results of the original, and
// does not change the original.
func TestCopiedEstimatorsGoOn(t *testing.T) {
	eachKind(t, func(t *testing.T, settings string) {
		if _, ok := estimator(t, settings).(Copier); !ok {
			t.Skip("it is copied by its binary form")
		}
		for _, s := range modest {
			m := s.random(5, 0.7)
			pos := positive(m, 6, 6)
			e, used := estimator(t, settings), estimator(t, settings).(Copier)
			if used.CopyFrom(e) || used.CopyFrom(estimator(t, "pcd")) {
				t.Errorf("%v: chains are copied that are not there", s)
			}
			call(t, used, m, pos, 40, 43)
			call(t, e, m, pos, 0, 2)
			next := between(m, s.random(9, 2), 0.01)
			if e.(Vetoer).Veto(next) { // Veto computes the means under the next model
				t.Errorf("%v: a small step is rejected", s)
			}
			for _, to := range []Copier{estimator(t, settings).(Copier), used} {
				if !to.CopyFrom(e) {
					t.Fatalf("%v: the chains are not copied", s)
				}
				saved, _ := e.MarshalBinary()
				want, err := to.MarshalBinary()
				if err != nil || !bytes.Equal(saved, want) {
					t.Fatalf("%v: the copy has other bytes, %v", s, err)
				}
				got := call(t, to, next, pos, 2, 6)
				if again, _ := e.MarshalBinary(); !bytes.Equal(again, saved) {
					t.Errorf("%v: the copy changes the original", s)
				}
				restored := estimator(t, settings)
				if err := restored.UnmarshalBinary(saved); err != nil {
					t.Fatal(err)
				}
				if want := call(t, restored, next, pos, 2, 6); !slices.Equal(got, want) {
					t.Errorf("%v: the copy continues with other bits: %s", s, firstDifference(got, want))
				}
			}
		}
	})
}

func TestInputsAreNotChanged(t *testing.T) {
	eachKind(t, func(t *testing.T, settings string) {
		for _, s := range modest {
			m := s.random(5, 0.7)
			before := m.Clone()
			pos := positive(m, 6, 6)
			pos.Weight = []float32{0.5, 0.1, 0.1, 0.1, 0.1, 0.1}
			want := words(rbm.Phase{Batch: pos}, Info{})
			call(t, estimator(t, settings), m, pos, 0, 2)
			if !m.Equal(before) {
				t.Errorf("%v: the model is changed", s)
			}
			if !slices.Equal(words(rbm.Phase{Batch: pos}, Info{}), want) {
				t.Errorf("%v: the positive phase is changed", s)
			}
		}
	})
}

func TestNoRows(t *testing.T) {
	m := shape{9, 7, 3, rbm.Softmax}.random(5, 0.7)
	eachKind(t, func(t *testing.T, settings string) {
		pos := positive(m, 0, 1)
		phase, _, err := estimator(t, settings).Estimate(m, pos, rbm.NewKey(1))
		switch {
		case strings.Contains(settings, "start=data"):
			if err == nil || !strings.Contains(err.Error(), "at least one row") {
				t.Errorf("got %v", err)
			}
		case err != nil:
			t.Error(err)
		case strings.HasPrefix(settings, "cd") && phase.V.Rows != 0:
			t.Errorf("%d particles from no rows", phase.V.Rows)
		}
	})
}

// The phases that estimators return have the model's shape. Their weights sum to 1, and their
// means are probabilities.
func TestPhasesAreWellFormed(t *testing.T) {
	eachKind(t, func(t *testing.T, settings string) {
		for _, s := range append(modest, shape{3, 2, 3, rbm.Softmax}) {
			m := s.random(8, 2)
			phase, info, err := estimator(t, settings).Estimate(m, positive(m, 6, 6), rbm.NewKey(9))
			if err != nil {
				t.Fatal(err)
			}
			got := rbm.NewMoments(m)
			phase.SetMoments(got)
			for _, x := range slices.Concat(got.V, got.H, got.VH.Data) {
				if !(x >= 0 && x <= 1+1e-6) {
					t.Fatalf("%v: a moment is %v", s, x)
				}
			}
			if m.Classes() > 0 && m.LabelKind() == rbm.Softmax {
				sum := 0.0
				for _, x := range got.V[m.Inputs():] {
					sum += float64(x)
				}
				near(t, "sum of the label moments", sum, 1, 1e-6)
			}
			if phase.Moments != nil {
				continue
			}
			sum, rows := 0.0, phase.V.Rows
			for r := range rows {
				w := 1 / float64(rows)
				if phase.Weight != nil {
					w = float64(phase.Weight[r])
				}
				if !(w >= 0) {
					t.Errorf("%v: weight %d is %v", s, r, w)
				}
				sum += w
			}
			near(t, "sum of weights", sum, 1, 1e-6) // the error of some ten roundings to float32
			mean := rbm.NewMatrix(rows, m.Hidden())
			m.HiddenMean(mean, phase.V)
			if !slices.Equal(mean.Data, phase.H.Data) {
				t.Errorf("%v: the hidden means are not those of the particles at β = 1", s)
			}
			if info.Updates == 0 {
				t.Errorf("%v: no Gibbs steps are counted", s)
			}
		}
	})
}

// Estimators make the number of Gibbs steps and rounds in their settings: with different numbers the
// particles differ.
func TestStepsAreTaken(t *testing.T) {
	m := shape{20, 30, 0, rbm.Softmax}.random(5, 0.3)
	pos := positive(m, 6, 6)
	for _, c := range [][]string{
		{"cd:k=1", "cd:k=2", "cd:k=3"},
		{"pcd:k=1", "pcd:k=2", "pcd:k=3"},
		{"ptt:k=1:sweeps=2", "ptt:k=2:sweeps=2", "ptt:k=1:sweeps=4"},
		{"pt:k=1", "pt:k=2", "pt:k=1:swaps=2"},
		{"ins:k=1", "ins:k=2", "ins:k=1:swaps=2"},
		{"pins:k=1:block=2", "pins:k=2:block=2", "pins:k=1:swaps=2:block=2"},
		{"pt:k=1:sardonics", "pt:k=2:sardonics", "pt:k=1:swaps=2:sardonics", "pt:k=1:gibbs=1:sardonics"},
		{"sardonics:k=1-3", "sardonics:k=1-4", "sardonics:k=1-3:moves=2", "sardonics:k=1-3:gibbs=1", "sardonics:k=1-3:start=data"},
		{"im:k=1-3", "im:k=1-4", "im:k=1-3:moves=2", "im:k=1-3:gibbs=2"},
		{"walk:gibbs", "walk:gibbs:moves=2", "walk:exchange", "walk:metropolis"},
	} {
		seen := map[string]string{}
		for _, settings := range c {
			phase, _, err := estimator(t, settings).Estimate(m, pos, rbm.NewKey(1))
			if err != nil {
				t.Fatal(err)
			}
			particles := fmt.Sprint(phase.V.Words)
			if same, ok := seen[particles]; ok {
				t.Errorf("%s gives the particles of %s", settings, same)
			}
			seen[particles] = settings
		}
	}
}

// For tuned ladders the test covers the calls before the first tuning, which allocates.
func TestEstimateAllocatesNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("the pool that hidden means come from drops things under the race detector")
	}
	eachKind(t, func(t *testing.T, settings string) {
		m := shape{70, 9, 3, rbm.Softmax}.random(5, 0.7)
		pos := positive(m, 6, 6)
		e := estimator(t, settings)
		n := 0
		run := func() {
			n++
			if _, _, err := e.Estimate(m, pos, rbm.NewKey(uint64(n))); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if a := testing.AllocsPerRun(40, run); a != 0 {
			t.Errorf("%v allocations a call", a)
		}
	})
}

// begun returns an estimator after a call, and its saved state.
func begun(t testing.TB, settings string) (Estimator, []byte) {
	e := estimator(t, settings)
	m := shape{9, 7, 0, rbm.Softmax}.random(5, 0.7)
	call(t, e, m, positive(m, 6, 6), 0, 1)
	b, err := e.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return e, b
}

func TestDamagedStatesAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	eachKind(t, func(t *testing.T, settings string) {
		e, saved := begun(t, settings)
		refused := func(what string, b []byte) {
			t.Helper()
			err := estimator(t, settings).UnmarshalBinary(b)
			if !errors.Is(err, rbm.ErrFormat) || strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("%s: got %v, want ErrFormat", what, err)
			}
		}
		refused("a byte too many", append(slices.Clone(saved), 0))
		for n := 0; n < len(saved); n += 1 + n/500 { // near the end, where the record is long and uniform, in larger steps
			refused(fmt.Sprintf("cut to %d bytes", n), saved[:n])
		}
		if len(saved) == 0 {
			return
		}
		with := func(at int, x ...byte) []byte {
			b := slices.Clone(saved)
			copy(b[at:], x)
			return b
		}
		refused("another version", with(0, 3))
		head := 0 // of a ladder: version, number of temperatures, inverse temperatures
		l, isLadder := e.(Tempered)
		if isLadder {
			head = 8 + 4*len(l.Ladder().Beta)
			rows := int(binary.LittleEndian.Uint32(saved[head+4:]))
			tuned := head + 12 + 8*rows + 2*rows + 32 // after the chains, ranks and journeys and four counts
			if parse(t, settings).Sampler() != "" {
				tuned += 4 + 8*rows // visible states
			}
			refused("another number of temperatures", with(4, saved[4]+1))
			refused("4·10⁹ temperatures", with(4, 255, 255, 255, 255))
			refused("no temperatures", with(4, 0, 0, 0, 0))
			if strings.Contains(settings, "auto") {
				refused("inverse temperatures that do not fall", with(12, saved[8:12]...))
				refused("another lowest temperature", with(8, saved[8]+1))
				refused("another highest temperature", with(head-4, saved[head-4]+1))
			} else {
				refused("other inverse temperatures", with(12, saved[12]+1))
				refused("a ladder that was tuned", with(tuned, 1))
			}
			refused("inverse temperatures that are NaN", with(12, 0, 0, 0xc0, 0x7f))
		}
		chains := saved[head:]
		refused("another version of the chains", with(head, 2))
		refused("another number of chains", with(head+4, chains[4]+1))
		one := slices.Clone(saved) // one chain with as many words as all chains should have
		binary.LittleEndian.PutUint32(one[head+4:], 1)
		binary.LittleEndian.PutUint32(one[head+8:], 64*binary.LittleEndian.Uint32(chains[4:]))
		refused("other chains of the same size", one)
		refused("no chains but states", with(head+4, 0, 0, 0, 0))
		refused("4·10⁹ chains", with(head+4, 255, 255, 255, 255))
		refused("4·10⁹ hidden units", with(head+8, 255, 255, 255, 255))
		refused("a bit past the last unit", with(head+12, 0x80)) // 7 hidden units
		if !isLadder {
			return
		}
		rows := int(binary.LittleEndian.Uint32(chains[4:]))
		ranks := head + 12 + 8*rows
		if parse(t, settings).Sampler() != "" {
			ranks += 4 + 8*rows // visible states
			refused("no visible units", with(head+12+8*rows, 0))
			refused("a bit past the last visible unit", with(head+16+8*rows+1, 2)) // 9 of them
		}
		refused("a particle at two temperatures", with(ranks, saved[ranks+1]))
		refused("a particle that is not there", with(ranks, 200))
		refused("a journey that does not exist", with(ranks+2*rows-1, 3))
		counts := ranks + 2*rows
		refused("a number of rounds below 0", with(counts+7, 0x80))
		refused("a number of rounds near overflow", with(counts+7, 0x7f))
		refused("a number of round trips below 0", with(counts+15, 0x80))
		refused("fewer rounds than the record has", with(counts, 0))
		refused("a number of calls below 0", with(counts+23, 0x80))
		refused("a tuning below 0", with(counts+31, 0x80))
		refused("a flag of 2", with(counts+40, 2))
		record := counts + 41
		refused("a record of more rounds", with(record, saved[record]+1))
		refused("batches of no rounds", with(record+8, 0))
		refused("batches that are hardly begun", with(record+8, 2))
		refused("batches whose number overflows", with(record+8, 0, 0, 0, 0, 0, 0, 0, 4))
		refused("a rejection that is not a number", with(record+16+6, 0xf8, 0x7f))
		refused("a rejection above 1", with(record+16+6, 0xf0, 0x41))
		refused("a rejection below 0", with(record+16+6, 0xf0, 0xbf))
		refused("a trajectory through no temperature", with(len(saved)-1, saved[4]))
	})
}

func TestRefusedStatesChangeNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, settings string) {
		e, saved := begun(t, settings)
		_, other := begun(t, settings)
		if err := e.UnmarshalBinary(append(other, 0)); err == nil {
			t.Fatal("not refused")
		}
		if got, _ := e.MarshalBinary(); !bytes.Equal(got, saved) {
			t.Error("a state that was refused has changed the estimator")
		}
	})
}

// A model whose shape differs from that of the chains gives an error, not a panic.
func TestModelOfAnotherShape(t *testing.T) {
	eachKind(t, func(t *testing.T, settings string) {
		e, saved := begun(t, settings)
		m := shape{9, 8, 0, rbm.Softmax}.random(5, 0.7)
		if _, _, err := e.Estimate(m, positive(m, 6, 6), rbm.NewKey(1)); err == nil {
			t.Error("the chains are used for another model")
		}
		if len(saved) == 0 {
			return
		}
		e = estimator(t, settings)
		if err := e.UnmarshalBinary(saved); err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.Estimate(m, positive(m, 6, 6), rbm.NewKey(1)); err == nil {
			t.Error("the saved chains are used for another model")
		}
	})
}

// With infinite parameters the first call of every kind that samples returns an error. NaN
// never reaches an energy, because the kernels do not turn on units whose input is
// NaN; CheckFinite finds NaN.
func TestDivergence(t *testing.T) {
	inf := float32(math.Inf(1))
	eachKind(t, func(t *testing.T, settings string) {
		if settings == "exact" {
			t.Skip("exact has no energies of chains")
		}
		for name, spoil := range map[string]func(m *rbm.RBM){
			"visible bias": func(m *rbm.RBM) { m.VisibleBias[3] = inf },
			"hidden bias":  func(m *rbm.RBM) { m.HiddenBias[2] = inf },
			"weights": func(m *rbm.RBM) {
				w := rbm.NewMatrix(m.Visible(), m.Hidden())
				for i := range w.Data {
					w.Data[i] = inf
				}
				m.SetWeights(w)
			},
		} {
			m := shape{9, 7, 0, rbm.Softmax}.random(5, 0.7)
			pos := positive(m, 6, 6)
			spoil(m)
			_, _, err := estimator(t, settings).Estimate(m, pos, rbm.NewKey(1))
			if !errors.Is(err, rbm.ErrDiverged) || !strings.Contains(fmt.Sprint(err), "energy of chain") {
				t.Errorf("%s: got %v, want ErrDiverged", name, err)
			}
		}
	})
}

func TestExactRefusesLargeModels(t *testing.T) {
	_, _, err := estimator(t, "exact").Estimate(rbm.New(40, 40, 0, rbm.Softmax), rbm.Batch{}, rbm.NewKey(1))
	if !errors.Is(err, exact.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
}

// Any bytes are either restored or rejected with ErrFormat, and a
// restored estimator runs or returns an error.
func FuzzUnmarshal(f *testing.F) {
	var all []string
	for _, kind := range Kinds() {
		all = append(all, conformance[kind]...)
	}
	for i, s := range all {
		_, saved := begun(f, s)
		f.Add(uint8(i), saved)
		f.Add(uint8(i), []byte{1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0})
	}
	m := shape{9, 7, 0, rbm.Softmax}.random(5, 0.7)
	pos := positive(m, 2, 6)
	f.Fuzz(func(t *testing.T, i uint8, b []byte) {
		e := estimator(t, all[int(i)%len(all)])
		if err := e.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, rbm.ErrFormat) {
				t.Errorf("the error does not wrap ErrFormat: %v", err)
			}
			return
		}
		e.Estimate(m, pos, rbm.NewKey(1)) // may return an error for chains of another width
	})
}
