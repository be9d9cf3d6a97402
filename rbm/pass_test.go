package rbm

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// traceOfPasses returns all results of passes.
func traceOfPasses(s shape, rows int) *trace {
	tr := &trace{}
	m := s.random(4, 0.3)
	c := NewStates(m, rows)
	c.H.Randomize(NewKey(1))
	data := NewStates(m, rows/2+1)
	data.H.Randomize(NewKey(2))
	m.Step(data, nil, 1, NewKey(3))
	beta := make([]float32, rows)
	for r := range beta {
		beta[r] = 1 / float32(1+r%3)
	}
	hidden, visible := NewMatrix(rows/2+1, m.Hidden()), NewMatrix(rows, m.Visible())
	bits := NewBits(rows/2+1, m.Hidden())
	weight := make([]float32, rows)
	for r := range weight {
		weight[r] = float32(r%4) / float32(rows)
	}
	path := NewStates(m, rows)
	path.Base = randomBase(m, 1, 6)
	for t := range uint64(3) {
		tr.step = int(t)
		m.HiddenMean(hidden, data.V)
		m.Step(path, beta, 1, NewKey(6).Child(t))
		DrawBits(bits, hidden, NewKey(4).Child(t))
		m.Step(c, beta, 2, NewKey(5).Child(t))
		m.VisibleMean(visible, c.H)
		new(Ascent).Step(m, 0.1, 1, Phase{Batch: Batch{V: data.V, H: hidden}}, Phase{Batch: Batch{V: c.V, H: c.Mean, Weight: weight}})
		moments := NewMoments(m)
		moments.Set(Batch{V: c.V, H: c.Mean})
		new(Ascent).Step(m, 0.01, 1, Phase{Moments: moments}, Phase{Batch: Batch{V: c.V, H: c.Mean}})
		free := make([]float64, rows)
		m.FreeEnergy(free, c.V)
		tr.add("hidden means of the data", hidden.Data)
		tr.add("drawn bits", bits.Words)
		tr.add("visible states", c.V.Words)
		tr.add("hidden states", c.H.Words)
		tr.add("hidden means", c.Mean.Data)
		tr.add("energies", c.Energy)
		tr.add("visible means", visible.Data)
		tr.addModel(m)
		tr.add("free energies", free)
		tr.add("visible states on the path", path.V.Words)
		tr.add("hidden states on the path", path.H.Words)
		tr.add("energies on the path", path.Energy)
		tr.add("energies of the base", path.BaseEnergy)
	}
	return tr
}

// forLevelsAndProcessors runs f at every level of the kernels, plain Go first, on several numbers
// of processors.
func forLevelsAndProcessors(f func(name string)) {
	for level := vec.Go; level <= vec.Best(); level++ {
		for _, procs := range []int{1, 4} {
			restore := vec.SetLevel(level)
			fewer := parallel.SetProcessors(procs)
			f(fmt.Sprintf("%v on %d processors", level, procs))
			fewer()
			restore()
		}
	}
}

// Every level of the kernels gives identical results on any number of processors.
func TestLevelsAndProcessors(t *testing.T) {
	shapes := []shape{
		{800, 700, 0, Softmax}, // large enough that one row is divided among processors
		{1, 1, 0, Softmax}, {63, 65, 0, Softmax}, {64, 64, 3, Bernoulli}, {70, 300, 10, Softmax},
		{784, 130, 0, Softmax}, {200, 257, 7, Softmax},
	}
	if testing.Short() {
		shapes = shapes[3:5]
	}
	for k, s := range shapes {
		numbers := []int{1 + k, 130 + k}
		if s.hidden == 700 {
			numbers = []int{1}
		}
		for _, rows := range numbers {
			var want *trace
			for level := vec.Go; level <= vec.Best(); level++ {
				for _, procs := range []int{1, 2, 4, 7} {
					restore := vec.SetLevel(level)
					fewer := parallel.SetProcessors(procs)
					got := traceOfPasses(s, rows)
					fewer()
					restore()
					if want == nil {
						want = got
					}
					if why := got.difference(want); why != "" {
						t.Errorf("%v, %d rows, %v on %d processors: %s, want nothing", s, rows, level, procs, why)
					}
				}
			}
		}
	}
}

func TestKernelLevel(t *testing.T) {
	defer vec.SetLevel(vec.Go)()
	if got := KernelLevel(); got != "go" {
		t.Errorf("level %q, want go", got)
	}
}

// The garbage collector waits until every goroutine can be stopped, and assembly cannot be stopped.
// On a busy machine it also waits for the operating system. Therefore only an eighth of the waits
// must be short, in the best of five rounds. If a pass could not be stopped, none would be.
func TestGarbageCollectorIsNotHeldUp(t *testing.T) {
	if testing.Short() {
		t.Skip("measures pauses")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // on one processor the collector waits for its turn
	m := New(784, 1000, 0, Softmax)
	m.Randomize(0.01, NewKey(1))
	s := NewStates(m, 300)
	mean := NewMatrix(300, 1000)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		var a Ascent
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			m.Step(s, nil, 1, NewKey(i))
			m.HiddenMean(mean, s.V)
			b := Batch{V: s.V, H: mean}
			a.Step(m, 1e-6, 1, Phase{Batch: b}, Phase{Batch: b})
		}
	}()
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	counts := func() []uint64 {
		metrics.Read(sample)
		return append([]uint64(nil), sample[0].Value.Float64Histogram().Counts...)
	}
	var short, long uint64
	for range 5 {
		before := counts()
		for range 20 {
			runtime.GC()
		}
		after := counts()
		short, long = 0, 0
		for i, edge := range sample[0].Value.Float64Histogram().Buckets[1:] {
			n := after[i] - before[i]
			if edge <= 1e-3 {
				short += n
			} else {
				long += n
			}
		}
		if short*8 >= short+long {
			break
		}
	}
	close(stop)
	<-stopped
	if short*8 < short+long {
		t.Errorf("%d stops took up to a millisecond, %d longer", short, long)
	}
}

// Training of 784 × 500 units on a data set of MNIST's size needs less than 120 MiB.
func TestPeakMemory(t *testing.T) {
	const limit = 120 << 10 // in KiB
	if os.Getenv("GORBM_PEAK") != "" {
		m := New(784, 500, 0, Softmax)
		data := NewBits(60000, 784)
		data.Randomize(NewKey(1))
		s := NewStates(m, 100)
		mean := NewMatrix(100, 500)
		var a Ascent
		for i := range uint64(100) {
			pos := data.Slice(int(i)*100, int(i+1)*100)
			m.HiddenMean(mean, pos)
			m.Step(s, nil, 1, NewKey(i))
			a.Step(m, 0.01, 1, Phase{Batch: Batch{V: pos, H: mean}}, Phase{Batch: Batch{V: s.V, H: s.Mean}})
		}
		free := make([]float64, data.Rows)
		m.FreeEnergy(free[:2000], data.Slice(0, 2000))
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(status), "\n") {
			if kb := 0; strings.HasPrefix(line, "VmHWM:") {
				fmt.Sscanf(line, "VmHWM: %d", &kb)
				fmt.Println("peak", kb)
			}
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPeakMemory$")
	cmd.Env = append(os.Environ(), "GORBM_PEAK=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	kb := 0
	if _, err := fmt.Sscanf(string(out), "peak %d", &kb); err != nil || kb == 0 {
		t.Fatalf("no peak in %q", out)
	}
	t.Logf("%d MiB", kb>>10)
	if kb > limit {
		t.Errorf("peak memory of %d MiB: got %v, want at most %v", kb>>10, kb, limit)
	}
}

func TestMeansAllocateNothing(t *testing.T) {
	if parallel.Raced() {
		t.Skip("under the race detector a sync.Pool forgets at random")
	}
	m := shape{130, 200, 10, Softmax}.random(4, 0.3)
	const rows = 2*chunkRows + 9
	v, h := NewBits(rows, 130), NewBits(rows, 200)
	v.Randomize(NewKey(1))
	vm, hm := NewMatrix(rows, 130), NewMatrix(rows, 200)
	for name, f := range map[string]func(){
		"HiddenMean":  func() { m.HiddenMean(hm, v) },
		"VisibleMean": func() { m.VisibleMean(vm, h) },
		"DrawBits":    func() { DrawBits(h, hm, NewKey(2)) },
	} {
		f()
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
}

// Without Energy, Step does not compute energies, and nothing else changes.
func TestStepWithoutEnergy(t *testing.T) {
	m := shape{20, 70, 3, Softmax}.random(4, 1)
	a, b := NewStates(m, 5), NewStates(m, 5)
	b.Energy = nil
	m.Step(a, nil, 2, NewKey(1))
	m.Step(b, nil, 2, NewKey(1))
	for i, w := range a.H.Words {
		if b.H.Words[i] != w {
			t.Fatalf("other states: got %v, want %v", b.H.Words[i], w)
		}
	}
}
