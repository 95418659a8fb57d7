// RUN: ascir-opt %s -p fuse-operators,tile-to-kernel --split-input-file | filecheck %s

// Tiles are shared by the cores; the last one is shorter; the host function writes its result through an argument.
// CHECK-LABEL: ascend.kernel @add_0
// CHECK-SAME:    block_dim = 10
// CHECK:         ascend_memory.alloc "x_tile_1" : memref<1024xf32, #ascend_memory.space<ub>>
// CHECK:         scf.for %tile = %block_idx to %{{.*}} step %block_num
// CHECK:           arith.minsi
// CHECK:           ascend_memory.view %x
// CHECK:           ascend_memory.copy
// CHECK:           ascend_vector.add
// CHECK:           ascend_memory.copy
// CHECK:       func.func @add(%x: memref<10007xf32, #ascend_memory.space<gm>>, %y: {{.*}}, %out: {{.*}}) attributes {inputs = 2 : i64}
// CHECK:         ascend.launch @add_0(%x, %y, %out)
func.func @add(%x: tensor<10007xf32>, %y: tensor<10007xf32>) -> tensor<10007xf32> {
  %0 = ascend.add %x, %y : tensor<10007xf32>
  func.return %0 : tensor<10007xf32>
}

// -----

// A bias is loaded once and read with row stride 0.
// CHECK-LABEL: ascend.kernel @bias_0
// CHECK:         ascend_memory.copy
// CHECK:         scf.for
// CHECK:           strides [0, 1]
// CHECK:           ascend_vector.add
func.func @bias(%x: tensor<100x128xf32>, %b: tensor<128xf32>) -> tensor<100x128xf32> {
  %bb = ascend.broadcast %b : tensor<128xf32> to tensor<100x128xf32>
  %0 = ascend.add %x, %bb : tensor<100x128xf32>
  func.return %0 : tensor<100x128xf32>
}

// -----

// One value a row fills a block that instructions read with column stride 0.
// CHECK-LABEL: ascend.kernel @rows_0
// CHECK:         ascend_vector.reduce_max %{{.*}} work %{{.*}} axis 1
// CHECK:         ascend_vector.block_broadcast
// CHECK:         strides [8, 0]
// CHECK:         ascend_vector.sub
func.func @rows(%x: tensor<100x128xf32>) -> tensor<100x128xf32> {
  %m = ascend.reduce "max" %x axes [1] keepdims : tensor<100x128xf32> to tensor<100x1xf32>
  %b = ascend.broadcast %m : tensor<100x1xf32> to tensor<100x128xf32>
  %y = ascend.sub %x, %b : tensor<100x128xf32>
  func.return %y : tensor<100x128xf32>
}

// -----

// A row too long for UB is folded chunk by chunk.
// CHECK-LABEL: ascend.kernel @long_0
// CHECK:         scf.for
// CHECK:           ascend_vector.duplicate
// CHECK:           scf.for %chunk
// CHECK:             ascend_vector.reduce_sum
// CHECK:             ascend_vector.add
func.func @long(%x: tensor<40x100000xf32>) -> tensor<40xf32> {
  %s = ascend.reduce "sum" %x axes [1] : tensor<40x100000xf32> to tensor<40xf32>
  func.return %s : tensor<40xf32>
}

// -----

// Elements that are not neighbours in GM are copied by pipe S; constants become scalar operands; a bool is a mask on chip.
// CHECK-LABEL: ascend.kernel @forms_0
// CHECK:         ascend_memory.scalar_copy
// CHECK:         ascend_vector.adds
// CHECK:         ascend_vector.compares_gt
// CHECK:         ascend_vector.selects
func.func @forms(%x: tensor<40x30xf32>) -> tensor<30x40xf32> {
  %t = ascend.transpose %x [1, 0] : tensor<40x30xf32> to tensor<30x40xf32>
  %c = ascend.constant 2.0 : f64 : tensor<30x40xf32>
  %0 = ascend.sub %t, %c : tensor<30x40xf32>
  %1 = ascend.compare "gt" %0, %c : tensor<30x40xf32> to tensor<30x40xi1>
  %2 = ascend.select %1, %0, %c : tensor<30x40xi1>, tensor<30x40xf32>
  func.return %2 : tensor<30x40xf32>
}

// -----

// concat copies each input into its slice; pad fills disjoint slabs.
// CHECK-LABEL: ascend.kernel @concat_0
// CHECK-COUNT-2: scf.for
// CHECK-LABEL: ascend.kernel @concat_1
// CHECK-COUNT-5: scf.for
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> (tensor<2x7xf32>, tensor<4x5xf32>) {
  %0 = ascend.concat %x, %y axis 1 : tensor<2x3xf32>, tensor<2x4xf32> to tensor<2x7xf32>
  %1 = ascend.pad %x low [1, 1] high [1, 1] value 0.0 : f64 : tensor<2x3xf32> to tensor<4x5xf32>
  func.return %0, %1 : tensor<2x7xf32>, tensor<4x5xf32>
}
