"""Functions that move elements and compute nothing: shapes, joins, cuts, repeats, borders, and new tensors like another.

They become `reshape`, `transpose`, `broadcast`, `slice`, `concat` and `pad` of the `ascend` dialect, whose kernels read through
most of them without a copy.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ascir.dialects import inference
from ascir.dialects.ascend import ConcatOp, PadOp, TransposeOp
from ascir.dialects.types import dtype_of, shape_of, tensor_type
from ascir.machine.dtypes import wrap_integer
from ascir.source import fail
from ascir.tracing.sizes import UnknownSize

from .indexing import reshape_value, slice_value
from .operands import Constant, broadcast, cast, checked, kind_of, number_in, operand, row_of, traced, whole, wrap
from .promotion import as_dtype, result_dtype
from .reductions import axes_of, value_of
from .registry import implements
from .tensor import TracedTensor
from .trace import NumpyDType, Shape, current, is_array, is_dict, is_sequence


def sizes_of(shape: Any) -> Shape:
    """A shape argument as a tuple; `?` sizes pass through."""
    return tuple(DYNAMIC_INDEX if isinstance(d, UnknownSize) else whole(d, "a size") for d in listed(shape))


def listed(value: Any) -> list[Any]:
    """The items of a sequence or array, or the one value there is."""
    return list(value) if is_sequence(value) or is_array(value) else [value]


def normal_axis(axis: Any, rank: int) -> int:
    return checked(inference.normalize_axis, whole(axis, "an axis"), rank)


# Shapes.


@implements(np.reshape)
def reshape(a: Any, /, shape: Any = None, order: str = "C") -> Any:
    if order not in ("C", "A"):
        fail(f"reshape with order={order!r} does not work in a kernel", "order='F' is x.T.reshape(shape[::-1]).T")
    value = value_of(a)
    return wrap(reshape_value(value, _completed(shape_of(value), sizes_of(shape))))


def _completed(shape: Shape, to: Shape) -> Shape:
    """The new shape with -1 worked out."""
    if to.count(-1) > 1:
        fail("can only specify one unknown dimension")
    if any(d < -1 for d in to if d != DYNAMIC_INDEX):
        fail(f"cannot reshape into {inference.text(to)}: a size is negative")
    others = [d for d in to if d != -1]
    if DYNAMIC_INDEX in (*shape, *others):
        return tuple(DYNAMIC_INDEX if d == -1 else d for d in to)
    count, rest = math.prod(shape), math.prod(others)
    if count != rest if -1 not in to else rest == 0 or count % rest:
        fail(f"cannot reshape {inference.text(shape)} of {count} elements into {to}")
    return tuple(count // rest if d == -1 else d for d in to)


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    return reshape(a, -1, order)


@implements(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    value = value_of(a)
    rank = len(shape_of(value))
    order = tuple(reversed(range(rank))) if axes is None else tuple(normal_axis(k, rank) for k in axes)
    return wrap(permute_value(value, order))


implements(np.permute_dims)(transpose)


def permute_value(value: SSAValue, order: Sequence[int]) -> SSAValue:
    return value if list(order) == list(range(len(order))) else current().emit(TransposeOp, value, tuple(order))


@implements(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    return swapaxes(x, -1, -2)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    value = value_of(a)
    order = list(range(len(shape_of(value))))
    first, second = normal_axis(axis1, len(order)), normal_axis(axis2, len(order))
    order[first], order[second] = second, first
    return wrap(permute_value(value, order))


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    value = value_of(a)
    rank = len(shape_of(value))
    from_, to = ([normal_axis(k, rank) for k in listed(v)] for v in (source, destination))
    if len(from_) != len(to):
        fail("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(rank) if k not in from_]
    for axis, place in sorted(zip(from_, to, strict=True), key=lambda pair: pair[1]):
        order.insert(place, axis)
    return wrap(permute_value(value, order))


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    value = value_of(a)
    given = listed(axis)
    rank = len(shape_of(value)) + len(given)
    new = {normal_axis(k, rank) for k in given}
    if len(new) != len(given):
        fail("repeated axis")
    old = iter(shape_of(value))
    return wrap(reshape_value(value, tuple(1 if k in new else next(old) for k in range(rank))))


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    value = value_of(a)
    shape = shape_of(value)
    axes = [k for k, d in enumerate(shape) if d == 1] if axis is None else axes_of(axis, shape)
    if any(shape[k] != 1 for k in axes):
        fail("cannot select an axis to squeeze out which has size not equal to one")
    return wrap(reshape_value(value, tuple(d for k, d in enumerate(shape) if k not in axes)))


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any) -> Any:
    value = value_of(array)
    return wrap(broadcast(value, checked(inference.broadcast, shape_of(value), sizes_of(shape))))


@implements(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    return _each(_in_1d, arys)


@implements(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    return _each(_in_2d, arys)


@implements(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    return _each(_in_3d, arys)


def _in_1d(x: TracedTensor) -> TracedTensor:
    return x if x.ndim >= 1 else x.reshape(1)


def _in_3d(x: TracedTensor) -> TracedTensor:
    if x.ndim >= 3:
        return x
    return x[None, :, None] if x.ndim == 1 else _in_2d(x)[..., None]


def _in_2d(x: TracedTensor) -> TracedTensor:
    return x if x.ndim >= 2 else x.reshape(1, -1)


def _each(function: Any, arrays: Sequence[Any]) -> Any:
    results = tuple(function(traced(a)) for a in arrays)
    return results[0] if len(results) == 1 else results


# Joins.


@implements(np.concatenate)
def concatenate(arrays: Any, /, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    values = _common(arrays, "np.concatenate", dtype, casting)
    if axis is None:
        values, axis = [reshape_value(v, (math.prod(shape_of(v)),)) for v in values], 0
    rank = len(shape_of(values[0]))
    if rank == 0:
        fail("zero-dimensional arrays cannot be concatenated", "np.stack joins 0-d tensors")
    return wrap(_joined(values, normal_axis(axis, rank)))


def _common(arrays: Any, what: str, dtype: Any = None, casting: str = "same_kind") -> list[SSAValue]:
    """The tensors in the one dtype that NumPy joins them in."""
    operands = [operand(a) for a in arrays]
    if not operands:
        fail("need at least one array to concatenate")
    common = result_dtype(what, operands) if dtype is None else as_dtype(dtype)[0]
    for value in operands:
        if not np.can_cast(kind_of(value), common, casting):  # pyright: ignore
            fail(f"{what} cannot cast {kind_of(value)} to {common} according to the rule '{casting}'")
    return [cast(v, row_of(common)) if not isinstance(v, Constant) else _scalar(v, common) for v in operands]


def _scalar(constant: Constant, dtype: NumpyDType) -> SSAValue:
    return current().splat(number_in(constant, dtype), (), row_of(dtype))


def _joined(values: Sequence[SSAValue], axis: int) -> SSAValue:
    """Values side by side; one alone is itself."""
    return values[0] if len(values) == 1 else current().emit(_concat, axis, *values)


def _concat(axis: int, *values: SSAValue) -> ConcatOp:
    return ConcatOp(values, axis)


@implements(np.stack)
def stack(arrays: Any, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    values = _common(arrays, "np.stack", dtype, casting)
    shape = shape_of(values[0])
    if any(shape_of(v) != shape for v in values):
        fail("all input arrays must have the same shape")
    place = normal_axis(axis, len(shape) + 1)
    return wrap(_joined([reshape_value(v, (*shape[:place], 1, *shape[place:])) for v in values], place))


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return concatenate([_in_2d(traced(a)) for a in tup], 0, dtype=dtype, casting=casting)


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    tensors = [atleast_1d(a) for a in tup]
    return concatenate(tensors, 0 if tensors and tensors[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    return concatenate([atleast_3d(a) for a in tup], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    tensors = [traced(a) for a in tup]
    return concatenate([t if t.ndim > 1 else t.reshape(-1, 1) for t in tensors], 1)


# Cuts.


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    if isinstance(indices_or_sections, int) and traced(ary).shape[axis] % indices_or_sections:
        fail("array split does not result in an equal division", "np.array_split cuts unequal parts")
    return array_split(ary, indices_or_sections, axis)


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    x = traced(ary)
    place = normal_axis(axis, x.ndim)
    size = int(x.shape[place])
    if is_sequence(indices_or_sections) or is_array(indices_or_sections):
        cuts = [whole(c, "a cut") for c in indices_or_sections]
    else:
        parts = whole(indices_or_sections, "the number of sections")
        if parts <= 0:
            fail("number sections must be larger than 0")
        cuts = [k * (size // parts) + min(k, size % parts) for k in range(1, parts)]
    ends = [*cuts, size]
    return [x[(slice(None),) * place + (slice(a, b),)] for a, b in zip([0, *cuts], ends, strict=True)]


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 1 if traced(ary).ndim > 1 else 0)


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 0)


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    value = value_of(m)
    shape = shape_of(value)
    axes = axes_of(axis, shape)
    if any(shape[k] == DYNAMIC_INDEX for k in axes):
        fail("an axis of unknown size cannot be flipped", "give ascir.TensorSpec its size in the place of None")
    turned = [k in axes and d > 1 for k, d in enumerate(shape)]
    starts = [d - 1 if t else 0 for d, t in zip(shape, turned, strict=True)]
    return wrap(slice_value(value, starts, shape, [-1 if t else 1 for t in turned]))


@implements(np.flipud)
def flipud(m: Any) -> Any:
    return flip(m, 0)


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    return flip(m, 1)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    x = traced(a)
    if axis is None:
        return roll(x.reshape(-1), shift, 0).reshape(x.shape)
    axes, shifts = listed(axis), listed(shift)
    if len(shifts) == 1:
        shifts *= len(axes)
    for by, where in zip(shifts, axes, strict=True):
        x = _rolled(x, whole(by, "a shift"), normal_axis(where, x.ndim))
    return x


def _rolled(x: TracedTensor, shift: int, axis: int) -> TracedTensor:
    size = int(x.shape[axis])
    cut = -shift % size if size else 0
    if cut == 0:
        return x
    lead = (slice(None),) * axis
    return concatenate([x[(*lead, slice(cut, None))], x[(*lead, slice(cut))]], axis)


# Repeats.


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    x = traced(A)
    times = sizes_of(reps)
    rank = max(len(times), x.ndim)
    times = (1,) * (rank - len(times)) + times
    shape = (1,) * (rank - x.ndim) + x.shape
    pairs = [(n, d) for n, d in zip(times, shape, strict=True)]
    spread = x.reshape(tuple(d for _, size in pairs for d in (1, size)))
    wide = broadcast_to(spread, tuple(d for pair in pairs for d in pair))
    return wide.reshape(tuple(n * d for n, d in pairs))


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    x = traced(a)
    if not isinstance(repeats, numbers.Integral):
        fail("np.repeat takes one number of repeats in a kernel", "np.concatenate of slices repeats rows differently")
    if axis is None:
        x, axis = x.reshape(-1), 0
    place = normal_axis(axis, x.ndim)
    shape = x.shape
    wide = broadcast_to(expand_dims(x, place + 1), (*shape[: place + 1], int(repeats), *shape[place + 1 :]))
    return wide.reshape((*shape[:place], shape[place] * int(repeats), *shape[place + 1 :]))


# Borders.


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0, **options: Any) -> Any:
    if mode != "constant":
        instead = "np.concatenate of x with slices: mode='edge' is x[:1] before, x[-1:] after"
        fail(f"np.pad with mode={mode!r} does not work in a kernel", instead)
    value = value_of(array)
    rank = len(shape_of(value))
    widths = _pairs(pad_width, rank, "pad_width")
    numbers = _pairs(constant_values, rank, "constant_values")
    for low, high, number in _borders(widths, numbers):
        if any(low) or any(high):
            border = _border_number(number, value)
            value = current().emit(_padded, value, low, high, border, math.copysign(1, border))
    return wrap(value)


def _padded(value: SSAValue, low: Sequence[int], high: Sequence[int], number: float | int, sign: float) -> PadOp:
    """The sign tells −0.0 from 0.0, which are equal as keys."""
    return PadOp(value, low, high, number)


def _borders(widths: list[tuple[Any, Any]], numbers: list[tuple[Any, Any]]) -> list[tuple[tuple[int, ...], tuple[int, ...], Any]]:
    """(low, high, number): all at once if there is one number, else axis by axis, as NumPy fills."""
    sides = [(whole(a, "a pad width"), whole(b, "a pad width")) for a, b in widths]
    if len({repr(n) for pair in numbers for n in pair}) <= 1:
        number = numbers[0][0] if numbers else 0
        return [(tuple(a for a, _ in sides), tuple(b for _, b in sides), number)]
    none = [0] * len(sides)
    borders: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = []
    for axis, ((low, high), (first, last)) in enumerate(zip(sides, numbers, strict=True)):
        borders.append(((*none[:axis], low, *none[axis + 1 :]), tuple(none), first))
        borders.append((tuple(none), (*none[:axis], high, *none[axis + 1 :]), last))
    return borders


def _border_number(number: Any, like: SSAValue) -> float | int:
    found = operand(number)
    dtype = dtype_of(tensor_type(like)).to_numpy()
    if not isinstance(found, Constant):
        fail("np.pad fills with a number known when the function is traced", "np.concatenate joins tensors")
    if dtype.kind in "iu" and isinstance(found.number, float):
        fail(f"np.pad of {dtype.name} with {found.number!r}: the number is no {dtype.name}", f"write np.{dtype.name}({int(found.number)})")
    number = number_in(found, dtype)
    return wrap_integer(number, 64) if isinstance(number, int) else number


def _pairs(given: Any, rank: int, what: str) -> list[tuple[Any, Any]]:
    """NumPy's ways to write one pair an axis: n, (n,), (before, after), ((before, after), …)."""
    if is_dict(given):
        by_axis = {normal_axis(k, rank): v for k, v in given.items()}
        return [_pairs(by_axis.get(k, 0), 1, what)[0] for k in range(rank)]
    rows = listed(given)
    if all(is_sequence(row) or is_array(row) for row in rows):
        pairs = [(row[0], row[-1]) for row in rows if len(row) in (1, 2)]
        if len(pairs) == len(rows) and len(pairs) in (1, rank):
            return pairs * (rank if len(pairs) == 1 else 1)
    elif len(rows) in (1, 2):
        return [(rows[0], rows[-1])] * rank
    fail(f"np.pad: {what} {given!r} does not fit {rank} axes", "write n, (before, after), or one (before, after) an axis")


# New tensors like another.


def _like(a: Any, number: Any, dtype: Any, shape: Any) -> Any:
    value = value_of(a)
    row = dtype_of(tensor_type(value)) if dtype is None else as_dtype(dtype)[1]
    sizes = shape_of(value) if shape is None else sizes_of(shape)
    found = operand(number)
    if not isinstance(found, Constant):
        return wrap(cast(found, row)) if shape_of(found) == sizes else broadcast_to(wrap(cast(found, row)), sizes)
    return wrap(current().splat(_filled_number(found, row.to_numpy()), sizes, row))


def _filled_number(constant: Constant, dtype: NumpyDType) -> int | float:
    """NumPy's `full` casts any number."""
    if isinstance(constant.number, float) and dtype.kind in "iub":
        return int(np.asarray(constant.number).astype(dtype))
    return number_in(constant, dtype)


@implements(np.zeros_like, np.empty_like)
def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    return _like(a, 0, dtype, shape)


@implements(np.ones_like)
def ones_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    return _like(a, 1, dtype, shape)


@implements(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    return _like(a, fill_value, dtype, shape)


@implements(np.copy)
def copy(a: Any) -> Any:
    return traced(a)
