// Package vec has the kernels for batches of units of an RBM: plain Go, which
// defines the results, and AVX2 and AVX-512 assembly whose results are bit-identical.
// Each kernel documents its order of additions. Sums over units have one accumulator
// for each result, in ascending order of the units (RowSums). There is no fused multiply-add: products
// are written float32(x*y) because Go may otherwise fuse them. Only the payload of
// a NaN may differ.
//
// The exported functions check the lengths of their slices. They do not check the offsets in
// lists, nor that there is a row for each bit of a word. The generator in _gen writes the assembly,
// asm_amd64.s, and the Go functions that call it, asm_amd64.go and asm_generic.go:
//
//	cd _gen && go run .
//
// Weights are stored in panels. A panel is a row-major matrix with Block columns, one for each of 64
// hidden units. It has one row for each visible unit, then zero rows up to a multiple of Tile.
package vec

const (
	// Block is the number of units that a kernel processes at once: the
	// number of columns of a panel of weights and of bits of a word of states.
	Block = 64
	// Tile is the number of rows and of columns that TransposePanel processes at once.
	Tile = 8
)

// The exported functions divide their work into calls of assembly that take well below a
// millisecond, because assembly cannot be preempted. The constants below are the largest sizes of one call,
// with the time for each element.
const (
	rowSumsWork  = 1 << 14 // rows of Block values added: about 2 ns; a longer list is not divided
	listsWork    = 1 << 14 // words listed: about 6 ns
	nonzeroWork  = 1 << 16 // values listed: about 3 ns for sixteen
	rowsWork     = 1 << 10 // rows of Block units drawn: up to 150 ns
	chancesWork  = 1 << 14 // values: about 2 ns
	expsWork     = 1 << 14 // exponentials: about 1 ns
	productsWork = 1 << 12 // vectors of eight units: about 4 ns for four products
	scaleWork    = 1 << 14 // rows scaled: about 5 ns
	addWork      = 1 << 13 // words of AddWhere: up to 20 ns
	addTimesWork = 1 << 19 // values: about 2 ns for sixteen
	wideWork     = 1 << 18 // values converted or added in float64: about 1 ns for eight
)

// Blocks returns the number of blocks for n units.
func Blocks(n int) int { return (n + Block - 1) / Block }

// PanelRows returns the number of rows of a panel for n visible units.
func PanelRows(n int) int { return (n + Tile - 1) / Tile * Tile }

// Transpose transposes a 64×64 bit matrix in place: bit j of word i becomes
// bit i of word j.
func Transpose(m *[Block]uint64) { transpose(m) }

// transposeGo exchanges blocks of size 32, 16, … 1 across the diagonal (Warren,
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

// TransposePanel writes the transpose of the first rows and columns of a panel to dst, at most Block
// of each:
//
//	dst[c·Block+r] = panel[r·Block+c],  r < rows, c < cols
//
// Each row of dst has the weights of one hidden unit, so that the down pass can
// use the sums of the up pass, RowSums. rows and cols are rounded up to a multiple of Tile. It panics
// if cols exceeds Block or a slice is too short.
func TransposePanel(dst, panel []float32, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	down, across := (min(rows, Block)+Tile-1)/Tile, (cols+Tile-1)/Tile
	_ = panel[:down*Tile*Block]
	_ = dst[:(across*Tile-1)*Block+down*Tile]
	if cols > Block {
		panic("vec: TransposePanel has no such columns")
	}
	transposePanel(dst, panel, down, across)
}

func transposePanelGo(dst, panel []float32, down, across int) {
	for c := 0; c < across*Tile; c += 4 {
		for r := 0; r < down*Tile; r += 4 {
			from := (*[3*Block + 4]float32)(panel[r*Block+c:])
			to := (*[3*Block + 4]float32)(dst[c*Block+r:])
			for c := range 4 {
				*(*[4]float32)(to[c*Block:]) = [4]float32{from[c], from[Block+c], from[2*Block+c], from[3*Block+c]}
			}
		}
	}
}
