package negphase

import (
	"fmt"
	"reflect"
	"strconv"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// Settings choose an estimator: its kind, and the settings of that kind. Settings are a value: changing
// a copy does not change the original. The zero value has no kind.
type Settings struct {
	Kind     string
	specific kindSettings // nil if there is no such kind
}

// kindSettings is a pointer to the settings of one kind of estimator.
type kindSettings interface {
	// keys returns the table of the settings, bound to the fields of the struct.
	keys() grammar.Keys
	// estimator returns a new estimator. s contains the receiver and has passed
	// Check.
	estimator(s Settings) Estimator
}

// An estimatorKind is a kind of estimator: a row of the table estimatorKinds.
type estimatorKind struct {
	name, help string
	cost       string // of an update, relative to an update of pcd with the same number of chains
	// keeps has the layers on which constraints are kept. obstacle says why
	// constraints on other layers are not.
	keeps    []rbm.Layer
	obstacle string
	specific kindSettings // settings of this kind, before the defaults are set
}

// estimatorKinds is the table of all estimators. The conformance tests cover each row.
var estimatorKinds = []estimatorKind{
	{"cd", "contrastive divergence: short chains that start at the batch", "1", onHidden, gibbsObstacle, &cdSettings{}},
	{"pcd", "persistent chains", "1", onHidden, gibbsObstacle, &pcdSettings{}},
	{"pt", "parallel tempering: replicas at several temperatures swap", "1", onHidden, gibbsObstacle, &ptSettings{LadderSettings: LadderSettings{longest: maxTemperatures}}},
	{"ins", "infinite swapping: averages over all permutations of at most 16 temperatures", "1.1", onHidden, gibbsObstacle, &insSettings{LadderSettings{longest: maxBlock}}},
	{"pins", "partial infinite swapping: averages over permutations within blocks of temperatures", "1.1", onHidden, gibbsObstacle, &pinsSettings{LadderSettings: LadderSettings{longest: maxTemperatures}}},
	{"ptt", "parallel trajectory tempering: chains swap with replicas at earlier parameters of the run", "3, and the time to equilibrate new replicas", onHidden, gibbsObstacle, &pttSettings{}},
	{"sardonics", "persistent chains that move by self-avoiding walks of many flips", "1.3", nil, "its walks change the number of active units", &walkSettings{samplerSettings: samplerSettings{only: "sardonics"}}},
	{"im", "walks of many flips that keep the number of active units, and Gibbs steps that change it", "1.6", onBoth, "", &walkSettings{samplerSettings: samplerSettings{only: "im"}}},
	{"walk", "persistent chains that move by any sampler, such as walk:metropolis:order=random", "that of its sampler", onBoth, "", &walkSettings{}},
	{"exact", "enumeration, where a layer has at most 18 units", "grows as 2^n, where n is the number of units of the smaller layer", onBoth, "", &exactSettings{}},
}

// Kinds returns the names of all estimators.
func Kinds() []string {
	names := make([]string, len(estimatorKinds))
	for i, k := range estimatorKinds {
		names[i] = k.name
	}
	return names
}

func find(name string) (estimatorKind, error) {
	for _, k := range estimatorKinds {
		if k.name == name {
			return k, nil
		}
	}
	return estimatorKind{}, grammar.NoKind("negative phase", name, Kinds())
}

// DefaultSettings returns the settings of the infinite-swapping paper for an
// estimator of the given kind: one Gibbs step and one swap per update, ten
// chains with a uniform start, temperatures 1 to 5 (sections 4.2.4–4.2.6). Keys
// that the paper does not mention have the defaults of their tables. If kind is unknown, the
// result has that kind and no keys.
func DefaultSettings(kind string) Settings {
	k, err := find(kind)
	if err != nil {
		return Settings{Kind: kind}
	}
	s := Settings{kind, copyOf(k.specific)}
	s.keys().Initialize()
	return s
}

func copyOf(o kindSettings) kindSettings {
	v := reflect.ValueOf(o).Elem()
	c := reflect.New(v.Type())
	c.Elem().Set(v)
	return c.Interface().(kindSettings)
}

// keys returns the table of the settings; nil if the kind is unknown.
func (s Settings) keys() grammar.Keys {
	if s.specific == nil {
		return nil
	}
	return s.specific.keys()
}

// Has reports whether estimators of this kind have a setting of that name. Keys of a sampler do not
// count.
func Has(kind, name string) bool {
	k, _ := find(kind)
	_, ok := Settings{kind, k.specific}.keys().Find(name)
	return ok
}

// Get returns the text of a setting in the grammar; "" if the kind does not
// have it or an optional setting is not given.
func (s Settings) Get(name string) string {
	if k, ok := s.keys().Find(name); ok {
		return k.Written()
	}
	return ""
}

// Count returns a setting that is a whole number, such as k, swaps, chains or moves; 0 if the kind does
// not have it.
func (s Settings) Count(name string) int {
	n, _ := strconv.Atoi(s.Get(name))
	return n
}

// Set changes a setting. value is a number or a text in the grammar. The error
// names the setting, or says that the kind does not have it. Set does not check ranges; Check does.
func (s *Settings) Set(name string, value any) error {
	text := fmt.Sprint(value)
	changed := *s
	if s.specific != nil {
		changed.specific = copyOf(s.specific)
	}
	k, ok := changed.keys().Find(name)
	if !ok {
		return fmt.Errorf("%s has no setting %q", s.Kind, name)
	}
	if err := k.Set(text); err != nil {
		return fmt.Errorf("%s: %s is %q; %w", s.Kind, name, text, err)
	}
	*s = changed
	return nil
}

// Check returns an error that names the setting that is out of range, or the
// kind if it is unknown.
func (s Settings) Check() error {
	if _, err := find(s.Kind); err != nil {
		return err
	}
	return s.keys().Check(s.Kind)
}

// New returns a new estimator. It returns the error of Check, or an error if path=data
// needs base rates that SetBase has not given.
func New(s Settings) (Estimator, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.NeedsBase() {
		return nil, fmt.Errorf("%s: path=data needs the base rates of the data; without data take path=uniform", s.Kind)
	}
	return s.specific.estimator(s), nil
}

// A based is implemented by the settings of a kind that has the key path.
type based interface {
	needsBase() bool
	setBase(base *rbm.Base)
}

// NeedsBase reports whether path=data is set without the base rates of the data; see SetBase.
func (s Settings) NeedsBase() bool {
	b, ok := s.specific.(based)
	return ok && b.needsBase()
}

// SetBase sets path=data and gives the base rates of the data, as a distribution of independent units.
// It panics if the kind has no setting path.
func (s *Settings) SetBase(base *rbm.Base) {
	s.specific = copyOf(s.specific)
	s.specific.(based).setBase(base)
}
