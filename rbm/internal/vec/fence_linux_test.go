package vec

import (
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns n zero values. The first (low) or the last of them is next to memory without
// access, so a kernel that reads or writes beyond them on that side ends the test.
func fenced[T any](t testing.TB, n int, low bool) []T {
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	page := syscall.Getpagesize()
	inner := (size + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	for _, fence := range [][]byte{m[:page], m[page+inner:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		return []T{}
	}
	at := page
	if !low {
		at += inner - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[at])), n)
}
