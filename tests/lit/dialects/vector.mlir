// RUN: ASCIR_ROUNDTRIP
// RUN: ASCIR_GENERIC_ROUNDTRIP

// Every instruction in both forms: one line each, then repeated sources, the two axes of a reduction, and rarer types.

func.func @unary(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %i: memref<16x64xi16, #ascend_memory.space<ub>>) {
  ascend_vector.abs %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.exp %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.ln %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.sqrt %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.rsqrt %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.reciprocal %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.relu %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.not %i into %i : memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
  ascend_vector.sign %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.floor %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.ceil %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.rint %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.trunc %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.exp2 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.expm1 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.log1p %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.log2 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.log10 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.cbrt %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.sin %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.cos %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.tan %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.asin %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.acos %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.atan %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.sinh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.cosh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.tanh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.asinh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.acosh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.atanh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.erf %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.erfc %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  func.return
}

func.func @binary(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %f2: memref<16x64xf32, #ascend_memory.space<ub>>, %i: memref<16x64xi16, #ascend_memory.space<ub>>, %i2: memref<16x64xi16, #ascend_memory.space<ub>>) {
  ascend_vector.add %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.sub %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.mul %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.div %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.max %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.min %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.and %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
  ascend_vector.or %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
  ascend_vector.xor %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
  ascend_vector.shl %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
  ascend_vector.shr %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
  ascend_vector.floor_div %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.mod %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.fmod %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.pow %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.atan2 %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.hypot %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.copysign %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  func.return
}

func.func @scalar(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %fs: f32, %i: memref<16x64xi16, #ascend_memory.space<ub>>, %is: i16) {
  ascend_vector.adds %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.muls %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.maxs %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.mins %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.shls %i, %is into %i : memref<16x64xi16, #ascend_memory.space<ub>>, i16 into memref<16x64xi16, #ascend_memory.space<ub>>
  ascend_vector.shrs %i, %is into %i : memref<16x64xi16, #ascend_memory.space<ub>>, i16 into memref<16x64xi16, #ascend_memory.space<ub>>
  func.return
}

func.func @compare(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %f2: memref<16x64xf32, #ascend_memory.space<ub>>, %m: memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, %fs: f32) {
  ascend_vector.compare_eq %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compare_ne %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compare_lt %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compare_le %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compare_gt %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compare_ge %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compares_eq %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compares_ne %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compares_lt %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compares_le %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compares_gt %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  ascend_vector.compares_ge %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
  func.return
}

func.func @select(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %f2: memref<16x64xf32, #ascend_memory.space<ub>>, %m: memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, %fs: f32) {
  ascend_vector.select %m, %f, %f2 into %f : memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.selects %m, %f, %fs into %f : memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
  func.return
}

func.func @fill(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %fs: f32) {
  ascend_vector.duplicate %fs into %f : f32 into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.iota %fs into %f : f32 into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.copy %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  func.return
}

func.func @cast(%h: memref<16x64xf16, #ascend_memory.space<ub>>, %f: memref<16x64xf32, #ascend_memory.space<ub>>, %i: memref<16x64xi32, #ascend_memory.space<ub>>) {
  ascend_vector.cast %h into %f : memref<16x64xf16, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  ascend_vector.cast %f into %h round "odd" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf16, #ascend_memory.space<ub>>
  ascend_vector.cast %f into %i round "floor" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
  ascend_vector.cast %f into %i round "ceil" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
  ascend_vector.cast %f into %i round "round" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
  ascend_vector.cast %f into %i round "trunc" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
  func.return
}

func.func @rows_and_blocks(%a: memref<16x64xf32, #ascend_memory.space<ub>>, %r: memref<16xf32, #ascend_memory.space<ub>>, %b: memref<16x8xf32, #ascend_memory.space<ub>>, %c: memref<64xf32, #ascend_memory.space<ub>>) {
  ascend_vector.block_broadcast %r into %b : memref<16xf32, #ascend_memory.space<ub>> into memref<16x8xf32, #ascend_memory.space<ub>>
  %block = ascend_memory.view %b at [0] sizes [16, 64] strides [8, 0] : memref<16x8xf32, #ascend_memory.space<ub>> to memref<16x64xf32, strided<[8, 0]>, #ascend_memory.space<ub>>
  %row = ascend_memory.view %c at [0] sizes [16, 64] strides [0, 1] : memref<64xf32, #ascend_memory.space<ub>> to memref<16x64xf32, strided<[0, 1]>, #ascend_memory.space<ub>>
  ascend_vector.add %block, %row into %a : memref<16x64xf32, strided<[8, 0]>, #ascend_memory.space<ub>>, memref<16x64xf32, strided<[0, 1]>, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
  func.return
}

func.func @reduce(%a: memref<16x64xf32, #ascend_memory.space<ub>>, %r: memref<16xf32, #ascend_memory.space<ub>>, %c: memref<64xf32, #ascend_memory.space<ub>>, %w: memref<512xf32, #ascend_memory.space<ub>>) {
  ascend_vector.reduce_sum %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
  ascend_vector.reduce_max %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
  ascend_vector.reduce_min %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
  ascend_vector.reduce_prod %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
  ascend_vector.reduce_sum %a into %c work %w axis 0 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<64xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
  func.return
}

func.func @other_types_and_sizes(%d: memref<?xi64, #ascend_memory.space<ub>>, %e: memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>>, %s: i64, %p: memref<7xi1, #ascend_memory.space<ub>>, %t: i1, %b: memref<7xbf16, #ascend_memory.space<ub>>, %k: bf16) {
  ascend_vector.adds %d, %s into %d : memref<?xi64, #ascend_memory.space<ub>>, i64 into memref<?xi64, #ascend_memory.space<ub>>
  ascend_vector.xor %e, %e into %e : memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>>, memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>> into memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>>
  ascend_vector.and %p, %p into %p : memref<7xi1, #ascend_memory.space<ub>>, memref<7xi1, #ascend_memory.space<ub>> into memref<7xi1, #ascend_memory.space<ub>>
  ascend_vector.duplicate %t into %p : i1 into memref<7xi1, #ascend_memory.space<ub>>
  ascend_vector.duplicate %k into %b : bf16 into memref<7xbf16, #ascend_memory.space<ub>>
  func.return
}

// CHECK: func.func @unary(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %i: memref<16x64xi16, #ascend_memory.space<ub>>) {
// CHECK-NEXT: ascend_vector.abs %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.exp %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.ln %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.sqrt %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.rsqrt %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.reciprocal %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.relu %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.not %i into %i : memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.sign %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.floor %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.ceil %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.rint %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.trunc %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.exp2 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.expm1 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.log1p %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.log2 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.log10 %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cbrt %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.sin %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cos %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.tan %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.asin %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.acos %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.atan %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.sinh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cosh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.tanh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.asinh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.acosh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.atanh %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.erf %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.erfc %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @binary(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %f2: memref<16x64xf32, #ascend_memory.space<ub>>, %i: memref<16x64xi16, #ascend_memory.space<ub>>, %i2: memref<16x64xi16, #ascend_memory.space<ub>>) {
// CHECK-NEXT: ascend_vector.add %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.sub %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.mul %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.div %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.max %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.min %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.and %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.or %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.xor %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.shl %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.shr %i, %i2 into %i : memref<16x64xi16, #ascend_memory.space<ub>>, memref<16x64xi16, #ascend_memory.space<ub>> into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.floor_div %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.mod %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.fmod %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.pow %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.atan2 %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.hypot %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.copysign %f, %f2 into %f : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @scalar(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %fs: f32, %i: memref<16x64xi16, #ascend_memory.space<ub>>, %is: i16) {
// CHECK-NEXT: ascend_vector.adds %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.muls %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.maxs %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.mins %f, %fs into %f : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.shls %i, %is into %i : memref<16x64xi16, #ascend_memory.space<ub>>, i16 into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.shrs %i, %is into %i : memref<16x64xi16, #ascend_memory.space<ub>>, i16 into memref<16x64xi16, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @compare(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %f2: memref<16x64xf32, #ascend_memory.space<ub>>, %m: memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, %fs: f32) {
// CHECK-NEXT: ascend_vector.compare_eq %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compare_ne %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compare_lt %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compare_le %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compare_gt %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compare_ge %f, %f2 into %m : memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compares_eq %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compares_ne %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compares_lt %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compares_le %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compares_gt %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.compares_ge %f, %fs into %m : memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @select(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %f2: memref<16x64xf32, #ascend_memory.space<ub>>, %m: memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, %fs: f32) {
// CHECK-NEXT: ascend_vector.select %m, %f, %f2 into %f : memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.selects %m, %f, %fs into %f : memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, f32 into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @fill(%f: memref<16x64xf32, #ascend_memory.space<ub>>, %fs: f32) {
// CHECK-NEXT: ascend_vector.duplicate %fs into %f : f32 into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.iota %fs into %f : f32 into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.copy %f into %f : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @cast(%h: memref<16x64xf16, #ascend_memory.space<ub>>, %f: memref<16x64xf32, #ascend_memory.space<ub>>, %i: memref<16x64xi32, #ascend_memory.space<ub>>) {
// CHECK-NEXT: ascend_vector.cast %h into %f : memref<16x64xf16, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cast %f into %h round "odd" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xf16, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cast %f into %i round "floor" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cast %f into %i round "ceil" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cast %f into %i round "round" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.cast %f into %i round "trunc" : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16x64xi32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @rows_and_blocks(%a: memref<16x64xf32, #ascend_memory.space<ub>>, %r: memref<16xf32, #ascend_memory.space<ub>>, %b: memref<16x8xf32, #ascend_memory.space<ub>>, %c: memref<64xf32, #ascend_memory.space<ub>>) {
// CHECK-NEXT: ascend_vector.block_broadcast %r into %b : memref<16xf32, #ascend_memory.space<ub>> into memref<16x8xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: %block = ascend_memory.view %b at [0] sizes [16, 64] strides [8, 0] : memref<16x8xf32, #ascend_memory.space<ub>> to memref<16x64xf32, strided<[8, 0]>, #ascend_memory.space<ub>>
// CHECK-NEXT: %row = ascend_memory.view %c at [0] sizes [16, 64] strides [0, 1] : memref<64xf32, #ascend_memory.space<ub>> to memref<16x64xf32, strided<[0, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.add %block, %row into %a : memref<16x64xf32, strided<[8, 0]>, #ascend_memory.space<ub>>, memref<16x64xf32, strided<[0, 1]>, #ascend_memory.space<ub>> into memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @reduce(%a: memref<16x64xf32, #ascend_memory.space<ub>>, %r: memref<16xf32, #ascend_memory.space<ub>>, %c: memref<64xf32, #ascend_memory.space<ub>>, %w: memref<512xf32, #ascend_memory.space<ub>>) {
// CHECK-NEXT: ascend_vector.reduce_sum %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.reduce_max %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.reduce_min %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.reduce_prod %a into %r work %w axis 1 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<16xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.reduce_sum %a into %c work %w axis 0 : memref<16x64xf32, #ascend_memory.space<ub>> into memref<64xf32, #ascend_memory.space<ub>> work memref<512xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @other_types_and_sizes(%d: memref<?xi64, #ascend_memory.space<ub>>, %e: memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>>, %s: i64, %p: memref<7xi1, #ascend_memory.space<ub>>, %t: i1, %b: memref<7xbf16, #ascend_memory.space<ub>>, %k: bf16) {
// CHECK-NEXT: ascend_vector.adds %d, %s into %d : memref<?xi64, #ascend_memory.space<ub>>, i64 into memref<?xi64, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.xor %e, %e into %e : memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>>, memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>> into memref<?x?xui16, strided<[?, 1], offset: ?>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.and %p, %p into %p : memref<7xi1, #ascend_memory.space<ub>>, memref<7xi1, #ascend_memory.space<ub>> into memref<7xi1, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.duplicate %t into %p : i1 into memref<7xi1, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_vector.duplicate %k into %b : bf16 into memref<7xbf16, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return

// GENERIC: "ascend_vector.exp"(%f, %f) : (memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.add"(%f, %f2, %f) : (memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.adds"(%f, %fs, %f) : (memref<16x64xf32, #ascend_memory.space<ub>>, f32, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.compare_lt"(%f, %f2, %m) : (memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.compares_lt"(%f, %fs, %m) : (memref<16x64xf32, #ascend_memory.space<ub>>, f32, memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.select"(%m, %f, %f2, %f) : (memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.selects"(%m, %f, %fs, %f) : (memref<16x8xui8, strided<[32, 1]>, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>, f32, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.duplicate"(%fs, %f) : (f32, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.iota"(%fs, %f) : (f32, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.copy"(%f, %f) : (memref<16x64xf32, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.cast"(%h, %f) <{round = "rint"}> : (memref<16x64xf16, #ascend_memory.space<ub>>, memref<16x64xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.block_broadcast"(%r, %b) : (memref<16xf32, #ascend_memory.space<ub>>, memref<16x8xf32, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_vector.reduce_sum"(%a, %w, %r) <{axis = 1 : i64}> : (memref<16x64xf32, #ascend_memory.space<ub>>, memref<512xf32, #ascend_memory.space<ub>>, memref<16xf32, #ascend_memory.space<ub>>) -> ()
