// A flag still set when the kernel ends would let the next kernel start too early.

// RUN: not ascir run %s:forgotten --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:taken --sync unchecked

ascend.kernel @forgotten() {
  ascend_memory.set_flag v to mte3, 1
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: left_over_flag.mlir:[[# @LINE - 3]]: left-over flag: flag V→MTE3 1 is still set when the kernel ends;
// CHECK-SAME: add the wait_flag it was meant for, or remove the set_flag

ascend.kernel @taken() {
  ascend_memory.set_flag v to mte3, 1
  ascend_memory.wait_flag v to mte3, 1
}
