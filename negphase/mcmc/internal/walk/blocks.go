package walk

// A block has 64 leaves. Finding a leaf scans the sums of the blocks and then the leaves of one block. This
// is fastest if the number of blocks equals the number of leaves in a block. For lattices of 1e3 to 1e4
// sites this is near 64.
const (
	blockBits = 6
	blockSize = 1 << blockBits
)

// Blocks keeps the weights of sites with their sums over blocks and their total. With these sums Find
// draws a site with probability proportional to its weight. All sums are exact.
type Blocks struct {
	Leaf  []uint64 // [site] weight; 0 if the site cannot be drawn
	sum   []uint64 // [block] sum of the weights
	Total uint64
}

// NewBlocks returns Blocks with zero weights.
func NewBlocks(sites int) *Blocks {
	n := (sites + blockSize - 1) >> blockBits
	return &Blocks{Leaf: make([]uint64, n<<blockBits)[:sites], sum: make([]uint64, n)}
}

// Clear sets all weights to zero.
func (b *Blocks) Clear() {
	clear(b.Leaf)
	clear(b.sum)
	b.Total = 0
}

// Set gives site i the weight w.
func (b *Blocks) Set(i int, w uint64) {
	d := w - b.Leaf[i] // unsigned arithmetic modulo 2⁶⁴ gives correct sums for negative d too
	b.Leaf[i] = w
	b.sum[i>>blockBits] += d
	b.Total += d
}

// Find returns the first site for which the sum of the weights up to and including it exceeds x. x must be
// less than Total. If x is uniform, the probability of a site is proportional to its weight.
func (b *Blocks) Find(x uint64) int {
	k := 0
	for _, s := range b.sum {
		if x < s {
			break
		}
		x -= s
		k++
	}
	i := k << blockBits
	for _, w := range b.Leaf[i:] {
		if x < w {
			break
		}
		x -= w
		i++
	}
	return i
}
