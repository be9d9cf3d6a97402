package negphase

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// KeyHelp returns the help on the setting of that name for each estimator that has
// it, such as "cd, pcd: Gibbs steps per update; pt: …".
func KeyHelp(name string) string {
	var texts []string
	users := map[string][]string{} // names of the kinds with this help
	for _, kind := range estimatorKinds {
		k, ok := Settings{kind.name, kind.specific}.keys().Find(name)
		if !ok {
			continue
		}
		if users[k.Help] == nil {
			texts = append(texts, k.Help)
		}
		users[k.Help] = append(users[k.Help], kind.name)
	}
	for i, text := range texts {
		texts[i] = strings.Join(users[text], ", ") + ": " + text
	}
	return strings.Join(texts, "; ")
}

// KindsHelp returns a line for each kind of estimator: its name and what it is.
func KindsHelp() string {
	lines := make([]string, len(estimatorKinds))
	for i, k := range estimatorKinds {
		lines[i] = fmt.Sprintf("  %-9s  %s", k.name, k.help)
	}
	return strings.Join(lines, "\n")
}

// CostsHelp returns two lines for each kind of estimator: the line of KindsHelp, and its cost.
func CostsHelp() string {
	var b strings.Builder
	for _, k := range estimatorKinds {
		fmt.Fprintf(&b, "  %-9s  %s\n             cost: %s\n", k.name, k.help, k.cost)
	}
	return b.String()
}

// KeysHelp returns the help of each setting with an example of its value, in lines of at most 80
// columns. It leaves out the settings of samplers and those named in except.
func KeysHelp(except ...string) string {
	var lines []string
	for _, kind := range estimatorKinds {
		for _, k := range kind.specific.keys() {
			if k.Name == samplerKey || slices.Contains(except, k.Name) {
				continue
			}
			except = append(except, k.Name)
			line := fmt.Sprintf("  %-15s", k.Name+"="+cmp.Or(k.Example, k.Initial))
			for _, word := range strings.Fields(KeyHelp(k.Name)) {
				if utf8.RuneCountInString(line+" "+word) > 80 {
					lines, line = append(lines, line), strings.Repeat(" ", 17)
				}
				line += " " + word
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
