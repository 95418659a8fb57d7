// y = x * sum(x), a row at a time: a reduction with a work space, whose result pipe S reads as a scalar.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @reduce(%x: memref<4x256xf32, #gm>, %y: memref<4x256xf32, #gm>) {
  %x_tile = ascend_memory.alloc "x_tile" : memref<256xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" : memref<256xf32, #ub>
  %sum = ascend_memory.alloc "sum" : memref<1xf32, #ub>
  %work = ascend_memory.alloc "work" : memref<128xf32, #ub>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 4 : index
  %cols = arith.constant 256 : index
  scf.for %r = %zero to %rows step %one {
    %o = arith.muli %r, %cols : index
    %xv = ascend_memory.view %x at [%o] sizes [256] strides [1] : memref<4x256xf32, #gm> to memref<256xf32, #at, #gm>
    %yv = ascend_memory.view %y at [%o] sizes [256] strides [1] : memref<4x256xf32, #gm> to memref<256xf32, #at, #gm>
    ascend_memory.copy %xv to %x_tile : memref<256xf32, #at, #gm> to memref<256xf32, #ub>
    %row = ascend_memory.view %x_tile at [0] sizes [1, 256] strides [256, 1] : memref<256xf32, #ub> to memref<1x256xf32, #ub>
    ascend_vector.reduce_sum %row into %sum work %work axis 1 : memref<1x256xf32, #ub> into memref<1xf32, #ub> work memref<128xf32, #ub>
    %s = memref.load %sum[%zero] : memref<1xf32, #ub>
    ascend_vector.muls %x_tile, %s into %y_tile : memref<256xf32, #ub>, f32 into memref<256xf32, #ub>
    ascend_memory.copy %y_tile to %yv : memref<256xf32, #ub> to memref<256xf32, #at, #gm>
  }
}
