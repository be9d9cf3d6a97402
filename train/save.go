package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"gorbm/rbm"
	"gorbm/rbm/finitejson"
)

// A saved trainer is
//
//	magic, 8 bytes
//	lengths of the parts, 4 × uint64, little endian
//	header (JSON)
//	parameters (float32, little endian): those of the model, the slots of the optimizer's
//	rule, the moving average, the centring offsets, the rests; then states of missing cells
//	estimator (its binary form)
//	extra bytes of the caller
//	SHA-256 of all before it
//
// Rests are the rounding errors of the steps of parameters: see smallRate.
const saveMagic = "gorbmtr\x01"

// partCount is the number of parts: header, parameters, estimator, extra.
const partCount = 4

// saved is the header: the step of the run, and what the run depends on.
type saved struct {
	Step     int      `json:"step"`
	Settings Settings `json:"settings"`
	rbm.Shape

	Rule  string   `json:"rule,omitempty"`  // type of the caller's rule
	Rests []string `json:"rests,omitempty"` // names of the saved rests, in order

	Data string `json:"data"`
	Hash string `json:"data_hash"`
}

// header returns the header for the current state of t.
func (t *Trainer) header() saved {
	h := saved{Step: t.step, Settings: t.settings, Shape: t.model.Shape(), Data: t.set.Name, Hash: t.hash}
	if rule := t.settings.Rule; rule != nil {
		h.Rule = fmt.Sprintf("%T", rule)
	}
	for _, name := range restNames {
		if t.rest(name) != nil {
			h.Rests = append(h.Rests, name)
		}
	}
	return h
}

// restNames are the names of all possible rests, in order.
var restNames = []string{"parameters", "average"}

// rest returns the rests with the given name, or nil if t does not keep them.
func (t *Trainer) rest(name string) *rbm.Parameters {
	switch name {
	case restNames[0]:
		return t.optimizer.ascent.Rest
	case restNames[1]:
		return t.optimizer.ascent.AverageRest
	}
	return nil
}

// maxSaved is the largest number of bytes that Load reads, more than any model that fits in memory takes
// with its velocity, average and chains.
const maxSaved = 1 << 36

// parameters returns the sets of parameters that the next step needs, except for rests.
func (t *Trainer) parameters() []*rbm.Parameters {
	all := append([]*rbm.Parameters{t.model.Parameters()}, t.optimizer.ascent.Slots...)
	if average := t.optimizer.averaged; average != nil {
		all = append(all, average)
	}
	return all
}

// Save writes all that the next step needs apart from the data: step number, settings, parameters and
// chains. It also writes extra, which Load returns.
func (t *Trainer) Save(w io.Writer, extra []byte) error {
	h := t.header()
	header, err := finitejson.Marshal(h)
	if err != nil {
		return err
	}
	var parameters []byte
	for _, p := range t.parameters() {
		parameters = p.AppendTo(parameters)
	}
	a := &t.optimizer.ascent
	for _, x := range [][]float32{a.Mu, a.Lambda} {
		parameters, _ = binary.Append(parameters, binary.LittleEndian, x) // fails for other types only
	}
	for _, name := range h.Rests {
		parameters = t.rest(name).AppendTo(parameters)
	}
	parameters, _ = binary.Append(parameters, binary.LittleEndian, t.gaps.states())
	var estimator []byte
	if t.negative != nil {
		if estimator, err = t.negative.MarshalBinary(); err != nil {
			return err
		}
	}
	parts := [partCount][]byte{header, parameters, estimator, extra}
	head := []byte(saveMagic)
	for _, p := range parts {
		head = binary.LittleEndian.AppendUint64(head, uint64(len(p)))
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	for _, b := range append([][]byte{head}, parts[:]...) {
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// Load restores what Save wrote and returns Save's extra bytes. The settings, the data and the shape of the
// model must be those of t. Only Horizon and Rate may differ, because a run may be extended, or continued
// at another rate. The error wraps rbm.ErrFormat if the file is damaged, and says what differs if it
// belongs to another run. Nothing is changed unless everything fits.
func (t *Trainer) Load(r io.Reader) (extra []byte, err error) {
	parts, err := readSaved(r)
	if err != nil {
		return nil, err
	}
	h, err := t.checkHeader(parts[0])
	if err != nil {
		return nil, err
	}
	a, each := &t.optimizer.ascent, t.model.Parameters().Bytes()
	size := 4*(len(a.Mu)+len(a.Lambda)) + (len(t.parameters())+len(h.Rests))*each + binary.Size(t.gaps.states())
	if len(parts[1]) != size {
		return nil, fmt.Errorf("%w: the saved run has %d bytes of parameters, not %d", rbm.ErrFormat, len(parts[1]), size)
	}
	switch {
	case t.negative == nil && len(parts[2]) > 0:
		return nil, fmt.Errorf("%w: the saved run has %d bytes of chains, but its objective has none", rbm.ErrFormat, len(parts[2]))
	case t.negative != nil:
		if err := t.negative.UnmarshalBinary(parts[2]); err != nil {
			return nil, fmt.Errorf("the chains of the saved run: %w", err)
		}
	}
	b := parts[1]
	for _, p := range t.parameters() {
		b = p.SetFrom(b)
	}
	for _, x := range [][]float32{a.Mu, a.Lambda} {
		n, _ := binary.Decode(b, binary.LittleEndian, x) // b is long enough
		b = b[n:]
	}
	for _, name := range restNames {
		if rest := t.rest(name); rest != nil {
			rest.Zero() // the saved run may not have it
		}
	}
	for _, name := range h.Rests {
		if rest := t.rest(name); rest != nil {
			b = rest.SetFrom(b)
		} else { // not needed with another Horizon, or by this version of gorbm
			b = b[each:]
		}
	}
	_, _ = binary.Decode(b, binary.LittleEndian, t.gaps.states()) // b is long enough
	t.step, t.elapsed = h.Step, 0
	if h.Hash == "" {
		t.hash = ""
	}
	return parts[3], nil
}

// checkHeader decodes a header and checks that it fits t.
func (t *Trainer) checkHeader(text []byte) (saved, error) {
	var h saved
	if err := json.Unmarshal(text, &h); err != nil {
		return saved{}, fmt.Errorf("%w: the header of the saved run: %v", rbm.ErrFormat, err)
	}
	want := t.header()
	h.Settings.Horizon, h.Settings.Rate = want.Settings.Horizon, want.Settings.Rate
	theirs, err1 := finitejson.Marshal(h.Settings)
	ours, err2 := finitejson.Marshal(want.Settings)
	if err := errors.Join(err1, err2); err != nil {
		return saved{}, err
	}
	switch {
	case h.Step < 0 || h.Step > MaxSteps:
		return saved{}, fmt.Errorf("%w: the saved run is at step %d", rbm.ErrFormat, h.Step)
	case !bytes.Equal(theirs, ours):
		return saved{}, fmt.Errorf("the saved run has other settings: %s, not %s", theirs, ours)
	case !slices.Equal(h.Rests, slices.DeleteFunc(slices.Clone(restNames), func(name string) bool { return !slices.Contains(h.Rests, name) })):
		return saved{}, fmt.Errorf("%w: the saved run has second words of %.60q; there are those of %q, in this order", rbm.ErrFormat, h.Rests, restNames)
	case h.Rule != want.Rule:
		return saved{}, fmt.Errorf("the saved run has the rule %.60q of its optimizer, not %q", h.Rule, want.Rule)
	case h.Hash != "" && h.Hash != want.Hash: // "" after Take
		return saved{}, fmt.Errorf("the saved run was trained on other data: %.60q, not %q, or its rows have changed", h.Data, want.Data)
	case h.Shape != want.Shape:
		return saved{}, fmt.Errorf("the saved model has %v; this one has %v", h.Shape, want.Shape)
	}
	return h, nil
}

// readSaved reads the parts and checks their SHA-256.
func readSaved(r io.Reader) (parts [partCount][]byte, err error) {
	bad := func(format string, args ...any) ([partCount][]byte, error) {
		return parts, fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
	}
	var head [len(saveMagic) + 8*partCount]byte
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
		// The buffer grows with the bytes that are there, because a forged length may claim more.
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
