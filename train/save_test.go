package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// 60 steps equal 25 steps, a Save and a Load into a new trainer, and 35 steps.
func TestLoadGoesOn(t *testing.T) {
	set := toy(t, smallToy)
	eachRun(t, func(t *testing.T, s Settings, labelled bool, kind rbm.Kind) {
		whole := newTrainer(t, s, set, 6, labelled, kind)
		run(t, whole, 60)
		for _, at := range []int{0, 25, 60} {
			first := newTrainer(t, s, set, 6, labelled, kind)
			run(t, first, at)
			b := save(t, first)
			second := newTrainer(t, s, set, 6, labelled, kind)
			run(t, second, 7) // Load must overwrite this
			if _, err := second.Load(bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
			if second.Steps() != at || second.Elapsed() != 0 || !bytes.Equal(save(t, second), b) {
				t.Errorf("loaded at step %d: step %d, saved again it differs", at, second.Steps())
			}
			run(t, second, 60)
			if !second.Model().Equal(whole.Model()) || !bytes.Equal(save(t, second), save(t, whole)) {
				t.Errorf("loaded at step %d it goes on with other bits", at)
			}
		}
	})
}

// The kind of label layer of a model without labels makes no difference.
func TestLoadWithoutLabels(t *testing.T) {
	tr := newTrainer(t, settingsOf(t, "cd:k=1"), toy(t, smallToy), 6, false, rbm.Bernoulli)
	if _, err := tr.Load(bytes.NewReader(save(t, tr))); err != nil {
		t.Error(err)
	}
}

func TestLoadRefusesOtherRuns(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "pcd:chains=8")
	tr := newTrainer(t, s, set, 6, true, rbm.Softmax)
	run(t, tr, 3)
	b := save(t, tr)
	for _, c := range []struct {
		name  string
		other func() *Trainer
		want  string
	}{
		{"batch", func() *Trainer {
			s := s
			s.Batch++
			return newTrainer(t, s, set, 6, true, rbm.Softmax)
		}, fmt.Sprintf(`"batch":%d`, s.Batch)},
		{"seed", func() *Trainer {
			s := s
			s.Seed = 2
			return newTrainer(t, s, set, 6, true, rbm.Softmax)
		}, "settings"},
		{"estimator", func() *Trainer {
			return newTrainer(t, settingsOf(t, "pcd:chains=9"), set, 6, true, rbm.Softmax)
		}, `"chains":8`},
		{"data", func() *Trainer {
			return newTrainer(t, s, toy(t, smallToy+":seed=2"), 6, true, rbm.Softmax)
		}, "other data"},
		{"hidden units", func() *Trainer { return newTrainer(t, s, set, 7, true, rbm.Softmax) }, "6 bernoulli hidden"},
		{"labels", func() *Trainer { return newTrainer(t, s, set, 6, true, rbm.Bernoulli) }, "softmax"},
		{"groups", func() *Trainer {
			label := rbm.Group{Kind: rbm.Softmax, Units: len(set.Classes), Label: true}
			m := rbm.NewGroups(6, rbm.Group{Kind: rbm.Bernoulli, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: set.X.Cols - 3}, label)
			o, err := New(s, set, m)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}, "groups"},
		{"no labels", func() *Trainer { return newTrainer(t, s, set, 6, false, rbm.Softmax) }, "12 visible"},
	} {
		o := c.other()
		before := save(t, o)
		_, err := o.Load(bytes.NewReader(b))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("another %s: got %v, want %s", c.name, err, c.want)
		}
		if !bytes.Equal(save(t, o), before) {
			t.Errorf("another %s: the trainer is changed", c.name)
		}
	}
	// The rate may differ: the new trainer's is used.
	slower := s
	slower.Rate = s.Rate / 2
	o := newTrainer(t, slower, set, 6, true, rbm.Softmax)
	if _, err := o.Load(bytes.NewReader(b)); err != nil || o.Steps() != tr.Steps() {
		t.Fatalf("another rate: %v, step %d", err, o.Steps())
	}
	run(t, o, 4)
	run(t, tr, 4)
	if bytes.Equal(save(t, o), save(t, tr)) {
		t.Error("another rate makes no difference")
	}
}

// Every damaged byte and every truncation is detected, and changes nothing.
func TestLoadRefusesDamage(t *testing.T) {
	set := toy(t, smallToy)
	tr := newTrainer(t, settingsOf(t, negatives["ins"]), set, 6, true, rbm.Softmax)
	run(t, tr, 3)
	b := save(t, tr)
	other := newTrainer(t, settingsOf(t, negatives["ins"]), set, 6, true, rbm.Softmax)
	run(t, other, 5)
	before := save(t, other)
	for i := range b {
		d := bytes.Clone(b)
		d[i] ^= 1 << (i % 8)
		if _, err := other.Load(bytes.NewReader(d)); !errors.Is(err, rbm.ErrFormat) {
			t.Fatalf("byte %d is damaged: got %v, want ErrFormat", i, err)
		}
		if _, err := other.Load(bytes.NewReader(b[:i])); !errors.Is(err, rbm.ErrFormat) {
			t.Fatalf("cut to %d bytes: got %v, want ErrFormat", i, err)
		}
	}
	if !bytes.Equal(save(t, other), before) {
		t.Error("a damaged file has changed the trainer")
	}
}

// seal returns a file of the parts, without extra bytes, with the right checksum.
func seal(parts ...[]byte) []byte {
	parts = append(parts, nil)
	b := []byte(saveMagic)
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(p)))
	}
	for _, p := range parts {
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Files with the right checksum that Save did not write are refused.
func TestLoadRefusesForgeries(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "pcd:chains=8")
	tr := newTrainer(t, s, set, 6, true, rbm.Softmax)
	run(t, tr, 3)
	parts, err := readSaved(bytes.NewReader(save(t, tr)))
	if err != nil {
		t.Fatal(err)
	}
	header := func(change func(h *saved)) []byte {
		var h saved
		if err := json.Unmarshal(parts[0], &h); err != nil {
			t.Fatal(err)
		}
		change(&h)
		b, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if _, err := tr.Load(bytes.NewReader(seal(header(func(*saved) {}), parts[1], parts[2]))); err != nil {
		t.Fatal("unchanged parts are refused: ", err)
	}
	before := tr.Model().Clone()
	for name, b := range map[string][]byte{
		"no header":          seal(nil, parts[1], parts[2]),
		"header of a list":   seal([]byte("[1]"), parts[1], parts[2]),
		"step below 0":       seal(header(func(h *saved) { h.Step = -1 }), parts[1], parts[2]),
		"no model":           seal(parts[0], nil, parts[2]),
		"no chains":          seal(parts[0], parts[1], nil),
		"chains cut":         seal(parts[0], parts[1], parts[2][:len(parts[2])-1]),
		"chains too long":    seal(parts[0], parts[1], append(bytes.Clone(parts[2]), 0)),
		"parts out of order": seal(parts[0], parts[2], parts[1]),
	} {
		if _, err := tr.Load(bytes.NewReader(b)); !errors.Is(err, rbm.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
	if _, err := tr.Load(bytes.NewReader(seal(header(func(h *saved) { h.Hash = "0" }), parts[1], parts[2]))); err == nil {
		t.Error("another hash of the data is accepted")
	}
	// Forged lengths do not allocate memory.
	huge := []byte(saveMagic)
	for range partCount {
		huge = binary.LittleEndian.AppendUint64(huge, 1<<32)
	}
	if _, err := tr.Load(bytes.NewReader(huge)); !errors.Is(err, rbm.ErrFormat) || !strings.Contains(fmt.Sprint(err), "cut short") {
		t.Errorf("4 GiB that are not there: %v", err)
	}
	for i := range 8 * partCount {
		huge[len(saveMagic)+i] = 0xFF
	}
	if _, err := tr.Load(bytes.NewReader(huge)); !errors.Is(err, rbm.ErrFormat) || !strings.Contains(fmt.Sprint(err), "out of range") {
		t.Errorf("2⁶⁴ bytes: %v", err)
	}
	if !tr.Model().Equal(before) || tr.Steps() != 3 {
		t.Error("a forged file has changed the model")
	}
}

// A writer that fails is reported.
func TestSaveReportsTheWriter(t *testing.T) {
	tr := newTrainer(t, settingsOf(t, "cd:k=1"), toy(t, smallToy), 6, true, rbm.Softmax)
	n := len(save(t, tr))
	for room := 0; room < n; room += 97 {
		if err := tr.Save(&limited{room}, nil); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes: %v, want %v", room, n, err, errFull)
		}
	}
}

var errFull = errors.New("full")

// limited is a Writer that fails after that many bytes.
type limited struct{ room int }

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.room {
		return l.room, errFull
	}
	l.room -= len(b)
	return len(b), nil
}

// Whatever the bytes, with their checksum or with a right one, Load either returns an error and leaves the
// model unchanged, or the next step can be tried.
func FuzzLoad(f *testing.F) {
	set, _, err := data.Load(f.Context(), "toy:2,3,4,0.2", data.Options{})
	if err != nil {
		f.Fatal(err)
	}
	s := settingsOf(f, "pt:chains=2:tau=1/2")
	s.Batch = 3
	tr := newTrainer(f, s, set, 2, true, rbm.Softmax)
	run(f, tr, 2)
	b := save(f, tr)
	f.Add(b, false)
	f.Add(b[:len(b)-sha256.Size], true)
	f.Add(b[:40], true)
	f.Add([]byte(saveMagic), false)
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if sealed {
			sum := sha256.Sum256(b)
			b = append(bytes.Clone(b), sum[:]...)
		}
		tr := newTrainer(t, s, set, 2, true, rbm.Softmax)
		before := tr.Model().Clone()
		if _, err := tr.Load(bytes.NewReader(b)); err != nil {
			if !tr.Model().Equal(before) || tr.Steps() != 0 {
				t.Error("a file that was refused has changed the model")
			}
			return
		}
		tr.Step()
	})
}
