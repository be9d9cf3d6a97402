// Package vec holds the kernels of the batched layers of an RBM: plain Go,
// which is the contract, and AVX2 and AVX-512 assembly that gives the same
// bits. Each kernel states its order of additions, which in the sums over units
// is one accumulator a unit in list order (RowSums); no fused multiply-add
// anywhere. Products are written float32(x*y) because Go
// may otherwise fuse them. Only the payload of a NaN may differ.
//
// The exported functions check the lengths of their slices and cut the work
// into calls of well below a millisecond, because assembly cannot be
// preempted. asm_amd64.s is written by the generator in _gen:
//
//	cd _gen && go run .
//
// Weights are stored in panels of Block columns. A panel is a row-major matrix
// of Block columns and one row a visible unit, then zero rows to a multiple of
// Tile.
package vec

const (
	// Block is the number of units that a kernel works on at once: the
	// columns of a panel of weights, the bits of a word of states.
	Block = 64
	// Tile is the number of rows that Turn works on at once.
	Tile = 8
)

// Blocks returns the number of blocks that hold n units.
func Blocks(n int) int { return (n + Block - 1) / Block }

// PanelRows returns the number of rows of a panel for n visible units.
func PanelRows(n int) int { return (n + Tile - 1) / Tile * Tile }

// Transpose transposes a 64×64 bit matrix in place: bit j of word i becomes
// bit i of word j.
func Transpose(m *[Block]uint64) { transpose(m) }

// transposeGo exchanges blocks of halving size across the diagonal (Warren,
// Hacker's Delight, section 7-3).
func transposeGo(m *[Block]uint64) {
	mask := uint64(0x00000000FFFFFFFF)
	for s := 32; s != 0; s >>= 1 {
		for k := 0; k < Block; k = (k + s + 1) &^ s {
			t := (m[k]>>s ^ m[k+s]) & mask
			m[k] ^= t << s
			m[k+s] ^= t
		}
		mask ^= mask << (s >> 1)
	}
}
