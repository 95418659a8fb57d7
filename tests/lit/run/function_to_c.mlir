// The whole way from operators to C in one command: copy in, instructions ordered by flags and barriers, copy out, each with its line.

// RUN: ascir-opt %s -O2 -t c | filecheck %s

func.func @shifted(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = ascend.exp %x : tensor<64xf32>
  %y = ascend.add %e, %x : tensor<64xf32>
  func.return %y : tensor<64xf32>
}
// CHECK:      #include "ascir_core.h"
// CHECK:      // shifted_0: block_dim 1
// CHECK-NEXT: static __aicore__ void shifted_0(__gm__ const float *x, __gm__ float *out) {
// CHECK:        __local__ float *x_tile = __alloc_ub(float, 0, 64, "
// CHECK:        __memcpy_async(x_tile, x, 64 * sizeof(float));
// CHECK-NEXT:   __set_flag(PIPE_MTE2, PIPE_V, 0);
// CHECK-NEXT:   __wait_flag(PIPE_MTE2, PIPE_V, 0);
// CHECK:        __hcc_exp(exp, x_tile, 64);  // function_to_c.mlir:[[# @LINE - 11]]
// CHECK:        __pipe_barrier(PIPE_V);
// CHECK-NEXT:   __hcc_add(add, exp, x_tile, 64);  // function_to_c.mlir:[[# @LINE - 12]]
// CHECK-NEXT:   __set_flag(PIPE_V, PIPE_MTE3, 0);
// CHECK-NEXT:   __wait_flag(PIPE_V, PIPE_MTE3, 0);
// CHECK-NEXT:   __memcpy_async(out, add, 64 * sizeof(float));
// CHECK:      ASCIR_KERNEL(shifted_0) { shifted_0(__arg(0).p, __arg(1).p); }
