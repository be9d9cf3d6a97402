package data

import (
	"bytes"
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
	"strings"
)

// An idxFile is one file of MNIST: its name and the SHA-256 of its
// uncompressed content.
type idxFile struct {
	name, sum string
	dims      int
}

// mnistSource is where MNIST is to be had; tests make their own.
type mnistSource struct {
	files   [4]idxFile // training images and labels, test images and labels
	mirrors []string   // addresses that the names are appended to, with .gz
	client  *http.Client
	stall   stallTime
	cache   string // folder for downloads; "" if the system has none
	env     string // folder that GORBM_DATA points at; "" if unset
}

// The names are those of the original distribution; the sums are of the files
// that every mirror gives out.
var mnistFiles = [4]idxFile{
	{"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", 3},
	{"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 1},
	{"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", 3},
	{"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 1},
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

// loadMNIST loads mnist or mnist:N, the last N training rows: with N = 55000
// the training set of the infinite swapping paper, rows 5000 to 59999. Pixels
// are by default thresholded at ½, which is that paper's rounding (section 4.3).
func loadMNIST(ctx context.Context, sp spec, opt Options) (train, test *Set, err error) {
	return defaultMNIST().load(ctx, sp, opt)
}

func (m mnistSource) load(ctx context.Context, sp spec, opt Options) (train, test *Set, err error) {
	if err := sp.noSeed(); err != nil {
		return nil, nil, err
	}
	if _, err := sp.rows(60000); err != nil {
		return nil, nil, err
	}
	var paths [4]string
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for i, f := range m.files {
		if paths[i], err = m.find(ctx, f, opt); err != nil {
			return nil, nil, err
		}
	}
	if train, err = digitSet(m.files[:2], paths[:2], opt.binarizer(streamTrain)); err != nil {
		return nil, nil, err
	}
	if test, err = digitSet(m.files[2:], paths[2:], opt.binarizer(streamTest)); err != nil {
		return nil, nil, err
	}
	train.Name, test.Name = "mnist", "mnist test"
	n, err := sp.rows(train.Len())
	if err != nil {
		return nil, nil, err
	}
	if n < train.Len() {
		train.Name = fmt.Sprintf("mnist:%d", n)
		lo := train.Len() - n
		train.X, train.Y = train.X.Slice(lo, lo+n), train.Y[lo:]
		if g := &train.Grey; g.Rows > 0 {
			g.Rows, g.Data = n, g.Data[lo*g.Cols:]
		}
	}
	return train, test, nil
}

// folders returns where files are looked for, in order.
func (m mnistSource) folders(opt Options) []string {
	var dirs []string
	if opt.Dir != "" {
		dirs = append(dirs, opt.Dir, filepath.Join(opt.Dir, "mnist"))
	}
	for _, dir := range []string{m.env, m.cache} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// find returns the path of a file, downloaded if it is nowhere on disk. Each
// file is looked for by itself: its sum will say whether it is the right one.
func (m mnistSource) find(ctx context.Context, f idxFile, opt Options) (string, error) {
	// Some archives unpack to a dot where the original name has a dash.
	dotted := strings.Replace(f.name, "-idx", ".idx", 1)
	for _, dir := range m.folders(opt) {
		for _, name := range []string{f.name + ".gz", f.name, dotted, dotted + ".gz"} {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() {
				return path, nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotDir(err) {
				return "", err // present, as far as one can see, and not to be had
			}
		}
	}
	if m.cache == "" {
		return "", fmt.Errorf("mnist: no file %s.gz here and no cache folder to download to; set GORBM_DATA to a folder whose subfolder mnist holds %s", f.name, m.names())
	}
	path, err := m.download(ctx, f, opt)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("mnist: no file %s.gz here and none could be downloaded (%w); put %s into %s or into a folder named by -data-dir", f.name, err, m.names(), m.cache)
	}
	return path, nil
}

// names lists the four files for a message.
func (m mnistSource) names() string {
	var s []string
	for _, f := range m.files {
		s = append(s, f.name+".gz")
	}
	return strings.Join(s[:3], ", ") + " and " + s[3]
}

// maxIDX caps the uncompressed size of a file: MNIST's largest has 47 MB.
const maxIDX = 1 << 28

// scan reads a file and holds it against its sum; its elements go where begin
// says.
func (f idxFile) scan(path string, begin func(dims []int) (io.Writer, error)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return f.check(file, path, begin)
}

// check reads f from r. A content that is broken is reported as what it is;
// one that is well formed but not f is told by its sum.
func (f idxFile) check(r io.Reader, path string, begin func(dims []int) (io.Writer, error)) error {
	r, err := decompress(r)
	if err != nil {
		return idxRead(path, err)
	}
	h := sha256.New()
	if err := scanIDX(io.TeeReader(r, h), path, maxIDX, []int{f.dims}, begin); err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.sum {
		return formatErrorf("%s: SHA-256 %s… of the content is not that of %s, %s…; delete the file and fetch it again", path, sum[:12], f.name, f.sum[:12])
	}
	return nil
}

// digitSet makes a set of a file of images and one of labels 0 to 9. Pixels
// become bits as they arrive: all of them as bytes would take more memory than
// training does.
func digitSet(files []idxFile, paths []string, bin binarizer) (s *Set, err error) {
	p := &packer{bin: bin}
	err = files[0].scan(paths[0], func(dims []int) (io.Writer, error) {
		s, err := emptyPictures(dims, paths[0], bin)
		p.set = s
		return p, err
	})
	if err != nil {
		return nil, err
	}
	p.flush()
	s = p.set
	var labels idx
	var buf bytes.Buffer
	err = files[1].scan(paths[1], func(dims []int) (io.Writer, error) {
		labels.dims = dims
		return &buf, nil
	})
	if err != nil {
		return nil, err
	}
	if err := sameCount(s.Len(), labels, paths[0], paths[1]); err != nil {
		return nil, err
	}
	s.Y, s.Classes = make([]int32, s.Len()), digitNames()
	for i, y := range buf.Bytes() {
		if y > 9 {
			return nil, formatErrorf("%s: label %d of row %d is not a digit; fetch it again", paths[1], y, i)
		}
		s.Y[i] = int32(y)
	}
	return s, nil
}

// digitNames returns the class names of sets of digits.
func digitNames() []string { return strings.Split("0123456789", "") }
