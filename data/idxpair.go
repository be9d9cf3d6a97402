package data

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm"
)

// idxEndings are the endings of the names of IDX files.
var idxEndings = []string{"-ubyte", "-ubyte.gz", ".idx", ".idx.gz"}

// The numbers of dimensions that the two files of a set may have: images × height × width or examples ×
// inputs, and a label for each image.
var imageDims, labelDims = []int{2, 3}, []int{1}

// An idxPart has the paths of the files of a training or test set. labels is "" if it has none.
type idxPart struct{ images, labels string }

// splitPair splits a spec that names two files, images,labels. It does not split the name of an existing
// file with a comma.
func splitPair(spec string) idxPart {
	if !isFile(spec) {
		for i, c := range spec {
			if c == ',' && hasEnding(spec[:i], idxEndings) {
				return idxPart{spec[:i], spec[i+1:]}
			}
		}
	}
	return idxPart{images: spec}
}

// Absolute returns spec with absolute paths, so that it is valid in any folder. The names of data sets stay
// as they are.
func Absolute(spec string) string {
	if name, _, _ := strings.Cut(spec, ":"); Known(name) {
		return spec
	}
	if path, name, err := sequenceSettings(spec); err == nil && path != spec && IsSequenceFile(path) {
		path = Absolute(path)
		if _, known := alphabets[name]; !known {
			name = Absolute(name)
		}
		return path + ":alphabet=" + name
	}
	p := splitPair(spec)
	images, err := filepath.Abs(p.images)
	labels, err2 := filepath.Abs(p.labels)
	switch {
	case err != nil || err2 != nil: // there is no current folder
		return spec
	case p.labels == "":
		return images
	}
	return images + "," + labels
}

// loadIDX loads a pair of IDX files, the format of MNIST and of similar sets: grey bytes, images × height ×
// width or examples × inputs, and a byte for the class of each image. The file of labels is next to the
// images under the usual name, or is named after a comma. Files that have t10k or test in their names in
// place of train are the test set.
func loadIDX(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	train := splitPair(sp.text)
	switch {
	case opt.LabelColumn == "none":
		train.labels = ""
	case train.labels == "":
		train.labels = labelsBeside(train.images)
		if train.labels == "" && opt.LabelColumn == "last" && isFile(train.images) {
			return nil, formatErrorf("%s: no file of labels next to it; name both, as in images,labels", train.images)
		}
	}
	parts, err := train.withTest()
	if err != nil {
		return nil, err
	}

	// All images are read once before any are stored. This checks that the files contain what their headers
	// say, and finds which byte is white.
	var seen [2][256]int // count of each byte in each part
	var shapes [][]int
	for i, p := range parts {
		err := scanFile(ctx, p.images, imageDims, func(dims []int) (io.Writer, error) {
			shapes = append(shapes, dims[1:])
			return writerFunc(func(b []byte) (int, error) {
				for _, g := range b {
					seen[i][g]++
				}
				return len(b), nil
			}), nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(parts) == 2 && !slices.Equal(shapes[0], shapes[1]) {
		return nil, formatErrorf("%s: images of %v, but of %v in %s; give both the same shape, or move one away",
			parts[1].images, shapes[1], shapes[0], parts[0].images)
	}
	var all extent
	g := opt.scaling()
	if len(g.given) > 1 {
		return nil, formatErrorf("%s: images have one range for all inputs; give -scale LOW:HIGH", parts[0].images)
	}
	for b := range 256 {
		if seen[0][b]+seen[1][b] == 0 {
			continue
		}
		all.add(float64(b))
		if why := g.wrong(0, float64(b), true); why != "" {
			return nil, formatErrorf("%s: byte %d %s", parts[0].images, b, why)
		}
	}
	ranges, why := g.fit(all, true)
	if why != "" {
		return nil, formatErrorf("%s: %s", parts[0].images, why)
	}

	to := ranges[0]
	var sets []*Set
	var l labeller
	for i, p := range parts {
		s, bin := opt.emptySet(sp.text, i, all.between(to))
		s.Scale = opt.describe(ranges)
		labels, err := p.read(ctx, &packer{bin: bin, set: s, levels: to.levels()})
		if err != nil {
			return nil, err
		}
		for _, y := range labels {
			l.add(strconv.Itoa(int(y))) // 256 classes are not too many
		}
		beyond := 0
		for b, n := range seen[i] {
			if !to.holds(float64(b)) {
				beyond += n
			}
		}
		if beyond > 0 {
			s.Notes = append(s.Notes, clipped(beyond, s.X.Rows*s.X.Cols))
		}
		sets = append(sets, s)
	}
	if train.labels != "" {
		l.give(sets...)
	}
	return sets, nil
}

// withTest returns the part and, if there is one, the test set next to it. If the training set has labels,
// the test set must have them too.
func (p idxPart) withTest() ([]idxPart, error) {
	t := idxPart{images: besideTest(p.images)}
	if t.images == "" {
		return []idxPart{p}, nil
	}
	if p.labels != "" {
		t.labels = cmp.Or(labelsBeside(t.images), besideTest(p.labels))
		if t.labels == "" {
			return nil, formatErrorf("%s: no file of labels next to it; put them there, or move the images away", t.images)
		}
	}
	return []idxPart{p, t}, nil
}

// read reads the images into the packer's set, and returns the labels.
func (p idxPart) read(ctx context.Context, to *packer) ([]byte, error) {
	s := to.set
	err := scanFile(ctx, p.images, imageDims, func(dims []int) (io.Writer, error) {
		s.Height, s.Width = 1, dims[1]
		if len(dims) == 3 {
			s.Height, s.Width = dims[1], dims[2]
		}
		if why := checkShape(int64(dims[0]), int64(s.Height)*int64(s.Width)); why != "" {
			return nil, formatErrorf("%s: %s; fetch it again, or use a part of it", p.images, why)
		}
		s.X = rbm.NewBits(dims[0], s.Height*s.Width)
		if len(dims) == 2 {
			s.Height, s.Width = NearSquare(s.Width)
			s.guessed = true
		}
		if why := to.bin.keep(s); why != "" {
			return nil, formatErrorf("%s: %s", p.images, why)
		}
		return to, nil
	})
	if err != nil {
		return nil, err
	}
	to.flush()
	if p.labels == "" {
		return nil, nil
	}
	var labels bytes.Buffer
	err = scanFile(ctx, p.labels, labelDims, func(dims []int) (io.Writer, error) {
		if dims[0] != s.Len() {
			return nil, formatErrorf("%s holds %d labels for the %d images of %s; fetch both files again", p.labels, dims[0], s.Len(), p.images)
		}
		return &labels, nil
	})
	return labels.Bytes(), err
}

// labelsBeside returns the path of the labels that belong to a file of images by its name, or "".
func labelsBeside(images string) string {
	return sibling(images, "images", "labels", "idx3", "idx1", "idx2", "idx1")
}

// sibling returns the path of a file in the same folder, gzipped or not, or "" if there is none. Its name
// is that of path after replacements: words are pairs of old and new, as for strings.NewReplacer.
func sibling(path string, words ...string) string {
	dir, old := filepath.Split(path)
	name := strings.NewReplacer(words...).Replace(old)
	if name == old {
		return ""
	}
	plain := strings.TrimSuffix(name, ".gz")
	for _, name := range []string{name, plain, plain + ".gz"} {
		if isFile(dir + name) {
			return dir + name
		}
	}
	return ""
}

// isFile reports whether there is a regular file at path.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
