package data

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// forBlocks calls do(lo, hi) for the blocks of [0,n), each of the given size,
// on as many goroutines as there are processors. Blocks are handed out to
// whoever is free, so what do writes must depend on lo and hi only. It returns
// the context's error if that ends first, with blocks left undone.
func forBlocks(ctx context.Context, n, size int, do func(lo, hi int)) error {
	workers := min(runtime.GOMAXPROCS(0), (n+size-1)/size)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				lo := int(next.Add(1)-1) * size
				if lo >= n {
					return
				}
				do(lo, min(lo+size, n))
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
