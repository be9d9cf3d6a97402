// Package potts converts restricted Boltzmann machines to pairwise (Potts) models of aligned
// sequences, predicts contacts from their couplings, and reads and writes the text files of adabmDCA.
//
// # Where to begin
//
// Read Effective and Model. ExampleEffective computes the couplings of a small model.
package potts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"gorbm/rbm"
	"gorbm/rbm/memory"
	"gorbm/rbm/parallel"
)

// A Model is a Potts model of sequences a with Sites sites and States states at each site:
//
//	ln p(a) = Σ_i h_i(a_i) + Σ_{i<j} J_ij(a_i, a_j) − ln Z
type Model struct {
	Sites, States int
	Fields        []float64   // h_i(a) at index i·States + a, in nats
	Couplings     [][]float64 // for each pair i < j: J_ij(a, b) at index a·States + b, in nats; see Pair
}

// New returns a model whose fields and couplings are zero. It returns an error if they do not fit
// into memory.
func New(sites, states int) (*Model, error) {
	pairs, q2 := sites*(sites-1)/2, states*states
	if err := memory.Check(fmt.Sprintf("the couplings of %d sites of %d states", sites, states), 8*float64(pairs)*float64(q2)); err != nil {
		return nil, err
	}
	p := &Model{Sites: sites, States: states, Fields: make([]float64, sites*states), Couplings: make([][]float64, pairs)}
	all := make([]float64, pairs*q2)
	for k := range p.Couplings {
		p.Couplings[k] = all[k*q2 : (k+1)*q2 : (k+1)*q2]
	}
	return p, nil
}

// Pair returns the couplings of sites i < j, States × States row by row. The result shares memory with p.
func (p *Model) Pair(i, j int) []float64 { return p.Couplings[p.number(i, j)] }

// number returns the index of the pair i < j in Couplings.
func (p *Model) number(i, j int) int { return i*(2*p.Sites-i-1)/2 + j - i - 1 }

// LogWeight returns ln p(a) + ln Z, in nats, for a sequence of states a.
func (p *Model) LogWeight(a []int32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += p.Fields[i*p.States+int(x)]
		for j := i + 1; j < len(a); j++ {
			sum += p.Pair(i, j)[int(x)*p.States+int(a[j])]
		}
	}
	return sum
}

// ZeroSum transforms p to the zero-sum gauge: fields sum to zero over the states of a site, and
// couplings sum to zero over the states of either site. The distribution does not change.
func (p *Model) ZeroSum() {
	q := p.States
	for i := range p.Sites {
		for j := i + 1; j < p.Sites; j++ {
			c := p.Pair(i, j)
			rows, cols, all := make([]float64, q), make([]float64, q), 0.0
			for k, x := range c {
				rows[k/q] += x / float64(q)
				cols[k%q] += x / float64(q)
				all += x / float64(q*q)
			}
			for k := range c {
				c[k] += all - rows[k/q] - cols[k%q]
			}
			for a := range q {
				p.Fields[i*q+a] += rows[a]
				p.Fields[j*q+a] += cols[a]
			}
		}
	}
	for i := range p.Sites {
		h := p.Fields[i*q : (i+1)*q]
		mean := 0.0
		for _, x := range h {
			mean += x / float64(q)
		}
		for a := range h {
			h[a] -= mean
		}
	}
}

// ErrInputs says that the inputs of an RBM are not sites with equal numbers of states.
var ErrInputs = errors.New("this needs inputs that are sites of sequences, softmax groups of equal sizes, and no label")

// sitesOf returns the number of sites of m and the number of states of each.
func sitesOf(m *rbm.RBM) (sites, states int, err error) {
	groups := m.SoftmaxGroups()
	units := 0
	for _, g := range groups {
		units += g.Units
		if g.Label || g.Units != groups[0].Units {
			return 0, 0, ErrInputs
		}
	}
	if len(groups) < 2 || units != m.Visible() {
		return 0, 0, ErrInputs
	}
	return len(groups), groups[0].Units, nil
}

// Effective returns the effective pairwise model of m. It expands −F, where F is the free energy of a
// sequence, in functions of one site, of two sites and of more sites, and keeps those of one and two sites.
// In the zero-sum gauge the expansion is unique. With the mean ⟨·⟩ over uniformly distributed sequences a,
//
//	J_ij(a,b) = ⟨−F | a_i=a, a_j=b⟩ − ⟨−F | a_i=a⟩ − ⟨−F | a_j=b⟩ + ⟨−F⟩
//	h_i(a)    = ⟨−F | a_i=a⟩ − ⟨−F⟩
//
// These are the couplings of Decelle, Navas Gómez and Seoane, "Inferring higher-order couplings with neural
// networks" (2025). These authors approximate the input of a hidden unit from the other sites by a Gaussian;
// here the means are exact except for rounding. Let W_k(a) be the weight of state a of site k to a hidden
// unit with bias c, χ_k(t) = ⟨exp(i t W_k)⟩ the mean over the states of site k, and λ(t) = πt / sinh πt the
// Fourier transform of the second derivative of ln(1+eˣ). The hidden unit contributes
//
//	−1/2π ∫ λ(t)/t² e^{itc} Π_{k≠i,j} χ_k(t) (e^{itW_i(a)} − χ_i(t)) (e^{itW_j(b)} − χ_j(t)) dt
//
// to J_ij(a,b). The integrand is analytic. The trapezoidal rule with steps of 2π/P has an error of about
// e^{−(P−R)}, where R is the largest absolute input of the unit. Effective takes about
// 100·Hidden·Visible² multiply-adds.
//
// If progress is not nil, it is called with the number of hidden units done. The error is ErrInputs or that
// of ctx. It wraps rbm.ErrUnits if hidden units are real, and rbm.ErrDiverged if weights are too large or not
// finite. Another error says that the couplings do not fit into memory.
func Effective(ctx context.Context, m *rbm.RBM, progress func(done int)) (*Model, error) {
	sites, states, err := sitesOf(m)
	if err != nil {
		return nil, err
	}
	if err := m.CheckBinaryHidden(); err != nil {
		return nil, fmt.Errorf("effective couplings need binary hidden units: %w", err)
	}
	p, err := New(sites, states)
	if err != nil {
		return nil, err
	}
	for i, b := range m.VisibleBias {
		p.Fields[i] = float64(b)
	}
	for i := range sites {
		centre(p.Fields[i*states : (i+1)*states])
	}
	for j := range m.Hidden() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u := newUnit(m, j, sites, states)
		if u == nil {
			return nil, fmt.Errorf("%w: the inputs of hidden unit %d reach beyond ±%.0e", rbm.ErrDiverged, j, mostReach)
		}
		u.add(p)
		if progress != nil {
			progress(j + 1)
		}
	}
	return p, nil
}

// centre subtracts the mean of x from its elements, and returns the mean.
func centre(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for i := range x {
		x[i] -= mean
	}
	return mean
}

const (
	aliasMargin = 34    // P − R, in nats: the error of the trapezoidal rule is about e^−34 < 2e-15
	leastTerm   = 1e-14 // smaller terms of the integral are left out
	mostReach   = 1e4   // largest R; the number of nodes is about 1.5 times R
)

// A unit is a hidden unit, prepared for the integrals of Effective.
type unit struct {
	q      int         // number of states
	bias   float64     // c plus the means of W_k over the states of each site
	weight [][]float64 // for each site k: W_k(a) − mean of W_k
	step   float64     // 2π/P
	nodes  []node
	factor [][]complex128 // χ_k at each node
	// For each site k a matrix with a row for each state a. Column 0 is W_k(a). Columns 1 + 2n and 2 + 2n are the
	// real and imaginary part of e^{itW_k(a)} − χ_k(t) at node n.
	waves []blas64.General
}

// A node of the trapezoidal rule.
type node struct {
	t      float64
	weight complex128 // −(step/π) λ(t)/t² e^{itc}
}

// newUnit returns hidden unit j of m, or nil if its inputs are too large.
func newUnit(m *rbm.RBM, j, sites, states int) *unit {
	u := &unit{q: states, bias: float64(m.HiddenBias[j])}
	low, high := 0.0, 0.0 // range of the input without the bias
	for k := range sites {
		w := make([]float64, states)
		for a := range w {
			w[a] = float64(m.Weight(k*states+a, j))
		}
		u.bias += centre(w)
		u.weight = append(u.weight, w)
		low, high = low+slices.Min(w), high+slices.Max(w)
	}
	reach := max(math.Abs(u.bias+low), math.Abs(u.bias+high))
	if !(reach <= mostReach) {
		return nil
	}
	u.step = 2 * math.Pi / (reach + aliasMargin)
	u.factor = make([][]complex128, sites)
	size := make([]float64, sites)
	for n := 1; ; n++ {
		t := float64(n) * u.step
		scale := u.step / math.Pi / t / t * math.Pi * t / math.Sinh(math.Pi*t)
		if !(4*scale > leastTerm) { // each of the two differences of waves is at most 2
			break
		}
		chi := make([]complex128, sites)
		for k, w := range u.weight {
			for _, x := range w {
				sin, cos := math.Sincos(t * x)
				chi[k] += complex(cos/float64(states), sin/float64(states))
			}
			size[k] = math.Hypot(real(chi[k]), imag(chi[k]))
		}
		slices.Sort(size) // the factors of i and j are missing; in the worst case they are the smallest two
		bound := 4 * scale
		for _, s := range size[2:] {
			bound *= s
		}
		if bound < leastTerm {
			continue
		}
		sin, cos := math.Sincos(t * u.bias)
		u.nodes = append(u.nodes, node{t, complex(-scale*cos, -scale*sin)})
		for k := range chi {
			u.factor[k] = append(u.factor[k], chi[k])
		}
	}
	cols := 1 + 2*len(u.nodes)
	for k, w := range u.weight {
		g := blas64.General{Rows: states, Cols: cols, Stride: cols, Data: make([]float64, states*cols)}
		for a, x := range w {
			row := g.Data[a*cols : (a+1)*cols]
			row[0] = x
			for n, at := range u.nodes {
				sin, cos := math.Sincos(at.t * x)
				row[1+2*n], row[2+2*n] = cos-real(u.factor[k][n]), sin-imag(u.factor[k][n])
			}
		}
		u.waves = append(u.waves, g)
	}
	return u
}

// add adds the fields and couplings of the unit to p.
func (u *unit) add(p *Model) {
	sites, n := len(u.weight), len(u.nodes)
	// Products of χ_k over the sites before k, and over those after it.
	before, after := make([][]complex128, sites), make([][]complex128, sites)
	before[0], after[sites-1] = ones(n), ones(n)
	for k := 1; k < sites; k++ {
		before[k] = times(before[k-1], u.factor[k-1])
		after[sites-1-k] = times(after[sites-k], u.factor[sites-k])
	}
	parallel.Do(sites, func(i int) {
		u.addField(p, i, times(before[i], after[i]))
		left := blas64.General{Rows: u.q, Cols: 1 + 2*n, Stride: 1 + 2*n, Data: make([]float64, u.q*(1+2*n))}
		between := slices.Clone(before[i]) // product of χ_k over all sites before j except i
		for j := i + 1; j < sites; j++ {
			for a := range u.q {
				to, from := left.Data[a*left.Cols:(a+1)*left.Cols], u.waves[i].Data[a*left.Cols:(a+1)*left.Cols]
				to[0] = u.step / (2 * math.Pi) * from[0] // the limit at t = 0
				for k, at := range u.nodes {
					g := mul(mul(at.weight, mul(between[k], after[j][k])), complex(from[1+2*k], from[2+2*k]))
					to[1+2*k], to[2+2*k] = real(g), -imag(g)
				}
			}
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, left, u.waves[j], 1, blas64.General{Rows: u.q, Cols: u.q, Stride: u.q, Data: p.Pair(i, j)})
			between = times(between, u.factor[j])
		}
	})
}

// addField adds the fields of site i to p. others has the products of χ over all other sites. It uses
//
//	ln(1+eˣ) = x/2 + ln 2 + 1/2π ∫ λ(t)/t² (1 − cos tx) dt
func (u *unit) addField(p *Model, i int, others []complex128) {
	w, wave := u.weight[i], u.waves[i]
	variance := 0.0
	for _, x := range w {
		variance += float64(x*x) / float64(u.q)
	}
	for a, x := range w {
		// The term of the node t = 0: (1 − cos tz)/t² tends to z²/2. Given a, the mean of z² is bias² + 2·bias·x + x² plus the
		// variances of the other sites.
		sum := float64(x/2) + float64(u.step/(4*math.Pi)*(float64(2*u.bias*x)+float64(x*x)-variance))
		row := wave.Data[a*wave.Cols : (a+1)*wave.Cols]
		for n, at := range u.nodes {
			sum += real(mul(mul(at.weight, others[n]), complex(row[1+2*n], row[2+2*n])))
		}
		p.Fields[i*u.q+a] += sum
	}
}

func ones(n int) []complex128 { return slices.Repeat([]complex128{1}, n) }

// times returns the elementwise product of x and y.
func times(x, y []complex128) []complex128 {
	z := make([]complex128, len(x))
	for i := range z {
		z[i] = mul(x[i], y[i])
	}
	return z
}

// mul returns x·y without fused multiply-adds.
func mul(x, y complex128) complex128 {
	return complex(float64(real(x)*real(y))-float64(imag(x)*imag(y)), float64(real(x)*imag(y))+float64(imag(x)*real(y)))
}
