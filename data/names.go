package data

import (
	"encoding/csv"
	"slices"
	"strings"
)

// ParseNames splits a list of names with commas between. A name that has a comma stands in double quotes,
// as in CSV files.
func ParseNames(list string) (names []string) {
	if list == "" {
		return nil
	}
	r := csv.NewReader(strings.NewReader(list))
	r.TrimLeadingSpace = true
	names, err := r.Read()
	if err != nil {
		names = strings.Split(list, ",")
	}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// JoinNames returns the list that ParseNames splits into names, each once.
func JoinNames(names ...string) string {
	var list []string
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		if strings.ContainsAny(name, ",\"\r\n") {
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		list = append(list, name)
	}
	return strings.Join(list, ",")
}
