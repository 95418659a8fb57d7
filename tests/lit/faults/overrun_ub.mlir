// Past the end of a buffer in UB, though its neighbour's bytes are there: the same kernel with a count that fits is innocent.

// RUN: not ascir run %s --input 65 2>&1 | filecheck %s
// RUN: ascir run %s --input 64

#ub = #ascend_memory.space<ub>

ascend.kernel @fill(%n: index) {
  %zero = arith.constant 0.0 : f32
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<64xf32, #ub>
  %a_n = ascend_memory.view %a at [0] sizes [%n] strides [1] : memref<64xf32, #ub> to memref<?xf32, #ub>
  ascend_vector.duplicate %zero into %a_n : f32 into memref<?xf32, #ub>
  ascend_vector.duplicate %zero into %b : f32 into memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: overrun_ub.mlir:[[# @LINE - 4]]: overrun: duplicate on V writes ub:a[0..260) (the destination), but the buffer has 256 bytes
