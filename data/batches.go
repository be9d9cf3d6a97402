package data

import (
	"math"

	"gorbm/rbm"
)

// Batches deals the rows of a set in shuffled minibatches. Which rows are in
// minibatch t depends on the number of rows, the size, the key and t only, so
// a run can be resumed at any step and nothing need be stored.
//
// Every epoch deals each row once, in an order of its own; minibatches run on
// over the end of an epoch, so all have the same size. A Batches caches one
// epoch's order: it serves one goroutine at a time.
type Batches struct {
	n, size int
	key     rbm.Key
	rng     rng
	epoch   int     // the epoch that perm is the order of; −1 at first
	perm    []int32 // len n
}

// NewBatches returns the minibatches of the given size from n rows. Both must
// be positive and n below 2³¹, or it panics.
func NewBatches(n, size int, key rbm.Key) *Batches {
	if n <= 0 || n > math.MaxInt32 || size <= 0 {
		panic("data: minibatches need a positive size and number of rows")
	}
	return &Batches{n: n, size: size, key: key, epoch: -1, perm: make([]int32, n)}
}

// Rows overwrites dst with the row numbers of minibatch step, counted from 0.
// It allocates nothing; the first minibatch of an epoch takes time
// proportional to the number of rows. It panics if len(dst) is not the size of
// a minibatch or if step is negative.
func (b *Batches) Rows(dst []int32, step int) {
	if len(dst) != b.size || step < 0 {
		panic("data: minibatch of the wrong size or of a negative step")
	}
	// In 64 bits this holds for more steps than can ever be taken.
	at := int64(step) * int64(b.size)
	epoch, pos := int(at/int64(b.n)), int(at%int64(b.n))
	for len(dst) > 0 {
		b.shuffle(epoch)
		k := copy(dst, b.perm[pos:])
		dst = dst[k:]
		epoch, pos = epoch+1, 0
	}
}

// shuffle makes perm the order of an epoch, by Fisher and Yates' method from
// the identity, keyed by the epoch.
func (b *Batches) shuffle(epoch int) {
	if b.epoch == epoch {
		return
	}
	b.rng.seed(b.key.Child(uint64(epoch)))
	for i := range b.perm {
		b.perm[i] = int32(i)
	}
	for i := b.n - 1; i > 0; i-- {
		j := b.rng.intn(i + 1)
		b.perm[i], b.perm[j] = b.perm[j], b.perm[i]
	}
	b.epoch = epoch
}
