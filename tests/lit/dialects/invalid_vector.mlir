// RUN: ASCIR_VERIFY_DIAG

// What the verifiers of ascend_vector say, once each.

func.func @f(%a: memref<8xf32, #ascend_memory.space<gm>>, %d: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %d : memref<8xf32, #ascend_memory.space<gm>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp needs operands in ub; %a is in gm. Copy it first: ascend_memory.copy

// -----

func.func @f(%d: memref<8xf32, #ascend_memory.space<l1>>, %a: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %d : memref<8xf32, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<l1>>
  func.return
}
// CHECK: ascend_vector.exp needs operands in ub; %d is in l1. Copy it first: ascend_memory.copy

// -----

func.func @f(%a: memref<8xf32>) {
  ascend_vector.exp %a into %a : memref<8xf32> into memref<8xf32>
  func.return
}
// CHECK: memref memref<8xf32> needs a memory space such as #ascend_memory.space<ub>

// -----

func.func @f(%a: memref<8xi32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %a : memref<8xi32, #ascend_memory.space<ub>> into memref<8xi32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp has no i32 form; it takes f16, f32

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.and %a, %a into %a : memref<8xf32, #ascend_memory.space<ub>>, memref<8xf32, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.and has no f32 form; it takes i8, ui8, i16, ui16, i32, ui32, i64, ui64, i1

// -----

func.func @f(%a: memref<f32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %a : memref<f32, #ascend_memory.space<ub>> into memref<f32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp works on 1-d or 2-d buffers, got rank 0; take a view

// -----

func.func @f(%a: memref<2x2x8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %a : memref<2x2x8xf32, #ascend_memory.space<ub>> into memref<2x2x8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp works on 1-d or 2-d buffers, got rank 3; take a view

// -----

func.func @f(%a: memref<f32, #ascend_memory.space<ub>>, %s: f32, %m: memref<ui8, #ascend_memory.space<ub>>) {
  ascend_vector.compares_lt %a, %s into %m : memref<f32, #ascend_memory.space<ub>>, f32 into memref<ui8, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.compares_lt works on 1-d or 2-d buffers, got rank 0; take a view

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %b: memref<8xf16, #ascend_memory.space<ub>>) {
  ascend_vector.add %a, %b into %a : memref<8xf32, #ascend_memory.space<ub>>, memref<8xf16, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.add has operands of f16 and f32; they must agree (ascend_vector.cast converts)

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %b: memref<16xf32, #ascend_memory.space<ub>>) {
  ascend_vector.add %a, %b into %a : memref<8xf32, #ascend_memory.space<ub>>, memref<16xf32, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.add: %b has shape [16]; expected [8]

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %b: memref<1x8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.add %a, %b into %a : memref<8xf32, #ascend_memory.space<ub>>, memref<1x8xf32, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.add: %b has shape [1, 8]; expected [8]

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %s: f16) {
  ascend_vector.adds %a, %s into %a : memref<8xf32, #ascend_memory.space<ub>>, f16 into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.adds on f32 takes a scalar of type f32, got f16

// -----

func.func @f(%a: memref<8xui32, #ascend_memory.space<ub>>, %s: ui32) {
  ascend_vector.adds %a, %s into %a : memref<8xui32, #ascend_memory.space<ub>>, ui32 into memref<8xui32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.adds on ui32 takes a scalar of type i32, got ui32

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %s: i32) {
  ascend_vector.duplicate %s into %a : i32 into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.duplicate on f32 takes a scalar of type f32, got i32

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %d: memref<16xf32, strided<[0]>, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %d : memref<8xf32, #ascend_memory.space<ub>> into memref<16xf32, strided<[0]>, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp: %a has shape [8]; expected [16]

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %d: memref<8xf32, strided<[0]>, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %d : memref<8xf32, #ascend_memory.space<ub>> into memref<8xf32, strided<[0]>, #ascend_memory.space<ub>>
  func.return
}
// CHECK: has stride 0; only a source may repeat

// -----

func.func @f(%a: memref<4x8xf32, #ascend_memory.space<ub>>, %d: memref<4x8xf32, strided<[0, 1]>, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %d : memref<4x8xf32, #ascend_memory.space<ub>> into memref<4x8xf32, strided<[0, 1]>, #ascend_memory.space<ub>>
  func.return
}
// CHECK: has stride 0; only a source may repeat

// -----

func.func @f(%a: memref<8xf32, strided<[1], offset: 4>, #ascend_memory.space<ub>>, %d: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %d : memref<8xf32, strided<[1], offset: 4>, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp: operand starts at byte 16 of its buffer; expected a multiple of 32

// -----

func.func @f(%a: memref<8xf32, strided<[2]>, #ascend_memory.space<ub>>, %d: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %d : memref<8xf32, strided<[2]>, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp: elements of a row lie 2 apart; a vector instruction reads contiguous elements

// -----

func.func @f(%a: memref<4x7xf32, #ascend_memory.space<ub>>) {
  ascend_vector.exp %a into %a : memref<4x7xf32, #ascend_memory.space<ub>> into memref<4x7xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.exp: rows lie 28 B apart; expected a multiple of 32

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %m: memref<1xi8, #ascend_memory.space<ub>>) {
  ascend_vector.compare_lt %a, %a into %m : memref<8xf32, #ascend_memory.space<ub>>, memref<8xf32, #ascend_memory.space<ub>> into memref<1xi8, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.compare_lt: a mask holds bits in bytes of ui8, got i8

// -----

func.func @f(%a: memref<9xf32, #ascend_memory.space<ub>>, %m: memref<1xui8, #ascend_memory.space<ub>>) {
  ascend_vector.compare_lt %a, %a into %m : memref<9xf32, #ascend_memory.space<ub>>, memref<9xf32, #ascend_memory.space<ub>> into memref<1xui8, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.compare_lt: %m has shape [1]; expected [2]

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %b: memref<16xf16, #ascend_memory.space<ub>>, %m: memref<1xui8, #ascend_memory.space<ub>>) {
  ascend_vector.compare_lt %a, %b into %m : memref<8xf32, #ascend_memory.space<ub>>, memref<16xf16, #ascend_memory.space<ub>> into memref<1xui8, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.compare_lt has operands of f16 and f32; they must agree (ascend_vector.cast converts)

// -----

func.func @f(%a: memref<8xbf16, #ascend_memory.space<ub>>, %m: memref<1xui8, #ascend_memory.space<ub>>) {
  ascend_vector.compare_lt %a, %a into %m : memref<8xbf16, #ascend_memory.space<ub>>, memref<8xbf16, #ascend_memory.space<ub>> into memref<1xui8, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.compare_lt has no bf16 form; it takes f16, f32, i8, ui8, i16, ui16, i32, ui32, i64, ui64

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %s: f16, %m: memref<1xui8, #ascend_memory.space<ub>>) {
  ascend_vector.compares_lt %a, %s into %m : memref<8xf32, #ascend_memory.space<ub>>, f16 into memref<1xui8, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.compares_lt on f32 takes a scalar of type f32, got f16

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %m: memref<8xi1, #ascend_memory.space<ub>>) {
  ascend_vector.select %m, %a, %a into %a : memref<8xi1, #ascend_memory.space<ub>>, memref<8xf32, #ascend_memory.space<ub>>, memref<8xf32, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.select: a mask holds bits in bytes of ui8, got i1

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %s: f32, %m: memref<2xui8, #ascend_memory.space<ub>>) {
  ascend_vector.selects %m, %a, %s into %a : memref<2xui8, #ascend_memory.space<ub>>, memref<8xf32, #ascend_memory.space<ub>>, f32 into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.selects: %m has shape [2]; expected [1]

// -----

func.func @f(%a: memref<16xf16, #ascend_memory.space<ub>>, %b: memref<16xbf16, #ascend_memory.space<ub>>) {
  ascend_vector.cast %a into %b : memref<16xf16, #ascend_memory.space<ub>> into memref<16xbf16, #ascend_memory.space<ub>>
  func.return
}
// CHECK: no direct cast f16 → bf16; go through f32

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %b: memref<8xf64, #ascend_memory.space<ub>>) {
  ascend_vector.cast %a into %b : memref<8xf32, #ascend_memory.space<ub>> into memref<8xf64, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.cast has no f64 form; it takes i1, f16, bf16, f32, i8, ui8, i16, i32, i64, ui16, ui32, ui64

// -----

func.func @f(%a: memref<8xf64, #ascend_memory.space<ub>>, %b: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.cast %a into %b : memref<8xf64, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.cast has no f64 form; it takes i1, f16, bf16, f32, i8, ui8, i16, i32, i64, ui16, ui32, ui64

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %b: memref<8xi32, #ascend_memory.space<ub>>) {
  ascend_vector.cast %a into %b round "up" : memref<8xf32, #ascend_memory.space<ub>> into memref<8xi32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: unknown rounding 'up'; expected one of rint, floor, ceil, round, trunc, odd

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %b: memref<8xi32, #ascend_memory.space<ub>>) {
  ascend_vector.cast %a into %b round "odd" : memref<8xf32, #ascend_memory.space<ub>> into memref<8xi32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: rounding 'odd' is for f32 → f16 only, got f32 → i32

// -----

func.func @f(%a: memref<4xf32, #ascend_memory.space<ub>>, %b: memref<4x16xf32, #ascend_memory.space<ub>>) {
  ascend_vector.block_broadcast %a into %b : memref<4xf32, #ascend_memory.space<ub>> into memref<4x16xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.block_broadcast: %b has shape [4, 16]; expected [4, 8]

// -----

func.func @f(%a: memref<4x8xf32, #ascend_memory.space<ub>>, %b: memref<4x8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.block_broadcast %a into %b : memref<4x8xf32, #ascend_memory.space<ub>> into memref<4x8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.block_broadcast: %a has shape [4, 8]; expected [4]

// -----

func.func @f(%a: memref<8xf32, #ascend_memory.space<ub>>, %w: memref<8xf32, #ascend_memory.space<ub>>, %d: memref<1xf32, #ascend_memory.space<ub>>) {
  ascend_vector.reduce_sum %a into %d work %w axis 1 : memref<8xf32, #ascend_memory.space<ub>> into memref<1xf32, #ascend_memory.space<ub>> work memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.reduce_sum reduces axis 0 or 1 of a 2-d buffer, got axis 1 of rank 1

// -----

func.func @f(%a: memref<4x8xf32, #ascend_memory.space<ub>>, %w: memref<4xf32, #ascend_memory.space<ub>>, %d: memref<4xf32, #ascend_memory.space<ub>>) {
  ascend_vector.reduce_sum %a into %d work %w axis 2 : memref<4x8xf32, #ascend_memory.space<ub>> into memref<4xf32, #ascend_memory.space<ub>> work memref<4xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.reduce_sum reduces axis 0 or 1 of a 2-d buffer, got axis 2 of rank 2

// -----

func.func @f(%a: memref<4x8xf32, #ascend_memory.space<ub>>, %w: memref<4xf32, #ascend_memory.space<ub>>, %d: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_vector.reduce_sum %a into %d work %w axis 1 : memref<4x8xf32, #ascend_memory.space<ub>> into memref<8xf32, #ascend_memory.space<ub>> work memref<4xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.reduce_sum: %d has shape [8]; expected [4]

// -----

func.func @f(%a: memref<4x8xf32, #ascend_memory.space<ub>>, %w: memref<3xf32, #ascend_memory.space<ub>>, %d: memref<4xf32, #ascend_memory.space<ub>>) {
  ascend_vector.reduce_sum %a into %d work %w axis 1 : memref<4x8xf32, #ascend_memory.space<ub>> into memref<4xf32, #ascend_memory.space<ub>> work memref<3xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.reduce_sum needs a work space of 4 elements, got 3

// -----

func.func @f(%a: memref<4x8xf32, #ascend_memory.space<ub>>, %w: memref<4x8xf32, #ascend_memory.space<ub>>, %d: memref<4xf32, #ascend_memory.space<ub>>) {
  ascend_vector.reduce_sum %a into %d work %w axis 1 : memref<4x8xf32, #ascend_memory.space<ub>> into memref<4xf32, #ascend_memory.space<ub>> work memref<4x8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.reduce_sum: %w has shape [4, 8]; expected [4]

// -----

func.func @f(%a: memref<4x8xf32, #ascend_memory.space<ub>>, %w: memref<4xi32, #ascend_memory.space<ub>>, %d: memref<4xf32, #ascend_memory.space<ub>>) {
  ascend_vector.reduce_sum %a into %d work %w axis 1 : memref<4x8xf32, #ascend_memory.space<ub>> into memref<4xf32, #ascend_memory.space<ub>> work memref<4xi32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: ascend_vector.reduce_sum has operands of i32 and f32; they must agree (ascend_vector.cast converts)
