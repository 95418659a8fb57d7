"""Values first: every operator × dtype × awkward size through C and the emulator, against NumPy in float64 or exact integers.

One traced function evaluates all operators of a kind at once, so that a size and dtype costs one compilation. Inputs are drawn fresh
each run (the seed is printed when a case fails) from wide ranges with zeros, subnormals, infinities and NaN.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest

from ascir import hybrid_operator, nn
from ascir.accuracy import accuracy

xp, finfo = cast(Any, np), cast(Any, ml_dtypes.finfo)
"""NumPy for expressions whose types its stubs cannot tell."""

SEED = int(os.environ.get("ASCIR_SEED", np.random.SeedSequence().entropy or 0)) % 2**32  # pyright: ignore[reportOperatorIssue, reportArgumentType]
SIZES = [0, 1, 7, 8, 15, 16, 17, 31, 33, 63, 100, 126, 127, 129, 13243]
FLOATS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)]
INTEGERS = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)]

UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs, "neg": np.negative, "sign": np.sign, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt, "reciprocal": np.reciprocal,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "floor": np.floor,
    "ceil": np.ceil, "rint": np.rint, "trunc": np.trunc, "square": np.square, "relu": nn.relu, "erf": nn.erf, "rsqrt": nn.rsqrt,
    "sigmoid": nn.sigmoid, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "not": np.logical_not,
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign, "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod,
    "floor_divide": np.floor_divide, "remainder": np.remainder, "where": lambda a, b: xp.where(a > b, a, b),
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
}  # fmt: skip
INT_UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs, "neg": np.negative, "sign": np.sign, "invert": np.invert, "square": np.square, "relu": nn.relu,
    "not": np.logical_not, "cube": lambda a: a**3,
}  # fmt: skip
INT_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "floor_divide": np.floor_divide,
    "remainder": np.remainder, "fmod": np.fmod, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "where": lambda a, b: xp.where(a > b, a, b), "logical": np.logical_and,
}  # fmt: skip
SCALES = [1e-6, 1e-3, 1.0, 30.0, 1e4]


def numbers(rng: Any, shape: Any, dtype: np.dtype[Any], *, special: bool = True) -> np.ndarray:
    """Wide ranges, with every special value of the dtype when there is room."""
    if dtype.kind == "b":
        return np.asarray(rng.random(shape)) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        return xp.where(rng.random(shape) < 0.5, wide, rng.integers(0, 9, shape).astype(dtype)).astype(dtype)
    x: np.ndarray = np.asarray(rng.normal(size=shape) * rng.choice(SCALES, shape)).astype(dtype)
    if special and x.size > 20:
        tiny = float(finfo(dtype).smallest_subnormal)
        edge = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, 1.0, -1.0, 0.5, -0.5, float(finfo(dtype).max)]
        x.reshape(-1)[rng.choice(x.size, len(edge), replace=False)] = np.array(edge).astype(dtype)
    return x


def one(function: Callable[[Any], Any], **options: Any) -> Any:
    return hybrid_operator(function, **options)


def two(function: Callable[[Any, Any], Any], **options: Any) -> Any:
    return hybrid_operator(function, **options)


def all_of(functions: Mapping[str, Callable[..., Any]]) -> Callable[..., dict[str, Any]]:
    def every(*operands: Any) -> dict[str, Any]:
        return {name: function(*operands) for name, function in functions.items()}

    return every


def check(functions: Mapping[str, Callable[..., Any]], *operands: np.ndarray, seed: Any, skip: tuple[str, ...] = ()) -> None:
    """Compile all, run, compare each with float64 (or the same integers)."""
    chosen = {name: f for name, f in functions.items() if name not in skip}
    if len(operands) == 1:
        operator = one(lambda a: all_of(chosen)(a))
    else:
        operator = two(lambda a, b: all_of(chosen)(a, b))
    found = operator(*operands)
    with np.errstate(all="ignore"):
        wide = [x.astype(np.float64) if x.dtype.kind not in "biu" else x for x in operands]
        for name, function in chosen.items():
            expected = np.asarray(function(*wide))
            verdict = accuracy(found[name], expected)
            assert verdict.ok, f"{name} on {operands[0].dtype} {operands[0].shape}, seed {seed}: {verdict.why}"


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_float_operators(dtype: np.dtype[Any], n: int) -> None:
    rng = np.random.default_rng([SEED, n])
    a, b = numbers(rng, n, dtype), numbers(rng, n, dtype)
    check(UNARY, a, seed=SEED)
    check(BINARY, a, b, seed=SEED)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_operators_are_exact(dtype: np.dtype[Any], n: int) -> None:
    rng = np.random.default_rng([SEED, n])
    a, b = numbers(rng, n, dtype), numbers(rng, n, dtype)
    check(INT_UNARY, a, seed=SEED, skip=("sign",) if dtype.kind == "u" else ())
    check(INT_BINARY, a, b, seed=SEED)
    shift = rng.integers(0, 8 * dtype.itemsize, n).astype(dtype)
    check({"shl": np.left_shift, "shr": np.right_shift}, a, shift, seed=SEED)


@pytest.mark.parametrize("n", SIZES)
def test_bool_operators(n: int) -> None:
    rng = np.random.default_rng([SEED, n])
    a, b = (numbers(rng, n, np.dtype(bool)) for _ in range(2))
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "bitand": np.bitwise_and, "eq": np.equal, "lt": np.less,
        "where": lambda x, y: xp.where(x, y, x), "cast": lambda x, y: (x & y).astype(np.int32), "max": np.maximum,
    }  # fmt: skip
    check(functions, a, b, seed=SEED)
    check({"not": np.logical_not, "invert": np.invert, "any": np.any, "all": np.all, "sum": np.sum}, a, seed=SEED)


ALL = [np.dtype(bool), *INTEGERS, *FLOATS]


@pytest.mark.parametrize("source", ALL, ids=str)
def test_casts_between_all_dtypes(source: np.dtype[Any]) -> None:
    """Values that both types hold after rounding: what NumPy leaves undefined is in docs/numerics.md, not here."""
    rng = np.random.default_rng(SEED)
    x = numbers(rng, 129, source, special=False)
    if source.kind not in "biu":
        x = np.clip(x.astype(np.float64), 0, 100).astype(source)

    def casts(a: Any) -> dict[str, Any]:
        return {str(d): a.astype(d) for d in ALL}

    found = hybrid_operator(casts)(x)
    for target in ALL:
        with np.errstate(all="ignore"):
            expected = x.astype(target)
        np.testing.assert_array_equal(found[str(target)].view(np.uint8), expected.view(np.uint8), f"{source} → {target}, seed {SEED}")


SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (129, 1), (1, 129), (2, 9), (5, 126), (3, 1, 17), (2, 3, 4, 5), (2, 1, 3, 1, 7)]
BROADCASTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((8, 127), (127,)), ((8, 127), (8, 1)), ((8, 1), (1, 127)), ((), (33,)), ((33,), ()), ((1, 1), (5, 126)), ((4, 1, 6), (5, 1)),
    ((2, 9), (2, 1)), ((129, 1), (129, 2)), ((3, 1, 5), (1, 4, 1)), ((2, 1, 3, 1, 7), (1, 5, 1, 4, 1)), ((1000, 3), (3,)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), BROADCASTS, ids=str)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.int64), np.dtype(np.uint8)], ids=str)
def test_broadcasting_both_ways(left: tuple[int, ...], right: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(SEED)
    a, b = (numbers(rng, s, dtype, special=False) for s in (left, right))
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "add": np.add, "max": np.maximum, "lt": np.less, "where": lambda x, y: xp.where(x > y, x, y),
    }  # fmt: skip
    check(functions, a, b, seed=SEED)
    check(functions, b, a, seed=SEED)


def axes_of(rank: int) -> list[Any]:
    return [None, *range(-rank, rank), *([(0, rank - 1)] if rank > 1 else []), *([tuple(range(rank))] if rank else [])]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.int32), np.dtype(np.int64)], ids=str)
def test_reductions_over_every_axis(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(-50, 100, shape).astype(dtype) if dtype.kind == "i" else np.abs(rng.normal(size=shape)).astype(dtype)
    x = np.asarray(x)
    functions: dict[str, Callable[..., Any]] = {}
    for axis, keepdims in itertools.product(axes_of(len(shape)), (False, True)):
        reductions: dict[str, Any] = {"sum": np.sum, "max": np.max, "min": np.min, **({"mean": np.mean} if dtype.kind == "f" else {})}
        for name, f in reductions.items():
            functions[f"{name} {axis} {keepdims}"] = partial(f, axis=axis, keepdims=keepdims)
    check(functions, x, seed=SEED)


@pytest.mark.parametrize("n", [7, 129, 13243])
def test_argmax_and_its_nan_rule(n: int) -> None:
    rng = np.random.default_rng(SEED)
    functions: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin, "max": np.max, "min": np.min}
    x = rng.integers(0, 50, n).astype(np.float32)
    check(functions, x, seed=SEED)
    x[n // 2] = np.nan
    check(functions, x, seed=SEED)
    check({k: partial(f, axis=1) for k, f in functions.items()}, np.stack([x, x[::-1]]), seed=SEED)


MOVES: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda a: a.T + 0, "transpose only": np.transpose, "reversed": lambda a: a[::-1, ::-1], "step": lambda a: a[1::3, ::2],
    "row": lambda a: a[2], "column": lambda a: a[:, 1], "negative": lambda a: a[-3:-1, -2:], "none": lambda a: a[None, :, 0:1],
    "reshape": lambda a: a.reshape(-1), "reshape of transpose": lambda a: a.T.reshape(7, -1),
    "concat": lambda a: np.concatenate([a, a[:2]]), "concat columns": lambda a: np.concatenate([a, a[:, :3] * 2], axis=-1),
    "pad": lambda a: np.pad(a, ((1, 2), (0, 3))), "stack": lambda a: np.stack([a, a + a], 1), "flip": lambda a: np.flip(a, 0),
    "broadcast": lambda a: np.broadcast_to(a[:, None], (5, 4, 7)),
    "whole": lambda a: a, "expand": lambda a: np.expand_dims(a, -1), "swap": lambda a: np.swapaxes(a[None], 0, 2),
    "empty": lambda a: a[3:3] + 1, "tile of slices": lambda a: a[:, :-1] - a[:, 1:],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_movement_is_exact(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(SEED)
    x = numbers(rng, (5, 7), dtype, special=False)
    skip = ("transpose", "concat columns", "stack", "empty", "tile of slices") if dtype.kind == "b" else ()
    check(MOVES, x, seed=SEED, skip=skip)


def test_sliced_and_transposed_inputs_are_copied_and_right() -> None:
    x = np.random.default_rng(SEED).normal(size=(40, 60)).astype(np.float32)
    double = one(lambda a: a * 2)
    for view in (x.T, x[::2], x[:, ::-3], x[3:4], x[:, :1]):
        np.testing.assert_array_equal(double(view), view * 2)


def test_the_numbers_the_issue_names() -> None:
    total = one(lambda a: np.sum(a))
    assert total(np.array([60000, 60000, -60000], np.float16)) == 60000
    assert one(lambda a: a.astype(ml_dtypes.bfloat16))(np.array([259], np.int32)).astype(np.float32) == [260]
    np.testing.assert_array_equal(one(lambda a: np.rint(a))(np.array([0.5, 1.5, 2.5, -0.5], np.float32)), [0, 2, 2, -0.0])
    big = np.array([2**53 + 1, -(2**62) - 3], np.int64)
    np.testing.assert_array_equal(one(lambda a: a + 1)(big), big + 1)
    zero = np.zeros(4, np.int32)
    np.testing.assert_array_equal(two(lambda a, b: a // b)(np.array([1, -1, 0, 7], np.int32), zero), zero)
    np.testing.assert_array_equal(two(lambda a, b: a % b)(np.array([1, -1, 0, 7], np.int32), zero), zero)


EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": lambda a, b: np.sqrt(a), "max": np.maximum,
    "lt": np.less, "eq": np.equal, "chain": lambda a, b: (a * b + a) / (b - a), "int": lambda a, b: (a > b).astype(np.int32),
}  # fmt: skip


@pytest.mark.parametrize("n", [1, 17, 13243])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_strict_gives_numpys_bits(dtype: np.dtype[Any], n: int) -> None:
    rng = np.random.default_rng([SEED, n])
    a, b = numbers(rng, n, dtype), numbers(rng, n, dtype)
    found = two(lambda x, y: all_of(EXACT)(x, y), precision="strict")(a, b)
    with np.errstate(all="ignore"):
        for name, function in EXACT.items():
            expected = function(a, b)
            got, want = found[name].astype(np.float64), expected.astype(np.float64)
            np.testing.assert_array_equal(got, want, f"{name}, {dtype}, seed {SEED}")
            assert found[name].dtype == expected.dtype


NN: dict[str, Callable[[Any], Any]] = {
    "relu": nn.relu, "sigmoid": nn.sigmoid, "silu": nn.silu, "gelu": nn.gelu, "gelu tanh": lambda a: nn.gelu(a, approximate="tanh"),
    "softmax": nn.softmax, "softmax 0": lambda a: nn.softmax(a, axis=0), "layer_norm": nn.layer_norm, "rms_norm": nn.rms_norm,
}  # fmt: skip


@pytest.mark.parametrize("shape", [(33, 100), (2, 9), (5, 126), (1, 4097), (300, 17)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_neural_functions(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    x = (np.random.default_rng(SEED).normal(size=shape) * 2).astype(dtype)
    check(NN, x, seed=SEED)


def test_tensors_larger_than_ub_are_tiled_without_being_asked() -> None:
    x = np.random.default_rng(SEED).normal(size=(3, 400_001)).astype(np.float32)
    functions: dict[str, Callable[[Any], Any]] = {"exp": np.exp, "sum": lambda a: np.sum(np.abs(a), axis=1), "softmax": nn.softmax}
    check(functions, x, seed=SEED)
