"""The rule by which an answer counts as right, the same in tests, demo and tools.

Against a reference computed in float64 (or exact integers), re = |out − ref| / (|ref| + 1e-7); an answer passes when mean(re) < τ
and max(re) < 10 τ with τ = 2⁻¹⁰ for f16, 2⁻⁷ for bf16, 2⁻¹³ for f32. NaN and infinities must stand in the same places; integers and
bools must be equal. The nearest number the dtype has is always right, also where subnormals lie too far apart for re to be small; and
halfway between two, up to what a first rounding to f32 may shift it, so are both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

TOLERANCE = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-13}
"""τ by NumPy dtype name."""


@dataclass(frozen=True)
class Accuracy:
    """How far an answer is from its reference; `ok` is the rule's verdict and `why` what broke it."""

    mean: float
    max: float
    tolerance: float
    worst: tuple[int, ...]
    ok: bool
    why: str = ""

    def __str__(self) -> str:
        if not self.ok:
            return f"wrong: {self.why}"
        if not self.tolerance:
            return "equal"
        return f"right: mean relative error {self.mean:.1e} < {self.tolerance:.1e}, max {self.max:.1e} < {10 * self.tolerance:.1e}"


def accuracy(found: NDArray[Any], expected: NDArray[Any]) -> Accuracy:
    """Judge `found` (of the dtype whose τ applies) against `expected` (float64, or the same integers)."""
    if found.shape != expected.shape:
        return Accuracy(np.inf, np.inf, 0.0, (), False, f"shape {found.shape}, expected {expected.shape}")
    tolerance = TOLERANCE.get(found.dtype.name)
    if tolerance is None:
        return _exact(found, expected)
    error = relative_error(found, expected, found.dtype)
    mean, largest = (float(error.mean()), float(error.max())) if error.size else (0.0, 0.0)
    worst = tuple(int(k) for k in np.unravel_index(int(error.argmax()), error.shape)) if error.size else ()
    if mean < tolerance and largest < 10 * tolerance:
        return Accuracy(mean, largest, tolerance, worst, True)
    why = f"{found[worst].astype(np.float64)} at {worst}, expected {expected[worst].astype(np.float64)}"
    if np.isfinite(largest):
        why += f"; mean relative error {mean:.1e} (below {tolerance:.1e}), max {largest:.1e}"
    return Accuracy(mean, largest, tolerance, worst, False, why)


def relative_error(found: NDArray[Any], expected: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.float64]:
    """The re of each element: 0 where no number of `dtype` is nearer, infinite where NaN or infinities stand in different places."""
    tolerance = TOLERANCE[dtype.name]
    with np.errstate(all="ignore"):
        rounded = expected.astype(dtype).astype(np.float64)
        out, ref = found.astype(np.float64), expected.astype(np.float64)
    special = ~np.isfinite(rounded)
    agree = (out == rounded) | (np.isnan(out) & np.isnan(rounded))
    odd = (special | ~np.isfinite(out)) & ~agree & ~_at_the_edge(out, ref, dtype, tolerance)
    finite = np.isfinite(out) & np.isfinite(ref) & ~_is_nearest(out, ref, dtype)
    error = np.where(finite, np.abs(np.where(finite, out - np.where(finite, ref, 0), 0)) / (np.abs(np.where(finite, ref, 0)) + 1e-7), 0)
    return np.where(odd, np.inf, error)


def _is_nearest(out: NDArray[Any], ref: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Where no number of the dtype is nearer to the reference, to within a 2⁻¹⁰th of the distance between two."""
    import ml_dtypes

    info = cast(Any, ml_dtypes.finfo(dtype))
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(ref)[1] - 1, int(info.minexp))
        distance = np.ldexp(1.0, exponent - int(info.nmant))
        return np.abs(out - ref) <= distance * (0.5 + 2.0**-10)


def _exact(found: NDArray[Any], expected: NDArray[Any]) -> Accuracy:
    different = found != expected
    if not different.any():
        return Accuracy(0.0, 0.0, 0.0, (), True)
    worst = _first(different)
    return Accuracy(np.inf, np.inf, 0.0, worst, False, f"{found[worst]} at {worst}, expected {expected[worst]}")


def _first(where: NDArray[Any]) -> tuple[int, ...]:
    return tuple(int(k) for k in np.unravel_index(int(where.argmax()), where.shape))


def _at_the_edge(out: NDArray[Any], ref: NDArray[Any], dtype: np.dtype[Any], tolerance: float) -> NDArray[Any]:
    """Where the reference lies within the rule's reach of the largest finite number, rounding may go either way."""
    import ml_dtypes

    info = cast(Any, ml_dtypes.finfo(dtype))
    largest = float(info.max)
    with np.errstate(all="ignore"):
        near = np.abs(np.abs(ref) / largest - 1) < 10 * tolerance
    return near & (np.sign(out) == np.sign(ref))
