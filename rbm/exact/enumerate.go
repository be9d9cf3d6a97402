// Package exact computes log Z and the moments of an RBM without error, by
// enumeration of its smaller layer.
package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"gorbm/rbm"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
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

// An Enumeration computes exact quantities of an rbm.RBM: one layer is summed out
// in closed form, the states of the other are listed. Softmax labels have
// Classes states, not 2^Classes.
//
// The states are taken in quads, which differ in the first two listed units,
// and quads that share all but the first few units share a base: the
// preactivations a of the summed layer where these units are off. From base to
// base one row of W is added or taken away, in Gray-code order. With S the
// weights of the units of a base that are on,
//
//	Σ log(1+e^(a+S)) = Σ max(a,0) + log Π (off + on·e^S),  on = e^min(a,0), off = e^min(−a,0)
//
// so that a state takes no exponential of its own: two multiplications and an
// addition a summed unit. A factor takes up to seven exponentials that are
// right to 4·10⁻¹⁶ and ten roundings: log Z is right to n·4·10⁻¹⁵ nats at worst, n
// the number of summed units, beside its own rounding.
//
// Work is cut into blocks by the state's number, so results do not depend on
// the number of processors. It keeps its working memory, so that repeated use
// allocates nothing; only one goroutine may use it at a time.
type Enumeration struct {
	m      *rbm.RBM
	hidden bool // the hidden layer is listed
	units  int  // binary units listed
	labels int  // label states listed beside them; 1 if there are none to list
	other  int  // units of the summed layer
	soft   int  // of these the first soft are binary, the rest one softmax unit

	bias  []float64   // of the listed units
	rows  [][]float64 // weights of each listed unit to the summed layer, filled up to a multiple of vec.Wide
	base  [][]float64 // per label state: preactivations of the summed layer with nothing on, filled up with −Inf
	shift []float64   // per label state: its own log weight
	baseTables

	logs    []float64   // log of the sum of each block
	scratch []*grayWalk // of each group of blocks of LogZ
	groups  []*sums     // partial moments

	ctx         context.Context
	progress    func(done float64)
	done        atomic.Int64 // blocks
	logz        float64
	walks       []*constrainedWalk
	constrained *constrainedStates // under a constraint, which takes the place of what is above
	logLoop     parallel.Loop
	sumLoop     parallel.Loop
}

// logGroups is the number of parts that the blocks of LogZ are shared out in.
const logGroups = 64

// blockBits is the logarithm of the states of a block: sums in float64 start
// afresh at each, so that rounding cannot pile up.
const blockBits = 10

// momentGroups is the number of partial sums of the exact moments, each of
// which takes the memory of a gradient.
const momentGroups = 16

// New prepares to enumerate models of m's shape over the layer
// with fewer states, of those that a constraint allows. The error wraps
// ErrTooLarge and gives the count if there are more than limit.
func New(m *rbm.RBM, limit int) (*Enumeration, error) {
	if m.Constraint != nil {
		return newConstrainedEnumeration(m, limit)
	}
	hidden, visible := float64(m.Hidden()), float64(binary(m))
	if softmaxLabel(m) {
		visible += math.Log2(float64(m.Classes()))
	}
	if n := min(hidden, visible); n > math.Log2(float64(limit)) {
		return nil, fmt.Errorf("%w: the smaller layer has 2^%.4g states, the limit is 2^%.4g; take a model of at most %d hidden units",
			ErrTooLarge, n, math.Log2(float64(limit)), bits.Len(uint(limit))-1)
	}
	e := &Enumeration{labels: 1}
	if hidden <= visible {
		e.hidden = true
		e.units, e.other, e.soft = m.Hidden(), m.Visible(), binary(m)
	} else {
		e.units, e.other, e.soft = binary(m), m.Hidden(), m.Hidden()
		if softmaxLabel(m) {
			e.labels = m.Classes()
		}
	}
	e.bias = make([]float64, e.units)
	e.rows, e.base, e.shift = e.newRows(e.units), e.newRows(e.labels), make([]float64, e.labels)
	e.logs = make([]float64, e.blocks())
	e.scratch = make([]*grayWalk, min(e.blocks(), logGroups))
	e.newTables()
	for i := range e.scratch {
		e.scratch[i] = e.newGrayWalk()
	}
	e.logLoop.Body, e.sumLoop.Body = e.logPart, e.sumPart
	e.Set(m)
	return e, nil
}

// width is the number of binary units of the summed layer, filled up.
func (e *Enumeration) width() int { return vec.RoundUp(e.soft) }

// newRows returns n rows of the summed layer: its binary units, filled up, then
// its classes.
func (e *Enumeration) newRows(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, e.width()+e.other-e.soft)
	}
	return rows
}

// States returns the number of states that are listed.
func (e *Enumeration) States() int {
	if e.constrained != nil {
		return e.constrained.states()
	}
	return e.labels << e.units
}

// Work returns the number of terms summed: states times units of the other
// layer. A core does some 7·10⁹ a second with AVX-512, 4·10⁸ in plain Go. Terms
// under a constraint count as four, which take about as long in plain Go.
func (e *Enumeration) Work() float64 {
	if e.constrained != nil {
		return 4 * e.constrained.work()
	}
	return float64(e.States()) * float64(e.other)
}

// Set makes m, of the shape and the constraint that e was made for, the model to
// enumerate. Call it after the parameters have changed.
func (e *Enumeration) Set(m *rbm.RBM) {
	if e.constrained != nil {
		e.constrained.set(m)
		return
	}
	e.m = m
	listed, summed := m.VisibleBias, m.HiddenBias
	if e.hidden {
		listed, summed = summed, listed
	}
	for l := range e.units {
		e.bias[l] = float64(listed[l])
		e.fill(e.rows[l], 0, func(s int) float64 { return e.weight(l, s) })
	}
	for y := range e.labels {
		e.shift[y] = 0
		e.fill(e.base[y], math.Inf(-1), func(s int) float64 { return float64(summed[s]) })
		if e.labels > 1 || len(listed) > e.units { // the label unit of this state is on
			e.shift[y] = float64(listed[e.units+y])
			e.fill(e.base[y], math.Inf(-1), func(s int) float64 { return float64(summed[s]) + e.weight(e.units+y, s) })
		}
	}
	e.setTables()
}

// weight returns the weight between a listed and a summed unit.
func (e *Enumeration) weight(l, s int) float64 {
	if e.hidden {
		l, s = s, l
	}
	return float64(e.m.Weight(l, s))
}

// fill overwrites row with a value of each summed unit, and the places between
// the binary ones and the classes with rest.
func (e *Enumeration) fill(row []float64, rest float64, value func(s int) float64) {
	for s := range e.other {
		row[e.place(s)] = value(s)
	}
	for i := e.soft; i < e.width(); i++ {
		row[i] = rest
	}
}

// place returns where summed unit s is in a row.
func (e *Enumeration) place(s int) int {
	if s < e.soft {
		return s
	}
	return e.width() + s - e.soft
}

func (e *Enumeration) blockSize() int { return 1 << min(blockBits, e.units) }
func (e *Enumeration) blocks() int    { return e.States() / e.blockSize() }

// cost is that of a loop over all states. From 2¹⁷ terms on, some 20 µs with
// AVX-512 and 300 in plain Go, it is worth sharing out.
func (e *Enumeration) cost() int {
	if e.Work() > 1<<17 {
		return parallel.Always
	}
	return 0
}

// LogZ returns log Σ exp(−E) over all states, in nats. progress, if not nil,
// is called now and then with the part that is done, from several goroutines.
// It stops early with the context's error.
func (e *Enumeration) LogZ(ctx context.Context, progress func(done float64)) (float64, error) {
	e.ctx, e.progress = ctx, progress
	e.done.Store(0)
	logs := e.logs
	if e.constrained != nil {
		logs = e.constrained.logs
	}
	e.logLoop.Run(e.logParts(), e.cost())
	e.ctx, e.progress = nil, nil
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return vec.LogSumExp(logs), nil
}

// logParts returns the number of groups of logPart.
func (e *Enumeration) logParts() int {
	if e.constrained != nil {
		return len(e.walks)
	}
	return len(e.scratch)
}

// logPart sums the blocks of group g.
func (e *Enumeration) logPart(g int) {
	n, groups := e.blocks(), len(e.scratch)
	s := e.scratch[g]
	for b := g * n / groups; b < (g+1)*n/groups; b++ {
		if e.ctx.Err() != nil {
			return
		}
		s.start(e, b)
		for s.next() {
			s.weigh()
			s.sum.add(s.m[:s.valid], s.e[:s.valid], s.logBase)
		}
		e.logs[b] = s.sum.log()
		if d := e.done.Add(1); e.progress != nil {
			e.progress(float64(d) / float64(n))
		}
	}
}

// LogZ returns the exact log Z of m in nats by enumerating its smaller layer.
// The error wraps ErrTooLarge if that has more than EvaluationLimit states.
func LogZ(ctx context.Context, m *rbm.RBM) (float64, error) {
	e, err := New(m, EvaluationLimit)
	if err != nil {
		return 0, err
	}
	return e.LogZ(ctx, nil)
}

// softmaxLabel reports whether m has a label that is a softmax group.
func softmaxLabel(m *rbm.RBM) bool { return m.Classes() > 0 && m.LabelKind() == rbm.Softmax }

// binary returns the number of visible units of m that are binary. They come
// before a softmax label.
func binary(m *rbm.RBM) int {
	if softmaxLabel(m) {
		return m.Inputs()
	}
	return m.Visible()
}
