package data

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"gorbm/rbm/npz"
)

// maxIDX limits the uncompressed size of an IDX file. The largest of the known
// sets, EMNIST by class, has 550 MB.
const maxIDX = 1 << 30

// scanFile reads the IDX file at path, gzipped or not, as scanIDX does.
func scanFile(ctx context.Context, path string, dims []int, begin func(dims []int) (io.Writer, error)) error {
	file, size, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	var magic [2]byte
	_, err = file.ReadAt(magic[:], 0)
	packed := err == nil && magic == gzipMagic
	return scanPacked(reading{ctx, nil, file}, path, dims, func(dims []int) (io.Writer, error) {
		full := 1.0
		for _, n := range dims {
			full *= float64(n)
		}
		if packed && npz.Bomb(full, float64(size)) {
			return nil, formatErrorf("%s: the header asks for %.3g bytes out of a file of %d; write it uncompressed if it is right", path, full, size)
		}
		return begin(dims)
	})
}

// scanPacked is scanIDX of a reader of IDX, gzipped or not.
func scanPacked(r io.Reader, path string, dims []int, begin func(dims []int) (io.Writer, error)) error {
	r, err := decompress(r)
	if err != nil {
		return idxRead(path, err)
	}
	ahead := readAhead(r)
	defer ahead.Close()
	return scanIDX(ahead, path, maxIDX, dims, begin)
}

// idxBytes is the type of unsigned bytes, the only type read here.
const idxBytes = 0x08

// scanIDX reads an IDX file of unsigned bytes. IDX is the format of MNIST: two zero bytes, the type of the
// elements, the number of dimensions, each dimension as a big-endian uint32, then the elements, with the
// last dimension running fastest. scanIDX calls begin with the dimensions, and writes the elements to the
// Writer that begin returns. dims has the allowed numbers of dimensions, and most is the
// largest number of elements. The header is not trusted: scanIDX allocates no more than r delivers, and
// reads at most one byte more than the header says. Errors name path.
func scanIDX(r io.Reader, path string, most int64, dims []int, begin func(dims []int) (io.Writer, error)) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return idxRead(path, err)
	}
	switch {
	case head[0] != 0 || head[1] != 0:
		return formatErrorf("%s: not an IDX file (it starts with % x); put the original file there", path, head)
	case head[2] != idxBytes:
		return formatErrorf("%s: IDX elements of kind 0x%02x; only unsigned bytes (0x08) can be read", path, head[2])
	case !slices.Contains(dims, int(head[3])):
		return formatErrorf("%s: %s, but %s belong there; are the files exchanged?", path, idxContent(int(head[3])), idxContent(dims[len(dims)-1]))
	}
	shape := make([]int, head[3])
	size := int64(1)
	for i := range shape {
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return idxRead(path, err)
		}
		d := int64(binary.BigEndian.Uint32(b[:]))
		if d == 0 {
			return formatErrorf("%s: the header says that dimension %d is empty; put the original file there", path, i+1)
		}
		if d > most/size {
			return formatErrorf("%s: the header asks for more than %d bytes; put the original file there", path, most)
		}
		size *= d
		shape[i] = int(d)
	}
	w, err := begin(shape)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(r, size+1))
	switch {
	case err != nil:
		return idxRead(path, err)
	case n < size:
		return formatErrorf("%s: cut short, %d bytes of data where the header says %d; fetch it again", path, n, size)
	case n > size:
		return formatErrorf("%s: more data than the %d bytes that the header says; fetch it again", path, size)
	}
	return nil
}

// idxContent says for a message what an IDX file with this number of dimensions probably contains.
func idxContent(dims int) string {
	switch dims {
	case 1:
		return "labels (1 dimension)"
	case 3:
		return "images (3 dimensions)"
	}
	return fmt.Sprintf("data of %d dimensions", dims)
}

// idxRead returns the error for a file that is cut short or cannot be decompressed. An error of the disk
// keeps its text.
func idxRead(path string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return formatErrorf("%s: cut short; fetch it again", path)
	}
	if strings.HasPrefix(err.Error(), "gzip:") || strings.HasPrefix(err.Error(), "flate:") {
		return formatErrorf("%s: damaged (%v); fetch it again", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// readAhead reads r in a goroutine, one piece ahead, so that r is decompressed while the previous piece is
// used. Close ends the goroutine.
func readAhead(r io.Reader) io.ReadCloser {
	from, to := io.Pipe()
	go func() {
		_, err := io.Copy(to, struct{ io.Reader }{r}) // the struct hides r's WriterTo, so that Copy works by pieces
		to.CloseWithError(err)
	}()
	return from
}

// gzipMagic is the start of a gzip file.
var gzipMagic = [2]byte{0x1f, 0x8b}

// decompress returns a reader of r that decompresses if r starts with gzipMagic. The file's name does not
// matter.
func decompress(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	magic, err := b.Peek(2)
	if err != nil || [2]byte(magic) != gzipMagic {
		return b, nil // a file of fewer than two bytes is an error later, when its content is read
	}
	return gzip.NewReader(b)
}
