package cli

import (
	"path/filepath"
	"slices"

	"gorbm/rbm/atomicfile"
	"gorbm/train/plots"
)

// Pictures are the endings of picture files, for CheckNew and WritePicture.
var Pictures = []string{".png", ".svg", ".pdf"}

// AddPictures adds the flag -pictures: a second format for charts, besides PNG. Its
// value is the argument format of WritePictures. more are further choices.
func (f *Flags) AddPictures(format *string, more ...string) *Row {
	usage := "format in which charts are written in addition to png: svg or pdf"
	if slices.Contains(more, "none") {
		usage += "; or none, for no pictures and no samples"
	}
	return f.StringVar(format, "pictures", "png", usage).Choice(append([]string{"png", "svg", "pdf"}, more...)...)
}

// WritePictures writes a page of plots to name.png in a folder, and also to name.format
// unless format is png.
func WritePictures(dir, name, format string, page *plots.Page) error {
	if err := WritePicture(filepath.Join(dir, name+".png"), page); err != nil || format == "png" {
		return err
	}
	return WritePicture(filepath.Join(dir, name+"."+format), page)
}

// WritePicture writes a page of plots to a file. The ending of path decides the format;
// unknown endings give PNG.
func WritePicture(path string, page *plots.Page) error {
	format, ok := plots.FormatOf(path)
	if !ok {
		format = plots.PNG
	}
	return atomicfile.Write(path, page.As(format))
}
