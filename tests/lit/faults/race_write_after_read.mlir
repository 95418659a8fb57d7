// WAR: MTE2 overwrites what pipe V may still be reading. The barrier orders the two copies; V is another pipe.

// RUN: not ascir run %s:early --input %{f32_64} --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:in_time --input %{f32_64} --sync unchecked

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @early(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
  ascend_vector.exp %a into %b : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.barrier mte2
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: race_write_after_read.mlir:[[# @LINE - 3]]: race: copy on MTE2 writes ub:a[0..256) read by exp on V
// CHECK-SAME: (race_write_after_read.mlir:[[# @LINE - 6]]); no flag V→MTE2 between

ascend.kernel @in_time(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
  ascend_vector.exp %a into %b : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.set_flag v to mte2, 0
  ascend_memory.wait_flag v to mte2, 0
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
}
