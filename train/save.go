package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"gorbm/rbm"
)

// A saved trainer is
//
//	magic, 8 bytes
//	lengths of header, model and estimator, 3 × uint64, little endian
//	header (JSON), model (safetensors), estimator (its binary form)
//	SHA-256 of all before it
const saveMagic = "gorbmtr\x01"

// saved is the header: where the run was, and what it depends on.
type saved struct {
	Step     int      `json:"step"`
	Settings Settings `json:"settings"`
	Data     string   `json:"data"`
	Hash     string   `json:"data_hash"`
}

// maxSaved caps what Load reads: a model of maxParameters and as much again of
// chains.
const maxSaved = 1 << 33

// Save writes all that the next step needs beside the data: step number,
// settings, parameters, chains.
func (t *Trainer) Save(w io.Writer) error {
	header, err := json.Marshal(saved{t.step, t.settings, t.set.Name, t.set.Hash()})
	if err != nil {
		return err
	}
	var model bytes.Buffer
	if err := t.model.WriteSafetensors(&model, rbm.About{Seed: t.settings.Seed}); err != nil {
		return err
	}
	estimator, err := t.negative.MarshalBinary()
	if err != nil {
		return err
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	head := []byte(saveMagic)
	for _, n := range []int{len(header), model.Len(), len(estimator)} {
		head = binary.LittleEndian.AppendUint64(head, uint64(n))
	}
	for _, b := range [][]byte{head, header, model.Bytes(), estimator} {
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// Load restores what Save wrote into a trainer of the same settings, data and
// shape of model; the parameters are copied into the trainer's model. The
// error wraps rbm.ErrFormat if the file is damaged; it says what differs if it
// belongs to another run. Nothing is changed unless all of it fits.
func (t *Trainer) Load(r io.Reader) error {
	parts, err := readSaved(r)
	if err != nil {
		return err
	}
	var h saved
	if err := json.Unmarshal(parts[0], &h); err != nil {
		return fmt.Errorf("%w: the header of the saved run: %v", rbm.ErrFormat, err)
	}
	want, _ := json.Marshal(t.settings) // as in Save
	got, _ := json.Marshal(h.Settings)
	switch {
	case h.Step < 0 || h.Step > MaxSteps:
		return fmt.Errorf("%w: the saved run is at step %d", rbm.ErrFormat, h.Step)
	case !bytes.Equal(got, want):
		return fmt.Errorf("the saved run has other settings: %s, not %s", got, want)
	case h.Hash != t.set.Hash():
		return fmt.Errorf("the saved run was trained on other data: %.60q, not %q", h.Data, t.set.Name)
	}
	m, _, err := rbm.ReadSafetensors(bytes.NewReader(parts[1]), int64(len(parts[1])))
	if err != nil {
		return fmt.Errorf("the model of the saved run: %w", err)
	}
	if m.Visible() != t.model.Visible() || m.Hidden() != t.model.Hidden() || m.Classes != t.model.Classes || m.Classes > 0 && m.Labels != t.model.Labels {
		return fmt.Errorf("the saved model has %d visible and %d hidden units, %d of them %v labels; this one has %d, %d and %d %v",
			m.Visible(), m.Hidden(), m.Classes, m.Labels, t.model.Visible(), t.model.Hidden(), t.model.Classes, t.model.Labels)
	}
	if err := t.negative.UnmarshalBinary(parts[2]); err != nil {
		return fmt.Errorf("the chains of the saved run: %w", err)
	}
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	t.model.SetWeights(w)
	copy(t.model.VisibleBias, m.VisibleBias)
	copy(t.model.HiddenBias, m.HiddenBias)
	t.step, t.elapsed = h.Step, 0
	return nil
}

// readSaved returns header, model and estimator after checking the sum.
func readSaved(r io.Reader) (parts [3][]byte, err error) {
	bad := func(format string, args ...any) ([3][]byte, error) {
		return parts, fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
	}
	var head [len(saveMagic) + 24]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return bad("not a saved run: it is cut short")
	}
	if string(head[:len(saveMagic)]) != saveMagic {
		return bad("not a saved run, or one of another version")
	}
	sum := sha256.New()
	sum.Write(head[:])
	total := uint64(0)
	for i := range parts {
		n := binary.LittleEndian.Uint64(head[len(saveMagic)+8*i:])
		if total += n; n > maxSaved || total > maxSaved {
			return bad("a saved run of %d bytes is out of range", n)
		}
		// The buffer grows with what is really there, not with what is claimed.
		var b bytes.Buffer
		if got, err := io.CopyN(&b, r, int64(n)); err != nil {
			return bad("the saved run is cut short by %d bytes", int64(n)-got)
		}
		parts[i] = b.Bytes()
		sum.Write(parts[i])
	}
	var want [sha256.Size]byte
	if _, err := io.ReadFull(r, want[:]); err != nil {
		return bad("the checksum of the saved run is missing")
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return bad("the checksum of the saved run does not match: the file is damaged")
	}
	return parts, nil
}
