// Errors name file, line and column, show the source line and a caret; chunks count lines from the top of the file.

// RUN: ascir-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s --strict-whitespace
// RUN: not ascir-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix=FIRST

func.func @f(%x: tensor<4xf32>) {
  %y = "ascend.exp"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}
// CHECK: diagnostics.mlir:7:8: error: ascend.exp:
// CHECK-NEXT:{{^}}  %y = "ascend.exp"(%x) : (tensor<4xf32>) -> tensor<5xf32>
// CHECK-NEXT:{{^}}       ^
// FIRST: diagnostics.mlir:7:8: error: ascend.exp:

// -----

func.func @f(%x: tensor<4xf32>) {
  func.return %y
}
// CHECK: diagnostics.mlir:19:1: error: Expected ':'
// CHECK-NEXT:{{^}}}
