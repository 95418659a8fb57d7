// RUN: ASCIR_VERIFY_DIAG

// What the verifiers of ascend_memory say, once each.

func.func @f() {
  %0 = ascend_memory.alloc "x" : memref<8xf32>
  func.return
}
// CHECK: memref memref<8xf32> needs a memory space such as #ascend_memory.space<ub>

// -----

func.func @f() {
  %0 = ascend_memory.alloc "x" : memref<8xindex, #ascend_memory.space<ub>>
  func.return
}
// CHECK: element type index is none of i1, i8,

// -----

func.func @f() {
  %0 = ascend_memory.alloc "x" : memref<8x?xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: buffer "x" needs a static shape, got memref<8x?xf32, #ascend_memory.space<ub>>

// -----

func.func @f() {
  %0 = ascend_memory.alloc "x" : memref<8x8xf32, strided<[16, 1]>, #ascend_memory.space<ub>>
  func.return
}
// CHECK: buffer "x" is contiguous, got memref<8x8xf32, strided<[16, 1]>, #ascend_memory.space<ub>>; ascend_memory.view gives it strides

// -----

func.func @f() {
  %0 = ascend_memory.alloc "x" at -32 : memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: buffer "x" starts at byte -32; expected 0 or more

// -----

func.func @f() {
  %0 = ascend_memory.alloc "x" at 48 : memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: buffer "x" starts at byte 48 of ub; expected a multiple of 32

// -----

func.func @f() {
  %0 = ascend_memory.alloc "x" at 32 : memref<8xf16, #ascend_memory.space<l0a>>
  func.return
}
// CHECK: buffer "x" starts at byte 32 of l0a; expected a multiple of 512

// -----

func.func @f() {
  %0 = ascend_memory.constant dense<1> : tensor<8xi32> to memref<8xi32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: constants lie in gm; copy them on chip, got memref<8xi32, #ascend_memory.space<ub>>

// -----

func.func @f() {
  %0 = ascend_memory.constant dense<1> : tensor<8xi32> to memref<4xi32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: constant of type tensor<8xi32> does not fill memref<4xi32, #ascend_memory.space<gm>>

// -----

func.func @f() {
  %0 = ascend_memory.constant dense<1> : tensor<8xi32> to memref<8xi64, #ascend_memory.space<gm>>
  func.return
}
// CHECK: constant of type tensor<8xi32> does not fill memref<8xi64, #ascend_memory.space<gm>>

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>) {
  %0 = ascend_memory.view %x at [0, 0] sizes [4] strides [1] : memref<8xf32, #ascend_memory.space<ub>> to memref<4xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: a view has one offset, in elements; got 2

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>) {
  %0 = ascend_memory.view %x at [0] sizes [4] strides [4, 1] : memref<8xf32, #ascend_memory.space<ub>> to memref<4xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: a view needs a stride for each size; got 1 sizes and 2 strides

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>) {
  %0 = ascend_memory.view %x at [4] sizes [4] strides [1] : memref<8xf32, #ascend_memory.space<ub>> to memref<4xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: view has type memref<4xf32, #ascend_memory.space<ub>>; its sizes and strides say memref<4xf32, strided<[1], offset: 4>, #ascend_memory.space<ub>>

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>) {
  %0 = ascend_memory.view %x at [0] sizes [4] strides [1] : memref<8xf32, #ascend_memory.space<ub>> to memref<4xf32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: view has type memref<4xf32, #ascend_memory.space<gm>>; its sizes and strides say memref<4xf32, #ascend_memory.space<ub>>

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>) {
  %0 = ascend_memory.view %x at [4] sizes [8] strides [1] : memref<8xf32, #ascend_memory.space<ub>> to memref<8xf32, strided<[1], offset: 4>, #ascend_memory.space<ub>>
  func.return
}
// CHECK: view reaches elements 4 to 11 of a buffer with 8; make it smaller or move it

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>) {
  %0 = ascend_memory.view %x at [2] sizes [4] strides [-1] : memref<8xf32, #ascend_memory.space<ub>> to memref<4xf32, strided<[-1], offset: 2>, #ascend_memory.space<ub>>
  func.return
}
// CHECK: view reaches elements -1 to 2 of a buffer with 8; make it smaller or move it

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %n: index) {
  %0 = "ascend_memory.view"(%x, %n) <{static_offset = array<i64: 0>, static_sizes = array<i64: 8>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<8xf32, #ascend_memory.space<ub>>, index) -> memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: in the offset

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %n: index) {
  %0 = "ascend_memory.view"(%x, %n) <{static_offset = array<i64: 0>, static_sizes = array<i64: 8>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (memref<8xf32, #ascend_memory.space<ub>>, index) -> memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: in the sizes

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %n: index) {
  %0 = "ascend_memory.view"(%x, %n) <{static_offset = array<i64: 0>, static_sizes = array<i64: 8>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (memref<8xf32, #ascend_memory.space<ub>>, index) -> memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: in the strides

// -----

func.func @f(%x: memref<8x8xf32, affine_map<(i, j) -> (j, i)>, #ascend_memory.space<gm>>, %u: memref<8x8xf32, #ascend_memory.space<ub>>) {
  ascend_memory.copy %x to %u : memref<8x8xf32, affine_map<(i, j) -> (j, i)>, #ascend_memory.space<gm>> to memref<8x8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: use a strided<[…], offset: …> layout

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %l: memref<8xf32, #ascend_memory.space<l1>>) {
  ascend_memory.copy %x to %l : memref<8xf32, #ascend_memory.space<ub>> to memref<8xf32, #ascend_memory.space<l1>>
  func.return
}
// CHECK: illegal path ub → l1; from ub a copy reaches gm

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_memory.copy %x to %x : memref<8xf32, #ascend_memory.space<ub>> to memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: illegal path ub → ub; from ub a copy reaches gm; within ub use ascend_vector.copy

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<bt>>, %y: memref<8xf32, #ascend_memory.space<gm>>) {
  ascend_memory.copy %x to %y : memref<8xf32, #ascend_memory.space<bt>> to memref<8xf32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: illegal path bt → gm; from bt a copy reaches nothing

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %y: memref<8xf16, #ascend_memory.space<gm>>) {
  ascend_memory.copy %x to %y : memref<8xf32, #ascend_memory.space<ub>> to memref<8xf16, #ascend_memory.space<gm>>
  func.return
}
// CHECK: ascend_memory.copy moves f32 to f16; element types must agree (ascend_vector.cast converts)

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %y: memref<4xf32, #ascend_memory.space<gm>>) {
  ascend_memory.copy %x to %y : memref<8xf32, #ascend_memory.space<ub>> to memref<4xf32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: ascend_memory.copy moves shape [8] to shape [4]; they must agree

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %y: memref<8x1xf32, #ascend_memory.space<gm>>) {
  ascend_memory.copy %x to %y : memref<8xf32, #ascend_memory.space<ub>> to memref<8x1xf32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: ascend_memory.copy moves shape [8] to shape [8, 1]; they must agree

// -----

func.func @f(%x: memref<2x2x8xf32, #ascend_memory.space<ub>>, %y: memref<2x2x8xf32, #ascend_memory.space<gm>>) {
  ascend_memory.copy %x to %y : memref<2x2x8xf32, #ascend_memory.space<ub>> to memref<2x2x8xf32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: a copy moves one row or rows of a matrix, got rank 3; loop over the outer dimensions

// -----

func.func @f(%x: memref<8xf32, strided<[2]>, #ascend_memory.space<gm>>, %y: memref<8xf32, #ascend_memory.space<ub>>) {
  ascend_memory.copy %x to %y : memref<8xf32, strided<[2]>, #ascend_memory.space<gm>> to memref<8xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: a copy moves contiguous rows; gm operand has stride 2 (ascend_memory.scalar_copy takes any)

// -----

func.func @f(%x: memref<4x7xf32, #ascend_memory.space<gm>>, %y: memref<4x7xf32, #ascend_memory.space<ub>>) {
  ascend_memory.copy %x to %y : memref<4x7xf32, #ascend_memory.space<gm>> to memref<4x7xf32, #ascend_memory.space<ub>>
  func.return
}
// CHECK: rows in ub are 28 B apart; expected a multiple of 32

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<gm>>, %y: memref<8xf32, strided<[1], offset: 4>, #ascend_memory.space<ub>>) {
  ascend_memory.copy %x to %y : memref<8xf32, #ascend_memory.space<gm>> to memref<8xf32, strided<[1], offset: 4>, #ascend_memory.space<ub>>
  func.return
}
// CHECK: copy touches ub at byte 16 of its buffer; expected a multiple of 32

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %l: memref<8xf32, #ascend_memory.space<l1>>) {
  ascend_memory.scalar_copy %x to %l : memref<8xf32, #ascend_memory.space<ub>> to memref<8xf32, #ascend_memory.space<l1>>
  func.return
}
// CHECK: a scalar copy reaches gm and ub, not ub → l1

// -----

func.func @f(%x: memref<8xf32, #ascend_memory.space<ub>>, %y: memref<8xi32, #ascend_memory.space<gm>>) {
  ascend_memory.scalar_copy %x to %y : memref<8xf32, #ascend_memory.space<ub>> to memref<8xi32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: ascend_memory.scalar_copy moves f32 to i32; element types must agree (ascend_vector.cast converts)

// -----

func.func @f(%x: memref<2x2x2xf32, #ascend_memory.space<ub>>, %y: memref<2x2x2xf32, #ascend_memory.space<gm>>) {
  ascend_memory.scalar_copy %x to %y : memref<2x2x2xf32, #ascend_memory.space<ub>> to memref<2x2x2xf32, #ascend_memory.space<gm>>
  func.return
}
// CHECK: a scalar copy has one or two dimensions, got 3

// -----

func.func @f() {
  ascend_memory.set_flag v to v, 0
  func.return
}
// CHECK: a flag orders one pipe after another, got v to v; ascend_memory.barrier orders a pipe after itself

// -----

func.func @f() {
  ascend_memory.wait_flag mte2 to all, 0
  func.return
}
// CHECK: a flag orders one pipe after another, got mte2 to all; ascend_memory.barrier orders a pipe after itself

// -----

func.func @f() {
  ascend_memory.set_flag mte2 to v, 8
  func.return
}
// CHECK: event id 8 is not in 0…7
