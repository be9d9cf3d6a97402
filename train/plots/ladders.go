package plots

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/negphase"
)

// A NamedLadder is a ladder of temperatures with what it is called in a
// picture, such as "step 500".
type NamedLadder struct {
	Name string `json:"name"`
	negphase.Ladder
}

// Ladders draws how ladders of temperatures exchange, one column for each
// ladder and four panels in each: the rejection rate of each pair of
// neighbours; where the particles of a temperature go in one round; which
// temperatures some particles went through; and the share of its time that
// each particle has spent at each temperature, which should tend to the same
// for all. Temperature 1 is that of the model. It panics if there is no ladder.
func Ladders(w io.Writer, ladders ...NamedLadder) error {
	panels := []func(NamedLadder) *Plot{rejections, exchanges, trajectories, associations}
	rows := make([][]*Plot, len(panels))
	for i, panel := range panels {
		for _, l := range ladders {
			p := panel(l)
			if i == 0 {
				p.Title.Text = l.title()
			}
			if p.err != nil {
				return fmt.Errorf("cannot draw the ladder of %s: %w", l.Name, p.err)
			}
			rows[i] = append(rows[i], p)
		}
	}
	return Grid(w, rows, 13*vg.Centimeter, 7*vg.Centimeter, 4*vg.Millimeter)
}

func (l NamedLadder) title() string {
	return fmt.Sprintf("%s: %d temperatures up to %s\nbarrier %s; shares of time within %.2g of 1/%d",
		l.Name, len(l.Beta), Temperature(l.Beta[len(l.Beta)-1]), WithError(l.Barrier, l.BarrierErr), l.Deviation, len(l.Beta))
}

// WithError returns x ± its standard error, such as 11.47 ± 0.02. The error is
// rounded to one digit, and x has the same decimals. If the error is 0, not
// finite or unknown, x stands alone.
func WithError(x, err float64) string {
	if !(err > 0) || math.IsInf(err, 0) {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	text := strconv.FormatFloat(err, 'e', 0, 64)
	_, exponent, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(exponent) // our own text
	rounded, _ := strconv.ParseFloat(text, 64)
	return fmt.Sprintf("%.*f ± %.*f", max(0, -n), x, max(0, -n), rounded)
}

// Temperature returns 1/β as text, to four digits.
func Temperature(beta float64) string {
	if beta == 0 {
		return "∞"
	}
	return strconv.FormatFloat(1/beta, 'g', 4, 64)
}

// rejections shows the rejection rate of each pair of neighbours with its
// standard error, against the index of the colder one.
func rejections(l NamedLadder) *Plot {
	p := New("pair, by the number of its colder temperature", "rejection of pair")
	p.Y.Min, p.Y.Max = 0, 1
	p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	p.Grid()
	xy := make(plotter.XYs, len(l.Rejection))
	for k, r := range l.Rejection {
		xy[k] = plotter.XY{X: float64(k + 1), Y: r}
	}
	e := l.RejectionErr
	if e == nil {
		e = make([]float64, len(xy))
	}
	p.Line(xy, Colors[0], vg.Points(1))
	p.Dots(xy, Colors[0], vg.Points(2))
	p.ErrorBars(xy, e)
	p.X.Min, p.X.Max = 0.5, float64(len(l.Beta))+0.5
	return p
}

// exchanges shows the probabilities of moves between temperatures in one round.
func exchanges(l NamedLadder) *Plot {
	return shades(l, "from temperature no. (white: never in a round, black: always)", "to temperature no.", func(from, to int) float64 { return l.Moves[from][to] })
}

// associations shows the share of its time that each particle has spent at
// each temperature. An equal share, of 1 over their number, has half the shade.
func associations(l NamedLadder) *Plot {
	return shades(l, "particle (white: never there, black: twice its share or more)", "temperature no.", func(particle, k int) float64 {
		return l.Association[particle][k] * float64(len(l.Beta)) / 2
	})
}

// trajectories shows the temperatures that some particles of the first group
// of chains had in the last rounds. The particles are those that started evenly
// spread over the ladder, as many as there are colours.
func trajectories(l NamedLadder) *Plot {
	p := New("round (the last ones)", "temperature no.")
	k := len(l.Beta)
	n := min(k, len(Colors))
	first := l.Rounds - int64(len(l.Trajectory))
	for i := range n {
		particle := i * (k - 1) / max(1, n-1)
		xy := make(plotter.XYs, len(l.Trajectory))
		for t, at := range l.Trajectory {
			xy[t] = plotter.XY{X: float64(first + int64(t) + 1), Y: float64(at[particle]) + 1}
		}
		if len(xy) > 0 {
			p.Line(xy, Colors[i], vg.Points(0.7))
		}
	}
	p.Y.Min, p.Y.Max = 0.5, float64(k)+0.5
	p.X.Min, p.X.Max = float64(first), float64(max(l.Rounds, first+1))
	p.X.Tick.Marker, p.Y.Tick.Marker = stepTicks, plot.TickerFunc(wholeTicks)
	return p
}

// shades shows a value from 0, white, to 1 or more, black, for each pair of
// indices into the ladder.
func shades(l NamedLadder, x, y string, at func(x, y int) float64) *Plot {
	p := New(x, y)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(wholeTicks), plot.TickerFunc(wholeTicks)
	h := plotter.NewHeatMap(square{len(l.Beta), at}, greys{})
	h.Min, h.Max = 0, 1
	p.Add(h)
	return p
}

// A square is a grid of values for plotter.HeatMap. Its axes count from 1.
type square struct {
	side int
	at   func(c, r int) float64
}

func (s square) Dims() (c, r int)   { return s.side, s.side }
func (s square) X(c int) float64    { return float64(c + 1) }
func (s square) Y(r int) float64    { return float64(r + 1) }
func (s square) Z(c, r int) float64 { return min(1, s.at(c, r)) }

// greys is the palette of shades.
type greys struct{}

// Colors returns 64 greys from white to black, more than the eye tells apart.
func (greys) Colors() []color.Color {
	c := make([]color.Color, 64)
	for i := range c {
		c[i] = color.Gray{uint8(255 - 255*i/(len(c)-1))}
	}
	return c
}
