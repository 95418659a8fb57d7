// 196 608 B of buffers that live together fit in UB; one block more does not, and the message lists who holds what.

// RUN: not ascir run %s:more --input %{f32_64} 2>&1 | filecheck %s
// RUN: ascir run %s:full --input %{f32_64} --profile | filecheck %s --check-prefix=FULL
// FULL: result 0: float32[64] = 0 2 4 6 8 10 …
// FULL: UB peak 196608 B

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @more(%x: memref<64xf32, #gm>, %y: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %rest = ascend_memory.alloc "rest" : memref<49096xf32, #ub>
  %part = ascend_memory.view %rest at [0] sizes [64] strides [1] : memref<49096xf32, #ub> to memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_vector.add %a, %a into %part : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.copy %part to %y : memref<64xf32, #ub> to memref<64xf32, #gm>
}
// CHECK: capacity.mlir:[[# @LINE - 8]]:1: error: plan-memory: ascend.kernel @more needs 196640 B of ub, and ascend910b has 196608 B.
// CHECK: Live at ascend_vector.add (capacity.mlir:[[# @LINE - 4]]): rest 196384 B, a 256 B.

ascend.kernel @full(%x: memref<64xf32, #gm>, %y: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  %rest = ascend_memory.alloc "rest" : memref<49088xf32, #ub>
  %part = ascend_memory.view %rest at [0] sizes [64] strides [1] : memref<49088xf32, #ub> to memref<64xf32, #ub>
  ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_vector.add %a, %a into %part : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.copy %part to %y : memref<64xf32, #ub> to memref<64xf32, #gm>
}
