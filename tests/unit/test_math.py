"""Holds `backend_c/runtime/simd.h` and `math.h` to docs/numerics.md: conversions have NumPy's bits, functions are correctly rounded.

The headers are compiled twice, for this machine's SIMD and for the plainest one; both must give the same bits. References are NumPy's
float64 functions rounded once. benchmarks/math_accuracy.py measures more (every float there is) and slower.
"""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .irgen import rounded_once

RUNTIME = Path(__file__).resolve().parents[2] / "backend_c" / "runtime"
FLAGS = "-std=c11 -Wall -Wextra -Werror -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv -fno-strict-aliasing".split()

Array = np.ndarray[Any, Any]
HALF = np.dtype(np.float16)
BFLOAT = np.dtype(ml_dtypes.bfloat16)


def erfc(x: Array) -> Array:
    return np.array([math.erfc(v) for v in x.tolist()])


def erf(x: Array) -> Array:
    return np.array([math.erf(v) for v in x.tolist()])


def rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


UNARY: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "rsqrt": rsqrt,
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": erf,
    "erfc": erfc,
}
BINARY: dict[str, Callable[..., Array]] = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}
REMAINDERS: dict[str, Callable[..., Array]] = {"fmod": np.fmod, "mod": np.remainder, "floor_div": np.floor_divide}
CONVERSIONS = ("f16_to_f32", "f32_to_f16", "bf16_to_f32", "f32_to_bf16")

# ---- the library ----------------------------------------------------------------------------------------------------------------


def source() -> str:
    """Every array form under its own name, and every scalar form in a loop under `name_1`."""
    lines = ['#include "simd.h"', '#include "math.h"']
    for name in (*UNARY, *BINARY, *REMAINDERS):
        b = "" if name in UNARY else ", b"
        head = f"(float *o, const float *a{', const float *b' if b else ''}, size_t n)"
        lines += [f"void {name}_{form}{head} {{ m_{name}_{form}(o, a{b}, n); }}" for form in ("n", "narrow_n")]
        lines.append(f"void {name}_1{head} {{ for (size_t i = 0; i < n; i++) o[i] = m_{name}(a[i]{', b[i]' if b else ''}); }}")
    for name in CONVERSIONS:
        to, of = ("float", "uint16_t") if name.endswith("f32") else ("uint16_t", "float")
        head = f"({to} *o, const {of} *a, size_t n)"
        lines.append(f"void {name}{head} {{ simd_{name}(o, a, n); }}")
        lines.append(f"void {name}_1{head} {{ for (size_t i = 0; i < n; i++) o[i] = simd_{name}_one(a[i]); }}")
    for name in ("f32_to_f16_mode", "f32_to_bf16_mode"):
        head = "(uint16_t *o, const float *a, size_t n, int mode)"
        lines.append(f"void {name}{head} {{ simd_{name}(o, a, n, mode); }}")
        lines.append(f"void {name}_1{head} {{ for (size_t i = 0; i < n; i++) o[i] = simd_{name}_one(a[i], mode); }}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ctypes.CDLL]:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler named cc")
    folder = tmp_path_factory.mktemp("math")
    code = folder / "functions.c"
    code.write_text(source())
    builds = {"native": ["-march=native"], "portable": ["-DASCIR_PORTABLE"]}
    jobs = {
        name: subprocess.Popen(
            [compiler, *FLAGS, *options, "-fPIC", "-shared", "-iquote", str(RUNTIME), str(code), "-o", str(folder / f"{name}.so")]
        )
        for name, options in builds.items()
    }
    assert [job.wait() for job in jobs.values()] == [0, 0]
    return {name: ctypes.CDLL(str(folder / f"{name}.so")) for name in builds}


@pytest.fixture(scope="module")
def native(libraries: dict[str, ctypes.CDLL]) -> ctypes.CDLL:
    return libraries["native"]


def call(library: ctypes.CDLL, name: str, *operands: Array, out: Any = np.float32, mode: int | None = None) -> Array:
    result = np.empty(operands[0].size, out)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (result, *operands)]
    getattr(library, name)(*pointers, ctypes.c_size_t(result.size), *([] if mode is None else [ctypes.c_int(mode)]))
    return result


# ---- references and comparisons --------------------------------------------------------------------------------------------------


def differing(a: Array, b: Array) -> Array:
    """Where the bits differ, any NaN being equal to any other."""
    bits = f"u{a.dtype.itemsize}"
    return np.flatnonzero((a.view(bits) != b.view(bits)) & ~(np.isnan(a) & np.isnan(b)))


def assert_same(got: Array, expected: Array, *operands: Array) -> None:
    wrong = differing(got, expected)
    shown = [tuple(v[i] for v in (*operands, got, expected)) for i in wrong[:5]]
    assert wrong.size == 0, f"{wrong.size} of {got.size} differ; (operands, got, expected): {shown}"


def assert_within(limit: float, got: Array, exact: Array, x: Array) -> None:
    """`got` is within `limit` ulp of `exact`, and has its infinities, NaN and zeros."""
    near = exact.astype(np.float32)
    ordinary = np.isfinite(near) & np.isfinite(got) & ~((near == 0) & (got == 0))
    assert_same(got[~ordinary], near[~ordinary], x[~ordinary])
    error = np.ldexp(np.abs(got[ordinary] - exact[ordinary]), 24 - np.maximum(np.frexp(exact[ordinary])[1], -125))
    worst = int(np.argmax(error))
    assert error[worst] <= limit, f"{error[worst]} ulp at {x[ordinary][worst]!r}"


def every(dtype: np.dtype[Any]) -> Array:
    """All 65 536 values, in float32."""
    return np.arange(65536, dtype=np.uint16).view(dtype).astype(np.float32)


def any_bits(n: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32).view(np.float32)


def ordinary_pairs(n: int, seed: int) -> tuple[Array, Array]:
    """Numbers around 1, whole numbers, and quotients near whole numbers: where remainders and powers are decided."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(-5000, 5000, n).astype(np.float32), rng.integers(-40, 40, n).astype(np.float32)
    real = (rng.normal(size=n) * 9).astype(np.float32), (rng.normal(size=n) * 3).astype(np.float32)
    multiple = (real[1] * np.round(real[0])).astype(np.float32), real[1]
    bases = np.abs(real[0]), whole[1]
    a, b = zip(whole, real, multiple, bases, strict=True)
    return np.concatenate(a), np.concatenate(b)


def hard_points() -> Array:
    """64 floats on either side of where functions turn: thresholds of overflow and underflow, 1, powers of two, multiples of π/2,
    and the floats that come nearest to a multiple of π/2."""
    thresholds = [88.72284, 87.33655, 103.97208, 89.415985, 128.0, 126.0, 149.0, 150.0, 17.32868, 16.63553, 9.010913, 3.8325, 4.0]
    turns = [0.34657359, 0.70710678, 1.41421356, 0.41421356, 2.41421356, 3.4028235e38, 1.1754944e-38, 1e-30, 1e30, 8388608.0]
    powers = [2.0**k for k in range(-148, 128, 4)] + [0.25, 0.5, 1.0, 2.0, 4.0, 2.0**20]
    angles = [k * math.pi / 4 for k in (*range(1, 65), 2**10 + 1, 2**19 + 1, 667543, 2**20, 2**21 + 1)]
    centres = np.array([*thresholds, *turns, *powers, *angles], np.float32).view(np.uint32).astype(np.int64)
    around = (centres[:, None] + np.arange(-64, 65)[None, :]).ravel().astype(np.uint32).view(np.float32)
    tiny = np.arange(0, 200, dtype=np.uint32).view(np.float32)
    quarters = np.arange(1, 667544) * (math.pi / 2)
    nearly = quarters.astype(np.float32)[np.argsort(np.abs(quarters.astype(np.float32) - quarters))[:500]]
    return np.concatenate([around, -around, tiny, -tiny, nearly])


_POSITIVE = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 1e-45, 1.1754944e-38, 1e10, 4097.0, 2.0**24, 2.0**24 + 2, 1e30, 3e38, math.inf]
SPECIAL: Array = np.array([*_POSITIVE, *(-v for v in _POSITIVE), math.nan], np.float32)
SPECIAL_PAIRS = tuple(v.ravel().copy() for v in np.meshgrid(SPECIAL, SPECIAL))

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# ---- conversions -----------------------------------------------------------------------------------------------------------------


def narrowing_cases() -> Array:
    """Every f16 and bf16 value, the middle to its neighbour, one float beside each, and random bits."""
    f16 = every(HALF).view(np.uint32)[:, None] + np.array([0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF], np.uint32)
    bf16 = every(BFLOAT).view(np.uint32)[:, None] + np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    subnormal = np.arange(0, 1 << 28, 9973, dtype=np.uint32) + (100 << 23)
    bits = np.concatenate([f16.ravel(), bf16.ravel(), subnormal, any_bits(1_000_000, 1).view(np.uint32)])
    return bits.view(np.float32)


@pytest.mark.parametrize("build", ["native", "portable"])
@pytest.mark.parametrize("form", ["", "_1"])
@pytest.mark.parametrize(("name", "dtype"), [("f16", HALF), ("bf16", BFLOAT)])
def test_conversions_have_the_bits_of_numpy(
    libraries: dict[str, ctypes.CDLL], build: str, form: str, name: str, dtype: np.dtype[Any]
) -> None:
    halves = np.arange(65536, dtype=np.uint16)
    assert_same(call(libraries[build], f"{name}_to_f32{form}", halves), halves.view(dtype).astype(np.float32), halves)
    x = narrowing_cases()
    assert_same(call(libraries[build], f"f32_to_{name}{form}", x, out=np.uint16).view(dtype), x.astype(dtype), x)


def test_a_nan_becomes_a_quiet_nan_of_its_sign(libraries: dict[str, ctypes.CDLL]) -> None:
    nans = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF812345, 0x7FFFFFFF], np.uint32).view(np.float32)
    for library in libraries.values():
        assert call(library, "f32_to_f16", nans, out=np.uint16).tolist() == [0x7E00, 0xFE00, 0x7E00, 0xFE09, 0x7FFF]
        assert call(library, "f32_to_bf16", nans, out=np.uint16).tolist() == nans.astype(BFLOAT).view(np.uint16).tolist()
        signalling = np.array([0x7C01, 0xFD55], np.uint16)
        assert call(library, "f16_to_f32", signalling).view(np.uint32).tolist() == [0x7FC02000, 0xFFEAA000]


@pytest.mark.parametrize(("name", "dtype"), [("f16", HALF), ("bf16", BFLOAT)])
def test_the_other_rounding_modes_choose_between_the_two_neighbours(native: ctypes.CDLL, name: str, dtype: np.dtype[Any]) -> None:
    x = narrowing_cases()
    x = x[~np.isnan(x)]
    near = x.astype(dtype)
    value = near.astype(np.float64)
    low = np.where(value > x, np.nextafter(near, dtype.type(-np.inf)), near)
    high = np.where(value < x, np.nextafter(near, dtype.type(np.inf)), near)
    toward_zero, away = np.where(x > 0, low, high), np.where(x > 0, high, low)
    tie = np.abs(x.astype(np.float64) - low.astype(np.float64)) == np.abs(high.astype(np.float64) - x)
    odd = np.where(low == high, near, np.where(low.view(np.uint16) & 1, low, high))
    signed = [np.copysign(v, near) for v in (near, low, high, np.where(tie, away, near), toward_zero, odd)]
    for mode, expected in enumerate(signed):
        for form in ("", "_1"):
            assert_same(call(native, f"f32_to_{name}_mode{form}", x, out=np.uint16, mode=mode).view(dtype), expected, x)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_touch_nothing_past_n_at_any_alignment(libraries: dict[str, ctypes.CDLL], name: str) -> None:
    of, to = (np.dtype(np.uint16), np.dtype(np.float32)) if name.endswith("f32") else (np.dtype(np.float32), np.dtype(np.uint16))
    for library in libraries.values():
        for n in range(40):
            a = np.zeros(1 + n * of.itemsize, np.uint8)[1:].view(of)
            a[:] = np.arange(1, n + 1)
            room = np.full(1 + (n + 20) * to.itemsize, 0xA5, np.uint8)
            getattr(library, name)(ctypes.c_void_p(room.ctypes.data + 1), ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(n))
            expected = call(library, f"{name}_1", a.copy(), out=to)
            assert room[1 : 1 + n * to.itemsize].tobytes() == expected.tobytes()
            assert room[0] == 0xA5 and np.all(room[1 + n * to.itemsize :] == 0xA5)


# ---- functions -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [HALF, BFLOAT], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_every_f16_and_bf16_argument_gives_the_nearest_result(native: ctypes.CDLL, name: str, dtype: np.dtype[Any]) -> None:
    x = every(dtype)
    exact = UNARY[name](x.astype(np.float64))
    assert_same(call(native, f"{name}_narrow_n", x).astype(dtype), rounded_once(exact, dtype), x)
    assert_same(call(native, f"{name}_n", x), exact.astype(np.float32), x)


@pytest.mark.parametrize("name", UNARY)
def test_floats_of_any_bits_and_hard_points_are_within_half_an_ulp(native: ctypes.CDLL, name: str) -> None:
    x = np.concatenate([any_bits(600_000, 2), (np.random.default_rng(3).normal(size=300_000) * 4).astype(np.float32), hard_points()])
    assert_within(0.50001, call(native, f"{name}_n", x), UNARY[name](x.astype(np.float64)), x)


@pytest.mark.parametrize("name", UNARY)
def test_special_values_are_those_of_numpy(native: ctypes.CDLL, name: str) -> None:
    expected = UNARY[name](SPECIAL.astype(np.float64)).astype(np.float32)
    assert_same(call(native, f"{name}_n", SPECIAL), expected, SPECIAL)
    assert_same(call(native, f"{name}_narrow_n", SPECIAL).astype(HALF), expected.astype(HALF), SPECIAL)


def test_cos_of_huge_angles_is_exact(native: ctypes.CDLL) -> None:
    x = np.array([2.0**100, -(2.0**127), 16367173.0 * 2.0**72, np.inf, -np.inf], np.float32)  # the third is nearly a multiple of π/2
    expected = np.array([0.48917865697472144991, 0.78191463871496007226, -1.6147697982476211876e-9, np.nan, np.nan], np.float32)
    assert_same(call(native, "cos_n", x), expected, x)


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_are_within_half_an_ulp(native: ctypes.CDLL, name: str) -> None:
    f = BINARY[name]
    a, b = SPECIAL_PAIRS
    assert_same(call(native, f"{name}_n", a, b), f(a.astype(np.float64), b.astype(np.float64)).astype(np.float32), a, b)
    for a, b in ((any_bits(300_000, 4), any_bits(300_000, 5)), ordinary_pairs(100_000, 6)):
        assert_within(0.50001, call(native, f"{name}_n", a, b), f(a.astype(np.float64), b.astype(np.float64)), a)


@pytest.mark.parametrize("dtype", [HALF, BFLOAT], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_of_f16_and_bf16_are_nearest(native: ctypes.CDLL, name: str, dtype: np.dtype[Any]) -> None:
    a = np.concatenate([np.repeat(every(dtype), 4), *ordinary_pairs(20_000, 7)]).astype(dtype).astype(np.float32)
    b = np.random.default_rng(8).permutation(a)
    exact = BINARY[name](a.astype(np.float64), b.astype(np.float64))
    assert_same(call(native, f"{name}_narrow_n", a, b).astype(dtype), rounded_once(exact, dtype), a, b)


def test_a_short_power_between_two_floats_goes_to_the_even_one(native: ctypes.CDLL) -> None:
    x = np.arange(4097, 8192, 2, dtype=np.float32)  # squares of 25 bits, the last one set: ties
    assert_same(call(native, "pow_n", x, np.full_like(x, 2.0)), x * x, x)


@pytest.mark.parametrize("name", REMAINDERS)
def test_remainders_are_numpys_to_the_bit(native: ctypes.CDLL, name: str) -> None:
    f = REMAINDERS[name]
    for a, b in (SPECIAL_PAIRS, (any_bits(300_000, 9), any_bits(300_000, 10)), ordinary_pairs(100_000, 11)):
        assert_same(call(native, f"{name}_n", a, b), f(a, b), a, b)
    a = np.concatenate([np.repeat(every(HALF), 4), *ordinary_pairs(20_000, 12)]).astype(HALF)
    b = np.random.default_rng(13).permutation(a)
    narrow = call(native, f"{name}_narrow_n", a.astype(np.float32), b.astype(np.float32)).astype(HALF)
    assert_same(narrow, f(a, b), a, b)


# ---- all forms and builds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*UNARY, *BINARY, *REMAINDERS])
def test_builds_and_forms_agree_to_the_bit(libraries: dict[str, ctypes.CDLL], name: str) -> None:
    a = np.concatenate([any_bits(20_000, 14), SPECIAL_PAIRS[0], ordinary_pairs(5_000, 15)[0]])
    b = np.concatenate([any_bits(20_000, 16), SPECIAL_PAIRS[1], ordinary_pairs(5_000, 15)[1]])
    operands = (a,) if name in UNARY else (a, b)
    expected = call(libraries["native"], f"{name}_n", *operands)
    assert_same(call(libraries["native"], f"{name}_1", *operands), expected, *operands)
    assert_same(call(libraries["portable"], f"{name}_n", *operands), expected, *operands)
    narrow = call(libraries["native"], f"{name}_narrow_n", *operands)
    assert_same(call(libraries["portable"], f"{name}_narrow_n", *operands), narrow, *operands)


@pytest.mark.parametrize("name", [*UNARY, *BINARY, *REMAINDERS])
def test_any_length_in_place_and_nothing_past_n(native: ctypes.CDLL, name: str) -> None:
    values = np.linspace(0.5, 1.5, 64, dtype=np.float32)
    operands = 1 if name in UNARY else 2
    for form in ("n", "narrow_n"):
        expected = call(native, f"{name}_{form}", *[values] * operands)
        for n in range(40):
            room = np.concatenate([values[:n], np.full(20, 77.0, np.float32)])
            pointers = [ctypes.c_void_p(room.ctypes.data)] * (1 + operands)
            getattr(native, f"{name}_{form}")(*pointers, ctypes.c_size_t(n))
            assert_same(room[:n], expected[:n])
            assert np.all(room[n:] == 77.0)
