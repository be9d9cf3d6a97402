package data

import (
	"cmp"
	"context"
	"fmt"

	"gorbm/rbm"
	"gorbm/rbm/memory"
)

// How the values of a set became binary: [Set.Binarize]. The last three are the
// choices of [Options].Binarize too.
const (
	Binary    = "binary"    // they are 0 and 1 in the source
	Threshold = "threshold" // v ≥ ½ became 1 (for bytes: v ≥ 128)
	Sample    = "sample"    // v became 1 with probability v, drawn once
	None      = "none"      // they stayed grey: Set.Grey
)

// A binarizer makes the values of one part, the training or the test set,
// binary.
type binarizer struct {
	mode string // Threshold, Sample or None
	grey bool   // the values are kept besides, in Set.Grey
	// Of Standard's values those in the first row.
	origin []float64
	key    rbm.Key // of Sample's draws: a child for every row, a draw for every column
}

// binarizer returns the binarizer of a part, streamTrain or streamTest. Its draws
// do not depend on any seed, so training, evaluation and other people's results
// have the same rows.
func (o Options) binarizer(part uint64) binarizer {
	mode := cmp.Or(o.Binarize, Threshold)
	return binarizer{mode: mode, grey: mode == None || mode == Standard || o.Redraw, key: dataKey(1, streamSample).Child(part)}
}

// emptySet returns an empty set that is named after its file, and its binarizer:
// of part 0, the training set, or 1, the test set. grey says whether some value
// of the parts lies between the ends of their scale.
func (o Options) emptySet(path string, part int, grey bool) (*Set, binarizer) {
	s, bin := &Set{Name: path, Binarize: Binary}, o.binarizer(streamTrain+uint64(part))
	if part == 1 {
		s.Name += " test"
	}
	if grey || bin.mode == Standard {
		s.Binarize = bin.mode
	} else {
		bin.mode, bin.grey = Threshold, false // leaves 0 and 1 as they are
	}
	return s, bin
}

// row returns the key of row i's draws.
func (b binarizer) row(i int) (key rbm.Key) {
	if b.mode == Sample {
		key = b.key.Child(uint64(i))
	}
	return key
}

// isOne reports whether v, of column j in the row of a key, becomes 1.
func (b binarizer) isOne(key rbm.Key, j int, v float64) bool {
	if b.mode == Sample && v > 0 && v < 1 {
		return key.Uniform(uint64(j)) < v
	}
	return v >= 0.5
}

// keep makes s.Grey, of the shape of s.X, if grey values are to stay. It returns
// a message if there are too many, else "".
func (b binarizer) keep(s *Set) string {
	if !b.grey {
		return ""
	}
	if why := checkGrey(s.X.Rows, s.X.Cols); why != "" {
		return why
	}
	if err := memory.Check(fmt.Sprintf("%d rows of %d grey values", s.X.Rows, s.X.Cols), 4*float64(s.X.Rows)*float64(s.X.Cols)); err != nil {
		return err.Error()
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

// A packer makes the rows of a set from the grey bytes that are written to it,
// in order. Only the bits are kept: all bytes would take more memory than
// training does.
type packer struct {
	bin    binarizer
	set    *Set
	levels *levels // what bytes stand for; nil: 255 is white
	next   int     // row
	buf    []byte  // less than packRows rows
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

// flush packs the whole rows that are in the buffer.
func (p *packer) flush() {
	cols := p.set.X.Cols
	rows := min(len(p.buf)/max(cols, 1), p.set.X.Rows-p.next)
	// The only error would be that of the context, which never ends.
	forBlocks(context.Background(), rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p.bin.picture(p.set, p.next+i, p.buf[i*cols:(i+1)*cols], cmp.Or(p.levels, whiteLevels))
		}
	})
	p.next += rows
	p.buf = p.buf[:0]
}

// picture makes row i of s, which must be zero, from grey bytes.
func (b binarizer) picture(s *Set, i int, grey []byte, l *levels) {
	row := s.X.Row(i)
	if b.mode != Sample {
		for k := range row {
			word := uint64(0)
			for j, g := range grey[k*64 : min((k+1)*64, len(grey))] {
				word |= l.on[g] << (j & 63)
			}
			row[k] = word
		}
	} else {
		key := b.row(i)
		for j, g := range grey {
			if v := l.value[g]; v > 0 && b.isOne(key, j, v) {
				row[j/64] |= 1 << (j % 64)
			}
		}
	}
	if b.grey {
		to := s.Grey.Row(i)
		for j, g := range grey {
			to[j] = float32(l.value[g])
		}
	}
}
