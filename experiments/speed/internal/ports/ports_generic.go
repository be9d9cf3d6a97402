//go:build !amd64 || noasm

package ports

const measurable = false

func loadAdds(*float32, int)    {}
func adds(*float32, int)        {}
func fmas(*float32, int)        {}
func permuteAdds(*float32, int) {}
