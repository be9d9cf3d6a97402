//go:build !noasm

package vec

import "golang.org/x/sys/cpu"

// best is the highest level that the processor supports.
var best = func() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasPOPCNT || !x.HasBMI1:
		return Go
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasBMI2:
		return AVX2
	}
	return AVX512
}()

// Best returns the highest level that the processor and the build support.
func Best() Level { return best }
