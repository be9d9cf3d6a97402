// Package data loads and generates the examples that restricted Boltzmann
// machines are trained on, and deals them out in minibatches.
//
// [Load] takes a spec: the name of a data set with settings after colons, such
// as toy:4,8,2500,0.2:plain or fontdigits:1000:seed=2, or the path of a file:
// digits.csv, digits.npz, rows.npy, train-images-idx3-ubyte.gz or
// images.idx,labels.idx. [Help] lists all sources, and [LoadTest] reads a test set
// from a separate one. To add one, add a row to the table in source.go and
// a file with its load function.
//
// Generated data depend on their spec only, not on the seed of a training run,
// on the machine or on the number of processors: training and evaluation see
// the same rows. The rows of bars and shifter are all outcomes of a distribution, and
// those of toy and desjardins are drawn from a known one. [Set.LogProb] is that
// distribution. It says how good a model could be at best.
//
// [Options].Scale says which values of a file stand for 0 and 1. In files of spins,
// −1 and +1, −1 does for 0. Values in [0,1] and grey bytes are made binary as [Options].Binarize says: by
// a threshold, or by one draw with the value as probability; or they stay grey.
// [Set.Binarize] says which of these happened, if there was anything to do. It
// should be stated with every number computed from the data.
//
// Errors are one line that names the thing and the remedy. Errors about
// malformed input are [ErrFormat] to [errors.Is]. Only a caller's own mistakes
// in memory (shapes) panic.
//
// # Where to begin
//
// Read Load, Options and Set. The examples are in example_test.go:
//
//   - ExampleLoad loads a generated set, ExampleLoad_bars looks at one, and
//     ExampleLoad_unknown shows an error
//   - ExampleHelp prints the sources
//   - ExampleSet_Visible, ExampleSet_Rows and ExampleSet_Split take rows, with labels, and
//     a part of them
//   - ExampleSet_logProb is the exact probability of rows
//   - ExampleSet_DescribeConstantColumns reports columns without information
//   - ExampleBatches deals shuffled minibatches
//   - ExampleNearest finds the nearest training row
package data
