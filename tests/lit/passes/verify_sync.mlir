// RUN: ascir-opt %s -p verify-sync --split-input-file --verify-diagnostics | filecheck %s

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @too_early(%x: memref<64xf32, #gm>) {
  %x_tile = ascend_memory.alloc "x_tile" : memref<64xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" : memref<64xf32, #ub>
  ascend_memory.copy %x to %x_tile : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_vector.exp %x_tile into %y_tile : memref<64xf32, #ub> into memref<64xf32, #ub>
}
// CHECK: verify-sync: race: ascend_vector.exp on V (verify_sync.mlir:9) reads x_tile written by ascend_memory.copy on MTE2 (verify_sync.mlir:8);
// CHECK-SAME: no flag MTE2→V between. Set one after the copy and wait before the exp, or run insert-sync.

// -----

// The same in order: nothing to say.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @in_time(%x: memref<64xf32, #gm>) {
  %x_tile = ascend_memory.alloc "x_tile" : memref<64xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" : memref<64xf32, #ub>
  ascend_memory.copy %x to %x_tile : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.set_flag mte2 to v, 5
  ascend_memory.wait_flag mte2 to v, 5
  ascend_vector.exp %x_tile into %y_tile : memref<64xf32, #ub> into memref<64xf32, #ub>
}
// CHECK: ascend.kernel @in_time

// -----

ascend.kernel @deadlock() {
  ascend_memory.wait_flag v to mte3, 1
}
// CHECK: unpaired: ascend_memory.wait_flag (verify_sync.mlir:{{[0-9]+}}): MTE3 would wait for ever for flag V→MTE3 1: the kernel never sets it

// -----

ascend.kernel @leftover(%c: i1) {
  scf.if %c {
    ascend_memory.set_flag v to mte3, 6
  }
}
// CHECK: reserved: {{.*}} event id 6 belongs to the vendor runtime; use 0…5
// CHECK: one branch: {{.*}} flag V→MTE3 6 is set in one branch of scf.if
// CHECK: left over: {{.*}} flag V→MTE3 6 is still set at the end of the kernel
