package data

import (
	"context"
	"fmt"
	"io"
	"sync"

	"gorbm/rbm"
)

// The shape of the set, which is MNIST's.
const (
	fontTrain = 60000
	fontTest  = 10000
	fontSide  = 28 // pixels
)

// loadFontDigits draws fontdigits or fontdigits:N, the first N training rows.
// Row i of either part depends on the seed, the part and i only.
func loadFontDigits(ctx context.Context, sp spec, opt Options) (train, test *Set, err error) {
	n, err := sp.rows(fontTrain)
	if err != nil {
		return nil, nil, err
	}
	name := "fontdigits"
	if n < fontTrain {
		name = fmt.Sprintf("fontdigits:%d", n)
	}
	bin, binTest := opt.binarizer(streamTrain), opt.binarizer(streamTest)
	train, test = newFontSet(sp.withSeed(name), n, bin), newFontSet(sp.withSeed("fontdigits")+" test", fontTest, binTest)
	progress := opt.progress("drawing "+name, int64(n+fontTest))
	for _, part := range []struct {
		set *Set
		key rbm.Key
		bin binarizer
	}{{train, dataKey(sp.seed, streamTrain), bin}, {test, dataKey(sp.seed, streamTest), binTest}} {
		if err := part.set.draw(ctx, part.key, part.bin, progress); err != nil {
			return nil, nil, err
		}
	}
	return train, test, nil
}

func newFontSet(name string, n int, bin binarizer) *Set {
	s := &Set{
		Name:     name,
		X:        rbm.NewBits(n, fontSide*fontSide),
		Y:        make([]int32, n),
		Classes:  digitNames(),
		Height:   fontSide,
		Width:    fontSide,
		Binarize: bin.mode,
	}
	bin.keep(s) // of the size of MNIST: never too many
	return s
}

// draw fills a set, a block at a time, and tells progress of every block.
func (s *Set) draw(ctx context.Context, key rbm.Key, bin binarizer, progress io.Writer) error {
	const block = 256
	pens := sync.Pool{New: func() any { return newDigitPen() }}
	var mu sync.Mutex
	return forBlocks(ctx, s.Len(), block, func(lo, hi int) {
		pen := pens.Get().(*digitPen)
		defer pens.Put(pen)
		for i := lo; i < hi; i++ {
			s.Y[i] = int32(pen.draw(key.Child(uint64(i))))
			bin.picture(s, i, pen.grey.Pix)
		}
		mu.Lock()
		defer mu.Unlock()
		// A display that fails is no reason not to have the data.
		progress.Write(make([]byte, hi-lo))
	})
}
