//go:build !linux

package clock

import "time"

// Now returns the time since the program began: that of the thread alone is not known
// here.
func Now() time.Duration { return time.Since(start) }
