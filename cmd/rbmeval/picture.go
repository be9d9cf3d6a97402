package main

import (
	"math"

	"gonum.org/v1/plot/vg"

	"gorbm/negphase/logz"
	"gorbm/train/plots"
)

// picture returns charts of the log-likelihood against the step, for all snapshots and for
// the later half, where differences are small. Bars are two standard errors of log Z. A
// band lies between the estimates of AIS, where the likelihood is too high, and of reverse
// AIS, where it is too low. The page is nil if there is nothing to draw.
func (h *history) picture() *plots.Page {
	charts := []plots.Chart{h.chart("All snapshots", h.snapshots)}
	if len(h.snapshots) >= 4 { // otherwise one chart is enough
		charts = append(charts, h.chart("The later half", h.snapshots[len(h.snapshots)/2:]))
	}
	return plots.Charts(charts, 2, 13*vg.Centimeter, 8*vg.Centimeter)
}

func (h *history) chart(title string, snapshots []snapshot) plots.Chart {
	c := plots.Chart{Title: title, X: "step of training", Y: h.parts[0].likelihoodName() + " / nats", LogX: true} // the axis leaves out step 0
	for part, name := range []string{"training rows", "test rows"}[:len(h.parts)] {
		points := plots.Line{Name: name, Color: part + 1, Dots: true, Bars: true}
		band := plots.Line{Name: name + ", between AIS and its reverse", Color: part + 1, Dashed: true}
		estimated := false
		for i := range snapshots {
			s := &snapshots[i]
			if s.by == "" {
				continue
			}
			at := func(logZ float64) float64 { return -s.free[part] - logZ }
			y, e := at(s.logZ), 0.0
			if s.by != byExact && !math.IsInf(s.stdErr, 0) {
				e, estimated = 2*s.stdErr, true
			}
			points.X, points.Y = append(points.X, float64(s.Step)), append(points.Y, y)
			points.Low, points.High = append(points.Low, y-e), append(points.High, y+e)
			ais, _ := s.By(logz.ByAIS)
			reverse, _ := s.By(logz.ByReverse)
			if !math.IsNaN(ais) && !math.IsNaN(reverse) {
				low, high := at(reverse), at(ais)
				band.X, band.Y = append(band.X, float64(s.Step)), append(band.Y, (low+high)/2)
				band.Low, band.High = append(band.Low, low), append(band.High, high)
			}
		}
		if estimated {
			points.Name += " ± 2 standard errors"
		}
		c.Lines = append(c.Lines, points)
		if len(band.X) > 1 {
			c.Lines = append(c.Lines, band)
		}
	}
	return c
}
