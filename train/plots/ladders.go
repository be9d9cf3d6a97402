package plots

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"gorbm/negphase"
)

// A NamedLadder is a ladder of temperatures with its name in a picture, such as "step 500".
type NamedLadder struct {
	Name string `json:"name"`
	negphase.Ladder
}

// Ladders draws how ladders of temperatures exchange. Each ladder has a column of four panels: the
// rejection rate of each pair of neighbours; the probabilities of moves between temperatures in one round;
// the temperatures of two particles over the rounds; and the fraction of its time that each particle has
// spent at each temperature, which should tend to the same value for all particles and temperatures.
// Temperature 1 is that of the model. Ladders panics if there is no ladder.
func Ladders(ladders ...NamedLadder) *Page {
	panels := []func(NamedLadder) *Plot{rejections, exchanges, trajectories, associations}
	rows := make([][]*Plot, len(panels))
	for i, panel := range panels {
		for _, l := range ladders {
			p := panel(l)
			if i == 0 {
				p.Title.Text = l.title() + "\n" + p.Title.Text
			}
			if p.err != nil {
				p.err = fmt.Errorf("cannot draw the ladder of %s: %w", l.Name, p.err)
			}
			rows[i] = append(rows[i], p)
		}
	}
	return Grid(rows, 11*vg.Centimeter, 6.5*vg.Centimeter)
}

func (l NamedLadder) title() string {
	return fmt.Sprintf("%s: %d temperatures up to %s\nbarrier %s; shares of time within %.2g of 1/%d",
		l.Name, len(l.Beta), Temperature(l.Beta[len(l.Beta)-1]), WithError(l.Barrier, l.BarrierErr), l.Deviation, len(l.Beta))
}

// WithError returns x ± its standard error as text, such as 11.47 ± 0.02. The error is rounded to one
// digit, and x to the same decimals. If the error is 0, not finite or unknown, only x is returned.
func WithError(x, err float64) string {
	if !(err > 0) || math.IsInf(err, 0) {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	text := strconv.FormatFloat(err, 'e', 0, 64)
	_, exponent, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(exponent) // FormatFloat wrote it
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

// rejections plots the rejection rate of each pair of neighbours, with two standard errors, against the
// number of the colder neighbour.
func rejections(l NamedLadder) *Plot {
	p := New("pair, by the number of its colder temperature", "share of swaps rejected")
	p.Title.Text = "Rejection of neighbours, ± 2 standard errors"
	p.Y.Min, p.Y.Max = 0, 1
	p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	p.Grid()
	xy := make(plotter.XYs, len(l.Rejection))
	e := make([]float64, len(xy))
	for k, r := range l.Rejection {
		xy[k] = plotter.XY{X: float64(k + 1), Y: r}
		if l.RejectionErr != nil {
			e[k] = 2 * l.RejectionErr[k]
		}
	}
	p.Line(xy, Colors[0], vg.Points(curveWidth))
	p.Dots(xy, Colors[0], vg.Points(dotRadius))
	bars := p.ErrorBars(xy, e)
	bars.Color, bars.CapWidth = Colors[0], vg.Points(3)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.5, float64(len(l.Beta))+0.5, 0, 1
	return p
}

// exchanges plots the probabilities of moves between temperatures in one round.
func exchanges(l NamedLadder) *Plot {
	p := shades(l, "from temperature no.", "to temperature no.", func(from, to int) float64 { return l.Moves[from][to] })
	p.Title.Text = "Moves in one round (white: never, black: always)"
	return p
}

// associations plots the fraction of its time that each particle has spent at each temperature. With K
// temperatures, the fraction 1/K is half black.
func associations(l NamedLadder) *Plot {
	p := shades(l, "particle", "temperature no.", func(particle, k int) float64 {
		return l.Association[particle][k] * float64(len(l.Beta)) / 2
	})
	p.Title.Text = "Time of each particle (white: none, black: twice its share)"
	return p
}

// shownWays is about how often the paths of two particles cross the panel from one end of the ladder to the
// other. More crossings would be a tangle.
const shownWays = 16

// trajectories plots the temperatures of two particles of the first group in the last rounds: those that
// started at the lowest and at the highest temperature. The better the ladder exchanges, the fewer rounds
// are shown.
func trajectories(l NamedLadder) *Plot {
	p := New("round", "temperature no.")
	k := len(l.Beta)
	from, way := max(0, len(l.Trajectory)-1), 0
	for ; from > 0 && way < shownWays*k; from-- {
		for _, particle := range []int{0, k - 1} {
			d := int(l.Trajectory[from][particle]) - int(l.Trajectory[from-1][particle])
			way += max(d, -d)
		}
	}
	shown := l.Trajectory[from:]
	p.Title.Text = fmt.Sprintf("Two particles in the last %d of %d rounds", len(shown), l.Rounds)
	first := float64(l.Rounds) - float64(len(shown))
	for i, particle := range []int{0, k - 1} {
		xy := make(plotter.XYs, len(shown))
		for t, at := range shown {
			xy[t] = plotter.XY{X: first + float64(t) + 1, Y: float64(at[particle]) + 1}
		}
		if len(xy) > 0 {
			p.Line(xy, Colors[i], vg.Points(curveWidth-0.2*float64(i))).StepStyle = plotter.MidStep
		}
	}
	p.Y.Min, p.Y.Max = 0.5, float64(k)+0.5
	p.X.Min, p.X.Max = first, max(float64(l.Rounds), first+1)
	p.Y.Tick.Marker = plot.TickerFunc(wholeTicks)
	return p
}

// shades plots a value for each pair of indices into the ladder: 0 is white, 1 or more is black.
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

// Colors returns 64 greys from white to black, more than the eye can distinguish.
func (greys) Colors() []color.Color {
	c := make([]color.Color, 64)
	for i := range c {
		c[i] = color.Gray{uint8(255 - 255*i/(len(c)-1))}
	}
	return c
}
