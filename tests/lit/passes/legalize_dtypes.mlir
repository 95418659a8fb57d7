// Operators the AI Core lacks in a type are written in a wider one, or as others; what it has stays.

// RUN: ascir-opt %s -p legalize-dtypes --split-input-file --verify-diagnostics | filecheck %s

func.func @bytes(%x: tensor<8xui8>) -> tensor<8xui8> {
  %c = ascend.constant 255 : i64 : tensor<8xui8>
  %0 = ascend.mul %x, %c : tensor<8xui8>
  func.return %0 : tensor<8xui8>
}
// CHECK: func.func @bytes
// CHECK-NEXT: %x_1 = ascend.cast %x : tensor<8xui8> to tensor<8xi16>
// CHECK-NEXT: %c = ascend.constant 255 : i64 : tensor<8xi16>
// CHECK-NEXT: %0 = ascend.mul %x_1, %c : tensor<8xi16>
// CHECK-NEXT: %1 = ascend.cast %0 : tensor<8xi16> to tensor<8xui8>

// -----

func.func @clamp_and_mean(%x: tensor<2x5xf32>, %low: tensor<2x5xf32>, %high: tensor<2x5xf32>) -> tensor<2xf32> {
  %0 = ascend.clamp %x, %low, %high : tensor<2x5xf32>
  %1 = ascend.reduce "mean" %0 axes [1] : tensor<2x5xf32> to tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
// CHECK: func.func @clamp_and_mean
// CHECK-NEXT: %0 = ascend.max %x, %low : tensor<2x5xf32>
// CHECK-NEXT: %1 = ascend.min %0, %high : tensor<2x5xf32>
// CHECK-NEXT: %2 = ascend.reduce "sum" %1 axes [1] : tensor<2x5xf32> to tensor<2xf32>
// CHECK-NEXT: %3 = ascend.constant 5.000000e+00 : f64 : tensor<2xf32>
// CHECK-NEXT: %4 = ascend.div %2, %3 : tensor<2xf32>

// -----

func.func @bools(%c: tensor<4xi1>, %a: tensor<4xi1>, %b: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi32>) {
  %0 = ascend.select %c, %a, %b : tensor<4xi1>, tensor<4xi1>
  %1 = ascend.cast %0 : tensor<4xi1> to tensor<4xi32>
  func.return %0, %1 : tensor<4xi1>, tensor<4xi32>
}
// CHECK: func.func @bools
// CHECK-NEXT: %0 = ascend.not %c : tensor<4xi1>
// CHECK-NEXT: %1 = ascend.and %0, %b : tensor<4xi1>
// CHECK-NEXT: %2 = ascend.and %c, %a : tensor<4xi1>
// CHECK-NEXT: %3 = ascend.or %2, %1 : tensor<4xi1>
// CHECK-NEXT: %4 = ascend.constant 1 : i64 : tensor<4xi32>
// CHECK-NEXT: %5 = ascend.constant 0 : i64 : tensor<4xi32>
// CHECK-NEXT: %6 = ascend.select %3, %4, %5 : tensor<4xi1>, tensor<4xi32>

// -----

func.func @stays(%x: tensor<4xi64>, %y: tensor<4xf16>) -> (tensor<4xi64>, tensor<4xf16>) {
  %0 = ascend.floor_div %x, %x : tensor<4xi64>
  %1 = ascend.exp %y : tensor<4xf16>
  func.return %0, %1 : tensor<4xi64>, tensor<4xf16>
}
// CHECK: func.func @stays
// CHECK-NEXT: %0 = ascend.floor_div %x, %x : tensor<4xi64>
// CHECK-NEXT: %1 = ascend.exp %y : tensor<4xf16>

// -----

func.func @double(%x: tensor<4xf32>) -> tensor<4xf64> {
  %0 = ascend.cast %x : tensor<4xf32> to tensor<4xf64>
  func.return %0 : tensor<4xf64>
}
// CHECK: legalize_dtypes.mlir:60:8: error: f64 in ascend.cast (tensor<4xf64>): the AI Core computes nothing in double; cast to float32
// CHECK-NEXT: %0 = ascend.cast %x : tensor<4xf32> to tensor<4xf64>
// CHECK-NEXT: ^
