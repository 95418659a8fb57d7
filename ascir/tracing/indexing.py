"""`x[…]`: whole numbers, slices with any step, `...` and None become one `ascend.slice` and one `ascend.reshape`.

What an index picks must be known while the function is traced; masks and index arrays depend on values and are refused with
np.where or slices as the way out.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ascir.dialects.ascend import ReshapeOp, SliceOp
from ascir.dialects.inference import slice_bounds
from ascir.dialects.types import shape_of
from ascir.source import fail

from .operands import wrap
from .tensor import TracedTensor
from .trace import Shape, current


@dataclass
class _Window:
    """Start, size and step of each axis, and the shape that is left."""

    starts: list[int] = field(default_factory=lambda: list[int]())
    sizes: list[int] = field(default_factory=lambda: list[int]())
    steps: list[int] = field(default_factory=lambda: list[int]())
    shape: list[int] = field(default_factory=lambda: list[int]())

    def add(self, start: int, size: int, step: int, keep: bool = True) -> None:
        self.starts.append(start)
        self.sizes.append(size)
        self.steps.append(step)
        if keep:
            self.shape.append(size)


def index(x: TracedTensor, item: Any) -> TracedTensor:
    """What `x[item]` is in NumPy."""
    items: list[Any] = list(cast(tuple[Any, ...], item)) if isinstance(item, tuple) else [item]
    window = _Window()
    for axis, part in _aligned(items, x.sizes):
        if part is None:
            window.shape.append(1)
        elif isinstance(part, slice):
            window.add(*_bounds(cast(Any, part), x.sizes[axis], axis))
        else:
            window.add(_position(part, x.sizes[axis], axis), 1, 1, keep=False)
    value = slice_value(x.value_in(current()), window.starts, window.sizes, window.steps)
    return wrap(reshape_value(value, tuple(window.shape)))


def slice_value(value: SSAValue, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> SSAValue:
    """The window, or the value itself if the window is all of it."""
    if tuple(sizes) == shape_of(value) and all(s == 1 for s in steps):
        return value
    return current().emit(SliceOp, value, tuple(starts), tuple(sizes), tuple(steps))


def reshape_value(value: SSAValue, shape: Shape) -> SSAValue:
    return value if shape_of(value) == shape else current().emit(ReshapeOp, value, shape)


def _aligned(items: list[Any], shape: Shape) -> list[tuple[int, Any]]:
    """Each part of an index with its axis; `...` and missing parts become full slices."""
    for part in items:
        _check(part)
    used = sum(1 for part in items if part is not None and part is not Ellipsis)
    if used > len(shape):
        fail(f"too many indices: tensor is {len(shape)}-dimensional, but {used} were indexed")
    if sum(1 for part in items if part is Ellipsis) > 1:
        fail("an index can only have a single ellipsis ('...')")
    gap = next((k for k, part in enumerate(items) if part is Ellipsis), len(items))
    rest: list[Any] = [slice(None)] * (len(shape) - used)
    full = [*items[:gap], *rest, *items[gap + 1 :]]
    axis, aligned = 0, list[tuple[int, Any]]()
    for part in full:
        aligned.append((axis, part))
        axis += part is not None
    return aligned


def _check(part: Any) -> None:
    if isinstance(part, bool | np.bool_ | TracedTensor | np.ndarray | list) or not isinstance(
        part, numbers.Integral | slice | None | type(Ellipsis)
    ):
        kind = "a traced tensor" if isinstance(part, TracedTensor) else f"{type(cast(Any, part)).__name__} {part!r}"
        fail(
            f"a tensor is indexed by whole numbers, slices, ... and None, not by {kind}",
            "choose by mask with np.where(mask, x, other); pick rows with slices and np.concatenate([x[2:3], x[5:6]])",
        )


def _bounds(item: slice, size: int, axis: int) -> tuple[int, int, int]:
    for part in (item.start, item.stop, item.step):
        if not (part is None or isinstance(part, numbers.Integral)):
            fail(f"slice indices are whole numbers known when the function is traced, got {type(part).__name__} {part!r}")
    if size == DYNAMIC_INDEX:
        if item == slice(None):
            return 0, size, 1
        fail(f"axis {axis} has unknown size and can only be taken whole", "give ascir.TensorSpec its size in the place of None")
    if item.step == 0:
        fail("slice step cannot be zero")
    start, count, step = slice_bounds(size, item)
    return (start, count, step) if count > 1 else (start if count else 0, count, 1)


def _position(item: Any, size: int, axis: int) -> int:
    number = int(item)
    if size == DYNAMIC_INDEX:
        fail(f"axis {axis} has unknown size and cannot be indexed", "give ascir.TensorSpec its size in the place of None")
    if not -size <= number < size:
        fail(f"index {number} is out of bounds for axis {axis} with size {size}")
    return number % size
