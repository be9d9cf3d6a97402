package rbm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gorbm/rbm/internal/vec"
)

// About is what a model file says beside the parameters. All of it is kept as
// text in the file's metadata.
type About struct {
	ClassNames  []string // of the label units; may be nil
	Data        string   // the data set that the model was trained on
	LabelColumn string   // which column of the data held the labels, as the commands' -label-column
	Binarize    string   // how its inputs were made binary
	Height      int      // shape of the inputs as a picture; 0 if unknown
	Width       int
	Seed        uint64
	Described   bool // the file says which units are labels; if not, Classes is 0
}

// The tensors of a model file, in every format.
const (
	tensorWeights = "weights"
	tensorVisible = "visible_bias"
	tensorHidden  = "hidden_bias"
)

const (
	fileFormat  = "gorbm"
	fileVersion = "1"
	// fileVersionConstraint is that of models with a constraint: programs which
	// know of none must not pass it over.
	fileVersionConstraint = "2"
	// maxHeader caps the header of a safetensors file (the format allows 100
	// MB; ours are below 1 kB, plus the class names).
	maxHeader = 1 << 20
	// maxUnits and maxParameters cap a model that is read from a file: 4 GiB of
	// weights, kept twice while they are put in order.
	maxUnits      = 1 << 24
	maxParameters = 1 << 30
)

// A tensor is an entry of a safetensors header.
type tensor struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// WriteSafetensors writes m and what is known about it as a safetensors file:
// float32 tensors weights [visible, hidden], visible_bias and hidden_bias, and
// metadata.
func (m *RBM) WriteSafetensors(w io.Writer, about About) error {
	weights := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	parts := []struct {
		name  string
		shape []int64
		data  []float32
	}{
		{tensorHidden, []int64{int64(m.Hidden())}, m.HiddenBias},
		{tensorVisible, []int64{int64(m.Visible())}, m.VisibleBias},
		{tensorWeights, []int64{int64(m.Visible()), int64(m.Hidden())}, weights.Data},
	}
	header := map[string]any{"__metadata__": m.metadata(about)}
	var body bytes.Buffer
	for _, p := range parts {
		lo := int64(body.Len())
		for _, x := range p.data {
			body.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
		}
		header[p.name] = tensor{"F32", p.shape, [2]int64{lo, int64(body.Len())}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if len(text) > maxHeader-8 {
		return fmt.Errorf("the metadata of the model take %d bytes; at most %d can be read back", len(text), maxHeader-8)
	}
	for len(text)%8 != 0 { // the format asks for aligned tensors
		text = append(text, ' ')
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	out = append(append(out, text...), body.Bytes()...)
	_, err = w.Write(out)
	return err
}

func (m *RBM) metadata(about About) map[string]string {
	meta := map[string]string{
		"format":  fileFormat,
		"version": fileVersion,
		"classes": strconv.Itoa(m.Classes()),
		"seed":    strconv.FormatUint(about.Seed, 10),
	}
	if m.Classes() > 0 {
		meta["labels"] = m.LabelKind().String()
	}
	m.Constraint.describe(meta)
	if about.ClassNames != nil {
		names, err := json.Marshal(about.ClassNames)
		if err == nil { // a list of strings always is
			meta["class_names"] = string(names)
		}
	}
	if about.Data != "" {
		meta["data"] = about.Data
	}
	if about.LabelColumn != "" {
		meta["label_column"] = about.LabelColumn
	}
	if about.Binarize != "" {
		meta["binarize"] = about.Binarize
	}
	if about.Height > 0 {
		meta["shape"] = fmt.Sprintf("%dx%d", about.Height, about.Width)
	}
	return meta
}

// ReadSafetensors reads a model from a file of size bytes: three tensors as
// WriteSafetensors writes them, of dtype F32 or F64, with our metadata or
// without any; others are passed over. The error wraps ErrFormat.
func ReadSafetensors(r io.ReaderAt, size int64) (*RBM, About, error) {
	bad := func(format string, args ...any) (*RBM, About, error) {
		return nil, About{}, fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
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
	var header map[string]json.RawMessage
	if err := json.Unmarshal(text, &header); err != nil {
		return bad("the header is not JSON: %v", err)
	}
	meta := map[string]string{}
	if raw, ok := header["__metadata__"]; ok {
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
	if err != nil {
		return nil, About{}, err
	}
	var failed error
	m, about, err := build(visible, hidden, meta, func(name string, dst []float32) {
		t := tensors[name]
		part := io.NewSectionReader(r, 8+int64(n)+t.Offsets[0], t.Offsets[1]-t.Offsets[0])
		if err := readTensor(part, t.DType, dst); err != nil && failed == nil {
			failed = fmt.Errorf("%w: tensor %s cannot be read: %w", ErrFormat, name, err)
		}
	})
	if failed != nil {
		return nil, About{}, failed
	}
	return m, about, err
}

// readTensor fills dst with the elements of a tensor.
func readTensor(r io.Reader, dtype string, dst []float32) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var b [8]byte
	for i := range dst {
		if dtype == "F64" {
			if _, err := io.ReadFull(in, b[:8]); err != nil {
				return err
			}
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[:8])))
			continue
		}
		if _, err := io.ReadFull(in, b[:4]); err != nil {
			return err
		}
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[:4]))
	}
	return nil
}

// checkTensors checks that the three tensors are there, of fitting shapes, and
// lie within the body.
func checkTensors(tensors map[string]tensor, body int64) (visible, hidden int, err error) {
	bad := func(format string, args ...any) (int, int, error) {
		return 0, 0, fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
	for _, name := range []string{tensorWeights, tensorVisible, tensorHidden} {
		if _, ok := tensors[name]; !ok {
			return bad("there is no tensor %s; an RBM has weights [visible, hidden], visible_bias and hidden_bias", name)
		}
	}
	w, v, h := tensors[tensorWeights], tensors[tensorVisible], tensors[tensorHidden]
	if visible, hidden, err = checkShapes(w.Shape, v.Shape, h.Shape); err != nil {
		return 0, 0, err
	}
	for name, t := range tensors {
		want := int64(1)
		for _, n := range t.Shape {
			if n < 0 || n > maxParameters || want > maxParameters {
				return bad("tensor %.40q has an absurd shape", name)
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
				return bad("tensor %s has dtype %.10q; it must be F32 or F64", name, t.DType)
			}
			continue // not ours
		}
		if lo, hi := t.Offsets[0], t.Offsets[1]; lo < 0 || hi < lo || hi > body || hi-lo != want {
			return bad("tensor %.40q lies at bytes %d … %d of %d, which does not fit its shape; the file is cut short or damaged", name, lo, hi, body)
		}
	}
	return visible, hidden, nil
}

// checkShapes checks the shapes of the three tensors against each other.
func checkShapes(w, v, h []int64) (visible, hidden int, err error) {
	ok := len(w) == 2 && len(v) == 1 && len(h) == 1 && w[0] == v[0] && w[1] == h[0]
	if !ok {
		return 0, 0, fmt.Errorf("%w: weights %v, visible_bias %v and hidden_bias %v do not fit together; weights are [visible, hidden]", ErrFormat, w, v, h)
	}
	// Weights are kept in panels of vec.Block hidden units.
	if w[0] < 1 || w[1] < 1 || w[0] > maxUnits || w[1] > maxUnits || w[0]*int64(vec.Blocks(int(w[1]))*vec.Block) > maxParameters {
		return 0, 0, fmt.Errorf("%w: a model of %d × %d units is out of range", ErrFormat, w[0], w[1])
	}
	return int(w[0]), int(w[1]), nil
}

// build makes the model that a file describes; load overwrites dst with a
// tensor's elements.
func build(visible, hidden int, meta map[string]string, load func(name string, dst []float32)) (*RBM, About, error) {
	bad := func(format string, args ...any) (*RBM, About, error) {
		return nil, About{}, fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
	var about About
	var classes int
	var labels Kind
	if meta["format"] == fileFormat {
		if v := meta["version"]; v != fileVersion && v != fileVersionConstraint {
			return bad("the model has version %.20q; this program reads version %s, or %s with a constraint", v, fileVersion, fileVersionConstraint)
		}
		about.Described = true
		var err error
		if classes, err = strconv.Atoi(meta["classes"]); err != nil || classes < 0 || classes > visible {
			return bad("the model has %.20q classes but %d visible units", meta["classes"], visible)
		}
		if classes > 0 {
			if labels, err = ParseKind(meta["labels"]); err != nil {
				return bad("%v", err)
			}
		}
		if names, ok := meta["class_names"]; ok {
			if err := json.Unmarshal([]byte(names), &about.ClassNames); err != nil || len(about.ClassNames) != classes {
				return bad("the names of the classes do not fit their number, %d", classes)
			}
		}
		if s, ok := meta["shape"]; ok {
			if _, err := fmt.Sscanf(s, "%dx%d", &about.Height, &about.Width); err != nil ||
				about.Height < 1 || about.Width < 1 || about.Height > maxUnits || about.Width > maxUnits ||
				about.Height*about.Width != visible-classes {
				return bad("the inputs' shape %.20q does not fit their number, %d", s, visible-classes)
			}
		}
		about.Data, about.LabelColumn, about.Binarize = meta["data"], meta["label_column"], meta["binarize"]
		about.Seed, _ = strconv.ParseUint(meta["seed"], 10, 64) // absent in files that other tools wrote
	}
	m := New(visible, hidden, classes, labels)
	if about.Described {
		var err error
		if m.Constraint, err = readConstraint(meta, m); err != nil {
			return bad("%v", err)
		}
	}
	w := NewMatrix(visible, hidden)
	load(tensorWeights, w.Data)
	load(tensorVisible, m.VisibleBias)
	load(tensorHidden, m.HiddenBias)
	m.SetWeights(w)
	for _, t := range []struct {
		name string
		data []float32
	}{{tensorWeights, w.Data}, {tensorVisible, m.VisibleBias}, {tensorHidden, m.HiddenBias}} {
		i := slices.IndexFunc(t.data, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) })
		if i >= 0 {
			return bad("%s holds %v at element %d; every parameter must be finite", t.name, t.data[i], i)
		}
	}
	return m, about, nil
}
