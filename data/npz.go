package data

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gorbm/rbm/npz"
)

// inputNames are the names of inputs in an archive, and arrayLabels those of their labels, in order of
// preference and in any case of letters. The inputs of a test set have the name of the training inputs with
// test in place of train, or x_test.
var (
	inputNames  = []string{"x", "x_train", "train_x", "train_images", "train_data", "features", npz.Sparse, "data", "images", "samples", "arr_0"}
	arrayLabels = []string{"y", "labels", "label", "target", "targets", "arr_1"}
)

// loadNPZ reads the inputs and labels of a NumPy archive as a training set, and x_test and y_test as a test
// set. All but the inputs may be missing. Arrays are those of arrays.sets, or the matrix of
// scipy.sparse.save_npz.
func loadNPZ(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	a, err := npz.Open(f, size)
	if err != nil {
		return nil, formatErrorf("%s: %w", path, err)
	}
	return loadArchive(a, path, opt)
}

// loadNPY reads a single NumPy array, like x of loadNPZ.
func loadNPY(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	return loadArchive(npz.Single(f, size, "x"), path, opt)
}

func loadArchive(a *npz.Archive, path string, opt Options) (sets []*Set, err error) {
	parts, err := archiveParts(a, opt)
	if err == nil {
		sets, err = arrays(a.Array).sets(parts, path, opt)
	}
	if err != nil {
		return nil, formatErrorf("%s: %w", path, err)
	}
	return sets, nil
}

// archiveParts finds the arrays of a set in an archive by their names.
func archiveParts(a *npz.Archive, opt Options) ([]arrayPart, error) {
	first := func(names []string) string {
		for _, name := range names {
			if name == npz.Sparse && a.Has(name) {
				return name
			}
			if at := slices.IndexFunc(a.All(), func(has string) bool { return strings.EqualFold(has, name) }); at >= 0 {
				return a.All()[at]
			}
		}
		return ""
	}
	x := first(inputNames)
	if x == "" {
		return nil, fmt.Errorf("no array x or x_train, only %s; name the inputs x and the labels y", a.Names())
	}
	parts := []arrayPart{{x: x}}
	lower := strings.ToLower(x)
	labels, tests := arrayLabels, []string{"x_test"}
	if strings.Contains(lower, "train") {
		labels, tests = []string{"y_train", "train_y", "train_labels"}, []string{strings.Replace(lower, "train", "test", 1)}
	}
	if test := first(tests); test != "" {
		parts = append(parts, arrayPart{x: test})
	}
	y := first(labels)
	if opt.LabelColumn == "none" || y == "" && opt.LabelColumn != "last" {
		return parts, nil
	}
	parts[0].y = cmp.Or(y, "y")
	if len(parts) == 2 {
		test := "y_test"
		if strings.Contains(lower, "train") {
			test = strings.Replace(strings.ToLower(y), "train", "test", 1)
		}
		parts[1].y = cmp.Or(first([]string{test}), test)
	}
	return parts, nil
}
