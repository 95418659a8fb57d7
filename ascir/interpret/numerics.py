"""What one operation computes, on plain NumPy arrays: the oracle's arithmetic, written from the rules and not from the C.

Two levels round differently. An `ascend` operator is NumPy's function in the tensor's own dtype. An `ascend_vector` instruction
widens f16 and bf16 to f32, computes once and rounds once; its mathematical functions go through double so that they are right
to f32's last bit. Casts, masks and the order of a reduction are shared rules and live here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from ascir.machine.dtypes import from_numpy
from ascir.machine.instructions import Instruction
from ascir.machine.operators import OPERATORS, PREDICATES

Array: TypeAlias = NDArray[Any]
DType: TypeAlias = np.dtype[Any]

_INT64_MIN, _INT32_MIN = np.iinfo(np.int64).min, np.iinfo(np.int32).min


def is_narrow_float(dtype: DType) -> bool:
    """f16 and bf16: the AI Core widens them to f32."""
    return _is_float(dtype) and dtype.itemsize == 2


def _is_float(dtype: DType) -> bool:
    row = from_numpy(dtype)
    assert row is not None
    return row.is_float


def number(value: Any, dtype: DType) -> Any:
    """A Python or NumPy number as a scalar of `dtype`: integers wrap, floats round to nearest even, a bool is `value != 0`."""
    if dtype == np.bool_:
        return np.bool_(value != 0)
    if _is_float(dtype):
        return _nearest(np.asarray(value), dtype)[()]
    return np.uint64(int(value) % 2**64).astype(dtype)


# --- operators on tensors -------------------------------------------------------------------------------------------------


def _through_double(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def run(x: Array) -> Array:
        return _through_single(np.asarray(function(x.astype(np.float64))), x.dtype)

    return run


def _erf(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x)).astype(np.float64)


def _erfc(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erfc, 1, 1)(x)).astype(np.float64)


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _relu(x: Array) -> Array:
    return np.maximum(x, x.dtype.type(0))


_WITHOUT_UFUNC: dict[str, Callable[..., Array]] = {
    "rsqrt": _through_double(_rsqrt),
    "erf": _through_double(_erf),
    "erfc": _through_double(_erfc),
    "relu": _relu,
}


def operator(name: str) -> Callable[..., Array]:
    """NumPy's meaning of the element-wise operator or comparison `ascend.<name>`."""
    if name in _WITHOUT_UFUNC:
        return _WITHOUT_UFUNC[name]
    row = OPERATORS.get(name) or PREDICATES[name]
    return getattr(np, row.numpy)


_REDUCTIONS: dict[str, Callable[..., Array]] = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
}


def reduce(kind: str, x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    """A reduction in the dtype of `x`; sums, means and products of f16 and bf16 accumulate in f32 and round once."""
    function = _REDUCTIONS[kind]
    if kind in ("max", "min"):
        return np.asarray(function(x, axis=tuple(axes), keepdims=keepdims))
    wide = x.astype(np.float32) if is_narrow_float(x.dtype) else x
    return np.asarray(function(wide, axis=tuple(axes), keepdims=keepdims, dtype=wide.dtype)).astype(x.dtype)


def choose(condition: Array, a: Any, b: Any) -> Array:
    """`a` where the condition holds, else `b`: moved, not computed."""
    return np.asarray(np.where(condition, a, b))  # pyright: ignore[reportUnknownArgumentType]


# --- casts ----------------------------------------------------------------------------------------------------------------


def _half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)


_TO_WHOLE: dict[str, Callable[[Array], Array]] = {
    "rint": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _half_away,
}


@np.errstate(all="ignore")
def convert(x: Array, dtype: DType, round: str) -> Array:
    """`x` in another dtype; `round` says what happens to a value between two of its numbers.

    Integers wrap. To bool is `x != 0`. A float that is NaN or out of range of int64 becomes INT64_MIN and then wraps to the
    narrower integer (so 0), as NumPy does on x86-64; two cases stay nearer to the type: out of range of i32 is INT32_MIN in
    i32, and 2⁶³ … 2⁶⁴ is exact in ui64.
    """
    if dtype == np.bool_:
        return x != 0
    if _is_float(dtype):
        return _nearest(x, dtype) if round == "rint" or x.dtype == np.bool_ else _round_directed(x, dtype, round)
    if _is_float(x.dtype):
        return _to_integer(_TO_WHOLE[round](x.astype(np.float64)), dtype)
    return x.astype(dtype)


def _nearest(x: Array, dtype: DType) -> Array:
    """`astype` that rounds once: ml_dtypes before 0.7 came to bf16 by way of f32, which is rounded to odd here, so that both agree."""
    if dtype.name == "bfloat16" and x.dtype.itemsize >= 4 and x.dtype != np.float32:
        x = _round_directed(x, np.dtype(np.float32), "odd")
    return x.astype(dtype)


def _to_integer(whole: Array, dtype: DType) -> Array:
    fits = (whole >= -(2.0**63)) & (whole < 2.0**63)
    result = np.where(fits, np.where(fits, whole, 0.0).astype(np.int64), _INT64_MIN)
    if dtype == np.int32:
        result = np.where(result == result.astype(np.int32), result, _INT32_MIN)
    if dtype == np.uint64:
        high = (whole >= 2.0**63) & (whole < 2.0**64)
        return np.where(high, np.where(high, whole, 0.0).astype(np.uint64), result.astype(np.uint64))
    return result.astype(dtype)


def _round_directed(x: Array, dtype: DType, round: str) -> Array:
    """Round to `dtype` by its neighbours: the nearest number, corrected by a step where it lies on the wrong side of `x`."""
    if _is_float(x.dtype):
        negative, magnitude = np.signbit(x.astype(np.float64)), np.abs(x.astype(np.float64))
    else:
        negative, magnitude = x < 0, np.abs(x).view(f"u{x.dtype.itemsize}").astype(np.uint64)
    unsigned = np.dtype(f"uint{8 * dtype.itemsize}")
    nearest = magnitude.astype(dtype)
    bits = nearest.view(unsigned)
    above, below = _beside(nearest.astype(np.float64), magnitude)
    lower, upper = bits - above.astype(unsigned), bits + below.astype(unsigned)
    if round == "odd":
        chosen = np.where(lower & 1, lower, upper)
    elif round == "round":
        chosen = np.where(_is_half_way(magnitude, lower.view(dtype), upper.view(dtype)), upper, bits)
    else:
        outwards = {"trunc": np.zeros_like(negative), "floor": negative, "ceil": ~negative}[round]
        chosen = np.where(outwards, upper, lower)
    sign = negative.astype(unsigned) << (8 * dtype.itemsize - 1)
    return (chosen | sign).astype(unsigned).view(dtype)


def _beside(nearest: Array, magnitude: Array) -> tuple[Array, Array]:
    """Where `nearest` (double) is above, and where below, a magnitude in double or uint64: exactly, beyond 2⁵³ too."""
    if magnitude.dtype == np.float64:
        return nearest > magnitude, nearest < magnitude
    beyond = nearest >= 2.0**64
    whole = np.where(beyond, 0.0, nearest).astype(np.uint64)
    return beyond | (whole > magnitude), ~beyond & (whole < magnitude)


def _is_half_way(magnitude: Array, lower: Array, upper: Array) -> Array:
    low, high = lower.astype(np.float64), upper.astype(np.float64)
    if magnitude.dtype == np.float64:
        return magnitude - low == high - magnitude
    return (magnitude - low.astype(np.uint64)).astype(np.float64) == (high - low) / 2


# --- vector instructions --------------------------------------------------------------------------------------------------

_FUNCTIONS = frozenset(
    "exp ln rsqrt exp2 expm1 log1p log2 log10 cbrt sin cos tan asin acos atan"
    " sinh cosh tanh asinh acosh atanh erf erfc pow atan2 hypot".split()
)
"""Instructions computed in double and rounded to f32; the others are exact in f32 or defined by NumPy's f32 (`floor_div`)."""


@cache
def _code(expression: str) -> CodeType:
    return compile(expression, expression, "eval")


def instruction(row: Instruction, **operands: Any) -> Array:
    """The row's NumPy meaning of `a`, `b` (arrays) and `s` (a scalar) of one dtype, rounded once; bools for a comparison."""
    dtype: DType = operands["a"].dtype
    if _is_float(dtype):
        wide = np.float64 if row.name in _FUNCTIONS else np.float32
        operands = {name: value.astype(wide) for name, value in operands.items()}
    names = {"np": np, "rsqrt": _rsqrt, "erf": _erf, "erfc": _erfc, "floor_div": np.floor_divide, **operands}
    result = np.asarray(eval(_code(row.numpy), names))
    return result if result.dtype == np.bool_ else _through_single(result, dtype)


def _through_single(x: Array, dtype: DType) -> Array:
    """A function's value in double, rounded to f32 as the machine computes it, and from there to f16 or bf16."""
    return x.astype(np.float32).astype(dtype) if is_narrow_float(dtype) else x.astype(dtype)


def iota(start: Any, count: int, dtype: DType) -> Array:
    """`start + 0, start + 1, …`: one addition each, in f32 for floats, wrapping for integers."""
    wide = np.dtype(np.float32) if _is_float(dtype) else dtype
    return (np.arange(count).astype(wide) + number(start, wide)).astype(dtype)


def fold(row: Instruction, x: Array, axis: int) -> Array:
    """Reduce one axis of a matrix by folding halves (see the note in machine/instructions.py), rounding after each fold."""
    x = np.moveaxis(x, axis, 0).copy()
    n = len(x)
    if n == 0:
        raise ValueError(f"{row.name} of no elements")
    while n > 1:
        half = (n + 1) // 2
        x[: n - half] = instruction(row, a=x[: n - half], b=x[half:n])
        n = half
    return x[0]


def pack_mask(bits: Array) -> NDArray[np.uint8]:
    """Bools [..., n] → bytes [..., ⌈n / 8⌉]: bit k of byte j is element 8 j + k, pad bits 0."""
    return np.packbits(bits, axis=-1, bitorder="little")


def unpack_mask(mask: NDArray[np.uint8], count: int) -> NDArray[np.bool_]:
    """Bytes [..., ⌈count / 8⌉] → bools [..., count]."""
    return np.unpackbits(mask, axis=-1, count=count, bitorder="little").astype(np.bool_)


def dense(value: DenseIntOrFPElementsAttr[Any], dtype: DType) -> Array:
    """The values of a dense attribute, flat."""
    raw = np.frombuffer(value.data.data, np.uint8)
    return raw != 0 if dtype == np.bool_ else raw.view(dtype)
