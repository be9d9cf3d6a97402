//go:build !race

package rbm

const raceEnabled = false
