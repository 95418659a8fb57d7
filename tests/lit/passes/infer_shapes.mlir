// Sizes flow from the arguments through every operator; a broadcast constant learns its size from the operator that uses it.

// RUN: ascir-opt %s -p "infer-shapes{arg-shapes=8x4}" | filecheck %s
// RUN: ascir-opt %s -p "infer-shapes{arg-shapes=8x5}" --verify-diagnostics | filecheck %s --check-prefix=MISFIT
// RUN: ascir-opt %s -p infer-shapes | filecheck %s --check-prefix=UNKNOWN

func.func @f(%x: tensor<?x4xf32>) -> tensor<4x?xf32> {
  %c = ascend.constant 2.0 : f64 : tensor<f32>
  %0 = ascend.broadcast %c : tensor<f32> to tensor<?x4xf32>
  %1 = ascend.mul %x, %0 : tensor<?x4xf32>
  %2 = ascend.transpose %1 [1, 0] : tensor<?x4xf32> to tensor<4x?xf32>
  func.return %2 : tensor<4x?xf32>
}
// CHECK: func.func @f(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
// CHECK: %0 = ascend.broadcast %c : tensor<f32> to tensor<8x4xf32>
// CHECK-NEXT: %1 = ascend.mul %x, %0 : tensor<8x4xf32>
// CHECK-NEXT: %2 = ascend.transpose %1 [1, 0] : tensor<8x4xf32> to tensor<4x8xf32>
// MISFIT: infer-shapes: argument 0 of @f is tensor<?x4xf32>, which (8, 5) does not fit
// UNKNOWN: func.func @f(%x: tensor<?x4xf32>) -> tensor<4x?xf32> {
