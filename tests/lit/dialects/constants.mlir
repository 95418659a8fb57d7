// RUN: ASCIR_ROUNDTRIP
// RUN: ASCIR_GENERIC_ROUNDTRIP

// Constants of every shape and kind, in both forms.

func.func @one_number() {
  %0 = ascend.constant 1.000000e-01 : f64 : tensor<2x3xf16>
  %1 = ascend.constant -0.000000e+00 : f64 : tensor<bf16>
  %2 = ascend.constant 0x7ff0000000000000 : f64 : tensor<?xf32>
  %3 = ascend.constant 0xfff0000000000000 : f64 : tensor<0xf32>
  %4 = ascend.constant 0x7ff8000000000000 : f64 : tensor<4xf64>
  %5 = ascend.constant 7 : i64 : tensor<4xf32>
  %6 = ascend.constant -1 : i64 : tensor<4xui64>
  %7 = ascend.constant true : tensor<4xi1>
  %8 = ascend.constant 1.2345678901234567 : f64 : tensor<4xf32>
  func.return
}

func.func @values() {
  %0 = ascend.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi32> : tensor<2x2xi32>
  %1 = ascend.constant dense<[1, 255]> : tensor<2xui8> : tensor<2xui8>
  %2 = ascend.constant dense<[0, 18446744073709551615]> : tensor<2xui64> : tensor<2xui64>
  %3 = ascend.constant dense<[true, false]> : tensor<2xi1> : tensor<2xi1>
  %4 = ascend.constant dense<[1.500000e+00, -0.000000e+00]> : tensor<2xbf16> : tensor<2xbf16>
  %5 = ascend.constant dense<2.500000e+00> : tensor<f64> : tensor<f64>
  %6 = ascend.constant dense<> : tensor<0x2xf32> : tensor<0x2xf32>
  %7 = ascend.constant dense<0.000000e+00> : tensor<3xf16> : tensor<3xf16>
  func.return
}

// CHECK: func.func @one_number() {
// CHECK-NEXT: %0 = ascend.constant 1.000000e-01 : f64 : tensor<2x3xf16>
// CHECK-NEXT: %1 = ascend.constant -0.000000e+00 : f64 : tensor<bf16>
// CHECK-NEXT: %2 = ascend.constant 0x7ff0000000000000 : f64 : tensor<?xf32>
// CHECK-NEXT: %3 = ascend.constant 0xfff0000000000000 : f64 : tensor<0xf32>
// CHECK-NEXT: %4 = ascend.constant 0x7ff8000000000000 : f64 : tensor<4xf64>
// CHECK-NEXT: %5 = ascend.constant 7 : i64 : tensor<4xf32>
// CHECK-NEXT: %6 = ascend.constant -1 : i64 : tensor<4xui64>
// CHECK-NEXT: %7 = ascend.constant true : tensor<4xi1>
// CHECK-NEXT: %8 = ascend.constant 1.2345678901234567 : f64 : tensor<4xf32>
// CHECK-NEXT: func.return
// CHECK: func.func @values() {
// CHECK-NEXT: %0 = ascend.constant dense<{{\[\[}}1, -2], [3, 4]]> : tensor<2x2xi32> : tensor<2x2xi32>
// CHECK-NEXT: %1 = ascend.constant dense<[1, 255]> : tensor<2xui8> : tensor<2xui8>
// CHECK-NEXT: %2 = ascend.constant dense<[0, 18446744073709551615]> : tensor<2xui64> : tensor<2xui64>
// CHECK-NEXT: %3 = ascend.constant dense<[true, false]> : tensor<2xi1> : tensor<2xi1>
// CHECK-NEXT: %4 = ascend.constant dense<[1.500000e+00, -0.000000e+00]> : tensor<2xbf16> : tensor<2xbf16>
// CHECK-NEXT: %5 = ascend.constant dense<2.500000e+00> : tensor<f64> : tensor<f64>
// CHECK-NEXT: %6 = ascend.constant dense<> : tensor<0x2xf32> : tensor<0x2xf32>
// CHECK-NEXT: %7 = ascend.constant dense<0.000000e+00> : tensor<3xf16> : tensor<3xf16>
// CHECK-NEXT: func.return

// GENERIC: %0 = "ascend.constant"() <{value = 1.000000e-01 : f64}> : () -> tensor<2x3xf16>
