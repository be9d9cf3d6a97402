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

// About is what a model file holds besides the parameters. It is stored as text in
// the file's metadata.
type About struct {
	ClassNames  []string // of the label units; may be nil
	Data        string   // the data set that the model was trained on
	LabelColumn string   // which column of the data held the labels, as the commands' -label-column
	Header      string   // whether its first line names the columns, as the commands' -header
	Unlabelled  string   // the label that stands for none, as the commands' -unlabelled
	Binarize    string   // how its inputs were made binary
	Scale       string   // the range of its values that became [0,1], as data.Set.Scale, or spins
	Test        string   // the data set that it was tested on, if that is another one
	Columns     []string // names of the inputs in the data; nil: they have none
	Schema      string   // what its inputs stand for, as the text of data.Schema
	Weights     string   // weights of its rows, as the commands' -weights
	Reweight    float64  // as the commands' -reweight
	Ignore      string   // columns of the data that were left out, as the commands' -ignore
	Height      int      // shape of the inputs as a picture; 0 if unknown
	Width       int
	Pictures    bool // the rows of its data were arrays of Height × Width
	Seed        uint64

	// Means and Deviations are those of each column of the data that became a standardised input,
	// in the data's own units: 0 and 1 of inputs that are no real values. A deviation of 0 is that
	// of a constant column. Nil: no input is standardised.
	Means, Deviations []float64

	Described bool // the file says which units are labels; if not, Classes is 0
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
	// fileVersionConstraint is the version of models with a constraint. Programs that
	// know no constraints must not ignore it.
	fileVersionConstraint = "2"
	// fileVersionGroups is the version of models whose visible layer has other groups than
	// Bernoulli inputs and a label.
	fileVersionGroups = "3"
	// fileVersionHidden is the version of models of real hidden units, with such groups or without.
	fileVersionHidden = "4"
	// maxHeader limits the header of a safetensors file. The format allows 100 MB;
	// ours are below 1 kB, plus the class names.
	maxHeader = 1 << 20
	// maxUnits and maxParameters limit a model that is read from a file: 4 GiB of
	// weights, of which there are two copies while they are reordered.
	maxUnits = 1 << 24
	// maxName limits the name of a class, which is printed in tables.
	maxName       = 1000
	maxParameters = 1 << 30
)

// metaGroups is the key of the groups of the visible layer, as RBM.GroupsText writes them.
const metaGroups = "groups"

// metaHidden is the key of the kind of the hidden units, if they are not Bernoulli units.
const metaHidden = "hidden_units"

// The keys of the scale of real inputs, each a JSON list.
const (
	metaMean      = "means"
	metaDeviation = "deviations"
)

// readScale reads the scale of real inputs.
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

// The keys of a constraint in a model file's metadata. metaReference is one of earlier files.
const (
	metaConstraint = "constraint" // as String writes it
	metaReference  = "constraint_reference"
)

// unitTensors returns the tensors of units except for the hidden biases: visible biases and, of kinds that
// have them, other parameters.
func unitTensors(m *rbm.RBM) []npz.Named {
	tensors := []npz.Named{{Name: tensorVisible, Data: m.VisibleBias}}
	for _, p := range m.Params() {
		tensors = append(tensors, npz.Named{Name: p.Name, Data: p.Values})
	}
	return tensors
}

// maxColumnNames is the most bytes of names of columns that a file holds: it has none of more.
const maxColumnNames = 1 << 18

// metadata returns the metadata of a file of m.
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
		if err == nil { // a list of strings always is
			meta["class_names"] = string(names)
		}
	}
	if names, err := finitejson.Marshal(about.Columns); err == nil && about.Columns != nil && len(names) <= maxColumnNames {
		meta["columns"] = string(names)
	}
	for key, value := range map[string]string{"data": about.Data, "label_column": about.LabelColumn, "header": about.Header, "unlabelled": about.Unlabelled, "binarize": about.Binarize, "scale": about.Scale, "test": about.Test, "weights": about.Weights, "ignore": about.Ignore, "schema": about.Schema} {
		if value != "" {
			meta[key] = value
		}
	}
	for key, x := range map[string][]float64{metaMean: about.Means, metaDeviation: about.Deviations} {
		if text, err := finitejson.Marshal(x); err == nil && x != nil { // finite numbers always can
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

// describe adds c, which may be nil, to the metadata of a file.
func describe(c *rbm.Constraint, meta map[string]string) {
	if c == nil {
		return
	}
	if meta["version"] == fileVersion { // readers of the version for groups know constraints too
		meta["version"] = fileVersionConstraint
	}
	meta[metaConstraint] = c.String()
}

// withGroups returns m with the groups of visible units that metadata names, or as it is if
// it names none.
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

// withHidden returns m with the kind of hidden units that metadata names, or as it is if it names none.
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

// readConstraint returns the constraint on m that describe wrote, nil if there is
// none.
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

// ParseConstraint returns the constraint on m that Constraint.String wrote.
func ParseConstraint(text string, m *rbm.RBM) (*rbm.Constraint, error) {
	if text, _, referenced := strings.Cut(text, "/"); referenced { // of an earlier build
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

// checkShapes checks the shapes of the three tensors against each other.
func checkShapes(w, v, h []int64) (visible, hidden int, err error) {
	if !(len(w) == 2 && len(v) == 1 && len(h) == 1 && w[0] == v[0] && w[1] == h[0]) {
		return 0, 0, badFormat("weights %v, visible_bias %v and hidden_bias %v do not fit together; weights are [visible, hidden]", w, v, h)
	}
	// Weights are stored in panels of vec.Block hidden units.
	if w[0] < 1 || w[1] < 1 || w[0] > maxUnits || w[1] > maxUnits || w[0]*int64(vec.Blocks(int(w[1]))*vec.Block) > maxParameters {
		return 0, 0, badFormat("a model of %d × %d units is out of range", w[0], w[1])
	}
	// The weights as they lie in the file, and as the model has them.
	if err := memory.Check(fmt.Sprintf("a model of %d × %d units", w[0], w[1]), 2*4*float64(w[0])*float64(w[1])); err != nil {
		return 0, 0, err
	}
	return int(w[0]), int(w[1]), nil
}

// badFormat returns an error that wraps rbm.ErrFormat.
func badFormat(format string, args ...any) error {
	return fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
}

// A notFinite is a format error that wraps rbm.ErrDiverged too: the file is whole,
// but a parameter in it is not finite.
type notFinite struct{ error }

func (e notFinite) Unwrap() []error { return []error{e.error, rbm.ErrDiverged} }

// build makes the model that a file describes. load overwrites dst with the elements
// of a tensor.
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
