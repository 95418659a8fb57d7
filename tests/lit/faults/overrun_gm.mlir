// Past the end of an array in global memory.

// RUN: not ascir run %s --input %{f32_64} 1 2>&1 | filecheck %s
// RUN: ascir run %s --input %{f32_64} 0

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @load(%x: memref<?xf32, #gm>, %from: index) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %row = ascend_memory.view %x at [%from] sizes [64] strides [1] : memref<?xf32, #gm> to memref<64xf32, strided<[1], offset: ?>, #gm>
  ascend_memory.copy %row to %a : memref<64xf32, strided<[1], offset: ?>, #gm> to memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: overrun_gm.mlir:[[# @LINE - 3]]: overrun: copy on MTE2 reads gm:x[4..260) (operand a), but the buffer has 256 bytes
