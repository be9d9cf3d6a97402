package ranks

import (
	"errors"
	"fmt"
	"sync"
)

// Goroutines returns the ranks of a group of n inside this process. Each rank is for a
// separate goroutine.
func Goroutines(n int) []*Group {
	m := &meeting{buffers: make([][]byte, n)}
	m.turn.L = &m.mutex
	groups := make([]*Group, n)
	for r := range groups {
		groups[r] = &Group{link: &seat{m, r}, rank: r, size: n}
	}
	return groups
}

// Each calls f in each of the n ranks of such a group, and returns their errors, which
// name the rank. A rank leaves the group when its f returns, or the others would wait
// for one that has failed.
func Each(n int, f func(g *Group) error) error {
	var all sync.WaitGroup
	errs := make([]error, n)
	for r, g := range Goroutines(n) {
		all.Go(func() {
			defer g.Close()
			if err := f(g); err != nil {
				errs[r] = fmt.Errorf("rank %d of %d: %w", r, n, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// A meeting is where the ranks of one process exchange their parts.
type meeting struct {
	mutex   sync.Mutex
	turn    sync.Cond
	buffers [][]byte // for each rank, in the gather under way
	here    int      // ranks that wait for the others
	round   int      // how often all ranks have met
	left    bool     // a rank has left
}

// A seat is the place of one rank.
type seat struct {
	*meeting
	rank int
}

// wait returns when all ranks wait. It must be called with the mutex held.
func (m *meeting) wait() error {
	if m.left {
		return ErrLost
	}
	if m.here++; m.here == len(m.buffers) {
		m.here = 0
		m.round++
		m.turn.Broadcast()
		return nil
	}
	for round := m.round; m.round == round; {
		if m.left {
			return ErrLost
		}
		m.turn.Wait()
	}
	return nil
}

func (s *seat) gather(buf []byte, ends []int) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.buffers[s.rank] = buf
	if err := s.wait(); err != nil {
		return err
	}
	lo := 0
	for r, hi := range ends {
		if r != s.rank {
			copy(buf[lo:hi], s.buffers[r][lo:hi])
		}
		lo = hi
	}
	// Nobody may change yet what others still read.
	return s.wait()
}

func (s *seat) close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.left = true
	s.turn.Broadcast()
	return nil
}
