package cli

import (
	"errors"
	"math"
	"strconv"
)

// An integer is the value of a flag: a whole number, which may be written as 1e4.
type integer[N int | int64] struct{ value *N }

func (i integer[N]) integer() {}

func (i integer[N]) String() string {
	if i.value == nil {
		return "0"
	}
	return strconv.FormatInt(int64(*i.value), 10)
}

// Get implements flag.Getter.
func (i integer[N]) Get() any { return *i.value }

func (i integer[N]) Set(text string) error {
	n, err := strconv.ParseInt(text, 0, strconv.IntSize)
	if errors.Is(err, strconv.ErrRange) {
		return errors.New("value out of range")
	}
	if err != nil {
		// float64 is exact for whole numbers up to 2^53.
		x, floatErr := strconv.ParseFloat(text, 64)
		if floatErr != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return errors.New("it must be a whole number, such as 10000 or 1e4")
		}
		n = int64(x)
	}
	*i.value = N(n)
	return nil
}
