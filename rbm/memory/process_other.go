//go:build !(darwin || dragonfly || freebsd || linux || netbsd)

package memory

// process returns nothing, because these systems report no limit of a process.
func process() []limit { return nil }
