package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// As in package vec.
const (
	subsetLanes  = 3
	subsetInner  = 6
	subsetStride = 19
	subsetBytes  = 64 // size of eight lanes
)

// subsetEdges has, for each step within a vector, the lane that each lane reads: see vec.setSubsets.
var subsetEdges = [subsetInner][8]uint32{
	{},
	{3: 2, 5: 4, 6: 4},
	{3: 1, 5: 1, 6: 2},
	{7: 6},
	{7: 5},
	{7: 3},
}

// fillSubsets writes Subsets.Fill. It processes the table in blocks of eight vectors. It first adds the
// terms of members that all subsets of a block have in common, for several vectors at
// once. Then it adds the terms of members in which the vectors differ, and last those in which the
// lanes differ.
func (s simd) fillSubsets() {
	s.function("fillSubsets", "func(table, coef *float64, blocks int)", "is Subsets.Fill for blocks of 64 subsets.")
	table0, coef, blocks := arg("table"), arg("coef"), arg("blocks")
	halves, together := 1, 8 // registers for eight lanes; vectors processed at a time
	if !s.ZMM() {
		halves, together = 2, 4
	}
	start := s.Vector() // the entry of the empty subset
	var index [subsetInner]reg.VecVirtual
	if s.ZMM() {
		for i, edge := range subsetEdges {
			var words []uint32
			for _, l := range edge {
				words = append(words, l, 0)
			}
			index[i] = s.Vector()
			c.VMOVDQU64(table(fmt.Sprintf("subsetEdge%d", i), words...), index[i])
		}
	}
	c.VMOVUPD(table("subsetStart", oneWords(s.Width)...), start)
	block, at := c.GP64(), c.GP64()
	c.XORQ(block, block)
	c.MOVQ(table0, at)
	c.Label("block")
	// p is the address of the coefficients for the number of members that all subsets of the block have.
	p := c.GP64()
	c.POPCNTQ(block, p)
	c.IMUL3Q(operand.U32(subsetStride*subsetBytes), p, p)
	c.ADDQ(coef, p)
	vector := func(base reg.Register, i, half int) operand.Mem { return mem(base, i*subsetBytes+half*32) }
	weight := func(base reg.Register, members, i, half int) operand.Mem {
		return vector(base, members*subsetStride+i, half)
	}
	for first := 0; first < 8; first += together {
		sum := make([][]reg.VecVirtual, together)
		for i := range sum {
			sum[i] = s.Vectors(halves)
			for _, x := range sum[i] {
				c.VXORPD(x.AsY(), x.AsY(), x.AsY())
			}
		}
		if first == 0 {
			c.VMOVAPD(start, sum[0][0])
			c.VXORPD(start.AsY(), start.AsY(), start.AsY())
		}
		again, done := fmt.Sprintf("member%d", first), fmt.Sprintf("members%d", first)
		left, k, w, from := c.GP64(), c.GP64(), c.GP64(), c.GP64()
		c.MOVQ(block, left)
		c.TESTQ(left, left)
		c.JEQ(operand.LabelRef(done))
		c.Label(again)
		c.TZCNTQ(left, k)
		c.MOVQ(k, w)
		c.SHLQ(operand.U8(6), w)
		c.ADDQ(p, w)
		c.MOVQ(left, from) // the lowest bit of left, times the bytes of a block
		c.NEGQ(from)
		c.ANDQ(left, from)
		c.SHLQ(operand.U8(9), from)
		c.NEGQ(from)
		c.ADDQ(at, from)
		c.LEAQ(operand.Mem{Base: left, Disp: -1}, k)
		c.ANDQ(k, left)
		for half := range halves {
			for members := range 4 {
				var x reg.VecVirtual
				for i := range sum {
					if bits.OnesCount(uint(first+i)) != members {
						continue
					}
					if x == nil {
						x = s.Vector()
						c.VMOVUPD(weight(w, members, subsetInner+subsetLanes, half), x)
					}
					t := s.Vector()
					c.VMULPD(vector(from, first+i, half), x, t)
					c.VADDPD(t, sum[i][half], sum[i][half])
				}
			}
		}
		c.TESTQ(left, left)
		c.JNE(operand.LabelRef(again))
		c.Label(done)
		for i := range sum {
			v := first + i
			members := bits.OnesCount(uint(v))
			for b := range subsetLanes {
				if v>>b&1 == 0 {
					continue
				}
				for half, x := range sum[i] {
					t := s.Vector()
					c.VMOVUPD(weight(p, members, subsetInner+b, half), t)
					c.VMULPD(vector(at, v&^(1<<b), half), t, t)
					c.VADDPD(t, x, x)
				}
			}
			if s.ZMM() {
				s.stepsWithin(sum[i][0], index, func(step int) operand.Mem { return weight(p, members, step, 0) })
			} else {
				s.stepsWithinHalves(sum[i], func(step, half int) operand.Mem { return weight(p, members, step, half) })
			}
			for half, x := range sum[i] {
				c.VMOVUPD(x, vector(at, v, half))
			}
		}
	}
	advance(8*subsetBytes, at)
	c.INCQ(block)
	c.CMPQ(block, blocks)
	c.JNE(operand.LabelRef("block"))
	ret()
}

// oneWords returns a vector with 1 in the first lane, as words.
func oneWords(width int) []uint32 {
	words := make([]uint32, 16)
	words[1] = 0x3ff00000
	return words
}

// stepsWithin adds the terms of the members in which the lanes of x differ.
func (s simd) stepsWithin(x reg.VecVirtual, index [subsetInner]reg.VecVirtual, weight func(step int) operand.Mem) {
	// The steps to lanes with the same number of members read the same x.
	for _, steps := range [][]int{{0}, {1, 2}, {3, 4, 5}} {
		var t []reg.VecVirtual
		for _, i := range steps {
			y := s.Vector()
			c.VPERMPD(x, index[i], y)
			c.VMULPD(weight(i), y, y)
			t = append(t, y)
		}
		for _, y := range t {
			c.VADDPD(y, x, x)
		}
	}
}

// stepsWithinHalves is stepsWithin for two vectors, of lanes 0 … 3 and 4 … 7.
func (s simd) stepsWithinHalves(x []reg.VecVirtual, weight func(step, half int) operand.Mem) {
	low, high := x[0], x[1]
	var t []reg.VecVirtual
	take := func(from reg.VecVirtual, lanes int, step, half int) {
		y := s.Vector()
		switch lanes {
		case 0: // lane 0 everywhere
			c.VBROADCASTSD(from.AsX(), y)
			c.VMULPD(weight(step, half), y, y)
		case asIs:
			c.VMULPD(weight(step, half), from, y)
		default:
			c.VPERMPD(operand.U8(lanes), from, y)
			c.VMULPD(weight(step, half), y, y)
		}
		t = append(t, y)
	}
	take(low, 0, 0, 0)
	take(low, 0, 0, 1)
	c.VADDPD(t[0], low, low)
	c.VADDPD(t[1], high, high)
	t = nil
	take(low, 2<<6, 1, 0) // 3 ← 2
	take(high, 0, 1, 1)   // 5, 6 ← 4
	take(low, 1<<6, 2, 0) // 3 ← 1
	take(low, asIs, 2, 1) // 5 ← 1, 6 ← 2
	c.VADDPD(t[0], low, low)
	c.VADDPD(t[1], high, high)
	c.VADDPD(t[2], low, low)
	c.VADDPD(t[3], high, high)
	t = nil
	take(high, 2<<6, 3, 1) // 7 ← 6
	take(high, 1<<6, 4, 1) // 7 ← 5
	take(low, asIs, 5, 1)  // 7 ← 3
	for _, y := range t {
		c.VADDPD(y, high, high)
	}
}

// asIs means that each lane reads the lane with the same number.
const asIs = -1
