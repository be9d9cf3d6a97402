//go:build !amd64 || noasm

package vec

func rowSums(acc, base []float32, lists, cuts []uint32) { rowSumsGo(acc, base, lists, cuts) }

func turn(dst, panel []float32, down, across int) { turnGo(dst, panel, down, across) }

func lists(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	listsGo(list, cuts, words, rowStride, wordStride, n, count, first)
}

func scale(dst, x []float32, stride int, a []float32, width int) { scaleGo(dst, x, stride, a, width) }

func addWhere(acc *[Block]float64, words []uint64, coef []float32) { addWhereGo(acc, words, coef) }

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

func softplus(l *lanes, x []float64) { softplusGo(l, x) }

func odds(on, off []float64, l *lanes, x []float64) { oddsGo(on, off, l, x) }

func addSigned(dst, x []float64, sign float64) { addSignedGo(dst, x, sign) }

func nonzero(list []uint32, values, x []float32) int { return nonzeroGo(list, values, x) }

func exps64(dst, x []float64) { exps64Go(dst, x) }

func products(m []float64, e []int64, on, off, table []float64, offsets []uint32) {
	productsGo(m, e, on, off, table, offsets)
}

func quadProducts(m *[quad]float64, e *[quad]int64, on, off, upper, first, second []float64) {
	quadProductsGo(m, e, on, off, upper, first, second)
}

func quadMeans(all, one, two, on, off, upper, first, second []float64, weight *[quad]float64) {
	quadMeansGo(all, one, two, on, off, upper, first, second, weight)
}

func rowSums64From32(acc []float64, stride int, base []float32, lists []uint32, values []float32, cuts []uint32) {
	rowSums64Go(acc, stride, base, lists, values, cuts)
}

func rowSums64From64(acc []float64, stride int, base []float64, lists []uint32, values []float32, cuts []uint32) {
	rowSums64Go(acc, stride, base, lists, values, cuts)
}

func widen(dst []float64, x []float32) { widenGo(dst, x) }

func rowSumsTimes(acc, base []float32, lists []uint32, values []float32, cuts []uint32) {
	rowSumsTimesGo(acc, base, lists, values, cuts)
}

func addTimes(dst []float32, dstStride int, x []float32, xStride int, a float32, rows, width int) {
	addTimesGo(dst, dstStride, x, xStride, a, rows, width)
}

func blend(dst, x, beta []float32, base *[Block]float32, n int) { blendGo(dst, x, beta, base, n) }

func rises(factor, part []float64, x []float32, from, to float64, fromShift, toShift *[Block]float64, n int) {
	risesGo(factor, part, x, from, to, fromShift, toShift, n)
}

func transpose(m *[Block]uint64) { transposeGo(m) }

func spread(dst, src []Quad, p, q *Quad) { spreadGo(dst, src, p, q) }

func join(sum *Quad, f, b []Quad, p, q *Quad) { joinGo(sum, f, b, p, q) }

func chances(p, q, x []float64) { chancesGo(p, q, x) }

func sums(dst, base []float32, lists, cuts []uint32) { sumsGo(dst, base, lists, cuts) }

func addSums(dst, base []float32, lists, cuts []uint32) { addSumsGo(dst, base, lists, cuts) }

func addSumsTo(dst, part, base []float32, lists, cuts []uint32) {
	addSumsToGo(dst, part, base, lists, cuts)
}

func addSumsTimes(dst, base []float32, lists []uint32, values []float32, cuts []uint32) {
	addSumsTimesGo(dst, base, lists, values, cuts)
}

func addWide(dst []float64, x []float32) { addWideGo(dst, x) }

func addNarrow(dst []float32, x []float64) { addNarrowGo(dst, x) }

func shrink(m []float32, a float32) { shrinkGo(m, a) }

func advance(m, x []float32, a float32) { advanceGo(m, x, a) }

func advanceRest(m, x, rest []float32, a float32) { advanceRestGo(m, x, rest, a) }

func approach(m, x []float32, a float32) { approachGo(m, x, a) }

func approachRest(m, x, rest []float32, a float32) { approachRestGo(m, x, rest, a) }

func decay(m []float32, l1, l2 float32) { decayGo(m, l1, l2) }

func decayRest(m, rest []float32, l1, l2 float32) { decayRestGo(m, rest, l1, l2) }

func nonzeroWord(x []float32) uint64 { return nonzeroWordGo(x) }

func centre(panel, mu, gb []float32, gc, lambda *[Block]float32, dots []float32, sum *[Block]float64) {
	centreGo(panel, mu, gb, gc, lambda, dots, sum)
}
