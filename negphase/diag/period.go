package diag

import "gonum.org/v1/gonum/mat"

// Period returns 1 if the chain of a transition matrix that has a positive
// stationary law forgets its start in the end: from every state it may reach
// every other, after any number of steps that is large enough. It returns 0 if
// states are out of reach of others, the chain is reducible, and d > 1 if it
// returns to a state after multiples of d steps alone. What counts is which
// probabilities are above 0, however small. It panics if p is not square.
func Period(p mat.Matrix) int {
	n, cols := p.Dims()
	if n != cols {
		panic("diag: a transition matrix that is not square")
	}
	// Steps from state 0 by the shortest way. Where that leads everywhere, the
	// law being stationary, every state leads back.
	steps := make([]int, n)
	for i := range steps {
		steps[i] = -1
	}
	steps[0] = 0
	reached := []int{0}
	for k := 0; k < len(reached); k++ {
		i := reached[k]
		for j := range n {
			if steps[j] < 0 && p.At(i, j) > 0 {
				steps[j] = steps[i] + 1
				reached = append(reached, j)
			}
		}
	}
	if len(reached) < n {
		return 0
	}
	// Every step that is not on a shortest way closes a loop of a multiple of
	// the period.
	period := 0
	for i := range n {
		for j := range n {
			if p.At(i, j) > 0 {
				period = gcd(period, steps[i]+1-steps[j])
			}
		}
	}
	return max(1, period)
}

// gcd returns the greatest common divisor of a ≥ 0 and b.
func gcd(a, b int) int {
	b = max(b, -b)
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
