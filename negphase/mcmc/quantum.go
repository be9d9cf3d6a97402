package mcmc

import (
	"fmt"
	"math"
)

const (
	// maxIntegerField bounds the local fields of an integer graph, in quanta:
	// a table over them is at most 1 MB.
	maxIntegerField = 1 << 16
	// maxDivisor is how far below the smallest number the quantum is sought.
	maxDivisor = 64
	// Local fields beyond these are refused: their squares leave float64.
	minScale, maxScale = 0x1p-500, 0x1p500
)

// quantize finds the quantum and makes every J and h a multiple of it.
func (g *Graph) quantize() error {
	var total float64
	for i := range g.field {
		sum := math.Abs(g.field[i])
		_, c := g.Neighbors(i)
		for _, j := range c {
			sum += math.Abs(j)
		}
		g.maxField = max(g.maxField, sum)
		total += sum
	}
	if g.maxField != 0 && (g.maxField < minScale || total > maxScale) {
		return fmt.Errorf("couplings and fields of size %g: scale them, and the temperature, nearer to 1", g.maxField)
	}
	if q, ok := g.integerQuantum(); ok {
		g.setIntegers(q)
		return nil
	}
	// 2⁵² quanta in a local field are exact in float64, 2⁶² in the energy in
	// int64. One step up pays for the roundings that the sums above and the
	// rounding to quanta make.
	_, field := math.Frexp(g.maxField)
	_, energy := math.Frexp(total)
	g.quantum = math.Ldexp(1, max(field-52, energy-62)+1)
	for k, j := range g.coupling {
		g.coupling[k] = math.RoundToEven(j/g.quantum) * g.quantum
	}
	for i, h := range g.field {
		g.field[i] = math.RoundToEven(h/g.quantum) * g.quantum
	}
	return nil
}

// integerQuantum returns the largest quantum of which all numbers are
// multiples to rounding, if it divides the smallest by at most maxDivisor.
func (g *Graph) integerQuantum() (float64, bool) {
	least, most := math.Inf(1), 0.0
	for _, x := range [][]float64{g.coupling, g.field} {
		for _, v := range x {
			if v != 0 {
				least, most = min(least, math.Abs(v)), max(most, math.Abs(v))
			}
		}
	}
	if math.IsInf(least, 1) {
		return 1, true // no couplings, no fields
	}
	for d := 1; d <= maxDivisor; d++ {
		q := least / float64(d)
		if g.maxField/q > maxIntegerField {
			return 0, false
		}
		if multiples(g.coupling, q) && multiples(g.field, q) {
			return most / math.RoundToEven(most/q), true // the nearest to the largest number
		}
	}
	return 0, false
}

// multiples tells whether every x is an integer multiple of q, to the
// roundings of x, of q and of the quotient.
func multiples(x []float64, q float64) bool {
	for _, v := range x {
		k := math.RoundToEven(v / q)
		if math.Abs(v/q-k) > math.Abs(k)*0x1p-51 {
			return false
		}
	}
	return true
}

// setIntegers makes g an integer graph of quantum q.
func (g *Graph) setIntegers(q float64) {
	g.quantum = q
	g.weight = make([]int32, len(g.coupling))
	g.bias = make([]int32, len(g.field))
	for k, j := range g.coupling {
		g.weight[k] = int32(math.RoundToEven(j / q))
		g.coupling[k] = float64(g.weight[k]) * q
	}
	for i, h := range g.field {
		g.bias[i] = int32(math.RoundToEven(h / q))
		g.field[i] = float64(g.bias[i]) * q
	}
	for i := range g.field {
		sum := magnitude(g.bias[i])
		for _, w := range g.weight[g.start[i]:g.start[i+1]] {
			sum += magnitude(w)
		}
		g.maxLocal = max(g.maxLocal, sum)
	}
}

func magnitude(x int32) int32 { return max(x, -x) }
