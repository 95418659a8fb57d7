// s, c = sin(x), cos(x).
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @two_outputs(%x: memref<1024xf32, #gm>, %s: memref<1024xf32, #gm>, %c: memref<1024xf32, #gm>) {
  %x_tile = ascend_memory.alloc "x_tile" : memref<256xf32, #ub>
  %s_tile = ascend_memory.alloc "s_tile" : memref<256xf32, #ub>
  %c_tile = ascend_memory.alloc "c_tile" : memref<256xf32, #ub>
  %zero = arith.constant 0 : index
  %size = arith.constant 256 : index
  %total = arith.constant 1024 : index
  scf.for %o = %zero to %total step %size {
    %xv = ascend_memory.view %x at [%o] sizes [256] strides [1] : memref<1024xf32, #gm> to memref<256xf32, #at, #gm>
    %sv = ascend_memory.view %s at [%o] sizes [256] strides [1] : memref<1024xf32, #gm> to memref<256xf32, #at, #gm>
    %cv = ascend_memory.view %c at [%o] sizes [256] strides [1] : memref<1024xf32, #gm> to memref<256xf32, #at, #gm>
    ascend_memory.copy %xv to %x_tile : memref<256xf32, #at, #gm> to memref<256xf32, #ub>
    ascend_vector.sin %x_tile into %s_tile : memref<256xf32, #ub> into memref<256xf32, #ub>
    ascend_memory.copy %s_tile to %sv : memref<256xf32, #ub> to memref<256xf32, #at, #gm>
    ascend_vector.cos %x_tile into %c_tile : memref<256xf32, #ub> into memref<256xf32, #ub>
    ascend_memory.copy %c_tile to %cv : memref<256xf32, #ub> to memref<256xf32, #at, #gm>
  }
}
