package program

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// Metrics are the numbers of a run's metrics.csv, a line a measurement.
type Metrics struct {
	file    string
	columns []string
	lines   [][]string
}

// ReadMetrics reads a file that has at least one measurement.
func ReadMetrics(file string) (*Metrics, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(lines) < 2 {
		return nil, fmt.Errorf("%s: there are no measurements", file)
	}
	return &Metrics{file, lines[0], lines[1:]}, nil
}

// Column returns the numbers of a column.
func (m *Metrics) Column(name string) (x []float64, err error) {
	at := slices.Index(m.columns, name)
	if at < 0 {
		return nil, fmt.Errorf("%s: there is no column %s", m.file, name)
	}
	for i, line := range m.lines {
		y, err := strconv.ParseFloat(line[at], 64)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", m.file, i+2, err)
		}
		x = append(x, y)
	}
	return x, nil
}

// Last returns the last number of a column.
func (m *Metrics) Last(name string) (float64, error) {
	x, err := m.Column(name)
	if err != nil {
		return 0, err
	}
	return x[len(x)-1], nil
}
