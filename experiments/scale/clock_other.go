//go:build !unix

package main

import "time"

// processorTime returns false: it is not known here.
func processorTime() (t time.Duration, known bool) { return 0, false }
