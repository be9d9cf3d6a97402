package negphase

// Excess overwrites dst, groups × temperatures, with what β multiplies in the
// energies of the particles as the last call left them, in nats: E, or E − E₀
// on the path from a Base; group by group, from the coldest. What it gives of
// one temperature is a draw of the law there, for rbm.Bennett. It panics before
// the first call and if dst has another length.
func (l *ladder) Excess(dst []float64) {
	if l.states == nil || len(dst) != len(l.at) {
		panic("negphase: Excess needs a ladder that was called and one place a particle")
	}
	for i, row := range l.at {
		dst[i] = l.energy(row)
	}
}
