// RUN: ASCIR_ROUNDTRIP
// RUN: ASCIR_GENERIC_ROUNDTRIP

// Every element-wise operator in both forms: floats, integers, bools; unknown, 0-d and empty shapes.

func.func @unary(%x: tensor<2x3xf16>, %i: tensor<7xi8>, %b: tensor<4xi1>) {
  %0 = ascend.abs %x : tensor<2x3xf16>
  %1 = ascend.neg %x : tensor<2x3xf16>
  %2 = ascend.sign %x : tensor<2x3xf16>
  %3 = ascend.exp %x : tensor<2x3xf16>
  %4 = ascend.exp2 %x : tensor<2x3xf16>
  %5 = ascend.expm1 %x : tensor<2x3xf16>
  %6 = ascend.log %x : tensor<2x3xf16>
  %7 = ascend.log2 %x : tensor<2x3xf16>
  %8 = ascend.log10 %x : tensor<2x3xf16>
  %9 = ascend.log1p %x : tensor<2x3xf16>
  %10 = ascend.sqrt %x : tensor<2x3xf16>
  %11 = ascend.rsqrt %x : tensor<2x3xf16>
  %12 = ascend.cbrt %x : tensor<2x3xf16>
  %13 = ascend.reciprocal %x : tensor<2x3xf16>
  %14 = ascend.sin %x : tensor<2x3xf16>
  %15 = ascend.cos %x : tensor<2x3xf16>
  %16 = ascend.tan %x : tensor<2x3xf16>
  %17 = ascend.asin %x : tensor<2x3xf16>
  %18 = ascend.acos %x : tensor<2x3xf16>
  %19 = ascend.atan %x : tensor<2x3xf16>
  %20 = ascend.sinh %x : tensor<2x3xf16>
  %21 = ascend.cosh %x : tensor<2x3xf16>
  %22 = ascend.tanh %x : tensor<2x3xf16>
  %23 = ascend.asinh %x : tensor<2x3xf16>
  %24 = ascend.acosh %x : tensor<2x3xf16>
  %25 = ascend.atanh %x : tensor<2x3xf16>
  %26 = ascend.erf %x : tensor<2x3xf16>
  %erfc = ascend.erfc %x : tensor<2x3xf16>
  %27 = ascend.relu %x : tensor<2x3xf16>
  %28 = ascend.floor %x : tensor<2x3xf16>
  %29 = ascend.ceil %x : tensor<2x3xf16>
  %30 = ascend.rint %x : tensor<2x3xf16>
  %31 = ascend.trunc %x : tensor<2x3xf16>
  %32 = ascend.abs %i : tensor<7xi8>
  %33 = ascend.neg %i : tensor<7xi8>
  %34 = ascend.sign %i : tensor<7xi8>
  %35 = ascend.relu %i : tensor<7xi8>
  %36 = ascend.not %b : tensor<4xi1>
  %37 = ascend.not %i : tensor<7xi8>
  func.return
}

func.func @binary(%x: tensor<?x3xbf16>, %y: tensor<?x3xbf16>, %i: tensor<ui64>, %b: tensor<0x4xi1>) {
  %0 = ascend.add %x, %y : tensor<?x3xbf16>
  %1 = ascend.sub %x, %y : tensor<?x3xbf16>
  %2 = ascend.mul %x, %y : tensor<?x3xbf16>
  %3 = ascend.div %x, %y : tensor<?x3xbf16>
  %4 = ascend.max %x, %y : tensor<?x3xbf16>
  %5 = ascend.min %x, %y : tensor<?x3xbf16>
  %6 = ascend.pow %x, %y : tensor<?x3xbf16>
  %7 = ascend.floor_div %x, %y : tensor<?x3xbf16>
  %8 = ascend.mod %x, %y : tensor<?x3xbf16>
  %9 = ascend.fmod %x, %y : tensor<?x3xbf16>
  %10 = ascend.atan2 %x, %y : tensor<?x3xbf16>
  %11 = ascend.hypot %x, %y : tensor<?x3xbf16>
  %12 = ascend.copysign %x, %y : tensor<?x3xbf16>
  %13 = ascend.add %i, %i : tensor<ui64>
  %14 = ascend.sub %i, %i : tensor<ui64>
  %15 = ascend.mul %i, %i : tensor<ui64>
  %16 = ascend.max %i, %i : tensor<ui64>
  %17 = ascend.min %i, %i : tensor<ui64>
  %18 = ascend.floor_div %i, %i : tensor<ui64>
  %19 = ascend.mod %i, %i : tensor<ui64>
  %20 = ascend.fmod %i, %i : tensor<ui64>
  %21 = ascend.and %i, %i : tensor<ui64>
  %22 = ascend.and %b, %b : tensor<0x4xi1>
  %23 = ascend.or %i, %i : tensor<ui64>
  %24 = ascend.or %b, %b : tensor<0x4xi1>
  %25 = ascend.xor %i, %i : tensor<ui64>
  %26 = ascend.xor %b, %b : tensor<0x4xi1>
  %27 = ascend.shl %i, %i : tensor<ui64>
  %28 = ascend.shr %i, %i : tensor<ui64>
  func.return
}

// CHECK: func.func @unary(%x: tensor<2x3xf16>, %i: tensor<7xi8>, %b: tensor<4xi1>) {
// CHECK-NEXT: %0 = ascend.abs %x : tensor<2x3xf16>
// CHECK-NEXT: %1 = ascend.neg %x : tensor<2x3xf16>
// CHECK-NEXT: %2 = ascend.sign %x : tensor<2x3xf16>
// CHECK-NEXT: %3 = ascend.exp %x : tensor<2x3xf16>
// CHECK-NEXT: %4 = ascend.exp2 %x : tensor<2x3xf16>
// CHECK-NEXT: %5 = ascend.expm1 %x : tensor<2x3xf16>
// CHECK-NEXT: %6 = ascend.log %x : tensor<2x3xf16>
// CHECK-NEXT: %7 = ascend.log2 %x : tensor<2x3xf16>
// CHECK-NEXT: %8 = ascend.log10 %x : tensor<2x3xf16>
// CHECK-NEXT: %9 = ascend.log1p %x : tensor<2x3xf16>
// CHECK-NEXT: %10 = ascend.sqrt %x : tensor<2x3xf16>
// CHECK-NEXT: %11 = ascend.rsqrt %x : tensor<2x3xf16>
// CHECK-NEXT: %12 = ascend.cbrt %x : tensor<2x3xf16>
// CHECK-NEXT: %13 = ascend.reciprocal %x : tensor<2x3xf16>
// CHECK-NEXT: %14 = ascend.sin %x : tensor<2x3xf16>
// CHECK-NEXT: %15 = ascend.cos %x : tensor<2x3xf16>
// CHECK-NEXT: %16 = ascend.tan %x : tensor<2x3xf16>
// CHECK-NEXT: %17 = ascend.asin %x : tensor<2x3xf16>
// CHECK-NEXT: %18 = ascend.acos %x : tensor<2x3xf16>
// CHECK-NEXT: %19 = ascend.atan %x : tensor<2x3xf16>
// CHECK-NEXT: %20 = ascend.sinh %x : tensor<2x3xf16>
// CHECK-NEXT: %21 = ascend.cosh %x : tensor<2x3xf16>
// CHECK-NEXT: %22 = ascend.tanh %x : tensor<2x3xf16>
// CHECK-NEXT: %23 = ascend.asinh %x : tensor<2x3xf16>
// CHECK-NEXT: %24 = ascend.acosh %x : tensor<2x3xf16>
// CHECK-NEXT: %25 = ascend.atanh %x : tensor<2x3xf16>
// CHECK-NEXT: %26 = ascend.erf %x : tensor<2x3xf16>
// CHECK-NEXT: %erfc = ascend.erfc %x : tensor<2x3xf16>
// CHECK-NEXT: %27 = ascend.relu %x : tensor<2x3xf16>
// CHECK-NEXT: %28 = ascend.floor %x : tensor<2x3xf16>
// CHECK-NEXT: %29 = ascend.ceil %x : tensor<2x3xf16>
// CHECK-NEXT: %30 = ascend.rint %x : tensor<2x3xf16>
// CHECK-NEXT: %31 = ascend.trunc %x : tensor<2x3xf16>
// CHECK-NEXT: %32 = ascend.abs %i : tensor<7xi8>
// CHECK-NEXT: %33 = ascend.neg %i : tensor<7xi8>
// CHECK-NEXT: %34 = ascend.sign %i : tensor<7xi8>
// CHECK-NEXT: %35 = ascend.relu %i : tensor<7xi8>
// CHECK-NEXT: %36 = ascend.not %b : tensor<4xi1>
// CHECK-NEXT: %37 = ascend.not %i : tensor<7xi8>
// CHECK-NEXT: func.return
// CHECK: func.func @binary(%x: tensor<?x3xbf16>, %y: tensor<?x3xbf16>, %i: tensor<ui64>, %b: tensor<0x4xi1>) {
// CHECK-NEXT: %0 = ascend.add %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %1 = ascend.sub %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %2 = ascend.mul %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %3 = ascend.div %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %4 = ascend.max %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %5 = ascend.min %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %6 = ascend.pow %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %7 = ascend.floor_div %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %8 = ascend.mod %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %9 = ascend.fmod %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %10 = ascend.atan2 %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %11 = ascend.hypot %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %12 = ascend.copysign %x, %y : tensor<?x3xbf16>
// CHECK-NEXT: %13 = ascend.add %i, %i : tensor<ui64>
// CHECK-NEXT: %14 = ascend.sub %i, %i : tensor<ui64>
// CHECK-NEXT: %15 = ascend.mul %i, %i : tensor<ui64>
// CHECK-NEXT: %16 = ascend.max %i, %i : tensor<ui64>
// CHECK-NEXT: %17 = ascend.min %i, %i : tensor<ui64>
// CHECK-NEXT: %18 = ascend.floor_div %i, %i : tensor<ui64>
// CHECK-NEXT: %19 = ascend.mod %i, %i : tensor<ui64>
// CHECK-NEXT: %20 = ascend.fmod %i, %i : tensor<ui64>
// CHECK-NEXT: %21 = ascend.and %i, %i : tensor<ui64>
// CHECK-NEXT: %22 = ascend.and %b, %b : tensor<0x4xi1>
// CHECK-NEXT: %23 = ascend.or %i, %i : tensor<ui64>
// CHECK-NEXT: %24 = ascend.or %b, %b : tensor<0x4xi1>
// CHECK-NEXT: %25 = ascend.xor %i, %i : tensor<ui64>
// CHECK-NEXT: %26 = ascend.xor %b, %b : tensor<0x4xi1>
// CHECK-NEXT: %27 = ascend.shl %i, %i : tensor<ui64>
// CHECK-NEXT: %28 = ascend.shr %i, %i : tensor<ui64>
// CHECK-NEXT: func.return

// GENERIC: %3 = "ascend.exp"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16>
// GENERIC: %0 = "ascend.add"(%x, %y) : (tensor<?x3xbf16>, tensor<?x3xbf16>) -> tensor<?x3xbf16>
// GENERIC: %27 = "ascend.shl"(%i, %i) : (tensor<ui64>, tensor<ui64>) -> tensor<ui64>
