package main

import (
	"regexp"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// TestClassesByName checks that labels of the data are matched with the model's classes by name, in
// any order.
func TestClassesByName(t *testing.T) {
	isolate(t)
	set := load(t, clitest.Toy)
	times := regexp.MustCompile(`"[a-z_]*(seconds|second)[a-z_]*":[-+0-9.e]+`)
	said := map[string]string{}
	for name, order := range map[string][]string{"one": {"a", "b", "c", "d"}, "two": {"d", "c", "b", "a"}, "new": {"a", "b", "c", "e"}} {
		text := "1,2,3,4,5,6,7,8,label\n"
		for r := range set.Len() {
			for j := range set.X.Cols {
				text += map[bool]string{true: "1", false: "0"}[set.X.Get(r, j)] + ","
			}
			text += order[set.Y[r]] + "\n"
		}
		clitest.Write(t, name+".csv", text)
		if name == "new" {
			continue
		}
		clitest.Save(t, name+".safetensors", clitest.Model(12, 5, 4, rbm.Softmax), modelfile.About{ClassNames: order})
		out := rbmcompare.OK(t, "-model", name+".safetensors", "-data", name+".csv", "-negphase", "cd", "-steps", "20", "-repeats", "2", "-json")
		said[name] = times.ReplaceAllString(strings.ReplaceAll(out, name, ""), "")
	}
	if said["one"] != said["two"] {
		t.Errorf("the same rows under other names:\n%s\n%s", said["one"], said["two"])
	}
	rbmcompare.Fails(t, 1, []string{"-model", "one.safetensors", "-data", "new.csv", "-negphase", "cd"}, "one.safetensors does not fit the data", `has the label "e"`)
}
