package data

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gorbm/rbm"
)

// maxIDXFile caps the uncompressed size of an IDX file that is named by the
// user: the largest of the known sets, EMNIST by class, has 550 MB.
const maxIDXFile = 1 << 30

// isIDX reports whether a spec ends like an IDX file's name.
func isIDX(spec string) bool {
	spec = strings.TrimSuffix(strings.ToLower(spec), ".gz")
	return strings.HasSuffix(spec, "-ubyte") || strings.HasSuffix(spec, ".idx")
}

// idxPaths are the files of one part of a set; labels is "" if it has none.
type idxPaths struct{ images, labels string }

// splitPair takes apart a spec that names two files, images,labels. A single
// file whose name has a comma in it is left whole.
func splitPair(spec string) idxPaths {
	if isFile(spec) {
		return idxPaths{images: spec}
	}
	for i, c := range spec {
		if c == ',' && isIDX(spec[:i]) {
			return idxPaths{spec[:i], spec[i+1:]}
		}
	}
	return idxPaths{images: spec}
}

// loadIDX loads any pair of IDX files, as MNIST and its many kin are given out:
// bytes of grey, images × height × width or examples × inputs, and a byte for
// each one's class. The labels stand beside the images under the usual name, or
// are named after a comma. Where train images and labels have t10k or test ones
// beside them, these are the test set.
func loadIDX(ctx context.Context, spec string, opt Options) (train, test *Set, err error) {
	paths := splitPair(spec)
	switch {
	case opt.LabelColumn == "none":
		paths.labels = ""
	case paths.labels == "":
		paths.labels = labelsBeside(paths.images)
		if paths.labels == "" && opt.LabelColumn == "last" && isFile(paths.images) {
			return nil, nil, formatErrorf("%s: no file of labels beside it; name both, as in images,labels", paths.images)
		}
	}
	parts := []idxPaths{paths}
	if t, err := paths.test(); err != nil {
		return nil, nil, err
	} else if t.images != "" {
		parts = append(parts, t)
	}

	var images, labels []idx
	for _, p := range parts {
		im, lab, err := p.read(ctx)
		if err != nil {
			return nil, nil, err
		}
		images, labels = append(images, im), append(labels, lab)
	}
	return idxSets(spec, parts, images, labels, opt)
}

// idxSets makes the sets of one part or two out of what their files hold. The
// images' memory is overwritten.
func idxSets(spec string, parts []idxPaths, images, labels []idx, opt Options) (train, test *Set, err error) {
	if len(images) == 2 && !sameShape(images[0], images[1]) {
		return nil, nil, formatErrorf("%s: images of %v, but of %v in %s; give both the same shape, or move one away",
			parts[1].images, images[1].dims[1:], images[0].dims[1:], parts[0].images)
	}
	between, why := stretch(images)
	if why != "" {
		return nil, nil, formatErrorf("%s: %s", parts[0].images, why)
	}

	var sets []*Set
	for i, p := range parts {
		bin := opt.binarizer(streamTrain + uint64(i))
		if !between {
			bin.mode = Threshold // with nothing to do
		}
		s, err := pictureSet(images[i], p.images, bin)
		if err != nil {
			return nil, nil, err
		}
		images[i].data = nil // the memory is of use
		s.Name = spec
		if i == 1 {
			s.Name += " test"
		}
		if !between {
			s.Binarize = Binary
		}
		sets = append(sets, s)
	}
	if parts[0].labels != "" {
		var l labeller
		for _, lab := range labels {
			for _, y := range lab.data {
				l.add(strconv.Itoa(int(y))) // at most 256 classes are not too many
			}
		}
		l.give(sets)
	}
	if len(sets) == 2 {
		test = sets[1]
	}
	return sets[0], test, nil
}

// test returns the files of the test set that stands beside a training set;
// there are none if images is "". Labels must then be there as they are for the
// training set.
func (p idxPaths) test() (idxPaths, error) {
	for _, word := range []string{"t10k", "test"} {
		t := idxPaths{images: beside(p.images, "train", word)}
		if t.images == "" {
			continue
		}
		if p.labels != "" {
			t.labels = labelsBeside(t.images)
			if t.labels == "" {
				t.labels = beside(p.labels, "train", word)
			}
			if t.labels == "" {
				return t, formatErrorf("%s: no file of labels beside it; put them there, or move the images away", t.images)
			}
		}
		return t, nil
	}
	return idxPaths{}, nil
}

// read reads the files of a part.
func (p idxPaths) read(ctx context.Context) (images, labels idx, err error) {
	if images, err = readIDXFile(ctx, p.images, 2, 3); err != nil || p.labels == "" {
		return images, idx{}, err
	}
	if labels, err = readIDXFile(ctx, p.labels, 1); err != nil {
		return images, labels, err
	}
	return images, labels, countLabels(images, labels, p.images, p.labels)
}

// readIDXFile reads a file, gzip or not.
func readIDXFile(ctx context.Context, path string, dims ...int) (idx, error) {
	if err := ctx.Err(); err != nil {
		return idx{}, err
	}
	f, _, err := open(path)
	if err != nil {
		return idx{}, err
	}
	defer f.Close()
	r, err := decompress(f)
	if err != nil {
		return idx{}, idxRead(path, err)
	}
	return readIDX(r, path, maxIDXFile, dims...)
}

// countLabels returns an error if there is not one label for every image.
func countLabels(images, labels idx, imagePath, labelPath string) error {
	return sameCount(images.dims[0], labels, imagePath, labelPath)
}

// sameCount checks that there is a label for each of n images.
func sameCount(n int, labels idx, imagePath, labelPath string) error {
	if labels.dims[0] != n {
		return formatErrorf("%s holds %d labels for the %d images of %s; fetch both files again", labelPath, labels.dims[0], n, imagePath)
	}
	return nil
}

// pictureSet makes a set of grey images, without labels and without a name.
func pictureSet(images idx, path string, bin binarizer) (*Set, error) {
	s, err := emptyPictures(images.dims, path, bin)
	if err != nil {
		return nil, err
	}
	bin.pictures(s, images.data)
	return s, nil
}

// emptyPictures makes a set with room for images of these dimensions.
func emptyPictures(dims []int, path string, bin binarizer) (*Set, error) {
	n, h, w := dims[0], 1, dims[1]
	if len(dims) == 3 {
		h, w = dims[1], dims[2]
	}
	if why := checkShape(int64(n), int64(h)*int64(w)); why != "" {
		return nil, formatErrorf("%s: %s; fetch it again, or use a part of it", path, why)
	}
	if len(dims) == 2 {
		h, w = NearSquare(w)
	}
	s := &Set{X: rbm.NewBits(n, h*w), Height: h, Width: w, Binarize: bin.mode}
	if why := bin.keep(s); why != "" {
		return nil, formatErrorf("%s: %s", path, why)
	}
	return s, nil
}

// sameShape reports whether two parts have images of one shape.
func sameShape(a, b idx) bool {
	if len(a.dims) != len(b.dims) {
		return false
	}
	for i := range a.dims[1:] {
		if a.dims[i+1] != b.dims[i+1] {
			return false
		}
	}
	return true
}

// stretch makes 255 the white of all images together, if it is not so already,
// and reports whether any value lies between black and white. If the white
// cannot be told it returns a message.
func stretch(images []idx) (between bool, why string) {
	var seen [256]bool
	for _, im := range images {
		for _, g := range im.data {
			seen[g] = true
		}
	}
	most := 0
	for g := range seen {
		if seen[g] {
			most = g
		}
	}
	white, why := byteScale(float64(most))
	if why != "" {
		return false, why
	}
	if white == 1 {
		for _, im := range images {
			for i := range im.data {
				im.data[i] *= 255
			}
		}
		return false, ""
	}
	for _, here := range seen[1:255] {
		between = between || here
	}
	return between, ""
}

// labelsBeside returns the path of the labels that belong to a file of images
// by its name, or "".
func labelsBeside(images string) string {
	return beside(images, "images", "labels", "idx3", "idx1", "idx2", "idx1")
}

// beside returns the path of the file whose name is that of path with some
// words in place of others, gzip or not, or "" if there is none.
func beside(path string, words ...string) string {
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
