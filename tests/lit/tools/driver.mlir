// Passes with spaces between them, the IR between two passes, timings as comments, and the input from a pipe.

// RUN: ascir-opt %s -p "canonicalize , cse" --print-between-passes --time-passes | filecheck %s
// RUN: cat %s | ascir-opt - -p ascend-verify-dominance --print-debuginfo | filecheck %s --check-prefix=STDIN

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ascend.exp %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK: // Pass canonicalize took {{[0-9.]+}} seconds
// CHECK-NEXT: // IR after canonicalize:
// CHECK-NEXT: builtin.module {
// CHECK: ascend.exp
// CHECK: // Pass cse took {{[0-9.]+}} seconds
// CHECK-NEXT: builtin.module {
// STDIN: %y = ascend.exp %x : tensor<4xf32> loc("stdin":7:8)
