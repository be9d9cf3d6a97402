package rbm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"gorbm/rbm/internal/vec"
)

const (
	// EvaluationLimit is the largest number of states that is enumerated to
	// judge a model.
	EvaluationLimit = 1 << 28
	// GradientLimit is the largest number of states that is enumerated at
	// every step of training.
	GradientLimit = 1 << 18
)

// ErrTooLarge is returned when a model has too many states to enumerate.
var ErrTooLarge = errors.New("too many states to enumerate")

// An Enumeration computes exact quantities of an RBM: one layer is summed out
// in closed form, the states of the other are listed in Gray-code order, one
// row of W added or taken away a state. Softmax labels have Classes states,
// not 2^Classes. Work is cut into blocks by the state's number, so results do
// not depend on the number of processors. It keeps its working memory, so that
// repeated use allocates nothing; only one goroutine may use it at a time.
type Enumeration struct {
	m      *RBM
	hidden bool // the hidden layer is listed
	units  int  // binary units listed
	labels int  // label states listed beside them; 1 if there are none to list
	other  int  // units of the summed layer
	soft   int  // of these the first soft are binary, the rest one softmax unit

	bias  []float64   // of the listed units
	rows  [][]float64 // weights of each listed unit to the summed layer
	base  [][]float64 // per label state: preactivations of the summed layer with nothing on
	shift []float64   // per label state: its own log weight

	logs    []float64 // log-sum-exp of each block
	scratch []scratch // of each group of blocks of LogZ
	groups  []*sums   // partial moments

	ctx      context.Context
	progress func(done float64)
	done     atomic.Int64 // blocks
	logz     float64
	walks    []*countedWalk
	counted  *countedStates // under a constraint, which takes the place of what is above
	logJob   job
	sumJob   job
}

// scratch is what a group of blocks needs to be summed.
type scratch struct{ a, logw []float64 }

// logGroups is the number of parts that the blocks of LogZ are shared out in.
const logGroups = 64

// blockBits is the logarithm of the states of a block: sums in float64 start
// afresh at each, so that rounding cannot pile up.
const blockBits = 10

// momentGroups is the number of partial sums of the exact moments, each of
// which takes the memory of a gradient.
const momentGroups = 16

// NewEnumeration prepares to enumerate models of m's shape over the layer
// with fewer states, of those that a constraint allows. The error wraps
// ErrTooLarge and gives the count if there are more than limit.
func NewEnumeration(m *RBM, limit int) (*Enumeration, error) {
	if m.Constraint != nil {
		return newCountedEnumeration(m, limit)
	}
	hidden, visible := float64(m.Hidden()), float64(m.Visible())
	if m.softmax() {
		visible = float64(m.Inputs()) + math.Log2(float64(m.Classes))
	}
	if n := min(hidden, visible); n > math.Log2(float64(limit)) {
		return nil, fmt.Errorf("%w: the smaller layer has 2^%.4g states, the limit is 2^%.4g; take a model of at most %d hidden units",
			ErrTooLarge, n, math.Log2(float64(limit)), bits.Len(uint(limit))-1)
	}
	e := &Enumeration{labels: 1}
	if hidden <= visible {
		e.hidden = true
		e.units, e.other, e.soft = m.Hidden(), m.Visible(), m.Visible()
		if m.softmax() {
			e.soft = m.Inputs()
		}
	} else {
		e.units, e.other, e.soft = m.Visible(), m.Hidden(), m.Hidden()
		if m.softmax() {
			e.units, e.labels = m.Inputs(), m.Classes
		}
	}
	alloc := func(n int) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, e.other)
		}
		return rows
	}
	e.bias = make([]float64, e.units)
	e.rows, e.base, e.shift = alloc(e.units), alloc(e.labels), make([]float64, e.labels)
	e.logs = make([]float64, e.blocks())
	e.scratch = make([]scratch, min(e.blocks(), logGroups))
	for i := range e.scratch {
		e.scratch[i] = scratch{make([]float64, e.other), make([]float64, e.blockSize())}
	}
	e.logJob.part, e.sumJob.part = e.logPart, e.sumPart
	e.Set(m)
	return e, nil
}

// States returns the number of states that are listed.
func (e *Enumeration) States() int {
	if e.counted != nil {
		return e.counted.states()
	}
	return e.labels << e.units
}

// Work returns the number of terms summed: states times units of the other
// layer. A core does some 10⁸ a second.
func (e *Enumeration) Work() float64 {
	if e.counted != nil {
		return e.counted.work()
	}
	return float64(e.States()) * float64(e.other)
}

// Set makes m, of the shape and the constraint that e was made for, the model to
// enumerate. Call it after the parameters have changed.
func (e *Enumeration) Set(m *RBM) {
	if e.counted != nil {
		e.counted.set(m)
		return
	}
	e.m = m
	listed, summed := m.VisibleBias, m.HiddenBias
	if e.hidden {
		listed, summed = summed, listed
	}
	weight := func(l, s int) float64 {
		if e.hidden {
			l, s = s, l
		}
		return float64(m.Weight(l, s))
	}
	for l := range e.units {
		e.bias[l] = float64(listed[l])
		for s := range e.other {
			e.rows[l][s] = weight(l, s)
		}
	}
	for y := range e.labels {
		e.shift[y] = 0
		for s := range e.other {
			e.base[y][s] = float64(summed[s])
		}
		if e.labels > 1 || len(listed) > e.units { // the label unit of this state is on
			e.shift[y] = float64(listed[e.units+y])
			for s := range e.other {
				e.base[y][s] += weight(e.units+y, s)
			}
		}
	}
}

func (e *Enumeration) blockSize() int { return 1 << min(blockBits, e.units) }
func (e *Enumeration) blocks() int    { return e.States() / e.blockSize() }

// wide reports whether the work is worth sharing out (some 100 µs).
func (e *Enumeration) wide() bool { return e.Work() > 1<<14 }

// walk visits the states of block b in Gray-code order with the log weight
// log Σ_summed exp(−E) and the preactivations a of the summed layer. Before
// all but the first, flip is told which unit changed and to what; at the
// first, on holds the units that are on.
func (e *Enumeration) walk(b int, a []float64, visit func(logw float64), start func(y int, on uint64), flip func(l int, on bool)) {
	first := uint64(b) * uint64(e.blockSize())
	y := int(first >> e.units)
	first &= 1<<e.units - 1
	on := first ^ first>>1
	copy(a, e.base[y])
	linear := e.shift[y]
	for l := range e.units {
		if on>>l&1 != 0 {
			linear += e.bias[l]
			for s, w := range e.rows[l] {
				a[s] += w
			}
		}
	}
	if start != nil {
		start(y, on)
	}
	for g := first; ; {
		logw := linear + vec.SoftplusSum(a[:e.soft])
		if e.soft < e.other {
			logw += vec.LogSumExp(a[e.soft:])
		}
		visit(logw)
		if g++; g == first+uint64(e.blockSize()) {
			return
		}
		l := bits.TrailingZeros64(g)
		on ^= 1 << l
		if flip != nil {
			flip(l, on>>l&1 != 0)
		}
		row := e.rows[l]
		if on>>l&1 != 0 {
			linear += e.bias[l]
			for s := range a {
				a[s] += row[s]
			}
		} else {
			linear -= e.bias[l]
			for s := range a {
				a[s] -= row[s]
			}
		}
	}
}

// LogZ returns log Σ exp(−E) over all states, in nats. progress, if not nil,
// is called now and then with the part that is done, from several goroutines.
// It stops early with the context's error.
func (e *Enumeration) LogZ(ctx context.Context, progress func(done float64)) (float64, error) {
	e.ctx, e.progress = ctx, progress
	e.done.Store(0)
	logs := e.logs
	if e.counted != nil {
		logs = e.counted.logs
	}
	e.logJob.run(e.logParts(), e.wide())
	e.ctx, e.progress = nil, nil
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return vec.LogSumExp(logs), nil
}

// logParts returns the number of groups of logPart.
func (e *Enumeration) logParts() int {
	if e.counted != nil {
		return len(e.walks)
	}
	return len(e.scratch)
}

// logPart sums the blocks of group g.
func (e *Enumeration) logPart(g int) {
	n, groups := e.blocks(), len(e.scratch)
	s := &e.scratch[g]
	for b := g * n / groups; b < (g+1)*n/groups; b++ {
		if e.ctx.Err() != nil {
			return
		}
		i := 0
		e.walk(b, s.a, func(w float64) { s.logw[i] = w; i++ }, nil, nil)
		e.logs[b] = vec.LogSumExp(s.logw)
		if d := e.done.Add(1); e.progress != nil {
			e.progress(float64(d) / float64(n))
		}
	}
}

// LogZ returns the exact log Z of m in nats by enumerating its smaller layer.
// The error wraps ErrTooLarge if that has more than EvaluationLimit states.
func (m *RBM) LogZ(ctx context.Context) (float64, error) {
	e, err := NewEnumeration(m, EvaluationLimit)
	if err != nil {
		return 0, err
	}
	return e.LogZ(ctx, nil)
}
