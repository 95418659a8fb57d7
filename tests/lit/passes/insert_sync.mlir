// RUN: ascir-opt %s -p insert-sync,verify-sync,verify-dominance --split-input-file | filecheck %s
// RUN: ascir-opt %s -p "insert-sync{strict=true}" --split-input-file --verify-diagnostics | filecheck %s --check-prefix=STRICT

// The flag v → mte2 is handed from an iteration to the next: set before the loop, waited for behind it.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @tiles(%x: memref<1024xf32, #gm>, %y: memref<1024xf32, #gm>) {
  %x_tile = ascend_memory.alloc "x_tile" : memref<64xf32, #ub>
  %y_tile = ascend_memory.alloc "y_tile" : memref<64xf32, #ub>
  %zero = arith.constant 0 : index
  %size = arith.constant 64 : index
  %total = arith.constant 1024 : index
  scf.for %o = %zero to %total step %size {
    %xv = ascend_memory.view %x at [%o] sizes [64] strides [1] : memref<1024xf32, #gm> to memref<64xf32, #at, #gm>
    %yv = ascend_memory.view %y at [%o] sizes [64] strides [1] : memref<1024xf32, #gm> to memref<64xf32, #at, #gm>
    ascend_memory.copy %xv to %x_tile : memref<64xf32, #at, #gm> to memref<64xf32, #ub>
    ascend_vector.exp %x_tile into %y_tile : memref<64xf32, #ub> into memref<64xf32, #ub>
    ascend_vector.relu %y_tile into %y_tile : memref<64xf32, #ub> into memref<64xf32, #ub>
    ascend_memory.copy %y_tile to %yv : memref<64xf32, #ub> to memref<64xf32, #at, #gm>
  }
}
// CHECK:      ascend_memory.set_flag v to mte2, 0
// CHECK-NEXT: ascend_memory.set_flag mte3 to v, 0
// CHECK-NEXT: scf.for
// CHECK:        ascend_memory.wait_flag v to mte2, 0
// CHECK-NEXT:   ascend_memory.copy
// CHECK-NEXT:   ascend_memory.set_flag mte2 to v, 0
// CHECK-NEXT:   ascend_memory.wait_flag mte2 to v, 0
// CHECK-NEXT:   ascend_memory.wait_flag mte3 to v, 0
// CHECK-NEXT:   ascend_vector.exp
// CHECK-NEXT:   ascend_memory.set_flag v to mte2, 0
// CHECK-NEXT:   ascend_memory.barrier v
// CHECK-NEXT:   ascend_vector.relu
// CHECK-NEXT:   ascend_memory.set_flag v to mte3, 0
// CHECK-NEXT:   ascend_memory.wait_flag v to mte3, 0
// CHECK-NEXT:   ascend_memory.copy
// CHECK-NEXT:   ascend_memory.set_flag mte3 to v, 0
// CHECK-NEXT: }
// CHECK-NEXT: ascend_memory.wait_flag v to mte2, 0
// CHECK-NEXT: ascend_memory.wait_flag mte3 to v, 0

// -----

// A set and its wait stand in one block, around the branch that needs them.
#ub = #ascend_memory.space<ub>
ascend.kernel @branch(%c: i1, %i: index) {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  ascend_vector.exp %a into %a : memref<64xf32, #ub> into memref<64xf32, #ub>
  scf.if %c {
    %s = memref.load %a[%i] : memref<64xf32, #ub>
  }
}
// CHECK:      ascend_vector.exp
// CHECK-NEXT: ascend_memory.set_flag v to s, 0
// CHECK-NEXT: ascend_memory.wait_flag v to s, 0
// CHECK-NEXT: scf.if

// -----

// A kernel with flags or barriers of its own is its author's business.
#ub = #ascend_memory.space<ub>
ascend.kernel @manual() {
  %a = ascend_memory.alloc "a" : memref<64xf32, #ub>
  ascend_vector.exp %a into %a : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.barrier all
  ascend_vector.exp %a into %a : memref<64xf32, #ub> into memref<64xf32, #ub>
}
// CHECK-LABEL: @manual
// CHECK:      ascend_vector.exp
// CHECK-NEXT: ascend_memory.barrier all
// CHECK-NEXT: ascend_vector.exp
// CHECK-NEXT: ascend.return
// STRICT: insert-sync: @manual already has ascend_memory.barrier (insert_sync.mlir:{{[0-9]+}}); leave all flags and barriers to the pass
