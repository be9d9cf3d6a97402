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
//	bars, bars:4               bars and stripes of 4×4: all 32 rows, blank and full twice
//	bars:4:distinct            the same, each of the 30 pictures once
//	shifter, shifter:8         patterns of 8 bits beside their shifts, all 768 rows
//	desjardins:0.001           four distant modes of 4×4, flip probability 0.001
//	digits.csv                 one example a row, labels perhaps in the last column
//	digits.npz                 NumPy arrays x and y, or x_train, y_train, x_test, y_test
//	train-images-idx3-ubyte.gz IDX images, with the labels and the test set beside them
//	images.idx,labels.idx      IDX images and labels under any names
//
// Generated data depend on their spec alone, never on the seed of a training
// run, on the machine or on the number of processors: training and evaluation
// see the same rows.
//
// Of bars and shifter, the rows are the whole law; of toy and desjardins they
// are drawn from one that is known. [Set.LogProb] is that law, and so says how
// good a model could be at best.
//
// Values in [0,1] and grey bytes are made binary as [Options].Binarize says: by
// a threshold at one half, which goes to one, or by one draw with the value as
// probability, fixed for all time; or they stay grey. [Set.Binarize] says which
// of these happened, if there was anything to do, and belongs beside every
// number computed from the data.
//
// Whatever is wrong with a file, a spec or the network is an error of one line
// that names the thing and the remedy; malformed input also is [ErrFormat] to
// [errors.Is]. Only a caller's own mistakes in memory (shapes) panic.
package data
