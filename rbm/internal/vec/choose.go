package vec

// Choose draws an index k < units for each of 64 rows r, with probability proportional
// to exp(beta[r]·x[k·Block+r]), from the uniform u[r] of Stream.Column. Each draw is
// that of DrawOne. It overwrites x with the exponentials.
func Choose(state *[Block]uint32, x []float32, units int, beta, u *[Block]float32) {
	_ = x[units*Block-1]
	choose(state, x, units, beta, u)
}

func chooseGo(state *[Block]uint32, x []float32, units int, beta, u *[Block]float32) {
	var top, sum, limit [Block]float32
	for r, b := range beta {
		top[r] = b * x[r]
	}
	rows := func(k int) *[Block]float32 { return (*[Block]float32)(x[k*Block:]) }
	for k := range units {
		for r, x := range rows(k) {
			if z := beta[r] * x; z > top[r] {
				top[r] = z
			}
		}
	}
	for k := range units {
		row := rows(k)
		for r, x := range row {
			row[r] = exp32(float32(beta[r]*x) - top[r])
			sum[r] += row[r]
		}
	}
	for r := range limit {
		limit[r] = u[r] * float32(0x1p-24*sum[r])
	}
	sum = [Block]float32{}
	*state = [Block]uint32{}
	for k := range units {
		for r, e := range rows(k) {
			sum[r] += e
			state[r] += uint32(1 - less(limit[r], sum[r]))
		}
	}
	for r, k := range state {
		state[r] = min(k, uint32(units-1)) // rounding may have made the limit reach the total
	}
}

// Column returns the uniforms of one unit in the rows row … row+63: see Uniform. The result is a part
// of scratch, which Column overwrites.
func (s Stream) Column(scratch *[4 * Block]float32, row, unit uint32) *[Block]float32 {
	c := unit % Block
	column(s, scratch, unit/Block*16+c%16, row)
	return (*[Block]float32)(scratch[c/16*Block:])
}

func (s Stream) columnGo(dst *[4 * Block]float32, counter, row uint32) {
	for r := range uint32(Block) {
		x0, x1, x2, x3 := Philox(counter, row+r, s.C2, s.C3, s.K0, s.K1)
		for w, x := range [4]uint32{x0, x1, x2, x3} {
			dst[w*Block+int(r)] = float32(x>>8 | 1)
		}
	}
}
