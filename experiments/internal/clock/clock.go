// Package clock tells experiments the computing time of their own thread, which other
// programs on the machine do not use up. Callers lock themselves to a thread
// (runtime.LockOSThread) and take differences.
package clock

import "time"

var start = time.Now()
