package train

import (
	"gorbm/negphase/sample"
	"gorbm/rbm"
)

// permutations is the number of random divisions of two samples' union that show how far apart samples are
// by chance. 40 of them give the standard deviation of the distance to 1/√80, some 11 %.
const permutations = 40

// apart returns how much farther apart two samples of states are than two random parts of their union, in
// standard deviations.
func apart(x, y rbm.Values, key rbm.Key) float64 {
	_, z := sample.StatesTest(x, y, permutations, key.Rand())
	return z
}
