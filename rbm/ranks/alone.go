//go:build !mpi

package ranks

import "fmt"

// Start returns the group of the processes that mpirun has started together with this
// one, or nil if it was started alone. This program was built without the tag mpi: where
// there are several processes, that is an error that says how to build it. silent is set on all but one of
// them, so that the error is printed once.
func Start() (g *Group, silent bool, err error) {
	if rank, size := Launched(); size > 1 {
		return nil, rank > 0, fmt.Errorf("started as %d ranks, but built without MPI; build by: %s", size, Build)
	}
	return nil, false, nil
}
