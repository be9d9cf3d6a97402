// Package ranks divides a computation among a group of processes, the ranks.
//
// All ranks run the same program on the same input. Each computes some rows of a table, and
// Gather completes the table on all ranks. The ranks exchange rows only, never sums. Results are therefore
// bit-identical to those of a single process.
//
// There are three forms of a group. A nil group is a single process. Goroutines makes a group
// inside one process, for tests. Start joins the group of mpirun, in programs built
// with the tag mpi.
//
// # Where to begin
//
// Read Each, then Gather. ExampleEach divides a loop among three ranks.
package ranks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// A Group connects one rank to the others of its group. Every rank must call the same methods in
// the same order; a call returns when all ranks have made it. A nil Group has
// one rank. It is not for concurrent use.
type Group struct {
	link
	rank, size  int
	parts, ends []int // working memory: ends of parts, in elements and in bytes
}

// A link transfers bytes between ranks.
type link interface {
	// gather is Gather for bytes in a group of more than one rank.
	gather(buf []byte, ends []int) error
	// close leaves the group.
	close() error
}

// ErrLost says that a rank has left the group.
var ErrLost = errors.New("a rank of the group is lost")

// Rank returns the number of this rank, from 0.
func (g *Group) Rank() int {
	if g == nil {
		return 0
	}
	return g.rank
}

// Size returns the number of ranks, at least 1.
func (g *Group) Size() int {
	if g == nil {
		return 1
	}
	return g.size
}

// Rows divides a number of rows among the ranks, in order and as evenly as possible. It returns the
// range lo … hi−1 of this rank.
func (g *Group) Rows(rows int) (lo, hi int) {
	return g.Rank() * rows / g.Size(), (g.Rank() + 1) * rows / g.Size()
}

// A Number is an element type of tables.
type Number interface {
	uint8 | int32 | uint64 | int64 | float32 | float64
}

// Gather completes a table x on all ranks. x has one part for each rank, in order; part r ends at
// index ends[r]. Each rank must have computed its part. Gather overwrites the parts of the other ranks
// with their results. All ranks must give the same ends. The error wraps ErrLost if a rank has left.
func Gather[T Number](g *Group, x []T, ends []int) error {
	if g.Size() == 1 || len(x) == 0 {
		return nil
	}
	// The byte order of this machine is that of all ranks, because they run the same program.
	size := int(unsafe.Sizeof(x[0]))
	g.ends = g.ends[:0]
	for _, end := range ends {
		g.ends = append(g.ends, end*size)
	}
	return g.gather(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*size), g.ends)
}

// GatherRows is Gather for a table of rows of equal length, in which each rank has
// computed the rows of Rows.
func GatherRows[T Number](g *Group, x []T, rows int) error {
	if g.Size() == 1 || len(x) == 0 {
		return nil
	}
	g.parts = g.parts[:0]
	for r := range g.size {
		g.parts = append(g.parts, (r+1)*rows/g.size*(len(x)/rows))
	}
	return Gather(g, x, g.parts)
}

// Any reports whether mine is true on any rank.
func (g *Group) Any(mine bool) (bool, error) {
	if g.Size() == 1 {
		return mine, nil
	}
	flags := make([]uint8, g.size)
	if mine {
		flags[g.rank] = 1
	}
	err := GatherRows(g, flags, g.size)
	for _, f := range flags {
		mine = mine || f != 0
	}
	return mine, err
}

// Broadcast returns the arguments of rank 0 on every rank: b, or an error if failed is not nil. The arguments
// of other ranks are ignored. The error on the other ranks wraps ErrAgreed.
func (g *Group) Broadcast(b []byte, failed error) ([]byte, error) {
	if g.Size() == 1 {
		return b, failed
	}
	var head [8]byte
	if g.rank == 0 {
		n := int64(len(b))
		if failed != nil {
			n = -1
		}
		binary.LittleEndian.PutUint64(head[:], uint64(n))
	}
	if err := g.gather(head[:], g.rootEnds(len(head))); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint64(head[:]))
	if n < 0 {
		if g.rank > 0 {
			failed = fmt.Errorf("rank 0: %w", ErrAgreed)
		}
		return nil, failed
	}
	if g.rank > 0 {
		b = make([]byte, n)
	}
	return b, g.gather(b, g.rootEnds(len(b)))
}

// rootEnds returns the ends for a table of size bytes that rank 0 has computed alone.
func (g *Group) rootEnds(size int) []int {
	g.ends = g.ends[:0]
	for range g.size {
		g.ends = append(g.ends, size)
	}
	return g.ends
}

// ErrAgreed says that another rank reports the error. This rank should end without a message.
var ErrAgreed = errors.New("the group has failed")

// A Fact is a value that must be equal on all ranks, such as a hash of their data.
type Fact struct {
	Name string
	Sum  [32]byte
}

// maxFacts is the largest number of facts. hostBytes and errorBytes are the sizes of the host name
// and of the error of a rank.
const maxFacts, hostBytes, errorBytes = 3, 64, 400

// Agree returns nil if all ranks give a nil error and equal facts. Otherwise rank 0 returns an error that
// names a rank and its problem, and the other ranks return an error that wraps
// ErrAgreed. It panics if there are more than three facts.
func (g *Group) Agree(failed error, facts ...Fact) error {
	if len(facts) > maxFacts {
		panic("ranks: too many facts")
	}
	if g.Size() == 1 {
		return failed
	}
	const record = maxFacts*32 + hostBytes + errorBytes
	table := make([]byte, g.size*record)
	mine := table[g.rank*record:][:record]
	for i, f := range facts {
		copy(mine[32*i:], f.Sum[:])
	}
	host, _ := os.Hostname()
	copy(mine[maxFacts*32:][:hostBytes], host)
	if failed != nil {
		copy(mine[maxFacts*32+hostBytes:], "!"+failed.Error())
	}
	if err := GatherRows(g, table, g.size); err != nil {
		return errors.Join(failed, err)
	}
	for r := range g.size {
		its := table[r*record:][:record]
		rank := fmt.Sprintf("rank %d on %s", r, text(its[maxFacts*32:][:hostBytes]))
		what := ""
		if problem := text(its[maxFacts*32+hostBytes:]); problem != "" {
			what = rank + ": " + problem[1:]
		}
		for i, f := range facts {
			if what == "" && string(its[32*i:][:32]) != string(table[32*i:][:32]) {
				what = fmt.Sprintf("%s has another %s than rank 0; all ranks must have the same", rank, f.Name)
			}
		}
		switch {
		case what == "":
			continue
		case g.rank > 0:
			return fmt.Errorf("%s: %w", what, ErrAgreed)
		case r == 0:
			return failed
		}
		return errors.New(what)
	}
	return nil
}

// text returns the text before the first zero.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// Close leaves the group, at the end of the program. Calls of the other ranks fail if a rank of
// Goroutines closes too early. If a process ends without Close, mpirun ends all processes.
func (g *Group) Close() error {
	if g == nil {
		return nil
	}
	return g.close()
}
