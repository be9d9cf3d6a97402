//go:build !amd64 || noasm

package vec

func rowSums(acc []float32, accStride int, base []float32, baseStride, panels int, lists, cuts []uint32) {
	rowSumsGo(acc, accStride, base, baseStride, panels, lists, cuts)
}

func (c *Columns) dots(dst, base []float32, bias *[Tile]float32, lo, n int) {
	c.dotsGo(dst, base, bias, lo, n)
}

func lists(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	listsGo(list, cuts, words, rowStride, wordStride, n, count, first)
}

func scale(dst []float32, stride int, x []float32, a float32, blocks int) {
	scaleGo(dst, stride, x, a, blocks)
}

func addWhere(acc *[Block]float32, words []uint64, coef []float32) { addWhereGo(acc, words, coef) }

func sigmoids(dst []float32, stride int, x []float32, n, width int) {
	sigmoidsGo(dst, stride, x, n, width)
}

func (s Stream) draws(words []uint64, stride int, x, beta []float32, first, j uint32, n, width int) {
	s.drawsGo(words, stride, x, beta, first, j, n, width)
}

func (s Stream) drawMeans(words []uint64, stride int, p []float32, pStride int, first, j uint32, n, width int) {
	s.drawMeansGo(words, stride, p, pStride, first, j, n, width)
}

func (s Stream) uniforms(dst *[Block]float32, row, j uint32) { s.uniformsGo(dst, row, j, Block) }

func exps(dst, x []float32, scale, shift float32) { expsGo(dst, x, scale, shift) }

func softplusParts(factor, part, x []float64) { softplusPartsGo(factor, part, x) }

func blend(dst, x, beta []float32, base *[Block]float32, n int) { blendGo(dst, x, beta, base, n) }

func rises(factor, part []float64, x []float32, from, to float64, fromShift, toShift *[Block]float64, n int) {
	risesGo(factor, part, x, from, to, fromShift, toShift, n)
}

func transpose(m *[Block]uint64) { transposeGo(m) }

func spread(dst, src []Quad, p, q *Quad) { spreadGo(dst, src, p, q) }

func join(sum *Quad, f, b []Quad, p, q *Quad) { joinGo(sum, f, b, p, q) }

func odds(p, q, x []float64) { oddsGo(p, q, x) }
