package modelfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm"
	"gorbm/rbm/finitejson"
	"gorbm/rbm/memory"
	"gorbm/rbm/npz"
)

// About has the metadata of a model file: how the model was trained, and the meaning of its units. The flags
// below are those of the commands, such as rbmtrain.
type About struct {
	ClassNames  []string // names of the classes; may be nil
	Data        string   // the data set of training
	LabelColumn string   // column of the data with the labels, in the form of flag -label-column
	Header      string   // whether the first line of the data names the columns, in the form of flag -header
	Unlabelled  string   // the value of the label column in rows without a label, in the form of flag -unlabelled
	Binarize    string   // how the inputs were made binary
	Scale       string   // the range of data values that became [0,1], in the form of data.Set.Scale; or "spins"
	Test        string   // the test set, if it is another data set
	Columns     []string // names of the inputs in the data; nil: they have none
	Schema      string   // meaning of the inputs: the text of data.Schema
	Weights     string   // weights of the rows of the data, in the form of flag -weights
	Reweight    float64  // the value of flag -reweight
	Ignore      string   // columns of the data that were not used, in the form of flag -ignore
	Missing     string   // words that mark missing cells of the data, in the form of flag -missing
	Separator   string   // of the columns of the data, in the form of flag -separator
	Pivot       string   // columns of the data, if they are a list, in the form of flag -pivot
	Height      int      // height of the inputs as a picture, in pixels; 0 if unknown
	Width       int      // width of the picture, in pixels
	Pictures    bool     // each row of the data was an array of Height × Width
	Seed        uint64

	// Means and Deviations have the mean and standard deviation of the data for each standardised input,
	// in the units of the data. Other inputs have 0 and 1. The deviation of a constant column is 0.
	// Nil: no input is standardised.
	Means, Deviations []float64

	Described bool // the file says which units the model has; if not, all are bits, and there is no label
}

// The names of the arrays in a model file, in every format.
const (
	tensorWeights = "weights"
	tensorVisible = "visible_bias"
	tensorHidden  = "hidden_bias"
)

const (
	fileFormat = "gorbm"
	// maxHeader limits the header of a safetensors file, in bytes. The format allows 100 MB;
	// WriteSafetensors needs less than 1 kB, plus the class names.
	maxHeader = 1 << 20
	// maxName limits the name of a class, in bytes. The name is printed in tables.
	maxName = 1000
	// maxColumnNames is the largest size of all column names, in bytes. Larger lists are not written.
	maxColumnNames = 1 << 18
)

// version returns the version of a file with a model of shape s. A program that reads the lower versions only
// must refuse the file: 2 has a constraint, 3 has other visible groups than Bernoulli inputs and a label, and 4
// has real hidden units.
func version(s rbm.Shape) string {
	switch {
	case s.HiddenUnits != "":
		return "4"
	case s.Groups != "":
		return "3"
	case s.Constraint != "":
		return "2"
	}
	return "1"
}

// The metadata keys of an rbm.Shape, whose numbers of units the arrays have.
const (
	metaClasses    = "classes"
	metaLabels     = "labels"
	metaGroups     = "groups"
	metaHidden     = "hidden_units"
	metaConstraint = "constraint"
	metaReference  = "constraint_reference" // only in files of builds before commit 44bd47c4
)

// texts are the fields of About that are text, with their metadata keys.
var texts = []struct {
	key   string
	field func(a *About) *string
}{
	{"data", func(a *About) *string { return &a.Data }},
	{"label_column", func(a *About) *string { return &a.LabelColumn }},
	{"header", func(a *About) *string { return &a.Header }},
	{"unlabelled", func(a *About) *string { return &a.Unlabelled }},
	{"binarize", func(a *About) *string { return &a.Binarize }},
	{"scale", func(a *About) *string { return &a.Scale }},
	{"test", func(a *About) *string { return &a.Test }},
	{"weights", func(a *About) *string { return &a.Weights }},
	{"ignore", func(a *About) *string { return &a.Ignore }},
	{"missing", func(a *About) *string { return &a.Missing }},
	{"separator", func(a *About) *string { return &a.Separator }},
	{"pivot", func(a *About) *string { return &a.Pivot }},
	{"schema", func(a *About) *string { return &a.Schema }},
}

// The metadata keys of the fields of About that are lists, each as JSON.
const (
	metaClassNames = "class_names"
	metaColumns    = "columns"
	metaMeans      = "means"
	metaDeviations = "deviations"
)

// metadata returns the metadata for m and about.
func metadata(m *rbm.RBM, about About) map[string]string {
	s := m.Shape()
	meta := map[string]string{
		"format":    fileFormat,
		"version":   version(s),
		metaClasses: strconv.Itoa(s.Classes),
		"seed":      strconv.FormatUint(about.Seed, 10),
	}
	put := func(key, value string) {
		if value != "" {
			meta[key] = value
		}
	}
	put(metaLabels, s.Labels)
	put(metaGroups, s.Groups)
	put(metaHidden, s.HiddenUnits)
	put(metaConstraint, s.Constraint)
	for _, t := range texts {
		put(t.key, *t.field(&about))
	}
	put(metaClassNames, listText(about.ClassNames))
	if names := listText(about.Columns); len(names) <= maxColumnNames {
		put(metaColumns, names)
	}
	put(metaMeans, listText(about.Means))
	put(metaDeviations, listText(about.Deviations))
	if about.Reweight > 0 {
		meta["reweight"] = strconv.FormatFloat(about.Reweight, 'g', -1, 64)
	}
	if about.Height > 0 {
		meta["shape"] = fmt.Sprintf("%dx%d", about.Height, about.Width)
		if about.Pictures {
			meta["rows"] = "pictures"
		}
	}
	return meta
}

// listText returns list as JSON, or "" for nil.
func listText[T string | float64](list []T) string {
	if list == nil {
		return ""
	}
	text, err := finitejson.Marshal(list)
	if err != nil {
		panic("modelfile: " + err.Error()) // texts and numbers have JSON
	}
	return string(text)
}

// readShape returns the shape of a model with these sizes and metadata.
func readShape(visible, hidden int, meta map[string]string) (s rbm.Shape, err error) {
	s = rbm.Shape{Visible: visible, Hidden: hidden, Groups: meta[metaGroups], HiddenUnits: meta[metaHidden], Constraint: meta[metaConstraint]}
	if s.Classes, err = strconv.Atoi(meta[metaClasses]); err != nil {
		return s, fmt.Errorf("the model has %.20q classes", meta[metaClasses])
	}
	if s.Classes > 0 {
		s.Labels = meta[metaLabels]
	}
	is := meta["version"]
	if _, ok := meta[metaReference]; ok {
		return s, fmt.Errorf("the constraint counts units that differ from a reference; builds before commit 44bd47c4 (26 November 2026) read it. Exchange 0 and 1 of the columns that were 1 in the reference, and train again")
	}
	if known := []string{"1", "2", "3", "4"}; !slices.Contains(known, is) {
		return s, fmt.Errorf("the model has version %.20q; this program reads %s", is, strings.Join(known, ", "))
	}
	if want := version(s); is != want {
		return s, fmt.Errorf("version %s of a model and its units do not go together: %v have version %s", is, s, want)
	}
	return s, nil
}

// readAbout returns the metadata of a model of shape s.
func readAbout(meta map[string]string, s rbm.Shape) (about About, err error) {
	about.Described = true
	for _, t := range texts {
		*t.field(&about) = meta[t.key]
	}
	inputs := s.Visible - s.Classes
	if err := cmp.Or(readList(&about.ClassNames, meta, metaClassNames, s.Classes), readList(&about.Columns, meta, metaColumns, inputs),
		readList(&about.Means, meta, metaMeans, inputs), readList(&about.Deviations, meta, metaDeviations, inputs)); err != nil {
		return about, err
	}
	if at := slices.IndexFunc(about.ClassNames, func(s string) bool { return len(s) > maxName }); at >= 0 {
		return about, fmt.Errorf("the name of class %d has %d bytes; at most %d are allowed", at, len(about.ClassNames[at]), maxName)
	}
	if (about.Means == nil) != (about.Deviations == nil) || slices.ContainsFunc(about.Deviations, func(x float64) bool { return !(x >= 0) }) {
		return about, errors.New("the means and deviations of the inputs do not go together, or a deviation is below 0")
	}
	if size, ok := meta["shape"]; ok {
		if _, err := fmt.Sscanf(size, "%dx%d", &about.Height, &about.Width); err != nil ||
			about.Height < 1 || about.Width < 1 || about.Height > inputs || about.Width > inputs || about.Height*about.Width != inputs {
			return about, fmt.Errorf("the inputs' shape %.20q does not fit their number, %d", size, inputs)
		}
	}
	about.Pictures = meta["rows"] == "pictures" && about.Height > 0
	if x, err := strconv.ParseFloat(meta["reweight"], 64); err == nil && x > 0 && x <= 1 {
		about.Reweight = x
	}
	about.Seed, _ = strconv.ParseUint(meta["seed"], 10, 64) // absent in files that other tools wrote
	return about, nil
}

// readList sets dst to the list under key, which must have n elements. A missing key leaves dst as it is.
func readList[T string | float64](dst *[]T, meta map[string]string, key string, n int) error {
	text, ok := meta[key]
	if !ok {
		return nil
	}
	if err := json.Unmarshal([]byte(text), dst); err != nil || len(*dst) != n {
		what := "numbers"
		if _, ok := any(dst).(*[]string); ok {
			what = "names"
		}
		return fmt.Errorf("%s are not a list of %d %s", strings.ReplaceAll(key, "_", " "), n, what)
	}
	return nil
}

// checkShapes returns an error unless the shapes of weights, visible_bias and hidden_bias agree and
// the model fits into memory.
func checkShapes(w, v, h []int64) (visible, hidden int, err error) {
	if !(len(w) == 2 && len(v) == 1 && len(h) == 1 && w[0] == v[0] && w[1] == h[0]) {
		return 0, 0, badFormat("weights %v, visible_bias %v and hidden_bias %v do not fit together; weights are [visible, hidden]", w, v, h)
	}
	if err := (rbm.Shape{Visible: int(w[0]), Hidden: int(w[1])}).CheckSize(); err != nil {
		return 0, 0, badFormat("%v", err)
	}
	// There are two copies of the weights: in the order of the file and in that of the model.
	if err := memory.Check(fmt.Sprintf("a model of %d × %d units", w[0], w[1]), 2*4*float64(w[0])*float64(w[1])); err != nil {
		return 0, 0, err
	}
	return int(w[0]), int(w[1]), nil
}

// badFormat returns an error that wraps rbm.ErrFormat.
func badFormat(format string, args ...any) error {
	return fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
}

// A notFinite is a format error that also wraps rbm.ErrDiverged: the file is complete,
// but a parameter in it is not finite.
type notFinite struct{ error }

func (e notFinite) Unwrap() []error { return []error{e.error, rbm.ErrDiverged} }

// build returns the model of a file with these layer sizes and metadata. load must overwrite dst with the
// elements of the named array.
func build(visible, hidden int, meta map[string]string, load func(name string, dst []float32) error) (*rbm.RBM, About, error) {
	fail := func(err error) (*rbm.RBM, About, error) {
		return nil, About{}, badFormat("%v", err)
	}
	shape, about := rbm.Shape{Visible: visible, Hidden: hidden}, About{}
	var err error
	if meta["format"] == fileFormat {
		if shape, err = readShape(visible, hidden, meta); err != nil {
			return fail(err)
		}
	}
	m, err := shape.New()
	if err != nil {
		return fail(err)
	}
	if meta["format"] == fileFormat {
		if about, err = readAbout(meta, shape); err != nil {
			return fail(err)
		}
	}
	w := rbm.NewMatrix(visible, hidden)
	for _, t := range append([]npz.Named{{Name: tensorWeights, Data: w.Data}, {Name: tensorHidden, Data: m.HiddenBias}}, unitTensors(m)...) {
		data := t.Data.([]float32)
		if err := load(t.Name, data); err != nil {
			return nil, About{}, err
		}
		i := slices.IndexFunc(data, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) })
		if i >= 0 {
			return nil, About{}, notFinite{badFormat("%s holds %v at element %d; every parameter must be finite", t.Name, data[i], i)}
		}
	}
	m.SetWeights(w)
	if err := m.CheckNormalisable(); err != nil {
		return fail(err)
	}
	return m, about, nil
}

// unitTensors returns the visible biases and the other parameters of units, without the hidden biases.
func unitTensors(m *rbm.RBM) []npz.Named {
	tensors := []npz.Named{{Name: tensorVisible, Data: m.VisibleBias}}
	for _, p := range m.Params() {
		tensors = append(tensors, npz.Named{Name: p.Name, Data: p.Values})
	}
	return tensors
}
