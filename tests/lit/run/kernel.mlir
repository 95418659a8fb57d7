// A kernel in textual IR, run on one core and on three: y = n·x + 1 in tiles of 8; flags placed, or written by hand.

// RUN: ascir run %s:scaled --input %{f32_64} 3 | filecheck %s
// RUN: ascir run %s:scaled --input %{f32_64} 3 --block-dim 3 | filecheck %s
// RUN: ascir run %s:by_hand --input %{f32_64} --sync manual | filecheck %s --check-prefix=HAND
// RUN: not ascir run %s --input %{f32_64} 2>&1 | filecheck %s --check-prefix=NAME

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @scaled(%x: memref<64xf32, #gm>, %factor: f32, %y: memref<64xf32, #gm>) {
  %one = arith.constant 1.0 : f32
  %tile = ascend_memory.alloc "tile" : memref<8xf32, #ub>
  %first = ascend.block_idx
  %step = ascend.block_num
  %tiles = arith.constant 8 : index
  scf.for %i = %first to %tiles step %step {
    %at = arith.muli %i, %tiles : index
    %source = ascend_memory.view %x at [%at] sizes [8] strides [1] : memref<64xf32, #gm> to memref<8xf32, strided<[1], offset: ?>, #gm>
    %target = ascend_memory.view %y at [%at] sizes [8] strides [1] : memref<64xf32, #gm> to memref<8xf32, strided<[1], offset: ?>, #gm>
    ascend_memory.copy %source to %tile : memref<8xf32, strided<[1], offset: ?>, #gm> to memref<8xf32, #ub>
    ascend_vector.muls %tile, %factor into %tile : memref<8xf32, #ub>, f32 into memref<8xf32, #ub>
    ascend_vector.adds %tile, %one into %tile : memref<8xf32, #ub>, f32 into memref<8xf32, #ub>
    ascend_memory.copy %tile to %target : memref<8xf32, #ub> to memref<8xf32, strided<[1], offset: ?>, #gm>
  }
}
// CHECK: result 0: float32[64] = 1 4 7 10 13 16 …

ascend.kernel @by_hand(%x: memref<64xf32, #gm>, %y: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
  ascend_vector.add %a, %a into %a : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.set_flag v to mte3, 0
  ascend_memory.wait_flag v to mte3, 0
  ascend_memory.copy %a to %y : memref<64xf32, #ub> to memref<64xf32, #gm>
}
// HAND: result 0: float32[64] = 0 2 4 6 8 10 …

// NAME: kernel.mlir has 2 of them, name one: {{.*}}kernel.mlir:scaled, {{.*}}kernel.mlir:by_hand
