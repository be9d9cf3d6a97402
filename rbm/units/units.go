// Package units implements the kinds of units of a layer, one in each file: means, draws and
// partition functions of units given their inputs.
//
// The energy of a model is E(v,h) = Σ U(vᵢ) + Σ U(hⱼ) − vᵀWh. The energy of a unit by itself is
// U(x) = U′(x) − θx, where the field θ is the bias of the unit. Given the other layer, the unit has the
// distribution p(x) ∝ exp(x·z − U′(x)). Its input z is its field plus the weighted sum of the other
// layer, and its partition function is Z(z) = Σ_x exp(x·z − U′(x)), an integral for real units.
//
// On the path from a base (rbm.Base) to the model all parameters are interpolated linearly in the
// inverse temperature β: z_β = β·z + (1−β)·θ₀, where θ₀ is the field in the base.
package units

import (
	"fmt"
	"strings"

	"gorbm/rbm/internal/vec"
)

// A Support is the set of states of a unit.
type Support int

const (
	Bits   Support = iota // 0 or 1, independently of the other units of the group
	OneHot                // 0 or 1; one unit of the group is 1, so the group is one variable
	Real                  // real values
)

// A Kind is a kind of units, such as Bernoulli. All methods except LogZ work on a Block of
// units and rows, because a call for each unit would be slow.
type Kind interface {
	fmt.Stringer // name in files and flags
	Support() Support
	Params() []Param // parameters of each unit besides the field

	// Means overwrites the elements of dst for the units of b with their means at β = 1.
	Means(dst Means, b *Block)
	// Draw overwrites the states in x of the units of b with draws at the β of each row. Unit i of row r
	// uses the uniforms of s for row b.Row+r and unit i; a one-hot group uses those of
	// its first unit. Draw may overwrite b.In.
	Draw(x States, b *Block, s vec.Stream)
	// LogZs computes log Z, summed over the units, for each row r. The result is
	// sum[r·stride] − log product[r·stride]. mean has the means of the same block, which saves
	// exponentials. The result has the precision of float32.
	LogZs(sum, product []float64, stride int, mean Means, b *Block)
	// Rises computes the increase from one β to another of log Z, summed over the units, for each
	// row r. The result is sum[r] + log product[r].
	Rises(sum, product []float64, b *Block, from, to float64)
	// LogZ returns log Z, in nats, summed over len(z) units with inputs z, from unit first of the layer on.
	LogZ(z []float64, l *Distribution, first int) float64
}

// A VisibleKind is a kind of units that a visible layer can have.
type VisibleKind interface {
	Kind
	// Field overwrites dst with fields at which units without weights have about the given
	// means of data. rows is the number of rows over which mean was taken. A pseudo-count of ½
	// keeps the field of a binary unit finite if the unit never changes.
	Field(dst, mean []float32, rows float64)
}

// A RealKind is a kind of real units. Other kinds have U′ = 0.
type RealKind interface {
	Kind
	// Rest returns Σ U′(x), in nats, over the values x of the units from unit first of the layer on.
	Rest(x []float32, d *Distribution, first int) float64
	// Squares overwrites the elements of dst for the units of b with their mean squares at β = 1.
	Squares(dst Means, b *Block)
	// FieldOf returns the field at which a unit has this mean and precision, if its other parameters are 0.
	FieldOf(mean, precision float64) float64
	// Curvature returns the second derivative of U′ of unit i. If it differs for x < 0 and x > 0, the
	// result is the smaller value.
	Curvature(d *Distribution, i int) float64
}

// A LearnedKind is a kind of real units with learned parameters besides the field.
type LearnedKind interface {
	RealKind
	// Slopes overwrites dst[k], for each parameter k that is Learned, with the derivatives of the
	// units' log Z with respect to that parameter at β = 1. A derivative is ⟨−∂U′/∂parameter⟩ given the input.
	Slopes(dst [MaxParams]Means, b *Block)
}

// MaxParams is the largest number of parameters of a kind besides the field.
const MaxParams = 3

// A Param describes a parameter that each unit of a kind has besides its field.
type Param struct {
	Name     string
	Initial  float32 // value in a new model
	Positive bool    // it must be above 0
	Learned  bool    // Slopes of LearnedKind has its gradient
}

// A Distribution has the parameters of the units of a layer, without weights.
type Distribution struct {
	Field  []float32
	Params [][]float32 // Params[k][i] is parameter k of unit i, in the order of Kind.Params; nil: zeros
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

// ParseVisible returns the kind with this name. It must be one that a visible layer can have.
func ParseVisible(name string) (Kind, error) {
	return parse(name, func(k Kind) bool { _, ok := k.(VisibleKind); return ok })
}

// ParseHidden returns the kind with this name. Its units must be independent.
func ParseHidden(name string) (Kind, error) {
	return parse(name, func(k Kind) bool { return k.Support() != OneHot })
}

// ParseLabel returns the kind with this name. Its units must be 0 or 1.
func ParseLabel(name string) (Kind, error) {
	return parse(name, func(k Kind) bool { return k.Support() != Real })
}

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

// A Block has the inputs of some units of one group, for a number of rows. The units are First+From …
// First+Width−1 of the layer. For independent units First is a multiple of 64 and Width at most
// 64. A one-hot group is one block, with From = 0.
type Block struct {
	First       int
	From, Width int
	In          []float32 // input of unit First+c in row r is In[r·Stride+c]
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

// Means has the means of all units of a layer, row by row.
type Means struct {
	Data []float32
	Cols int
}

// States has the states of all units of a layer, row by row: bits, or real values if any unit of the layer is
// real.
type States struct {
	Words  []uint64  // unit i is bit i%64 of word i/64 of its row
	Real   []float32 // if not nil, it replaces Words
	Stride int       // words or real values per row
}
