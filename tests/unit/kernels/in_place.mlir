// x += 1 where it lies in GM; no tile overlaps another, which index arithmetic shows.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @in_place(%x: memref<2048xf32, #gm>) attributes {block_dim = 2 : i64} {
  %tile = ascend_memory.alloc "tile" : memref<256xf32, #ub>
  %first = ascend.block_idx
  %step = ascend.block_num
  %tiles = arith.constant 8 : index
  %size = arith.constant 256 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %first to %tiles step %step {
    %o = arith.muli %i, %size : index
    %xv = ascend_memory.view %x at [%o] sizes [256] strides [1] : memref<2048xf32, #gm> to memref<256xf32, #at, #gm>
    ascend_memory.copy %xv to %tile : memref<256xf32, #at, #gm> to memref<256xf32, #ub>
    ascend_vector.adds %tile, %one into %tile : memref<256xf32, #ub>, f32 into memref<256xf32, #ub>
    ascend_memory.copy %tile to %xv : memref<256xf32, #ub> to memref<256xf32, #at, #gm>
  }
}
