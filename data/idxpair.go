package data

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"gorbm/rbm/npz"
)

// idxEndings are the endings of the names of IDX files.
var idxEndings = []string{"-ubyte", "-ubyte.gz", ".idx", ".idx.gz"}

// splitPair splits a spec that names two files, images,labels. It does not split the name of an existing
// file with a comma.
func splitPair(spec string) arrayPart {
	if !isFile(spec) {
		for i, c := range spec {
			if c == ',' && hasEnding(spec[:i], idxEndings) {
				return arrayPart{spec[:i], spec[i+1:]}
			}
		}
	}
	return arrayPart{x: spec}
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
	images, err := filepath.Abs(p.x)
	labels, err2 := filepath.Abs(p.y)
	switch {
	case err != nil || err2 != nil: // there is no current folder
		return spec
	case p.y == "":
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
		train.y = ""
	case train.y == "":
		train.y = labelsBeside(train.x)
		if train.y == "" && opt.LabelColumn == "last" && isFile(train.x) {
			return nil, formatErrorf("%s: no file of labels next to it; name both, as in images,labels", train.x)
		}
	}
	parts, err := train.withTest()
	if err != nil {
		return nil, err
	}

	sets, err := arrays(func(path string) (*npz.Array, error) { return openIDX(ctx, path) }).sets(parts, sp.text, opt)
	if errors.Is(err, npz.ErrFormat) {
		err = formatErrorf("%w", err)
	}
	return sets, err
}

// withTest returns the part and, if there is one, the test set next to it. The names of its arrays are paths.
// If the training set has labels, the test set must have them too.
func (p arrayPart) withTest() ([]arrayPart, error) {
	t := arrayPart{x: besideTest(p.x)}
	if t.x == "" {
		return []arrayPart{p}, nil
	}
	if p.y != "" {
		t.y = cmp.Or(labelsBeside(t.x), besideTest(p.y))
		if t.y == "" {
			return nil, formatErrorf("%s: no file of labels next to it; put them there, or move the images away", t.x)
		}
	}
	return []arrayPart{p, t}, nil
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
