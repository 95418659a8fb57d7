// y = exp(x) in tiles of 256 over two cores; the last tile is short.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @loop(%x: memref<1500xf32, #gm>, %y: memref<1500xf32, #gm>) attributes {block_dim = 2 : i64} {
  %x_tile = ascend_memory.alloc "x_tile" : memref<256xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" : memref<256xf32, #ub>
  %first = ascend.block_idx
  %step = ascend.block_num
  %tiles = arith.constant 6 : index
  %size = arith.constant 256 : index
  %total = arith.constant 1500 : index
  scf.for %i = %first to %tiles step %step {
    %o = arith.muli %i, %size : index
    %left = arith.subi %total, %o : index
    %n = arith.minsi %left, %size : index
    %xv = ascend_memory.view %x at [%o] sizes [%n] strides [1] : memref<1500xf32, #gm> to memref<?xf32, #at, #gm>
    %yv = ascend_memory.view %y at [%o] sizes [%n] strides [1] : memref<1500xf32, #gm> to memref<?xf32, #at, #gm>
    %xt = ascend_memory.view %x_tile at [0] sizes [%n] strides [1] : memref<256xf32, #ub> to memref<?xf32, #ub>
    %yt = ascend_memory.view %y_tile at [0] sizes [%n] strides [1] : memref<256xf32, #ub> to memref<?xf32, #ub>
    ascend_memory.copy %xv to %xt : memref<?xf32, #at, #gm> to memref<?xf32, #ub>
    ascend_vector.exp %xt into %yt : memref<?xf32, #ub> into memref<?xf32, #ub>
    ascend_memory.copy %yt to %yv : memref<?xf32, #ub> to memref<?xf32, #at, #gm>
  }
}
