// A loop that may run no time at all, between work on the same buffers before and behind it.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @zero_trip(%x: memref<1024xf32, #gm>, %y: memref<256xf32, #gm>, %n: index) {
  %acc = ascend_memory.alloc "acc" : memref<256xf32, #ub>
  %x_tile = ascend_memory.alloc "x_tile" : memref<256xf32, #ub>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = arith.constant 256 : index
  %half = arith.constant 0.5 : f32
  %head = ascend_memory.view %x at [0] sizes [256] strides [1] : memref<1024xf32, #gm> to memref<256xf32, #gm>
  ascend_memory.copy %head to %acc : memref<256xf32, #gm> to memref<256xf32, #ub>
  scf.for %i = %one to %n step %one {
    %o = arith.muli %i, %size : index
    %xv = ascend_memory.view %x at [%o] sizes [256] strides [1] : memref<1024xf32, #gm> to memref<256xf32, #at, #gm>
    ascend_memory.copy %xv to %x_tile : memref<256xf32, #at, #gm> to memref<256xf32, #ub>
    ascend_vector.add %acc, %x_tile into %acc : memref<256xf32, #ub>, memref<256xf32, #ub> into memref<256xf32, #ub>
  }
  ascend_vector.muls %acc, %half into %acc : memref<256xf32, #ub>, f32 into memref<256xf32, #ub>
  ascend_memory.copy %acc to %y : memref<256xf32, #ub> to memref<256xf32, #gm>
}
