package cli

import (
	"path/filepath"
	"slices"

	"gorbm/rbm/atomicfile"
	"gorbm/train/plots"
)

// Pictures are the endings of picture files, for CheckNew and WritePicture.
var Pictures = []string{".png", ".svg", ".pdf"}

// AddPictures adds the flag -pictures: the format in which the charts of a folder are
// written, besides PNG. Its value is for WritePictures.
func (f *Flags) AddPictures(format *string, more ...string) *Row {
	usage := "format of charts, svg or pdf, which are written as png in any case"
	if slices.Contains(more, "none") {
		usage += "; or none, for no pictures and no samples"
	}
	return f.StringVar(format, "pictures", "png", usage).Choice(append([]string{"png", "svg", "pdf"}, more...)...)
}

// WritePictures writes a page of plots to NAME.png in a folder, and in the format of
// -pictures if that is another.
func WritePictures(dir, name, format string, page *plots.Page) error {
	if err := WritePicture(filepath.Join(dir, name+".png"), page); err != nil || format == "png" {
		return err
	}
	return WritePicture(filepath.Join(dir, name+"."+format), page)
}

// WritePicture writes a page of plots to a file, in the format that its ending
// asks for, or else as PNG.
func WritePicture(path string, page *plots.Page) error {
	format, ok := plots.FormatOf(path)
	if !ok {
		format = plots.PNG
	}
	return atomicfile.Write(path, page.As(format))
}
