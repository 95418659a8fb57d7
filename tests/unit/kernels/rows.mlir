// y = x - max(x) along rows, eight rows a tile: a reduction, a broadcast block and rows that repeat it.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[64, 1], offset: ?>
ascend.kernel @rows(%x: memref<32x64xf32, #gm>, %y: memref<32x64xf32, #gm>) attributes {block_dim = 2 : i64} {
  %x_tile = ascend_memory.alloc "x_tile" : memref<8x64xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" : memref<8x64xf32, #ub>
  %max = ascend_memory.alloc "max" : memref<8xf32, #ub>
  %blocks = ascend_memory.alloc "blocks" : memref<8x8xf32, #ub>
  %work = ascend_memory.alloc "work" : memref<32xf32, #ub>
  %first = ascend.block_idx
  %step = ascend.block_num
  %tiles = arith.constant 4 : index
  %size = arith.constant 512 : index
  %again = ascend_memory.view %blocks at [0] sizes [8, 64] strides [8, 0] : memref<8x8xf32, #ub> to memref<8x64xf32, strided<[8, 0]>, #ub>
  scf.for %i = %first to %tiles step %step {
    %o = arith.muli %i, %size : index
    %xv = ascend_memory.view %x at [%o] sizes [8, 64] strides [64, 1] : memref<32x64xf32, #gm> to memref<8x64xf32, #at, #gm>
    %yv = ascend_memory.view %y at [%o] sizes [8, 64] strides [64, 1] : memref<32x64xf32, #gm> to memref<8x64xf32, #at, #gm>
    ascend_memory.copy %xv to %x_tile : memref<8x64xf32, #at, #gm> to memref<8x64xf32, #ub>
    ascend_vector.reduce_max %x_tile into %max work %work axis 1 : memref<8x64xf32, #ub> into memref<8xf32, #ub> work memref<32xf32, #ub>
    ascend_vector.block_broadcast %max into %blocks : memref<8xf32, #ub> into memref<8x8xf32, #ub>
    ascend_vector.sub %x_tile, %again into %y_tile : memref<8x64xf32, #ub>, memref<8x64xf32, strided<[8, 0]>, #ub> into memref<8x64xf32, #ub>
    ascend_memory.copy %y_tile to %yv : memref<8x64xf32, #ub> to memref<8x64xf32, #at, #gm>
  }
}
