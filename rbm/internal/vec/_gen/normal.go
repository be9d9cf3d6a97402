package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/reg"
)

// centralNormal has the coefficients of vec.CentralNormals.
var centralNormal = [2][8]float64{
	{2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
	{5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1},
}

// normals writes CentralNormals.
func normals() {
	for _, s := range []simd{avx2, avx512} {
		s.function("centralNormals", "func(dst, p *float64, n int)", "is CentralNormals for n > 0, a multiple of eight.")
		dst, p, n := arg("dst"), arg("p"), arg("n")
		atOnce(n, s.Width/2, []int{s.Width / 4, s.parts()}, func(v int) {
			q, x := s.Vectors(v), s.Vectors(v)
			for i := range q {
				c.VMOVUPD(s.at(p, i), q[i])
			}
			s.sub64(double("half64", 0.5), q...)
			for i := range q {
				t := s.Vector()
				c.VMULPD(q[i], q[i], t)
				c.VBROADCASTSD(double("central64", 0.180625), x[i])
				c.VSUBPD(t, x[i], x[i])
			}
			ratio := [2][]reg.VecVirtual{s.Vectors(v), s.Vectors(v)}
			for k, y := range ratio {
				for i := range y {
					c.VBROADCASTSD(double(fmt.Sprintf("central%d_0", k), centralNormal[k][0]), y[i])
				}
				for j, a := range centralNormal[k][1:] {
					for i := range y {
						c.VMULPD(x[i], y[i], y[i])
					}
					s.add64(double(fmt.Sprintf("central%d_%d", k, j+1), a), y...)
				}
			}
			for i := range q {
				c.VDIVPD(ratio[1][i], ratio[0][i], x[i])
				c.VMULPD(x[i], q[i], q[i])
				c.VMOVUPD(q[i], s.at(dst, i))
			}
			advance(4*s.Width*v, dst, p)
		})
		ret()
	}
}
