//go:build !amd64 || noasm

package vec

// Best returns the highest level that the machine and the build have.
func Best() Level { return Go }
