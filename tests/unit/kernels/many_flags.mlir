// y = exp(x0) + … + exp(x7): eight loads at once, each waited for on its own — more flags than there are event ids.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @many_flags(
    %x0: memref<64xf32, #gm>, %x1: memref<64xf32, #gm>, %x2: memref<64xf32, #gm>, %x3: memref<64xf32, #gm>,
    %x4: memref<64xf32, #gm>, %x5: memref<64xf32, #gm>, %x6: memref<64xf32, #gm>, %x7: memref<64xf32, #gm>,
    %y: memref<64xf32, #gm>) {
  %t0 = ascend_memory.alloc "t0" : memref<64xf32, #ub>
  %t1 = ascend_memory.alloc "t1" : memref<64xf32, #ub>
  %t2 = ascend_memory.alloc "t2" : memref<64xf32, #ub>
  %t3 = ascend_memory.alloc "t3" : memref<64xf32, #ub>
  %t4 = ascend_memory.alloc "t4" : memref<64xf32, #ub>
  %t5 = ascend_memory.alloc "t5" : memref<64xf32, #ub>
  %t6 = ascend_memory.alloc "t6" : memref<64xf32, #ub>
  %t7 = ascend_memory.alloc "t7" : memref<64xf32, #ub>
  %acc = ascend_memory.alloc "acc" : memref<64xf32, #ub>
  ascend_memory.copy %x0 to %t0 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.copy %x1 to %t1 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.copy %x2 to %t2 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.copy %x3 to %t3 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.copy %x4 to %t4 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.copy %x5 to %t5 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.copy %x6 to %t6 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_memory.copy %x7 to %t7 : memref<64xf32, #gm> to memref<64xf32, #ub>
  ascend_vector.exp %t0 into %acc : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.exp %t1 into %t1 : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.add %acc, %t1 into %acc : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.exp %t2 into %t2 : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.add %acc, %t2 into %acc : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.exp %t3 into %t3 : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.add %acc, %t3 into %acc : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.exp %t4 into %t4 : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.add %acc, %t4 into %acc : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.exp %t5 into %t5 : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.add %acc, %t5 into %acc : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.exp %t6 into %t6 : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.add %acc, %t6 into %acc : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.exp %t7 into %t7 : memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_vector.add %acc, %t7 into %acc : memref<64xf32, #ub>, memref<64xf32, #ub> into memref<64xf32, #ub>
  ascend_memory.copy %acc to %y : memref<64xf32, #ub> to memref<64xf32, #gm>
}
