"""Casts that change nothing, that can be done now, or that two of which are one.

A cast the author wrote rounds, always; only a cast the compiler put in (`implicit`) may be undone by its opposite.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ascir.dialects.ascend import CastOp, ConstantOp
from ascir.dialects.types import dtype_of, is_static, tensor_type
from ascir.machine.instructions import cast_pipe
from ascir.passes.operators import element, widens
from ascir.passes.splats import converted, number_of


def same_type(op: CastOp) -> SSAValue | None:
    """x : T to T → x: no bits are lost, so no rounding mode has a say."""
    return op.x if op.x.type == op.result.type else None


def of_constant(op: CastOp) -> Sequence[ConstantOp] | None:
    """A constant cast now: rounded to its own type first, then converted, as the cast would find it."""
    number, type_ = number_of(op.x), tensor_type(op.result)
    if number is None or not is_static(type_.get_shape()):
        return None
    value = converted(number, element(op.x), dtype_of(type_), op.round.data)
    return None if value is None else (ConstantOp.splat(value, type_),)


def implicit_pair(op: CastOp) -> SSAValue | None:
    """f32 → f16 → f32, both put in by the compiler → x: the rounding between was never asked for. (The one rule that may change
    bits; it restores those of the computation before `select-precision`.)"""
    inner = op.x.owner
    if not isinstance(inner, CastOp) or op.implicit is None or inner.implicit is None:
        return None
    floats = element(op.x).is_float and element(inner.x).is_float
    return inner.x if floats and inner.x.type == op.result.type else None


def after_widening(op: CastOp) -> SSAValue | Sequence[CastOp] | None:
    """f16 → f32 → f16 → x and i8 → i32 → i64 → i8 → i64: the first cast keeps every value (NaN, infinities and −0 too), so the
    second sees what it would have seen without. Left alone: f16 → f32 → bf16, for the AI Core has no direct cast, and rounding
    to odd, which it has for f32 only."""
    inner = op.x.owner
    if not isinstance(inner, CastOp):
        return None
    source, target = element(inner.x), dtype_of(tensor_type(op.result))
    if not widens(source, element(op.x)):
        return None
    if source == target:
        return inner.x
    if cast_pipe(source.name, target.name) is None or op.round.data == "odd":
        return None
    return (CastOp(inner.x, target, op.round.data, op.implicit is not None),)
