package data

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"gorbm/rbm/memory"
)

// Stdin is the name of the data set that is read from Options.Stdin. "-" is short for it.
const Stdin = "stdin"

// IsPipe reports whether spec names the data set Stdin, or the pipe as a file.
func IsPipe(spec string) bool {
	return slices.Contains([]string{Stdin, "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, spec)
}

// maxPiped is the largest number of bytes that are read from a pipe: 8 GiB, all in memory.
const maxPiped = 1 << 33

// openPipe makes o.piped a reader of Options.Stdin. done ends the reading. If ctx ends while the pipe is quiet a goroutine
// stays that waits for it.
func (o *Options) openPipe(ctx context.Context) (done func(), err error) {
	const remedy = "pipe the rows in, as in: rbmtrain -data - < FILE.csv; a model that was trained on piped rows needs the same rows again"
	if o.Stdin == nil {
		return nil, specErrorf("%s: there is no pipe; %s", Stdin, remedy)
	}
	in, done := streamed(ctx, o.Stdin)
	o.piped = bufio.NewReaderSize(in, 1<<16)
	switch _, err := o.piped.Peek(1); {
	case err == io.EOF:
		err = formatErrorf("%s: nothing came through the pipe; %s", Stdin, remedy)
		fallthrough
	case err != nil:
		done()
		return nil, err
	}
	if start := o.start(); hasMagic(start) {
		o.all, err = o.readAll()
	}
	return done, err
}

// start returns the first bytes of the pipe.
func (o *Options) start() []byte {
	start, _ := o.piped.Peek(len(stockholmMagic))
	return start
}

// readAll returns all bytes of the pipe.
func (o *Options) readAll() ([]byte, error) {
	var all bytes.Buffer
	for {
		const piece = 1 << 24
		// While it grows the buffer takes twice its bytes.
		if err := memory.Check(Stdin, 2*float64(all.Len()+piece)); err != nil {
			return nil, formatErrorf("%w; write the rows to a file", err)
		}
		_, err := io.CopyN(&all, o.piped, piece)
		switch {
		case err == io.EOF:
			return all.Bytes(), nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", Stdin, err)
		case all.Len() > maxPiped:
			return nil, formatErrorf("%s: more than %d GiB; write the rows to a file", Stdin, maxPiped>>30)
		}
	}
}

// The first bytes of NumPy archives, NumPy arrays and IDX files.
const zipMagic, npyMagic, idxMagic = "PK\x03\x04", "\x93NUMPY", "\x00\x00\x08"

// stockholmMagic begins a Stockholm file of sequences.
const stockholmMagic = "# STOCKHOLM"

// hasMagic reports whether start begins like a NumPy archive, a NumPy array or an IDX file. No text begins so.
func hasMagic(start []byte) bool {
	return slices.ContainsFunc([]string{zipMagic, npyMagic, idxMagic}, func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) })
}

// loadPipe reads the rows of a pipe. The first bytes distinguish a NumPy archive, a NumPy array and CSV,
// which may be a table.
func loadPipe(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	if len(sp.args) > 0 {
		return nil, specErrorf("%s takes no settings; write -", Stdin)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	start := opt.all
	if start == nil {
		start = opt.start()
	}
	read := loadNPZ
	switch {
	case bytes.HasPrefix(start, []byte(zipMagic)):
	case bytes.HasPrefix(start, []byte(npyMagic)):
		read = loadNPY
	case bytes.HasPrefix(start, []byte(idxMagic)):
		return nil, formatErrorf("%s: IDX files come by their names, as -data IMAGES[,LABELS]", Stdin)
	case start[0] == '>' || bytes.HasPrefix(start, []byte(stockholmMagic)):
		return nil, formatErrorf("%s: aligned sequences come by a file's name; write them to a .fasta file", Stdin)
	default:
		return readText(opt.piped, Stdin, opt)
	}
	return read(reading{ctx, bytes.NewReader(opt.all), nil}, int64(len(opt.all)), Stdin, opt)
}
