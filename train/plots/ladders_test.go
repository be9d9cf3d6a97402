package plots

import (
	"image"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"

	"gorbm/negphase"
	"gorbm/rbm"
)

// measured returns the ladder of an estimator after calls on a model without weights, in which all swaps
// are accepted.
func measured(t *testing.T, text string, calls int) negphase.Ladder {
	t.Helper()
	s, err := negphase.Parse(text, negphase.DefaultSettings("pt"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := negphase.New(s)
	if err != nil {
		t.Fatal(err)
	}
	m := rbm.New(5, 3, 0, rbm.Softmax)
	for i := range calls {
		if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(1).Child(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	return e.(negphase.Tempered).Ladder()
}

func ladders(t *testing.T, l ...NamedLadder) image.Image {
	t.Helper()
	return painted(t, Ladders(l...))
}

// TestLadders checks that a picture has a column for each ladder and shows its values: no path of a
// particle before the first round, and the dark diagonal of a ladder that does not exchange.
func TestLadders(t *testing.T) {
	for _, text := range []string{"pt:tau=1/2", "ins:tau=1/2/3", "pins:tau=1/2/3/4/5/6/7/8/9/10:chains=1"} {
		l := measured(t, text, 40)
		one := ladders(t, NamedLadder{"now", l})
		two := ladders(t, NamedLadder{"first", l}, NamedLadder{"now", l})
		if w := one.Bounds().Dx(); two.Bounds().Dx() < 2*w-1 { // widths are rounded to pixels
			t.Errorf("%s: two ladders take %d pixels, one %d, want at least %d", text, two.Bounds().Dx(), w, 2*w-1)
		}
		columns := Ladders(NamedLadder{"first", l}, NamedLadder{"now", l}).Columns(2)
		for i, page := range columns {
			half := painted(t, page)
			b := two.Bounds()
			if size := half.Bounds().Size(); size.Y != b.Dy() || size.X != b.Dx()*(i+1)/2-b.Dx()*i/2 {
				t.Fatalf("%s: column %d has %v of %v pixels", text, i, size, b.Size())
			}
			for y := range b.Dy() {
				for x := range half.Bounds().Dx() {
					if half.At(x, y) != two.At(b.Dx()*i/2+x, y) {
						t.Fatalf("%s: column %d has another pixel at (%d, %d)", text, i, x, y)
					}
				}
			}
		}
		height := one.Bounds().Dy()
		ways := func(img image.Image) int { return count(img, 1, img.Bounds()) } // pixels of the particle that began at the highest temperature
		if ways(one) == 0 {
			t.Errorf("%s: the way of a particle is not drawn", text)
		}

		before := measured(t, text, 0)
		if none := ladders(t, NamedLadder{"before", before}); ways(none) != 0 {
			t.Errorf("%s: a way is drawn before the first round", text)
		}
		mixed, stuck := l, l
		mixed.Moves, stuck.Moves = make([][]float64, len(l.Beta)), make([][]float64, len(l.Beta))
		for i := range l.Beta {
			mixed.Moves[i], stuck.Moves[i] = make([]float64, len(l.Beta)), make([]float64, len(l.Beta))
			stuck.Moves[i][i] = 1
			for j := range l.Beta {
				mixed.Moves[i][j] = 1 / float64(len(l.Beta))
			}
		}
		a := blackPixels(ladders(t, NamedLadder{"now", mixed}), height/4, height/2)
		if b := blackPixels(ladders(t, NamedLadder{"now", stuck}), height/4, height/2); b <= a {
			t.Errorf("%s: a stuck ladder has %d black pixels among its moves, one that exchanges %d", text, b, a)
		}
	}
}

// blackPixels counts the black pixels of rows lo … hi−1.
func blackPixels(img image.Image, lo, hi int) (n int) {
	for y := lo; y < hi; y++ {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); r|g|b == 0 {
				n++
			}
		}
	}
	return n
}

// TestWholeTicks checks that temperatures are labelled by a few whole numbers.
func TestWholeTicks(t *testing.T) {
	for _, k := range []int{2, 3, 5, 16, 64, 256} {
		ticks := wholeTicks(0.5, float64(k)+0.5)
		if n := len(ticks); n < 2 || n > 8 {
			t.Errorf("%d rungs have %d ticks, want 2 to 8", k, n)
		}
		if !slices.IsSortedFunc(ticks, func(a, b plot.Tick) int { return int(a.Value - b.Value) }) || ticks[0].Label == "" {
			t.Errorf("%d rungs have ticks %v", k, ticks)
		}
	}
}

func TestWithError(t *testing.T) {
	for _, c := range []struct {
		x, err float64
		want   string
	}{
		{11.4704, 0.024, "11.47 ± 0.02"},
		{11.4704, 0.096, "11.5 ± 0.1"},
		{0.017312, 0.00049, "0.0173 ± 0.0005"},
		{31.2, 1.4, "31 ± 1"},
		{31.2, 14, "31 ± 10"},
		{31.21, 0, "31.2"},
		{0, 0, "0"},
		{2, math.Inf(1), "2"},
		{2, math.NaN(), "2"},
	} {
		if got := WithError(c.x, c.err); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.x, c.err, got, c.want)
		}
	}
}
