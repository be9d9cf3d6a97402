//go:build !mpi

package ranks

import "fmt"

// Start returns nil for a process that was started alone. If mpirun has started several processes, it
// returns an error that says how to build with MPI, because this program was built without the tag mpi.
// silent is set on all ranks except 0, so that the error is printed once.
func Start() (g *Group, silent bool, err error) {
	if rank, size := Launched(); size > 1 {
		return nil, rank > 0, fmt.Errorf("started as %d ranks, but built without MPI; build by: %s", size, Build)
	}
	return nil, false, nil
}
