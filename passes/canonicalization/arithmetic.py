"""Algebra that holds to the bit: neutral elements, absorbing elements, an operator of itself.

Most school algebra is false here: x + 0 turns −0 into +0, x · 0 is NaN for infinite x, x − x is NaN for NaN. What is left is in
three tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from ascir.dialects.ascend import ConstantOp, ElementwiseOp, elementwise
from ascir.dialects.types import dtype_of, is_static, tensor_type
from ascir.machine.dtypes import DType, Kind
from ascir.passes.splats import Number, number_of, rounded

Kinds = tuple[Kind, ...]
_INTEGER: Kinds = ("int", "uint")
_FLOAT: Kinds = ("float",)
_BITS: Kinds = ("int", "uint", "bool")

_NEUTRAL: dict[str, tuple[tuple[Kinds, Number], ...]] = {
    "add": ((_INTEGER, 0), (_FLOAT, -0.0)),
    "sub": ((_INTEGER, 0), (_FLOAT, 0.0)),
    "mul": ((_INTEGER, 1), (_FLOAT, 1.0)),
    "div": ((_FLOAT, 1.0),),
    "floor_div": ((_INTEGER, 1),),
    "pow": ((_FLOAT, 1.0),),
    "max": ((_FLOAT, -math.inf),),
    "min": ((_FLOAT, math.inf),),
    "and": ((_BITS, -1),),
    "or": ((_BITS, 0),),
    "xor": ((_BITS, 0),),
    "shl": ((_INTEGER, 0),),
    "shr": ((_INTEGER, 0),),
}
"""x ∘ e = x. Floats add −0, the only zero that keeps the sign of −0, and subtract +0."""

_ABSORBING: dict[str, tuple[tuple[Kinds, Number], ...]] = {
    "mul": ((_INTEGER, 0),),
    "and": ((_BITS, 0),),
    "or": ((_BITS, -1),),
}
"""x ∘ z = z. No float: NaN and infinity do not vanish in 0."""

_COMMUTATIVE = ("add", "mul", "max", "min", "and", "or", "xor")
_IDEMPOTENT = ("abs", "relu", "sign", "floor", "ceil", "rint", "trunc")
_INVOLUTIONS = ("neg", "not")


def neutral(op: ElementwiseOp) -> SSAValue | None:
    """x ∘ e → x: one operand comes back as it was, whatever its bits (integers wrap the same way)."""
    a, b = op.operands
    name, dtype = op.operator.name, dtype_of(tensor_type(op.result))
    if _is_one_of(b, _NEUTRAL.get(name, ()), dtype):
        return a
    return b if name in _COMMUTATIVE and _is_one_of(a, _NEUTRAL.get(name, ()), dtype) else None


def absorbing(op: ElementwiseOp) -> SSAValue | None:
    """x · 0 → 0 and the like, on integers and bits only, where every x gives the same."""
    a, b = op.operands
    rows, dtype = _ABSORBING.get(op.operator.name, ()), dtype_of(tensor_type(op.result))
    if _is_one_of(b, rows, dtype):
        return b
    return a if _is_one_of(a, rows, dtype) else None


def with_itself(op: ElementwiseOp) -> SSAValue | Sequence[ConstantOp] | None:
    """max(x, x) → x (NaN too), x & x → x; x − x → 0 and x ^ x → 0 for integers and bits, where no NaN can hide."""
    a, b = op.operands
    if a is not b:
        return None
    type_ = tensor_type(op.result)
    name = op.operator.name
    if name in ("max", "min", "and", "or"):
        return a
    if name in ("sub", "xor") and not dtype_of(type_).is_float and is_static(type_.get_shape()):
        return (ConstantOp.splat(0, type_),)
    return None


def twice(op: ElementwiseOp) -> SSAValue | Sequence[ElementwiseOp] | None:
    """neg(neg x) → x flips a sign twice (INT_MIN stays itself), not(not x) → x; f(f x) → f x where f has a fixed image;
    abs(neg x) → abs x drops the sign that was flipped."""
    (x,) = op.operands
    inner = x.owner
    if not isinstance(inner, ElementwiseOp):
        return None
    name, before = op.operator.name, inner.operator.name
    if name == before and name in _INVOLUTIONS:
        return inner.operands[0]
    if name == before and name in _IDEMPOTENT:
        return x
    return (elementwise("abs", inner.operands[0]),) if (name, before) == ("abs", "neg") else None


def divide_by_power_of_two(op: ElementwiseOp) -> Sequence[ElementwiseOp | ConstantOp] | None:
    """x / 2ᵏ → x · 2⁻ᵏ: both round the same real number; |k| ≤ 14, so that every float type holds 2ᵏ and 2⁻ᵏ."""
    number = number_of(op.operands[1])
    if not isinstance(number, float) or not math.isfinite(number):
        return None
    mantissa, exponent = math.frexp(number)
    if abs(mantissa) != 0.5 or abs(exponent - 1) > 14:
        return None
    factor = ConstantOp.splat(1.0 / number, tensor_type(op.result))
    return factor, elementwise("mul", op.operands[0], factor.result)


def _is_one_of(value: SSAValue, rows: Sequence[tuple[Kinds, Number]], dtype: DType) -> bool:
    number = number_of(value)
    return number is not None and any(dtype.kind in kinds and _same(number, wanted, dtype) for kinds, wanted in rows)


def _same(number: Number, wanted: Number, dtype: DType) -> bool:
    """Equality that tells −0 from +0, and knows integers by their bits."""
    if dtype.is_float:
        return number == wanted and math.copysign(1.0, number) == math.copysign(1.0, wanted)
    return rounded(number, dtype) == rounded(wanted, dtype)
