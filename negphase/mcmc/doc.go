// Package mcmc samples binary systems: N bits x, or spins s = 2x − 1, with
// an energy E, with probability ∝ exp(−βE).
//
// A System is a configuration that knows the energy change of each flip. A
// Mover is the settings of a sampler; bound to a system it is a Chain, whose
// moves leave exp(−βE) unchanged:
//
//	Gibbs, Metropolis, ModifiedMetropolis   single sites, in a fixed or random order
//	Exchange                                pairs, at a fixed number of bits that are on
//	BlockGibbs, FlipTheState                both layers of an RBM in turn
//	SwendsenWang                            clusters of an Ising system
//	Sardonics                               self-avoiding walks of many flips, accepted as a whole
//	Intracluster                            such walks at a fixed number of bits that are on
//
// ParseMover reads them from text, such as sardonics:k=1-25:gamma=1.02. Any energy of bits may be a
// System: the example of variable selection writes one for a linear regression.
//
// An Ising system lives on a Graph of couplings, which comes from a Lattice or
// from a file. All its sums are exact (see Graph), so that fields and energies
// never drift and equal energies are identical. So are those of an RBM system,
// whose units are the bits of a restricted Boltzmann machine: see Parameters,
// which holds the parameters for all chains of a model.
//
// # Where to begin
//
// Read System, Mover and Chain, then ParseMover. The examples are in walk_example_test.go,
// stationarity_test.go and kernel_test.go:
//
//   - ExampleParseMover reads a sampler from text
//   - ExampleSardonics and ExampleIntracluster run walks on a lattice
//   - ExampleSwendsenWang flips clusters
//   - ExampleParameters samples an RBM
//   - ExampleSweepOperator computes the matrix of a sweep
//   - Example_variableSelection selects the variables of a regression, a system of your own
package mcmc
