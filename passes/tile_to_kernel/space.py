"""The iteration space of a group: what its loops run over, and where each operand lies in memory as they run.

A group of fused operators has one domain (the shape of its full-size values) and, if it reduces, one run of axes that vanish.
Every load and store is an affine window (`machine.layout.View`) over that domain. Here dimensions that no window tells apart
are merged, and what remains is cut into the columns and rows of a tile and the loops around it:

    elementwise   [outer…, row, col]               a tile of rows × columns, all loops parallel
    rows          [outer…, row | col]              the columns are reduced and fit whole; reduced values are one a row
    chunks        [outer…, row | col]              the columns are reduced in chunks by a sequential inner loop
    columns       [outer… | row | col]             the rows are reduced by a sequential inner loop; one value a column
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ascir.machine.layout import View, num_elements

Mode = Literal["elementwise", "rows", "chunks", "columns"]


@dataclass(frozen=True)
class Window:
    """A view in the merged dimensions: element offset and strides per loop dimension."""

    offset: int
    outer: tuple[int, ...]
    row: int
    col: int


@dataclass(frozen=True)
class Space:
    """Merged dimensions: sizes of the loops around the tile, and the rows and columns the tiles cover."""

    mode: Mode
    outer: tuple[int, ...]
    rows: int
    cols: int


def reduced_shape(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The shape with the reduced axes dropped."""
    return tuple(d for k, d in enumerate(shape) if k not in axes)


def expand_reduced(view: View, shape: Sequence[int], axes: Sequence[int]) -> View:
    """A window on a reduced value (its axes dropped), as a window on the full domain with stride 0 along the axes."""
    strides = list(view.strides)
    for axis in sorted(axes):
        strides.insert(axis, 0)
    return View(tuple(shape), tuple(strides), view.offset)


def is_run(shape: Sequence[int], axes: Sequence[int]) -> bool:
    """Whether the axes are neighbours once dimensions of size 1 are ignored."""
    real = [k for k, d in enumerate(shape) if d != 1]
    where = [real.index(a) for a in axes if shape[a] != 1]
    return where == list(range(where[0], where[0] + len(where))) if where else True


def is_trailing(shape: Sequence[int], axes: Sequence[int]) -> bool:
    """Whether nothing but dimensions of size 1 follows the axes."""
    return num_elements(shape[max(axes) + 1 :]) == 1 if axes else False


def _merge(dims: Sequence[int], shape: Sequence[int], views: Sequence[View]) -> list[tuple[int, tuple[int, ...]]]:
    """Merge neighbouring dimensions wherever every view walks them as one: [(size, stride per view), …]."""
    merged: list[tuple[int, tuple[int, ...]]] = []
    for k in dims:
        size = shape[k]
        if size == 1:
            continue
        strides = tuple(v.strides[k] for v in views)
        if merged and all(a == b * size for a, b in zip(merged[-1][1], strides, strict=True)):
            merged[-1] = (merged[-1][0] * size, strides)
        else:
            merged.append((size, strides))
    return merged


def merge(
    shape: Sequence[int], axes: Sequence[int], views: Sequence[View], mode: Mode
) -> tuple[Space, list[Window]] | None:
    """The merged space and each view's window in it; None if a part that must be one dimension is not (materialise a view first)."""
    ones = (0,) * len(views)
    rank = len(shape)
    if mode == "elementwise":
        dims = _merge(range(rank), shape, views)
        col = dims.pop() if dims else (1, ones)
        row = dims.pop() if dims else (1, ones)
        outer = dims
    else:
        low, high = min(axes), max(axes) + 1
        reduced = _merge(range(low, high), shape, views)
        outer = _merge(range(low), shape, views)
        trailing = _merge(range(high, rank), shape, views)
        if len(reduced) > 1 or len(trailing) > 1:
            return None
        reduce = reduced[0] if reduced else (1, ones)
        if mode == "columns":
            row, col = reduce, trailing[0] if trailing else (1, ones)
        else:
            if trailing:
                return None
            row, col = (outer.pop() if outer else (1, ones)), reduce
    windows = [
        Window(view.offset, tuple(strides[k] for _, strides in outer), row[1][k], col[1][k]) for k, view in enumerate(views)
    ]
    return Space(mode, tuple(size for size, _ in outer), row[0], col[0]), windows
