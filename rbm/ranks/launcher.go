package ranks

import (
	"os"
	"strconv"
)

// Build is the command that builds programs that can run as several ranks.
const Build = "CC=mpicc go build -tags mpi ./cmd/..."

// Launched returns the number of this process and of all processes that mpirun or srun
// has started together, as Open MPI, or MPICH and Slurm, say it: 0 of 1 if none has.
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
