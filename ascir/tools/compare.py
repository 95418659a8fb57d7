"""`ascir compare`: how far one saved array is from another, for people who hunt the element that is wrong.

Two verdicts: the project's rule (`ascir/accuracy.py`), and `np.isclose`'s when tolerances are given, which then decides. Files are mapped
and read in pieces, so that arrays larger than memory can be compared. Read `compare`, then `_Tally`.
"""

from __future__ import annotations

import argparse
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ascir.accuracy import TOLERANCE, Accuracy, relative_error
from ascir.backend_c.progress import bar
from ascir.diagnostics import UsageError, did_you_mean
from ascir.machine.dtypes import BY_NUMPY

from .shell import unreadable

Array: TypeAlias = NDArray[Any]

PIECE = 1 << 18
"""Elements that are looked at together: a dozen temporaries of 2 MB."""

RTOL, ATOL = 1e-5, 1e-8
"""`np.isclose`'s, for the one of two tolerances that is not given."""

SMALLEST, LARGEST = -17, 3
"""Decades of relative errors that are told apart."""

BAR = 24
"""Characters of the longest bar of the histogram."""


def compare(args: argparse.Namespace) -> int:
    """Print how the two files differ; 0 when the result is right, 1 when it is not."""
    golden, result = _load(args.golden), _load(args.result)
    if golden.shape != result.shape:
        raise UsageError(f"the shapes differ: {args.golden} holds {_type(golden)}, {args.result} holds {_type(result)}")
    rule = _rule(result, args.dtype)
    close = None if args.rtol is None and args.atol is None else _Close(_or(args.rtol, RTOL), _or(args.atol, ATOL))
    tally = _Tally(rule, close)
    with bar("comparing", golden.size) as done:
        for start, reference, found in _pieces(golden, result):
            tally.add(start, reference, found)
            done.advance(found.size)
    print(f"golden      {_type(golden)} in {args.golden}")
    print(f"result      {_type(result)} in {args.result}")
    print("\n".join(tally.lines(golden.shape)))
    return 0 if tally.right else 1


def _or(given: float | None, default: float) -> float:
    return default if given is None else given


def _type(array: Array) -> str:
    return f"{array.dtype.name}[{', '.join(map(str, array.shape))}]"


# --- files ------------------------------------------------------------------------------------------------------------------------


def _load(path: str) -> Array:
    """The array in a .npy file, or one of a .npz: `file.npz:name`. A .npy file is mapped, not read."""
    file, name = path, None
    if not os.path.exists(path) and ".npz:" in path:
        file, _, name = path.rpartition(":")
    try:
        with open(file, "rb") as opened:
            magic = opened.read(6)
            opened.seek(0)
            if magic == b"\x93NUMPY":
                return _numbers(path, _mapped(file, opened))
            if magic[:2] == b"PK":
                return _numbers(path, _member(file, name))
    except OSError as error:
        raise UsageError(unreadable(file, error)) from None
    raise UsageError(f"'{file}' is no .npy file; save an array with np.save" if magic else f"'{file}' is empty; save an array with np.save")


def _mapped(path: str, file: BinaryIO) -> Array:
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except ValueError as error:
        raise UsageError(f"cannot read '{path}': its header is damaged ({_one_line(error)}); save it again") from None
    if dtype.hasobject:
        raise UsageError(f"'{path}' holds pickled Python objects, which are not loaded; save an array of numbers")
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    there = os.fstat(file.fileno()).st_size - file.tell()
    if there < size:
        raise UsageError(f"'{path}' is truncated: {dtype}{list(shape)} has {size} bytes, {there} are there; save it again")
    order = "F" if fortran else "C"
    if not size:
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", file.tell(), shape, order)


def _member(path: str, name: str | None) -> Array:
    try:
        with np.load(path, allow_pickle=False) as archive:
            names: list[str] = archive.files
            if name is None and len(names) != 1:
                raise UsageError(f"'{path}' holds {len(names)} arrays; name one: {path}:{names[0] if names else 'NAME'}")
            if name is not None and name not in names:
                raise UsageError(f"'{path}' has no array '{name}'; {did_you_mean(name, names)}")
            return archive[name or names[0]]
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise UsageError(f"cannot read '{path}': {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _numbers(path: str, array: Array) -> Array:
    """The array, if it holds bools, integers or floats. NumPy saves bfloat16 as two bytes of no type; they are bfloat16 again."""
    if array.dtype == np.dtype("V2"):
        return array.view(BY_NUMPY["bfloat16"].to_numpy())
    if array.dtype.kind not in "biuf" and array.dtype.name not in TOLERANCE:
        raise UsageError(f"'{path}' holds {array.dtype}; expected bools, integers or floats: save the parts one by one")
    return array


def _pieces(golden: Array, result: Array) -> Iterator[tuple[int, Array, Array]]:
    """Pieces of both in C order, each with the number of its first element."""
    pieces = np.nditer([golden, result], flags=["external_loop", "buffered", "zerosize_ok"], order="C", buffersize=PIECE)
    start = 0
    for piece in pieces:
        reference, found = cast("tuple[Array, Array]", piece)
        yield start, reference, found
        start += found.size


# --- the two ways to judge --------------------------------------------------------------------------------------------------------


class _Errors(NamedTuple):
    """Of a piece: which elements are the same, and how far the others are apart, infinitely where a NaN meets none."""

    same: Array
    absolute: Array
    relative: Array


def _errors(golden: Array, result: Array) -> _Errors:
    with np.errstate(all="ignore"):
        ref, out = golden.astype(np.float64), result.astype(np.float64)
        same = _same(golden, result) if _is_exact(result) else (ref == out) | (np.isnan(ref) & np.isnan(out))
        apart = _distance(golden, result) if _is_exact(result) and _is_exact(golden) else np.abs(out - ref)
        absolute = np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
        relative = np.where(same, 0.0, absolute / (np.abs(ref) + 1e-7))
    return _Errors(same, absolute, np.where(np.isnan(relative), np.inf, relative))


def _is_exact(array: Array) -> bool:
    """Whether it holds integers or bools."""
    return array.dtype.kind in "biu"


def _same(golden: Array, result: Array) -> Array:
    """Where integers equal the reference; a float beyond 2⁵³ is not rounded to look equal."""
    if _is_exact(golden):
        return golden == result
    back = golden.astype(result.dtype)
    return (back == result) & (back.astype(golden.dtype) == golden)


def _distance(golden: Array, result: Array) -> Array:
    """|result − golden| of integers, without an overflow."""
    common = np.result_type(golden, result, np.uint8)
    low, high = np.minimum(golden, result, dtype=common), np.maximum(golden, result, dtype=common)
    difference = high - low
    return (difference.view(f"u{common.itemsize}") if common.kind == "i" else difference).astype(np.float64)


@dataclass(frozen=True)
class _Close:
    """`np.isclose` with equal NaNs."""

    rtol: float
    atol: float

    def wrong(self, golden: Array, result: Array, errors: _Errors) -> Array:
        reference = np.abs(golden.astype(np.float64))
        with np.errstate(all="ignore"):
            return ~errors.same & ~((errors.absolute <= self.atol + self.rtol * reference) & np.isfinite(reference))

    def __str__(self) -> str:
        return f"|result - golden| > {self.atol:g} + {self.rtol:g} × |golden|"


@dataclass
class _Rule:
    """The project's rule with the τ of `dtype`, over all pieces; without one (integers, float64) everything must be equal."""

    dtype: np.dtype[Any] | None
    total: float = 0.0
    largest: float = 0.0
    size: int = 0

    @property
    def tolerance(self) -> float:
        return TOLERANCE[self.dtype.name] if self.dtype is not None else 0.0

    def wrong(self, golden: Array, result: Array, errors: _Errors) -> Array:
        if self.dtype is None:
            error = np.where(errors.same, 0.0, np.inf)
        else:
            error = relative_error(result, golden, self.dtype)
        self.size += error.size
        self.total += float(error.sum())
        self.largest = max(self.largest, float(error.max()))
        return error >= 10 * self.tolerance if self.dtype is not None else ~errors.same

    def verdict(self) -> Accuracy:
        mean = self.total / max(1, self.size)
        if self.dtype is None:
            return Accuracy(mean, self.largest, 0.0, (), mean == 0, "elements without a tolerance must be equal")
        tau = self.tolerance
        why = f"mean relative error {mean:.1e} (below {tau:.1e}), max {self.largest:.1e} (below {10 * tau:.1e})"
        return Accuracy(mean, self.largest, tau, (), mean < tau and self.largest < 10 * tau, why)

    def __str__(self) -> str:
        return "unequal" if self.dtype is None else f"a relative error of {10 * self.tolerance:.1e} or more"


def _rule(result: Array, name: str | None) -> _Rule:
    """The rule of the result's dtype, or of the one that is named."""
    if _is_exact(result) and name is not None:
        raise UsageError(f"--dtype {name} names a tolerance of floats, and the result holds {result.dtype.name}, which must be equal")
    dtype = BY_NUMPY[name].to_numpy() if name is not None else result.dtype
    return _Rule(dtype if dtype.name in TOLERANCE else None)


# --- what the pieces come to ------------------------------------------------------------------------------------------------------


class _Pair(NamedTuple):
    """An element of both arrays."""

    position: int
    golden: object
    result: object
    absolute: float
    relative: float

    def line(self, shape: tuple[int, ...]) -> str:
        index = ", ".join(str(int(k)) for k in np.unravel_index(self.position, shape)) if shape else ""
        values = f"golden {_number(self.golden)}, result {_number(self.result)}"
        return f"at ({index}): {values}, absolute error {self.absolute:.3g}, relative {self.relative:.3g}"


def _number(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


@dataclass
class _Tally:
    """Counts, positions and the histogram over all pieces."""

    rule: _Rule
    close: _Close | None
    size: int = 0
    same: int = 0
    mismatches: int = 0
    first: _Pair | None = None
    worst: _Pair | None = None
    decades: Counter[int] = field(default_factory=lambda: Counter[int]())
    infinite: int = 0

    def add(self, start: int, golden: Array, result: Array) -> None:
        errors = _errors(golden, result)
        wrong = self.rule.wrong(golden, result, errors)
        if self.close is not None:
            wrong = self.close.wrong(golden, result, errors)

        def pair(k: int) -> _Pair:
            return _Pair(start + k, golden[k].item(), result[k].item(), float(errors.absolute[k]), float(errors.relative[k]))

        self.size += result.size
        self.same += int(errors.same.sum())
        self.mismatches += int(wrong.sum())
        if self.first is None and wrong.any():
            self.first = pair(int(wrong.argmax()))
        top = int(errors.relative.argmax())
        if not errors.same[top] and (self.worst is None or errors.relative[top] > self.worst.relative):
            self.worst = pair(top)
        self._sort_by_size(errors)

    def _sort_by_size(self, errors: _Errors) -> None:
        error = errors.relative[~errors.same]
        finite = error[np.isfinite(error)]
        self.infinite += error.size - finite.size
        with np.errstate(divide="ignore"):
            decades = np.clip(np.floor(np.log10(finite)), SMALLEST, LARGEST).astype(int)
        for decade, count in zip(*np.unique(decades, return_counts=True), strict=True):
            self.decades[int(decade)] += int(count)

    @property
    def right(self) -> bool:
        return self.mismatches == 0 if self.close is not None else self.rule.verdict().ok

    def lines(self, shape: tuple[int, ...]) -> list[str]:
        verdict = self.rule.verdict()
        beyond = self.close or self.rule
        lines = [f"equal       {self._share(self.same)}", f"mismatches  {self._share(self.mismatches)}: {beyond}"]
        lines += [f"{name:<11} {pair.line(shape)}" for name, pair in (("first", self.first), ("worst", self.worst)) if pair is not None]
        lines += self._histogram() if self.size > self.same else []
        name = self.rule.dtype.name if self.rule.dtype is not None else "exact"
        lines.append(f"rule        {verdict} ({name})" if verdict.ok or self.rule.dtype is not None else f"rule        {verdict}")
        if self.close is not None:
            lines.append(f"tolerance   {'right: no' if self.right else 'wrong: an'} element has {self.close}")
        lines.append(f"verdict     {'right' if self.right else 'WRONG'}, by {'the tolerance given' if self.close else 'the rule'}")
        return lines

    def _share(self, count: int) -> str:
        return f"{count} of {self.size} ({100 * count / max(1, self.size):.4g} %)"

    def _histogram(self) -> list[str]:
        rows = [("equal", self.same)]
        rows += [(_decade(k), self.decades[k]) for k in range(min(self.decades), max(self.decades) + 1)] if self.decades else []
        rows += [("NaN or inf", self.infinite)] if self.infinite else []
        most, width = max(count for _, count in rows), max(len(name) for name, _ in rows)
        digits = len(str(most))
        lines = [f"  {name:<{width}}  {count:>{digits}}  {'█' * -(-BAR * count // most)}".rstrip() for name, count in rows]
        return ["relative error, of how many elements", *lines]


def _decade(exponent: int) -> str:
    if exponent == SMALLEST:
        return f"below 1e{exponent + 1}"
    return f"1e{exponent} or more" if exponent == LARGEST else f"1e{exponent} to 1e{exponent + 1}"

