// Package ranks is a group of processes that share one computation.
//
// The processes, the ranks, run the same program on the same input. Each computes its
// part of the rows of a table, and Gather makes the table whole on all of them. That is
// all they exchange: no sums are formed on the way. So what each rank continues with is
// what one process alone would have, bit for bit.
//
// There are three forms: a nil group is one process alone; Goroutines makes a group
// inside one process, for tests; and Start joins the group of mpirun, in programs built
// with the tag mpi.
//
// # Where to begin
//
// Read Each, then Gather. ExampleEach, in example_test.go, divides a loop among three ranks.
package ranks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// A Group is what one rank knows of its group. Every rank must call the same methods in
// the same order; a call returns when all ranks have made it. A nil Group is
// of one rank. It is not for concurrent use.
type Group struct {
	link
	rank, size  int
	parts, ends []int // scratch: ends of parts, in numbers and in bytes
}

// A link carries bytes between ranks.
type link interface {
	// gather is Gather of bytes in a group of more than one rank.
	gather(buf []byte, ends []int) error
	// close ends the membership.
	close() error
}

// ErrLost is wrapped by the error of every call after a rank has left.
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

// Rows returns the rows lo … hi−1 of rows that are this rank's. Those of the ranks follow
// each other, and their numbers differ by at most one.
func (g *Group) Rows(rows int) (lo, hi int) {
	return g.Rank() * rows / g.Size(), (g.Rank() + 1) * rows / g.Size()
}

// A Number is what tables hold.
type Number interface {
	uint8 | int32 | uint64 | int64 | float32 | float64
}

// Gather makes x equal on all ranks. It consists of one part for each rank, in order:
// part r ends at ends[r]. Each rank has its own part filled; those of the others
// are overwritten. All ranks must give the same ends. The error wraps ErrLost if a rank
// has left.
func Gather[T Number](g *Group, x []T, ends []int) error {
	if g.Size() == 1 || len(x) == 0 {
		return nil
	}
	// The bytes of x, in the order of this machine: all ranks run the same program.
	size := int(unsafe.Sizeof(x[0]))
	g.ends = g.ends[:0]
	for _, end := range ends {
		g.ends = append(g.ends, end*size)
	}
	return g.gather(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*size), g.ends)
}

// GatherRows is Gather of a table of rows of equal length, of which each rank has
// filled its own: see Rows.
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

// Broadcast returns, on every rank, what rank 0 gives: b, or failed if that is not nil.
// What other ranks give has no meaning. Their error then wraps ErrAgreed.
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

// rootEnds returns the ends of a table that is all of rank 0.
func (g *Group) rootEnds(size int) []int {
	g.ends = g.ends[:0]
	for range g.size {
		g.ends = append(g.ends, size)
	}
	return g.ends
}

// ErrAgreed is wrapped by errors that another rank reports: this one should end and be silent.
var ErrAgreed = errors.New("the group has failed")

// A Fact is what all ranks must agree on, such as a hash of their data.
type Fact struct {
	Name string
	Sum  [32]byte
}

// maxFacts is the largest number of facts, and hostBytes and errorBytes the room for a
// rank's host name and error.
const maxFacts, hostBytes, errorBytes = 3, 64, 400

// Agree returns nil if each rank gives no error and the same facts. Else rank 0 returns an error that
// names a rank and what is wrong there, and the other ranks return one that wraps
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

// Close ends the membership in the group, when all ranks have reached the end. A rank of
// goroutines that closes too early is lost to the others. A process that ends without Close is, and
// mpirun then ends them all.
func (g *Group) Close() error {
	if g == nil {
		return nil
	}
	return g.close()
}
