// RUN: ascir-opt %s -p plan-memory --split-input-file | filecheck %s
// RUN: ascir-opt %s -p "plan-memory{share=true}" --split-input-file | filecheck %s --check-prefix=SHARE
// RUN: ascir-opt %s -p 'plan-memory{target="ascend910b{ub=64}"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix=SMALL

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @stages(%x: memref<16xf32, #gm>, %y: memref<16xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<16xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<16xf32, #ub>
  ascend_memory.copy %x to %a : memref<16xf32, #gm> to memref<16xf32, #ub>
  ascend_memory.copy %a to %y : memref<16xf32, #ub> to memref<16xf32, #gm>
  ascend_memory.copy %x to %b : memref<16xf32, #gm> to memref<16xf32, #ub>
  ascend_memory.copy %b to %y : memref<16xf32, #ub> to memref<16xf32, #gm>
}
// CHECK: memory_report = {ub = {capacity = 196608 : i64, peak = 128 : i64, buffers = {a = array<i64: 0, 64, 0, 1>, b = array<i64: 64, 64, 2, 3>}}}
// CHECK-NEXT: ascend_memory.alloc "a" at 0
// CHECK-NEXT: ascend_memory.alloc "b" at 64
// SHARE: peak = 64 : i64
// SHARE-NEXT: ascend_memory.alloc "a" at 0
// SHARE-NEXT: ascend_memory.alloc "b" at 0
// SMALL: ascend_memory.alloc "a" at 0
// SMALL-NEXT: ascend_memory.alloc "b" at 0

// -----

// A given offset stays, and others are placed around it.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @by_hand(%x: memref<8xf32, #gm>, %y: memref<8xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<8xf32, #ub>
  %b = ascend_memory.alloc "b" at 0 : memref<8xf32, #ub>
  ascend_memory.copy %x to %a : memref<8xf32, #gm> to memref<8xf32, #ub>
  ascend_vector.exp %a into %b : memref<8xf32, #ub> into memref<8xf32, #ub>
  ascend_memory.copy %b to %y : memref<8xf32, #ub> to memref<8xf32, #gm>
}
// CHECK: ascend_memory.alloc "a" at 32
// CHECK-NEXT: ascend_memory.alloc "b" at 0

// -----

#ub = #ascend_memory.space<ub>
ascend.kernel @too_much() {
  %a = ascend_memory.alloc "a" : memref<16xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<8xf32, #ub>
  ascend_vector.exp %a into %a : memref<16xf32, #ub> into memref<16xf32, #ub>
  ascend_vector.exp %b into %b : memref<8xf32, #ub> into memref<8xf32, #ub>
  ascend_vector.exp %a into %a : memref<16xf32, #ub> into memref<16xf32, #ub>
}
// SMALL: plan-memory: ascend.kernel @too_much needs 96 B of ub, and ascend910b has 64 B.
// SMALL: Live at ascend_vector.exp (plan_memory.mlir:{{[0-9]+}}): a 64 B, b 32 B.
// SMALL-NEXT: Try a smaller tile, a narrower dtype, or buffers that live less long.
