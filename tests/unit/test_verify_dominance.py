"""verify-dominance where text cannot go: the parser refuses what a pass can do by moving an op."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from ascir.diagnostics import parse_module
from ascir.passes.verify_dominance import VerifyDominancePass

from .clockwork import KERNELS

LOOP = """func.func @f(%n: index) {
  %r = scf.for %i = %n to %n step %n iter_args(%s = %n) -> (index) {
    %a = arith.addi %s, %n : index
    scf.yield %a : index
  }
  %b = arith.addi %r, %r : index
  func.return
}"""


def parts() -> tuple[ModuleOp, scf.ForOp, arith.AddiOp, arith.AddiOp]:
    module = parse_module(LOOP, "f.mlir")
    inner, outer = (op for op in module.walk() if isinstance(op, arith.AddiOp))
    (loop,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    return module, loop, inner, outer


def refusal(module: ModuleOp) -> str:
    with pytest.raises(PassFailedException) as error:
        VerifyDominancePass().apply(Context(), module)
    return str(error.value)


def test_sound_ir_passes() -> None:
    VerifyDominancePass().apply(Context(), parts()[0])
    for path in KERNELS:
        VerifyDominancePass().apply(Context(), parse_module(path.read_text()))


def test_a_value_of_a_loop_is_out_of_sight_behind_it() -> None:
    module, _, inner, outer = parts()
    outer.operands[0] = inner.result
    assert refusal(module) == (
        "verify-dominance: arith.addi (f.mlir:6) uses %a, defined by arith.addi (f.mlir:3), which does not come before it; "
        "define the value earlier in the same block or in a block around it"
    )


def test_the_induction_value_is_out_of_sight_behind_the_loop() -> None:
    module, loop, _, outer = parts()
    outer.operands[0] = loop.body.block.args[0]
    assert "uses %i, an argument of scf.for, which does not come before it" in refusal(module)


def test_a_loop_does_not_see_its_own_result() -> None:
    module, loop, inner, _ = parts()
    inner.operands[0] = loop.res[0]
    assert "arith.addi (f.mlir:3) uses %r, defined by scf.for (f.mlir:2)" in refusal(module)


def test_a_value_of_an_op_that_was_taken_out_is_refused() -> None:
    module, _, inner, outer = parts()
    copy = inner.clone()
    outer.operands[1] = copy.result
    assert "defined by arith.addi" in refusal(module)
