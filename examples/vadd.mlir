// z = x + y, written by hand at the level the machine works on: tiles of 4096 elements, every eighth to the same core.
// Run it:  ascir run examples/vadd.mlir --input x.npy y.npy 1000 --output z.npy --profile
// See it become C:  ascir-opt examples/vadd.mlir -p "plan-memory,insert-sync,verify-sync" -t c

ascend.kernel @vadd(
    %x: memref<?xf32, #ascend_memory.space<gm>>,
    %y: memref<?xf32, #ascend_memory.space<gm>>,
    %z: memref<?xf32, #ascend_memory.space<gm>>,
    %n: index) attributes {block_dim = 8 : i64} {
  // Buffers in UB; plan-memory gives them offsets.
  %x_tile = ascend_memory.alloc "x_tile" : memref<4096xf32, #ascend_memory.space<ub>>
  %y_tile = ascend_memory.alloc "y_tile" : memref<4096xf32, #ascend_memory.space<ub>>
  %z_tile = ascend_memory.alloc "z_tile" : memref<4096xf32, #ascend_memory.space<ub>>

  %tile = arith.constant 4096 : index
  %core = ascend.block_idx
  %cores = ascend.block_num
  %first = arith.muli %core, %tile : index
  %step = arith.muli %cores, %tile : index
  scf.for %i = %first to %n step %step {
    %left = arith.subi %n, %i : index
    %count = arith.minsi %tile, %left : index

    // GM → UB on pipe MTE2, the sum on pipe V, UB → GM on pipe MTE3; insert-sync orders them with flags.
    %x_gm = ascend_memory.view %x at [%i] sizes [%count] strides [1] : memref<?xf32, #ascend_memory.space<gm>> to memref<?xf32, strided<[1], offset: ?>, #ascend_memory.space<gm>>
    %y_gm = ascend_memory.view %y at [%i] sizes [%count] strides [1] : memref<?xf32, #ascend_memory.space<gm>> to memref<?xf32, strided<[1], offset: ?>, #ascend_memory.space<gm>>
    %z_gm = ascend_memory.view %z at [%i] sizes [%count] strides [1] : memref<?xf32, #ascend_memory.space<gm>> to memref<?xf32, strided<[1], offset: ?>, #ascend_memory.space<gm>>
    %x_ub = ascend_memory.view %x_tile at [0] sizes [%count] strides [1] : memref<4096xf32, #ascend_memory.space<ub>> to memref<?xf32, #ascend_memory.space<ub>>
    %y_ub = ascend_memory.view %y_tile at [0] sizes [%count] strides [1] : memref<4096xf32, #ascend_memory.space<ub>> to memref<?xf32, #ascend_memory.space<ub>>
    %z_ub = ascend_memory.view %z_tile at [0] sizes [%count] strides [1] : memref<4096xf32, #ascend_memory.space<ub>> to memref<?xf32, #ascend_memory.space<ub>>

    ascend_memory.copy %x_gm to %x_ub : memref<?xf32, strided<[1], offset: ?>, #ascend_memory.space<gm>> to memref<?xf32, #ascend_memory.space<ub>>
    ascend_memory.copy %y_gm to %y_ub : memref<?xf32, strided<[1], offset: ?>, #ascend_memory.space<gm>> to memref<?xf32, #ascend_memory.space<ub>>
    ascend_vector.add %x_ub, %y_ub into %z_ub : memref<?xf32, #ascend_memory.space<ub>>, memref<?xf32, #ascend_memory.space<ub>> into memref<?xf32, #ascend_memory.space<ub>>
    ascend_memory.copy %z_ub to %z_gm : memref<?xf32, #ascend_memory.space<ub>> to memref<?xf32, strided<[1], offset: ?>, #ascend_memory.space<gm>>
  }
}
