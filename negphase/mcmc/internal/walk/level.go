package walk

import (
	"sync/atomic"

	"gorbm/rbm"
)

// A Level is an instruction set for which the kernels are written. All levels
// give identical results.
type Level int32

const (
	Go Level = iota // plain Go, which defines the results
	AVX2
	AVX512
)

// String returns "go", "avx2" or "avx512".
func (l Level) String() string { return [...]string{"go", "avx2", "avx512"}[l] }

// best is the level that package rbm has detected.
var best = map[string]Level{"go": Go, "avx2": AVX2, "avx512": AVX512}[rbm.KernelLevel()]

// Best returns the highest level that both the machine and the build support.
func Best() Level { return best }

// level is the level in use. It is atomic because tests change it.
var level atomic.Int32

func init() { level.Store(int32(best)) }

// InUse returns the level that the kernels use.
func InUse() Level { return Level(level.Load()) }

// SetLevel makes the kernels use level l, and returns a function that restores
// the earlier level. It is for tests. It panics if l is above Best.
func SetLevel(l Level) (restore func()) {
	if l < Go || l > best {
		panic("walk: this machine does not have that level")
	}
	old := level.Swap(int32(l))
	return func() { level.Store(old) }
}
