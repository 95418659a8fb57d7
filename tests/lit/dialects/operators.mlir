// RUN: ASCIR_ROUNDTRIP
// RUN: ASCIR_GENERIC_ROUNDTRIP

// Every operator that is not element-wise, in both forms.

func.func @compare(%a: tensor<4xf32>, %b: tensor<4xf32>, %p: tensor<4xi1>) {
  %0 = ascend.compare "eq" %a, %b : tensor<4xf32> to tensor<4xi1>
  %1 = ascend.compare "ne" %a, %b : tensor<4xf32> to tensor<4xi1>
  %2 = ascend.compare "lt" %a, %b : tensor<4xf32> to tensor<4xi1>
  %3 = ascend.compare "le" %a, %b : tensor<4xf32> to tensor<4xi1>
  %4 = ascend.compare "gt" %a, %b : tensor<4xf32> to tensor<4xi1>
  %5 = ascend.compare "ge" %p, %p : tensor<4xi1> to tensor<4xi1>
  %6 = ascend.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>
  %7 = ascend.clamp %a, %b, %b : tensor<4xf32>
  func.return
}

func.func @cast(%x: tensor<2x?xf32>, %i: tensor<ui8>) {
  %0 = ascend.cast %x : tensor<2x?xf32> to tensor<2x?xbf16>
  %1 = ascend.cast %x round "floor" : tensor<2x?xf32> to tensor<2x?xi32>
  %2 = ascend.cast %x round "ceil" : tensor<2x?xf32> to tensor<2x?xi32>
  %3 = ascend.cast %x round "round" : tensor<2x?xf32> to tensor<2x?xi32>
  %4 = ascend.cast %x round "trunc" : tensor<2x?xf32> to tensor<2x?xi32>
  %5 = ascend.cast %x round "odd" implicit : tensor<2x?xf32> to tensor<2x?xf16>
  %6 = ascend.cast %i implicit : tensor<ui8> to tensor<i1>
  func.return
}

func.func @movement(%x: tensor<2x3xi64>, %s: tensor<f32>, %u: tensor<?x4xui16>) {
  %0 = ascend.broadcast %x : tensor<2x3xi64> to tensor<5x2x3xi64>
  %1 = ascend.broadcast %s : tensor<f32> to tensor<1x?xf32>
  %2 = ascend.reshape %x : tensor<2x3xi64> to tensor<6x1xi64>
  %3 = ascend.reshape %u : tensor<?x4xui16> to tensor<?xui16>
  %4 = ascend.transpose %x [1, 0] : tensor<2x3xi64> to tensor<3x2xi64>
  %5 = ascend.transpose %s [] : tensor<f32> to tensor<f32>
  %6 = ascend.slice %x starts [1, 2] sizes [1, 2] steps [1, -2] : tensor<2x3xi64> to tensor<1x2xi64>
  %7 = ascend.slice %u starts [0, 1] sizes [-9223372036854775808, 2] steps [1, 1] : tensor<?x4xui16> to tensor<?x2xui16>
  %8 = ascend.concat %x, %x, %x axis 1 : tensor<2x3xi64>, tensor<2x3xi64>, tensor<2x3xi64> to tensor<2x9xi64>
  %9 = ascend.pad %s low [] high [] value 0xfff0000000000000 : f64 : tensor<f32> to tensor<f32>
  %10 = ascend.pad %x low [0, 1] high [2, 0] value -1 : i64 : tensor<2x3xi64> to tensor<4x4xi64>
  %11 = ascend.iota axis 1 : tensor<2x3xbf16>
  func.return
}

func.func @reduce(%x: tensor<2x3xf32>, %b: tensor<0x3xi1>) {
  %0 = ascend.reduce "sum" %x axes [0, 1] : tensor<2x3xf32> to tensor<f32>
  %1 = ascend.reduce "prod" %x axes [1] keepdims : tensor<2x3xf32> to tensor<2x1xf32>
  %2 = ascend.reduce "mean" %x axes [] : tensor<2x3xf32> to tensor<2x3xf32>
  %3 = ascend.reduce "max" %b axes [1] : tensor<0x3xi1> to tensor<0xi1>
  %4 = ascend.reduce "min" %x axes [0] : tensor<2x3xf32> to tensor<3xf32>
  func.return
}

func.func @fused(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xi1>) {
  %0, %1 = ascend.fused (%x) {
  ^bb0(%a: tensor<4xf16>):
    %2 = ascend.exp %a : tensor<4xf16>
    %3 = ascend.compare "lt" %2, %a : tensor<4xf16> to tensor<4xi1>
    ascend.yield %2, %3 : tensor<4xf16>, tensor<4xi1>
  } : (tensor<4xf16>) -> (tensor<4xf16>, tensor<4xi1>)
  func.return %0, %1 : tensor<4xf16>, tensor<4xi1>
}

// CHECK: func.func @compare(%a: tensor<4xf32>, %b: tensor<4xf32>, %p: tensor<4xi1>) {
// CHECK-NEXT: %0 = ascend.compare "eq" %a, %b : tensor<4xf32> to tensor<4xi1>
// CHECK-NEXT: %1 = ascend.compare "ne" %a, %b : tensor<4xf32> to tensor<4xi1>
// CHECK-NEXT: %2 = ascend.compare "lt" %a, %b : tensor<4xf32> to tensor<4xi1>
// CHECK-NEXT: %3 = ascend.compare "le" %a, %b : tensor<4xf32> to tensor<4xi1>
// CHECK-NEXT: %4 = ascend.compare "gt" %a, %b : tensor<4xf32> to tensor<4xi1>
// CHECK-NEXT: %5 = ascend.compare "ge" %p, %p : tensor<4xi1> to tensor<4xi1>
// CHECK-NEXT: %6 = ascend.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT: %7 = ascend.clamp %a, %b, %b : tensor<4xf32>
// CHECK-NEXT: func.return
// CHECK: func.func @cast(%x: tensor<2x?xf32>, %i: tensor<ui8>) {
// CHECK-NEXT: %0 = ascend.cast %x : tensor<2x?xf32> to tensor<2x?xbf16>
// CHECK-NEXT: %1 = ascend.cast %x round "floor" : tensor<2x?xf32> to tensor<2x?xi32>
// CHECK-NEXT: %2 = ascend.cast %x round "ceil" : tensor<2x?xf32> to tensor<2x?xi32>
// CHECK-NEXT: %3 = ascend.cast %x round "round" : tensor<2x?xf32> to tensor<2x?xi32>
// CHECK-NEXT: %4 = ascend.cast %x round "trunc" : tensor<2x?xf32> to tensor<2x?xi32>
// CHECK-NEXT: %5 = ascend.cast %x round "odd" implicit : tensor<2x?xf32> to tensor<2x?xf16>
// CHECK-NEXT: %6 = ascend.cast %i implicit : tensor<ui8> to tensor<i1>
// CHECK-NEXT: func.return
// CHECK: func.func @movement(%x: tensor<2x3xi64>, %s: tensor<f32>, %u: tensor<?x4xui16>) {
// CHECK-NEXT: %0 = ascend.broadcast %x : tensor<2x3xi64> to tensor<5x2x3xi64>
// CHECK-NEXT: %1 = ascend.broadcast %s : tensor<f32> to tensor<1x?xf32>
// CHECK-NEXT: %2 = ascend.reshape %x : tensor<2x3xi64> to tensor<6x1xi64>
// CHECK-NEXT: %3 = ascend.reshape %u : tensor<?x4xui16> to tensor<?xui16>
// CHECK-NEXT: %4 = ascend.transpose %x [1, 0] : tensor<2x3xi64> to tensor<3x2xi64>
// CHECK-NEXT: %5 = ascend.transpose %s [] : tensor<f32> to tensor<f32>
// CHECK-NEXT: %6 = ascend.slice %x starts [1, 2] sizes [1, 2] steps [1, -2] : tensor<2x3xi64> to tensor<1x2xi64>
// CHECK-NEXT: %7 = ascend.slice %u starts [0, 1] sizes [-9223372036854775808, 2] steps [1, 1] : tensor<?x4xui16> to tensor<?x2xui16>
// CHECK-NEXT: %8 = ascend.concat %x, %x, %x axis 1 : tensor<2x3xi64>, tensor<2x3xi64>, tensor<2x3xi64> to tensor<2x9xi64>
// CHECK-NEXT: %9 = ascend.pad %s low [] high [] value 0xfff0000000000000 : f64 : tensor<f32> to tensor<f32>
// CHECK-NEXT: %10 = ascend.pad %x low [0, 1] high [2, 0] value -1 : i64 : tensor<2x3xi64> to tensor<4x4xi64>
// CHECK-NEXT: %11 = ascend.iota axis 1 : tensor<2x3xbf16>
// CHECK-NEXT: func.return
// CHECK: func.func @reduce(%x: tensor<2x3xf32>, %b: tensor<0x3xi1>) {
// CHECK-NEXT: %0 = ascend.reduce "sum" %x axes [0, 1] : tensor<2x3xf32> to tensor<f32>
// CHECK-NEXT: %1 = ascend.reduce "prod" %x axes [1] keepdims : tensor<2x3xf32> to tensor<2x1xf32>
// CHECK-NEXT: %2 = ascend.reduce "mean" %x axes [] : tensor<2x3xf32> to tensor<2x3xf32>
// CHECK-NEXT: %3 = ascend.reduce "max" %b axes [1] : tensor<0x3xi1> to tensor<0xi1>
// CHECK-NEXT: %4 = ascend.reduce "min" %x axes [0] : tensor<2x3xf32> to tensor<3xf32>
// CHECK-NEXT: func.return
// CHECK: func.func @fused(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xi1>) {
// CHECK-NEXT: %0, %1 = ascend.fused (%x) {
// CHECK-NEXT: ^bb0(%a: tensor<4xf16>):
// CHECK-NEXT: %2 = ascend.exp %a : tensor<4xf16>
// CHECK-NEXT: %3 = ascend.compare "lt" %2, %a : tensor<4xf16> to tensor<4xi1>
// CHECK-NEXT: ascend.yield %2, %3 : tensor<4xf16>, tensor<4xi1>
// CHECK-NEXT: } : (tensor<4xf16>) -> (tensor<4xf16>, tensor<4xi1>)
// CHECK-NEXT: func.return %0, %1 : tensor<4xf16>, tensor<4xi1>

// GENERIC: %0 = "ascend.compare"(%a, %b) <{predicate = "eq"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// GENERIC: %6 = "ascend.select"(%p, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// GENERIC: %7 = "ascend.clamp"(%a, %b, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// GENERIC: %0 = "ascend.cast"(%x) <{round = "rint"}> : (tensor<2x?xf32>) -> tensor<2x?xbf16>
// GENERIC: %0 = "ascend.broadcast"(%x) : (tensor<2x3xi64>) -> tensor<5x2x3xi64>
// GENERIC: %2 = "ascend.reshape"(%x) : (tensor<2x3xi64>) -> tensor<6x1xi64>
// GENERIC: %4 = "ascend.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xi64>) -> tensor<3x2xi64>
// GENERIC: %6 = "ascend.slice"(%x) <{starts = array<i64: 1, 2>, sizes = array<i64: 1, 2>, steps = array<i64: 1, -2>}> : (tensor<2x3xi64>) -> tensor<1x2xi64>
// GENERIC: %8 = "ascend.concat"(%x, %x, %x) <{axis = 1 : i64}> : (tensor<2x3xi64>, tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x9xi64>
// GENERIC: %9 = "ascend.pad"(%s) <{low = array<i64>, high = array<i64>, value = 0xfff0000000000000 : f64}> : (tensor<f32>) -> tensor<f32>
// GENERIC: %11 = "ascend.iota"() <{axis = 1 : i64}> : () -> tensor<2x3xbf16>
// GENERIC: %0 = "ascend.reduce"(%x) <{kind = "sum", axes = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<f32>
// GENERIC: %0, %1 = "ascend.fused"(%x) ({
// GENERIC: "ascend.yield"(%2, %3) : (tensor<4xf16>, tensor<4xi1>) -> ()
