// RUN: ASCIR_ROUNDTRIP
// RUN: ASCIR_GENERIC_ROUNDTRIP

// A kernel, its launch, and what it can ask of its core. The terminator may be left out.

ascend.kernel @k(%x: memref<4x?xf16, #ascend_memory.space<gm>>, %n: index, %s: f16) attributes {block_dim = 8 : i64} {
  %0 = ascend.block_idx
  %1 = ascend.block_num
  ascend.return
}

ascend.kernel @none() attributes {block_dim = 1 : i64, report = "nothing to hold"} {
}

func.func @f(%x: memref<4x?xf16, #ascend_memory.space<gm>>, %n: index, %s: f16) {
  ascend.launch @k(%x, %n, %s) : memref<4x?xf16, #ascend_memory.space<gm>>, index, f16
  ascend.launch @none() :
  func.return
}

// CHECK: ascend.kernel @k(%x: memref<4x?xf16, #ascend_memory.space<gm>>, %n: index, %s: f16) attributes {block_dim = 8 : i64} {
// CHECK-NEXT: %0 = ascend.block_idx
// CHECK-NEXT: %1 = ascend.block_num
// CHECK-NEXT: ascend.return
// CHECK: ascend.kernel @none() attributes {block_dim = 1 : i64, report = "nothing to hold"} {
// CHECK-NEXT: ascend.return
// CHECK: func.func @f(%x: memref<4x?xf16, #ascend_memory.space<gm>>, %n: index, %s: f16) {
// CHECK-NEXT: ascend.launch @k(%x, %n, %s) : memref<4x?xf16, #ascend_memory.space<gm>>, index, f16
// CHECK-NEXT: ascend.launch @none() :
// CHECK-NEXT: func.return

// GENERIC: "ascend.kernel"() <{sym_name = "k", function_type = (memref<4x?xf16, #ascend_memory.space<gm>>, index, f16) -> (), block_dim = 8 : i64}> ({
// GENERIC: %0 = "ascend.block_idx"() : () -> index
// GENERIC: %1 = "ascend.block_num"() : () -> index
// GENERIC: "ascend.return"() : () -> ()
// GENERIC: "ascend.launch"(%x, %n, %s) <{kernel = @k}> : (memref<4x?xf16, #ascend_memory.space<gm>>, index, f16) -> ()
