// Even tiles: y = exp(x); odd tiles: y = relu(x) + x. Each branch has work of its own on the same buffers.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @branch(%x: memref<2048xf32, #gm>, %y: memref<2048xf32, #gm>) {
  %x_tile = ascend_memory.alloc "x_tile" : memref<256xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" : memref<256xf32, #ub>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %tiles = arith.constant 8 : index
  %size = arith.constant 256 : index
  scf.for %i = %zero to %tiles step %one {
    %o = arith.muli %i, %size : index
    %xv = ascend_memory.view %x at [%o] sizes [256] strides [1] : memref<2048xf32, #gm> to memref<256xf32, #at, #gm>
    %yv = ascend_memory.view %y at [%o] sizes [256] strides [1] : memref<2048xf32, #gm> to memref<256xf32, #at, #gm>
    ascend_memory.copy %xv to %x_tile : memref<256xf32, #at, #gm> to memref<256xf32, #ub>
    %parity = arith.remsi %i, %two : index
    %even = arith.cmpi eq, %parity, %zero : index
    scf.if %even {
      ascend_vector.exp %x_tile into %y_tile : memref<256xf32, #ub> into memref<256xf32, #ub>
    } else {
      ascend_vector.relu %x_tile into %y_tile : memref<256xf32, #ub> into memref<256xf32, #ub>
      ascend_vector.add %y_tile, %x_tile into %y_tile : memref<256xf32, #ub>, memref<256xf32, #ub> into memref<256xf32, #ub>
    }
    ascend_memory.copy %y_tile to %yv : memref<256xf32, #ub> to memref<256xf32, #at, #gm>
  }
}
