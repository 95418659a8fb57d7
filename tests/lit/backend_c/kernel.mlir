// RUN: ascir-opt %s -t c | filecheck %s

// CHECK:      #include "ascir_core.h"
// CHECK:      static __aicore__ void f(__gm__ const half *x, __gm__ float *y, int64_t n, float s) {
// CHECK-NEXT:   __local__ half *x_tile = __alloc_ub(half, 0, 256, "x_tile");
// CHECK-NEXT:   __local__ float *t = __alloc_ub(float, 512, 256, "t");
// CHECK-NEXT:   __local__ uint8_t *m = __alloc_ub(uint8_t, 1536, 32, "m");
// CHECK-NEXT:   for (int64_t i = __block_idx; i < n; i += __block_num) {
// CHECK-NEXT:     const int64_t o = i * 256;
// CHECK-NEXT:     __memcpy_async(x_tile, x + o, 256 * sizeof(half));
// CHECK-NEXT:     __set_flag(PIPE_MTE2, PIPE_V, 0);
// CHECK-NEXT:     __wait_flag(PIPE_MTE2, PIPE_V, 0);
// CHECK-NEXT:     __hcc_cast(t, x_tile, ROUND_RINT, 256);
// CHECK-NEXT:     __pipe_barrier(PIPE_V);
// CHECK-NEXT:     __hcc_muls(t, t, s, 256);
// CHECK-NEXT:     __hcc_adds(t, t, 0.5f, 256);
// CHECK-NEXT:     __hcc_compares_gt(m, t, -INFINITY, 256);
// CHECK-NEXT:     __hcc_selects(t, m, t, NAN, 256);
// CHECK-NEXT:     __hcc_add_2d(__t(t, 4, 64, 64, 1), __t(t, 4, 64, 64, 1), __t(t, 4, 64, 0, 1));
// CHECK-NEXT:     __memcpy_async_2d(__t(y + o, 4, 64, 128, 1), __t(t, 4, 64, 64, 1));
// CHECK-NEXT:     const float v = __scalar_load(t + i);
// CHECK-NEXT:     const bool c = i < n;
// CHECK-NEXT:     if (c) {
// CHECK-NEXT:       __scalar_store(t + i, v);
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: ASCIR_KERNEL(f) { f(__arg(0).p, __arg(1).p, __arg(2).i, __arg(3).f); }
ascend.kernel @f(%x: memref<?xf16, #ascend_memory.space<gm>>, %y: memref<?xf32, #ascend_memory.space<gm>>, %n: index, %s: f32) attributes {block_dim = 2 : i64} {
  %c256 = arith.constant 256 : index
  %half = arith.constant 0.5 : f32
  %inf = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %x_tile = ascend_memory.alloc "x_tile" at 0 : memref<256xf16, #ascend_memory.space<ub>>
  %t = ascend_memory.alloc "t" at 512 : memref<256xf32, #ascend_memory.space<ub>>
  %m = ascend_memory.alloc "m" at 1536 : memref<32xui8, #ascend_memory.space<ub>>
  %b = ascend.block_idx
  %k = ascend.block_num
  scf.for %i = %b to %n step %k {
    %o = arith.muli %i, %c256 : index
    %xv = ascend_memory.view %x at [%o] sizes [256] strides [1] : memref<?xf16, #ascend_memory.space<gm>> to memref<256xf16, strided<[1], offset: ?>, #ascend_memory.space<gm>>
    ascend_memory.copy %xv to %x_tile : memref<256xf16, strided<[1], offset: ?>, #ascend_memory.space<gm>> to memref<256xf16, #ascend_memory.space<ub>>
    ascend_memory.set_flag mte2 to v, 0
    ascend_memory.wait_flag mte2 to v, 0
    ascend_vector.cast %x_tile into %t : memref<256xf16, #ascend_memory.space<ub>> into memref<256xf32, #ascend_memory.space<ub>>
    ascend_memory.barrier v
    ascend_vector.muls %t, %s into %t : memref<256xf32, #ascend_memory.space<ub>>, f32 into memref<256xf32, #ascend_memory.space<ub>>
    ascend_vector.adds %t, %half into %t : memref<256xf32, #ascend_memory.space<ub>>, f32 into memref<256xf32, #ascend_memory.space<ub>>
    ascend_vector.compares_gt %t, %inf into %m : memref<256xf32, #ascend_memory.space<ub>>, f32 into memref<32xui8, #ascend_memory.space<ub>>
    ascend_vector.selects %m, %t, %nan into %t : memref<32xui8, #ascend_memory.space<ub>>, memref<256xf32, #ascend_memory.space<ub>>, f32 into memref<256xf32, #ascend_memory.space<ub>>
    %t2 = ascend_memory.view %t at [0] sizes [4, 64] strides [64, 1] : memref<256xf32, #ascend_memory.space<ub>> to memref<4x64xf32, #ascend_memory.space<ub>>
    %t0 = ascend_memory.view %t at [0] sizes [4, 64] strides [0, 1] : memref<256xf32, #ascend_memory.space<ub>> to memref<4x64xf32, strided<[0, 1]>, #ascend_memory.space<ub>>
    ascend_vector.add %t2, %t0 into %t2 : memref<4x64xf32, #ascend_memory.space<ub>>, memref<4x64xf32, strided<[0, 1]>, #ascend_memory.space<ub>> into memref<4x64xf32, #ascend_memory.space<ub>>
    %yv = ascend_memory.view %y at [%o] sizes [4, 64] strides [128, 1] : memref<?xf32, #ascend_memory.space<gm>> to memref<4x64xf32, strided<[128, 1], offset: ?>, #ascend_memory.space<gm>>
    ascend_memory.copy %t2 to %yv : memref<4x64xf32, #ascend_memory.space<ub>> to memref<4x64xf32, strided<[128, 1], offset: ?>, #ascend_memory.space<gm>>
    %v = memref.load %t[%i] : memref<256xf32, #ascend_memory.space<ub>>
    %c = arith.cmpi slt, %i, %n : index
    scf.if %c {
      memref.store %v, %t[%i] : memref<256xf32, #ascend_memory.space<ub>>
    }
  }
}
