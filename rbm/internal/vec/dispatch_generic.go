//go:build !amd64 || noasm

package vec

func scale(dst, x []float32, stride int, a []float32, width int) { scaleGo(dst, x, stride, a, width) }

func nonzeroWord(x []float32) uint64 { return nonzeroWordGo(x) }
