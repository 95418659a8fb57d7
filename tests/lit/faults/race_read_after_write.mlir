// RAW: pipe V reads what MTE2 may still be writing.

// RUN: not ascir run %s:early --input %{f32_64} --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:in_time --input %{f32_64} --sync unchecked

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @early(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_vector.exp %a into %b : memref<64xf32, #ub> into memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: race_read_after_write.mlir:[[# @LINE - 3]]: race: exp on V reads ub:a[0..256) written by copy on MTE2
// CHECK-SAME: (race_read_after_write.mlir:[[# @LINE - 5]]); no flag MTE2→V between

ascend.kernel @in_time(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
  ascend_vector.exp %a into %b : memref<64xf32, #ub> into memref<64xf32, #ub>
}
