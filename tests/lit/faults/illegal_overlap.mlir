// Source and destination coincide or lie apart; a shift by one block is neither.

// RUN: not ascir run %s --input 8 2>&1 | filecheck %s
// RUN: ascir run %s --input 0
// RUN: ascir run %s --input 64

#ub = #ascend_memory.space<ub>

ascend.kernel @shift(%to: index) {
  %zero = arith.constant 0.0 : f32
  %a = ascend_memory.alloc "a" : memref<128xf32, #ub>
  %source = ascend_memory.view %a at [0] sizes [64] strides [1] : memref<128xf32, #ub> to memref<64xf32, #ub>
  %destination = ascend_memory.view %a at [%to] sizes [64] strides [1] : memref<128xf32, #ub> to memref<64xf32, strided<[1], offset: ?>, #ub>
  ascend_vector.duplicate %zero into %a : f32 into memref<128xf32, #ub>
  ascend_vector.abs %source into %destination : memref<64xf32, #ub> into memref<64xf32, strided<[1], offset: ?>, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: illegal_overlap.mlir:[[# @LINE - 3]]: illegal operand: abs on V writes ub:a[32..288), which overlaps operand a
// CHECK-SAME: without coinciding with it
