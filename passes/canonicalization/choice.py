"""Comparisons and selections whose outcome is known, or that read simpler the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ascir.dialects.ascend import CompareOp, ConstantOp, ElementwiseOp, SelectOp
from ascir.dialects.types import dtype_of, is_static, tensor_type
from ascir.passes.splats import number_of

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_ITSELF = {"eq": True, "le": True, "ge": True, "ne": False, "lt": False, "gt": False}
"""x ? x where x is no NaN."""


def compare_with_itself(op: CompareOp) -> Sequence[ConstantOp] | None:
    """x < x is false and x > x too, NaN or not; the others are known only of types without NaN."""
    predicate, type_ = op.predicate.data, tensor_type(op.result)
    known = predicate in ("lt", "gt") or not dtype_of(tensor_type(op.a)).is_float
    if op.a is not op.b or not known or not is_static(type_.get_shape()):
        return None
    return (ConstantOp.splat(_ITSELF[predicate], type_),)


def negated_compare(op: ElementwiseOp) -> Sequence[CompareOp] | None:
    """not (a == b) → a != b, of any type, for NaN differs from everything; not (a < b) → a >= b where there is no NaN."""
    inner = op.operands[0].owner
    if not isinstance(inner, CompareOp):
        return None
    predicate = inner.predicate.data
    if predicate not in ("eq", "ne") and dtype_of(tensor_type(inner.a)).is_float:
        return None
    return (CompareOp(_OPPOSITE[predicate], inner.a, inner.b),)


def select_known(op: SelectOp) -> SSAValue | None:
    """select true, a, b → a, select false, a, b → b, select c, a, a → a: one arm comes out as it is."""
    number = number_of(op.condition)
    if number is not None:
        return op.a if number else op.b
    return op.a if op.a is op.b else None


def select_by_negation(op: SelectOp) -> Sequence[SelectOp] | None:
    """select (not c), a, b → select c, b, a: the same arm is taken everywhere."""
    inner = op.condition.owner
    if isinstance(inner, ElementwiseOp) and inner.operator.name == "not":
        return (SelectOp(inner.operands[0], op.b, op.a),)
    return None
