// Package rbm is the restricted Boltzmann machine: its parameters and
// conditionals, energies and free energies, the tempered Gibbs step, annealing, and
// the ascent step of training. Its subpackages hold exact enumeration (exact),
// estimates of log Z (partition) and model files (modelfile).
//
// A training step uses it like this. HiddenMean turns a minibatch V
// into the positive phase, the Batch (V, p(h|V)). An estimator of package
// negphase takes chains of States through Step and hands back the negative
// phase, a Batch of weighted particles. An Ascent moves the parameters by the
// difference, as its Rule says. For an objective of classes, such as log p(y|x), and for rows without
// a class, an ObjectivePhase takes the place of the positive phase.
//
// # Layout
//
// A layer is a list of groups of a kind of unit, see package units. States are bits, one row
// for each example. Weights are stored once, in panels of
// 64 hidden units; each panel holds a row of 64 weights for every visible unit.
// Sums over active units therefore add rows of a panel, and the update of a
// panel adds scaled hidden means to the same rows.
//
// # Constraints
//
// A model with a Constraint has only the states with a fixed number of units
// on, or different from a reference. Means and draws of hidden units then come row
// by row from the conditional Bernoulli distribution. Every function that reads a model
// respects its constraint or fails.
//
// # Numbers
//
// Parameters are float32. Every kernel has one written order of additions, so
// results do not depend on the number of processors. Quantities that evaluate a
// model, such as free energies, are computed in float64.
//
// # Where to begin
//
// Read RBM and New, then HiddenMean, States and Step, then Ascent. The examples are in
// example_test.go:
//
//   - Example trains a model by contrastive divergence
//   - ExampleRBM_Step runs chains at two temperatures
//   - ExampleRBM_ClassLogProb classifies
//   - ExampleNewBase draws from independent units with the data's means
package rbm
