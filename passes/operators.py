"""What the passes over tensor operators share: which operators have an instruction, and how to write one operator as others.

`select-precision` and `legalize-dtypes` both walk a function once and put other operators in the place of those that the AI Core
lacks in some element type. The table of what it has is `machine/instructions.py`; `Builder` makes the replacements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import BroadcastOp, CastOp, CompareOp, ConstantOp, OperatorOp, ReduceOp
from ascir.dialects.types import dtype_of, shape_of, tensor, tensor_type
from ascir.machine.dtypes import DType
from ascir.machine.instructions import BY_NAME
from ascir.passes.splats import Number, number_of, rounded

_INSTRUCTION = {"log": "ln", "neg": "muls", "clamp": "max", "compare": "compare_eq"}
"""Operators whose instruction is spelt differently; all others share their name."""


def functions(module: ModuleOp) -> Iterator[tuple[FuncOp, Block]]:
    """The functions of one block, with it (declarations have none)."""
    for op in module.ops:
        if isinstance(op, FuncOp) and len(op.body.blocks) == 1:
            yield op, op.body.block


def row_name(op: OperatorOp) -> str:
    """The name under which tables list an operator: `add`, `compare`, `reduce_sum`, …"""
    name = op.name.removeprefix("ascend.")
    return f"reduce_{op.kind.data}" if isinstance(op, ReduceOp) else name


def has_row(name: str, dtype: str) -> bool:
    """Whether an instruction computes this operator in this element type."""
    row = BY_NAME.get(_INSTRUCTION.get(name, name))
    return row is not None and dtype in row.dtypes


def element(value: SSAValue) -> DType:
    return dtype_of(tensor_type(value))


def computing_dtype(op: OperatorOp) -> DType:
    """The element type in which an operator computes: that of its last operand (of its result if it has none)."""
    return element(op.operands[-1] if op.operands else op.result)


def refuse(op: Operation, message: str) -> NoReturn:
    """Raise a PassFailedException that blames an operation of the module; `emit_error` is how diagnostics find its location."""
    op.emit_error(message, PassFailedException(message))


def widens(source: DType, target: DType) -> bool:
    """Whether every value of one type is a value of the other, so that a cast between them loses nothing."""
    if source == target or source.kind == "bool":
        return True
    if target.is_float:
        return source.name in _EXACT_IN[target.name]
    if not (source.is_integer and target.is_integer) or (source.kind == "int" and target.kind == "uint"):
        return False
    return source.bytes < target.bytes


_EXACT_IN = {
    "f16": ("i8", "ui8"),
    "bf16": ("i8", "ui8"),
    "f32": ("i8", "ui8", "i16", "ui16", "f16", "bf16"),
    "f64": ("i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"),
}
"""Float type → the numbers it holds exactly."""


class Builder:
    """Writes operators in front of the one being replaced, with its location; casts and constants are made once."""

    def __init__(self, implicit: bool):
        self.implicit = implicit
        """Whether casts may cancel: the author did not ask for their rounding."""
        self.point: Operation
        """The operator being replaced."""
        self._casts: dict[tuple[SSAValue, str], SSAValue] = {}

    def before(self, op: Operation) -> None:
        self.point = op

    def insert(self, op: OperatorOp) -> SSAValue:
        op.location = self.point.location
        block = self.point.parent
        assert block is not None
        block.insert_op_before(op, self.point)
        return op.result

    def emit(self, op: OperatorOp) -> SSAValue:
        """Put in an operator that was just made, or whatever stands for it (see `legalize_dtypes`)."""
        return self.insert(op)

    def splat(self, number: Number, like: SSAValue, dtype: DType) -> SSAValue:
        """The number everywhere, in the shape of another value."""
        return self.insert(ConstantOp.splat(number, tensor(shape_of(like), dtype)))

    def cast(self, value: SSAValue, target: DType, round: str | None = None) -> SSAValue:
        """The value in another type; a constant is converted here, and what is broadcast is cast while it is small."""
        source = element(value)
        if source == target:
            return value
        if widens(source, target) and (known := self._casts.get((value, target.name))):
            return known
        result = self._cast(value, source, target, round)
        if result.name_hint is None:
            result.name_hint = value.name_hint
        if widens(source, target):
            self._casts[value, target.name] = result
        return result

    def _cast(self, value: SSAValue, source: DType, target: DType, round: str | None) -> SSAValue:
        if widens(source, target):
            if (number := number_of(value)) is not None:
                return self.splat(rounded(number, source), value, target)
            if isinstance(value.owner, BroadcastOp):
                return self.insert(BroadcastOp(self.cast(value.owner.x, target), shape_of(value)))
        return self.emit(CastOp(value, target, round, self.implicit))

    def twin(self, op: OperatorOp, operands: Sequence[SSAValue], dtype: DType) -> SSAValue:
        """The same operator on operands of another type, with a result of `dtype`."""
        made = op.create(
            operands=operands,
            result_types=[tensor(shape_of(op.result), dtype)],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        made.result.name_hint = op.result.name_hint
        return self.emit(made)

    def through(self, op: OperatorOp, wide: DType) -> SSAValue:
        """The operator computed in a wider type: operands cast up, the result cast back."""
        narrow = computing_dtype(op)
        operands = [self.cast(v, wide) if element(v) == narrow else v for v in op.operands]
        if isinstance(op, CompareOp):
            return self.twin(op, operands, element(op.result))
        return self.cast(self.twin(op, operands, wide), narrow)


def replace(op: OperatorOp, value: SSAValue) -> None:
    """Let another value stand for an operator's result, under its name, and remove the operator."""
    if value.name_hint is None:
        value.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(value)
    op.detach()
    op.erase()


def erase_dead(block: Block) -> None:
    """Remove the operators of which nobody uses the result."""
    for op in reversed(block.ops):
        if isinstance(op, OperatorOp) and op.result.first_use is None:
            block.erase_op(op)
