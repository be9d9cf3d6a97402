package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
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
	m = mnistSource{client: http.DefaultClient, cache: filepath.Join(t.TempDir(), "gorbm", "mnist")}
	for i, f := range mnistFiles {
		n := 6
		if i >= 2 {
			n = 3
		}
		labels := make([]byte, n)
		pixels := make([]byte, n*4)
		for k := range n {
			pixels[k*4+k%4], labels[k] = 128, byte(k) // row k has pixel k%4 on
		}
		b := idxBuild(labels, uint32(n))
		if i%2 == 0 {
			b = idxBuild(pixels, uint32(n), 2, 2)
		}
		sum := sha256.Sum256(b)
		m.files[i] = mnistFile{f.name, hex.EncodeToString(sum[:])}
		contents[f.name] = gzipped(b)
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
	in := func(name string) string { return filepath.Join(dir, name) }
	writeFiles(t, in("direct"), contents)
	writeFiles(t, filepath.Join(in("above"), "mnist"), contents)
	cached, folders := m, m
	writeFiles(t, cached.cache, contents)
	folders.cache, folders.folders = "", []string{in("absent"), in("direct"), in("never")}
	for name, c := range map[string]struct {
		m   mnistSource
		dir string
	}{
		"dir": {m, in("direct")}, "dir/mnist": {m, in("above")}, "folders": {folders, ""}, "cache": {cached, ""},
		"dir is a file": {cached, filepath.Join(in("direct"), "t10k-labels-idx1-ubyte.gz")}, "dir without files": {cached, dir},
	} {
		t.Run(name, func(t *testing.T) {
			train, test, err := loadFake(c.m, "mnist", Options{Dir: c.dir})
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, train)
			checkSet(t, test)
			if train.Name != "mnist" || test.Name != "mnist test" || train.Len() != 6 || test.Len() != 3 || train.Notes != nil ||
				train.Y[5] != 5 || rowText(train.X, 5) != "0100" || train.Height != 2 || train.Binarize != Threshold || len(train.Classes) != 10 {
				t.Errorf("got %+v", train)
			}
		})
	}
	_, _, err := loadFake(m, "mnist", Options{Dir: in("absent")})
	checkError(t, err, "-data-dir", "absent", "GORBM_DATA")
}

// The folder of the module is found by the path of a function in the binary, or in the module cache of the
// user if that path is relative, as with -trimpath.
func TestModuleFolders(t *testing.T) {
	cache, home := t.TempDir(), t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	t.Setenv("GOPATH", filepath.Join(home, "a")+string(filepath.ListSeparator)+filepath.Join(home, "b"))
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	got := moduleFolders()
	below := filepath.Join("github.com", "petar", "!go!m!n!i!s!t@v0.0.0-20150320212226-2fbe10d0fa63", "data")
	for i, dir := range []string{cache, filepath.Join(home, "a", "pkg", "mod"), filepath.Join(home, "b", "pkg", "mod"), filepath.Join(home, "go", "pkg", "mod")} {
		if at := len(got) - 4 + i; at < 0 || got[at] != filepath.Join(dir, below) {
			t.Errorf("got %q, want %s in it", got, filepath.Join(dir, below))
		}
	}
	if n := len(got); n > 5 || n == 5 && !strings.HasSuffix(got[0], below) {
		t.Errorf("got %q, want at most the folder of the build before the others", got)
	}
}

func TestHasMNIST(t *testing.T) {
	dir := t.TempDir()
	m, contents := fakeMNIST(t)
	writeFiles(t, filepath.Join(dir, "mnist"), contents)
	if !m.has(dir) || m.has("") {
		t.Error("MNIST is not found, or in another folder")
	}
	m.folders = []string{"", filepath.Join(dir, "mnist")}
	if !m.has("") {
		t.Error("MNIST is not found in a folder of the source")
	}
	if err := os.Remove(filepath.Join(dir, "mnist", mnistFiles[3].name)); err != nil || m.has("") {
		t.Errorf("three of four files count, %v", err)
	}
	t.Setenv("GORBM_DATA", dir)
	if got := defaultMNIST().folders[0]; got != filepath.Join(dir, "mnist") {
		t.Errorf("the first folder is %s, want mnist in GORBM_DATA", got)
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

// A folder with damaged files, or without some of them, is named in a note or an error, and the next folder
// is used.
func TestMNISTBadFiles(t *testing.T) {
	const images, labels = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
	for _, c := range []struct {
		name   string
		change func(f map[string][]byte)
		want   []string
	}{
		{"wrong content", func(f map[string][]byte) { f[images] = gzipped(idxBuild(make([]byte, 24), 6, 2, 2)) }, []string{images, "SHA-256", "fetch it again"}},
		{"cut short", func(f map[string][]byte) { f[images] = f[images][:30] }, []string{images, "cut short"}},
		{"empty", func(f map[string][]byte) { f[images] = nil }, []string{images, "cut short"}},
		{"exchanged", func(f map[string][]byte) { f[images] = f[labels] }, []string{images, "SHA-256"}},
		{"web page", func(f map[string][]byte) { f[labels] = []byte("<html>hotel</html>") }, []string{labels, "damaged"}},
		{"longer", func(f map[string][]byte) { f[labels] = append(f[labels], 1) }, []string{labels, "cut short"}},
		// The files are read concurrently, but the error is always that of the first one.
		{"both", func(f map[string][]byte) { f[labels], f["t10k-images-idx3-ubyte.gz"] = f[labels][:9], nil }, []string{labels, "cut short"}},
		{"three of four", func(f map[string][]byte) { delete(f, labels) }, []string{"bad", "lacks " + labels}},
		{"unpacked", func(f map[string][]byte) { delete(f, images); f["train-images-idx3-ubyte"] = nil }, []string{"is not gzipped", "-data ", "train-images-idx3-ubyte"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, contents := fakeMNIST(t)
			good := maps.Clone(contents)
			c.change(contents)
			bad := filepath.Join(t.TempDir(), "bad")
			writeFiles(t, bad, contents)
			m.folders = []string{bad}
			_, _, err := loadFake(m, "mnist", Options{})
			checkError(t, err, append(c.want, "GORBM_DATA")...)
			writeFiles(t, m.cache, good)
			train, _, err := loadFake(m, "mnist", Options{})
			if err != nil || train.Len() != 6 || len(train.Notes) != 1 {
				t.Fatalf("the good folder after the bad one: %v, %+v", err, train)
			}
			checkError(t, errors.New(train.Notes[0]), c.want...)
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
	words := []string{"train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz", "-data-dir", "GORBM_DATA"}
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

func TestMNISTCancelled(t *testing.T) {
	m, contents := fakeMNIST(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if _, err := m.load(ctx, spec{text: "mnist", name: "mnist"}, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v, want %v", err, context.Canceled)
		}
		writeFiles(t, m.cache, contents)
	}
}

// The real files, which are in the folder of the module GoMNIST: the rows that earlier versions read, also by the reader
// of other IDX files.
func TestMNISTReal(t *testing.T) {
	t.Setenv("GORBM_DATA", "")
	if !HasMNIST("") {
		t.Skip("the module GoMNIST has no folder here, as in a vendored build")
	}
	dir, _, err := defaultMNIST().find(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(dir, "train-images-idx3-ubyte.gz")
	hashes := map[string][2]string{ // of the training and test rows
		Threshold: {"73a72c8342ec575583629e75457bcd54116a98d777d96487a2daf16930283f82", "4eaa0a64a20247d07d293e78f6ad2635f9cec08ce4c25f34cbb0fc56eb7ab8fe"},
		Sample:    {"d7cb897d4be5b47a1f37be1c05961fd3a355191aa9afa322c930f820c8decd3b", "93845be75467c06b6527748954ec3ecb05e17fb9a5eda2df67e794dd9ce2f7b6"},
	}
	for mode, want := range hashes {
		if mode == Sample && !*long {
			continue
		}
		for _, spec := range []string{"mnist", images} {
			train, test, err := Load(t.Context(), spec, Options{Binarize: mode})
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, train)
			if train.Len() != 60000 || test.Len() != 10000 || train.Height != 28 || train.Width != 28 || train.Y[0] != 5 || test.Y[0] != 7 || train.Notes != nil {
				t.Errorf("%d and %d rows of %d × %d", train.Len(), test.Len(), train.Height, train.Width)
			}
			if got := train.Hash(); got != want[0] {
				t.Errorf("%s: hash of the training rows %s, want %s", spec, got, want[0])
			}
			if got := test.Hash(); got != want[1] {
				t.Errorf("%s: hash of the test rows %s, want %s", spec, got, want[1])
			}
		}
	}
}

// A download stays encrypted: a redirection from https to http is refused.
func TestDownloadStaysEncrypted(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	defer plain.Close()
	for _, serve := range []func(http.Handler) *httptest.Server{httptest.NewTLSServer, httptest.NewServer} {
		s := serve(http.RedirectHandler(plain.URL, http.StatusFound))
		defer s.Close()
		client := s.Client()
		client.CheckRedirect = downloadClient().CheckRedirect
		resp, err := client.Get(s.URL)
		if err == nil {
			resp.Body.Close()
		}
		if encrypted := strings.HasPrefix(s.URL, "https"); encrypted != (err != nil) || encrypted && !strings.Contains(err.Error(), "which is not encrypted") {
			t.Errorf("%s: %v", s.URL, err)
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
		"silent": {func(w http.ResponseWriter, r *http.Request) { <-release }, []string{"Client.Timeout"}},
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
		m.mirrors = []string{s.URL + "/"}
		if name == "silent" {
			m.client = &http.Client{Timeout: 200 * time.Millisecond}
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
		m.mirrors, m.client = append(m.mirrors, good), http.DefaultClient
		if name == "silent" {
			m.mirrors = m.mirrors[1:]
		}
		if _, _, err := loadFake(m, "mnist", Options{}); err != nil {
			t.Errorf("%s: a good mirror does not serve: %v", name, err)
		}
		if name != "silent" {
			s.Close()
		}
	}
}
