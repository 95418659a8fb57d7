// y = 2 * transpose(x), element by element on pipe S, with one element overwritten by hand.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @scalar_copy(%x: memref<8x16xf32, #gm>, %y: memref<16x8xf32, #gm>) {
  %tile = ascend_memory.alloc "tile" : memref<16x8xf32, #ub>
  %five = arith.constant 5.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3 : index
  %t = ascend_memory.view %x at [0] sizes [16, 8] strides [1, 16] : memref<8x16xf32, #gm> to memref<16x8xf32, strided<[1, 16]>, #gm>
  ascend_memory.scalar_copy %t to %tile : memref<16x8xf32, strided<[1, 16]>, #gm> to memref<16x8xf32, #ub>
  memref.store %five, %tile[%three, %three] : memref<16x8xf32, #ub>
  ascend_vector.muls %tile, %two into %tile : memref<16x8xf32, #ub>, f32 into memref<16x8xf32, #ub>
  ascend_memory.copy %tile to %y : memref<16x8xf32, #ub> to memref<16x8xf32, #gm>
}
