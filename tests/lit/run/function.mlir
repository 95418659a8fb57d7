// A function of operators, compiled and run: softmax along the rows, each sum to one; the same by hand in three steps.

// RUN: ascir run %s:softmax --input %{f32_3x5} --profile | filecheck %s
// RUN: ascir run %s:parts --input %{f32_3x5} | filecheck %s --check-prefix=PARTS
// RUN: not ascir run %s:softmax --input %{f32_64} 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not ascir run %s:softmax --input %{f32_3x5} --sync manual 2>&1 | filecheck %s --check-prefix=SYNC

func.func @softmax(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %top = ascend.reduce "max" %x axes [1] keepdims : tensor<?x5xf32> to tensor<?x1xf32>
  %wide = ascend.broadcast %top : tensor<?x1xf32> to tensor<?x5xf32>
  %below = ascend.sub %x, %wide : tensor<?x5xf32>
  %e = ascend.exp %below : tensor<?x5xf32>
  %sum = ascend.reduce "sum" %e axes [1] keepdims : tensor<?x5xf32> to tensor<?x1xf32>
  %all = ascend.broadcast %sum : tensor<?x1xf32> to tensor<?x5xf32>
  %y = ascend.div %e, %all : tensor<?x5xf32>
  func.return %y : tensor<?x5xf32>
}
// CHECK: result 0: float32[3, 5] = 0.0116562 0.0316849 0.0861285 0.234122 0.636409 0.0116562 …
// CHECK: kernels     softmax
// CHECK: cycles
// CHECK: faults      none

func.func @parts(%x: tensor<3x5xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3x5xi1>) {
  %turned = ascend.transpose %x [1, 0] : tensor<3x5xf32> to tensor<5x3xf32>
  %sum = ascend.reduce "sum" %x axes [1] : tensor<3x5xf32> to tensor<3xf32>
  %seven = ascend.constant dense<7.0> : tensor<3x5xf32> : tensor<3x5xf32>
  %large = ascend.compare "gt" %x, %seven : tensor<3x5xf32> to tensor<3x5xi1>
  func.return %turned, %sum, %large : tensor<5x3xf32>, tensor<3xf32>, tensor<3x5xi1>
}
// PARTS: result 0: float32[5, 3] = 0 5 10 1 6 11 …
// PARTS-NEXT: result 1: float32[3] = 10 35 60
// PARTS-NEXT: result 2: bool[3, 5] = False False False False False False …

// SHAPE: ascir: @softmax takes %x: tensor<?x5xf32>; got float32[64] for %x
// SYNC: ascir: --sync is for kernels; the compiler orders the pipes of a function such as that of {{.*}}function.mlir
