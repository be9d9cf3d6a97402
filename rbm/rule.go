package rbm

import "gorbm/rbm/internal/vec"

// A Rule is an optimiser: it turns a step along the gradient into a step of the parameters. An
// Ascent calls it block by block, from several goroutines at once.
type Rule interface {
	// Slots returns how many numbers the rule keeps for each parameter, at most MaxSlots.
	// These numbers are zero before the first update.
	Slots() int
	// Apply updates the parameters of a block.
	Apply(b *Block)
}

// An Adder is a Rule that uses the step only by adding it to the parameters or to a slot. The Ascent then
// adds the gradient directly, instead of writing the step to memory and reading it again.
type Adder interface {
	Rule
	// AddTo prepares the block for an update. It returns the numbers to which the step will be
	// added, the parameters or a slot of the block; Apply follows with a nil Step. If AddTo returns
	// nil, it must not change the block, and Apply gets the step.
	AddTo(b *Block) []float32
}

// MaxSlots is the largest number of slots of a rule.
const MaxSlots = 4

// A Block is a range of consecutive parameters of one tensor, with their step and slots. It is valid until
// the call returns. All slices have the same length. Weights are padded to a multiple of 64 hidden units; the
// parameters and steps of the padding are zero and must stay zero.
type Block struct {
	Tensor     Tensor
	First      int                 // index of the first parameter in the tensor
	Parameters []float32           // for VisibleParam zeros, which become the changes of the logarithms of the precisions
	Step       []float32           // rate times the gradient, or nil after AddTo; a rule may overwrite it
	Slots      [MaxSlots][]float32 // those of the rule; the others are nil
	Rest       []float32           // rounding errors of earlier steps, still to be added; nil if they are not kept
	Rate       float32             // the learning rate in Step
	Update     int                 // number of updates before this one
}

// Advance adds step to the parameters. It uses and updates Rest.
func (b *Block) Advance(step []float32) { vec.Advance(b.Parameters, step, b.Rest, 1) }

// plain is the rule of steps along the gradient.
type plain struct{}

func (plain) Slots() int { return 0 }

func (plain) AddTo(b *Block) []float32 {
	if b.Rest != nil {
		return nil
	}
	return b.Parameters
}

func (plain) Apply(b *Block) {
	if b.Step != nil {
		b.Advance(b.Step)
	}
}

// Momentum is gradient ascent with momentum 1 − Friction (Hinton, A practical guide to
// training RBMs, 2010, section 9). Its slot is the velocity. An update multiplies the velocity by
// 1 − Friction, adds the step to it, and adds the velocity to the parameters.
type Momentum struct{ Friction float32 }

// Slots returns 1.
func (*Momentum) Slots() int { return 1 }

// AddTo shrinks the velocity and returns it.
func (r *Momentum) AddTo(b *Block) []float32 {
	vec.Shrink(b.Slots[0], r.Friction)
	return b.Slots[0]
}

// Apply adds the velocity to the parameters.
func (r *Momentum) Apply(b *Block) {
	if b.Step != nil {
		vec.Advance(r.AddTo(b), b.Step, nil, 1)
	}
	b.Advance(b.Slots[0])
}

// check panics if a field of a has another shape than m.
func (a *Ascent) check(m *RBM) {
	if (a.Mu != nil || a.Lambda != nil) && (len(a.Mu) != m.Visible() || len(a.Lambda) != m.Hidden()) {
		panic("rbm: offsets of another shape than the layers")
	}
	slots := 0
	if a.Rule != nil {
		slots = a.Rule.Slots()
	}
	if len(a.Slots) != slots || slots > MaxSlots {
		panic("rbm: an ascent of another number of slots than its rule keeps")
	}
	if a.ParamRates != nil && len(a.ParamRates) != m.Visible() {
		panic("rbm: rates of parameters of another shape than the visible layer")
	}
	m.checkParameters(a.Average)
	m.checkParameters(a.Rest)
	m.checkParameters(a.AverageRest)
	for _, s := range a.Slots {
		if s == nil {
			panic("rbm: an ascent without a slot of its rule")
		}
		m.checkParameters(s)
	}
}

// set makes b the block of parameters lo … hi−1 of a tensor.
func (b *Block) set(a *Ascent, t Tensor, lo, hi int) {
	*b = Block{Tensor: t, First: lo, Parameters: a.to.slice(t, lo, hi), Rest: a.Rest.slice(t, lo, hi), Rate: a.rate, Update: a.Update}
	for k, s := range a.Slots {
		b.Slots[k] = s.slice(t, lo, hi)
	}
}

// take applies the rule to len(step) parameters of a tensor, from index lo on. It overwrites b.
func (a *Ascent) take(b *Block, t Tensor, lo int, step []float32) {
	b.set(a, t, lo, lo+len(step))
	b.Step = step
	a.apply(b)
}

// ones is the step of the sparsity term without its factor, and the weights of the rows in Values.addColumns.
var ones = func() (x [vec.Block]float32) {
	for j := range x {
		x[j] = 1
	}
	return x
}()

// apply applies the rule to a block, then decay, sparsity and the average.
func (a *Ascent) apply(b *Block) {
	a.rule.Apply(b)
	if b.Tensor == Weights && (a.L1 > 0 || a.L2 > 0) {
		vec.Decay(b.Parameters, b.Rest, a.L1, a.L2)
	}
	if b.Tensor == HiddenBias && a.Sparse != 0 {
		vec.Advance(b.Parameters, ones[:len(b.Parameters)], b.Rest, -a.Sparse)
	}
	if !a.learns() || b.Tensor != Weights && b.Tensor != VisibleBias { // otherwise growParts changes the block again, and then calls follow
		a.follow(b)
	}
}

// follow updates the moving average of the parameters of a block.
func (a *Ascent) follow(b *Block) {
	if a.Average != nil {
		hi := b.First + len(b.Parameters)
		vec.Approach(a.Average.slice(b.Tensor, b.First, hi), b.Parameters, a.AverageRest.slice(b.Tensor, b.First, hi), a.AverageShare)
	}
}
