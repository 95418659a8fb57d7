// RUN: ascir-opt %s | ascir-opt | filecheck %s

// Infinities, NaNs and numbers that xDSL would print as their bits survive printing in the custom form: they are written as bytes.

func.func @f() {
  %0 = ascend.constant dense<"0x003C007C00FC007E"> : tensor<4xf16> : tensor<4xf16>
  %1 = ascend.constant dense<"0x807F807F"> : tensor<2xbf16> : tensor<2xbf16>
  %2 = ascend.constant dense<[1.0, 123456792.0]> : tensor<2xf32> : tensor<2xf32>
  %3 = ascend.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0]]> : tensor<10x1xf32> : tensor<10x1xf32>
  %4 = ascend_memory.constant dense<"0x0000803F0000807F"> : tensor<2xf32> to memref<2xf32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: %0 = ascend.constant dense<"0x003C007C00FC007E"> : tensor<4xf16> : tensor<4xf16>
// CHECK-NEXT: %1 = ascend.constant dense<"0x807F807F"> : tensor<2xbf16> : tensor<2xbf16>
// CHECK-NEXT: %2 = ascend.constant dense<"0x0000803FA379EB4C"> : tensor<2xf32> : tensor<2xf32>
// CHECK-NEXT: %3 = ascend.constant dense<{{\[\[}}1.000000e+00], [2.000000e+00],
// CHECK-NEXT: %4 = ascend_memory.constant dense<"0x0000803F0000807F"> : tensor<2xf32> to memref<2xf32, #ascend_memory.space<gm>>
