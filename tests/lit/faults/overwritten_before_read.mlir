// The first load went for nothing: the second one comes before anything has read it.

// RUN: not ascir run %s:too_soon --input %{f32_64} --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:in_turn --input %{f32_64} --sync unchecked

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @too_soon(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.barrier mte2
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: overwritten_before_read.mlir:[[# @LINE - 3]]: overwritten before read: copy on MTE2 writes over ub:a[0..256)
// CHECK-SAME: written by copy on MTE2 (overwritten_before_read.mlir:[[# @LINE - 6]]), and nothing has read it

ascend.kernel @in_turn(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
  ascend_vector.exp %a into %a : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.set_flag v to mte2, 0
  ascend_memory.wait_flag v to mte2, 0
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
}
