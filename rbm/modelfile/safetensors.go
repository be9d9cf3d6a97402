package modelfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"gorbm/rbm"
	"gorbm/rbm/finitejson"
)

// tensorChunk is the number of elements that are written or read at a time.
const tensorChunk = 1 << 14

// A tensor is an entry of a safetensors header.
type tensor struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// WriteSafetensors writes m and its metadata as a safetensors file: float32 tensors weights
// [visible, hidden], visible_bias and hidden_bias, and other parameters of units.
func WriteSafetensors(w io.Writer, m *rbm.RBM, about About) error {
	weights := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	type part struct {
		name  string
		shape []int64
		data  []float32
	}
	parts := []part{
		{tensorHidden, []int64{int64(m.Hidden())}, m.HiddenBias},
		{tensorWeights, []int64{int64(m.Visible()), int64(m.Hidden())}, weights.Data},
	}
	for _, t := range unitTensors(m) {
		data := t.Data.([]float32)
		parts = slices.Insert(parts, len(parts)-1, part{t.Name, []int64{int64(len(data))}, data})
	}
	header := map[string]any{"__metadata__": metadata(m, about)}
	end := int64(0)
	for _, p := range parts {
		lo := end
		end += 4 * int64(len(p.data))
		header[p.name] = tensor{"F32", p.shape, [2]int64{lo, end}}
	}
	text, err := finitejson.Marshal(header)
	if err != nil {
		return err
	}
	if len(text) > maxHeader-8 {
		return fmt.Errorf("the metadata of the model take %d bytes; at most %d can be read back", len(text), maxHeader-8)
	}
	for len(text)%8 != 0 { // the format requires aligned tensors
		text = append(text, ' ')
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)); err != nil {
		return err
	}
	var b []byte
	for _, p := range parts {
		for block := range slices.Chunk(p.data, tensorChunk) { // binary.Write takes memory for all
			b, _ = binary.Append(b[:0], binary.LittleEndian, block) // fails for other types only
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadSafetensors reads a model from a file of size bytes, with the tensors of
// WriteSafetensors. The dtype of these tensors may be F32 or F64, and the metadata may be missing. It ignores
// other tensors. The error wraps rbm.ErrFormat.
func ReadSafetensors(r io.ReaderAt, size int64) (*rbm.RBM, About, error) {
	bad := func(format string, args ...any) (*rbm.RBM, About, error) {
		return nil, About{}, badFormat(format, args...)
	}
	var start [8]byte
	if _, err := r.ReadAt(start[:], 0); err != nil {
		return bad("not a safetensors file: it is cut short")
	}
	n := binary.LittleEndian.Uint64(start[:])
	if n > maxHeader || int64(n) > size-8 {
		return bad("not a safetensors file: its header would take %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 8); err != nil {
		return bad("the header is cut short")
	}
	header, err := object(text)
	if err != nil {
		return bad("the header is not JSON of an object: %v", err)
	}
	meta := map[string]string{}
	if raw, ok := header["__metadata__"]; ok {
		if _, err := object(raw); err != nil {
			return bad("the metadata are not an object: %v", err)
		}
		if err := json.Unmarshal(raw, &meta); err != nil {
			return bad("the metadata are not text: %v", err)
		}
		delete(header, "__metadata__")
	}
	tensors := map[string]tensor{}
	for name, raw := range header {
		var t tensor
		if err := json.Unmarshal(raw, &t); err != nil {
			return bad("tensor %.40q is not described as the format asks", name)
		}
		tensors[name] = t
	}
	body := size - 8 - int64(n)
	visible, hidden, err := checkTensors(tensors, body)
	if err == nil {
		err = checkCover(tensors, body)
	}
	if err != nil {
		return nil, About{}, err
	}
	return build(visible, hidden, meta, func(name string, dst []float32) error {
		t, ok := tensors[name]
		if n := int64(len(dst)); !ok || name != tensorWeights && !slices.Equal(t.Shape, []int64{n}) || t.DType != "F32" && t.DType != "F64" {
			return badFormat("the model's units need a tensor %s of %d elements of F32 or F64", name, n)
		}
		part := io.NewSectionReader(r, 8+int64(n)+t.Offsets[0], t.Offsets[1]-t.Offsets[0])
		if err := readTensor(part, t.DType, dst); err != nil {
			return fmt.Errorf("%w: tensor %s cannot be read: %w", rbm.ErrFormat, name, err)
		}
		return nil
	})
}

// object returns the members of a JSON object. A duplicate name is an error, because
// readers differ in which member they use.
func object(text []byte) (map[string]json.RawMessage, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return nil, cmp.Or(err, errors.New("it does not begin with {"))
	}
	members := map[string]json.RawMessage{}
	for in.More() {
		t, err := in.Token()
		if err != nil {
			return nil, err
		}
		name := t.(string) // the name of a member is always a string
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("%.40q comes twice", name)
		}
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return nil, err
		}
		members[name] = raw
	}
	if _, err := in.Token(); err != nil {
		return nil, err
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, errors.New("something follows its end")
	}
	return members, nil
}

// checkCover returns an error unless the tensors fill the body of the file without overlaps or gaps, as
// the format requires.
func checkCover(tensors map[string]tensor, body int64) error {
	order := slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		x, y := tensors[a].Offsets, tensors[b].Offsets
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	end := int64(0)
	for _, name := range order {
		o := tensors[name].Offsets
		if o[0] != end || o[1] < o[0] {
			return badFormat("tensor %.40q lies at bytes %d … %d, but the one before it ends at %d; tensors must follow each other", name, o[0], o[1], end)
		}
		end = o[1]
	}
	if end != body {
		return badFormat("the tensors end at byte %d, but the file at %d; it is damaged, or holds something else besides", end, body)
	}
	return nil
}

// readTensor overwrites dst with the elements of a tensor.
func readTensor(r io.Reader, dtype string, dst []float32) error {
	if dtype == "F32" {
		b := make([]byte, 4*min(len(dst), tensorChunk))
		for block := range slices.Chunk(dst, tensorChunk) { // binary.Read takes memory for all
			if _, err := io.ReadFull(r, b[:4*len(block)]); err != nil {
				return err
			}
			if _, err := binary.Decode(b, binary.LittleEndian, block); err != nil {
				return err
			}
		}
		return nil
	}
	doubles := make([]float64, len(dst))
	err := binary.Read(r, binary.LittleEndian, doubles)
	for i, x := range doubles {
		dst[i] = float32(x)
	}
	return err
}

// checkTensors returns an error unless the three tensors of every model exist, with consistent
// shapes and within the body of the file.
func checkTensors(tensors map[string]tensor, body int64) (visible, hidden int, err error) {
	for _, name := range []string{tensorWeights, tensorVisible, tensorHidden} {
		if _, ok := tensors[name]; !ok {
			return 0, 0, badFormat("there is no tensor %s; an RBM has weights [visible, hidden], visible_bias and hidden_bias", name)
		}
	}
	w, v, h := tensors[tensorWeights], tensors[tensorVisible], tensors[tensorHidden]
	if visible, hidden, err = checkShapes(w.Shape, v.Shape, h.Shape); err != nil {
		return 0, 0, err
	}
	for name, t := range tensors {
		want := int64(1)
		for _, n := range t.Shape {
			if n < 0 || n > rbm.MaxParameters || want > rbm.MaxParameters {
				return 0, 0, badFormat("tensor %.40q has an absurd shape", name)
			}
			want *= n
		}
		switch t.DType {
		case "F32":
			want *= 4
		case "F64":
			want *= 8
		default:
			if name == tensorWeights || name == tensorVisible || name == tensorHidden {
				return 0, 0, badFormat("tensor %s has dtype %.10q; it must be F32 or F64", name, t.DType)
			}
			continue // a tensor that is ignored
		}
		if lo, hi := t.Offsets[0], t.Offsets[1]; lo < 0 || hi < lo || hi > body || hi-lo != want {
			return 0, 0, badFormat("tensor %.40q lies at bytes %d … %d of %d, which does not fit its shape; the file is cut short or damaged", name, lo, hi, body)
		}
	}
	return visible, hidden, nil
}
