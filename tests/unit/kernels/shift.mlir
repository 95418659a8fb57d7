// x[i + 128 :] += x[i :] in steps of 128: each iteration reads from GM what the one before has written there.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
ascend.kernel @shift(%x: memref<1024xf32, #gm>) {
  %a = ascend_memory.alloc "a" : memref<128xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<128xf32, #ub>
  %c = ascend_memory.alloc "c" : memref<128xf32, #ub>
  %zero = arith.constant 0 : index
  %size = arith.constant 128 : index
  %end = arith.constant 896 : index
  scf.for %i = %zero to %end step %size {
    %j = arith.addi %i, %size : index
    %xi = ascend_memory.view %x at [%i] sizes [128] strides [1] : memref<1024xf32, #gm> to memref<128xf32, #at, #gm>
    %xj = ascend_memory.view %x at [%j] sizes [128] strides [1] : memref<1024xf32, #gm> to memref<128xf32, #at, #gm>
    ascend_memory.copy %xi to %a : memref<128xf32, #at, #gm> to memref<128xf32, #ub>
    ascend_memory.copy %xj to %b : memref<128xf32, #at, #gm> to memref<128xf32, #ub>
    ascend_vector.add %a, %b into %c : memref<128xf32, #ub>, memref<128xf32, #ub> into memref<128xf32, #ub>
    ascend_memory.copy %c to %xj : memref<128xf32, #ub> to memref<128xf32, #at, #gm>
  }
}
