package mcmc

import (
	"fmt"

	"gorbm/rbm"
)

// RandomState returns n independent fair bits.
func RandomState(n int, key rbm.Key) []uint8 {
	x := make([]uint8, n)
	for i := range x {
		if key.Uniform(uint64(i)) < 0.5 {
			x[i] = 1
		}
	}
	return x
}

// ShellState returns a uniformly random state of n bits of which active differ
// from the reference, all zeros if nil. It is an error if there are no such
// states; it panics if the reference is not of n bits.
func ShellState(n, active int, reference []uint8, key rbm.Key) ([]uint8, error) {
	if active < 0 || active > n {
		return nil, fmt.Errorf("%d of %d bits to differ from the reference: give 0 to %d", active, n, n)
	}
	x := make([]uint8, n)
	if reference != nil {
		if len(reference) != n {
			panic("mcmc: a reference of the wrong length")
		}
		copy(x, reference)
	}
	for _, i := range key.Rand().Perm(n)[:active] {
		x[i] ^= 1
	}
	return x, nil
}

// copyState overwrites dst with a state that came from outside. It panics if
// the lengths differ or the state holds anything but 0 and 1.
func copyState(dst, state []uint8) {
	if len(state) != len(dst) {
		panic("mcmc: a state of the wrong length")
	}
	for _, x := range state {
		if x > 1 {
			panic("mcmc: a state that is not of zeros and ones")
		}
	}
	copy(dst, state)
}
