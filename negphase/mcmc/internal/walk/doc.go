// Package walk holds what the walks of package mcmc draw from and score
// with: whole-number weights, lists of sites of equal weight, sums of blocks
// of weights, whole layers of them, and products of many probabilities.
//
// Weights are whole numbers, so that a sum of them is exact in any order: a
// total that is kept current by differences is the total, the normaliser of a
// reversed walk comes by adding and subtracting without loss, and a draw falls
// on each site with exactly its share. That the weights are rounded does no
// harm. Any positive function of the state is a valid proposal, as long as the
// walk and its reverse are scored with the same function.
//
// A flip in an RBM changes the weights of a whole layer. A Dense layer renews
// them in one pass, by assembly where the machine has it; all levels of
// instructions give the bits of the plain Go beside it.
package walk
