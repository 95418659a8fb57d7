// Event ids 6 and 7 belong to the vendor's runtime.

// RUN: not ascir run %s:six --sync unchecked 2>&1 | filecheck %s
// RUN: ascir run %s:five --sync unchecked

ascend.kernel @six() {
  ascend_memory.set_flag v to mte3, 6
  ascend_memory.wait_flag v to mte3, 6
}
// CHECK: ascir: the emulator found 2 faults:
// CHECK-NEXT: reserved_flag.mlir:[[# @LINE - 4]]: reserved flag: set_flag V→MTE3 6: id 6 is reserved for the vendor's runtime; use another
// CHECK-NEXT: reserved_flag.mlir:[[# @LINE - 4]]: reserved flag: wait_flag V→MTE3 6: id 6 is reserved for the vendor's runtime; use another

ascend.kernel @five() {
  ascend_memory.set_flag v to mte3, 5
  ascend_memory.wait_flag v to mte3, 5
}
