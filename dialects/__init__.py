"""The three dialects: `ascend` (operators and kernels), `ascend_memory` (buffers, copies, flags), `ascend_vector` (SIMD)."""
