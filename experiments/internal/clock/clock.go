// Package clock measures the computing time of the calling thread, which other
// programs on the machine do not use up. Callers lock themselves to a thread
// (runtime.LockOSThread) and take differences.
package clock

import "time"

var start = time.Now()
