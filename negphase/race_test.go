//go:build race

package negphase

const raceEnabled = true
