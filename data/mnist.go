package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gorbm/data/grammar"
)

// mnistSource says where MNIST is found. Tests have their own sources.
type mnistSource struct {
	files   [4]idxFile // training images and labels, test images and labels
	mirrors []string   // addresses to which a file's name and .gz are appended
	client  *http.Client
	stall   time.Duration // time without data after which a download fails
	cache   string        // folder for downloads; "" if the system has none
	env     string        // folder mnist in GORBM_DATA; "" if that is unset
}

// The names are those of the original distribution. The checksums are those of the uncompressed files,
// which are equal at every mirror.
var mnistFiles = [4]idxFile{
	{[]int{3}, "train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
	{[]int{1}, "train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
	{[]int{3}, "t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
	{[]int{1}, "t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}

func defaultMNIST() mnistSource {
	m := mnistSource{
		files: mnistFiles,
		mirrors: []string{
			"https://ossci-datasets.s3.amazonaws.com/mnist/",
			"https://storage.googleapis.com/cvdf-datasets/mnist/",
		},
		client: downloadClient(),
		stall:  downloadStall,
	}
	if dir, err := os.UserCacheDir(); err == nil {
		m.cache = filepath.Join(dir, "gorbm", "mnist")
	}
	if dir := os.Getenv("GORBM_DATA"); dir != "" {
		m.env = filepath.Join(dir, "mnist")
	}
	return m
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
	var paths [4]string
	for i, f := range m.files {
		var err error
		if paths[i], err = m.find(ctx, f, opt); err != nil {
			return nil, err
		}
	}
	var sets [2]*Set
	var errs [2]error
	var both sync.WaitGroup
	for i := range sets { // most of the time is spent on decompression, which is serial in a file
		both.Go(func() { sets[i], errs[i] = m.read(ctx, i, idxPart{paths[2*i], paths[2*i+1]}, opt) })
	}
	both.Wait()
	if err := cmp.Or(errs[0], errs[1]); err != nil {
		return nil, err
	}
	train := sets[0]
	n, err := sp.rows(train.Len())
	if err != nil {
		return nil, err
	}
	if lo := train.Len() - n; lo > 0 {
		train.Name = fmt.Sprintf("mnist:%d", n)
		train.X, train.Y = train.X.Slice(lo, lo+n), train.Y[lo:]
		if g := &train.Grey; g.Rows > 0 {
			g.Rows, g.Data = n, g.Data[lo*g.Cols:]
		}
	}
	return sets[:], nil
}

// read reads part i of MNIST: 0, the training set, or 1, the test set.
func (m mnistSource) read(ctx context.Context, i int, p idxPart, opt Options) (*Set, error) {
	s, bin := opt.emptySet("mnist", i, true)
	labels, err := p.read(ctx, m.files[2*i:], &packer{bin: bin, set: s})
	if err != nil {
		return nil, err
	}
	s.Y, s.Classes = make([]int32, len(labels)), digitNames()
	for row, y := range labels {
		if y > 9 {
			return nil, formatErrorf("%s: label %d of row %d is not a digit; fetch it again", p.labels, y, row)
		}
		s.Y[row] = int32(y)
	}
	return s, nil
}

// HasMNIST reports whether MNIST can probably be loaded without a download. It looks for the first of the
// four files only. dir is Options.Dir.
func HasMNIST(dir string) bool {
	path, err := defaultMNIST().onDisk(mnistFiles[0], dir)
	return path != "" && err == nil
}

// onDisk returns the path of a file, or "" if no folder has it.
func (m mnistSource) onDisk(f idxFile, dir string) (string, error) {
	// Some archives unpack to a dot where the original name has a dash.
	dotted := strings.Replace(f.name, "-idx", ".idx", 1)
	for _, dir := range m.dirs(dir) {
		for _, name := range []string{f.name + ".gz", f.name, dotted, dotted + ".gz"} {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() {
				return path, nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return "", err // the file may exist but cannot be reached; below a file (ENOTDIR) nothing exists
			}
		}
	}
	return "", nil
}

// dirs returns the folders in which files are searched, in this order. dir is Options.Dir.
func (m mnistSource) dirs(dir string) []string {
	dirs := []string{m.env, m.cache}
	if dir != "" {
		dirs = []string{dir, filepath.Join(dir, "mnist"), m.env, m.cache}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// folders lists the folders of dirs for a message.
func (m mnistSource) folders(dir string) string {
	if dirs := m.dirs(dir); len(dirs) > 0 {
		return strings.Join(dirs, ", ")
	}
	return "any folder"
}

// find returns the path of a file, and downloads it if no folder has it. The four files may be in different
// folders, because their checksums are tested later.
func (m mnistSource) find(ctx context.Context, f idxFile, opt Options) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if opt.Dir != "" {
		if _, err := os.Stat(opt.Dir); err != nil {
			return "", fmt.Errorf("mnist: -data-dir: %w; name a folder that holds %s, or leave it out", err, m.names())
		}
	}
	path, err := m.onDisk(f, opt.Dir)
	if path != "" || err != nil {
		return path, err
	}
	if m.cache == "" {
		return "", fmt.Errorf("mnist: no file %s.gz in %s, and no cache folder to download to; set GORBM_DATA to a folder whose subfolder mnist holds %s", f.name, m.folders(opt.Dir), m.names())
	}
	if path, err = m.download(ctx, f, opt); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("mnist: no file %s.gz in %s, and none could be downloaded (%w); put %s into %s or into a folder named by -data-dir, or set GORBM_DATA to the folder whose subfolder mnist holds them", f.name, m.folders(opt.Dir), err, m.names(), m.cache)
	}
	return path, nil
}

// names lists the four files for a message.
func (m mnistSource) names() string {
	var s []string
	for _, f := range m.files {
		s = append(s, f.name+".gz")
	}
	return grammar.List(s, "and")
}

// digitNames returns the class names of sets of digits.
func digitNames() []string { return strings.Split("0123456789", "") }
