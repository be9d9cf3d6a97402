// Package units has the kinds of units of a layer, one file each: how their states are drawn
// and summed out given their inputs.
//
// The energy of a model is E(v,h) = Σ U(vᵢ) + Σ U(hⱼ) − vᵀWh. Given the other layer, a unit x has the
// distribution p(x) ∝ exp(x·z − U′(x)). Its input z is the weighted sum of the other layer plus its field,
// the bias; U′ is U without the field's term. At inverse temperature β on the path from a base all
// parameters are interpolated: z_β = β·z + (1−β)·θ₀, where θ₀ is the base's field.
package units

import (
	"fmt"
	"strings"

	"gorbm/rbm/internal/vec"
)

// A Support says which states a unit has.
type Support int

const (
	Bits   Support = iota // 0 or 1, each unit for itself
	OneHot                // 0 or 1, one unit of the group is 1: the group is one variable
	Real                  // real values
)

// A Kind is how the units of a group behave given their inputs. All methods but LogZ
// work on a Block, so that no call is made for a single unit.
type Kind interface {
	fmt.Stringer // its name in files and flags
	Support() Support
	Params() []Param // parameters of each unit, besides the field

	// Means overwrites the units' places of dst with their means at β = 1.
	Means(dst Means, b *Block)
	// Draw overwrites the units' places of x with draws at the β of each row. Unit i of row r
	// uses the uniforms of s for row b.Row+r and unit i. A group that is one variable uses those of
	// its first unit. Draw may overwrite b.In.
	Draw(x States, b *Block, s vec.Stream)
	// LogZs computes log Z of the units of each row r as sum − log product, and writes both to
	// place r·stride. mean has the means of the same block, which saves exponentials. The result
	// is accurate to float32.
	LogZs(sum, product []float64, stride int, mean Means, b *Block)
	// Rises computes for each row the increase of log Z of the units from one β to another, as
	// sum + log product.
	Rises(sum, product []float64, b *Block, from, to float64)
	// LogZ returns Σ log Σ_x exp(x·z − U′(x)), in nats, over the units from number first on, with
	// inputs z. For real units the inner sum is an integral.
	LogZ(z []float64, l *Distribution, first int) float64
}

// A VisibleKind is a kind of units that a visible layer can have.
type VisibleKind interface {
	Kind
	// Field overwrites dst with the fields at which units without weights have about the given
	// means, which were taken over this number of rows. Half a pseudo-row keeps the field finite
	// for a unit that never changes.
	Field(dst, mean []float32, rows float64)
}

// A RealKind is a kind of real units. Other kinds have U′ = 0.
type RealKind interface {
	Kind
	// Rest returns Σ U′(x), in nats, over the values x of the units from number first on.
	Rest(x []float32, d *Distribution, first int) float64
	// FieldOf returns the field at which a unit has this mean and precision, if its other parameters are 0.
	FieldOf(mean, precision float64) float64
	// Curvature returns the second derivative of U′ of unit i, the smaller one if the sides differ.
	Curvature(d *Distribution, i int) float64
}

// A LearnedKind is a kind of real units with parameters that are learned by their own gradient.
type LearnedKind interface {
	RealKind
	// Slopes overwrites the units' places of dst[k], for each parameter k that is Learned, with the
	// derivative of the unit's log Z by it, at β = 1: ⟨−∂U′/∂parameter⟩ given the input.
	Slopes(dst [MaxParams]Means, b *Block)
}

// MaxParams is the largest number of parameters of a kind besides the field.
const MaxParams = 3

// A Param is a parameter that each unit of a kind has besides its field.
type Param struct {
	Name     string
	Initial  float32
	Positive bool // it must be above 0
	Learned  bool // by LearnedKind's Slopes
}

// A Distribution holds the parameters of a layer of independent units without weights.
type Distribution struct {
	Field  []float32
	Params [][]float32 // the other parameters × the units of the layer; nil: zeros
}

// At returns the field of unit i, or 0 if l is nil.
func (l *Distribution) At(i int) float64 {
	if l == nil {
		return 0
	}
	return float64(l.Field[i])
}

// Param returns entry k of Params for unit i, or 0 if l or Params is nil.
func (l *Distribution) Param(k, i int) float64 {
	if l == nil || l.Params == nil {
		return 0
	}
	return float64(l.Params[k][i])
}

// Kinds are all kinds of units.
var Kinds = []Kind{Bernoulli, Softmax, Gaussian, ReLU, DReLU}

// ParseVisible returns the kind of this name that a visible layer can have.
func ParseVisible(name string) (Kind, error) {
	return parse(name, func(k Kind) bool { _, ok := k.(VisibleKind); return ok })
}

// ParseHidden returns the kind of this name that a hidden layer can have: its units are independent.
func ParseHidden(name string) (Kind, error) {
	return parse(name, func(k Kind) bool { return k.Support() != OneHot })
}

// ParseLabel returns the kind of this name that a label can have: its units are 0 or 1.
func ParseLabel(name string) (Kind, error) {
	return parse(name, func(k Kind) bool { return k.Support() != Real })
}

// parse returns the kind of this name among those for which fit is true.
func parse(name string, fit func(Kind) bool) (Kind, error) {
	var names []string
	for _, k := range Kinds {
		if !fit(k) {
			continue
		}
		if k.String() == name {
			return k, nil
		}
		names = append(names, k.String())
	}
	last := len(names) - 1
	return nil, fmt.Errorf("unknown kind of units %q; it is %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// A Block is the inputs of units of one group for a number of rows: in a block of 64 units of
// the layer units From … Width−1, or all units of a group that is one variable.
type Block struct {
	First       int // number of the block's first unit in its layer
	From, Width int
	In          []float32 // inputs; those of a row begin at a multiple of Stride
	Stride      int
	Rows        int
	Row         uint32        // number of the first row in the random stream
	Beta        []float32     // inverse temperature of each row; nil: all 1
	Model, Base *Distribution // parameters of the layer at β = 1 and at β = 0; a nil Base: zeros
}

// BetaOf returns the inverse temperature of row r.
func (b *Block) BetaOf(r int) float32 {
	if b.Beta == nil {
		return 1
	}
	return b.Beta[r]
}

// Means are rows of means of all units of a layer.
type Means struct {
	Data []float32
	Cols int
}

// States are rows of states of all units of a layer. As bits, unit i is bit i%64 of word i/64 of
// its row. In a layer with real units all are real.
type States struct {
	Words  []uint64
	Real   []float32 // if not nil, the states
	Stride int       // words or real values of a row
}
