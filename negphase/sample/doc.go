// Package sample draws samples from a model, or from a model given a class or some
// of its inputs, with the proof that the chains have mixed: two sets of chains, one
// started at random states and one at rows of data, must agree in the end.
//
// # Where to begin
//
// Read DrawEach, Query and Draw. ExampleDrawEach, in example_test.go, draws samples and asks
// whether they can be trusted.
package sample
