// Package train fits RBMs to data by stochastic gradient ascent on the
// likelihood, with any estimator of the negative phase.
//
// A Trainer takes steps; observers see each of them; metrics judge the model
// now and then. What a run draws at random derives from its seed by a path of
// purposes and steps, so observers cannot disturb training, and a run that is
// saved and loaded goes on with the same bits.
package train
