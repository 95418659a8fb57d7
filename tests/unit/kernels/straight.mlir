// y = exp(a + b), one tile, no loop.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @straight(%a: memref<256xf32, #gm>, %b: memref<256xf32, #gm>, %y: memref<256xf32, #gm>) {
  %a_tile = ascend_memory.alloc "a_tile" : memref<256xf32, #ub>
  %b_tile = ascend_memory.alloc "b_tile" : memref<256xf32, #ub>
  %sum = ascend_memory.alloc "sum" : memref<256xf32, #ub>
  ascend_memory.copy %a to %a_tile : memref<256xf32, #gm> to memref<256xf32, #ub>
  ascend_memory.copy %b to %b_tile : memref<256xf32, #gm> to memref<256xf32, #ub>
  ascend_vector.add %a_tile, %b_tile into %sum : memref<256xf32, #ub>, memref<256xf32, #ub> into memref<256xf32, #ub>
  ascend_vector.exp %sum into %sum : memref<256xf32, #ub> into memref<256xf32, #ub>
  ascend_memory.copy %sum to %y : memref<256xf32, #ub> to memref<256xf32, #gm>
}
