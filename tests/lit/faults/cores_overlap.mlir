// Two cores write the same bytes of GM: whose value stays is luck.

// RUN: not ascir run %s --input %{f32_64} 4 --block-dim 2 --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s --input %{f32_64} 8 --block-dim 2 --sync unchecked

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @step(%x: memref<64xf32, #gm>, %y: memref<64xf32, #gm>, %step: index) {
  %a = ascend_memory.alloc "a" : memref<8xf32, #ub>
  %core = ascend.block_idx
  %at = arith.muli %core, %step : index
  %from = ascend_memory.view %x at [%at] sizes [8] strides [1] : memref<64xf32, #gm> to memref<8xf32, strided<[1], offset: ?>, #gm>
  %to = ascend_memory.view %y at [%at] sizes [8] strides [1] : memref<64xf32, #gm> to memref<8xf32, strided<[1], offset: ?>, #gm>
  ascend_memory.copy %from to %a : memref<8xf32, strided<[1], offset: ?>, #gm> to memref<8xf32, #ub>
  ascend_memory.set_flag mte2 to mte3, 0
  ascend_memory.wait_flag mte2 to mte3, 0
  ascend_memory.copy %a to %to : memref<8xf32, #ub> to memref<8xf32, strided<[1], offset: ?>, #gm>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: cores_overlap.mlir:[[# @LINE - 3]]: cores overlapping in GM: copy on MTE3 of block 1 writes gm:y[16..32)
// CHECK-SAME: written by copy on MTE3 (cores_overlap.mlir:[[# @LINE - 4]]) of block 0; give each block bytes of its own
