package cli

import (
	"gorbm/rbm/atomicfile"
	"gorbm/train/plots"
)

// Pictures are the endings of picture files, for CheckNew and WritePicture.
var Pictures = []string{".png", ".svg", ".pdf"}

// WritePicture writes a page of plots to a file, in the format that its ending
// asks for, or else as PNG.
func WritePicture(path string, page *plots.Page) error {
	format, ok := plots.FormatOf(path)
	if !ok {
		format = plots.PNG
	}
	return atomicfile.Write(path, page.As(format))
}
