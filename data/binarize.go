package data

import (
	"cmp"
	"context"
	"fmt"

	"gorbm/rbm"
	"gorbm/rbm/memory"
)

// Values of [Set.Binarize], which says how the values of a set became binary. The last three are also
// choices of [Options].Binarize.
const (
	Binary    = "binary"    // the source has 0 and 1
	Threshold = "threshold" // v ≥ ½ became 1 (for bytes: v ≥ 128)
	Sample    = "sample"    // v became 1 with probability v, drawn once
	None      = "none"      // v stayed grey, in Set.Grey
)

// A binarizer makes the values of one part, the training or the test set,
// binary.
type binarizer struct {
	mode string // Threshold, Sample or None
	grey bool   // the values are also kept, in Set.Grey
	// With Standard, the values in the first row.
	origin []float64
	key    rbm.Key // key of the draws of Sample: a child for each row, a draw for each column
}

// binarizer returns the binarizer of a part, streamTrain or streamTest. Its draws do not depend on any
// seed, so all runs and evaluations have the same rows.
func (o Options) binarizer(part uint64) binarizer {
	mode := cmp.Or(o.Binarize, Threshold)
	return binarizer{mode: mode, grey: mode == None || mode == Standard || o.Redraw, key: dataKey(1, streamSample).Child(part)}
}

// emptySet returns an empty set that is named after its file, and its binarizer. part is 0 for the training
// set and 1 for the test set. grey is true if some value lies strictly between the ends of its scale.
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

// row returns the key of the draws of row i.
func (b binarizer) row(i int) (key rbm.Key) {
	if b.mode == Sample {
		key = b.key.Child(uint64(i))
	}
	return key
}

// isOne reports whether v, the value in column j of the row with this key, becomes 1.
func (b binarizer) isOne(key rbm.Key, j int, v float64) bool {
	if b.mode == Sample && v > 0 && v < 1 {
		return key.Uniform(uint64(j)) < v
	}
	return v >= 0.5
}

// keep allocates s.Grey, in the shape of s.X, if grey values are kept. It returns a message if there are
// too many, and "" otherwise.
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

// maxGrey is the largest number of grey values of a set, 1 GiB of them.
const maxGrey = 1 << 28

// checkGrey returns why rows × cols grey values are too many, or "".
func checkGrey(rows, cols int) string {
	if int64(rows)*int64(cols) > maxGrey {
		return fmt.Sprintf("%d rows of %d grey values need more than the 1 GiB that is allowed; binarize them by threshold or sample, or split the file", rows, cols)
	}
	return ""
}

// A packer is a Writer that makes the rows of a set from grey bytes, in order. It converts bytes a few rows
// at a time, because all bytes together would take more memory than training does.
type packer struct {
	bin    binarizer
	set    *Set
	levels *levels // value of each byte; nil: 255 is white
	next   int     // number of the next row
	buf    []byte  // bytes of fewer than packRows rows
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

// flush packs the complete rows in the buffer.
func (p *packer) flush() {
	cols := p.set.X.Cols
	rows := min(len(p.buf)/max(cols, 1), p.set.X.Rows-p.next)
	// The only possible error is the end of the context, and this context never ends.
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
