// Package data loads and generates the binary examples that restricted
// Boltzmann machines are trained on, and deals them out in minibatches.
//
// [Load] takes a spec, a name with settings after colons or the path of a file:
//
//	fontdigits                 28×28 digits 0–9 drawn from the embedded Go fonts:
//	                           60000 for training, 10000 for testing
//	fontdigits:1000:seed=2     the first 1000 training rows of another drawing
//	mnist, mnist:55000         MNIST from disk or, failing that, its public mirrors
//	toy                        the same as toy:4,4,2500,0.2
//	toy:4,8,2500,0.2:plain     modes, repeats, copies, flip probability; no labels
//	digits.csv                 one example a row, labels perhaps in the last column
//	digits.npz                 NumPy arrays x and y, or x_train, y_train, x_test, y_test
//
// Generated data depend on their spec alone, never on the seed of a training
// run, on the machine or on the number of processors: training and evaluation
// see the same rows.
//
// All data are binary. Values in [0,1] and grey bytes are thresholded at one
// half, which goes to one; [Set.Binarize] says whether that happened, and
// belongs beside every number computed from the data.
//
// Whatever is wrong with a file, a spec or the network is an error of one line
// that names the thing and the remedy; malformed input also is [ErrFormat] to
// [errors.Is]. Only a caller's own mistakes in memory (shapes) panic.
package data
