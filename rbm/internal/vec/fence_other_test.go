//go:build !linux

package vec

import "testing"

func fenced[T any](t testing.TB, n int, low bool) []T { return make([]T, n) }
