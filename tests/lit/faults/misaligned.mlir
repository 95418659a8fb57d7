// Vector instructions start on 32 B boundaries: element 1 does not, element 8 does.

// RUN: not ascir run %s --input 1 2>&1 | filecheck %s
// RUN: ascir run %s --input 8

#ub = #ascend_memory.space<ub>

ascend.kernel @fill(%from: index) {
  %zero = arith.constant 0.0 : f32
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %part = ascend_memory.view %a at [%from] sizes [8] strides [1] : memref<64xf32, #ub> to memref<8xf32, strided<[1], offset: ?>, #ub>
  ascend_vector.duplicate %zero into %part : f32 into memref<8xf32, strided<[1], offset: ?>, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: misaligned.mlir:[[# @LINE - 3]]: misaligned: duplicate on V writes ub:a[4..36) (the destination), which starts at byte 4 of ub;
// CHECK-SAME: expected a multiple of 32
