package train

import (
	"strings"
	"testing"
)

func TestReadTableErrors(t *testing.T) {
	f := folder(t)
	if _, _, err := ReadTable(f.Path(MetricsFile)); err == nil {
		t.Error("a table that does not exist is read")
	}
	for text, want := range map[string]string{
		"":                           "is empty",
		"step,error_train\n0,much\n": `"much" is not a number`,
		"step,error_train\n0\n":      "1 values for 2 columns",
	} {
		put(t, f.Path(MetricsFile), []byte(text))
		if _, _, err := ReadTable(f.Path(MetricsFile)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
