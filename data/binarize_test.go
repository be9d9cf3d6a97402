package data

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/rbm"
)

// greyBytes returns rows × cols bytes, some black, some white, most in between.
func greyBytes(rows, cols int) []byte {
	var r rng
	r.seed(dataKey(7, 7))
	b := make([]byte, rows*cols)
	for i := range b {
		b[i] = byte(min(max(r.intn(400)-70, 0), 255))
	}
	return b
}

// The same values give the same set, whatever kind of file they come from.
func TestBinarizeFormats(t *testing.T) {
	const rows, cols = 13, 70 // rows do not end at the end of a word
	grey := greyBytes(rows, cols)
	floats := make([]float64, len(grey))
	var text strings.Builder
	for i, g := range grey {
		floats[i] = float64(g) / 255
		text.WriteString(strconv.FormatFloat(floats[i], 'g', -1, 64))
		text.WriteString(map[bool]string{true: "\n", false: ","}[i%cols == cols-1])
	}
	dir := t.TempDir()
	files := map[string][]byte{
		"a.csv":   []byte(text.String()),
		"f8.npz":  zipped(zip.Deflate, "x", npyBytes("<f8", "13, 70", floats)),
		"u1.npz":  zipped(zip.Store, "x", npyBytes("|u1", "13, 70", grey)),
		"a-ubyte": idxBuild(grey, rows, cols),
		"b.idx":   gzipped(idxBuild(grey, rows, 7, 10)),
	}
	writeFiles(t, dir, files)
	hashes := map[string]string{}
	for _, mode := range []string{"", Threshold, Sample, None} {
		opt := Options{Binarize: mode}
		key := opt.binarizer(streamTrain).key
		want := &Set{X: rbm.NewBits(rows, cols)}
		for i, v := range floats {
			r, j := i/cols, i%cols
			on := v >= 0.5
			if mode == Sample {
				// The draw depends on nothing but its key.
				on = key.Child(uint64(r)).Uniform(uint64(j)) < v
			}
			want.X.Set(r, j, on)
			if mode == None {
				want.Grey = rbm.Matrix{Rows: rows, Cols: cols, Data: append(want.Grey.Data, float32(v))}
			}
		}
		hashes[mode] = want.Hash()
		for name := range files {
			s, _, err := Load(context.Background(), filepath.Join(dir, name), opt)
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, s)
			wantMode := mode
			if mode == "" {
				wantMode = Threshold
			}
			if s.Hash() != want.Hash() || s.Binarize != wantMode || (s.Grey.Rows > 0) != (mode == None) {
				t.Errorf("%s, %q: rows differ, or %s", name, mode, s.Binarize)
			}
		}
	}
	if hashes[""] != hashes[Threshold] || hashes[Sample] == hashes[Threshold] || hashes[None] == hashes[Threshold] {
		t.Errorf("hashes %v", hashes)
	}
}

// Data that are already binary stay so, and no grey values are kept.
func TestBinarizeBinary(t *testing.T) {
	bits := []byte{0, 1, 1, 1, 0, 0}
	white := []byte{0, 255, 255, 255, 0, 0}
	dir := t.TempDir()
	files := map[string][]byte{
		"a.csv":  []byte("0,1,1\n1.0,0.0,0\n"),
		"f4.npz": zipped(zip.Store, "x", npyBytes("<f4", "2, 3", []float32{0, 1, 1, 1, 0, 0})),
		"u1.npz": zipped(zip.Store, "x", npyBytes("|u1", "2, 3", bits)),
		"w.npz":  zipped(zip.Store, "x", npyBytes("|u1", "2, 3", white)),
		"a.idx":  idxBuild(bits, 2, 3),
		"w.idx":  idxBuild(white, 2, 1, 3),
	}
	writeFiles(t, dir, files)
	for name := range files {
		for _, mode := range []string{Threshold, Sample, None} {
			s, _, err := Load(context.Background(), filepath.Join(dir, name), Options{Binarize: mode})
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, s)
			if s.Binarize != Binary || rowText(s.X, 0) != "011" || rowText(s.X, 1) != "100" {
				t.Errorf("%s, %s: rows %s and %s, %s", name, mode, rowText(s.X, 0), rowText(s.X, 1), s.Binarize)
			}
		}
	}
	// Bytes of 0, 1 and 255 are grey. Without the last they would be bits.
	writeFiles(t, dir, map[string][]byte{"k.idx": idxBuild([]byte{0, 1, 255}, 1, 3)})
	s, _, err := Load(context.Background(), filepath.Join(dir, "k.idx"), Options{Binarize: None})
	if err != nil || s.Binarize != None || rowText(s.X, 0) != "001" {
		t.Errorf("bytes of 0, 1 and 255: %+v, %v", s, err)
	}
	path := filepath.Join(dir, "k.npz")
	if err := os.WriteFile(path, zipped(zip.Store, "x_train", npyBytes("|u1", "2, 3", white), "x_test", npyBytes("|u1", "2, 3", bits)), 0o644); err != nil {
		t.Fatal(err)
	}
	train, test, err := Load(context.Background(), path, Options{Binarize: None})
	if err != nil {
		t.Fatal(err)
	}
	if train.Binarize != None || test.Binarize != None || test.Grey.Data[1] != float32(1.0/255) {
		t.Errorf("%s, %s, %v", train.Binarize, test.Binarize, test.Grey.Data)
	}
}

// If a grey value comes late, the rows before it have the values of their bits.
func TestBinarizeLateGrey(t *testing.T) {
	s, err := one(readText(strings.NewReader("0,1,1\n1,1,0\n0,1,0.25\n1,0,0\n"), "t.csv", Options{Binarize: None}))
	if err != nil {
		t.Fatal(err)
	}
	checkSet(t, s)
	want := []float32{0, 1, 1, 1, 1, 0, 0, 1, 0.25, 1, 0, 0}
	for i, v := range want {
		if s.Grey.Data[i] != v {
			t.Fatalf("grey values %v, want %v", s.Grey.Data, want)
		}
	}
	if got, want := s.Density(), 6.25/12; got != want {
		t.Errorf("density %g, want %g", got, want)
	}
}

// The same with rows of several words.
func TestBinarizeLateGreyOfWideRows(t *testing.T) {
	const cols = 150
	fields, want := make([]string, 2*cols), make([]float32, 2*cols)
	for i := range want {
		want[i] = float32(i * i % 7 % 2) // without a period of a word
		fields[i] = strconv.Itoa(int(want[i]))
	}
	want[cols+70], fields[cols+70] = 0.25, "0.25"
	text := strings.Join(fields[:cols], ",") + "\n" + strings.Join(fields[cols:], ",") + "\n"
	s, err := one(readText(strings.NewReader(text), "t.csv", Options{Binarize: None}))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		if s.Grey.Data[i] != v {
			t.Fatalf("grey value %d of row %d is %v, want %v", i%cols, i/cols, s.Grey.Data[i], v)
		}
	}
}

// Rows that are packed from pieces of any length equal those that are packed at once.
func TestPackerPieces(t *testing.T) {
	const rows, cols = 2*packRows + 700, 5
	grey := greyBytes(rows, cols)
	for _, mode := range []string{Threshold, None} {
		bin := Options{Binarize: mode}.binarizer(streamTrain)
		s := &Set{X: rbm.NewBits(rows, cols)}
		if why := bin.keep(s); why != "" {
			t.Fatalf("got %q, want %q", why, "")
		}
		p := &packer{bin: bin, set: s}
		for rest, n := grey, 1; len(rest) > 0; n = n*3%9973 + 1 {
			n := min(n, len(rest))
			if _, err := p.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		p.flush()
		for i, g := range grey {
			r, j := i/cols, i%cols
			if s.X.Get(r, j) != (g >= 128) || mode == None && s.Grey.Row(r)[j] != float32(float64(g)/255) {
				t.Fatalf("%s: value %d of row %d is wrong", mode, j, r)
			}
		}
	}
}

// pack makes the rows of s from grey bytes.
func pack(s *Set, bin binarizer, grey []byte) {
	p := &packer{bin: bin, set: s}
	p.Write(grey)
	p.flush()
}

// A value v becomes 1 with probability v, so that each count is binomial.
func TestSampleProbabilities(t *testing.T) {
	const rows, cols = 4000, 16
	grey := make([]byte, rows*cols)
	for i := range grey {
		grey[i] = byte(i % cols * 17) // 0, 17, …, 255
	}
	b := Options{Binarize: Sample}.binarizer(streamTrain)
	s := &Set{X: rbm.NewBits(rows, cols)}
	pack(s, b, grey)
	both := 0
	for j := range cols {
		n := 0
		for r := range rows {
			if s.X.Get(r, j) {
				n++
			}
		}
		p := float64(j) / 15
		if (j == 0 || j == 15) && n != j/15*rows {
			t.Errorf("%d of %d rows of value %g are 1, want %d", n, rows, p, j/15*rows)
		}
		if z := (float64(n) - p*rows) / math.Sqrt(p*(1-p)*rows); math.Abs(z) > 6 {
			t.Errorf("%d of %d rows of value %g are 1: z = %.1f, want ±6 at most", n, rows, p, z)
		}
	}
	// Adjacent values are independent.
	for r := range rows {
		if s.X.Get(r, 7) != s.X.Get(r, 8) {
			both++
		}
	}
	p := 7.0/15*7/15 + 8.0/15*8/15
	if z := (float64(both) - p*rows) / math.Sqrt(p*(1-p)*rows); math.Abs(z) > 6 {
		t.Errorf("neighbours differ in %d rows, want %.0f: z = %.1f", both, p*rows, z)
	}
	// The two parts share no draws.
	other := &Set{X: rbm.NewBits(rows, cols)}
	pack(other, Options{Binarize: Sample}.binarizer(streamTest), grey)
	if s.Hash() == other.Hash() {
		t.Error("training and test rows are drawn alike")
	}
}

// Goldens: draws, and values that are kept, must never change either.
func TestBinarizeFontDigits(t *testing.T) {
	draw := func(n, procs int, opt Options) *Set {
		was := runtime.GOMAXPROCS(procs)
		defer runtime.GOMAXPROCS(was)
		s, err := fontSet(context.Background(), "", n, dataKey(1, streamTrain), opt.binarizer(streamTrain), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for mode, want := range map[string]string{
		Threshold: "c89560bdcbe0324aa8f8838837d610bf471f5bcca951406dfb3d2b84d7201b0a",
		Sample:    "1ecd0489f589e6f1346fa4419f46c8c06cc22c6e76379ae4e3234d17fd1f639d",
		None:      "8eefe3a87a384dc0e1c82b8e0d7a55fde115aa1d571a7f07ce41bedb4ae55436",
	} {
		opt := Options{Binarize: mode}
		all := draw(300, 4, opt)
		checkSet(t, all)
		if got := all.Hash(); got != want || all.Binarize != mode {
			t.Errorf("%s: hash %s, want %s; %s", mode, got, want, all.Binarize)
		}
		if got := draw(300, 1, opt).Hash(); got != want {
			t.Errorf("%s: on one processor the hash is %s, want %s", mode, got, want)
		}
		if got := draw(3, 1, opt).Hash(); got != all.Take([]int32{0, 1, 2}).Hash() {
			t.Errorf("%s: the first rows of few are not those of many", mode)
		}
	}
	for mode, want := range map[string][2]string{
		Sample: {"1ecd0489f589e6f1346fa4419f46c8c06cc22c6e76379ae4e3234d17fd1f639d", "08814d16fb2b1a2f5488e0500c1c1c9b6755f374d0327800d4ba557796416773"},
		None:   {"8eefe3a87a384dc0e1c82b8e0d7a55fde115aa1d571a7f07ce41bedb4ae55436", "13b7ab7c1e32d2b6f5d0dcce4eb777d536c6ecbf311cd3cbd47322f5209a74b2"},
	} {
		train, test, err := Load(context.Background(), "fontdigits:300", Options{Binarize: mode})
		if err != nil {
			t.Fatal(err)
		}
		if train.Hash() != want[0] || test.Hash() != want[1] || test.Binarize != mode {
			t.Errorf("%s: hashes %s and %s; %s", mode, train.Hash(), test.Hash(), test.Binarize)
		}
	}
}

func TestBinarizeMNIST(t *testing.T) {
	m, contents := fakeMNIST(t)
	writeFiles(t, m.cache, contents)
	for _, mode := range []string{Threshold, Sample, None} {
		all, test, err := loadFake(m, "mnist", Options{Binarize: mode})
		if err != nil {
			t.Fatal(err)
		}
		checkSet(t, all)
		checkSet(t, test)
		part, _, err := loadFake(m, "mnist:4", Options{Binarize: mode})
		if err != nil {
			t.Fatal(err)
		}
		checkSet(t, part)
		if part.Hash() != all.Take([]int32{2, 3, 4, 5}).Hash() || all.Binarize != mode {
			t.Errorf("%s: the last rows are not those of the whole, or %s", mode, all.Binarize)
		}
		if mode == Sample { // the draws of the test rows differ
			for part, s := range map[uint64]*Set{streamTrain: all, streamTest: test} {
				key := Options{Binarize: Sample}.binarizer(part).key
				for r := range s.Len() {
					for j := range 4 { // row r has a value of 128 in column r mod 4
						if want := j == r%4 && key.Child(uint64(r)).Uniform(uint64(j)) < 128./255; s.X.Get(r, j) != want {
							t.Errorf("%s: pixel %d of row %d is %v", s.Name, j, r, !want)
						}
					}
				}
			}
		}
		if mode == None && (all.Grey.Data[0] != float32(128.0/255) || all.Grey.Data[1] != 0) {
			t.Errorf("grey values %v", all.Grey.Data)
		}
	}
}

func TestBinarizeErrors(t *testing.T) {
	_, _, err := Load(context.Background(), "toy", Options{Binarize: "round"})
	checkFormat(t, err, `binarization "round": it must be threshold, sample, none or standard`)
	// A set that is too large is refused before memory is allocated.
	if why := checkGrey(1<<20, 784); !strings.Contains(why, "1 GiB") {
		t.Errorf("a million grey digits: %q, want %q in it", why, "1 GiB")
	}
	if why := checkGrey(1<<18, 1<<10); why != "" {
		t.Errorf("1 GiB of grey values: %q, want nothing", why)
	}
	s := &Set{X: rbm.Values{Rows: 1 << 20, Cols: 784}}
	if why := (Options{Binarize: None}).binarizer(streamTrain).keep(s); why == "" || s.Grey.Data != nil {
		t.Error("room for a million grey digits")
	}
}

func TestNPZMixedTypes(t *testing.T) {
	// Bytes of grey in one part, numbers in [0,1] in the other.
	s, test, err := readNPZ(zipped(zip.Store,
		"x_train", npyBytes("|u1", "1, 3", []byte{0, 200, 255}),
		"x_test", npyBytes("<f4", "1, 3", []float32{0.75, 0.25, 1})), "auto", None)
	if err != nil {
		t.Fatal(err)
	}
	if s.Grey.Data[2] != 1 || rowText(s.X, 0) != "011" || test.Grey.Data[0] != 0.75 || rowText(test.X, 0) != "101" {
		t.Errorf("grey values %v and %v", s.Grey.Data, test.Grey.Data)
	}
}

func BenchmarkPictures(b *testing.B) {
	grey := greyBytes(1000, 784)
	for _, mode := range []string{Threshold, Sample, None} {
		b.Run(mode, func(b *testing.B) {
			bin := Options{Binarize: mode}.binarizer(streamTrain)
			s := &Set{X: rbm.NewBits(1000, 784)}
			bin.keep(s)
			for b.Loop() {
				clear(s.X.Words)
				pack(s, bin, grey)
			}
		})
	}
}

// With Redraw the rows are those of Sample. For the training set alone, Chances has the values that they
// were drawn from.
func TestRedrawKeepsTheValues(t *testing.T) {
	const rows, cols = 13, 70
	grey := greyBytes(rows, cols)
	dir := t.TempDir()
	floats := make([]float64, len(grey))
	for i, g := range grey {
		floats[i] = float64(g) / 255
	}
	writeFiles(t, dir, map[string][]byte{
		"f8.npz":  zipped(zip.Deflate, "x", npyBytes("<f8", "13, 70", floats)),
		"a-ubyte": idxBuild(grey, rows, cols),
		"b.csv":   []byte("0,1\n1,0\n"),
	})
	load := func(name string, opt Options) *Set {
		t.Helper()
		s, _, err := Load(context.Background(), filepath.Join(dir, name), opt)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, name := range []string{"f8.npz", "a-ubyte"} {
		s, plain := load(name, Options{Binarize: Sample, Redraw: true}), load(name, Options{Binarize: Sample})
		if want := load(name, Options{Binarize: None}).Grey; !slices.Equal(s.Chances.Data, want.Data) || s.Chances.Rows != rows || s.Grey.Rows > 0 {
			t.Errorf("%s: the values are not kept", name)
		}
		if !slices.Equal(s.X.Words, plain.X.Words) || s.Hash() == plain.Hash() || s.Binarize != Sample {
			t.Errorf("%s: the rows are not those of %s, or the hash is", name, Sample)
		}
		test, err := LoadTest(context.Background(), filepath.Join(dir, name), s, Options{Binarize: Sample, Redraw: true})
		if err != nil || test.Chances.Rows > 0 || test.Grey.Rows > 0 || !slices.Equal(test.X.Words, plain.X.Words) {
			t.Errorf("%s as a test set: %v, %+v", name, err, test.Chances.Rows)
		}
		some := s.Take([]int32{4, 2})
		if !slices.Equal(some.Chances.Row(0), s.Chances.Row(4)) || !slices.Equal(some.Chances.Row(1), s.Chances.Row(2)) || some.Chances.Rows != 2 {
			t.Errorf("%s: rows are taken without their values", name)
		}
	}
	for name, opt := range map[string]Options{"b.csv": {Binarize: Sample, Redraw: true}, "f8.npz": {Redraw: true}} {
		if _, _, err := Load(context.Background(), filepath.Join(dir, name), opt); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "redrawn") {
			t.Errorf("%s, %+v: %v", name, opt, err)
		}
	}
}

// Redrawn rows have their values as means: each count over draws is binomial. The units after the inputs
// stay unchanged.
func TestRedraw(t *testing.T) {
	const cols, classes, draws = 70, 2, 2000
	s := randomSet(3, cols, classes)
	s.Chances = rbm.NewMatrix(3, cols)
	for i := range s.Chances.Data {
		r, j := i/cols, i%cols
		s.Chances.Data[i] = float32(i%11) / 10
		s.X.Set(r, j, i%11 > 5)
	}
	rows := []int32{2, 0, 2}
	v := rbm.NewValues(3, cols+classes, false)
	on, same := make([]float64, 3*cols), 0
	for n := range draws {
		key := rbm.NewKey(5).Child(uint64(n))
		s.Visible(v, rows, classes)
		s.Redraw(v, rows, key)
		again := rbm.NewValues(3, cols+classes, false)
		s.Visible(again, rows, classes)
		s.Redraw(again, rows, key)
		if !slices.Equal(v.Words, again.Words) {
			t.Fatal("equal keys give other draws")
		}
		if rowText(v, 0) == rowText(v, 2) {
			same++
		}
		for r, row := range rows {
			for j := range cols {
				if v.Get(r, j) {
					on[r*cols+j]++
				}
			}
			for y := range classes {
				if v.Get(r, cols+y) != (int(s.Y[row]) == y) {
					t.Fatal("a label has changed")
				}
			}
		}
	}
	if same > 0 {
		t.Errorf("in %d draws a row that is there twice has the same bits, want 0", same)
	}
	for r, row := range rows {
		for j, p := range s.Chances.Row(int(row)) {
			p := float64(p)
			if sd := math.Sqrt(draws * p * (1 - p)); math.Abs(on[r*cols+j]-draws*p) > 6*sd {
				t.Errorf("row %d, input %d: on in %v of %d draws, not %v", r, j, on[r*cols+j], draws, draws*p)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { s.Redraw(v, rows, rbm.NewKey(1)) }); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
