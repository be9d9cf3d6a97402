package units

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm/internal/vec"
)

const (
	number = 5  // number of units of a test's block
	first  = 64 // number of its first unit
	layer  = 75 // number of units of the layer
)

// listed has the kinds whose states can be listed.
var listed = slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return k.Support() == Real })

// statesOf lists the states of a few units of a kind.
func statesOf(k Kind) (all []uint64) {
	for x := range uint64(1 << number) {
		if k.Support() == Bits || x&(x-1) == 0 && x != 0 {
			all = append(all, x)
		}
	}
	return all
}

// logWeights returns the log weights of all states of units with inputs z.
func logWeights(k Kind, z []float64) (logw []float64) {
	for _, x := range statesOf(k) {
		w := 0.0
		for i, z := range z {
			w += z * float64(x>>i&1)
		}
		logw = append(logw, w)
	}
	return logw
}

// inputs returns rows of inputs, some of them large, in a block for the kind.
func inputs(k Kind, rows int, scale float64) Block {
	b := Block{First: first, Width: number, Rows: rows, Row: 3, Stride: vec.Block}
	if k.Support() == OneHot {
		b.First, b.Stride = first+3, number+1
	}
	b.In = make([]float32, rows*b.Stride)
	r := rand.New(rand.NewPCG(uint64(rows), 1))
	for row := range rows {
		for i := range number {
			b.In[row*b.Stride+i] = float32(scale * r.NormFloat64())
		}
	}
	return b
}

// at returns the inputs of row r at β on the path from the base.
func (b *Block) at(r int, beta float64) []float64 {
	z := make([]float64, b.Width)
	for i := range z {
		z[i] = beta * float64(b.In[r*b.Stride+i])
		if b.Base != nil {
			z[i] += (1 - beta) * b.Base.At(b.First+i)
		}
	}
	return z
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tol)
	}
}

// LogZ agrees with the sum over all states, Means with its derivatives, and LogZs and Rises with
// LogZ.
func TestKindsAgainstTheirStates(t *testing.T) {
	for _, k := range listed {
		for _, scale := range []float64{0.5, 3, 30} {
			b := inputs(k, 7, scale)
			b.Base = &Distribution{Field: make([]float32, layer)}
			for i := range b.Base.Field {
				b.Base.Field[i] = float32(i%7) - 3
			}
			mean := Means{Data: make([]float32, 7*layer), Cols: layer}
			k.Means(mean, &b)
			sum, product := make([]float64, 14), make([]float64, 14)
			k.LogZs(sum, product, 2, mean, &b)
			rise, factor := make([]float64, 7), make([]float64, 7)
			k.Rises(rise, factor, &b, 0.25, 0.75)
			if b.Base == nil {
				t.Fatalf("%v: the block has lost its base", k)
			}
			for r := range 7 {
				z := b.at(r, 1)
				logZ := vec.LogSumExp(logWeights(k, z))
				size := 1 + math.Abs(logZ)
				near(t, k.String()+": log Z", k.LogZ(z, nil, 0), logZ, 1e-14*size) // about thirty roundings
				// Five float32 means with relative errors of 2⁻²⁴.
				near(t, k.String()+": log Z from means", sum[2*r]-math.Log(product[2*r]), logZ, number*0x1p-23)
				near(t, k.String()+": rise", rise[r]+math.Log(factor[r]),
					vec.LogSumExp(logWeights(k, b.at(r, 0.75)))-vec.LogSumExp(logWeights(k, b.at(r, 0.25))), 1e-13*size)
				for i := range z {
					const h = 1e-4
					x := z[i]
					z[i] = x + h
					up := k.LogZ(z, nil, 0)
					z[i] = x - h
					slope := (up - k.LogZ(z, nil, 0)) / (2 * h)
					z[i] = x
					// A third derivative of at most 0.1, the rounding of log Z over 2h, and
					// float32.
					near(t, k.String()+": mean", float64(mean.Data[r*layer+b.First+i]), slope, 0.1/6*h*h+1e-15*size/h+0x1p-21)
				}
			}
		}
	}
}

// A group that begins within a block does not change units of other groups before it.
func TestGroupWithinABlock(t *testing.T) {
	const from = 3
	b := inputs(Bernoulli, 7, 3)
	b.Base = &Distribution{Field: make([]float32, layer)}
	for i := range b.Base.Field {
		b.Base.Field[i] = float32(i%7) - 3
	}
	b.From = from
	mean := Means{Data: make([]float32, 7*layer), Cols: layer}
	for i := range mean.Data {
		mean.Data[i] = -1
	}
	Bernoulli.Means(mean, &b)
	sum, product := make([]float64, 7), make([]float64, 7)
	Bernoulli.LogZs(sum, product, 1, mean, &b)
	rise, factor := make([]float64, 7), make([]float64, 7)
	Bernoulli.Rises(rise, factor, &b, 0.25, 0.75)
	for r := range 7 {
		row, logZ, want := mean.Data[r*layer+b.First:], 0.0, 0.0
		for i, z := range b.at(r, 1) {
			if i < from {
				near(t, "a unit of another group", float64(row[i]), -1, 0)
				continue
			}
			near(t, "mean", float64(row[i]), 1/(1+math.Exp(-z)), 0x1p-22)
			logZ += vec.Softplus(z)
			want += vec.Softplus(b.at(r, 0.75)[i]) - vec.Softplus(b.at(r, 0.25)[i])
		}
		near(t, "log Z", sum[r]-math.Log(product[r]), logZ, number*0x1p-23)
		near(t, "rise", rise[r]+math.Log(factor[r]), want, 1e-13*(1+math.Abs(want)))
	}
}

// Draws have the distribution of their states at each β, with and without a base. Draws at another
// β do not.
func TestDraws(t *testing.T) {
	const rows = 20000
	for _, k := range listed {
		for _, based := range []bool{false, true} {
			one := inputs(k, 1, 1.5)
			draw := func(beta float32) []int {
				b := one
				b.Rows, b.In, b.Beta = rows, make([]float32, rows*b.Stride), make([]float32, rows)
				for r := range rows {
					copy(b.In[r*b.Stride:][:number], one.In)
					b.Beta[r] = beta
				}
				if based {
					b.Base = &Distribution{Field: make([]float32, layer)}
					for i := range b.Base.Field {
						b.Base.Field[i] = float32(i%3) - 1
					}
				}
				x := States{Words: make([]uint64, 2*rows), Stride: 2}
				for i := range x.Words {
					x.Words[i] = ^uint64(0)
				}
				k.Draw(x, &b, vec.Stream{K0: 1, K1: 2})
				counts := make([]int, len(statesOf(k)))
				for r := range rows {
					state := x.Words[2*r+1] >> (b.First % 64)
					if k.Support() == OneHot { // units of other groups do not change
						if x.Words[2*r] != ^uint64(0) || state>>number != ^uint64(0)>>(number+b.First%64) {
							t.Fatalf("%v: other units than the group's are drawn", k)
						}
						state &= 1<<number - 1
					}
					for i, s := range statesOf(k) {
						if s == state {
							counts[i]++
							state = math.MaxUint64
						}
					}
					if state != math.MaxUint64 {
						t.Fatalf("%v: a draw of %b", k, state)
					}
				}
				return counts
			}
			b := one
			if based {
				b.Base = &Distribution{Field: make([]float32, layer)}
				for i := range b.Base.Field {
					b.Base.Field[i] = float32(i%3) - 1
				}
			}
			p := logWeights(k, b.at(0, 0.6))
			total := vec.LogSumExp(p)
			for i, w := range p {
				p[i] = math.Exp(w - total)
			}
			if z := diag.StationarityZ(draw(0.6), p); z > 6 {
				t.Errorf("%v, base %v: z = %.1f, want at most 6", k, based, z)
			}
			if z := diag.StationarityZ(draw(1), p); z < 6 {
				t.Errorf("%v, base %v: draws at β = 1 pass for draws at 0.6: z = %.1f, want at least 6", k, based, z)
			}
		}
	}
}

// Field gives units with the means of the data, up to half a row.
func TestField(t *testing.T) {
	for _, k := range listed {
		mean, rows := []float32{0.125, 0.25, 0.125, 0.375, 0.125}, 1e6 // one of the units is on in each row
		field, z := make([]float32, number), make([]float64, number)
		k.(VisibleKind).Field(field, mean, rows)
		for i, x := range field {
			z[i] = float64(x)
		}
		logw, p := logWeights(k, z), make([]float64, number)
		total := vec.LogSumExp(logw)
		for s, x := range statesOf(k) {
			for i := range p {
				p[i] += math.Exp(logw[s]-total) * float64(x>>i&1)
			}
		}
		for i := range p {
			near(t, k.String()+": mean", p[i], float64(mean[i]), 3/rows+4*0x1p-23) // halves of a row; fields are rounded to 2⁻²³ of 2
		}
		k.(VisibleKind).Field(field, []float32{0, 1, 0, 0, 0}, 10)
		for _, x := range field {
			if math.IsInf(float64(x), 0) || x != x {
				t.Errorf("%v: the field of a unit that never changes is %v", k, x)
			}
		}
	}
}

// The parsers accept the kinds that a layer can have.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		parse func(string) (Kind, error)
		good  []Kind
		want  string
	}{
		{ParseVisible, []Kind{Bernoulli, Softmax, Gaussian}, `unknown kind of units "x"; it is bernoulli, softmax or gaussian`},
		{ParseHidden, []Kind{Bernoulli, Gaussian, ReLU, DReLU}, `unknown kind of units "x"; it is bernoulli, gaussian, relu or drelu`},
		{ParseLabel, []Kind{Bernoulli, Softmax}, `unknown kind of units "x"; it is bernoulli or softmax`},
	} {
		for _, k := range Kinds {
			got, err := c.parse(k.String())
			if good := slices.Contains(c.good, k); good != (err == nil) || good && got != k {
				t.Errorf("%v: got %v, %v", k, got, err)
			}
		}
		if _, err := c.parse("x"); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// No call allocates.
func TestKindsAllocateNothing(t *testing.T) {
	for _, k := range listed {
		b := inputs(k, 20, 1)
		b.Base, b.Beta = &Distribution{Field: make([]float32, layer)}, make([]float32, 20)
		mean := Means{Data: make([]float32, 20*layer), Cols: layer}
		x := States{Words: make([]uint64, 40), Stride: 2}
		sum, product := make([]float64, 20), make([]float64, 20)
		if n := testing.AllocsPerRun(10, func() {
			k.Means(mean, &b)
			k.LogZs(sum, product, 1, mean, &b)
			k.Rises(sum, product, &b, 0.5, 1)
			k.Draw(x, &b, vec.Stream{})
		}); n > 0 {
			t.Errorf("%v: %v allocations, want 0", k, n)
		}
	}
}
