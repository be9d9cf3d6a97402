package walk

// A block has 64 leaves. Finding a leaf scans the blocks and then one block. That
// is fastest if there are as many blocks as leaves in a block, which is near 64
// for lattices of 1e3 to 1e4 sites.
const (
	blockBits = 6
	blockSize = 1 << blockBits
)

// Blocks keep the weights of sites, their sums over blocks and their total, for
// draws of a site in proportion to its weight. All sums are exact.
type Blocks struct {
	Leaf  []uint64 // weight of each site; 0 if it cannot be drawn
	sum   []uint64 // for each block
	Total uint64
}

// NewBlocks returns weights that are all zero.
func NewBlocks(sites int) *Blocks {
	n := (sites + blockSize - 1) >> blockBits
	return &Blocks{Leaf: make([]uint64, n<<blockBits)[:sites], sum: make([]uint64, n)}
}

// Clear makes all weights zero.
func (b *Blocks) Clear() {
	clear(b.Leaf)
	clear(b.sum)
	b.Total = 0
}

// Set gives site i the weight w.
func (b *Blocks) Set(i int, w uint64) {
	d := w - b.Leaf[i] // modulo 2⁶⁴, and so are the sums
	b.Leaf[i] = w
	b.sum[i>>blockBits] += d
	b.Total += d
}

// Find returns the site into whose share x < Total falls: the first site for
// which x is less than the sum of the weights up to it.
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
