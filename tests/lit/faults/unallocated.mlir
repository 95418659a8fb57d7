// An address so far from every array that it is no array's overrun.

// RUN: not ascir run %s --input %{f32_64} 1000000000000000 2>&1 | filecheck %s
// RUN: ascir run %s --input %{f32_64} 0

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @load(%x: memref<?xf32, #gm>, %from: index) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %row = ascend_memory.view %x at [%from] sizes [64] strides [1] : memref<?xf32, #gm> to memref<64xf32, strided<[1], offset: ?>, #gm>
  ascend_memory.copy %row to %a : memref<64xf32, strided<[1], offset: ?>, #gm> to memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: unallocated.mlir:[[# @LINE - 3]]: unallocated: copy reads an address in no buffer (operand a);
// CHECK-SAME: point it into a UB buffer or a kernel argument
