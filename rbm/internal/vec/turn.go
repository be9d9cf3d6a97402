package vec

// Turn writes the transpose of the first rows of a panel, up to Block, and of
// its first cols columns to dst:
//
//	dst[c·Block+r] = panel[r·Block+c],  r < rows, c < cols
//
// Rows of dst are then what one column of the weights adds to a sum over many,
// so that the down pass is made of the sums of the up pass, RowSums. Rows and
// columns are turned up to a multiple of Tile. It panics if cols exceeds Block
// or a slice is too short.
func Turn(dst, panel []float32, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	down, across := (min(rows, Block)+Tile-1)/Tile, (cols+Tile-1)/Tile
	_ = panel[:down*Tile*Block]
	_ = dst[:(across*Tile-1)*Block+down*Tile]
	if cols > Block {
		panic("vec: Turn has no such columns")
	}
	turn(dst, panel, down, across)
}

func turnGo(dst, panel []float32, down, across int) {
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
