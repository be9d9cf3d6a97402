package train

import (
	"gorbm/negphase/sample"
	"gorbm/rbm"
)

// permutations is the number of random divisions of two samples, from which follows how far apart they
// are by chance. 40 of them give the standard deviation of the statistic to 1/√80, some 11 %.
const permutations = 40

// apart returns by how many standard deviations two samples of states lie farther
// apart than two random parts of both together do.
func apart(x, y rbm.Values, key rbm.Key) float64 {
	_, z := sample.StatesTest(x, y, permutations, key.Rand())
	return z
}
