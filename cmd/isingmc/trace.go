package main

import (
	"encoding/csv"
	"io"
	"strconv"
)

// writeTrace writes the energies of all samplers as a CSV table. An energy is
// the mean over the moves since the line before; a long run has several moves a
// line.
func writeTrace(w io.Writer, rows []row) error {
	table := csv.NewWriter(w)
	if err := table.Write([]string{"sampler", "move", "seconds", "energy"}); err != nil {
		return err
	}
	for _, r := range rows {
		stride := r.trace.Stride()
		for i, energy := range r.trace.Blocks() {
			move := (i + 1) * stride
			err := table.Write([]string{r.name, strconv.Itoa(move),
				strconv.FormatFloat(r.secondsOf(float64(move)), 'g', 6, 64),
				strconv.FormatFloat(energy, 'g', 12, 64)})
			if err != nil {
				return err
			}
		}
	}
	table.Flush()
	return table.Error()
}
