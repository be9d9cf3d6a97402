// Package tune optimises the settings of mcmc.Sardonics by Bayesian optimisation. It implements the
// protocol of Hamze, Wang and de Freitas, "Self-avoiding random dynamics on integer complex
// systems" (2012), section 4.
//
// A Problem is a system and a Space of settings. A Space maps the points of a unit cube to settings. A
// trial runs the sampler for a short time and computes a reward of its settings. A Process, which is a
// Gaussian process, models the reward as a function of the settings. It is fitted to all trials so far
// and proposes the settings of the next trial. The result is a Policy: many kernels, which are good
// settings of the sampler, drawn from exp(posterior mean / temperature). Adaptation ends here, and the states of the trials are discarded. A chain with the policy
// draws a kernel for every 100 moves (mcmc.HeldMoves; the paper draws one for each move). The draws do
// not depend on the state, so the chain leaves the distribution invariant.
//
// The Gaussian process, expected improvement and the DIRECT algorithm are
// implemented here because no maintained Go library has them. The Cholesky factor and the optimiser of the
// hyper-parameters are gonum's. Linear algebra in gonum is reproducible with one build,
// but its last bits differ between builds with and without assembly. So
// policies are identical for equal seeds and builds, but not across builds.
//
// # Where to begin
//
// Read Problem, Options and Policy. ExampleDirect, in example_test.go, shows the search that
// proposes settings.
package tune
