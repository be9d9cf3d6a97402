// Package data loads and generates the examples that restricted Boltzmann machines are trained on, and
// draws shuffled minibatches of them.
//
// [Load] takes a spec: the name of a data set with settings after colons, such as toy:4,8,2500,0.2:plain or
// fontdigits:1000:seed=2, or the path of a file: digits.csv, digits.npz, rows.npy,
// train-images-idx3-ubyte.gz or images.idx,labels.idx. [Help] lists all sources, and [LoadTest] reads a
// test set from a separate source. To add a source, add a row to the table in source.go and a file with its
// load function.
//
// Generated data depend on their spec only, not on the seed of a training run, on the machine or on the
// number of processors. Training and evaluation therefore see the same rows. The rows of bars and shifter
// are all outcomes of a distribution; the rows of toy, desjardins and sequences are drawn from a known
// distribution. [Set.LogProb] computes log probabilities under this distribution. The mean of LogProb over
// the rows is the best log-likelihood that a model should reach.
//
// Text files of rows are read in one pass and four steps: bytes, records, facts about each column, and a
// decision from these facts and the options. See text.go. [Set.Readings] says what was decided and why, and which
// option changes it. Where two readings are about equally likely, the error names the options of both.
//
// [Options].Scale says which values of a file stand for 0 and 1. In files of spins, −1 and +1, −1 stands
// for 0. [Options].Binarize says how values in [0,1] and grey bytes are made binary: by a threshold, or by
// one draw with the value as the probability. Grey values may also stay grey. [Set.Binarize] records which
// was done. State Set.Binarize with every number computed from the data.
//
// An error is one line that names the cause and the remedy. Errors about malformed input wrap [ErrFormat].
// Functions panic only if the caller passes wrong shapes.
//
// # Where to begin
//
// Read Load, Options and Set. The examples are in example_test.go:
//
//   - ExampleLoad loads a generated set, ExampleLoad_bars looks at one, and
//     ExampleLoad_unknown shows an error
//   - ExampleHelp prints the sources
//   - ExampleSet_Visible and ExampleSet_Rows return rows, with labels; ExampleSet_Split holds rows out
//   - ExampleSet_logProb is the exact probability of rows
//   - ExampleSet_DescribeConstantColumns reports columns without information
//   - ExampleBatches draws shuffled minibatches
//   - ExampleNearest finds the nearest training row
package data
