package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/reg"
)

// scaledErfc has the coefficients of vec.ScaledErfc: those of the even powers, highest first, then those of
// the odd powers.
var scaledErfc = [2][12]float64{
	{6.7286839617396933402e-11, 6.282931772710337298e-10, -8.5263366504581709775e-9, -4.320339350192934862e-8, 2.3274205147655029905e-6, -4.2781786238223952289e-5,
		5.6438428217798895967e-4, -4.2150198829190586036e-3, -4.882332583050867275e-2, -1.1508959816005362021e-1, -1.0555596332221129174e-2, 1.2423492448711543891},
	{-1.1382974279300369022e-9, 1.3470714893276956264e-8, -9.6025792117025857103e-8, 6.0096318207186360192e-7, -3.8135619726372495825e-6, 2.426004679242802958e-5,
		-1.2151202726720064474e-4, -3.0226797549792346617e-4, 1.9099330956430970304e-2, 8.7983153823786919662e-2, 9.751909515329611058e-2, -1.4000918013761979948e-1},
}

// scaledErfcs writes ScaledErfcs.
func scaledErfcs() {
	for _, s := range []simd{avx2, avx512} {
		s.function("scaledErfcs", "func(dst, x *float64, n int)", "is ScaledErfcs for n > 0, a multiple of eight.")
		dst, x, n := arg("dst"), arg("x"), arg("n")
		atOnce(n, s.Width/2, []int{s.Width / 4, s.parts()}, func(v int) {
			t, square := s.Vectors(v), s.Vectors(v)
			for i := range t {
				c.VMOVUPD(s.at(x, i), t[i])
			}
			above := s.copies(t)
			s.sub64(double("erfcFold", 3.5), above...)
			s.add64(double("erfcFold", 3.5), t...)
			for i := range t {
				c.VDIVPD(t[i], above[i], t[i])
				c.VMULPD(t[i], t[i], square[i])
			}
			part := [2][]reg.VecVirtual{s.Vectors(v), s.Vectors(v)}
			for k, y := range part {
				for i := range y {
					c.VBROADCASTSD(double(fmt.Sprintf("erfc%d_0", k), scaledErfc[k][0]), y[i])
				}
				for j, a := range scaledErfc[k][1:] {
					each(c.VMULPD, square, y, y)
					s.add64(double(fmt.Sprintf("erfc%d_%d", k, j+1), a), y...)
				}
			}
			each(c.VMULPD, t, part[1], part[1])
			each(c.VADDPD, part[1], part[0], part[0])
			for i := range t {
				c.VMOVUPD(s.at(x, i), t[i])
				c.VADDPD(t[i], t[i], t[i])
			}
			s.add64(double("one64", 1), t...)
			for i := range t {
				c.VDIVPD(t[i], part[0][i], t[i])
				c.VMOVUPD(t[i], s.at(dst, i))
			}
			advance(4*s.Width*v, dst, x)
		})
		ret()
	}
}
