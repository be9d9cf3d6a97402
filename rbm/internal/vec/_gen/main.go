// Command _gen writes the assembly of package vec. Run it in its folder:
//
//	go run .
//
// It is a module of its own so that avo stays out of the users' builds.
package main

import "gorbm/_gen/kernel"

var (
	c        = kernel.C
	function = kernel.Function
	arg      = kernel.Arg
	bytes    = kernel.Bytes
	mem      = kernel.Mem
	table    = kernel.Table
	repeat   = kernel.Repeat
)

// A simd is a width of vectors, of which the kernels are methods.
type simd struct{ kernel.SIMD }

var avx2, avx512 = simd{kernel.AVX2}, simd{kernel.AVX512}

func main() {
	avx2.rowSums()
	avx512.rowSums()
	columnSums()
	maskedSums()
	ascent()
	sweeps()
	turn()
	draws()
	small()
	path()
	evaluate()
	weightedSums()
	poisson()
	avx2.fillSubsets()
	avx512.fillSubsets()
	kernel.Write("vec", calls...)
}
