package vec

import (
	"math"
	"testing"
)

func TestQuick(t *testing.T) {
	var worst float64
	for x := float32(-86.9); x < 86.9; x += 0.0011 {
		worst = max(worst, math.Abs(float64(exp32(x))/math.Exp(float64(x))-1))
	}
	t.Log("exp32", worst)
	worst = 0
	for x := -700.0; x < 700; x += 0.0113 {
		worst = max(worst, math.Abs(Exp(x)/math.Exp(x)-1))
	}
	t.Log("Exp", worst)
	worst = 0
	for x := 1e-300; x < 1e300; x *= 1.00113 {
		worst = max(worst, math.Abs(Log(x)-math.Log(x))/math.Max(1e-300, math.Abs(math.Log(x))))
	}
	t.Log("Log", worst)
}

func BenchmarkExp(b *testing.B) {
	x := 0.0
	for b.Loop() {
		x += Exp(-x)
	}
}
func BenchmarkLog(b *testing.B) {
	x := 1.5
	for b.Loop() {
		x = 2 + Log(x)
	}
}
func BenchmarkExpLib(b *testing.B) {
	x := 0.0
	for b.Loop() {
		x += math.Exp(-x)
	}
}
