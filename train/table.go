package train

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
)

// ReadTable reads metrics.csv: the names of its columns and its rows. A last
// line without its end was cut short and is left out.
func ReadTable(path string) (columns []string, rows [][]float64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = -1
	records, err := in.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 {
		return nil, nil, fmt.Errorf("%s is empty", path)
	}
	for line, r := range records[1:] {
		if len(r) != len(records[0]) {
			return nil, nil, fmt.Errorf("%s: line %d has %d values for %d columns", path, line+2, len(r), len(records[0]))
		}
		row := make([]float64, len(r))
		for i, field := range r {
			if row[i], err = strconv.ParseFloat(field, 64); err != nil {
				return nil, nil, fmt.Errorf("%s: line %d: %q is not a number", path, line+2, field)
			}
		}
		rows = append(rows, row)
	}
	return records[0], rows, nil
}
