// Two dependent instructions of pipe V need a barrier: the second may start before the first is complete.

// RUN: not ascir run %s:early --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:in_time --sync unchecked

#ub = #ascend_memory.space<ub>

ascend.kernel @early() {
  %zero = arith.constant 0.0 : f32
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<64xf32, #ub>
  ascend_vector.duplicate %zero into %a : f32 into memref<64xf32, #ub>
  ascend_vector.exp %a into %b : memref<64xf32, #ub> into memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: race_within_a_pipe.mlir:[[# @LINE - 3]]: race: exp on V reads ub:a[0..256) written by duplicate on V
// CHECK-SAME: (race_within_a_pipe.mlir:[[# @LINE - 5]]); no barrier on V between

ascend.kernel @in_time() {
  %zero = arith.constant 0.0 : f32
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<64xf32, #ub>
  ascend_vector.duplicate %zero into %a : f32 into memref<64xf32, #ub>
  ascend_memory.barrier v
  ascend_vector.exp %a into %b : memref<64xf32, #ub> into memref<64xf32, #ub>
}
