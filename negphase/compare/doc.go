// Package compare holds estimators of the negative phase against the truth, on
// one model whose parameters stand still: how far the running mean of their
// estimates is from the exact negative phase, against Gibbs steps and against
// seconds, and how much of that is bias and how much noise (the
// infinite-swapping paper, Hult, Nyquist & Ringqvist 2020, Figures 2 and 4).
//
//	truth, err := compare.Enumerate(model)
//	curves, err := compare.Run(ctx, model, truth, estimators, settings)
//
// All vectors are moments in float64, in this order: ⟨vhᵀ⟩ row by row, ⟨v⟩,
// ⟨h⟩. As the positive phase has no noise here, the distance between two
// negative phases is that between the two gradients of the likelihood.
package compare
