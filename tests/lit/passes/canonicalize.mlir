// Identities go, constants fold, x ** 3 becomes two products; a sum with +0 stays, for it turns -0 into 0.

// RUN: ascir-opt %s -p canonicalize --split-input-file | filecheck %s

func.func @identities(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = ascend.constant 1.0 : f64 : tensor<4xf32>
  %zero = ascend.constant 0.0 : f64 : tensor<4xf32>
  %0 = ascend.mul %x, %one : tensor<4xf32>
  %1 = ascend.sub %0, %zero : tensor<4xf32>
  %2 = ascend.add %1, %zero : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
// CHECK: func.func @identities
// CHECK-NEXT: %zero = ascend.constant 0.000000e+00 : f64 : tensor<4xf32>
// CHECK-NEXT: %0 = ascend.add %x, %zero : tensor<4xf32>
// CHECK-NEXT: func.return %0

// -----

func.func @folded() -> (tensor<4xi8>, tensor<3xi1>, tensor<f16>) {
  %a = ascend.constant 100 : i64 : tensor<i8>
  %b = ascend.broadcast %a : tensor<i8> to tensor<4xi8>
  %0 = ascend.add %b, %b : tensor<4xi8>
  %nan = ascend.constant 0x7FF8000000000000 : f64 : tensor<3xf32>
  %1 = ascend.compare "ne" %nan, %nan : tensor<3xf32> to tensor<3xi1>
  %large = ascend.constant 65520.0 : f64 : tensor<f32>
  %2 = ascend.cast %large : tensor<f32> to tensor<f16>
  func.return %0, %1, %2 : tensor<4xi8>, tensor<3xi1>, tensor<f16>
}
// CHECK: func.func @folded
// CHECK-NEXT: ascend.constant -56 : i64 : tensor<4xi8>
// CHECK-NEXT: ascend.constant 1 : i64 : tensor<3xi1>
// CHECK-NEXT: ascend.constant 0x7ff0000000000000 : f64 : tensor<f16>
// CHECK-NEXT: func.return

// -----

func.func @power(%x: tensor<4xf32>, %y: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>) {
  %c = ascend.constant 3.0 : f64 : tensor<4xf32>
  %0 = ascend.pow %x, %c : tensor<4xf32>
  %d = ascend.constant 3.0 : f64 : tensor<4xf16>
  %1 = ascend.pow %y, %d : tensor<4xf16>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf16>
}
// CHECK: func.func @power
// CHECK-NEXT: %0 = ascend.mul %x, %x : tensor<4xf32>
// CHECK-NEXT: %1 = ascend.mul %x, %0 : tensor<4xf32>
// CHECK-NEXT: %d = ascend.constant 3.000000e+00 : f64 : tensor<4xf16>
// CHECK-NEXT: ascend.pow %y, %d : tensor<4xf16>

// -----

func.func @casts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = ascend.cast %x implicit : tensor<4xf32> to tensor<4xf16>
  %1 = ascend.cast %0 implicit : tensor<4xf16> to tensor<4xf32>
  %2 = ascend.cast %x : tensor<4xf32> to tensor<4xf16>
  %3 = ascend.cast %2 implicit : tensor<4xf16> to tensor<4xf32>
  func.return %1, %3 : tensor<4xf32>, tensor<4xf32>
}
// CHECK: func.func @casts
// CHECK-NEXT: %0 = ascend.cast %x : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT: %1 = ascend.cast %0 implicit : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT: func.return %x, %1

// -----

func.func @movement(%x: tensor<2x3xf16>) -> tensor<6xf16> {
  %0 = ascend.transpose %x [1, 0] : tensor<2x3xf16> to tensor<3x2xf16>
  %1 = ascend.transpose %0 [1, 0] : tensor<3x2xf16> to tensor<2x3xf16>
  %2 = ascend.reshape %1 : tensor<2x3xf16> to tensor<3x2xf16>
  %3 = ascend.reshape %2 : tensor<3x2xf16> to tensor<6xf16>
  func.return %3 : tensor<6xf16>
}
// CHECK: func.func @movement
// CHECK-NEXT: %0 = ascend.reshape %x : tensor<2x3xf16> to tensor<6xf16>
// CHECK-NEXT: func.return %0
