// RUN: ASCIR_ROUNDTRIP
// RUN: ASCIR_GENERIC_ROUNDTRIP

// Every op of ascend_memory, its spaces and its pipes, in both forms.

func.func @buffers(%x: memref<40x?xf32, #ascend_memory.space<gm>>, %o: index, %n: index, %s: index) {
  %a = ascend_memory.alloc "x_tile" : memref<16x64xf32, #ascend_memory.space<ub>>
  %b = ascend_memory.alloc "mask" at 4096 : memref<16x32xui8, #ascend_memory.space<ub>>
  %w = ascend_memory.alloc "workspace" : memref<100xbf16, #ascend_memory.space<gm>>
  %l = ascend_memory.alloc "weights" at 512 : memref<16xi8, #ascend_memory.space<l1>>
  %c = ascend_memory.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> to memref<2xf32, #ascend_memory.space<gm>>
  %v = ascend_memory.view %a at [128] sizes [8, 64] strides [64, 1] : memref<16x64xf32, #ascend_memory.space<ub>> to memref<8x64xf32, strided<[64, 1], offset: 128>, #ascend_memory.space<ub>>
  %t = ascend_memory.view %x at [%o] sizes [%n, 64] strides [%s, 1] : memref<40x?xf32, #ascend_memory.space<gm>> to memref<?x64xf32, strided<[?, 1], offset: ?>, #ascend_memory.space<gm>>
  %r = ascend_memory.view %w at [99] sizes [100] strides [-1] : memref<100xbf16, #ascend_memory.space<gm>> to memref<100xbf16, strided<[-1], offset: 99>, #ascend_memory.space<gm>>
  %z = ascend_memory.view %a at [0] sizes [] strides [] : memref<16x64xf32, #ascend_memory.space<ub>> to memref<f32, #ascend_memory.space<ub>>
  func.return
}

func.func @copies(%g: memref<8x10xf16, #ascend_memory.space<gm>>, %u: memref<8x10xf16, strided<[16, 1]>, #ascend_memory.space<ub>>, %t: memref<10x8xf16, strided<[1, 16]>, #ascend_memory.space<ub>>) {
  ascend_memory.copy %g to %u : memref<8x10xf16, #ascend_memory.space<gm>> to memref<8x10xf16, strided<[16, 1]>, #ascend_memory.space<ub>>
  ascend_memory.copy %u to %g : memref<8x10xf16, strided<[16, 1]>, #ascend_memory.space<ub>> to memref<8x10xf16, #ascend_memory.space<gm>>
  %0 = ascend_memory.view %g at [0] sizes [10, 8] strides [1, 10] : memref<8x10xf16, #ascend_memory.space<gm>> to memref<10x8xf16, strided<[1, 10]>, #ascend_memory.space<gm>>
  ascend_memory.scalar_copy %0 to %t : memref<10x8xf16, strided<[1, 10]>, #ascend_memory.space<gm>> to memref<10x8xf16, strided<[1, 16]>, #ascend_memory.space<ub>>
  func.return
}

func.func @order() {
  ascend_memory.set_flag mte2 to v, 0
  ascend_memory.wait_flag mte2 to v, 7
  ascend_memory.set_flag v to mte3, 0
  ascend_memory.wait_flag v to mte3, 7
  ascend_memory.set_flag mte3 to mte2, 0
  ascend_memory.wait_flag mte3 to mte2, 7
  ascend_memory.set_flag s to m, 0
  ascend_memory.wait_flag s to m, 7
  ascend_memory.set_flag mte1 to fixp, 0
  ascend_memory.wait_flag mte1 to fixp, 7
  ascend_memory.barrier s
  ascend_memory.barrier v
  ascend_memory.barrier m
  ascend_memory.barrier mte1
  ascend_memory.barrier mte2
  ascend_memory.barrier mte3
  ascend_memory.barrier fixp
  ascend_memory.barrier all
  func.return
}

// CHECK: func.func @buffers(%x: memref<40x?xf32, #ascend_memory.space<gm>>, %o: index, %n: index, %s: index) {
// CHECK-NEXT: %a = ascend_memory.alloc "x_tile" : memref<16x64xf32, #ascend_memory.space<ub>>
// CHECK-NEXT: %b = ascend_memory.alloc "mask" at 4096 : memref<16x32xui8, #ascend_memory.space<ub>>
// CHECK-NEXT: %w = ascend_memory.alloc "workspace" : memref<100xbf16, #ascend_memory.space<gm>>
// CHECK-NEXT: %l = ascend_memory.alloc "weights" at 512 : memref<16xi8, #ascend_memory.space<l1>>
// CHECK-NEXT: %c = ascend_memory.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> to memref<2xf32, #ascend_memory.space<gm>>
// CHECK-NEXT: %v = ascend_memory.view %a at [128] sizes [8, 64] strides [64, 1] : memref<16x64xf32, #ascend_memory.space<ub>> to memref<8x64xf32, strided<[64, 1], offset: 128>, #ascend_memory.space<ub>>
// CHECK-NEXT: %t = ascend_memory.view %x at [%o] sizes [%n, 64] strides [%s, 1] : memref<40x?xf32, #ascend_memory.space<gm>> to memref<?x64xf32, strided<[?, 1], offset: ?>, #ascend_memory.space<gm>>
// CHECK-NEXT: %r = ascend_memory.view %w at [99] sizes [100] strides [-1] : memref<100xbf16, #ascend_memory.space<gm>> to memref<100xbf16, strided<[-1], offset: 99>, #ascend_memory.space<gm>>
// CHECK-NEXT: %z = ascend_memory.view %a at [0] sizes [] strides [] : memref<16x64xf32, #ascend_memory.space<ub>> to memref<f32, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @copies(%g: memref<8x10xf16, #ascend_memory.space<gm>>, %u: memref<8x10xf16, strided<[16, 1]>, #ascend_memory.space<ub>>, %t: memref<10x8xf16, strided<[1, 16]>, #ascend_memory.space<ub>>) {
// CHECK-NEXT: ascend_memory.copy %g to %u : memref<8x10xf16, #ascend_memory.space<gm>> to memref<8x10xf16, strided<[16, 1]>, #ascend_memory.space<ub>>
// CHECK-NEXT: ascend_memory.copy %u to %g : memref<8x10xf16, strided<[16, 1]>, #ascend_memory.space<ub>> to memref<8x10xf16, #ascend_memory.space<gm>>
// CHECK-NEXT: %0 = ascend_memory.view %g at [0] sizes [10, 8] strides [1, 10] : memref<8x10xf16, #ascend_memory.space<gm>> to memref<10x8xf16, strided<[1, 10]>, #ascend_memory.space<gm>>
// CHECK-NEXT: ascend_memory.scalar_copy %0 to %t : memref<10x8xf16, strided<[1, 10]>, #ascend_memory.space<gm>> to memref<10x8xf16, strided<[1, 16]>, #ascend_memory.space<ub>>
// CHECK-NEXT: func.return
// CHECK: func.func @order() {
// CHECK-NEXT: ascend_memory.set_flag mte2 to v, 0
// CHECK-NEXT: ascend_memory.wait_flag mte2 to v, 7
// CHECK-NEXT: ascend_memory.set_flag v to mte3, 0
// CHECK-NEXT: ascend_memory.wait_flag v to mte3, 7
// CHECK-NEXT: ascend_memory.set_flag mte3 to mte2, 0
// CHECK-NEXT: ascend_memory.wait_flag mte3 to mte2, 7
// CHECK-NEXT: ascend_memory.set_flag s to m, 0
// CHECK-NEXT: ascend_memory.wait_flag s to m, 7
// CHECK-NEXT: ascend_memory.set_flag mte1 to fixp, 0
// CHECK-NEXT: ascend_memory.wait_flag mte1 to fixp, 7
// CHECK-NEXT: ascend_memory.barrier s
// CHECK-NEXT: ascend_memory.barrier v
// CHECK-NEXT: ascend_memory.barrier m
// CHECK-NEXT: ascend_memory.barrier mte1
// CHECK-NEXT: ascend_memory.barrier mte2
// CHECK-NEXT: ascend_memory.barrier mte3
// CHECK-NEXT: ascend_memory.barrier fixp
// CHECK-NEXT: ascend_memory.barrier all
// CHECK-NEXT: func.return

// GENERIC: %a = "ascend_memory.alloc"() <{label = "x_tile"}> : () -> memref<16x64xf32, #ascend_memory.space<ub>>
// GENERIC: %c = "ascend_memory.constant"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}> : () -> memref<2xf32, #ascend_memory.space<gm>>
// GENERIC: %v = "ascend_memory.view"(%a) <{static_offset = array<i64: 128>, static_sizes = array<i64: 8, 64>, static_strides = array<i64: 64, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<16x64xf32, #ascend_memory.space<ub>>) -> memref<8x64xf32, strided<[64, 1], offset: 128>, #ascend_memory.space<ub>>
// GENERIC: "ascend_memory.copy"(%g, %u) : (memref<8x10xf16, #ascend_memory.space<gm>>, memref<8x10xf16, strided<[16, 1]>, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_memory.scalar_copy"(%0, %t) : (memref<10x8xf16, strided<[1, 10]>, #ascend_memory.space<gm>>, memref<10x8xf16, strided<[1, 16]>, #ascend_memory.space<ub>>) -> ()
// GENERIC: "ascend_memory.set_flag"() <{source = #ascend_memory<pipe mte2>, destination = #ascend_memory<pipe v>, event = 0 : i64}> : () -> ()
// GENERIC: "ascend_memory.wait_flag"() <{source = #ascend_memory<pipe mte2>, destination = #ascend_memory<pipe v>, event = 7 : i64}> : () -> ()
// GENERIC: "ascend_memory.barrier"() <{pipe = #ascend_memory<pipe s>}> : () -> ()
