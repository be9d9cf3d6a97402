package vec

import "sync/atomic"

// A Level is a set of instructions that the kernels are written in. All levels
// give identical results.
type Level int32

const (
	Go     Level = iota // plain Go, which defines the results
	AVX2                // AVX2, POPCNT and BMI1
	AVX512              // these, AVX-512 F, BW, DQ and VL, and BMI2
)

// String returns "go", "avx2" or "avx512".
func (l Level) String() string { return [...]string{"go", "avx2", "avx512"}[l] }

// level is the level in use. It is atomic only so that a test may change it
// while goroutines of an earlier one wind down.
var level atomic.Int32

func init() { level.Store(int32(Best())) }

// InUse returns the level that the kernels run at: Best, unless SetLevel chose
// another.
func InUse() Level { return Level(level.Load()) }

// SetLevel makes the kernels run at level l and returns a function that restores the
// level before. It is for tests: one process can run every level up to Best. It
// panics if l is above that.
func SetLevel(l Level) (restore func()) {
	if l < Go || l > Best() {
		panic("vec: this machine does not have that level")
	}
	old := level.Swap(int32(l))
	return func() { level.Store(old) }
}
