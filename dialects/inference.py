"""Result shapes of the `ascend` operators, in one place that the verifier and the tracer both call.

Shapes are tuples of ints in which DYNAMIC_INDEX stands for `?`. Each function raises VerifyException in the words a user
should read; dimensions that are not known yet are believed.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from ascir.machine.layout import ceil_div, num_elements

Shape = tuple[int, ...]


def text(shape: Sequence[int]) -> str:
    """A shape as NumPy prints it, `?` for an unknown dimension."""
    dims = ["?" if d == DYNAMIC_INDEX else str(d) for d in shape]
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def normalize_axis(axis: int, rank: int) -> int:
    """A negative axis counted from the end; out of range raises."""
    if not -rank <= axis < rank:
        raise VerifyException(f"axis {axis} is out of bounds for a tensor of rank {rank}")
    return axis % rank


def same(shapes: Sequence[Shape]) -> Shape:
    """The common shape of element-wise operands."""
    result = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) != len(result):
            raise VerifyException(f"operands have shapes {text(result)} and {text(shape)}; ascend.broadcast makes them agree")
        for k, dim in enumerate(shape):
            if result[k] == DYNAMIC_INDEX:
                result[k] = dim
            elif dim not in (result[k], DYNAMIC_INDEX):
                raise VerifyException(f"operands have shapes {text(shapes[0])} and {text(shape)}; ascend.broadcast makes them agree")
    return tuple(result)


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """NumPy's broadcast of several shapes."""
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for k, dim in enumerate(shape, rank - len(shape)):
            if result[k] == 1:
                result[k] = dim
            elif dim not in (1, result[k]) and DYNAMIC_INDEX not in (dim, result[k]):
                raise VerifyException(f"shapes {' and '.join(text(s) for s in shapes)} do not broadcast together")
            elif result[k] == DYNAMIC_INDEX and dim != 1:
                result[k] = dim
    return tuple(result)


def broadcast(shape: Shape, to: Shape) -> Shape:
    """Check that `shape` broadcasts to `to`."""
    lead = len(to) - len(shape)
    fits = lead >= 0 and all(a in (1, b) or DYNAMIC_INDEX in (a, b) for a, b in zip(shape, to[lead:], strict=True))
    if not fits:
        raise VerifyException(f"shape {text(shape)} does not broadcast to {text(to)}")
    return to


def reshape(shape: Shape, to: Shape) -> Shape:
    if DYNAMIC_INDEX not in (*shape, *to) and num_elements(shape) != num_elements(to):
        raise VerifyException(f"cannot reshape {text(shape)} of {num_elements(shape)} elements into {text(to)} of {num_elements(to)}")
    return to


def transpose(shape: Shape, permutation: Sequence[int]) -> Shape:
    if sorted(permutation) != list(range(len(shape))):
        raise VerifyException(f"permutation {list(permutation)} is not one of the {len(shape)} axes of {text(shape)}")
    return tuple(shape[p] for p in permutation)


def slice_(shape: Shape, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Shape:
    if not len(shape) == len(starts) == len(sizes) == len(steps):
        raise VerifyException(f"a slice of {text(shape)} needs {len(shape)} starts, sizes and steps")
    for dim, start, size, step in zip(shape, starts, sizes, steps, strict=True):
        if step == 0:
            raise VerifyException("a slice has step 0")
        if size == DYNAMIC_INDEX:
            if (start, step) != (0, 1) or dim != DYNAMIC_INDEX:
                raise VerifyException("only a whole dimension of unknown size can be sliced; give the shape")
        elif dim != DYNAMIC_INDEX and size and not (0 <= start < dim and 0 <= start + (size - 1) * step < dim):
            raise VerifyException(f"slice from {start}, {size} elements, step {step}, leaves a dimension of {dim}")
    return tuple(sizes)


def concat(shapes: Sequence[Shape], axis: int) -> Shape:
    first = shapes[0]
    axis = normalize_axis(axis, len(first))
    total = 0
    for shape in shapes:
        rest = [d for k, d in enumerate(shape) if k != axis]
        agree = len(shape) == len(first) and all(
            a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(rest, [d for k, d in enumerate(first) if k != axis], strict=True)
        )
        if not agree:
            raise VerifyException(f"shapes {text(first)} and {text(shape)} do not concatenate along axis {axis}")
        total = DYNAMIC_INDEX if DYNAMIC_INDEX in (total, shape[axis]) else total + shape[axis]
    return (*first[:axis], total, *first[axis + 1 :])


def pad(shape: Shape, low: Sequence[int], high: Sequence[int]) -> Shape:
    if not len(shape) == len(low) == len(high):
        raise VerifyException(f"padding of {text(shape)} needs {len(shape)} low and high widths")
    if any(w < 0 for w in (*low, *high)):
        raise VerifyException("padding widths are not negative")
    return tuple(DYNAMIC_INDEX if d == DYNAMIC_INDEX else d + a + b for d, a, b in zip(shape, low, high, strict=True))


def reduce(shape: Shape, axes: Sequence[int], keep_dims: bool) -> Shape:
    normal = [normalize_axis(a, len(shape)) for a in axes]
    if len(set(normal)) != len(normal):
        raise VerifyException(f"axes {list(axes)} name one axis twice")
    if keep_dims:
        return tuple(1 if k in normal else d for k, d in enumerate(shape))
    return tuple(d for k, d in enumerate(shape) if k not in normal)


def slice_bounds(dim: int, item: slice) -> tuple[int, int, int]:
    """(start, size, step) of a Python slice of a dimension."""
    start, stop, step = item.indices(dim)
    return start, max(0, ceil_div(stop - start, step) if step > 0 else ceil_div(start - stop, -step)), step
