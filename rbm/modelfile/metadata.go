package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm"
	"gorbm/rbm/finitejson"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/memory"
	"gorbm/rbm/npz"
	"gorbm/rbm/units"
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
	Height      int      // height of the inputs as a picture, in pixels; 0 if unknown
	Width       int      // width of the picture, in pixels
	Pictures    bool     // each row of the data was an array of Height × Width
	Seed        uint64

	// Means and Deviations have the mean and standard deviation of the data for each standardised input,
	// in the units of the data. Other inputs have 0 and 1. The deviation of a constant column is 0.
	// Nil: no input is standardised.
	Means, Deviations []float64

	Described bool // the file says which units are labels; if not, Classes is 0
}

// The names of the arrays in a model file, in every format.
const (
	tensorWeights = "weights"
	tensorVisible = "visible_bias"
	tensorHidden  = "hidden_bias"
)

const (
	fileFormat  = "gorbm"
	fileVersion = "1"
	// fileVersionConstraint is the version of models with a constraint. A program that does not support
	// constraints must refuse such a file.
	fileVersionConstraint = "2"
	// fileVersionGroups is the version of models whose visible layer has other groups than
	// Bernoulli inputs and a label.
	fileVersionGroups = "3"
	// fileVersionHidden is the version of models with real hidden units.
	fileVersionHidden = "4"
	// maxHeader limits the header of a safetensors file, in bytes. The format allows 100 MB;
	// WriteSafetensors needs less than 1 kB, plus the class names.
	maxHeader = 1 << 20
	// maxUnits and maxParameters limit a model that is read from a file to 4 GiB of
	// weights. Memory has two copies of the weights while they are reordered.
	maxUnits = 1 << 24
	// maxName limits the name of a class, in bytes. The name is printed in tables.
	maxName       = 1000
	maxParameters = 1 << 30
)

// metaGroups is the metadata key of the visible groups, in the form of RBM.GroupsText.
const metaGroups = "groups"

// metaHidden is the metadata key of the kind of the hidden units, if they are not Bernoulli units.
const metaHidden = "hidden_units"

// The metadata keys of About.Means and Deviations, each a JSON list.
const (
	metaMean      = "means"
	metaDeviation = "deviations"
)

// readScale reads Means and Deviations.
func (a *About) readScale(meta map[string]string, inputs int) error {
	for key, dst := range map[string]*[]float64{metaMean: &a.Means, metaDeviation: &a.Deviations} {
		text, ok := meta[key]
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), dst); err != nil || len(*dst) != inputs {
			return fmt.Errorf("the %s of the inputs are not a list of %d numbers", key, inputs)
		}
	}
	if (a.Means == nil) != (a.Deviations == nil) || slices.ContainsFunc(a.Deviations, func(x float64) bool { return !(x >= 0) }) {
		return errors.New("the means and deviations of the inputs do not go together, or a deviation is below 0")
	}
	return nil
}

// The metadata keys of a constraint.
const (
	metaConstraint = "constraint"           // the text of Constraint.String
	metaReference  = "constraint_reference" // only in files of earlier builds
)

// unitTensors returns the visible biases and the other parameters of units, without the hidden biases.
func unitTensors(m *rbm.RBM) []npz.Named {
	tensors := []npz.Named{{Name: tensorVisible, Data: m.VisibleBias}}
	for _, p := range m.Params() {
		tensors = append(tensors, npz.Named{Name: p.Name, Data: p.Values})
	}
	return tensors
}

// maxColumnNames is the largest size of all column names, in bytes. Larger lists are not written.
const maxColumnNames = 1 << 18

// metadata returns the metadata for m and about.
func metadata(m *rbm.RBM, about About) map[string]string {
	meta := map[string]string{
		"format":  fileFormat,
		"version": fileVersion,
		"classes": strconv.Itoa(m.Classes()),
		"seed":    strconv.FormatUint(about.Seed, 10),
	}
	if m.Classes() > 0 {
		meta["labels"] = m.LabelKind().String()
	}
	if groups := m.GroupsText(); groups != "" {
		meta["version"], meta[metaGroups] = fileVersionGroups, groups
	}
	if hidden := m.HiddenText(); hidden != "" {
		meta["version"], meta[metaHidden] = fileVersionHidden, hidden
	}
	describe(m.Constraint, meta)
	if about.ClassNames != nil {
		names, err := finitejson.Marshal(about.ClassNames)
		if err == nil { // always true for strings
			meta["class_names"] = string(names)
		}
	}
	if names, err := finitejson.Marshal(about.Columns); err == nil && about.Columns != nil && len(names) <= maxColumnNames {
		meta["columns"] = string(names)
	}
	for key, value := range map[string]string{"data": about.Data, "label_column": about.LabelColumn, "header": about.Header, "unlabelled": about.Unlabelled, "binarize": about.Binarize, "scale": about.Scale, "test": about.Test, "weights": about.Weights, "ignore": about.Ignore, "missing": about.Missing, "separator": about.Separator, "schema": about.Schema} {
		if value != "" {
			meta[key] = value
		}
	}
	for key, x := range map[string][]float64{metaMean: about.Means, metaDeviation: about.Deviations} {
		if text, err := finitejson.Marshal(x); err == nil && x != nil { // err is always nil for numbers
			meta[key] = string(text)
		}
	}
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

// describe adds c to the metadata, if it is not nil.
func describe(c *rbm.Constraint, meta map[string]string) {
	if c == nil {
		return
	}
	if meta["version"] == fileVersion { // readers of higher versions support constraints
		meta["version"] = fileVersionConstraint
	}
	meta[metaConstraint] = c.String()
}

// withGroups returns m with the groups of visible units in the metadata, or m itself if there are
// none.
func withGroups(m *rbm.RBM, meta map[string]string) (*rbm.RBM, error) {
	text, ok := meta[metaGroups]
	if version := meta["version"]; ok && version != fileVersionGroups && version != fileVersionHidden || !ok && version == fileVersionGroups {
		return nil, fmt.Errorf("version %s of a model and its groups do not go together", version)
	}
	if !ok {
		return m, nil
	}
	groups, err := rbm.ParseGroups(text)
	if err != nil {
		return nil, err
	}
	units := 0
	for _, g := range groups {
		if units += g.Units; g.Units > maxUnits || units > maxUnits {
			break
		}
	}
	if units != m.Visible() {
		return nil, fmt.Errorf("the groups %.60q are not of %d units", text, m.Visible())
	}
	n := rbm.NewGroups(m.Hidden(), groups...)
	if n.Classes() != m.Classes() || m.Classes() > 0 && n.LabelKind() != m.LabelKind() || n.GroupsText() != text {
		return nil, fmt.Errorf("the groups %.60q do not fit %d classes", text, m.Classes())
	}
	return n, nil
}

// withHidden returns m with the kind of hidden units in the metadata, or m itself if there is none.
func withHidden(m *rbm.RBM, meta map[string]string) (*rbm.RBM, error) {
	text, ok := meta[metaHidden]
	if version := meta["version"]; ok != (version == fileVersionHidden) {
		return nil, fmt.Errorf("version %s of a model and its hidden units do not go together", version)
	}
	if !ok {
		return m, nil
	}
	kind, err := units.ParseHidden(text)
	if err != nil {
		return nil, fmt.Errorf("hidden units: %w", err)
	}
	if kind == rbm.Bernoulli || m.Classes() > 0 {
		return nil, fmt.Errorf("a model of version %s has real hidden units and no label; it has %v hidden units and %d classes", fileVersionHidden, kind, m.Classes())
	}
	return rbm.NewLayers(rbm.Group{Kind: kind, Units: m.Hidden()}, m.Groups()...), nil
}

// readConstraint returns the constraint in the metadata, or nil if there is none. It returns an error if the
// version of the file excludes the constraint, or if the constraint does not apply to m.
func readConstraint(meta map[string]string, m *rbm.RBM) (*rbm.Constraint, error) {
	text, ok := meta[metaConstraint]
	if version := meta["version"]; ok && version == fileVersion || !ok && version == fileVersionConstraint {
		return nil, fmt.Errorf("version %s of a model and its constraint do not go together", version)
	}
	if !ok {
		return nil, nil
	}
	if _, ok := meta[metaReference]; ok {
		text += "/"
	}
	return ParseConstraint(text, m)
}

// ParseConstraint parses the text of Constraint.String and checks the constraint against m.
func ParseConstraint(text string, m *rbm.RBM) (*rbm.Constraint, error) {
	if text, _, referenced := strings.Cut(text, "/"); referenced { // written by an earlier build
		return nil, fmt.Errorf("constraint %.40q counts units that differ from a reference, which was removed; exchange 0 and 1 of the columns that were 1 in it, and train again", text)
	}
	on, number, _ := strings.Cut(text, "=")
	active, err := strconv.Atoi(number)
	c := &rbm.Constraint{On: rbm.Layer(on), Active: active}
	if err != nil || c.String() != text {
		return nil, fmt.Errorf("constraint %.40q is not of the form hidden=20", text)
	}
	return c, c.Check(m)
}

// checkShapes returns an error unless the shapes of weights, visible_bias and hidden_bias agree and
// the model fits into memory.
func checkShapes(w, v, h []int64) (visible, hidden int, err error) {
	if !(len(w) == 2 && len(v) == 1 && len(h) == 1 && w[0] == v[0] && w[1] == h[0]) {
		return 0, 0, badFormat("weights %v, visible_bias %v and hidden_bias %v do not fit together; weights are [visible, hidden]", w, v, h)
	}
	// Weights are stored in panels of vec.Block hidden units.
	if w[0] < 1 || w[1] < 1 || w[0] > maxUnits || w[1] > maxUnits || w[0]*int64(vec.Blocks(int(w[1]))*vec.Block) > maxParameters {
		return 0, 0, badFormat("a model of %d × %d units is out of range", w[0], w[1])
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
	bad := func(format string, args ...any) (*rbm.RBM, About, error) {
		return nil, About{}, badFormat(format, args...)
	}
	var about About
	var classes int
	var labels rbm.Kind
	if meta["format"] == fileFormat {
		if v := meta["version"]; v != fileVersion && v != fileVersionConstraint && v != fileVersionGroups && v != fileVersionHidden {
			return bad("the model has version %.20q; this program reads version %s, %s with a constraint, %s with groups of units, or %s with real hidden units", v, fileVersion, fileVersionConstraint, fileVersionGroups, fileVersionHidden)
		}
		about.Described = true
		var err error
		if classes, err = strconv.Atoi(meta["classes"]); err != nil || classes < 0 || classes > visible {
			return bad("the model has %.20q classes but %d visible units", meta["classes"], visible)
		}
		if classes > 0 {
			if labels, err = units.ParseLabel(meta["labels"]); err != nil {
				return bad("%v", err)
			}
		}
		if names, ok := meta["class_names"]; ok {
			if err := json.Unmarshal([]byte(names), &about.ClassNames); err != nil || len(about.ClassNames) != classes {
				return bad("the names of the classes do not fit their number, %d", classes)
			}
			if at := slices.IndexFunc(about.ClassNames, func(s string) bool { return len(s) > maxName }); at >= 0 {
				return bad("the name of class %d has %d bytes; at most %d are allowed", at, len(about.ClassNames[at]), maxName)
			}
		}
		if s, ok := meta["shape"]; ok {
			if _, err := fmt.Sscanf(s, "%dx%d", &about.Height, &about.Width); err != nil ||
				about.Height < 1 || about.Width < 1 || about.Height > maxUnits || about.Width > maxUnits ||
				about.Height*about.Width != visible-classes {
				return bad("the inputs' shape %.20q does not fit their number, %d", s, visible-classes)
			}
		}
		if names, ok := meta["columns"]; ok {
			if err := json.Unmarshal([]byte(names), &about.Columns); err != nil || len(about.Columns) != visible-classes {
				return bad("the names of the columns do not fit the %d inputs", visible-classes)
			}
		}
		about.Data, about.LabelColumn, about.Binarize = meta["data"], meta["label_column"], meta["binarize"]
		about.Header, about.Unlabelled = meta["header"], meta["unlabelled"]
		about.Scale, about.Test, about.Weights, about.Ignore = meta["scale"], meta["test"], meta["weights"], meta["ignore"]
		about.Missing, about.Separator = meta["missing"], meta["separator"]
		about.Schema, about.Pictures = meta["schema"], meta["rows"] == "pictures" && about.Height > 0
		if x, err := strconv.ParseFloat(meta["reweight"], 64); err == nil && x > 0 && x <= 1 {
			about.Reweight = x
		}
		about.Seed, _ = strconv.ParseUint(meta["seed"], 10, 64) // absent in files that other tools wrote
	}
	m := rbm.New(visible, hidden, classes, labels)
	if about.Described {
		var err error
		if m, err = withGroups(m, meta); err != nil {
			return bad("%v", err)
		}
		if m, err = withHidden(m, meta); err != nil {
			return bad("%v", err)
		}
		if m.Constraint, err = readConstraint(meta, m); err != nil {
			return bad("%v", err)
		}
		if err = about.readScale(meta, m.Inputs()); err != nil {
			return bad("%v", err)
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
		return bad("%v", err)
	}
	return m, about, nil
}
