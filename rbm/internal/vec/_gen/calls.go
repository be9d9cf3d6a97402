package main

import "gorbm/_gen/kernel"

// part is the condition for plain Go in sweeps, because their assembly needs whole blocks.
const part = "len(m)%Block != 0"

// rowSums64 are the arguments of a row sum in float64, without values.
const rowSums64 = "&acc[0], stride, &base[0], &lists[0], &cuts[0], len(cuts)-1"

// calls are the Go functions of most kernels. The others are in
// dispatch_amd64.go of package vec, because the arguments of their versions differ. AVX2
// has no instruction to compress vectors, so it has no version of lists and nonzero.
var calls = []kernel.Call{
	{Func: "rowSums(acc, base []float32, words []uint64, stride, count, n int, ahead *float32, lines int)",
		Before: "more, moreStride := secondWord(words, stride, count)", Args: "&acc[0], &base[0], &words[0], stride, more, moreStride, n, ahead, lines"},
	{Func: "columnSums(acc, panel []float32, word uint64, n int)", Args: "&acc[0], &panel[0], word, n", Both: true},
	{Func: "maskedSums(dst []float64, dstStride int, x []float32, xStride int, words []uint64, stride, n int)", Args: "&dst[0], dstStride, &x[0], xStride, &words[0], stride, n", Wide: true},
	{Func: "sigmoids(dst []float32, stride int, x []float32, n, width int)", Args: "&dst[0], stride, &x[0], n, width"},
	{Func: "sigmoidsOfSums(dst, x, shifts []float32, n, m int)", Args: "&dst[0], &x[0], &shifts[0], n, m"},
	{Func: "exps(dst, x []float32, scale, shift float32)", Args: "&dst[0], &x[0], len(x), scale, shift"},
	{Func: "blend(dst, x, beta []float32, base *[Block]float32, n int)", Args: "&dst[0], &x[0], &beta[0], &base[0], n"},
	{Func: "rises(factor, part []float64, x []float32, from, to float64, fromShift, toShift *[Block]float64, n int)", Args: "&factor[0], &part[0], &x[0], from, to, &fromShift[0], &toShift[0], n"},
	{Func: "sums(dst, base []float32, words []uint64, count, n int)", Args: "&dst[0], &base[0], &words[0], count, n"},
	{Func: "addSums(dst, base []float32, words []uint64, count, n, ahead int)", Args: "&dst[0], &base[0], &words[0], count, n, 4*Block*ahead"},
	{Func: "addSumsTo(dst, part, base []float32, words []uint64, count, n, ahead int)", Args: "&dst[0], &part[0], &base[0], &words[0], count, n, 4*Block*ahead"},
	{Func: "addCentred(dst, base []float32, words []uint64, count, n, ahead int, mu, gb []float32, gc, lambda *[Block]float32)", Args: "&dst[0], &base[0], &words[0], count, &mu[0], &gb[0], &gc[0], &lambda[0], n, 4*Block*ahead"},
	{Func: "addSumsTimes(dst, base []float32, lists []uint32, values []float32, cuts []uint32)", Args: "&dst[0], &base[0], &lists[0], &cuts[0], &values[0], len(cuts)-1"},
	{Func: "addWhere(acc *[Block]float64, words []uint64, coef []float32)", Args: "&acc[0], &words[0], &coef[0], len(words)"},
	{Func: "addWide(dst []float64, x []float32)", Args: "&dst[0], &x[0], len(x)"},
	{Func: "addNarrow(dst []float32, x []float64)", Args: "&dst[0], &x[0], len(x)"},
	{Func: "centre(steps, mu, gb []float32, gc, lambda *[Block]float32)", Args: "&steps[0], &mu[0], &gb[0], &gc[0], &lambda[0], len(mu)"},
	{Func: "dot64(sum *[dotLanes]float64, x []float32, y []float64)", Args: "&sum[0], &x[0], &y[0], len(x)"},
	{Func: "softplus(l *lanes, x []float64)", Args: "&l[0], &x[0], len(x)"},
	{Func: "odds(on, off []float64, l *lanes, x []float64)", Args: "&on[0], &off[0], &l[0], &x[0], len(x)"},
	{Func: "exps64(dst, x []float64)", Args: "&dst[0], &x[0], len(x)"},
	{Func: "centralNormals(dst, p []float64)", Args: "&dst[0], &p[0], len(p)"},
	{Func: "scaledErfcs(dst, x []float64)", Args: "&dst[0], &x[0], len(x)"},
	{Func: "products(m []float64, e []int64, on, off, table []float64, offsets []uint32)", Args: "&m[0], &e[0], &on[0], &off[0], len(on)/Wide, &table[0], &offsets[0], len(offsets)/quad"},
	{Func: "quadProducts(m *[quad]float64, e *[quad]int64, on, off, upper, first, second []float64)", Args: "&m[0], &e[0], &on[0], &off[0], &upper[0], &first[0], &second[0], len(on)/Wide"},
	{Func: "rowSums64From32(acc []float64, stride int, base []float32, lists []uint32, values []float32, cuts []uint32)", Args: rowSums64, Go: "rowSums64Go", If: "values != nil", Then: "rowSumsTimes64From32", More: ", &values[0]"},
	{Func: "rowSums64From64(acc []float64, stride int, base []float64, lists []uint32, values []float32, cuts []uint32)", Args: rowSums64, Go: "rowSums64Go", If: "values != nil", Then: "rowSumsTimes64From64", More: ", &values[0]"},
	{Func: "draws(s Stream, words []uint64, stride int, x, beta []float32, first, j uint32, n, width int)", Go: "Stream.drawsGo",
		Before: "keys := s.keys(); betas, betaStride := orOnes(beta)",
		Args:   "&words[0], stride, &x[0], Block, betas, betaStride, &keys, int(16*j), int(first), n, WordMask(width)"},
	{Func: "drawMeans(s Stream, words []uint64, stride int, p []float32, pStride int, first, j uint32, n, width int)", Go: "Stream.drawMeansGo",
		Before: "keys := s.keys()", Args: "&words[0], stride, &p[0], pStride, &keys, int(16*j), int(first), n, WordMask(width)"},
	{Func: "uniforms(s Stream, dst *[Block]float32, row, j uint32, width int)", Go: "Stream.uniformsGo",
		Before: "keys := s.keys()", Args: "&dst[0], &keys, int(16*j), int(row)"},
	{Func: "choose(state *[Block]uint32, x []float32, units int, beta, u *[Block]float32)", Args: "&state[0], &x[0], units, &beta[0], &u[0]"},
	{Func: "column(s Stream, dst *[4 * Block]float32, counter, row uint32)", Go: "Stream.columnGo",
		Before: "keys := s.keys()", Args: "&dst[0], &keys, int(counter), int(row)"},
	{Func: "quadMeans(all, one, two, on, off, upper, first, second []float64, weight *[quad]float64)",
		Before: "w := wideWeights(weight)", Args: "&all[0], &one[0], &two[0], &on[0], &off[0], &upper[0], &first[0], &second[0], &w[0], len(all)/Wide"},
	{Func: "lists(list, cuts []uint32, words []uint64, rowStride, wordStride, n, count int, first uint32)", Args: "&list[0], &cuts[0], &words[0], rowStride, wordStride, n, count, first, Block*Block", Wide: true},
	{Func: "chances(p, q, x []float64)", Args: "&p[0], &q[0], &x[0], len(x)", Both: true},
	{Func: "nonzero(list []uint32, values, x []float32) int", Args: "&list[0], &values[0], &x[0], len(x)", Wide: true},
	{Func: "transpose(m *[Block]uint64)", Args: "&m[0]", Wide: true},
	{Func: "widen(dst []float64, x []float32)", Args: "&dst[0], &x[0], len(x)"},
	{Func: "rowSumsTimes(acc, base []float32, lists []uint32, values []float32, cuts []uint32)", Args: "&acc[0], Block, &base[0], &lists[0], &cuts[0], len(cuts)-1, &values[0]"},
	{Func: "denseSums(dst, base []float32, list []uint32, values []float32)", Args: "&dst[0], &base[0], &list[0], &values[0], len(list), len(list)"},
	{Func: "denseRun(dst, plus, base []float32, list []uint32, values []float32, stride, add int)", Before: "more := firstOf(plus)", Args: "&dst[0], more, &base[0], &list[0], &values[0], stride, len(list), add"},
	{Func: "addTimes(dst []float32, dstStride int, x []float32, xStride int, a float32, rows, width int)", Args: "&dst[0], dstStride, &x[0], xStride, a, rows, width"},
	{Func: "sizes(lanes *[sizeLanes]uint32, x []float32)", Args: "&lanes[0], &x[0], len(x)"},
	{Func: "shrink(m []float32, a float32)", Args: "&m[0], len(m), a", Unless: part},
	{Func: "advance(m, x []float32, a float32)", Args: "&m[0], &x[0], len(m), a", Unless: part},
	{Func: "approach(m, x []float32, a float32)", Args: "&m[0], &x[0], len(m), a", Unless: part},
	{Func: "decay(m []float32, l1, l2 float32)", Args: "&m[0], len(m), l1, l2", Unless: part},
	{Func: "advanceRest(m, x, rest []float32, a float32)", Args: "&m[0], &x[0], &rest[0], len(m), a", Unless: part},
	{Func: "approachRest(m, x, rest []float32, a float32)", Args: "&m[0], &x[0], &rest[0], len(m), a", Unless: part},
	{Func: "decayRest(m, rest []float32, l1, l2 float32)", Args: "&m[0], &rest[0], len(m), l1, l2", Unless: part},
	{Func: "transposePanel(dst, panel []float32, down, across int)", Args: "&dst[0], &panel[0], down, across", Both: true},
	{Func: "spread(dst, src []Quad, p, q *Quad)", Args: "&dst[0][0], &src[0][0], &p[0], &q[0], len(dst)", Both: true},
	{Func: "join(sum *Quad, f, b []Quad, p, q *Quad)", Args: "&sum[0], &f[0][0], &b[0][0], &p[0], &q[0], len(b)", Both: true},
	{Func: "fillSubsets(table, a, coef []float64, n int)", Before: "setSubsets(coef, a, n)", Args: "&table[0], &coef[0], len(table)/(Wide*Wide)"},
}
