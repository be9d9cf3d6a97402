// Package oracle tests readers of files. It makes damaged files, and has second parsers
// of CSV text and of NumPy's arrays, which are slow, simple and independent of the readers. A
// reader may refuse a damaged file. If it accepts one, it must read the same as these parsers.
package oracle

import (
	"math/rand/v2"

	"gorbm/rbm"
)

// Each calls do for n damaged files. A damaged file is one of the seeds after one to three edits: a bit is
// flipped, bytes are deleted, repeated, exchanged or cut off, or a word is inserted or overwrites bytes.
// Equal keys give equal files.
func Each(n int, key rbm.Key, seeds []string, words []string, do func(i int, file []byte)) {
	for i := range n {
		r := key.Child(uint64(i)).Rand()
		b := []byte(seeds[i%len(seeds)])
		for range 1 + max(0, r.IntN(5)-2) {
			b = edit(r, b, words)
		}
		do(i, b)
	}
}

// edit returns b after one edit, in a new array.
func edit(r *rand.Rand, b []byte, words []string) []byte {
	if len(b) == 0 {
		return []byte(words[r.IntN(len(words))])
	}
	at := r.IntN(len(b))
	end := min(len(b), at+1+r.IntN(6))
	join := func(parts ...[]byte) (out []byte) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	word := []byte(words[r.IntN(len(words))])
	switch r.IntN(10) {
	default:
		out := join(b)
		out[at] ^= 1 << r.IntN(8)
		return out
	case 1:
		return join(b[:at], b[end:])
	case 2:
		return join(b[:end], b[at:])
	case 3:
		to := r.IntN(len(b))
		out := join(b)
		out[at], out[to] = out[to], out[at]
		return out
	case 4:
		if r.IntN(4) == 0 {
			return join(b[:at])
		}
		return join(b[:at], b[end:], b[at:end])
	case 5, 6:
		return join(b[:at], word, b[min(len(b), at+len(word)):])
	case 7:
		return join(b[:at], word, b[at:])
	}
}
