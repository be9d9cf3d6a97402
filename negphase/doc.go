// Package negphase estimates the negative phase of an RBM's likelihood gradient. The negative phase is
// the expectation under the model of v p(h|v)ᵀ, for the weights, and of v and p(h|v), for the biases.
//
// Every estimator but exact returns weighted particles, so each works with every optimiser, metric and
// picture; exact returns the moments. The kinds are cd, pcd, pt, ins, pins, ptt, sardonics, im, walk
// and exact. To add a kind, write a file with its settings and its algorithm, and add a row to the
// table estimatorKinds.
//
// Estimators with a ladder of temperatures (Tempered: pt, ins, pins) measure how the particles of the
// ladder are exchanged: rejection rates, round trips, and the time that each particle spent at each
// temperature. Package logz estimates log Z from these measurements. The temperatures are given or
// tuned: "tau=auto" tunes them until all neighbours reject equally often (Syed et al. 2022), and
// "tau=reach/5" tunes five of them, the hottest included. At β = 0 the path of tempered distributions
// reaches the uniform distribution or, with "path=data", independent units with the base rates of the
// data.
//
// The ladder of ptt consists of models with earlier parameters of the run. The estimator ptt also
// estimates log Z (LogZer), and it may reject an update that goes too far for its chains (Vetoer).
//
// A ladder may use a sampler of package mcmc instead of Gibbs steps, as in
// "pt:tau=1/1.5/2:sardonics:k=1-20".
//
// An estimator is chosen by its Settings, which Parse reads from text such as
// "pt:k=1:chains=20:tau=1/2/3/4/5".
//
// # Where to begin
//
// Read Estimator and Info, then Settings, Parse and New. cd.go is the shortest estimator. The
// examples are in example_test.go:
//
//   - Example chooses an estimator by text and calls it
//   - ExampleParse shows errors in settings
//   - ExampleInfo measures how a ladder exchanges
//   - Example_walks moves chains by self-avoiding walks
//
// ExampleNewWith of package train trains with an estimator from outside this module.
package negphase
