package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
	"gorbm/rbm/ranks"
)

// all has every option of the optimizer on.
func all(s Settings) Settings {
	s.Schedule, s.Horizon = "cosine", 80
	s.Momentum, s.L1, s.L2, s.Center, s.Average = 0.5, 1e-3, 1e-2, 0.05, 0.9
	return s
}

func TestRateAt(t *testing.T) {
	for _, c := range []struct {
		schedule string
		step     int
		want     float64
	}{
		{"constant", 0, 0.5}, {"constant", 1000, 0.5},
		{"linear", 0, 0.5}, {"linear", 25, 0.375}, {"linear", 100, 0}, {"linear", 200, 0},
		{"cosine", 0, 0.5}, {"cosine", 50, 0.25}, {"cosine", 100, 0}, {"cosine", 200, 0},
		{"inverse", 0, 0.5}, {"inverse", 10, 0.25}, {"inverse:30", 30, 0.25}, {"inverse:30", 90, 0.125}, {"inverse:0.5", 1, 0.5 / 3},
	} {
		s := Settings{Rate: 0.5, Schedule: c.schedule, Horizon: 100}
		near(t, c.schedule, s.rateAt(c.step), c.want, 1e-15)
	}
	for _, bad := range []string{"", "linaer", "linear:3", "inverse:", "inverse:0", "inverse:-1", "inverse:NaN", "inverse:Inf", "inverse:x"} {
		if CheckSchedule(bad) == nil {
			t.Errorf("schedule %q is accepted", bad)
		}
	}
}

// Each option of the optimizer gives the same update as a reference in float64 on the moments, step by step
// from the same parameters.
func TestOptimizerAgainstTheDefinition(t *testing.T) {
	set := toy(t, smallToy)
	for name, change := range map[string]func(s *Settings){
		"plain":               func(*Settings) {},
		"momentum":            func(s *Settings) { s.Momentum = 0.8 },
		"l1":                  func(s *Settings) { s.L1 = 0.05 },
		"l2":                  func(s *Settings) { s.L2 = 0.5 },
		"centred":             func(s *Settings) { s.Center = 0.1 },
		"centred, momentum":   func(s *Settings) { s.Center, s.Momentum = 0.1, 0.8 },
		"averaged":            func(s *Settings) { s.Average = 0.75 },
		"linear":              func(s *Settings) { s.Schedule, s.Horizon = "linear", 20 },
		"all of it with l1/2": func(s *Settings) { *s = all(*s) },
	} {
		t.Run(name, func(t *testing.T) {
			s := settingsOf(t, "pcd:chains=8")
			change(&s)
			tr := newTrainer(t, s, set, 5, true, rbm.Softmax)
			tr.model.Randomize(0.5, rbm.NewKey(9))
			if tr.optimizer.average != nil {
				tr.optimizer.average.Set(tr.model)
			}
			o := newReference(s, tr.model, VisibleMean(set, tr.model.Classes()))
			twin := newTrainer(t, s, set, 5, true, rbm.Softmax) // deals the same batches
			for step := range 10 {
				// The reference starts each step at the trainer's parameters, so that the samples are the
				// same, and must reach the trainer's next ones.
				twin.batches.Rows(twin.rows, step)
				set.Visible(twin.batch.V, twin.rows, tr.model.Classes())
				tr.model.HiddenMean(twin.batch.H, twin.batch.V)
				neg, _, err := twin.negative.Estimate(tr.model, twin.batch, twin.key.Child(uint64(step)))
				if err != nil {
					t.Fatal(err)
				}
				o.step(step, twin.batch, neg)
				run(t, tr, step+1)
				// Float32 rounding of some hundred operations on numbers near 1.
				o.compare(t, step, tr, 1e-5)
			}
		})
	}
}

// At small rates the steps of the parameters and of their average are far below the last bit, but the
// parameters and their second words together move by the sum of the steps. Without second words, the broken
// twin, much of the sum is lost.
func TestSmallSteps(t *testing.T) {
	const steps = 300
	set := toy(t, smallToy)
	for name, change := range map[string]func(s *Settings){
		"plain":             func(*Settings) {},
		"momentum":          func(s *Settings) { s.Momentum = 0.8 },
		"l1 and l2":         func(s *Settings) { s.L1, s.L2 = 0.05, 0.5 },
		"centred":           func(s *Settings) { s.Center = 0.1 },
		"centred, momentum": func(s *Settings) { s.Center, s.Momentum = 0.1, 0.8 },
		"averaged":          func(s *Settings) { s.Rate, s.Average = 0.01, 0.999999 },
	} {
		t.Run(name, func(t *testing.T) {
			off := func(kept bool) (share float64) {
				s := settingsOf(t, "pcd:chains=8")
				s.Rate, s.Batch = 1e-6, 8
				change(&s)
				tr := newTrainer(t, s, set, 5, true, rbm.Softmax)
				tr.model.Randomize(0.5, rbm.NewKey(9))
				if tr.optimizer.average != nil {
					tr.optimizer.average.Set(tr.model)
				}
				if averaged := s.Average > 0; (tr.optimizer.ascent.Rest == nil) != averaged || (tr.optimizer.ascent.AverageRest != nil) != averaged {
					t.Fatal("second words are missing, or there are too many")
				}
				if !kept {
					tr.optimizer.ascent.Rest, tr.optimizer.ascent.AverageRest = nil, nil
				}
				start := flat(tr.Model())
				o := newReference(s, tr.model, VisibleMean(set, tr.model.Classes()))
				o.avg = flat(tr.Model())
				twin := newTrainer(t, s, set, 5, true, rbm.Softmax) // deals the same batches
				for step := range steps {
					twin.batches.Rows(twin.rows, step)
					set.Visible(twin.batch.V, twin.rows, tr.model.Classes())
					tr.model.HiddenMean(twin.batch.H, twin.batch.V)
					neg, _, err := twin.negative.Estimate(tr.model, twin.batch, twin.key.Child(uint64(step)))
					if err != nil {
						t.Fatal(err)
					}
					o.step(step, twin.batch, neg)
					run(t, tr, step+1)
				}
				end, rest, want := flat(tr.Model()), tr.optimizer.ascent.Rest, o.w
				if s.Average > 0 {
					rest, want = tr.optimizer.ascent.AverageRest, o.avg
				}
				if rest != nil {
					for k, x := range flatOf(rest) {
						end[k] += x
					}
				}
				var way, miss float64
				for k, x := range want {
					way += (x - start[k]) * (x - start[k])
					miss += (x - end[k]) * (x - end[k])
				}
				return math.Sqrt(miss / way)
			}
			// A step has a relative precision of some 24 bits, and the sum of 300 steps is larger than any
			// of them. The float32 of the hidden means is common to both sides.
			if got := off(true); got > 1e-5 {
				t.Errorf("off by %.2g of the way, want at most 1e-5", got)
			}
			if got := off(false); got < 1e-3 {
				t.Errorf("without second words off by %.2g of the way only: the test sees nothing", got)
			}
		})
	}
}

// After inputs are never on again, velocities, averages and offsets decay, but leave no subnormal number.
// Many processors take a hundred times as long to compute with these, and training slows down. The broken
// twin is the same decay without a threshold.
func TestNothingDecaysIntoSubnormals(t *testing.T) {
	const steps = 3000
	set := &data.Set{Name: "half off", X: rbm.NewBits(40, 20), Height: 1, Width: 20}
	r := rbm.NewKey(1).Rand()
	for row := range set.X.Rows {
		for i := range 10 {
			set.X.Set(row, i, r.IntN(2) == 0)
		}
	}
	subnormal := func(x []float64) (n int) {
		for _, x := range x {
			if x != 0 && math.Abs(x) < 0x1p-126 {
				n++
			}
		}
		return n
	}
	for name, change := range map[string]func(s *Settings){
		"momentum": func(s *Settings) { s.Momentum = 0.9 },
		"averaged": func(s *Settings) { s.Average, s.L2 = 0.9, 0.2 },
		"l2":       func(s *Settings) { s.L2 = 5 },
		"centred":  func(s *Settings) { s.Center = 0.1 },
		"all":      func(s *Settings) { s.Center, s.Momentum, s.Average, s.L1, s.L2 = 0.1, 0.9, 0.9, 1e-4, 0.2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := settingsOf(t, "pcd:chains=4")
			s.Batch = 4
			change(&s)
			tr := newTrainer(t, s, set, 4, false, rbm.Softmax)
			// The inputs that are off stay off in the chains too.
			for i := 10; i < 20; i++ {
				tr.model.VisibleBias[i] = -30
			}
			run(t, tr, 10)
			a := &tr.optimizer.ascent
			for _, velocity := range a.Slots {
				on := tr.model.Clone() // as if they had been on
				on.Randomize(0.01, rbm.NewKey(3))
				velocity.Set(on.Parameters())
			}
			for i := range a.Mu {
				a.Mu[i] = 0.01
			}
			start := tr.model.Clone()
			run(t, tr, steps)
			for k, p := range tr.parameters() {
				if n := subnormal(flatOf(p)); n > 0 {
					t.Errorf("%d of the parameters %d are subnormal, want 0", n, k)
				}
			}
			var offsets []float64
			for _, x := range slices.Concat(a.Mu, a.Lambda) {
				offsets = append(offsets, float64(x))
			}
			if n := subnormal(offsets); n > 0 {
				t.Errorf("%d offsets are subnormal, want 0", n)
			}
			if start.Equal(tr.model) {
				t.Error("nothing was trained")
			}
		})
	}
	twin := float32(0.01)
	for range steps {
		twin *= 0.9
	}
	if subnormal([]float64{float64(twin)}) == 0 {
		t.Errorf("without a threshold 0.01 decays to %v in as many steps: the test sees nothing", twin)
	}
}

// reference is the optimizer in float64, with separate passes.
type reference struct {
	s           Settings
	n, m        int
	w, vel, avg []float64 // weights, visible biases, hidden biases
	mu, lambda  []float64
}

// flat returns the parameters of m: weights row by row of visible units, visible biases, hidden
// biases.
func flat(m *rbm.RBM) []float64 { return flatOf(m.Parameters()) }

// flatOf returns the numbers that p has for each parameter, in the order of flat.
func flatOf(p *rbm.Parameters) []float64 {
	x := make([]float32, p.Bytes()/4)
	binary.Decode(p.AppendTo(nil), binary.LittleEndian, x)
	all := make([]float64, len(x))
	for i, x := range x {
		all[i] = float64(x)
	}
	return all
}

func newReference(s Settings, m *rbm.RBM, mean []float32) *reference {
	o := &reference{s: s, n: m.Visible(), m: m.Hidden(), w: flat(m), avg: flat(m)}
	o.vel = make([]float64, len(o.w))
	for _, p := range mean {
		o.mu = append(o.mu, float64(p))
	}
	for range o.m {
		o.lambda = append(o.lambda, 0.5)
	}
	return o
}

func (o *reference) step(t int, pos rbm.Batch, neg rbm.Phase) {
	n, m := o.n, o.m
	g := make([]float64, len(o.w))
	addTo := func(b rbm.Batch, sign float64) {
		for r := range b.V.Rows {
			w := sign / float64(b.V.Rows)
			for i := range n {
				if !b.V.Get(r, i) {
					continue
				}
				g[n*m+i] += w
				for j, p := range b.H.Row(r) {
					g[i*m+j] += w * float64(p)
				}
			}
			for j, p := range b.H.Row(r) {
				g[n*m+n+j] += w * float64(p)
			}
		}
	}
	addTo(pos, 1)
	addTo(neg.Batch, -1)
	if c := o.s.Center; c > 0 {
		for i := range o.mu {
			mean := 0.0
			for r := range pos.V.Rows {
				if pos.V.Get(r, i) {
					mean += 1 / float64(pos.V.Rows)
				}
			}
			o.mu[i] += c * (mean - o.mu[i])
		}
		for j := range o.lambda {
			mean := 0.0
			for r := range pos.V.Rows {
				mean += float64(pos.H.Row(r)[j]) / float64(pos.V.Rows)
			}
			o.lambda[j] += c * (mean - o.lambda[j])
		}
		gb := append([]float64(nil), g[n*m:n*m+n]...)
		gc := append([]float64(nil), g[n*m+n:]...)
		for i := range n {
			for j := range m {
				g[i*m+j] -= o.mu[i]*gc[j] + gb[i]*o.lambda[j]
			}
		}
		for i := range n {
			for j := range m {
				g[n*m+i] -= g[i*m+j] * o.lambda[j]
				g[n*m+n+j] -= g[i*m+j] * o.mu[i]
			}
		}
	}
	rate := o.s.rateAt(t)
	for k := range o.w {
		o.vel[k] = o.s.Momentum*o.vel[k] + rate*g[k]
		o.w[k] += o.vel[k]
		if k < n*m {
			pace := rate / (1 - o.s.Momentum)
			o.w[k] *= 1 - pace*o.s.L2
			o.w[k] = math.Copysign(math.Max(math.Abs(o.w[k])-pace*o.s.L1, 0), o.w[k])
		}
		o.avg[k] = o.s.Average*o.avg[k] + (1-o.s.Average)*o.w[k]
	}
}

func (o *reference) compare(t *testing.T, step int, tr *Trainer, tol float64) {
	t.Helper()
	want := o.w
	if o.s.Average > 0 {
		want = o.avg
	}
	for k, x := range flat(tr.Model()) {
		if !(math.Abs(x-want[k]) <= tol) {
			t.Fatalf("step %d: parameter %d is %v, want %v", step+1, k, x, want[k])
		}
	}
}

// With or without momentum, training ends where the gradient of the likelihood equals that of the penalty:
// g = L2·W.
func TestDecayHoldsItsGroundAgainstMomentum(t *testing.T) {
	set := toy(t, smallToy)
	size := func(l2, momentum float64) float64 {
		s := settingsOf(t, "exact")
		s.Batch, s.L2, s.Momentum, s.Horizon = set.Len(), l2, momentum, 4000
		tr := newTrainer(t, s, set, 1, true, rbm.Softmax)
		run(t, tr, 4000)
		sum := 0.0
		for _, x := range flat(tr.Model())[:12] {
			sum += x * x
		}
		return sum
	}
	// Both follow the full gradient, without noise. Finite steps end where g = L2·W/(1−pace·L2), which
	// differs by a third of a hundredth between the paces 0.1 and 0.2. A penalty of half the strength
	// differs by far more.
	plain, heavy, half := size(0.03, 0), size(0.03, 0.5), size(0.015, 0)
	t.Logf("Σ W²: plain %.4f, momentum %.4f, half the penalty %.4f", plain, heavy, half)
	if math.Abs(heavy-plain) > 0.05*math.Abs(half-plain) {
		t.Errorf("Σ W² is %v without momentum, %v with, %v at half the penalty", plain, heavy, half)
	}
}

// A run with every option of the optimizer continues identically after Load, at any step.
func TestLoadGoesOnWithAll(t *testing.T) {
	for _, kind := range negphase.Kinds() {
		goesOn(t, kind, all(settingsOf(t, negatives[kind])))
	}
}

// The same holds with second words of the parameters and of their average, which have the rounding errors
// so far.
func TestLoadGoesOnWithSecondWords(t *testing.T) {
	s := all(settingsOf(t, negatives["pcd"]))
	s.Rate, s.Average = 1e-5, 0.9999
	tr := goesOn(t, "pcd", s)
	for name, rest := range map[string]*rbm.Parameters{"parameters": tr.optimizer.ascent.Rest, "average": tr.optimizer.ascent.AverageRest} {
		if rest == nil || !slices.ContainsFunc(flatOf(rest), func(x float64) bool { return x != 0 }) {
			t.Errorf("no second words of the %s: the test sees nothing", name)
		}
	}
	// A trainer without second words loads a checkpoint without them, and resets its own.
	tr.optimizer.ascent.Rest, tr.optimizer.ascent.AverageRest = nil, nil
	without := save(t, tr)
	second := newTrainer(t, s, toy(t, smallToy), 6, true, rbm.Softmax)
	run(t, second, 7)
	if _, err := second.Load(bytes.NewReader(without)); err != nil {
		t.Fatal(err)
	}
	for _, rest := range []*rbm.Parameters{second.optimizer.ascent.Rest, second.optimizer.ascent.AverageRest} {
		if slices.ContainsFunc(flatOf(rest), func(x float64) bool { return x != 0 }) {
			t.Error("second words of the run before are left")
		}
	}
}

// goesOn checks that runs that are saved and loaded are identical to an unbroken one, which it returns.
func goesOn(t *testing.T, kind string, s Settings) *Trainer {
	t.Helper()
	set := toy(t, smallToy)
	whole := newTrainer(t, s, set, 6, true, rbm.Softmax)
	run(t, whole, 60)
	for _, at := range []int{0, 25, 60} {
		first := newTrainer(t, s, set, 6, true, rbm.Softmax)
		run(t, first, at)
		second := newTrainer(t, s, set, 6, true, rbm.Softmax)
		run(t, second, 7)
		if _, err := second.Load(bytes.NewReader(save(t, first))); err != nil {
			t.Fatal(err)
		}
		run(t, second, 60)
		if !bytes.Equal(save(t, second), save(t, whole)) {
			t.Errorf("%s: loaded at step %d it goes on with other bits", kind, at)
		}
	}
	return whole
}

// rmsProp divides the gradient by the root of its mean square over the updates so far, which is in its slot
// (Tieleman & Hinton, lecture 6.5 of Neural networks for machine learning, 2012).
type rmsProp struct{ forget float32 }

func (*rmsProp) Slots() int { return 1 }

func (r *rmsProp) Apply(b *rbm.Block) {
	share := max(r.forget, 1/float32(b.Update+1))
	for i, x := range b.Step {
		g := x / b.Rate
		b.Slots[0][i] += float32(share * (float32(g*g) - b.Slots[0][i]))
		b.Step[i] = b.Rate * g / (float32(math.Sqrt(float64(b.Slots[0][i]))) + 1e-3)
	}
	b.Advance(b.Step)
}

// A rule of the caller is saved and loaded with its slot, the number of updates, second words, the average
// and the offsets. Ranks make its steps together. The parameters move.
func TestRuleOfTheCaller(t *testing.T) {
	s := settingsOf(t, "pcd:chains=400")
	s.Rule, s.Rate, s.L2, s.Center, s.Average, s.Sparse, s.Batch = &rmsProp{0.02}, 1e-4, 1e-3, 0.05, 0.9999, 1e-6, shareParticles-400
	tr := goesOn(t, "rmsProp", s)
	slot := tr.optimizer.ascent.Slots[0]
	if !slices.ContainsFunc(flatOf(slot), func(x float64) bool { return x > 0 }) || tr.optimizer.ascent.Rest == nil {
		t.Error("the slot is empty, or there are no second words: the test sees nothing")
	}
	one, err := shared(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	run(t, one, 3)
	want := save(t, one)
	if err := ranks.Each(3, func(g *ranks.Group) error {
		tr, err := shared(t, s, g)
		if err != nil {
			return err
		}
		return endsAs(tr, 3, want)
	}); err != nil {
		t.Error(err)
	}
}

// A rule gets the number of earlier updates, also in a resumed run.
func TestRuleOfTheCallerCountsUpdates(t *testing.T) {
	set, s := toy(t, smallToy), settingsOf(t, "cd")
	s.Rule = counter{}
	first := newTrainer(t, s, set, 4, true, rbm.Softmax)
	run(t, first, 5)
	second := newTrainer(t, s, set, 4, true, rbm.Softmax)
	if _, err := second.Load(bytes.NewReader(save(t, first))); err != nil {
		t.Fatal(err)
	}
	run(t, second, 8)
	for _, x := range flatOf(second.optimizer.ascent.Slots[0]) {
		if x != 0+1+2+3+4+5+6+7 {
			t.Fatalf("the sum of the numbers is %v, want 28", x)
		}
	}
}

// A counter adds up the numbers of updates that it gets.
type counter struct{}

func (counter) Slots() int { return 1 }
func (counter) Apply(b *rbm.Block) {
	for i := range b.Slots[0] {
		b.Slots[0][i] += float32(b.Update)
	}
}

// Settings that cannot be combined with a rule of the caller are refused.
func TestRuleOfTheCallerIsRefused(t *testing.T) {
	set := toy(t, smallToy)
	with := func(rule rbm.Rule, momentum float64, negative string) (Settings, error) {
		s := settingsOf(t, negative)
		s.Rule, s.Momentum = rule, momentum
		_, err := New(s, set, NewModel(set, 4, true, rbm.Softmax, 1))
		return s, err
	}
	refused := func(err error, text string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	_, err := with(&rmsProp{0.1}, 0.5, "cd")
	refused(err, "without momentum")
	_, err = with(manySlots{}, 0, "cd")
	refused(err, "5 slots")
	_, err = with(&rmsProp{0.1}, 0, "ptt:chains=8")
	refused(err, "ptt may reject updates")
	s, err := with(&rmsProp{0.1}, 0, "cd")
	if err != nil {
		t.Fatal(err)
	}
	saved := save(t, newTrainer(t, s, set, 4, true, rbm.Softmax))
	for _, other := range []rbm.Rule{nil, oneSlot{}} {
		s.Rule = other
		_, err = newTrainer(t, s, set, 4, true, rbm.Softmax).Load(bytes.NewReader(saved))
		refused(err, "train.rmsProp")
	}
}

type manySlots struct{}

func (manySlots) Slots() int       { return rbm.MaxSlots + 1 }
func (manySlots) Apply(*rbm.Block) {}

type oneSlot struct{}

func (oneSlot) Slots() int       { return 1 }
func (oneSlot) Apply(*rbm.Block) {}

func TestOptimizerAllocatesNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("the race detector makes pools forget")
	}
	everything, own := all(settingsOf(t, "pcd:chains=8")), all(settingsOf(t, "pcd:chains=8"))
	own.Momentum, own.Rule = 0, &rmsProp{0.1}
	for name, s := range map[string]Settings{"momentum": everything, "a rule of the caller": own} {
		tr := newTrainer(t, s, toy(t, smallToy), 6, true, rbm.Softmax)
		run(t, tr, 5)
		n := testing.AllocsPerRun(50, func() {
			if _, err := tr.Step(); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a step, want 0", name, n)
		}
	}
}

// Centring changes the path of training but not its end: with the exact gradient both reach the same
// likelihood, as far as 3000 steps allow.
func TestCentredTrainingReachesTheDistribution(t *testing.T) {
	set := toy(t, smallToy)
	end := func(center float64) float64 {
		s := settingsOf(t, "exact")
		s.Center, s.Schedule, s.Horizon = center, "linear", 3000
		tr := newTrainer(t, s, set, 6, true, rbm.Softmax)
		run(t, tr, 3000)
		return likelihood(t, tr.Model(), set)
	}
	truth, _ := TrueLikelihood(set, true)
	plain, centred := end(0), end(0.01)
	t.Logf("plain %.4f, centred %.4f, truth %.4f", plain, centred, truth)
	start := likelihood(t, NewModel(set, 6, true, rbm.Softmax, 1), set)
	if centred < truth-0.1*(truth-start) {
		t.Errorf("centred training ends at %v; the distribution of the data has %v, the start %v, want at least %v", centred, truth, start, truth-0.1*(truth-start))
	}
}

func likelihood(t *testing.T, m *rbm.RBM, set *data.Set) float64 {
	t.Helper()
	metrics, err := NewMetrics([]string{"log_likelihood"}, m, Sets{Train: set}, 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := metrics[0].Measure(context.Background(), m, true)
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

func TestSetLogOdds(t *testing.T) {
	set := toy(t, smallToy)
	m := rbm.New(12, 3, 4, rbm.Softmax)
	SetLogOdds(m, set)
	mean := rbm.NewMatrix(1, 12)
	m.VisibleMean(mean, rbm.NewBits(1, 3))
	for i, p := range VisibleMean(set, m.Classes()) {
		// The halves that LogOdds adds to counts move a frequency of 400 rows by up to 1/800.
		near(t, "mean", float64(mean.Row(0)[i]), float64(p), 0.5/400+1e-6)
	}
	// Classes have 6, 3 and 1 rows. The halves move a frequency of ten rows by up to 1/20.
	uneven := &data.Set{Name: "uneven", X: rbm.NewBits(10, 2), Height: 1, Width: 2,
		Y: []int32{0, 0, 0, 0, 0, 0, 1, 1, 1, 2}, Classes: []string{"a", "b", "c"}}
	labelled := rbm.New(5, 1, 3, rbm.Softmax)
	SetLogOdds(labelled, uneven)
	mean = rbm.NewMatrix(1, 5)
	labelled.VisibleMean(mean, rbm.NewBits(1, 1))
	for y, p := range []float64{0.6, 0.3, 0.1} {
		near(t, "label", float64(mean.Row(0)[2+y]), p, 0.05)
	}
	constant := &data.Set{Name: "constant", X: rbm.NewBits(10, 2), Height: 1, Width: 2}
	plain := rbm.New(2, 1, 0, rbm.Softmax)
	SetLogOdds(plain, constant)
	near(t, "bias of a unit that is always off", float64(plain.VisibleBias[0]), math.Log(0.5/10.5), 1e-6)
}

func TestSettingsCheck(t *testing.T) {
	for name, spoil := range map[string]func(s *Settings){
		"momentum": func(s *Settings) { s.Momentum = 1 },
		"l1":       func(s *Settings) { s.L1 = -1 },
		"l2":       func(s *Settings) { s.L2 = math.NaN() },
		"center":   func(s *Settings) { s.Center = 1.5 },
		"average":  func(s *Settings) { s.Average = math.Inf(1) },
		"schedule": func(s *Settings) { s.Schedule = "lineer" },
	} {
		s := settingsOf(t, "pcd:chains=8")
		spoil(&s)
		if err := s.Check(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Settings with small steps have second words, and others do not.
func TestSmallStepsRule(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     Settings
		small bool
	}{
		{"at the threshold", Settings{Rate: smallRate, Schedule: "constant"}, false},
		{"below it", Settings{Rate: smallRate * 0.99, Schedule: "constant"}, true},
		{"momentum lengthens steps", Settings{Rate: smallRate / 4, Momentum: 0.75, Schedule: "constant"}, false},
		{"not enough", Settings{Rate: smallRate / 4, Momentum: 0.7, Schedule: "constant"}, true},
		{"half of the run below", Settings{Rate: smallRate * 1.9, Schedule: "linear", Horizon: 100}, true},
		{"less than half", Settings{Rate: smallRate * 2.1, Schedule: "linear", Horizon: 100}, false},
		{"of no known length", Settings{Rate: 0.1, Schedule: "inverse:100", Horizon: 100}, true},
		{"inverse", Settings{Rate: 0.1, Schedule: "inverse", Horizon: 100}, false},
		{"l2 small", Settings{Rate: 0.01, L2: 0.99 * smallDecay / 0.01, Schedule: "constant"}, true},
		{"l2 large", Settings{Rate: 0.01, L2: 1.01 * smallDecay / 0.01, Schedule: "constant"}, false},
		{"l1 small", Settings{Rate: 0.01, L1: 0.99 * smallDecay / 0.01, Schedule: "constant"}, true},
		{"l1 large", Settings{Rate: 0.01, L1: 1.01 * smallDecay / 0.01, Schedule: "constant"}, false},
		{"l2 kept pace by momentum", Settings{Rate: 0.01, Momentum: 0.5, L2: 0.51 * smallDecay / 0.01, Schedule: "constant"}, false},
	} {
		if got := c.s.smallSteps(); got != c.small {
			t.Errorf("%s: small steps %v, want %v", c.name, got, c.small)
		}
	}
}

// Weight decay has its full effect, however small it is: without a gradient a weight w becomes
// w(1−rate·L2)^t − t·rate·L1. Without second words, the broken twin, much of it is lost.
func TestDecayArrives(t *testing.T) {
	const steps = 2000
	for name, s := range map[string]Settings{
		"l2, rate 0.01":  {Rate: 0.01, L2: 1e-5},
		"l2, rate 0.001": {Rate: 0.001, L2: 1e-4},
		"l1, rate 0.001": {Rate: 0.001, L1: 1e-5},
	} {
		s.Schedule = "constant"
		lost := func(kept bool) (most float64) {
			m := rbm.New(9, 7, 0, rbm.Softmax)
			m.Randomize(0.7, rbm.NewKey(3))
			start := flat(m)
			o := newOptimizer(s, m, nil)
			if o.ascent.Rest == nil {
				t.Fatalf("%s: no second words", name)
			}
			if !kept {
				o.ascent.Rest = nil
			}
			none := rbm.Batch{V: rbm.NewBits(1, 9), H: rbm.NewMatrix(1, 7)}
			for step := range steps {
				o.ascend(m, step, none, none, 1, rbm.Phase{Batch: none}, false)
			}
			end := flat(m)
			if kept {
				for k, x := range flatOf(o.ascent.Rest) {
					end[k] += x
				}
			}
			for k, w := range start[:9*7] {
				want := w*(math.Pow(1-s.Rate*s.L2, steps)-1) - math.Copysign(steps*s.Rate*s.L1, w)
				most = max(most, math.Abs(end[k]-w-want)/math.Abs(want))
			}
			return most
		}
		// The factor of a step is a float32, and so is each product with a weight.
		if got := lost(true); got > 1e-6 {
			t.Errorf("%s: off by %.2g of the decay, want at most 1e-6", name, got)
		}
		if got := lost(false); got < 0.01 {
			t.Errorf("%s: without second words off by %.2g only: the test sees nothing", name, got)
		}
	}
}

// Offsets follow the means of a batch of any size. If all rows are equal the offsets are known: x(t+1) =
// x(t) + share·(mean − x(t)).
func TestOffsetsOfLargeBatches(t *testing.T) {
	const share, slides = 0.001, 3000
	for _, rows := range []int{10, 60_000} {
		m := rbm.New(3, 2, 0, rbm.Softmax)
		b := rbm.Batch{V: rbm.NewMatrix(rows, 3).Values(), H: rbm.NewMatrix(rows, 2)}
		visible, hidden := []float32{1, 0.7, 0.2}, []float32{0.9, 0.6}
		for r := range rows {
			copy(b.V.Matrix().Row(r), visible)
			copy(b.H.Row(r), hidden)
		}
		if rows > 10 && testing.Short() {
			continue
		}
		o := &optimizer{settings: Settings{Center: share}, ascent: rbm.Ascent{Mu: make([]float32, 3), Lambda: make([]float32, 2)},
			visibleMean: make([]float64, m.Visible()), hiddenMean: make([]float64, m.Hidden())}
		turns := slides
		if rows > 10 {
			turns = 100 // a slide of three offsets over sixty thousand rows takes a millisecond
		}
		for range turns {
			o.slide(b)
		}
		way := 1 - math.Pow(1-share, float64(turns))
		for i, x := range slices.Concat(o.ascent.Mu, o.ascent.Lambda) {
			want := way * float64(slices.Concat(visible, hidden)[i])
			// Each slide rounds to float32, by 2⁻²⁵ at most, and earlier errors shrink by the factor 1 −
			// share.
			near(t, "offset", float64(x), want, min(float64(turns), 1/share)*0x1p-25)
		}
	}
}
