// y = exp(x), two tiles an iteration in the two halves of one buffer, so that a load can run while the other half is computed.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
#high = strided<[1], offset: 256>
ascend.kernel @ping_pong(%x: memref<2048xf32, #gm>, %y: memref<2048xf32, #gm>) {
  %both = ascend_memory.alloc "both" : memref<512xf32, #ub>
  %ping = ascend_memory.view %both at [0] sizes [256] strides [1] : memref<512xf32, #ub> to memref<256xf32, #ub>
  %pong = ascend_memory.view %both at [256] sizes [256] strides [1] : memref<512xf32, #ub> to memref<256xf32, #high, #ub>
  %zero = arith.constant 0 : index
  %size = arith.constant 256 : index
  %two = arith.constant 512 : index
  %total = arith.constant 2048 : index
  scf.for %o = %zero to %total step %two {
    %p = arith.addi %o, %size : index
    %x0 = ascend_memory.view %x at [%o] sizes [256] strides [1] : memref<2048xf32, #gm> to memref<256xf32, #at, #gm>
    %x1 = ascend_memory.view %x at [%p] sizes [256] strides [1] : memref<2048xf32, #gm> to memref<256xf32, #at, #gm>
    %y0 = ascend_memory.view %y at [%o] sizes [256] strides [1] : memref<2048xf32, #gm> to memref<256xf32, #at, #gm>
    %y1 = ascend_memory.view %y at [%p] sizes [256] strides [1] : memref<2048xf32, #gm> to memref<256xf32, #at, #gm>
    ascend_memory.copy %x0 to %ping : memref<256xf32, #at, #gm> to memref<256xf32, #ub>
    ascend_memory.copy %x1 to %pong : memref<256xf32, #at, #gm> to memref<256xf32, #high, #ub>
    ascend_vector.exp %ping into %ping : memref<256xf32, #ub> into memref<256xf32, #ub>
    ascend_memory.copy %ping to %y0 : memref<256xf32, #ub> to memref<256xf32, #at, #gm>
    ascend_vector.exp %pong into %pong : memref<256xf32, #high, #ub> into memref<256xf32, #high, #ub>
    ascend_memory.copy %pong to %y1 : memref<256xf32, #high, #ub> to memref<256xf32, #at, #gm>
  }
}
