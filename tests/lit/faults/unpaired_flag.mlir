// A wait that no set_flag belongs to: on hardware the core would hang for ever.

// RUN: not ascir run %s:alone --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:paired --sync unchecked

ascend.kernel @alone() {
  ascend_memory.wait_flag mte2 to v, 0
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: unpaired_flag.mlir:[[# @LINE - 3]]: unpaired flag: V waits for flag MTE2→V 0 (unpaired_flag.mlir:[[# @LINE - 3]]);
// CHECK-SAME: no set_flag MTE2→V 0 belongs to it: on hardware the core hangs here

ascend.kernel @paired() {
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
}
