// mixed computes in f32 and rounds where a value is stored; strict rounds after every operator.

// RUN: ascir-opt %s -p select-precision | filecheck %s --check-prefix=MIXED
// RUN: ascir-opt %s -p "select-precision{precision=strict}" | filecheck %s --check-prefix=STRICT
// RUN: ascir-opt %s -p "select-precision{precision=fp8}" --verify-diagnostics | filecheck %s --check-prefix=UNKNOWN

func.func @f(%x: tensor<8xf16>) -> tensor<8xf16> {
  %c = ascend.constant 0.1 : f64 : tensor<8xf16>
  %relu = ascend.relu %x : tensor<8xf16>
  %0 = ascend.mul %relu, %c : tensor<8xf16>
  %1 = ascend.tanh %0 : tensor<8xf16>
  func.return %1 : tensor<8xf16>
}
// MIXED: func.func @f(%x: tensor<8xf16>) -> tensor<8xf16> attributes {precision = "mixed"} {
// MIXED-NEXT: %relu = ascend.relu %x : tensor<8xf16>
// MIXED-NEXT: %relu_1 = ascend.cast %relu implicit : tensor<8xf16> to tensor<8xf32>
// MIXED-NEXT: %c = ascend.constant 1.000000e-01 : f64 : tensor<8xf32>
// MIXED-NEXT: %0 = ascend.mul %relu_1, %c : tensor<8xf32>
// MIXED-NEXT: %1 = ascend.tanh %0 : tensor<8xf32>
// MIXED-NEXT: %2 = ascend.cast %1 implicit : tensor<8xf32> to tensor<8xf16>
// MIXED-NEXT: func.return %2

// STRICT: attributes {precision = "strict"} {
// STRICT: %0 = ascend.mul %relu, %c : tensor<8xf16>
// STRICT-NEXT: %1 = ascend.cast %0 : tensor<8xf16> to tensor<8xf32>
// STRICT-NEXT: %2 = ascend.tanh %1 : tensor<8xf32>
// STRICT-NEXT: %3 = ascend.cast %2 : tensor<8xf32> to tensor<8xf16>

// UNKNOWN: select-precision: there is no precision 'fp8'; choose one of mixed, strict
