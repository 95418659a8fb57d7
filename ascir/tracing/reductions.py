"""Sums, extrema, means and the other functions that shrink axes, as NumPy defines them.

Small integers are summed in 64 bits, because NumPy does; means of integers would be float64 and are refused. A sum or mean of
float16 and bfloat16 is accumulated in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ascir.dialects import inference
from ascir.dialects.ascend import CompareOp, IotaOp, ReduceOp
from ascir.dialects.types import dtype_of, shape_of, tensor, tensor_type
from ascir.machine.dtypes import DType
from ascir.machine.dtypes import dtype as row_named
from ascir.source import fail

from .indexing import reshape_value
from .operands import broadcast, cast, checked, traced, whole, wrap
from .promotion import as_dtype
from .registry import implements
from .trace import Shape, current, is_sequence
from .ufuncs import fill, is_float, isnan, op, select

_BOOL, _I32, _I64, _U64, _F32 = (row_named(n) for n in ("i1", "i32", "i64", "ui64", "f32"))
_F32_COUNTS_TO = 1 << 24
"""Whole numbers up to here are exact in float32, in which pipe V can reduce."""


def value_of(x: Any) -> SSAValue:
    return traced(x).value_in(current())


def element(value: SSAValue) -> DType:
    return dtype_of(tensor_type(value))


def axes_of(axis: Any, shape: Shape) -> tuple[int, ...]:
    """The axes that `axis=` names (all for None), counted from 0."""
    if axis is None:
        return tuple(range(len(shape)))
    given: Sequence[Any] = axis if is_sequence(axis) else (axis,)
    axes = [checked(inference.normalize_axis, whole(a, "an axis"), len(shape)) for a in given]
    checked(inference.reduce, shape, axes, False)
    return tuple(sorted(axes))


def reduce_value(kind: str, value: SSAValue, axis: Any, keepdims: bool) -> SSAValue:
    """`ascend.reduce`. Over no axes a float sum still starts from 0, as in NumPy: −0 becomes 0."""
    axes = axes_of(axis, shape_of(value))
    if axes:
        return current().emit(ReduceOp, kind, value, axes, bool(keepdims))
    return op("add", value, fill(value, 0.0)) if kind in ("sum", "mean") and is_float(value) else value


def _accumulated(value: SSAValue, dtype: Any) -> SSAValue:
    """The operand in the dtype that NumPy sums and multiplies in."""
    if dtype is not None:
        return cast(value, as_dtype(dtype)[1])
    row = element(value)
    if row.is_float:
        return value
    return cast(value, _U64 if row.kind == "uint" else _I64)


@implements(np.sum)
def sum_(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return wrap(_total("sum", "or", a, axis, dtype, keepdims))


@implements(np.prod)
def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return wrap(_total("prod", "and", a, axis, dtype, keepdims))


def _total(kind: str, of_bools: str, a: Any, axis: Any, dtype: Any, keepdims: bool) -> SSAValue:
    value = _accumulated(value_of(a), dtype)
    if element(value).kind != "bool":
        return reduce_value(kind, value, axis, keepdims)
    return _any_or_all("max" if of_bools == "or" else "min", value, axis, keepdims)


@implements(np.max, np.amax)
def max_(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """NaN if there is one."""
    return wrap(_extremum("max", a, axis, keepdims))


@implements(np.min, np.amin)
def min_(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """NaN if there is one."""
    return wrap(_extremum("min", a, axis, keepdims))


def _extremum(kind: str, a: Any, axis: Any, keepdims: bool) -> SSAValue:
    value = value_of(a)
    if _is_empty(value, axis):
        fail(f"zero-size array to reduction operation {kind}imum which has no identity", "np.concatenate a neutral row first")
    return reduce_value(kind, value, axis, keepdims)


def _is_empty(value: SSAValue, axis: Any) -> bool:
    """Whether there is something to compute and nothing to compute it from."""
    shape = shape_of(value)
    axes = axes_of(axis, shape)
    return 0 in [shape[k] for k in axes] and 0 not in [d for k, d in enumerate(shape) if k not in axes]


@implements(np.any)
def any_(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """NaN counts as true."""
    return wrap(_any_or_all("max", value_of(a), axis, keepdims))


@implements(np.all)
def all_(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """NaN counts as true."""
    return wrap(_any_or_all("min", value_of(a), axis, keepdims))


def _any_or_all(kind: str, value: SSAValue, axis: Any, keepdims: bool) -> SSAValue:
    shape = shape_of(value)
    axes = axes_of(axis, shape)
    if 0 in [shape[k] for k in axes]:
        return current().splat(int(kind == "min"), inference.reduce(shape, axes, keepdims), _BOOL)
    return reduce_value(kind, cast(value, _BOOL), axis, keepdims)


# Means and variances.


def _averaged(a: Any, dtype: Any, name: str) -> SSAValue:
    value = value_of(a)
    if dtype is not None:
        return cast(value, as_dtype(dtype)[1])
    if not is_float(value):
        fail(
            f"np.{name} of {element(value).numpy} gives float64 in NumPy, which the AI Core does not compute",
            f"cast first: x.astype(np.float32).{name}(…), or give dtype=np.float32",
        )
    return value


@implements(np.mean)
def mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return wrap(mean_value(_averaged(a, dtype, "mean"), axis, keepdims))


def mean_value(value: SSAValue, axis: Any, keepdims: bool) -> SSAValue:
    """The mean; of nothing, NaN."""
    if not is_float(value):
        fail(f"np.mean in {element(value).numpy} does not work in a kernel", "give dtype=np.float32")
    shape = shape_of(value)
    axes = axes_of(axis, shape)
    if 0 in [shape[k] for k in axes]:
        return current().splat(math.nan, inference.reduce(shape, axes, keepdims), element(value))
    return reduce_value("mean", value, axis, keepdims)


@implements(np.var)
def var(a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: bool = False, *, correction: Any = None) -> Any:
    """Two passes: the mean, then the mean square distance from it, over count − ddof."""
    return wrap(_variance(_averaged(a, dtype, "var"), axis, ddof if correction is None else correction, keepdims))


@implements(np.std)
def std(a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: bool = False, *, correction: Any = None) -> Any:
    """√var."""
    value = _averaged(a, dtype, "std")
    return wrap(op("sqrt", _variance(value, axis, ddof if correction is None else correction, keepdims)))


def _variance(value: SSAValue, axis: Any, ddof: float, keepdims: bool) -> SSAValue:
    shape = shape_of(value)
    middle = broadcast(mean_value(value, axis, True), shape)
    distance = op("sub", value, middle)
    square = op("mul", distance, distance)
    sizes = [shape[k] for k in axes_of(axis, shape)]
    if DYNAMIC_INDEX in sizes:
        if ddof:
            fail("var with ddof over an axis of unknown size", "give ascir.TensorSpec its size in the place of None")
        return reduce_value("mean", square, axis, keepdims)
    total = reduce_value("sum", square, axis, keepdims)
    return op("div", total, fill(total, max(math.prod(sizes) - ddof, 0)))


# Positions of extrema.


@implements(np.argmax)
def argmax(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The first greatest; the first NaN if there is one."""
    return wrap(_position("max", value_of(a), axis, keepdims))


@implements(np.argmin)
def argmin(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The first smallest; the first NaN if there is one."""
    return wrap(_position("min", value_of(a), axis, keepdims))


def _position(kind: str, value: SSAValue, axis: Any, keepdims: bool) -> SSAValue:
    shape = shape_of(value)
    if axis is None:
        found = _position_on_axis(kind, reshape_value(value, (_product(shape),)), 0)
        return reshape_value(found, (1,) * len(shape) if keepdims else ())
    (only,) = axes_of(whole(axis, "the axis"), shape)
    found = _position_on_axis(kind, value, only)
    return found if keepdims else reshape_value(found, inference.reduce(shape, (only,), False))


def _product(shape: Shape) -> int:
    return DYNAMIC_INDEX if DYNAMIC_INDEX in shape else math.prod(shape)


def _position_on_axis(kind: str, value: SSAValue, axis: int) -> SSAValue:
    """Where the extremum stands: the least index of the elements that equal it. The axis stays, with size 1."""
    shape = shape_of(value)
    if _is_empty(value, axis):
        fail(f"attempt to get arg{kind} of an empty sequence")
    if element(value).kind == "bool":
        value = cast(value, row_named("f16"))
    extremum = broadcast(reduce_value(kind, value, axis, True), shape)
    hit = current().emit(CompareOp, "eq", value, extremum)
    if is_float(value):
        hit = op("or", hit, isnan(value))
    in_f32 = 0 <= shape[axis] <= _F32_COUNTS_TO
    number = _F32 if in_f32 else _I32
    index = current().emit(IotaOp, axis, tensor(shape, number))
    none = fill(index, math.inf if in_f32 else np.iinfo(np.int32).max)
    return cast(reduce_value("min", select(hit, index, none), axis, True), _I64)


@implements(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> Any:
    """NumPy's answer for the dtypes of the tensors."""
    from .tensor import TracedTensor

    return np.result_type(*(v.dtype if isinstance(v, TracedTensor) else v for v in arrays_and_dtypes))


@implements(np.shape)
def shape(a: Any) -> Any:
    return a.shape


@implements(np.ndim)
def ndim(a: Any) -> Any:
    return a.ndim


@implements(np.size)
def size(a: Any, axis: Any = None) -> Any:
    return a.size if axis is None else math.prod(a.shape[k] for k in axes_of(axis, a.sizes))
