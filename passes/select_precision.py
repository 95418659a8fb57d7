"""select-precision: in which type f16 and bf16 values are computed, and where they are rounded.

    %0 = ascend.mul %x, %x : tensor<8xf16>       mixed:   %0 = ascend.cast %x implicit : tensor<8xf16> to tensor<8xf32>
    %1 = ascend.exp %0 : tensor<8xf16>                    %1 = ascend.mul %0, %0 : tensor<8xf32>
                                                          %2 = ascend.exp %1 : tensor<8xf32>
                                                          %3 = ascend.cast %2 implicit : tensor<8xf32> to tensor<8xf16>

*mixed* computes in f32 as tuned kernels do, and rounds once, where a value is stored or moved. Operators that are exact in f16
(abs, max, compare, …) stay there as long as all their operands are stored values, so they run at f16 speed. *strict* rounds after
every operator to its NumPy type; those without an f16 instruction go through f32. Both sum in f32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import (
    BroadcastOp,
    CastOp,
    ClampOp,
    CompareOp,
    ElementwiseOp,
    OperatorOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
)
from ascir.machine.dtypes import dtype
from ascir.passes.operators import Builder, computing_dtype, element, erase_dead, functions, has_row, replace, row_name
from ascir.passes.splats import number_of

_F32 = dtype("f32")
_NARROW = ("f16", "bf16")
_ARITHMETIC = (ElementwiseOp, CompareOp, SelectOp, ClampOp, ReduceOp)
_SEEN_THROUGH = (BroadcastOp, ReshapeOp)
"""Movement that a kernel does while it computes; all other movement stores its operand."""

_EXACT = {
    "f16": ("abs", "neg", "relu", "max", "min", "clamp", "compare", "select", "reduce_max", "reduce_min"),
    "bf16": ("select",),
}
"""Operators that the vector unit has in this type and that never round."""

_SUMS = ("reduce_sum", "reduce_prod", "reduce_mean")


def is_narrow(op: OperatorOp) -> bool:
    return isinstance(op, _ARITHMETIC) and computing_dtype(op).name in _NARROW


class Mixed:
    """One walk: `wide` knows, for every value that was rounded, the f32 value it was rounded from."""

    def __init__(self) -> None:
        self.build = Builder(implicit=True)
        self.wide: dict[SSAValue, SSAValue] = {}

    def visit(self, op: OperatorOp) -> None:
        self.build.before(op)
        if isinstance(op, CastOp):
            self._cast(op)
        elif isinstance(op, _SEEN_THROUGH):
            if op.x in self.wide:
                self.wide[op.result] = self.build.twin(op, [self.wide[op.x]], _F32)
        elif is_narrow(op) and not self._stays(op):
            self._widen(op)

    def _stays(self, op: OperatorOp) -> bool:
        return row_name(op) in _EXACT[computing_dtype(op).name] and not any(v in self.wide for v in op.operands)

    def _cast(self, op: CastOp) -> None:
        """The compiler's casts are transparent; the author's read the rounded value, and round."""
        if op.implicit is None:
            return
        if element(op.result) == _F32 and op.x in self.wide:
            replace(op, self.wide[op.x])
        elif element(op.x) == _F32 and element(op.result).name in _NARROW:
            self.wide[op.result] = op.x

    def _widen(self, op: OperatorOp) -> None:
        narrow = computing_dtype(op)
        if isinstance(op, CompareOp):
            return replace(op, self.build.twin(op, [self._compared(v) for v in op.operands], element(op.result)))
        operands = [self._operand(v) if element(v) == narrow else v for v in op.operands]
        result = self.build.twin(op, operands, _F32)
        stored = self.build.cast(result, narrow)
        self.wide[stored] = result
        replace(op, stored)

    def _operand(self, value: SSAValue) -> SSAValue:
        """The value in f32. A constant is the number that was written, not rounded to the narrow type first."""
        if (wide := self.wide.get(value)) is not None:
            return wide
        number = number_of(value)
        if number is None:
            return self.build.cast(value, _F32)
        constant = self.build.splat(number, value, _F32)
        constant.name_hint = value.name_hint
        self.wide[value] = constant
        return constant

    def _compared(self, value: SSAValue) -> SSAValue:
        """An operand of a comparison: NumPy compares with the rounded constant, and the last bit decides the answer."""
        return self.build.cast(value, _F32) if number_of(value) is not None else self._operand(value)


class Strict:
    """Every operator rounds to its own type; the casts are as good as the author's, so nothing cancels them."""

    def __init__(self) -> None:
        self.build = Builder(implicit=False)

    def visit(self, op: OperatorOp) -> None:
        if not is_narrow(op):
            return
        name, narrow = row_name(op), computing_dtype(op).name
        if name not in _SUMS and (has_row(name, narrow) or name in _EXACT[narrow]):
            return
        self.build.before(op)
        replace(op, self.build.through(op, _F32))


PRECISIONS: dict[str, Callable[[], Mixed | Strict]] = {"mixed": Mixed, "strict": Strict}


def select_precision(block: Block, precision: str) -> None:
    """Rewrite the operators of one block in the given precision, one of `PRECISIONS`."""
    walk = PRECISIONS[precision]()
    for op in list(block.ops):
        if isinstance(op, OperatorOp):
            walk.visit(op)
    erase_dead(block)


@dataclass(frozen=True)
class SelectPrecisionPass(ModulePass):
    """Choose where f16 and bf16 values are computed in f32, and note the choice on the function."""

    name = "select-precision"

    precision: str = "mixed"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.precision not in PRECISIONS:
            known = ", ".join(PRECISIONS)
            raise PassFailedException(f"{self.name}: there is no precision '{self.precision}'; choose one of {known}")
        for function, block in functions(op):
            select_precision(block, self.precision)
            function.attributes["precision"] = StringAttr(self.precision)
