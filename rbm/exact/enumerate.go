// Package exact computes log Z and the moments of an RBM without statistical error, by
// enumeration of the states of one layer.
//
// # Where to begin
//
// Read LogZ, and Enumeration for moments. Example computes log Z, and
// ExampleEnumeration_Moments the exact negative phase.
package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync/atomic"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

const (
	// EvaluationLimit is the largest number of states for one evaluation of a model.
	EvaluationLimit = 1 << 28
	// GradientLimit is the largest number of states for an enumeration at every training step.
	GradientLimit = 1 << 18
)

// ErrTooLarge is returned when a model has too many states to enumerate.
var ErrTooLarge = errors.New("too many states to enumerate")

// RealLimit is the largest number of states if log Z of real units of the other layer is computed for each state,
// which takes about 30 ns to 200 ns for each unit. Gaussian visible units take no such time.
const RealLimit = 1 << 22

// An Enumeration computes exact quantities of an RBM. It lists the states of one layer,
// and sums the other layer out in closed form. A softmax group has one state for each unit.
//
// States are summed in fixed blocks, so results do not depend on the
// number of processors. An Enumeration keeps its working memory, so repeated
// use allocates nothing. Only one goroutine may use it at a time.
type Enumeration struct {
	*plan
	logs     []float64 // log of the sum over each block of bases
	walks    []*walk   // one for each group of blocks
	groups   []*sums   // partial moments
	count    int       // number of groups of blocks in the current loop
	moments  bool      // whether the current loop computes moments
	ctx      context.Context
	progress func(done float64)
	done     atomic.Int64 // number of blocks that are done
	loop     parallel.Loop
}

const (
	// logGroups is the number of groups of blocks in LogZ. One goroutine sums a group.
	logGroups = 64
	// momentGroups is the number of partial sums of the moments. Each partial sum has the
	// size of a gradient.
	momentGroups = 16
	// blockStates is the number of states of a block, if there are at most mostBlocks blocks. Each block has a
	// separate float64 sum, so that rounding errors do not accumulate.
	blockStates = 1 << 10
	// mostBlocks limits the memory of the sums of blocks.
	mostBlocks = 1 << 18
)

// New returns an Enumeration for models with m's shape and constraint. It lists a layer without real units. If
// there are two, it lists the one with less work. The error wraps ErrTooLarge if that layer has more than limit
// states, or more than RealLimit, or if both layers have real units. The error can also be that of
// RBM.CheckNormalisable or, under a constraint, of RBM.CheckBinary.
func New(m *rbm.RBM, limit int) (*Enumeration, error) {
	if err := m.CheckNormalisable(); err != nil {
		return nil, err
	}
	if m.Constraint != nil {
		if err := m.CheckBinary(); err != nil {
			return nil, err
		}
	}
	var best *plan
	var obstacles []string
	for _, hidden := range [...]bool{true, false} {
		p, err := checkedPlan(m, hidden, limit)
		if err != nil {
			obstacles = append(obstacles, err.Error())
		} else if best == nil || p.cost() < best.cost() {
			best = p
		}
	}
	if best == nil {
		remedy := "use fewer units"
		switch {
		case m.Constraint != nil:
			remedy += ", or fewer of them active"
		case m.RealHidden() && m.Real():
			remedy = "use hidden units of bits"
		case !m.RealHidden():
			remedy = fmt.Sprintf("use a model of at most %d hidden units", bits.Len(uint(limit))-1)
		}
		return nil, fmt.Errorf("%w: %s; %s", ErrTooLarge, strings.Join(obstacles, ", and "), remedy)
	}
	return newEnumeration(best), nil
}

// checkedPlan plans the enumeration of a layer of m. The error says why that layer cannot be listed.
func checkedPlan(m *rbm.RBM, hidden bool, limit int) (*plan, error) {
	name := map[bool]string{false: "visible", true: "hidden"}[hidden]
	for _, g := range groupsOf(m, hidden) {
		if g.Real() {
			return nil, fmt.Errorf("the %s layer has %v units, which take any real value", name, g.Kind)
		}
	}
	p := newPlan(m, hidden)
	if !p.bound && p.rest != nil {
		limit = min(limit, RealLimit)
	}
	if p.states > limit {
		return nil, fmt.Errorf("the %s layer has 2^%.4g states, the limit is 2^%.4g", name, p.log2(), math.Log2(float64(limit)))
	}
	return p, nil
}

func newEnumeration(p *plan) *Enumeration {
	p.allocate()
	e := &Enumeration{plan: p}
	e.logs, e.loop.Body = make([]float64, e.blocks()), e.visitGroup
	return e
}

// blocks returns the number of blocks of bases.
func (e *Enumeration) blocks() int { return (e.bases() + e.perBlock() - 1) / e.perBlock() }

// perBlock returns the number of bases in a block.
func (e *Enumeration) perBlock() int {
	return max(blockStates>>e.low, (e.bases()+mostBlocks-1)/mostBlocks)
}

// States returns the number of listed states.
func (e *Enumeration) States() int { return e.states }

// Work returns the number of terms of LogZ: states times units of the summed layer. A core computes
// about 7·10⁹ terms per second with AVX-512, and 4·10⁸ in plain Go. Slower terms, such as those under a
// constraint, count several times.
func (e *Enumeration) Work() float64 { return e.work() }

// Set copies the parameters of m to e. Call it after they have changed. m must have the shape and
// constraint of the model given to New.
func (e *Enumeration) Set(m *rbm.RBM) { e.set(m) }

// LogZ returns log Σ exp(−E) over all states, in nats. If progress is not nil, it
// is called from time to time with the fraction that is done, from several goroutines.
// The error is that of ctx or of RBM.CheckNormalisable.
func (e *Enumeration) LogZ(ctx context.Context, progress func(done float64)) (float64, error) {
	e.progress = progress
	return e.run(ctx, logGroups, false)
}

// run visits all states, and returns log Z. The blocks form at most the given number of groups.
func (e *Enumeration) run(ctx context.Context, groups int, moments bool) (float64, error) {
	if err := e.model.CheckNormalisable(); err != nil {
		return 0, err
	}
	e.ctx, e.count, e.moments = ctx, min(e.blocks(), groups), moments
	e.done.Store(0)
	for len(e.walks) < e.count {
		e.walks = append(e.walks, newWalk(e.plan))
	}
	for moments && len(e.groups) < e.count {
		e.groups = append(e.groups, newSums(e.plan))
	}
	// Dividing the loop among processors saves time from 2¹⁷ terms on, which take about 20 µs with AVX-512 and
	// 300 µs in plain Go.
	cost := 0
	if e.Work() > 1<<17 {
		cost = parallel.Always
	}
	e.loop.Run(e.count, cost)
	e.ctx, e.progress = nil, nil
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return vec.LogSumExp(e.logs), nil
}

// visitGroup sums the blocks of group g.
func (e *Enumeration) visitGroup(g int) {
	w, n := e.walks[g], e.blocks()
	w.ref, w.to = math.Inf(-1), nil
	if e.moments {
		w.to = e.groups[g]
		w.to.reset()
	}
	for b := g * n / e.count; b < (g+1)*n/e.count; b++ {
		if e.ctx.Err() != nil {
			return
		}
		e.logs[b] = e.sumBlock(w, b)
		if d := e.done.Add(1); e.progress != nil {
			e.progress(float64(d) / float64(n))
		}
	}
	if e.moments {
		w.to.ref = w.ref
	}
}

// sumBlock returns the logarithm of the sum over the states of block b.
func (e *Enumeration) sumBlock(w *walk, b int) float64 {
	e.visitBlock(w, b, func() {
		if p := w.add(); w.to != nil {
			w.addQuad(p)
		}
	})
	return w.ref + vec.Log(w.sum)
}

// visitBlock calls f for each quad of block b.
func (e *Enumeration) visitBlock(w *walk, b int, f func()) {
	w.visit(b*e.perBlock(), min((b+1)*e.perBlock(), e.bases()), f)
}

// LogZ returns the exact log Z of m, in nats, by enumerating one layer. The error
// wraps ErrTooLarge if that layer has more than EvaluationLimit states.
func LogZ(ctx context.Context, m *rbm.RBM) (float64, error) {
	e, err := New(m, EvaluationLimit)
	if err != nil {
		return 0, err
	}
	return e.LogZ(ctx, nil)
}

// Moments overwrites dst with the moments under the model, and returns log Z. Sums are computed in float64,
// the means of real hidden units given a state in float32, and results are stored as float32. If LogZ fails,
// Moments returns NaN and does not change dst.
func (e *Enumeration) Moments(dst *rbm.Moments) float64 {
	logZ, err := e.run(context.Background(), momentGroups, true)
	if err != nil {
		return math.NaN()
	}
	total := e.groups[0]
	for i, s := range e.groups[:e.count] {
		s.scale(vec.Exp(s.ref - logZ))
		if i > 0 {
			total.add(s)
		}
	}
	e.store(dst, total)
	return logZ
}
