package data

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// FuzzSpec checks that no spec makes Load panic, and that errors are one line. Nothing is read or
// generated, because the context has ended.
func FuzzSpec(f *testing.F) {
	for _, spec := range []string{"mnist:100", "toy:4,4,50,0.2:plain:seed=3", "bars:4", "shifter:4", "desjardins:0.01", "fontdigits:30:seed=1", "a.idx,b.idx", "rows.csv", "x.npz", "-", "stdin:3", ""} {
		f.Add(spec, "", "")
	}
	f.Add("rows.csv", "spins", "28x28")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f.Fuzz(func(t *testing.T, text, scale, shape string) {
		Absolute(text)
		TestBeside(text)
		opt := Options{Scale: scale}
		var err error
		if opt.Height, opt.Width, err = ParseShape(shape); err != nil {
			opt.Height, opt.Width = 0, 0
		}
		_, _, err = Load(ctx, text, opt)
		if err == nil {
			return // a set that is generated without a look at ctx
		}
		if !errors.Is(err, ErrFormat) && !errors.Is(err, context.Canceled) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: an error of another kind: %v", text, err)
		}
		if strings.ContainsAny(err.Error(), "\n\r") && !strings.ContainsAny(scale, "\n\r") {
			t.Errorf("%q: the error has several lines: %q", text, err)
		}
	})
}
