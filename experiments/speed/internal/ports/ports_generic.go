//go:build !amd64 || noasm

package ports

const measurable = false

func loadAddsOf([]float32, int)    {}
func addsOf([]float32, int)        {}
func fmasOf([]float32, int)        {}
func permuteAddsOf([]float32, int) {}
