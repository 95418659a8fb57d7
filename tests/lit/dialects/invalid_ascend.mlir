// RUN: ASCIR_VERIFY_DIAG

// What the verifiers of ascend say, once each.

func.func @f(%i: tensor<4xindex>) {
  %0 = ascend.neg %i : tensor<4xindex>
  func.return
}
// CHECK: element type index is none of i1, i8, ui8, i16, ui16, i32, ui32, i64, ui64, f16, bf16, f32, f64

// -----

func.func @f(%b: tensor<4xi1>) {
  %0 = ascend.exp %b : tensor<4xi1>
  func.return
}
// CHECK: ascend.exp takes float elements, got i1

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.and %x, %x : tensor<2x3xf32>
  func.return
}
// CHECK: ascend.and takes int, uint, bool elements, got f32

// -----

func.func @f(%b: tensor<4xi1>) {
  %0 = ascend.add %b, %b : tensor<4xi1>
  func.return
}
// CHECK: ascend.add takes float, int, uint elements, got i1

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  %0 = "ascend.add"(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: attribute tensor<4xf32> expected from variable

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  %0 = "ascend.compare"(%x, %y) <{predicate = "lt"}> : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xi1>
  func.return
}
// CHECK: attribute tensor<4xf32> expected from variable

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.compare "less" %x, %x : tensor<2x3xf32> to tensor<2x3xi1>
  func.return
}
// CHECK: unknown predicate 'less'; expected one of eq, ne, lt, le, gt, ge

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.compare "lt" %x, %x : tensor<2x3xf32> to tensor<2x3xf32>
  func.return
}
// CHECK: ascend.compare gives tensor<2x3xi1>, but its result is declared tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.select %x, %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  func.return
}
// CHECK: ascend.select chooses by i1, got f32; ascend.compare gives one

// -----

func.func @f(%c: tensor<3xi1>, %x: tensor<2x3xf32>) {
  %0 = ascend.select %c, %x, %x : tensor<3xi1>, tensor<2x3xf32>
  func.return
}
// CHECK: operands have shapes (3,) and (2, 3); ascend.broadcast makes them agree

// -----

func.func @f(%c: tensor<2x4xi1>, %x: tensor<2x3xf32>) {
  %0 = ascend.select %c, %x, %x : tensor<2x4xi1>, tensor<2x3xf32>
  func.return
}
// CHECK: operands have shapes (2, 4) and (2, 3); ascend.broadcast makes them agree

// -----

func.func @f(%b: tensor<4xi1>) {
  %0 = ascend.clamp %b, %b, %b : tensor<4xi1>
  func.return
}
// CHECK: ascend.clamp takes numbers, got i1

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.cast %x round "up" : tensor<2x3xf32> to tensor<2x3xi8>
  func.return
}
// CHECK: unknown rounding 'up'; expected one of rint, floor, ceil, round, trunc, odd

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.cast %x round "odd" : tensor<2x3xf32> to tensor<2x3xi8>
  func.return
}
// CHECK: rounding 'odd' is for f32 → f16 only, got f32 → i8

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.cast %x : tensor<2x3xf32> to tensor<3x2xf16>
  func.return
}
// CHECK: ascend.cast gives tensor<2x3xf16>, but its result is declared tensor<3x2xf16>

// -----

func.func @f() {
  %0 = ascend.constant 1.5 : f64 : tensor<4xi32>
  func.return
}
// CHECK: ascend.constant: a float value does not fill tensor<4xi32>; write an integer

// -----

func.func @f() {
  %0 = ascend.constant dense<1> : tensor<4xi32> : tensor<4xi8>
  func.return
}
// CHECK: ascend.constant gives tensor<4xi32>, but its result is declared tensor<4xi8>

// -----

func.func @f() {
  %0 = ascend.iota axis 0 : tensor<4xi1>
  func.return
}
// CHECK: ascend.iota counts in numbers, not in i1

// -----

func.func @f() {
  %0 = ascend.iota axis 2 : tensor<4x5xi32>
  func.return
}
// CHECK: axis 2 is out of bounds for a tensor of rank 2

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.broadcast %x : tensor<2x3xf32> to tensor<3xf32>
  func.return
}
// CHECK: shape (2, 3) does not broadcast to (3,)

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.broadcast %x : tensor<2x3xf32> to tensor<4x3xf32>
  func.return
}
// CHECK: shape (2, 3) does not broadcast to (4, 3)

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.reshape %x : tensor<2x3xf32> to tensor<5xf32>
  func.return
}
// CHECK: cannot reshape (2, 3) of 6 elements into (5,) of 5

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.transpose %x [0, 0] : tensor<2x3xf32> to tensor<2x2xf32>
  func.return
}
// CHECK: permutation [0, 0] is not one of the 2 axes of (2, 3)

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.slice %x starts [0] sizes [1] steps [1] : tensor<2x3xf32> to tensor<1xf32>
  func.return
}
// CHECK: a slice of (2, 3) needs 2 starts, sizes and steps

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.slice %x starts [0, 0] sizes [1, 1] steps [1, 0] : tensor<2x3xf32> to tensor<1x1xf32>
  func.return
}
// CHECK: a slice has step 0

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.slice %x starts [0, 1] sizes [2, 3] steps [1, 1] : tensor<2x3xf32> to tensor<2x3xf32>
  func.return
}
// CHECK: slice from 1, 3 elements, step 1, leaves a dimension of 3

// -----

func.func @f(%x: tensor<?xf32>) {
  %0 = ascend.slice %x starts [1] sizes [-9223372036854775808] steps [1] : tensor<?xf32> to tensor<?xf32>
  func.return
}
// CHECK: only a whole dimension of unknown size can be sliced; give the shape

// -----

func.func @f() {
  %0 = "ascend.concat"() <{axis = 0 : i64}> : () -> tensor<2xf32>
  func.return
}
// CHECK: ascend.concat needs an operand

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  %0 = ascend.concat %x, %y axis 0 : tensor<2x3xf32>, tensor<2x4xf32> to tensor<4x3xf32>
  func.return
}
// CHECK: shapes (2, 3) and (2, 4) do not concatenate along axis 0

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.concat %x, %x axis 2 : tensor<2x3xf32>, tensor<2x3xf32> to tensor<4x3xf32>
  func.return
}
// CHECK: axis 2 is out of bounds for a tensor of rank 2

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  %0 = ascend.concat %x, %y axis 0 : tensor<2x3xf32>, tensor<2x3xf16> to tensor<4x3xf32>
  func.return
}
// CHECK: ascend.concat has operands of f32 and f16; ascend.cast makes them agree

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.pad %x low [0] high [0, 1] value 0.0 : f64 : tensor<2x3xf32> to tensor<2x4xf32>
  func.return
}
// CHECK: padding of (2, 3) needs 2 low and high widths

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.pad %x low [0, -1] high [0, 1] value 0.0 : f64 : tensor<2x3xf32> to tensor<2x3xf32>
  func.return
}
// CHECK: padding widths are not negative

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.pad %x low [0, 0] high [0, 1] value 0 : i64 : tensor<2x3xf32> to tensor<2x4xf32>
  func.return
}
// CHECK: value 0 : i64 does not fit elements of f32

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.reduce "median" %x axes [0] : tensor<2x3xf32> to tensor<3xf32>
  func.return
}
// CHECK: unknown reduction 'median'; expected one of sum, prod, max, min, mean

// -----

func.func @f(%i: tensor<2x3xi32>) {
  %0 = ascend.reduce "mean" %i axes [0] : tensor<2x3xi32> to tensor<3xi32>
  func.return
}
// CHECK: ascend.reduce mean of i32; cast first

// -----

func.func @f(%b: tensor<2x3xi1>) {
  %0 = ascend.reduce "sum" %b axes [0] : tensor<2x3xi1> to tensor<3xi1>
  func.return
}
// CHECK: ascend.reduce sum of i1; cast first

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.reduce "sum" %x axes [0, -2] : tensor<2x3xf32> to tensor<3xf32>
  func.return
}
// CHECK: axes [0, -2] name one axis twice

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.reduce "sum" %x axes [2] : tensor<2x3xf32> to tensor<2xf32>
  func.return
}
// CHECK: axis 2 is out of bounds for a tensor of rank 2

// -----

func.func @f(%x: tensor<0x3xf32>) {
  %0 = ascend.reduce "max" %x axes [0] : tensor<0x3xf32> to tensor<3xf32>
  func.return
}
// CHECK: ascend.reduce max of no elements has no value

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.reduce "sum" %x axes [0] keepdims : tensor<2x3xf32> to tensor<3xf32>
  func.return
}
// CHECK: ascend.reduce gives tensor<1x3xf32>, but its result is declared tensor<3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.fused (%x) {
  ^bb0(%a: tensor<4xf32>):
    ascend.yield %a : tensor<4xf32>
  } : (tensor<2x3xf32>) -> tensor<4xf32>
  func.return
}
// CHECK: ascend.fused: block arguments and operands differ in type

// -----

func.func @f(%x: tensor<2x3xf32>) {
  %0 = ascend.fused (%x) {
  ^bb0(%a: tensor<2x3xf32>):
    ascend.yield %a : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return
}
// CHECK: ascend.fused ends with an ascend.yield of its results

// -----

func.func @f(%x: tensor<2x3xf32>) {
  ascend.yield %x : tensor<2x3xf32>
}
// CHECK: 'ascend.yield' expects parent op 'ascend.fused'

// -----

func.func @f() {
  ascend.return
}
// CHECK: 'ascend.return' expects parent op 'ascend.kernel'

// -----

ascend.kernel @k(%x: memref<4xf32, #ascend_memory.space<gm>>) attributes {block_dim = 0 : i64} {
}
// CHECK: ascend.kernel runs on at least one core, got block_dim 0

// -----

ascend.kernel @k(%x: memref<4xf32, #ascend_memory.space<ub>>) {
}
// CHECK: ascend.kernel: memref arguments lie in gm, got memref<4xf32, #ascend_memory.space<ub>>; allocate on-chip buffers inside

// -----

ascend.kernel @k(%x: memref<4xf32>) {
}
// CHECK: memref memref<4xf32> needs a memory space such as #ascend_memory.space<ub>

// -----

ascend.kernel @k(%x: tensor<4xf32>) {
}
// CHECK: ascend.kernel: an argument is a memref or a scalar, got tensor<4xf32>

// -----

"ascend.kernel"() <{sym_name = "k", function_type = () -> i32, block_dim = 1 : i64}> ({
  ascend.return
}) : () -> ()
// CHECK: ascend.kernel has no results; it writes its GM arguments

// -----

"ascend.kernel"() <{sym_name = "k", function_type = (i32) -> (), block_dim = 1 : i64}> ({
  ascend.return
}) : () -> ()
// CHECK: ascend.kernel: block arguments differ from the declared types

// -----

func.func @f() {
  ascend.launch @nobody() :
  func.return
}
// CHECK: ascend.launch: no ascend.kernel named @nobody

// -----

func.func @f() {
  ascend.launch @f() :
  func.return
}
// CHECK: ascend.launch: no ascend.kernel named @f

// -----

ascend.kernel @k(%n: index) {
}
func.func @f(%n: i64) {
  ascend.launch @k(%n) : i64
  func.return
}
// CHECK: ascend.launch: arguments differ in type from those of @k
