// Package mcmc draws states of binary systems from the distribution ∝ exp(−βE).
// A state is N bits x, or spins s = 2x − 1, and E is its energy.
//
// A System is a state that knows the energy change of each flip. A Mover
// has the settings of a sampler. Its Bind returns a Chain, whose moves leave
// the distribution ∝ exp(−βE) invariant. These are the Movers:
//
//	Gibbs, Metropolis, ModifiedMetropolis   single sites, in a fixed or random order
//	Exchange                                pairs of an active and an inactive site
//	BlockGibbs, FlipTheState                both layers of an RBM in turn
//	SwendsenWang, Wolff                     clusters of an Ising system
//	Sardonics                               self-avoiding walks of many flips, accepted as a whole
//	Intracluster                            such walks at a fixed number of active sites
//	Tempering                               replicas at several temperatures
//	Mixture                                 several settings of Sardonics, chosen at random
//
// ParseMover parses a Mover from text, such as sardonics:k=1-25:gamma=1.02. You can write a System for
// any energy of bits: Example_variableSelection does so for a linear regression.
//
// An Ising system has the couplings of a Graph, which is made from a Lattice or
// read from a file. The bits of an RBM system are the units of a restricted Boltzmann machine; systems of
// one model share its Parameters. Both types sum fields and energies
// exactly (see Graph): rounding errors do not accumulate over flips, and equal
// energies compare as equal.
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
