//go:build mpi

package ranks

/*
#include <mpi.h>
#include <sched.h>
#include <time.h>

static int start(int *rank, int *size) {
	int provided;
	int err = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
	if (err == MPI_SUCCESS && provided < MPI_THREAD_SERIALIZED) err = MPI_ERR_OTHER;
	if (err == MPI_SUCCESS) err = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (err == MPI_SUCCESS) err = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	if (err == MPI_SUCCESS) err = MPI_Comm_size(MPI_COMM_WORLD, size);
	return err;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// gather polls for as long as an exchange usually takes, then sleeps between polls. A rank
// that waits long, as for measurements of rank 0, therefore frees its core. The waiting functions of
// MPI keep the core busy.
static int gather(void *buf, const int *counts, const int *places) {
	MPI_Request request;
	int done = 0;
	double since = now();
	int err = MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buf, counts, places, MPI_BYTE, MPI_COMM_WORLD, &request);
	while (err == MPI_SUCCESS) {
		err = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (err != MPI_SUCCESS || done) break;
		if (now() - since < 100e-6) {
			sched_yield();
		} else {
			struct timespec nap = {0, 20000};
			nanosleep(&nap, NULL);
		}
	}
	return err;
}
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"unsafe"
)

// Start returns the group of the processes that mpirun or srun has started together, or nil if this
// process was started alone. silent is set on all ranks except 0, so that an error is printed
// once.
func Start() (g *Group, silent bool, err error) {
	rank, size := Launched()
	if _, pmix := os.LookupEnv("PMIX_RANK"); size == 1 && !pmix {
		return nil, false, nil
	}
	// Otherwise Open MPI would print its stack traces instead of those of Go.
	if _, given := os.LookupEnv("OMPI_MCA_opal_signal"); !given {
		os.Setenv("OMPI_MCA_opal_signal", "6")
	}
	var r, n C.int
	if code := C.start(&r, &n); code != C.MPI_SUCCESS {
		return nil, rank > 0, fmt.Errorf("MPI does not start: %w", mpiError(code))
	}
	g = &Group{rank: int(r), size: int(n)}
	g.link = &mpi{counts: make([]C.int, g.size), places: make([]C.int, g.size)}
	return g, g.rank > 0, nil
}

// mpi is the link by MPI_COMM_WORLD. Any thread may call it, one at a time.
type mpi struct{ counts, places []C.int }

func (m *mpi) gather(buf []byte, ends []int) error {
	if len(buf) == 0 {
		return nil
	}
	if len(buf) > math.MaxInt32 {
		return fmt.Errorf("a table of %d bytes cannot be gathered by MPI, which counts in 32 bits; use fewer chains or a smaller model", len(buf))
	}
	lo := 0
	for r, hi := range ends {
		m.places[r], m.counts[r] = C.int(lo), C.int(hi-lo)
		lo = hi
	}
	if code := C.gather(unsafe.Pointer(&buf[0]), &m.counts[0], &m.places[0]); code != C.MPI_SUCCESS {
		return fmt.Errorf("%w: %w", ErrLost, mpiError(code))
	}
	return nil
}

func (m *mpi) close() error {
	if code := C.MPI_Finalize(); code != C.MPI_SUCCESS {
		return mpiError(code)
	}
	return nil
}

func mpiError(code C.int) error {
	var text [C.MPI_MAX_ERROR_STRING]C.char
	var n C.int
	C.MPI_Error_string(code, &text[0], &n)
	return fmt.Errorf("%s", C.GoStringN(&text[0], n))
}
