// RUN: ascir-opt %s -p fuse-operators --split-input-file | filecheck %s
// RUN: ascir-opt %s -p "fuse-operators{max-ops=1}" --split-input-file | filecheck %s --check-prefix=ALONE

// A chain becomes one group; the constant is cloned into it.
// CHECK-LABEL: @chain
// CHECK:       ascend.fused (%x)
// CHECK:         ascend.exp
// CHECK:         ascend.constant
// CHECK:         ascend.add
// CHECK:         ascend.yield
// CHECK-NOT:   ascend.fused
// CHECK:       func.return
// ALONE-LABEL: @chain
// ALONE:       ascend.fused
// ALONE:       ascend.fused
func.func @chain(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %c = ascend.constant 0.5 : f64 : tensor<8x128xf32>
  %0 = ascend.exp %x : tensor<8x128xf32>
  %1 = ascend.add %0, %c : tensor<8x128xf32>
  func.return %1 : tensor<8x128xf32>
}

// -----

// A reduction joins its producers, and the consumers that spread it back over a row that fits.
// CHECK-LABEL: @normalize
// CHECK:       ascend.fused
// CHECK:         ascend.reduce "sum"
// CHECK:         ascend.broadcast
// CHECK:         ascend.div
// CHECK-NOT:   ascend.fused
// CHECK:       func.return
func.func @normalize(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %s = ascend.reduce "sum" %x axes [1] keepdims : tensor<8x128xf32> to tensor<8x1xf32>
  %b = ascend.broadcast %s : tensor<8x1xf32> to tensor<8x128xf32>
  %y = ascend.div %x, %b : tensor<8x128xf32>
  func.return %y : tensor<8x128xf32>
}

// -----

// Reduced along the outer axis, the sum is ready only after the last row: two kernels.
// CHECK-LABEL: @outer
// CHECK:       ascend.fused (%x)
// CHECK:         ascend.reduce "sum"
// CHECK:       ascend.fused
// CHECK:         ascend.div
func.func @outer(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %s = ascend.reduce "sum" %x axes [0] keepdims : tensor<8x128xf32> to tensor<1x128xf32>
  %b = ascend.broadcast %s : tensor<1x128xf32> to tensor<8x128xf32>
  %y = ascend.div %x, %b : tensor<8x128xf32>
  func.return %y : tensor<8x128xf32>
}

// -----

// A transpose of an argument is only another way to read it; of a computed value it needs memory first.
// CHECK-LABEL: @windows
// CHECK:       ascend.fused (%x)
// CHECK:         ascend.transpose
// CHECK:         ascend.exp
// CHECK:       ascend.fused
// CHECK:         ascend.transpose
// CHECK:         ascend.sqrt
func.func @windows(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %t = ascend.transpose %x [1, 0] : tensor<3x5xf32> to tensor<5x3xf32>
  %e = ascend.exp %t : tensor<5x3xf32>
  %u = ascend.transpose %e [1, 0] : tensor<5x3xf32> to tensor<3x5xf32>
  %r = ascend.sqrt %u : tensor<3x5xf32>
  func.return %r : tensor<3x5xf32>
}

// -----

// Axes that are not neighbours are reduced run by run; an axis of size 1 vanishes.
// CHECK-LABEL: @runs
// CHECK:       ascend.reduce "max" %{{.*}} axes [3] keepdims
// CHECK:       ascend.reduce "max" %{{.*}} axes [0] keepdims
func.func @runs(%x: tensor<4x3x1x5xf32>) -> tensor<3xf32> {
  %m = ascend.reduce "max" %x axes [0, 2, 3] : tensor<4x3x1x5xf32> to tensor<3xf32>
  func.return %m : tensor<3xf32>
}

// -----

// A long reduction with few results: the cores reduce equal parts, and then those.
// CHECK-LABEL: @long
// CHECK:       ascend.fused (%x)
// CHECK:         ascend.reshape %{{.*}} : tensor<1048576xf32> to tensor<32x32768xf32>
// CHECK:         ascend.exp
// CHECK:         ascend.reduce "sum" %{{.*}} axes [1] : tensor<32x32768xf32> to tensor<32xf32>
// CHECK:       ascend.fused
// CHECK:         ascend.reduce "sum" %{{.*}} axes [0] : tensor<32xf32> to tensor<f32>
func.func @long(%x: tensor<1048576xf32>) -> tensor<f32> {
  %e = ascend.exp %x : tensor<1048576xf32>
  %s = ascend.reduce "sum" %e axes [0] : tensor<1048576xf32> to tensor<f32>
  func.return %s : tensor<f32>
}
