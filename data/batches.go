package data

import (
	"math"

	"gorbm/rbm"
)

// Batches divides the rows of a set into shuffled minibatches. The rows of minibatch t depend only on the
// number of rows, the size, the key and t. A run can therefore be resumed at any step without stored state.
//
// Every epoch has each row once, in a new order. All minibatches have the same size, so that a minibatch
// may have rows from the end of an epoch and from the beginning of the next. A Batches caches the order of
// an epoch, so only one goroutine may use it at a time.
type Batches struct {
	n, size int
	key     rbm.Key
	rng     rng
	weights []float64 // weights of the rows; nil: equal
	epoch   int       // epoch whose order perm is; −1 at first
	perm    []int32   // order of the rows, len n
}

// NewBatches returns the minibatches of the given size from n rows. Both must
// be positive and n below 2³¹, or it panics.
func NewBatches(n, size int, key rbm.Key) *Batches {
	if n <= 0 || n > math.MaxInt32 || size <= 0 {
		panic("data: minibatches need a positive size and number of rows")
	}
	return &Batches{n: n, size: size, key: key, epoch: -1, perm: make([]int32, n)}
}

// Weigh gives the rows weights, unless weights is nil. Row i then appears weights[i]·n/Σ weights times in
// an epoch, rounded down or up at random and without bias. An epoch still has n rows. Weigh returns b. It
// panics if there are not n weights.
func (b *Batches) Weigh(weights []float64) *Batches {
	if weights != nil && len(weights) != b.n {
		panic("data: minibatches need a weight of each row")
	}
	b.weights, b.epoch = weights, -1
	return b
}

// Rows overwrites dst with the row numbers of minibatch step, counted from 0.
// It allocates nothing; the first minibatch of an epoch takes time
// proportional to the number of rows. It panics if len(dst) is not the size of
// a minibatch or if step is negative.
func (b *Batches) Rows(dst []int32, step int) {
	if len(dst) != b.size || step < 0 {
		panic("data: minibatch of the wrong size or of a negative step")
	}
	// 64 bits are enough for any number of steps.
	at := int64(step) * int64(b.size)
	epoch, pos := int(at/int64(b.n)), int(at%int64(b.n))
	for len(dst) > 0 {
		b.shuffle(epoch)
		k := copy(dst, b.perm[pos:])
		dst = dst[k:]
		epoch, pos = epoch+1, 0
	}
}

// shuffle sets perm to the order of an epoch, by the Fisher–Yates method with the epoch's random numbers.
func (b *Batches) shuffle(epoch int) {
	if b.epoch == epoch {
		return
	}
	b.rng.seed(b.key.Child(uint64(epoch)))
	if b.weights == nil {
		for i := range b.perm {
			b.perm[i] = int32(i)
		}
	} else {
		b.systematic(b.rng.uniform())
	}
	for i := b.n - 1; i > 0; i-- {
		j := b.rng.intn(i + 1)
		b.perm[i], b.perm[j] = b.perm[j], b.perm[i]
	}
	b.epoch = epoch
}

// systematic overwrites perm with the rows of an epoch in ascending order, by systematic sampling. It
// places n evenly spaced points on the cumulative sum of the weights. The first point lies at the fraction
// at, in [0,1), of the first spacing. Each row then occurs its expected number of times, rounded up or
// down.
func (b *Batches) systematic(at float64) {
	total := 0.0
	for _, w := range b.weights {
		total += w
	}
	step := total / float64(b.n)
	sum, row := b.weights[0], 0
	for i := range b.perm {
		for point := float64((at + float64(i)) * step); point >= sum && row+1 < b.n; {
			row++
			sum += b.weights[row]
		}
		b.perm[i] = int32(row)
	}
}
