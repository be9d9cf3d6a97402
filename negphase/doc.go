// Package negphase estimates the negative phase of an RBM's likelihood
// gradient: the expectation of v p(h|v)ᵀ, v and p(h|v) under the model itself.
//
// Every estimator returns weighted particles (or, where the states can be
// enumerated, the moments themselves), so each works with every optimiser,
// metric and picture. The kinds are cd, pcd, pt, ins, pins, ptt, sardonics, im, walk and exact.
// Each has a file with its settings, its algorithm and the
// papers that it comes from; a new kind is such a file and a row of the table
// estimatorKinds.
//
// Estimators with a ladder of temperatures (Tempered: pt, ins, pins) measure how
// it exchanges: rejection rates, round trips, and where each particle spent its
// time. The estimate of log Z of package logz is built on them. The temperatures
// are given, or with "tau=auto" tuned until all neighbours reject equally often
// (Syed et al. 2022), or with "tau=reach/5" five, the hottest of which is tuned too;
// their path ends at the uniform distribution or, with
// "path=data", at the data's base rates.
//
// The ladder of ptt is made of earlier parameters of the run. It knows log Z (LogZer)
// and may reject an update that goes too far for its chains (Vetoer).
//
// Samplers of package mcmc may take the place of Gibbs steps in a ladder, as in
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
