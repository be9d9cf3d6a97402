package grammar_test

import (
	"fmt"
	"strings"

	"gorbm/data/grammar"
)

// The settings of a sampler are a table bound to its fields. The table reads text, checks it, and its
// errors name the wrong setting.
func ExampleKeys_Parse() {
	var steps int
	var start string
	keys := grammar.Keys{
		grammar.Count("k", &steps, 1, 1, 1000, "Gibbs steps"),
		grammar.Word("start", &start, "uniform", "where chains start", "uniform", "data"),
	}
	for _, text := range []string{"cd:k=5", "cd:strt=data", "cd:k=0"} {
		keys.Initialize() // the defaults
		kind, settings, _ := strings.Cut(text, ":")
		err := keys.Parse(kind, strings.Split(settings, ":"))
		if err == nil {
			err = keys.Check(kind)
		}
		fmt.Println(steps, start, err)
	}
	// Output:
	// 5 uniform <nil>
	// 1 uniform cd has no setting "strt"; did you mean start? (it has k, start)
	// 0 uniform cd: k is 0; it must lie in 1 … 1000
}
