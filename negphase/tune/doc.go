// Package tune finds settings of a sampler by Bayesian optimisation, as in
// Hamze, Wang and de Freitas, "Self-avoiding random dynamics on integer complex
// systems" (2012), section 4, and by a faster protocol.
//
// A Problem is a system and a Space of settings. A trial runs the sampler for a
// short time with some settings and rewards them. A Process, a Gaussian process,
// models the reward over the space from all trials so far and says which settings
// to try next. What is learned is a Policy: many kernels of good settings, drawn
// from exp(posterior mean / temperature). Except in the paper's protocol it then races
// against the settings before tuning, which stay unless they are clearly beaten:
// tuning may find nothing better, but shall not lose. Adaptation ends there, and the
// states of the trials are discarded. The chain that is then run draws a kernel for every 100
// moves (mcmc.HeldMoves; the paper draws one for each move), whatever its state, so
// that it leaves the distribution invariant.
//
// Points are in the unit cube; a Space maps them to settings.
//
// The Gaussian process, expected improvement and the DIRECT algorithm are
// written here because no maintained Go library has them: gonum, on which this
// package builds, has the Cholesky factor and the optimiser of the
// hyper-parameters. Linear algebra in gonum is equal on every run of one program
// but differs in the last bits between builds with and without assembly. So
// policies are equal for equal seeds and builds, not across builds.
//
// # Where to begin
//
// Read Problem, Options and Policy. ExampleDirect, in example_test.go, shows the search that
// proposes settings.
package tune
