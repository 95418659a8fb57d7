// A flag that is set twice before anyone waits: one of the two is lost.

// RUN: not ascir run %s:twice --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:in_turn --sync unchecked

ascend.kernel @twice() {
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: duplicate_flag.mlir:[[# @LINE - 4]]: duplicate flag: set_flag MTE2→V 0 is set again before a wait_flag took the first
// CHECK-SAME: (duplicate_flag.mlir:[[# @LINE - 6]]); wait in between or use another id

ascend.kernel @in_turn() {
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 0
}
