//go:build !amd64 || noasm

package vec

// Best returns the highest level that the processor and the build support.
func Best() Level { return Go }
