package train

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gorbm/negphase"
)

// A NamedLadder is a ladder with what it is called in a picture, such as
// "step 500".
type NamedLadder struct {
	Name string `json:"name"`
	negphase.Ladder
}

// Ladders draws how ladders of temperatures exchange, a column a ladder, as
// PNG: the rejection rate of each pair of neighbours, where the particles of a
// rung go in one round, the ways of particles over the rungs, and the share of
// its time that each particle has spent at each rung, which for all tends to
// the same. Rung 1 is the temperature of the model. It panics if there is no
// ladder.
func Ladders(w io.Writer, ladders ...NamedLadder) error {
	panels := []func(NamedLadder) (*plot.Plot, error){rejections, exchanges, journeys, associations}
	plots := make([][]*plot.Plot, len(panels))
	for i, panel := range panels {
		for _, l := range ladders {
			p, err := panel(l)
			if err != nil {
				return fmt.Errorf("cannot draw the ladder of %s: %w", l.Name, err)
			}
			if i == 0 {
				p.Title.Text = ladderTitle(l)
			}
			plots[i] = append(plots[i], p)
		}
	}
	const width, height = 13 * vg.Centimeter, 7 * vg.Centimeter
	return DrawPlots(w, plots, width, height, 4*vg.Millimeter)
}

func ladderTitle(l NamedLadder) string {
	return fmt.Sprintf("%s: %d temperatures up to %s\nbarrier %s; shares of time within %.2g of 1/%d",
		l.Name, len(l.Beta), Temperature(l.Beta[len(l.Beta)-1]), WithError(l.Barrier, l.BarrierErr), l.Deviation, len(l.Beta))
}

// WithError returns x ± its standard error, which has one digit, in the same
// decimals, such as 11.47 ± 0.02; of an error that is 0, as if unknown, x alone.
func WithError(x, err float64) string {
	if !(err > 0) || math.IsInf(err, 0) {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	digit, exponent, _ := strings.Cut(strconv.FormatFloat(err, 'e', 0, 64), "e")
	n, _ := strconv.Atoi(exponent) // our own text
	rounded, _ := strconv.ParseFloat(digit+"e"+exponent, 64)
	decimals := max(0, -n)
	return strconv.FormatFloat(x, 'f', decimals, 64) + " ± " + strconv.FormatFloat(rounded, 'f', decimals, 64)
}

// Temperature returns 1/β as text, to four digits.
func Temperature(beta float64) string {
	if beta == 0 {
		return "∞"
	}
	return strconv.FormatFloat(1/beta, 'g', 4, 64)
}

// rejections plots the rejection rate of each pair with its standard error,
// against the colder rung of the pair.
func rejections(l NamedLadder) (*plot.Plot, error) {
	p := plot.New()
	p.Y.Label.Text = "rejection of pair"
	p.X.Label.Text = "rung (colder of the pair)"
	p.Y.Min, p.Y.Max = 0, 1
	p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	p.Add(plotter.NewGrid())
	points := errorPoints{XYs: make(plotter.XYs, len(l.Rejection)), YErrors: make(plotter.YErrors, len(l.Rejection))}
	for k, r := range l.Rejection {
		points.XYs[k] = plotter.XY{X: float64(k + 1), Y: r}
		if l.RejectionErr != nil {
			points.YErrors[k].Low, points.YErrors[k].High = l.RejectionErr[k], l.RejectionErr[k]
		}
	}
	line, dots, err := plotter.NewLinePoints(points.XYs)
	if err != nil {
		return nil, err
	}
	line.Color, dots.Color = CurveColors[0], CurveColors[0]
	dots.Shape, dots.Radius = draw.CircleGlyph{}, vg.Points(2)
	bars, err := plotter.NewYErrorBars(points)
	if err != nil {
		return nil, err
	}
	p.Add(line, dots, bars)
	p.X.Min, p.X.Max = 0.5, float64(len(l.Beta))+0.5
	return p, nil
}

type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

// exchanges shows the matrix of moves between rungs in one round.
func exchanges(l NamedLadder) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "from rung (white: never in a round, black: always)", "to rung"
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(wholeTicks), plot.TickerFunc(wholeTicks)
	p.Add(shades(fractions{len(l.Beta), len(l.Beta), func(from, to int) float64 { return l.Moves[from][to] }}))
	return p, nil
}

// associations shows the share of its time of each particle at each rung,
// relative to the equal share, which has half the shade.
func associations(l NamedLadder) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "particle (white: never there, black: twice its share or more)", "rung"
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(wholeTicks), plot.TickerFunc(wholeTicks)
	p.Add(shades(fractions{len(l.Beta), len(l.Beta), func(particle, rung int) float64 {
		return l.Association[particle][rung] * float64(len(l.Beta)) / 2
	}}))
	return p, nil
}

// fractions is a grid of rungs counted from 1.
type fractions struct {
	cols, rows int
	at         func(c, r int) float64
}

func (f fractions) Dims() (c, r int)   { return f.cols, f.rows }
func (f fractions) X(c int) float64    { return float64(c + 1) }
func (f fractions) Y(r int) float64    { return float64(r + 1) }
func (f fractions) Z(c, r int) float64 { return min(1, f.at(c, r)) }

// shades draws fractions from white, none, to black.
func shades(f fractions) *plotter.HeatMap {
	h := plotter.NewHeatMap(f, greys{})
	h.Min, h.Max = 0, 1
	return h
}

type greys struct{}

var _ palette.Palette = greys{}

// Colors returns 64 greys, more than the eye tells apart.
func (greys) Colors() []color.Color {
	c := make([]color.Color, 64)
	for i := range c {
		c[i] = color.Gray{uint8(255 - 255*i/(len(c)-1))}
	}
	return c
}

// shownParticles is the number of particles whose ways are drawn: as many as
// there are colours.
var shownParticles = len(CurveColors)

// journeys plots the rungs of some particles of the first group, of those that
// started evenly spread over the ladder, in the last rounds.
func journeys(l NamedLadder) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "round (the last ones)", "rung"
	k := len(l.Beta)
	n := min(k, shownParticles)
	first := l.Rounds - int64(len(l.Trajectory))
	for i := range n {
		particle := i * (k - 1) / max(1, n-1)
		xy := make(plotter.XYs, len(l.Trajectory))
		for t, rungs := range l.Trajectory {
			xy[t] = plotter.XY{X: float64(first + int64(t) + 1), Y: float64(rungs[particle]) + 1}
		}
		if len(xy) == 0 {
			continue
		}
		line, err := plotter.NewLine(xy)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = CurveColors[i], vg.Points(0.7)
		p.Add(line)
	}
	p.Y.Min, p.Y.Max = 0.5, float64(k)+0.5
	p.X.Min, p.X.Max = float64(first), float64(max(l.Rounds, first+1))
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(stepTicks), plot.TickerFunc(wholeTicks)
	return p, nil
}

// wholeTicks are some five ticks at whole numbers.
func wholeTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	by := max(1, math.Round((high-low)/5))
	for x := by * math.Ceil(low/by); x <= high; x += by {
		ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'f', -1, 64)})
	}
	return ticks
}
