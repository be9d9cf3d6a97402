package vec

import "sync/atomic"

// A Level is an instruction set for which there are kernels. All levels give identical results.
type Level int32

const (
	Go     Level = iota // plain Go, which defines the results
	AVX2                // AVX2, POPCNT and BMI1
	AVX512              // AVX2, POPCNT, BMI1, BMI2 and AVX-512 F, BW, DQ and VL
)

// String returns "go", "avx2" or "avx512".
func (l Level) String() string { return [...]string{"go", "avx2", "avx512"}[l] }

// level is the level in use. It is atomic because a test may change it
// while goroutines of an earlier test still run.
var level atomic.Int32

func init() { level.Store(int32(Best())) }

// InUse returns the level of the kernels: Best, or the level of SetLevel.
func InUse() Level { return Level(level.Load()) }

// SetLevel sets the level of the kernels and returns a function that restores the
// previous level. It is for tests, which run every level up to Best in one process. It
// panics if l is above Best.
func SetLevel(l Level) (restore func()) {
	if l < Go || l > Best() {
		panic("vec: this machine does not have that level")
	}
	old := level.Swap(int32(l))
	return func() { level.Store(old) }
}
