// RUN: ascir-opt %s -p verify-dominance --split-input-file --verify-diagnostics | filecheck %s

func.func @in_order(%n: index) {
  scf.for %i = %n to %n step %n {
    %a = arith.addi %i, %n : index
  }
  func.return
}
// CHECK: func.func @in_order

// -----

func.func @too_early() {
  %b = arith.addi %a, %a : index
  %a = arith.constant 1 : index
  func.return
}
// CHECK: verify-dominance: arith.addi (verify_dominance.mlir:{{[0-9]+}}) uses %a, defined by arith.constant (verify_dominance.mlir:{{[0-9]+}}), which does not come before it

// -----

// On the way through ^right nothing defines %a.
func.func @one_path(%c: i1, %n: index) {
  cf.cond_br %c, ^left, ^right
^left:
  %a = arith.addi %n, %n : index
  cf.br ^end
^right:
  cf.br ^end
^end:
  %b = arith.addi %a, %n : index
  func.return
}
// CHECK: uses %a, defined by arith.addi {{.*}}, which does not come before it; define the value earlier in the same block or in a block around it

// -----

func.func @dominated(%c: i1, %n: index) {
  %a = arith.addi %n, %n : index
  cf.cond_br %c, ^left, ^end
^left:
  cf.br ^end
^end:
  %b = arith.addi %a, %n : index
  func.return
}
// CHECK: func.func @dominated
