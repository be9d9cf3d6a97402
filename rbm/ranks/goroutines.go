package ranks

import (
	"errors"
	"fmt"
	"sync"
)

// Goroutines returns the n ranks of a group inside this process. Use each rank in a separate
// goroutine.
func Goroutines(n int) []*Group {
	m := &meeting{buffers: make([][]byte, n)}
	m.turn.L = &m.mutex
	groups := make([]*Group, n)
	for r := range groups {
		groups[r] = &Group{link: &seat{m, r}, rank: r, size: n}
	}
	return groups
}

// Each runs f in n goroutines, the ranks of a group, and returns their errors, which
// name the rank. A rank leaves the group when its f returns, so that the others do not wait
// for a rank that has failed.
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

// A meeting is a barrier at which the ranks of one process exchange their parts.
type meeting struct {
	mutex   sync.Mutex
	turn    sync.Cond
	buffers [][]byte // the table of each rank in the current gather
	here    int      // number of ranks that wait for the others
	round   int      // number of times that all ranks have met
	left    bool     // a rank has left the group
}

// A seat is the link of one rank to the meeting.
type seat struct {
	*meeting
	rank int
}

// wait blocks until all ranks have called it. The caller must hold the mutex.
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
	// A rank must not change its buffer while others read it.
	return s.wait()
}

func (s *seat) close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.left = true
	s.turn.Broadcast()
	return nil
}
