"""Translation validation of tensor passes: what the interpreter says before a pass it must say after, to the last bit.

`irgen.assert_same` lets −0 pass for 0; rewrites of arithmetic go wrong exactly there, so the comparison here does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnknownLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass

from ascir.diagnostics import parse_module
from ascir.dialects.ascend import OperatorOp
from ascir.dialects.types import tensor
from ascir.interpret import run_function
from ascir.machine.dtypes import DType, from_numpy
from ascir.universe import new_context

Array = NDArray[Any]
CONTEXT: Context = new_context()


def parse(text: str) -> ModuleOp:
    """A verified module; every op knows its line."""
    module = parse_module(text, "kernel.mlir")
    module.verify()
    return module


def apply(module: ModuleOp, *passes: ModulePass) -> ModuleOp:
    """The module itself, changed and verified."""
    for pass_ in passes:
        pass_.apply(CONTEXT, module)
    module.verify()
    return module


def operators(module: ModuleOp) -> list[OperatorOp]:
    return [op for op in module.walk() if isinstance(op, OperatorOp)]


def names(module: ModuleOp) -> list[str]:
    """`mul f32`, … of the operators in order, with the element type of the first operand (of the result if there is none)."""
    return [f"{op.name.removeprefix('ascend.')} {_element(op)}" for op in operators(module)]


def _element(op: OperatorOp) -> str:
    type_: Any = (op.operands or op.results)[0].type
    return str(type_.element_type)


def function(inputs: Sequence[Array], make: Callable[..., OperatorOp | Sequence[OperatorOp]]) -> ModuleOp:
    """A function @random on inputs of these dtypes and shapes: one operator, or several of which the last gives the result."""
    block = Block(arg_types=[tensor(x.shape, row(x)) for x in inputs])
    made = make(*block.args)
    ops = [made] if isinstance(made, OperatorOp) else list(made)
    block.add_ops([*ops, ReturnOp(ops[-1].result)])
    types = FunctionType.from_lists(list(block.arg_types), [ops[-1].result.type])
    module = ModuleOp([FuncOp("random", types, Region(block))])
    module.verify()
    return module


def row(x: Array) -> DType:
    found = from_numpy(x.dtype)
    assert found is not None
    return found


def assert_kept(module: ModuleOp, inputs: Sequence[Array], *passes: ModulePass, name: str = "random") -> None:
    """The passes change no bit of the function's results on these inputs, and leave no op without the location it came from."""
    located = all(not isinstance(op.location, UnknownLoc) for op in operators(module))
    text = str(module)
    before = run_function(module, name, inputs)
    apply(module, *passes)
    after = run_function(module, name, inputs)
    # ml_dtypes gives sign(−0) = −0 in bf16, NumPy gives 0 in every type of its own.
    assert_bits(after, before, zero_signs="ascend.sign" not in text or "bf16" not in text)
    assert not located or all(not isinstance(op.location, UnknownLoc) for op in operators(module))


def assert_bits(found: Sequence[Array], expected: Sequence[Array], *, zero_signs: bool = True) -> None:
    """Equal dtypes, shapes and bits; one NaN is as good as another."""
    assert [(v.dtype, v.shape) for v in found] == [(v.dtype, v.shape) for v in expected]
    for a, b in zip(found, expected, strict=True):
        same = (a == b) | ((a != a) & (b != b))
        if zero_signs and a.dtype.kind not in "biu":
            same &= (a != 0) | (np.signbit(a) == np.signbit(b))
        assert same.all(), f"{a[~same][:5]} instead of {b[~same][:5]}"
