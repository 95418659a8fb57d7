"""Buffers as an author sees them: NumPy-like windows on GM arguments and on-chip memory.

Slicing makes an `ascend_memory.view` on the whole buffer, so a slice of a slice is still one view. Extents are Python ints where
they can be known (`x[i : i + 128]` has 128 elements) and `Index` otherwise. A `Mask` is a window counted in elements on a buffer
of bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias, cast

from xdsl.ir import SSAValue

from ascir.dialects.memory import Space, ViewOp
from ascir.machine.dtypes import DType
from ascir.machine.layout import ceil_div

from .body import Body
from .values import Index, IndexLike, as_index, floor_div, same_index

Extent: TypeAlias = "IndexLike | None"
"""A dimension: known, known when the kernel runs, or (of a GM argument) unknown."""

Key: TypeAlias = "IndexLike | slice | None"

MASK_STEP = 256
"""Elements between the places where a mask may be cut: 32 B of bits."""


@dataclass(frozen=True, eq=False)
class Dimension:
    """One dimension of a window. `bound` is the most elements it can have, where that is known."""

    size: Extent
    stride: Extent
    bound: int | None = None


class Buffer:
    """A window on a buffer. Slices and integers in brackets take a smaller one; None adds a dimension of 1."""

    __array_ufunc__ = None

    def __init__(self, body: Body, name: str, base: SSAValue, dtype: DType, space: Space, dimensions: Sequence[Dimension]):
        self.body = body
        self.name = name
        self.dtype = dtype
        self.space = space
        self.base = base
        self.value = base
        self.offset: IndexLike = 0
        self.dimensions = tuple(dimensions)
        self.whole: Buffer = self

    @property
    def shape(self) -> tuple[Extent, ...]:
        """Elements in each dimension: an int, an `Index`, or None for an argument's unknown dimension."""
        return tuple(d.size for d in self.dimensions)

    @property
    def ndim(self) -> int:
        return len(self.dimensions)

    @property
    def bounds(self) -> tuple[int | None, ...]:
        """The most elements each dimension can have; None where nothing bounds it."""
        return tuple(d.bound for d in self.dimensions)

    def __repr__(self) -> str:
        shape = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.name}[{shape}] : {self.dtype.name} in {self.space.value}"

    def __iter__(self) -> NoReturn:
        self.body.fail(f"Python cannot loop over {self.name}: its elements are known only when the kernel runs", "write `k.for_`")

    def __setitem__(self, key: object, value: object) -> NoReturn:
        self.body.fail(f"{self.name}[…] = … is not written so", "write `k.copy(source, destination)` or `k.store(buffer, i, number)`")

    def __getitem__(self, key: Key | tuple[Key, ...]) -> Buffer:
        keys = key if isinstance(key, tuple) else (key,)
        if sum(k is not None for k in keys) > self.ndim:
            self.body.fail(f"{self.name} has {self.ndim} dimensions, but {sum(k is not None for k in keys)} are indexed")
        keys = (*keys, *(slice(None),) * (self.ndim - sum(k is not None for k in keys)))
        offset, kept, axis = self.offset, list[Dimension | None](), 0
        for k in keys:
            if k is None:
                kept.append(None)
                continue
            start, dimension = self._cut(axis, k)
            if not isinstance(start, int) or start != 0:
                offset = offset + start * self._stride(axis)
            kept.extend([dimension] if dimension else [])
            axis += 1
        return self._window(offset, _with_new_axes(kept))

    def _stride(self, axis: int) -> IndexLike:
        stride = self.dimensions[axis].stride
        if stride is None:
            self.body.fail(
                f"the rows of {self.name} lie an unknown distance apart",
                "give the inner dimensions as scalar arguments: `k.gm(name, dtype, (None, n))`",
            )
        return stride

    def _cut(self, axis: int, key: IndexLike | slice) -> tuple[IndexLike, Dimension | None]:
        """First element taken of an axis, and the dimension that is left (none for an integer)."""
        if isinstance(key, slice):
            return self._slice(axis, key)
        index = self._position(axis, as_index(self.body, key))
        size = self.dimensions[axis].size
        if isinstance(index, int) and isinstance(size, int) and not 0 <= index < size:
            self.body.fail(f"index {index} is outside dimension {axis} of {self.name}, which has {size} elements")
        return index, None

    def _slice(self, axis: int, key: slice) -> tuple[IndexLike, Dimension]:
        old = self.dimensions[axis]
        step = as_index(self.body, 1 if key.step is None else key.step)
        if isinstance(step, int) and step < 1:
            self.body.fail(f"a slice of {self.name} steps forward by 1 or more, got step {step}")
        start = self._position(axis, as_index(self.body, 0 if key.start is None else key.start))
        stop = old.size if key.stop is None else self._position(axis, as_index(self.body, key.stop))
        if stop is None:
            self.body.fail(f"dimension {axis} of {self.name} has an unknown size", "give the slice an end: `x[start : start + count]`")
        size = stop - start
        if not isinstance(step, int) or step != 1:
            size = floor_div(self.body, size + step - 1, step)
        self._check_range(axis, start, stop, size)
        if isinstance(step, int) and step == 1:
            return start, Dimension(size, old.stride, size if isinstance(size, int) else old.bound)
        return start, Dimension(size, self._stride(axis) * step, size if isinstance(size, int) else old.bound)

    def _check_range(self, axis: int, start: IndexLike, stop: IndexLike, size: IndexLike) -> None:
        extent = self.dimensions[axis].size
        if isinstance(size, int) and size < 0:
            self.body.fail(f"the slice of dimension {axis} of {self.name} ends at {stop!r}, before its start {start!r}")
        outside = isinstance(extent, int) and any(isinstance(end, int) and not 0 <= end <= extent for end in (start, stop))
        if outside or (isinstance(start, int) and start < 0) or (isinstance(extent, int) and isinstance(size, int) and size > extent):
            self.body.fail(f"the slice {start!r}:{stop!r} is outside dimension {axis} of {self.name}, which has {extent!r} elements")

    def _position(self, axis: int, index: IndexLike) -> IndexLike:
        """A negative Python int counts from the end."""
        if not isinstance(index, int) or index >= 0:
            return index
        size = self.dimensions[axis].size
        if size is None:
            self.body.fail(f"index {index} counts from the end of dimension {axis} of {self.name}, whose size is unknown")
        return size + index

    def _window(self, offset: IndexLike, dimensions: Sequence[Dimension]) -> Buffer:
        window = Buffer(self.body, self.name, self.base, self.dtype, self.space, dimensions)
        window.whole, window.offset = self.whole, offset
        window.value = self.base if _same_window(window, self.whole) else self._view(offset, dimensions)
        return window

    def _view(self, offset: IndexLike, dimensions: Sequence[Dimension]) -> SSAValue:
        sizes = [cast(IndexLike, d.size) for d in dimensions]
        strides = [self._stride_of(d, axis) for axis, d in enumerate(dimensions)]
        key = (ViewOp, self.base, _key(offset), *map(_key, (*sizes, *strides)))
        value = self.body.once(key, lambda: self._view_op(offset, sizes, strides))
        value.name_hint = value.name_hint or self.base.name_hint
        return value

    def _view_op(self, offset: IndexLike, sizes: Sequence[IndexLike], strides: Sequence[IndexLike]) -> ViewOp:
        return ViewOp(self.base, _operand(offset), [_operand(s) for s in sizes], [_operand(s) for s in strides])

    def _stride_of(self, dimension: Dimension, axis: int) -> IndexLike:
        if dimension.stride is None:
            self.body.fail(f"dimension {axis} of this window on {self.name} has an unknown stride", "take fewer dimensions")
        return dimension.stride

    def reshape(self, *shape: IndexLike) -> Buffer:
        """The same elements in row-major order under another shape; the buffer must be contiguous and the sizes must multiply out.

        Raises AscirError where that cannot be shown when the kernel is built.
        """
        sizes = [as_index(self.body, size) for size in shape]
        if not same_index(_product(sizes), _product(self.known_shape())):
            self.body.fail(f"{self!r} cannot be seen to have as many elements as {list(sizes)}")
        if not _is_contiguous(self.dimensions):
            self.body.fail(f"{self!r} has gaps between its rows, so it has no other shape", "take a slice that is contiguous")
        return self._window(self.offset, row_major(sizes))

    def broadcast_to(self, *shape: IndexLike) -> Buffer:
        """One row read again for each of `shape[0]` rows, for use as a source: (cols,) or (1, cols) as (rows, cols)."""
        rows, columns = (as_index(self.body, size) for size in shape) if len(shape) == 2 else (0, 0)
        ours = self.known_shape()
        fits = len(shape) == 2 and len(ours) in (1, 2) and same_index(ours[-1], columns)
        if not fits or (len(ours) == 2 and not same_index(ours[0], 1)):
            self.body.fail(f"{self!r} cannot repeat as {list(shape)}", "a row of `columns` elements repeats as (rows, columns)")
        bound = rows if isinstance(rows, int) else None
        return self._window(self.offset, [Dimension(rows, 0, bound), self.dimensions[-1]])

    def spread(self, columns: IndexLike) -> Buffer:
        """Each row's one 32 B block read over and over for `columns` lanes, for use as a source (`k.block_broadcast` fills it)."""
        shape, columns = self.known_shape(), as_index(self.body, columns)
        if len(shape) != 2 or not same_index(shape[1], self.dtype.c0):
            self.body.fail(f"{self!r} has no rows of one 32 B block", f"a block of {self.dtype.numpy} has {self.dtype.c0} elements")
        bound = columns if isinstance(columns, int) else None
        return self._window(self.offset, [self.dimensions[0], Dimension(columns, 0, bound)])

    def known_shape(self) -> tuple[IndexLike, ...]:
        """The shape; an error for an argument whose size the kernel does not know."""
        if any(size is None for size in self.shape):
            self.body.fail(f"{self.name} has an unknown size", "slice it to the elements to take: `x[start : start + count]`")
        return cast("tuple[IndexLike, ...]", self.shape)


class Mask:
    """One bit an element, as comparisons write and selects read: `shape` counts elements, `bytes` is the buffer of bits beneath."""

    def __init__(self, bits: Buffer, shape: Sequence[IndexLike]):
        self.bytes = bits
        self.shape = tuple(shape)

    @property
    def body(self) -> Body:
        return self.bytes.body

    @property
    def name(self) -> str:
        return self.bytes.name

    def __repr__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.shape))}] : mask in {self.bytes.space.value}"

    def __iter__(self) -> NoReturn:
        iter(self.bytes)
        raise AssertionError

    def __getitem__(self, key: Key | tuple[Key, ...]) -> Mask:
        keys = key if isinstance(key, tuple) else (key,)
        keys = (*keys, *(slice(None),) * (len(self.shape) - len(keys)))
        *rows, last = keys
        if any(k is None for k in keys) or len(keys) != len(self.shape) or not isinstance(last, slice):
            self.body.fail(f"the mask {self.name} of {len(self.shape)} dimensions is cut by as many indices, the last a slice")
        start, stop = self._columns(last)
        window = self.bytes[(*rows, slice(start // 8, _bytes(self.body, stop)))]
        kept = [size for size in window.shape[:-1] if size is not None]
        return Mask(window, (*kept, stop - start))

    def _columns(self, cut: slice) -> tuple[int, IndexLike]:
        start = as_index(self.body, 0 if cut.start is None else cut.start)
        if not isinstance(start, int) or start % MASK_STEP or cut.step is not None:
            self.body.fail(
                f"a slice of the mask {self.name} starts at {start!r}",
                f"eight elements share a byte: start at a multiple of {MASK_STEP}",
            )
        stop = self.shape[-1] if cut.stop is None else as_index(self.body, cut.stop)
        return start, self.shape[-1] + stop if isinstance(stop, int) and stop < 0 else stop


def _bytes(body: Body, elements: IndexLike) -> IndexLike:
    """Bytes that hold one bit for each element."""
    return floor_div(body, elements + 7, 8)


def mask_bytes(elements: int) -> int:
    """Bytes of a mask of `elements` bits."""
    return ceil_div(elements, 8)


def row_major(shape: Sequence[Extent], pitch: int | None = None) -> list[Dimension]:
    """Dimensions without gaps, but for rows `pitch` elements apart where that is given; sizes that are ints bound themselves."""
    dimensions: list[Dimension] = []
    step: Extent = 1
    for axis, size in reversed(list(enumerate(shape))):
        dimensions.append(Dimension(size, step, size if isinstance(size, int) else None))
        wide = pitch if pitch is not None and axis == len(shape) - 1 else size
        step = None if wide is None or step is None else step * wide
    return dimensions[::-1]


def _with_new_axes(kept: Sequence[Dimension | None]) -> list[Dimension]:
    """None becomes a dimension of 1, spaced as if the buffer were row-major."""
    dimensions: list[Dimension] = []
    for dimension in reversed(kept):
        if dimension is not None:
            dimensions.append(dimension)
            continue
        inner = dimensions[-1] if dimensions else Dimension(1, 1, 1)
        stride = None if inner.size is None or inner.stride is None else inner.size * inner.stride
        dimensions.append(Dimension(1, stride, 1))
    return dimensions[::-1]


def _is_contiguous(dimensions: Sequence[Dimension]) -> bool:
    plain = row_major([d.size for d in dimensions])
    pairs = [(a, b) for a, b in zip(dimensions, plain, strict=True) if not _same(a.size, 1)]
    return all(a.stride is not None and _same(a.stride, b.stride) for a, b in pairs)


def _same_window(a: Buffer, b: Buffer) -> bool:
    return (
        same_index(a.offset, 0)
        and len(a.dimensions) == len(b.dimensions)
        and all(_same(x.size, y.size) and _same(x.stride, y.stride) for x, y in zip(a.dimensions, b.dimensions, strict=True))
    )


def _same(a: Extent, b: Extent) -> bool:
    return a is b if a is None or b is None else same_index(a, b)


def _product(sizes: Sequence[IndexLike]) -> IndexLike:
    total: IndexLike = 1
    for size in sizes:
        total = size * total
    return total


def _key(value: IndexLike) -> Hashable:
    return value if isinstance(value, int) else value.key


def _operand(value: IndexLike) -> SSAValue | int:
    return value.value if isinstance(value, Index) else value
