// Package units has the kinds of units of a layer, one file each: how their states are drawn
// and summed out given their inputs.
//
// With energy E(v,h) = Σ U(vᵢ) + Σ U(hⱼ) − vᵀWh, a unit x of one layer has, given the other, the
// distribution p(x) ∝ exp(x·z − U′(x)). Its input z is what the weights give it plus its field,
// the bias, and U′ is the rest of U. At inverse temperature β on the path from a base all
// parameters are blended: z_β = β·z + (1−β)·θ₀ with θ₀ the base's field.
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
	Params() []Param // for each unit, besides the field

	// Means overwrites the units' places of dst with their means at β = 1.
	Means(dst Means, b *Block)
	// Draw overwrites the units' places of x with draws at the β of each row. Unit i of row r
	// uses the uniforms of row b.Row+r and unit i of s, a group that is one variable those of its
	// first unit. It may overwrite b.In.
	Draw(x States, b *Block, s vec.Stream)
	// LogZs writes, for row r at dst[r·stride], the log Z of the units: sum − log product. mean
	// are the means of the same block, which save exponentials. Rounding is that of float32.
	LogZs(sum, product []float64, stride int, mean Means, b *Block)
	// Rises writes of each row how much the log Z of the units rises from one β to another:
	// sum + log product.
	Rises(sum, product []float64, b *Block, from, to float64)
	// LogZ returns Σ log Σ_x exp(x·z − U′(x)), for real x ∫, over the units from number first on,
	// of inputs z, in nats.
	LogZ(z []float64, l *Distribution, first int) float64
}

// A VisibleKind is a kind of units that a visible layer can have.
type VisibleKind interface {
	Kind
	// Field overwrites dst with the fields at which units without weights have about the given
	// means over this number of rows. Half a row more keeps those finite that never change.
	Field(dst, mean []float32, rows float64)
}

// A RealKind is a kind of real units. Kinds of others have U′ = 0.
type RealKind interface {
	Kind
	// Rest returns Σ U′ over the units from number first on, of values x, in nats.
	Rest(x []float32, d *Distribution, first int) float64
	// FieldOf returns the field at which a unit of this precision, its other parameters 0, has this mean.
	FieldOf(mean, precision float64) float64
	// Curvature returns the second derivative of U′ of unit i, the smaller one of two sides.
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

// A Distribution is that of the independent units of a layer without inputs, by its parameters.
type Distribution struct {
	Field  []float32
	Params [][]float32 // the others: each of all units of the layer; nil: zeros
}

// At returns the fields' unit i, or 0 of a nil Distribution.
func (l *Distribution) At(i int) float64 {
	if l == nil {
		return 0
	}
	return float64(l.Field[i])
}

// Param returns parameter k besides the field of unit i, or 0 of a nil Distribution.
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

// parse returns the kind of this name among those that are fit.
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
	Model, Base *Distribution // of the layer at β = 1 and 0; a nil Base: zeros
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
