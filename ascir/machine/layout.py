"""Where element (n, c, h, w) lies: pure index maths for the layouts of the AI Core.

The cube unit reads 16 × 32 B fractals, so channels are cut into groups of C0 = 32 B / element size and a group is stored
innermost. A 1×5×2×2 NCHW tensor of four-lane groups (C0 = 4 to keep the picture small) becomes NC1HWC0 = 1×2×2×2×4:

    NCHW, one channel a row           NC1HWC0, one (c1, h, w) a row; · is a pad lane, always zero
    c0: a00 a01 a10 a11               c1=0 h0w0: a00 b00 c00 d00
    c1: b00 b01 b10 b11                    h0w1: a01 b01 c01 d01
    c2: c00 c01 c10 c11                    h1w0: a10 b10 c10 d10
    c3: d00 d01 d10 d11                    h1w1: a11 b11 c11 d11
    c4: e00 e01 e10 e11               c1=1 h0w0: e00  ·   ·   ·   …

Source of the formulas: hardware.md section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def ceil_div(a: int, b: int) -> int:
    """⌈a / b⌉ for positive b."""
    return -(-a // b)


def round_up(a: int, b: int) -> int:
    """The least multiple of b that is not below a."""
    return ceil_div(a, b) * b


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements: (8, 128) → (128, 1)."""
    strides: list[int] = []
    step = 1
    for dim in reversed(shape):
        strides.append(step)
        step *= max(dim, 1)
    return tuple(reversed(strides))


def num_elements(shape: Sequence[int]) -> int:
    """The product of the dimensions; 1 for a 0-d shape."""
    n = 1
    for dim in shape:
        n *= dim
    return n


def nc1hwc0_shape(shape: Sequence[int], layout: str, c0: int) -> tuple[int, ...]:
    """The NC1HWC0 shape of a 4-d tensor whose logical layout is "NCHW" or "NHWC"."""
    n, c, h, w = shape if layout == "NCHW" else (shape[0], shape[3], shape[1], shape[2])
    return n, ceil_div(c, c0), h, w, c0


@dataclass(frozen=True)
class View:
    """An affine window on a flat buffer: element (i0, i1, …) lies at `offset + Σ i_k · strides[k]` (in elements).

    Slices, transposes, broadcasts (stride 0) and, of contiguous data, reshapes are all windows on the same memory; composing
    them here is what lets a kernel load through them instead of materialising each.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @staticmethod
    def contiguous(shape: Sequence[int]) -> View:
        return View(tuple(shape), strides_of(shape))

    def transpose(self, permutation: Sequence[int]) -> View:
        return View(
            tuple(self.shape[p] for p in permutation), tuple(self.strides[p] for p in permutation), self.offset
        )

    def slice(self, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> View:
        offset = self.offset + sum(s * t for s, t in zip(starts, self.strides, strict=True))
        return View(tuple(sizes), tuple(t * s for t, s in zip(self.strides, steps, strict=True)), offset)

    def broadcast(self, shape: Sequence[int]) -> View:
        """NumPy's rule: align right, repeat dimensions of size 1."""
        lead = len(shape) - len(self.shape)
        strides = (0,) * lead + tuple(
            0 if old == 1 and new != 1 else stride
            for old, new, stride in zip(self.shape, shape[lead:], self.strides, strict=True)
        )
        return View(tuple(shape), strides, self.offset)

    def reshape(self, shape: Sequence[int]) -> View | None:
        """The same elements in row-major order under another shape, or None where strides cannot say that."""
        if num_elements(shape) == 0:
            return View(tuple(shape), strides_of(shape), self.offset)
        merged = self._merged()
        strides: list[int] = []
        rest = [d for d in shape]
        for size, stride in reversed(merged):
            inner = 1
            while rest and inner < size:
                dim = rest.pop()
                if size % (inner * dim):
                    return None
                strides.append(stride * inner)
                inner *= dim
            if inner != size:
                return None
        if any(dim != 1 for dim in rest):
            return None
        strides.extend(0 for _ in rest)
        return View(tuple(shape), tuple(reversed(strides)), self.offset)

    def _merged(self) -> list[tuple[int, int]]:
        """(size, stride) of the fewest dimensions that walk the same elements in the same order."""
        merged: list[tuple[int, int]] = []
        for size, stride in zip(self.shape, self.strides, strict=True):
            if size == 1:
                continue
            if merged and merged[-1][1] == stride * size:
                merged[-1] = (merged[-1][0] * size, stride)
            else:
                merged.append((size, stride))
        return merged
