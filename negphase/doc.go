// Package negphase estimates the negative phase of an RBM's likelihood
// gradient: the expectation of v p(h|v)ᵀ, v and p(h|v) under the model itself.
//
// Every estimator hands back weighted particles (or, where the states can be
// enumerated, the moments themselves), so each works with every optimiser,
// metric and picture:
//
//	cd     contrastive divergence: κ Gibbs steps from the batch (Hinton 2002)
//	pcd    persistent chains (Tieleman 2008)
//	pt     parallel tempering: replicas at several temperatures that swap
//	       with their neighbours (Desjardins et al. 2010), all in each round
//	       or the even and the odd pairs in turn (Syed et al. 2022)
//	ins    infinite swapping: all permutations of the temperatures at once
//	       (Hult, Nyquist & Ringqvist 2020, Algorithm 1)
//	pins   partial infinite swapping: within blocks of a long ladder (Dupuis et
//	       al. 2012)
//	ucd    unbiased contrastive divergence: pairs of coupled chains that run
//	       until they meet (Qiu, Zhang & Wang 2020)
//	sardonics  chains that move by self-avoiding walks of many flips (Hamze,
//	       Wang & de Freitas 2012)
//	im     such walks at a fixed number of active units (Hamze & de Freitas
//	       2010), which also keep a constraint on that number
//	walk   chains that move by any sampler of package mcmc
//	exact  enumeration, for small models
//
// Those that run a ladder of temperatures (Tempered) say how it exchanges:
// rejection rates, round trips, and where each particle spent its time. On them
// rests the estimate of log Z of package logz.
//
// The temperatures of a ladder are given, or with "tau=auto" tuned until all
// neighbours reject equally often (Syed et al. 2022); their path ends at the
// uniform law or, with "path=data", at the data's base rates.
//
// Samplers of package mcmc may also take the place of Gibbs steps in a
// ladder, as in "pt:tau=1/1.5/2:sardonics:k=1-20".
//
// An estimator is chosen by its Settings, which Parse reads from text such as
// "pt:k=1:chains=20:tau=1/2/3/4/5".
package negphase
