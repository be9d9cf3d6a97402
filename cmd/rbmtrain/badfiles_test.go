package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

// npy returns an .npy file of bytes, whose shape may be wrong.
func npy(shape string, elements []byte) string {
	head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%s), }", shape)
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head + string(elements)
}

// archive returns an .npz file of the arrays, by name.
func archive(t *testing.T, arrays ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(arrays); i += 2 {
		w, err := z.Create(arrays[i] + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(arrays[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// liar returns an .npz file with an array x whose entry claims an unpacked size of a
// terabyte.
func liar(t *testing.T, method uint16, array string) string {
	t.Helper()
	packed := array
	if method == zip.Deflate {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(array)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		packed = b.String()
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "x.npy", Method: method, CRC32: crc32.ChecksumIEEE([]byte(array)),
		CompressedSize64: uint64(len(packed)), UncompressedSize64: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(packed)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// gzipped returns a gzip file of these bytes.
func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// idxHeader returns the start of an IDX file, without its elements.
func idxHeader(dims ...uint32) string {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return string(b)
}

// safetensors returns a safetensors file with this header and body.
func safetensors(header string, body int) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + string(make([]byte, body))
}

// TestBadData checks damaged data of every format, and data with false claims about their
// size: status 1 and one line, and no memory is allocated for the claim.
func TestBadData(t *testing.T) {
	undrawn(t)
	whole := archive(t, "x", npy("20, 4", make([]byte, 80)))
	huge := npy("20, 4", make([]byte, 1<<23)) // more elements than its shape, and easily compressed
	for _, c := range []struct {
		name  string
		files []string // path, content …
		args  string
		want  []string
	}{
		// CSV.
		{"word", []string{"x.csv", "a,b\n0,1\n0,maybe\n"}, "-data x.csv", []string{"x.csv:3", `"maybe" is not a number`}},
		{"word in the first row", []string{"x.csv", "0,one\n0,1\n"}, "-data x.csv", []string{"x.csv:1", `"one" is not a number`}},
		{"NaN", []string{"x.csv", "0,1\nNaN,1\n"}, "-data x.csv", []string{"x.csv:2", "NaN", "fill it in"}},
		{"nothing in a cell", []string{"x.csv", "0,1\n0,\n"}, "-data x.csv", []string{"x.csv:2", "column 2", "a value is missing"}},
		{"above 1", []string{"x.csv", "0,1\n0,1.01\n"}, "-data x.csv -units binary", []string{"x.csv:2", "1.01", "outside [0,1]", "scale"}},
		{"below 0", []string{"x.csv", "0,1\n-0.1,1\n"}, "-data x.csv -units binary", []string{"x.csv:2", "-0.1", "outside [0,1]"}},
		{"infinite", []string{"x.csv", "0,1\n0,Inf\n"}, "-data x.csv", []string{"x.csv:2", "not finite"}},
		{"out of range", []string{"x.csv", "0,1\n0,1e999\n"}, "-data x.csv", []string{"x.csv:2", "1e999"}},
		{"too many columns", []string{"x.csv", "0,1\n0,1,1\n"}, "-data x.csv", []string{"x.csv:2", "3 columns where the first row has 2"}},
		{"empty", []string{"x.csv", ""}, "-data x.csv", []string{"x.csv", "no examples"}},
		{"blank lines", []string{"x.csv", "\n\n\n"}, "-data x.csv", []string{"x.csv", "no examples"}},
		{"quote never closed", []string{"x.csv", "0,1\n0,\"1\n0,1\n"}, "-data x.csv", []string{"x.csv"}},
		{"binary rubbish", []string{"x.csv", "\x00\x01\x02\xff\xfe"}, "-data x.csv", []string{"x.csv"}},
		// IDX.
		{"IDX of wrong magic", []string{"x.idx", "\x01\x02\x08\x03" + idxHeader(2, 2, 2)[4:] + "12345678"}, "-data x.idx", []string{"x.idx", "not an IDX file"}},
		{"IDX of floats", []string{"x.idx", "\x00\x00\x0d\x03" + idxHeader(2, 2, 2)[4:] + "12345678"}, "-data x.idx", []string{"x.idx"}},
		{"IDX cut in its elements", []string{"x.idx", idx(20, 2, 2)[:60]}, "-data x.idx", []string{"x.idx", "cut short"}},
		{"IDX cut in its header", []string{"x.idx", idx(20, 2, 2)[:9]}, "-data x.idx", []string{"x.idx", "cut short"}},
		{"IDX empty", []string{"x.idx", ""}, "-data x.idx", []string{"x.idx"}},
		{"IDX of no images", []string{"x.idx", idxHeader(0, 28, 28)}, "-data x.idx", []string{"x.idx"}},
		{"IDX of a huge claim", []string{"x.idx", idxHeader(1<<31, 1<<15, 1<<15) + "few"}, "-data x.idx", []string{"x.idx"}},
		{"IDX whose size overflows", []string{"x.idx", idxHeader(1<<31, 1<<31, 4) + "few"}, "-data x.idx", []string{"x.idx"}},
		{"IDX gzipped, of a huge claim", []string{"x.idx.gz", gzipped(t, idxHeader(1<<20, 1<<10, 1<<10)+"few")}, "-data x.idx.gz", []string{"x.idx.gz"}},
		{"IDX gzipped, cut", []string{"x.idx.gz", gzipped(t, idx(20, 2, 2))[:30]}, "-data x.idx.gz", []string{"x.idx.gz"}},
		{"IDX of more than it says", []string{"x.idx", idx(20, 2, 2) + "more"}, "-data x.idx", []string{"x.idx"}},
		{"labels of another count", []string{"x-images-idx3-ubyte", idx(20, 2, 2), "x-labels-idx1-ubyte", idx(19)}, "-data x-images-idx3-ubyte,x-labels-idx1-ubyte", []string{"x-labels-idx1-ubyte", "[19] for 20 examples"}},
		{"images for labels", []string{"x.idx", idx(20, 2, 2), "y.idx", idx(20, 2, 2)}, "-data x.idx,y.idx", []string{"y.idx"}},
		{"labels missing", []string{"x.idx", idx(20, 2, 2)}, "-data x.idx,y.idx", []string{"y.idx", "does not exist"}},
		// npz.
		{"npz of wrong magic", []string{"x.npz", "\x93NUMPY rather than an archive of it"}, "-data x.npz", []string{"x.npz"}},
		{"npz empty", []string{"x.npz", ""}, "-data x.npz", []string{"x.npz"}},
		{"npz cut", []string{"x.npz", whole[:len(whole)/2]}, "-data x.npz", []string{"x.npz"}},
		{"npz without its start", []string{"x.npz", whole[40:]}, "-data x.npz", []string{"x.npz"}},
		{"npz of other arrays", []string{"x.npz", archive(t, "weights", npy("20, 4", make([]byte, 80)))}, "-data x.npz", []string{"x.npz", "no array x", "name the inputs x"}},
		{"npz of no array", []string{"x.npz", archive(t, "x", "not an array")}, "-data x.npz", []string{"x.npz"}},
		{"npz of a huge header", []string{"x.npz", archive(t, "x", "\x93NUMPY\x02\x00\xff\xff\xff\x7f"+strings.Repeat(" ", 100))}, "-data x.npz", []string{"x.npz", "header"}},
		{"npz of a huge claim", []string{"x.npz", archive(t, "x", npy("1000000000000, 1000", make([]byte, 80)))}, "-data x.npz", []string{"x.npz"}},
		{"npz whose size overflows", []string{"x.npz", archive(t, "x", npy("4611686018427387904, 8", make([]byte, 80)))}, "-data x.npz", []string{"x.npz"}},
		{"npz of fewer elements than it says", []string{"x.npz", archive(t, "x", npy("1000, 1000", make([]byte, 80)))}, "-data x.npz", []string{"x.npz: x: shape [1000 1000]", "80 bytes are there"}},
		{"npz of more elements than it says", []string{"x.npz", archive(t, "x", huge)}, "-data x.npz", []string{"x.npz"}},
		{"npz that says it unpacks to much", []string{"x.npz", liar(t, zip.Store, npy("1000000, 1000000", make([]byte, 80)))}, "-data x.npz", []string{"x.npz"}},
		{"npz that says so and is compressed", []string{"x.npz", liar(t, zip.Deflate, npy("1000000, 1000", make([]byte, 80)))}, "-data x.npz", []string{"x.npz"}},
		{"npz of a negative shape", []string{"x.npz", archive(t, "x", npy("-20, 4", make([]byte, 80)))}, "-data x.npz", []string{"x.npz"}},
		{"npz of no rows", []string{"x.npz", archive(t, "x", npy("0, 4", nil))}, "-data x.npz", []string{"x.npz", "no examples"}},
		{"npz of a vector", []string{"x.npz", archive(t, "x", npy("80,", make([]byte, 80)))}, "-data x.npz", []string{"x.npz", "1 dimensions", "examples × inputs"}},
		{"npz of labels of another count", []string{"x.npz", archive(t, "x", npy("20, 4", make([]byte, 80)), "y", npy("19,", make([]byte, 19)))}, "-data x.npz", []string{"x.npz: y", "[19] for 20 examples"}},
		// Models.
		{"safetensors of wrong magic", []string{"m.safetensors", "this is not a model"}, "-data toy -init m.safetensors", []string{"-init", "m.safetensors", "not a safetensors file"}},
		{"safetensors cut", []string{"m.safetensors", safetensors("{}", 0)[:5]}, "-data toy -init m.safetensors", []string{"-init", "m.safetensors", "cut short"}},
		{"safetensors of a huge header", []string{"m.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}"}, "-data toy -init m.safetensors", []string{"-init", "m.safetensors"}},
		{"safetensors of a huge claim", []string{"m.safetensors", safetensors(`{"hidden_bias":{"dtype":"F32","shape":[1000000],"data_offsets":[0,4000000]},`+
			`"visible_bias":{"dtype":"F32","shape":[1000000],"data_offsets":[4000000,8000000]},"weights":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[8000000,4000008000000]}}`, 44)},
			"-data toy -init m.safetensors", []string{"-init", "m.safetensors"}},
		{"model.npz of a huge claim", []string{"m.npz", archive(t, "weights", npy("1000000, 1000000", nil), "visible_bias", npy("1000000,", nil), "hidden_bias", npy("1000000,", nil))},
			"-data toy -init m.npz", []string{"-init", "m.npz"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clitest.Isolate(t)
			for i := 0; i < len(c.files); i += 2 {
				clitest.Write(t, c.files[i], c.files[i+1])
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			rbmtrain.Fails(t, cli.Failed, strings.Fields(c.args), c.want...)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d MiB were allocated for it: got %v, want at most %v", n>>20, n, 64<<20)
			}
		})
	}
	clitest.Isolate(t)
	clitest.Write(t, "x.npz", whole)
	rbmtrain.OK(t, "-data", "x.npz", "-hidden", "2", "-steps", "2", "-quiet") // the undamaged file
}
