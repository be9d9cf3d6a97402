package rbm

// A Loop runs independent parts on all processors, with the goroutines that
// the passes of this package run on. Who runs which part has no influence on
// the result if parts share nothing that they write. It is meant to be kept:
// Run allocates nothing from the second time on.
type Loop struct{ job job }

// NewLoop returns a loop whose parts are calls of part.
func NewLoop(part func(i int)) *Loop { return &Loop{job{part: part}} }

// Run calls part(i) for 0 ≤ i < n, in parallel if wide, and returns when all
// have returned. It must not be called while it runs.
func (l *Loop) Run(n int, wide bool) { l.job.run(n, wide) }
