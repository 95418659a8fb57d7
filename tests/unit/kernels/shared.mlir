// Two stages, y = exp(x) and w = relu(v), whose buffers share bytes of UB: placed by hand, half of the second on the first.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @shared(%x: memref<256xf32, #gm>, %v: memref<256xf32, #gm>, %y: memref<256xf32, #gm>, %w: memref<256xf32, #gm>) {
  %x_tile = ascend_memory.alloc "x_tile" at 0 : memref<256xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" at 1024 : memref<256xf32, #ub>
  %v_tile = ascend_memory.alloc "v_tile" at 512 : memref<256xf32, #ub>
  %w_tile = ascend_memory.alloc "w_tile" at 1536 : memref<256xf32, #ub>
  ascend_memory.copy %x to %x_tile : memref<256xf32, #gm> to memref<256xf32, #ub>
  ascend_vector.exp %x_tile into %y_tile : memref<256xf32, #ub> into memref<256xf32, #ub>
  ascend_memory.copy %y_tile to %y : memref<256xf32, #ub> to memref<256xf32, #gm>
  ascend_memory.copy %v to %v_tile : memref<256xf32, #gm> to memref<256xf32, #ub>
  ascend_vector.relu %v_tile into %w_tile : memref<256xf32, #ub> into memref<256xf32, #ub>
  ascend_memory.copy %w_tile to %w : memref<256xf32, #ub> to memref<256xf32, #gm>
}
