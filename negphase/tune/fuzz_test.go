package tune

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzReadPolicy checks that ReadPolicy panics on no file, and that a policy that it
// accepts can be used, and is identical when it is written and read again.
func FuzzReadPolicy(f *testing.F) {
	dir := f.TempDir()
	path, again := filepath.Join(dir, "policy.json"), filepath.Join(dir, "again.json")
	f.Add(`{"format":"` + policyFormat + `","version":1,"system":"3x3","units":9,"beta":1,"sampler":"sardonics","best":"sardonics:k=1-3","kernels":["sardonics:k=1-3:gamma=1.1","sardonics:k=2"]}`)
	f.Add(`{"kernels":[""]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPolicy(path, 9)
		if err != nil {
			if strings.ContainsAny(strings.ReplaceAll(err.Error(), path, ""), "\n\r") && !strings.ContainsAny(text, "\n\r") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		if m, err := p.Mixture(); err != nil || len(m) != len(p.Kernels) {
			t.Errorf("%d kernels of %d: %v", len(m), len(p.Kernels), err)
		}
		if err := p.Write(again); err != nil {
			t.Fatal(err)
		}
		if q, err := ReadPolicy(again, 9); err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("written and read again %+v is %+v, %v", p, q, err)
		}
	})
}
