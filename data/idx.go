package data

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"gorbm/rbm/npz"
)

// maxIDX limits the bytes of the elements of an IDX file. The largest of the known sets, EMNIST by class,
// has 550 MB.
const maxIDX = 1 << 30

// idxTypes are the types of elements: their code, and their kind and size in package npz.
var idxTypes = map[byte]struct {
	kind byte
	size int
}{0x08: {'u', 1}, 0x09: {'i', 1}, 0x0b: {'i', 2}, 0x0c: {'i', 4}, 0x0d: {'f', 4}, 0x0e: {'f', 8}}

// openIDX opens an IDX file, gzipped or not, as an array with the name path. IDX is the format of MNIST: two
// zero bytes, the type of the elements, the number of dimensions, each dimension as a big-endian uint32, then
// the elements, with the last dimension running fastest. The header is not trusted: no more is allocated than
// the file delivers.
func openIDX(ctx context.Context, path string) (*npz.Array, error) {
	f, size, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := newIDX(reading{ctx, nil, f}, f, size, path)
	if err != nil {
		f.Close()
	}
	return r, err
}

// newIDX returns the array of the IDX file of size bytes that r reads, and that the array closes.
func newIDX(r io.Reader, closer io.Closer, size int64, path string) (*npz.Array, error) {
	in, err := decompress(r)
	if err != nil {
		return nil, idxRead(path, err)
	}
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, idxRead(path, err)
	}
	element, known := idxTypes[head[2]]
	switch {
	case head[0] != 0 || head[1] != 0:
		return nil, formatErrorf("%s: not an IDX file (it starts with % x); put the original file there", path, head)
	case !known:
		return nil, formatErrorf("%s: IDX elements of kind 0x%02x are not known; put the original file there", path, head[2])
	}
	shape := make([]int64, head[3])
	full := int64(element.size)
	for i := range shape {
		var b [4]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return nil, idxRead(path, err)
		}
		shape[i] = int64(binary.BigEndian.Uint32(b[:]))
		if shape[i] == 0 {
			return nil, formatErrorf("%s: the header says that dimension %d is empty; put the original file there", path, i+1)
		}
		if shape[i] > maxIDX/full {
			return nil, formatErrorf("%s: the header asks for more than %d bytes; put the original file there", path, maxIDX)
		}
		full *= shape[i]
	}
	if _, packed := in.(*gzip.Reader); packed && npz.Bomb(float64(full), float64(size)) {
		return nil, formatErrorf("%s: the header asks for %.3g bytes out of a file of %d; write it uncompressed if it is right", path, float64(full), size)
	}
	return npz.NewArray(path, element.kind, element.size, shape, struct {
		io.Reader
		io.Closer
	}{in, closer}), nil
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
