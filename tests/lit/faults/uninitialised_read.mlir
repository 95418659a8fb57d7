// A read of bytes that nothing wrote: here the last eight elements.

// RUN: not ascir run %s:part --input %{f32_64} 2>&1 | filecheck %s
// RUN: ascir run %s:all --input %{f32_64}

#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>

ascend.kernel @part(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<72xf32, #ub>
  %filled = ascend_memory.view %a at [0] sizes [64] strides [1] : memref<72xf32, #ub> to memref<64xf32, #ub>
  ascend_memory.copy %x to %filled : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_vector.exp %a into %a : memref<72xf32, #ub> into memref<72xf32, #ub>
}
// CHECK: ascir: the emulator found a fault:
// CHECK-NEXT: uninitialised_read.mlir:[[# @LINE - 3]]: uninitialised read: exp on V reads ub:a[256..288), which the kernel has not written;
// CHECK-SAME: fill it first (copy, duplicate)

ascend.kernel @all(%x: memref<64xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<72xf32, #ub>
  %filled = ascend_memory.view %a at [0] sizes [64] strides [1] : memref<72xf32, #ub> to memref<64xf32, #ub>
  ascend_memory.copy %x to %filled : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_vector.exp %filled into %filled : memref<64xf32, #ub> into memref<64xf32, #ub>
}
