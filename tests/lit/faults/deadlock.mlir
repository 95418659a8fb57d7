// Pipes that wait for each other, each before it sets what the other waits for: reported, never a hang.

// RUN: not ascir run %s:crossed --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:in_turn --sync unchecked

ascend.kernel @crossed() {
  ascend_memory.wait_flag mte3 to v, 0
  ascend_memory.wait_flag v to mte3, 0
  ascend_memory.set_flag v to mte3, 0
  ascend_memory.set_flag mte3 to v, 0
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: deadlock.mlir:[[# @LINE - 6]]: deadlock: V waits for flag MTE3→V 0 (deadlock.mlir:[[# @LINE - 6]]);
// CHECK-SAME: MTE3 waits for flag V→MTE3 0 (deadlock.mlir:[[# @LINE - 6]]), and none of these flags is set

ascend.kernel @in_turn() {
  ascend_memory.set_flag mte3 to v, 0
  ascend_memory.wait_flag mte3 to v, 0
  ascend_memory.set_flag v to mte3, 0
  ascend_memory.wait_flag v to mte3, 0
}
