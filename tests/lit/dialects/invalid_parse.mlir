// RUN: ASCIR_PARSE_DIAG

// What the parsers of the three dialects say.

func.func @f(%x: memref<8xf32, #ascend_memory.space<l9>>) { func.return }
// CHECK: Expected `gm`, `l1`, `l0a`, `l0b`, `l0c`, `ub`, `bt`, or `fb`.

// -----

func.func @f() {
  ascend_memory.barrier vector
  func.return
}
// CHECK: Expected `s`, `v`, `m`, `mte1`, `mte2`, `mte3`, `fixp`, or `all`.

// -----

ascend.kernel @k(%x: memref<4xf32, #ascend_memory.space<gm>>) -> f32 { }
// CHECK: ascend.kernel has no results; it writes its GM arguments

// -----

ascend.kernel @k() attributes {block_dim = "all"} { }
// CHECK: block_dim is a number of cores, not "all"
