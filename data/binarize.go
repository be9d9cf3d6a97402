package data

import (
	"context"
	"fmt"

	"gorbm/rbm"
)

// How the values of a set came to be binary: [Set.Binarize]. The last three
// also are what [Options].Binarize may ask for.
const (
	Binary    = "binary"    // they were 0 and 1 already
	Threshold = "threshold" // v ≥ ½ became 1 (for bytes: v ≥ 128)
	Sample    = "sample"    // v became 1 with probability v, drawn once
	None      = "none"      // they stayed grey: Set.Grey
)

// A binarizer says what becomes of the values of one part, training or test
// set, that are neither 0 nor 1.
type binarizer struct {
	mode string  // Threshold, Sample or None
	key  rbm.Key // of Sample's draws: a child for every row, a draw for every column
}

// binarizer returns what the options ask for. The draws of a part, streamTrain
// or streamTest, do not depend on any seed: training and evaluation see the
// same rows, and so do all who quote results.
func (o Options) binarizer(part uint64) binarizer {
	b := binarizer{mode: o.Binarize, key: dataKey(1, streamSample).Child(part)}
	if b.mode == "" {
		b.mode = Threshold
	}
	return b
}

// row returns the key of row i's draws.
func (b binarizer) row(i int) (key rbm.Key) {
	if b.mode == Sample {
		key = b.key.Child(uint64(i))
	}
	return key
}

// one reports whether v, of column j in the row of a key, becomes 1.
func (b binarizer) one(key rbm.Key, j int, v float64) bool {
	if b.mode == Sample && v > 0 && v < 1 {
		return key.Uniform(uint64(j)) < v
	}
	return v >= 0.5
}

// keep gives s, whose X is made, room for grey values if they are to stay. It
// returns a message if there are too many, else "".
func (b binarizer) keep(s *Set) string {
	if b.mode != None {
		return ""
	}
	if why := checkGrey(s.X.Rows, s.X.Cols); why != "" {
		return why
	}
	s.Grey = rbm.NewMatrix(s.X.Rows, s.X.Cols)
	return ""
}

// maxGrey caps the grey values of a set: 1 GiB of them.
const maxGrey = 1 << 28

// checkGrey reports why rows × cols grey values are too many to hold, or "".
func checkGrey(rows, cols int) string {
	if int64(rows)*int64(cols) > maxGrey {
		return fmt.Sprintf("%d rows of %d grey values need more than the 1 GiB that is allowed; binarize them by threshold or sample, or split the file", rows, cols)
	}
	return ""
}

// pictures makes all rows of s from grey bytes, of which 255 is white. There
// must be X.Rows·X.Cols of them.
func (b binarizer) pictures(s *Set, grey []byte) { b.part(s, 0, s.X.Rows, grey) }

// part makes n rows of s from row first on.
func (b binarizer) part(s *Set, first, n int, grey []byte) {
	cols := s.X.Cols
	// Nothing ends this early, so there is no error.
	forBlocks(context.Background(), n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b.picture(s, first+i, grey[i*cols:(i+1)*cols])
		}
	})
}

// A packer makes the rows of a set from the grey bytes that are written to it,
// in order.
type packer struct {
	bin  binarizer
	set  *Set
	next int    // row
	buf  []byte // less than packRows rows
}

// packRows is the number of rows that are packed at once.
const packRows = 2048

func (p *packer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := min(len(b), packRows*p.set.X.Cols-len(p.buf))
		p.buf = append(p.buf, b[:k]...)
		b = b[k:]
		if len(p.buf) == packRows*p.set.X.Cols {
			p.flush()
		}
	}
	return n, nil
}

// flush packs the whole rows that are there.
func (p *packer) flush() {
	rows := min(len(p.buf)/max(p.set.X.Cols, 1), p.set.X.Rows-p.next)
	p.bin.part(p.set, p.next, rows, p.buf)
	p.next += rows
	p.buf = p.buf[:0]
}

// picture makes row i of s, which must be zero, from grey bytes.
func (b binarizer) picture(s *Set, i int, grey []byte) {
	row := s.X.Row(i)
	if b.mode != Sample {
		for j, g := range grey {
			row[j/64] |= uint64(g>>7) << (j % 64)
		}
	} else {
		key := b.row(i)
		for j, g := range grey {
			if g != 0 && b.one(key, j, float64(g)/255) {
				row[j/64] |= 1 << (j % 64)
			}
		}
	}
	if b.mode == None {
		to := s.Grey.Row(i)
		for j, g := range grey {
			to[j] = float32(float64(g) / 255)
		}
	}
}

// byteScale returns the value that is white in data whose bytes go up to most:
// 255 of grey bytes, 1 of bytes that are 0 and 1. In between it cannot be
// known, and a message says so.
func byteScale(most float64) (white float64, why string) {
	switch {
	case most > 1 && most < 128:
		return 0, fmt.Sprintf("bytes up to %g only, so none is white or nearly so; scale them so that white is 255, or to 0 and 1", most)
	case most > 1:
		return 255, ""
	}
	return 1, ""
}
