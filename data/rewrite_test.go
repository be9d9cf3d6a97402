package data

import (
	"context"
	"strings"
	"testing"
)

// Rewrite changes the given cells alone, whatever stood in them: the file is otherwise the same to the last
// byte.
func TestRewrite(t *testing.T) {
	for name, c := range map[string]struct{ text, quoted string }{
		"commas":      {"a,b,c\n1,§,=x\n\n\"q,\"\"r\"\"\", 2 ,§\n§,-1,\"two\nlines\"\n", `"x, ""y"""`},
		"crlf":        {"\xef\xbb\xbfa,b\r\n§,@z\r\n1,§\r\n2,\x1b[0m", `"x, ""y"""`},
		"tabs":        {"a\tb\tc\n§\t 1\t2\n3\t4\t§\n", `"x, ""y"""`},
		"semicolons":  {"a;b\n1,5;§\n§;2,5\n0,5;1,5\n", `"x, ""y"""`},
		"first lines": {"# a comment\na|b\n1|§\n§|2\n", `"x, ""y"""`},
		"quotes":      {"'a','b'\n'1','2'\n'it''s',§\n", `'x, "y"'`},
	} {
		for _, missing := range []string{"NA", "?", `""`, " NA"} {
			if name == "quotes" {
				missing = "'" + strings.Trim(missing, `" `) + "'"
			}
			text := strings.ReplaceAll(c.text, "§", missing)
			path := writeFile(t, "t.csv", text)
			lines, err := Lines(context.Background(), path)
			if err != nil {
				t.Fatal(err)
			}
			words := map[Cell]string{}
			for i, line := range lines {
				for j, cell := range line {
					if IsMissing(strings.TrimSpace(cell)) {
						words[Cell{i, j}] = `x, "y"`
					}
				}
			}
			got, err := Rewrite(context.Background(), path, words)
			want := strings.ReplaceAll(c.text, "§", strings.Repeat(" ", len(missing)-len(strings.TrimLeft(missing, " ")))+c.quoted)
			if name == "tabs" {
				want = strings.ReplaceAll(c.text, "§", c.quoted) // blanks belong to the cell there
			}
			if err != nil || string(got) != want || len(words) == 0 {
				t.Errorf("%s, %q: got %q, %v, want %q", name, missing, got, err, want)
			}
		}
	}
	if _, err := Rewrite(context.Background(), writeFile(t, "t.csv", "a,b\n1,2\n"), map[Cell]string{{5, 0}: "x"}); err == nil {
		t.Error("a cell outside the file is not refused")
	}
}
