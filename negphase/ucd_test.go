package negphase

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// meetable are models on which pairs of chains meet in some ten steps and yet
// one step from a uniform start is far from the law.
var meetable = []shape{
	{4, 3, 0, rbm.Softmax},
	{5, 4, 0, rbm.Softmax},
	{5, 3, 3, rbm.Softmax},
	{4, 2, 2, rbm.Bernoulli},
}

const meetableSD = 2

// moments64 returns the moments of a phase in float64, as terms orders them.
func moments64(p rbm.Phase) []float64 {
	var sum []float64
	for r := range p.V.Rows {
		var vh, v, h []float64
		for i := range p.V.Cols {
			x := 0.0
			if p.V.Get(r, i) {
				x = 1
			}
			v = append(v, x)
			for _, q := range p.H.Row(r) {
				vh = append(vh, x*float64(q))
			}
		}
		for _, q := range p.H.Row(r) {
			h = append(h, float64(q))
		}
		sum = addTo(sum, float64(p.Weight[r]), slices.Concat(vh, v, h))
	}
	return sum
}

// bias returns the largest deviation of the mean of independent estimates from
// want, in standard errors.
func bias(estimates [][]float64, want []float64) float64 {
	n, worst := float64(len(estimates)), 0.0
	for i := range want {
		var sum, square float64
		for _, e := range estimates {
			sum += e[i]
			square += e[i] * e[i]
		}
		mean := sum / n
		se := math.Sqrt((square/n - mean*mean) / (n - 1))
		worst = max(worst, math.Abs(mean-want[i])/se)
	}
	return worst
}

// unbiasedCalls is the number of independent calls that a bias is judged by,
// of five pairs each: what is wrong then lies beyond six standard errors.
const unbiasedCalls = 2000

// The mean of many calls is the exact negative phase, whatever k is and
// wherever the chains start; the first terms alone are not, nor are the sums
// of chains that are cut early. Six standard errors are allowed.
func TestUCDIsUnbiased(t *testing.T) {
	for _, s := range fewer(meetable) {
		m := s.random(31, meetableSD)
		all := states(m)
		want := expectation(m, all, law(all, 1))
		pos := positive(m, 3, 4)
		for _, c := range []struct {
			settings string
			biased   bool
		}{
			{"ucd:k=1:chains=5", false},
			{"ucd:k=3:chains=5", false},
			{"ucd:k=1:chains=5:start=data", false},
			{"ucd:k=1:max=2:chains=5", true},
		} {
			e := estimator(t, c.settings)
			var whole, firsts [][]float64
			var total Info
			for n := range uint64(unbiasedCalls) {
				phase, info, err := e.Estimate(m, pos, callFrom.Child(n))
				if err != nil {
					t.Fatal(err)
				}
				total.Add(info)
				whole = append(whole, moments64(phase))
				phase.V, phase.H, phase.Weight = phase.V.Slice(0, 5), phase.H.Slice(0, 5), phase.Weight[:5]
				firsts = append(firsts, moments64(phase))
			}
			if pairs := int64(total.Get("Meetings")) + int64(total.Get("Cuts")); pairs != 5*unbiasedCalls {
				t.Errorf("%v, %s: %d pairs are counted", s, c.settings, pairs)
			}
			if (int64(total.Get("Cuts")) > 0) != c.biased {
				t.Errorf("%v, %s: %d cuts", s, c.settings, int64(total.Get("Cuts")))
			}
			b, first := bias(whole, want), bias(firsts, want)
			t.Logf("%v, %s: off by %.1f standard errors, the first terms by %.1f; mean meeting time %.1f",
				s, c.settings, b, first, float64(int64(total.Get("MeetingTime")))/float64(max(total.Get("Meetings"), 1)))
			if !c.biased && b > 6 {
				t.Errorf("%v, %s is biased: %.1f standard errors", s, c.settings, b)
			}
			if c.biased && b < 6 {
				t.Errorf("%v, %s: the bias of the cut is not seen: %.1f", s, c.settings, b)
			}
			if strings.HasPrefix(c.settings, "ucd:k=1") && first < 6 {
				t.Errorf("%v, %s: a sum without its corrections is not seen: %.1f", s, c.settings, first)
			}
		}
	}
}

// Ways to couple wrongly.
const (
	right     = iota
	noLag     // Y is as far as X, and starts apart
	early     // the sum begins at t = k
	late      // the sum begins at t = k + 2
	oneSided  // X alone is counted after k
	ownDraws  // the sum ends where X and Y meet, but Y starts anew at every step
	mutations // their number
)

// coupleSlowly is one pair of ucd put together from StepCoupled as the formula
// says, without moving rows or dropping any; broken chooses a wrong way.
func coupleSlowly(t *testing.T, m *rbm.RBM, k, max int, key rbm.Key, broken int) (p rbm.Phase, tau int) {
	t.Helper()
	x, y := rbm.NewStates(m, 1), rbm.NewStates(m, 1)
	x.H.Randomize(key.Child(startKey))
	y.H.CopyFrom(x.H)
	if broken == noLag {
		y.H.Randomize(key.Child(99))
	}
	steps := key.Child(roundKeys)
	add := func(s *rbm.States, w float32) {
		p.V.Rows, p.V.Cols, p.V.Stride = p.V.Rows+1, s.V.Cols, s.V.Stride
		p.V.Words = append(p.V.Words, s.V.Words...)
		p.H.Rows, p.H.Cols = p.H.Rows+1, s.Mean.Cols
		p.H.Data = append(p.H.Data, s.Mean.Data...)
		p.Weight = append(p.Weight, w)
	}
	if broken != noLag {
		m.Step(x, nil, 1, steps.Child(1))
	} else {
		m.StepCoupled(x, y, steps.Child(1))
	}
	from := map[int]int{early: k, late: k + 2}[broken]
	if from == 0 {
		from = k + 1
	}
	for n := 1; ; n++ {
		if n > max {
			t.Fatal("the pair does not meet")
		}
		if n > 1 {
			if broken == ownDraws {
				y.H.Randomize(key.Child(uint64(1000 + n)))
			}
			m.StepCoupled(x, y, steps.Child(uint64(n)))
		}
		if tau == 0 && n > 1 && slices.Equal(x.V.Words, y.V.Words) {
			tau = n
		}
		if n == k {
			add(x, 1)
		}
		if n >= from && n > 1 && tau == 0 {
			add(x, 1)
			if broken != oneSided {
				add(y, -1)
			}
		}
		if tau > 0 && n >= k {
			return p, tau
		}
	}
}

// One pair of ucd has the bits of the slow way, and the slow ways that are
// wrong are seen to be biased.
func TestUCDIsItsFormula(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for i, s := range meetable {
		m := s.random(31, meetableSD)
		all := states(m)
		want := expectation(m, all, law(all, 1))
		for _, settings := range []string{"ucd:k=1:chains=1", "ucd:k=4:chains=1"} {
			e := estimator(t, settings)
			for n := range uint64(200) {
				key := callFrom.Child(n)
				got, info, err := e.Estimate(m, rbm.Batch{}, key)
				if err != nil {
					t.Fatal(err)
				}
				slow, tau := coupleSlowly(t, m, parse(t, settings).Count("k"), 1000, key, right)
				if !slices.Equal(words(got, Info{}), words(slow, Info{})) {
					t.Fatalf("%v, %s: call %d differs from the formula", s, settings, n)
				}
				if int64(info.Get("MeetingTime")) != int64(tau) || int64(info.Get("Meetings")) != 1 || int64(info.Get("Cuts")) != 0 {
					t.Fatalf("%v, %s: counts %+v, the pair met at step %d", s, settings, info, tau)
				}
			}
		}
		for broken := noLag; broken < mutations; broken++ { // 50000 pairs, of one model enough
			if i != 2 && !*long {
				break
			}
			var estimates [][]float64
			for n := range uint64(5 * unbiasedCalls) {
				p, _ := coupleSlowly(t, m, 2, 1000, callFrom.Child(n), broken)
				estimates = append(estimates, moments64(p))
			}
			b := bias(estimates, want)
			t.Logf("%v, mutant %d: off by %.1f standard errors", s, broken, b)
			if b < 6 {
				t.Errorf("%v: mutant %d is not seen: %.1f", s, broken, b)
			}
		}
	}
}

// The chains of all pairs, met or not and in whatever row, are Gibbs chains
// from the uniform start: after k steps those of X have the law of that chain.
func TestUCDChainsAreGibbsChains(t *testing.T) {
	const k = 3
	for _, s := range meetable {
		m := s.random(31, meetableSD)
		all := states(m)
		gibbs := gibbsKernel(m, nil, all, 1)
		p := make([]float64, len(all))
		hidden := 1 << m.Hidden()
		for x, st := range all { // a uniform h, with any v: the step draws v anew
			if slices.Equal(st.v, all[0].v) {
				p[x] = 1 / float64(hidden)
			}
		}
		for range k {
			p = after(p, gibbs)
		}
		c := newCensus(all)
		u := build[*ucd](set(t, "ucd", "k", k, "max", k, "chains", exactGroups))
		if _, _, err := u.Estimate(m, rbm.Batch{}, callFrom); err != nil {
			t.Fatal(err)
		}
		if int64(u.info.Get("Meetings")) == 0 || int64(u.info.Get("Cuts")) == 0 {
			t.Fatalf("%v: %d pairs have met and %d not: the rows of both are to be judged", s, int64(u.info.Get("Meetings")), int64(u.info.Get("Cuts")))
		}
		if z := c.z(t, u.x, numbers(exactGroups), p); z > 6 {
			t.Errorf("%v: z = %.1f", s, z)
		}
		if z := c.z(t, u.x, numbers(exactGroups), law(all, 1)); z < 6 {
			t.Errorf("%v: the law of the model is not told from that after %d steps: z = %.1f", s, k, z)
		}
	}
}

// A pair that has met costs nothing more: with max far away, no more Gibbs
// steps are counted than its chains take, two less one up to the meeting.
func TestUCDStopsAtTheMeeting(t *testing.T) {
	m := shape{4, 3, 0, rbm.Softmax}.random(31, meetableSD)
	e := estimator(t, "ucd:k=1:chains=9:max=100000")
	for n := range uint64(50) {
		_, info, err := e.Estimate(m, rbm.Batch{}, callFrom.Child(n))
		if err != nil {
			t.Fatal(err)
		}
		if want := 2*int64(info.Get("MeetingTime")) - int64(info.Get("Meetings")); info.Updates != want || int64(info.Get("Meetings")) != 9 {
			t.Fatalf("%d Gibbs steps, want %d; %d meetings", info.Updates, want, int64(info.Get("Meetings")))
		}
	}
}

func TestCutWarning(t *testing.T) {
	m := shape{4, 3, 0, rbm.Softmax}.random(31, meetableSD)
	// No pair can have met after one step.
	_, info, err := estimator(t, "ucd:chains=10:max=1").Estimate(m, rbm.Batch{}, callFrom)
	if err != nil {
		t.Fatal(err)
	}
	info.Add(info)
	ucd := DefaultSettings("ucd")
	w := strings.Join(ucd.Warnings(info, Info{}, 2), "\n")
	if int64(info.Get("Cuts")) != 20 || !strings.Contains(w, "biased: 20 of its 20 pairs") || !strings.Contains(w, "(100 %)") || strings.Contains(w, "\n") {
		t.Errorf("%d cuts, %q", int64(info.Get("Cuts")), w)
	}
	if tau := ucd.Figures(info, 2)[0]; tau.Key != "mean_meeting_time" || !math.IsNaN(tau.Value) || tau.Text != "" {
		t.Errorf("without meetings the figure is %+v", tau)
	}
	info = Info{Counts: []Count{{"Meetings", 4}, {"MeetingTime", 10}, {"Cuts", 3}}}
	if tau := ucd.Figures(info, 2)[0]; tau.Value != 2.5 || tau.Text != "coupled chains met after 2.5 steps in the mean; 3 of 7 pairs were cut" {
		t.Errorf("the figure is %+v", tau)
	}
	if w := ucd.Warnings(Info{Counts: []Count{{"Meetings", 3}}}, Info{}, 2); w != nil {
		t.Errorf("a warning without a cut: %q", w)
	}
}

// Where pairs are cut after step max, the terms add up to the mean of a chain
// that made max steps, as Y is in law where X was a step before: the last step
// counts in full. That of a step less is another.
func TestUCDCountsTheLastStep(t *testing.T) {
	for _, s := range fewer(meetable) {
		m := s.random(31, meetableSD)
		all := states(m)
		gibbs := gibbsKernel(m, nil, all, 1)
		from := farState(all)
		pos := batchOf(m, 5, from)
		after := func(steps int) []float64 { return expectation(m, all, lawAfter(m, all, gibbs, from, steps)) }
		for _, c := range []struct {
			settings string
			max      int
		}{{"ucd:k=1:max=2:chains=5:start=data", 2}, {"ucd:k=2:max=3:chains=5:start=data", 3}} {
			e := estimator(t, c.settings)
			var whole [][]float64
			var total Info
			for n := range uint64(2 * unbiasedCalls) {
				phase, info, err := e.Estimate(m, pos, callFrom.Child(n))
				if err != nil {
					t.Fatal(err)
				}
				total.Add(info)
				whole = append(whole, moments64(phase))
			}
			b, less := bias(whole, after(c.max)), bias(whole, after(c.max-1))
			t.Logf("%v, %s: off by %.1f standard errors, of a step less by %.1f; %d of %d pairs are cut", s, c.settings, b, less, int64(total.Get("Cuts")), int64(total.Get("Cuts"))+int64(total.Get("Meetings")))
			if b > 6 || int64(total.Get("Cuts")) == 0 {
				t.Errorf("%v, %s: off by %.1f standard errors, %d cuts", s, c.settings, b, int64(total.Get("Cuts")))
			}
			if less < 6 {
				t.Errorf("%v, %s: a step less is not seen: %.1f", s, c.settings, less)
			}
		}
	}
}
