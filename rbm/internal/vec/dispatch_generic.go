//go:build !amd64 || noasm

package vec

func lists(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32) {
	listsGo(list, cuts, words, rowStride, wordStride, n, count, first)
}

func scale(dst, x []float32, stride int, a []float32, width int) { scaleGo(dst, x, stride, a, width) }

func (s Stream) draws(words []uint64, stride int, x, beta []float32, first, j uint32, n, width int) {
	s.drawsGo(words, stride, x, beta, first, j, n, width)
}

func (s Stream) drawMeans(words []uint64, stride int, p []float32, pStride int, first, j uint32, n, width int) {
	s.drawMeansGo(words, stride, p, pStride, first, j, n, width)
}

func (s Stream) uniforms(dst *[Block]float32, row, j uint32) { s.uniformsGo(dst, row, j, Block) }

func nonzero(list []uint32, values, x []float32) int { return nonzeroGo(list, values, x) }

func quadMeans(all, one, two, on, off, upper, first, second []float64, weight *[quad]float64) {
	quadMeansGo(all, one, two, on, off, upper, first, second, weight)
}

func rowSums64From32(acc []float64, stride int, base []float32, lists []uint32, values []float32, cuts []uint32) {
	rowSums64Go(acc, stride, base, lists, values, cuts)
}

func rowSums64From64(acc []float64, stride int, base []float64, lists []uint32, values []float32, cuts []uint32) {
	rowSums64Go(acc, stride, base, lists, values, cuts)
}

func transpose(m *[Block]uint64) { transposeGo(m) }

func chances(p, q, x []float64) { chancesGo(p, q, x) }

func nonzeroWord(x []float32) uint64 { return nonzeroWordGo(x) }
