package data

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fakeMNIST returns four small files with MNIST's names, and a source with their checksums, an empty cache
// folder and no mirror.
func fakeMNIST(t *testing.T) (m mnistSource, contents map[string][]byte) {
	contents = map[string][]byte{}
	m = mnistSource{client: http.DefaultClient, stall: downloadStall, cache: filepath.Join(t.TempDir(), "gorbm", "mnist")}
	for i, f := range mnistFiles {
		n := 6
		if i >= 2 {
			n = 3
		}
		var b []byte
		if f.dims[0] == 3 {
			pixels := make([]byte, n*4)
			for k := range n {
				pixels[k*4+k%4] = 128 // row k has pixel k%4 on
			}
			b = idxBuild(pixels, uint32(n), 2, 2)
		} else {
			labels := make([]byte, n)
			for k := range labels {
				labels[k] = byte(k)
			}
			b = idxBuild(labels, uint32(n))
		}
		sum := sha256.Sum256(b)
		m.files[i] = idxFile{f.dims, f.name, hex.EncodeToString(sum[:])}
		contents[f.name+".gz"] = gzipped(b)
	}
	return m, contents
}

func writeFiles(t *testing.T, dir string, contents map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, b := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func loadFake(m mnistSource, text string, opt Options) (train, test *Set, err error) {
	sp, err := parseSpec(text)
	if err != nil {
		return nil, nil, err
	}
	return two(m.load(context.Background(), sp, opt))
}

func TestMNISTFolders(t *testing.T) {
	m, contents := fakeMNIST(t)
	dir := t.TempDir()
	raw := map[string][]byte{}
	for name, b := range contents {
		r, err := decompress(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		raw[strings.Replace(strings.TrimSuffix(name, ".gz"), "-idx", ".idx", 1)] = plain
	}
	writeFiles(t, filepath.Join(dir, "direct"), contents)
	writeFiles(t, filepath.Join(dir, "above", "mnist"), raw)
	writeFiles(t, filepath.Join(dir, "env"), contents)
	cached, env := m, m
	writeFiles(t, cached.cache, contents)
	env.cache, env.env = filepath.Join(dir, "absent"), filepath.Join(dir, "env")
	for name, c := range map[string]struct {
		m   mnistSource
		dir string
	}{
		"dir": {m, filepath.Join(dir, "direct")}, "dir/mnist, not compressed": {m, filepath.Join(dir, "above")},
		"environment": {env, ""}, "cache": {cached, ""}, "dir is a file": {cached, filepath.Join(dir, "direct", "t10k-labels-idx1-ubyte.gz")},
	} {
		t.Run(name, func(t *testing.T) {
			train, test, err := loadFake(c.m, "mnist", Options{Dir: c.dir})
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, train)
			checkSet(t, test)
			if train.Name != "mnist" || test.Name != "mnist test" || train.Len() != 6 || test.Len() != 3 ||
				train.Y[5] != 5 || rowText(train.X, 5) != "0100" || train.Height != 2 || train.Binarize != Threshold || len(train.Classes) != 10 {
				t.Errorf("got %+v", train)
			}
		})
	}
}

func TestHasMNIST(t *testing.T) {
	t.Setenv("GORBM_DATA", "")
	t.Setenv("HOME", t.TempDir()) // the user's cache is there
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("LocalAppData", t.TempDir())
	dir := t.TempDir()
	if HasMNIST(dir) || HasMNIST("") {
		t.Error("MNIST is in an empty folder")
	}
	_, contents := fakeMNIST(t)
	writeFiles(t, filepath.Join(dir, "mnist"), contents)
	if !HasMNIST(dir) || HasMNIST("") {
		t.Error("MNIST is not found, or in another folder")
	}
	t.Setenv("GORBM_DATA", dir)
	if !HasMNIST("") {
		t.Error("MNIST is not found by GORBM_DATA")
	}
}

func TestMNISTLastRows(t *testing.T) {
	m, contents := fakeMNIST(t)
	writeFiles(t, m.cache, contents)
	train, test, err := loadFake(m, "mnist:4", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if train.Name != "mnist:4" || train.Len() != 4 || train.Y[0] != 2 || rowText(train.X, 0) != "0010" || test.Len() != 3 {
		t.Errorf("%s: %d rows, first of class %d", train.Name, train.Len(), train.Y[0])
	}
	if all, _, err := loadFake(m, "mnist:6", Options{}); err != nil || all.Name != "mnist" {
		t.Errorf("all rows: %v, %v, got %q, want %q", all, err, all.Name, "mnist")
	}
	_, _, err = loadFake(m, "mnist:7", Options{})
	checkFormat(t, err, "from 1 to 6")
}

func TestMNISTBadFiles(t *testing.T) {
	const (
		images, labels = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
		testImages     = "t10k-images-idx3-ubyte.gz"
	)
	for _, c := range []struct {
		name   string
		change func(m *mnistSource, f map[string][]byte)
		want   []string
	}{
		{"wrong content", func(_ *mnistSource, f map[string][]byte) { f[images] = gzipped(idxBuild(make([]byte, 24), 6, 2, 2)) },
			[]string{images, "SHA-256", "delete the file and fetch it again"}},
		{"cut short", func(_ *mnistSource, f map[string][]byte) { f[images] = f[images][:30] }, []string{images, "cut short"}},
		{"empty", func(_ *mnistSource, f map[string][]byte) { f[images] = nil }, []string{images, "cut short"}},
		{"exchanged", func(_ *mnistSource, f map[string][]byte) { f[images] = f[labels] }, []string{images, "exchanged"}},
		{"web page", func(_ *mnistSource, f map[string][]byte) { f[labels] = []byte("<html>") }, []string{labels, "not an IDX file"}},
		{"counts", func(m *mnistSource, f map[string][]byte) {
			b := idxBuild([]byte{1, 2}, 2)
			sum := sha256.Sum256(b)
			m.files[1].sum, f[labels] = hex.EncodeToString(sum[:]), b
		}, []string{labels, "2 labels for the 6 images of"}},
		{"test part", func(_ *mnistSource, f map[string][]byte) { f[testImages] = f[testImages][:30] }, []string{testImages, "cut short"}},
		// The parts are read concurrently, but the error is always that of the first one.
		{"both parts", func(_ *mnistSource, f map[string][]byte) { f[labels], f[testImages] = []byte("<html>"), nil }, []string{labels, "not an IDX file"}},
		{"no digit", func(m *mnistSource, f map[string][]byte) {
			b := idxBuild([]byte{0, 1, 2, 3, 4, 10}, 6)
			sum := sha256.Sum256(b)
			m.files[1].sum, f[labels] = hex.EncodeToString(sum[:]), b
		}, []string{labels, "label 10 of row 5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, contents := fakeMNIST(t)
			c.change(&m, contents)
			writeFiles(t, m.cache, contents)
			_, _, err := loadFake(m, "mnist", Options{})
			checkFormat(t, err, c.want...)
		})
	}
}

// serve serves files over HTTP and counts the requests.
func serve(t *testing.T, contents map[string][]byte) (mirror string, requests *atomic.Int32) {
	requests = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		b, ok := contents[strings.TrimPrefix(r.URL.Path, "/mnist/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(b)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mnist/", requests
}

func TestMNISTDownload(t *testing.T) {
	m, contents := fakeMNIST(t)
	wrong := map[string][]byte{}
	for name := range contents {
		wrong[name] = []byte("<html>log in to the hotel's network</html>")
	}
	gone, _ := serve(t, nil)
	hotel, _ := serve(t, wrong)
	good, requests := serve(t, contents)
	m.mirrors = []string{gone, hotel, good}
	var told counts
	var what []string
	opt := Options{Progress: func(w, _ string, total int64) io.Writer { what = append(what, w); return &told }}
	train, _, err := loadFake(m, "mnist", opt)
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 6 || requests.Load() != 4 {
		t.Errorf("%d rows after %d requests, want 6 and 4", train.Len(), requests.Load())
	}
	if told.n == 0 || what[0] != "downloading train-images-idx3-ubyte.gz" {
		t.Errorf("%d bytes told of %q", told.n, what)
	}
	entries, err := os.ReadDir(m.cache)
	if err != nil || len(entries) != 4 {
		t.Errorf("the cache folder has %v, %v, want 4 of them", entries, err)
	}
	// The second load needs no network.
	m.mirrors = nil
	again, _, err := loadFake(m, "mnist", Options{})
	if err != nil || again.Hash() != train.Hash() {
		t.Errorf("from the cache: %v", err)
	}
}

func TestMNISTOffline(t *testing.T) {
	m, contents := fakeMNIST(t)
	mirror, _ := serve(t, nil)
	words := []string{"train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz", m.cache, "-data-dir"}
	for name, mirrors := range map[string][]string{"refused": {"http://127.0.0.1:1/"}, "not found": {mirror}, "none": nil} {
		m.mirrors = mirrors
		_, _, err := loadFake(m, "mnist", Options{})
		if checkError(t, err, words...); errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v is ErrFormat", name, err)
		}
	}
	if _, err := os.Stat(m.cache); err == nil {
		t.Error("a failed download left a folder behind")
	}
	// If the only mirror has another content, it is never stored.
	contents["train-images-idx3-ubyte.gz"] = gzipped(idxBuild(make([]byte, 24), 6, 2, 2))
	mirror, _ = serve(t, contents)
	m.mirrors = []string{mirror}
	_, _, err := loadFake(m, "mnist", Options{})
	checkError(t, err, append(words, "SHA-256")...)
	if _, err := os.Stat(m.cache); err == nil {
		t.Error("a wrong download left something behind")
	}
	m.cache = ""
	_, _, err = loadFake(m, "mnist", Options{})
	checkError(t, err, "no cache folder", "GORBM_DATA")
}

func TestMNISTDownloadStalls(t *testing.T) {
	m, _ := fakeMNIST(t)
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte("some"))
		w.(http.Flusher).Flush()
		<-release
	}))
	defer s.Close()
	defer close(release)
	m.mirrors, m.stall = []string{s.URL + "/"}, 20*time.Millisecond
	_, _, err := loadFake(m, "mnist", Options{})
	checkError(t, err, "nothing came for 20ms")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.load(ctx, spec{text: "mnist", name: "mnist"}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want %v", err, context.Canceled)
	}
}

// The real files, if they are on disk: the paper's 55000 rows.
func TestMNISTReal(t *testing.T) {
	dir := os.Getenv("GORBM_DATA")
	if dir == "" {
		t.Skip("GORBM_DATA is not set; it names the folder above mnist")
	}
	if _, err := os.Stat(filepath.Join(dir, "mnist")); err != nil {
		t.Skip("no MNIST here: ", err)
	}
	train, test := mustLoad(t, "mnist")
	checkSet(t, train)
	if train.Len() != 60000 || test.Len() != 10000 || train.Height != 28 || train.Width != 28 || train.Y[0] != 5 || test.Y[0] != 7 {
		t.Errorf("%d and %d rows of %d × %d", train.Len(), test.Len(), train.Height, train.Width)
	}
	part, _ := mustLoad(t, "mnist:55000")
	if part.Len() != 55000 || part.Y[0] != train.Y[5000] || rowText(part.X, 0) != rowText(train.X, 5000) {
		t.Error("mnist:55000 does not begin at row 5000")
	}
	const want = "73a72c8342ec575583629e75457bcd54116a98d777d96487a2daf16930283f82"
	if got := train.Hash(); got != want {
		t.Errorf("hash of the training rows %s, want %s", got, want)
	}
	// MNIST is read as a pair of IDX files like any other, and with Sample.
	opt := Options{Binarize: Sample}
	for _, spec := range []string{"mnist", filepath.Join(dir, "mnist", "train-images-idx3-ubyte.gz")} {
		train, test, err := Load(context.Background(), spec, opt)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the files may be there without gzip, or with a dot in the name
		}
		if err != nil {
			t.Fatal(err)
		}
		const want, wantTest = "d7cb897d4be5b47a1f37be1c05961fd3a355191aa9afa322c930f820c8decd3b", "93845be75467c06b6527748954ec3ecb05e17fb9a5eda2df67e794dd9ce2f7b6"
		if got := train.Hash(); got != want {
			t.Errorf("%s: hash of the drawn training rows %s, want %s", spec, got, want)
		}
		if got := test.Hash(); got != wantTest {
			t.Errorf("%s: hash of the drawn test rows %s, want %s", spec, got, wantTest)
		}
	}
}

// A server that cuts off, states a wrong length or sends garbage without end is skipped. The next mirror is
// used; if there is none, nothing is stored.
func TestMNISTDownloadFaults(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		words  []string // in the error
	}{
		"cut": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write(make([]byte, 100))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, []string{"unexpected EOF"}},
		"cut without a length": {func(w http.ResponseWriter, r *http.Request) {
			w.Write(make([]byte, 100))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, []string{"EOF"}},
		"silent": {func(w http.ResponseWriter, r *http.Request) { <-release }, []string{"nothing came for"}},
		"shorter than it says": {func(w http.ResponseWriter, r *http.Request) {
			hijacked, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(hijacked, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nConnection: close\r\n\r\nshort")
			hijacked.Close()
		}, []string{"unexpected EOF"}},
		"longer than it says": {func(w http.ResponseWriter, r *http.Request) {
			hijacked, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(hijacked, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmore than four bytes")
			hijacked.Close()
		}, []string{"train-images-idx3-ubyte.gz"}},
		"garbage": {func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 300)) }, []string{"train-images-idx3-ubyte.gz"}},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for b := make([]byte, 1<<16); ; {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		}, []string{"longer than 16777216 bytes"}},
		"empty": {func(w http.ResponseWriter, r *http.Request) {}, []string{"train-images-idx3-ubyte.gz"}},
	} {
		m, contents := fakeMNIST(t)
		s := httptest.NewServer(c.answer)
		m.mirrors, m.stall = []string{s.URL + "/"}, time.Minute // more than any silence on a slow machine
		if name == "silent" {
			m.stall = 200 * time.Millisecond
		}
		_, _, err := loadFake(m, "mnist", Options{})
		checkError(t, err, append(c.words, "-data-dir")...)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v has several lines, want no %q in it", name, err, "\n")
		}
		if _, err := os.Stat(m.cache); err == nil {
			t.Errorf("%s: something is stored", name)
		}
		good, _ := serve(t, contents)
		m.mirrors = append(m.mirrors, good)
		if _, _, err := loadFake(m, "mnist", Options{}); err != nil {
			t.Errorf("%s: a good mirror does not serve: %v", name, err)
		}
		if name != "silent" {
			s.Close()
		}
	}
}
