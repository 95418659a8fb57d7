"""ascend_vector on NumPy: every instruction reads its row of `machine/instructions.py`, computes whole arrays, and writes once.

Operands arrive as the ops declare them, the destination last. What a row computes is in `numerics.py`; this file only says which
operand is what in each form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.utils.exceptions import InterpretationError

from ascir.dialects.vector import OPS, CastOp, ReduceOp, VectorOp
from ascir.machine.instructions import INSTRUCTIONS, Form, Instruction
from ascir.machine.layout import ceil_div

from . import numerics
from .buffers import Window
from .numerics import Array, DType

Run = Callable[[Instruction, Any, Window, list[Any]], None]

_NAMES: dict[Form, tuple[str, ...]] = {
    "unary": ("a",),
    "binary": ("a", "b"),
    "scalar": ("a", "s"),
    "compare": ("a", "b"),
    "compare_scalar": ("a", "s"),
}


def _operand(value: Any, dtype: DType, shape: tuple[int, ...]) -> Any:
    """A source as an array of the common shape, or a scalar operand in the element type."""
    if not isinstance(value, Window):
        return numerics.number(value, dtype)
    if value.shape != shape:
        raise InterpretationError(f"a source has shape {value.shape}; expected {shape}")
    return value.lanes()


def _operands(row: Instruction, sources: list[Any]) -> dict[str, Any]:
    first: Window = sources[0]
    return {n: _operand(v, first.dtype, first.shape) for n, v in zip(_NAMES[row.form], sources, strict=True)}


def _arithmetic(row: Instruction, op: VectorOp, destination: Window, sources: list[Any]) -> None:
    destination.write(numerics.instruction(row, **_operands(row, sources)))


def _compare(row: Instruction, op: VectorOp, destination: Window, sources: list[Any]) -> None:
    destination.write(numerics.pack_mask(numerics.instruction(row, **_operands(row, sources))))


def _select(row: Instruction, op: VectorOp, destination: Window, sources: list[Any]) -> None:
    mask, *values = sources
    shape, dtype = destination.shape, destination.dtype
    packed = _operand(mask, mask.dtype, (*shape[:-1], ceil_div(shape[-1], 8)))
    a, b = (_operand(v, dtype, shape) for v in values)
    destination.write(numerics.choose(numerics.unpack_mask(packed, shape[-1]), a, b))


def _cast(row: Instruction, op: CastOp, destination: Window, sources: list[Any]) -> None:
    destination.write(numerics.convert(sources[0].lanes(), destination.dtype, op.round.data))


def _copy(row: Instruction, op: VectorOp, destination: Window, sources: list[Any]) -> None:
    destination.write(sources[0].lanes())


def _duplicate(row: Instruction, op: VectorOp, destination: Window, sources: list[Any]) -> None:
    destination.array()[...] = numerics.number(sources[0], destination.dtype)


def _iota(row: Instruction, op: VectorOp, destination: Window, sources: list[Any]) -> None:
    destination.array()[...] = numerics.iota(sources[0], destination.shape[-1], destination.dtype)


def _block_broadcast(row: Instruction, op: VectorOp, destination: Window, sources: list[Any]) -> None:
    column: Array = sources[0].lanes()[:, None]
    destination.write(np.broadcast_to(column, (len(column), destination.shape[1])))


def _reduce(row: Instruction, op: ReduceOp, destination: Window, sources: list[Any]) -> None:
    """The work space holds no promise afterwards, hence the poison."""
    source, work = sources
    result = numerics.fold(row, source.lanes(), op.axis.value.data)
    work.poison()
    destination.write(result)


_FORMS: dict[Form, Run] = {
    "unary": _arithmetic,
    "binary": _arithmetic,
    "scalar": _arithmetic,
    "compare": _compare,
    "compare_scalar": _compare,
    "select": _select,
    "select_scalar": _select,
    "cast": _cast,
    "duplicate": _duplicate,
    "iota": _iota,
    "block_broadcast": _block_broadcast,
    "copy": _copy,
    "reduce": _reduce,
}


class VectorFunctions(InterpreterFunctions):
    """One method an instruction row, added below."""


def _define(row: Instruction) -> None:
    def run(self: VectorFunctions, interpreter: Interpreter, op: VectorOp, args: PythonValues) -> PythonValues:
        *sources, destination = args
        _FORMS[row.form](row, op, destination, sources)
        return ()

    setattr(VectorFunctions, f"run_{row.name}", impl(OPS[row.name])(run))


for _row in INSTRUCTIONS:
    _define(_row)
register_impls(VectorFunctions)
