package vec

// Turn writes the transpose of the first rows of a panel, up to Block, and of
// its first cols columns to dst:
//
//	dst[c·Block+r] = panel[r·Block+c],  r < rows, c < cols
//
// Rows of dst are then what one column of the weights adds to a sum over many,
// so that the down pass is made of the sums of the up pass, RowSums. It works
// on tiles: rows are turned up to a multiple of Tile, columns up to one of 4.
// It panics if cols exceeds Block or a slice is too short.
func Turn(dst, panel []float32, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	tiles, quads := PanelRows(min(rows, Block))/Tile, (cols+3)/4
	_ = panel[:tiles*Tile*Block]
	_ = dst[:(4*quads-1)*Block+tiles*Tile]
	if cols > Block {
		panic("vec: Turn has no such columns")
	}
	turn(dst, panel, tiles, quads)
}

func turnGo(dst, panel []float32, tiles, quads int) {
	for q := range quads {
		for r := 0; r < tiles*Tile; r += 4 {
			from := (*[3*Block + 4]float32)(panel[r*Block+4*q:])
			to := (*[3*Block + 4]float32)(dst[4*q*Block+r:])
			for c := range 4 {
				*(*[4]float32)(to[c*Block:]) = [4]float32{from[c], from[Block+c], from[2*Block+c], from[3*Block+c]}
			}
		}
	}
}
