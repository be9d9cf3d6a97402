// Package sample draws samples from a model, or from its conditional distribution given a class or some
// of its inputs. It tests whether the chains have mixed: two sets of chains, one
// started at random states and one at rows of data, must have the same distribution in the end.
//
// # Where to begin
//
// Read DrawEach, Query and Draw. ExampleDrawEach, in example_test.go, draws samples and checks
// whether the chains have mixed.
package sample
