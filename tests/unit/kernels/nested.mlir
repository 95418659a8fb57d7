// y[r] = sum over c of x[r, c]: an outer loop over rows, an inner one over chunks that adds into an accumulator.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @nested(%x: memref<8x512xf32, #gm>, %y: memref<8x128xf32, #gm>) attributes {block_dim = 2 : i64} {
  %x_tile = ascend_memory.alloc "x_tile" : memref<128xf32, #ub>
  %acc = ascend_memory.alloc "acc" : memref<128xf32, #ub>
  %first = ascend.block_idx
  %step = ascend.block_num
  %zero = arith.constant 0 : index
  %chunk = arith.constant 128 : index
  %rows = arith.constant 8 : index
  %cols = arith.constant 512 : index
  %none = arith.constant 0.0 : f32
  scf.for %r = %first to %rows step %step {
    ascend_vector.duplicate %none into %acc : f32 into memref<128xf32, #ub>
    %row = arith.muli %r, %cols : index
    scf.for %c = %zero to %cols step %chunk {
      %o = arith.addi %row, %c : index
      %xv = ascend_memory.view %x at [%o] sizes [128] strides [1] : memref<8x512xf32, #gm> to memref<128xf32, #at, #gm>
      ascend_memory.copy %xv to %x_tile : memref<128xf32, #at, #gm> to memref<128xf32, #ub>
      ascend_vector.add %x_tile, %acc into %acc : memref<128xf32, #ub>, memref<128xf32, #ub> into memref<128xf32, #ub>
    }
    %out = arith.muli %r, %chunk : index
    %yv = ascend_memory.view %y at [%out] sizes [128] strides [1] : memref<8x128xf32, #gm> to memref<128xf32, #at, #gm>
    ascend_memory.copy %acc to %yv : memref<128xf32, #ub> to memref<128xf32, #at, #gm>
  }
}
