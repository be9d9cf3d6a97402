// Package rbm implements the restricted Boltzmann machine: its parameters and
// conditionals, energies and free energies, the tempered Gibbs step, annealing, and
// the ascent step of training. Its subpackages include exact enumeration (exact),
// estimates of log Z (partition) and model files (modelfile).
//
// A training step has three parts. HiddenMean turns a minibatch V
// into the positive phase, the Batch (V, p(h|V)). An estimator of package
// negphase advances its chains, which are States, by Step, and returns the negative
// phase, a Batch of weighted particles. An Ascent moves the parameters along the
// difference of the phases; its Rule is the optimiser. For an objective of classes, such as
// log p(y|x), and for rows without a class, an ObjectivePhase replaces the positive phase.
//
// # Layout
//
// A layer is a list of groups of units; the units of a group are of one kind (package units).
// States are rows, one for each example or chain: bits, or float32 in a layer with real units.
// Weights are stored in panels of 64 hidden units. A panel has a row of 64 weights for
// every visible unit. Sums over active visible units therefore add rows of a panel, and an
// update adds scaled hidden means to the same rows.
//
// # Constraints
//
// A Constraint restricts a model to the states in which a fixed number of units is on. Means
// and draws of hidden units then follow a conditional Bernoulli distribution. Every function
// that reads a model respects its constraint or fails.
//
// # Numbers
//
// Parameters are float32. Every kernel adds in one documented order, so
// results do not depend on the number of processors. Quantities that evaluate a
// model, such as free energies, are computed in float64.
//
// # Where to begin
//
// Read RBM and New, then HiddenMean, States and Step, then Ascent. The examples are:
//
//   - Example trains a model by contrastive divergence
//   - ExampleRBM_Step runs chains at two temperatures
//   - ExampleRBM_ClassLogProb classifies
//   - ExampleNewBase draws from independent units whose means are those of the data
package rbm
