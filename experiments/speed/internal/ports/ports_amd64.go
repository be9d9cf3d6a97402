//go:build !noasm

package ports

import "golang.org/x/sys/cpu"

var measurable = cpu.X86.HasAVX512F

// These are not inlined, so that the garbage collector can stop at each call.

//go:noinline
func loadAddsOf(base []float32, n int) { loadAdds(&base[0], n) }

//go:noinline
func addsOf(base []float32, n int) { adds(&base[0], n) }

//go:noinline
func fmasOf(base []float32, n int) { fmas(&base[0], n) }

//go:noinline
func permuteAddsOf(base []float32, n int) { permuteAdds(&base[0], n) }
