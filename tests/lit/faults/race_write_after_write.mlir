// WAW: pipe V and MTE2 write the same bytes, and nobody knows who comes last.

// RUN: not ascir run %s:early --input %{f32_64} --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:in_time --input %{f32_64} --sync unchecked

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @early(%x: memref<64xf32, #gm>) {
  %zero = arith.constant 0.0 : f32
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  ascend_vector.duplicate %zero into %a : f32 into memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: race_write_after_write.mlir:[[# @LINE - 3]]: race: copy on MTE2 writes ub:a[0..256) written by duplicate on V
// CHECK-SAME: (race_write_after_write.mlir:[[# @LINE - 5]]); no flag V→MTE2 between

ascend.kernel @in_time(%x: memref<64xf32, #gm>) {
  %zero = arith.constant 0.0 : f32
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  ascend_vector.duplicate %zero into %a : f32 into memref<64xf32, #ub>
  ascend_memory.set_flag v to mte2, 0
  ascend_memory.wait_flag v to mte2, 0
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
}
