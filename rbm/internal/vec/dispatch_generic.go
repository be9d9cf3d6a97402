//go:build !amd64 || noasm

package vec

func scale(dst, x []float32, stride int, a []float32, width int) { scaleGo(dst, x, stride, a, width) }

func (s Stream) draws(words []uint64, stride int, x, beta []float32, first, j uint32, n, width int) {
	s.drawsGo(words, stride, x, beta, first, j, n, width)
}

func (s Stream) drawMeans(words []uint64, stride int, p []float32, pStride int, first, j uint32, n, width int) {
	s.drawMeansGo(words, stride, p, pStride, first, j, n, width)
}

func (s Stream) uniforms(dst *[Block]float32, row, j uint32) { s.uniformsGo(dst, row, j, Block) }

func quadMeans(all, one, two, on, off, upper, first, second []float64, weight *[quad]float64) {
	quadMeansGo(all, one, two, on, off, upper, first, second, weight)
}

func nonzeroWord(x []float32) uint64 { return nonzeroWordGo(x) }
