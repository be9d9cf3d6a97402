package ranks

import (
	"os"
	"strconv"
)

// Build is the command that builds the programs with MPI.
const Build = "CC=mpicc go build -tags mpi ./cmd/..."

// Launched returns the rank of this process and the number of processes that mpirun or srun
// has started together, from the environment variables of Open MPI, MPICH and Slurm. It returns 0 and 1
// for a process that was started alone.
func Launched() (rank, size int) {
	for _, names := range [][2]string{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}} {
		r, err1 := strconv.Atoi(os.Getenv(names[0]))
		n, err2 := strconv.Atoi(os.Getenv(names[1]))
		if err1 == nil && err2 == nil && r >= 0 && r < n {
			return r, n
		}
	}
	return 0, 1
}
