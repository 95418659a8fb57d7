"""Dtypes: what a traced function computes has NumPy's dtype and NumPy's values, or is refused by name — for every pair there is.

One trace holds every pair of dtypes for a ufunc; the interpreter runs it. A refusal is right where NumPy raises or answers in float64,
and for the three documented cases at `_REFUSED`.
"""

# Functions under test are lambdas over whatever NumPy takes; their types are what is tested.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascir.diagnostics import AscirError
from ascir.interpret import run_function
from ascir.machine.dtypes import ALL, from_numpy
from ascir.tracing import trace
from ascir.tracing.registry import UFUNCS

DTYPES = [row.to_numpy() for row in ALL]
NAMES = [d.name for d in DTYPES]
BINARY = sorted((u for u in UFUNCS if u.nin == 2), key=lambda u: u.__name__)
UNARY = sorted((u for u in UFUNCS if u.nin == 1), key=lambda u: u.__name__)

ULPS = {"logaddexp": 4, "logaddexp2": 4, "power": 1}
"""Ufuncs that are written as several operators, or for which NumPy itself has two answers; all others have NumPy's bits."""


def evaluate(function: Any, *args: Any) -> Any:
    """The traced function, run by the interpreter."""
    traced = trace(function, {f"a{k}": v for k, v in enumerate(args)}, lambda f, given: f(*given.values()))
    traced.module.verify()
    arrays: list[Any] = []
    for value in args:
        arrays.extend(value.values() if isinstance(value, dict) else [value])
    return traced.rebuild(run_function(traced.module, traced.name, [*arrays, *traced.captured]))


def samples(dtype: np.dtype[Any], positive: bool = False) -> Any:
    """Seven numbers that hurt."""
    if dtype == np.bool_:
        return np.array([True, False, True, True, False, False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([1, 0, 3, info.max, 5 if positive else info.min, 7, 6], dtype)
    if positive:
        return np.array([1.5, 0.25, 3.0, 0.0, 7.5, 100.0, 2.0]).astype(dtype)
    return np.array([1.5, -0.0, -3.25, np.nan, np.inf, -np.inf, 300.0]).astype(dtype)


def outcome(function: Any) -> Any:
    """The result, or the exception."""
    with np.errstate(all="ignore"):
        try:
            return function()
        except (TypeError, ValueError, OverflowError, AscirError) as error:
            return error


def attempt(jobs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Traced results, and the messages of what was refused."""
    results: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name, job in jobs.items():
        found = outcome(job)
        if isinstance(found, Exception):
            assert isinstance(found, AscirError), f"{name}: {found!r}"
            refused[name] = str(found)
        else:
            results[name] = found
    return results, refused


def plain(x: Any) -> Any:
    """bfloat16 as float32, which NumPy's testing tools understand."""
    return x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x


def same(name: str, found: Any, expected: Any, ulps: int = 0) -> None:
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, expected)), strict=True):
        assert a.dtype == b.dtype, f"{name}: dtype {a.dtype}, NumPy's {b.dtype}"
        assert np.shape(a) == np.shape(b), name
        if ulps and b.dtype.kind != "b":
            np.testing.assert_array_max_ulp(a.astype(np.float32), b.astype(np.float32), ulps * 2 ** (0 if b.dtype == np.float32 else 13))
        else:
            np.testing.assert_array_equal(plain(a), plain(b), err_msg=name)


def compare_all(name: str, jobs_of: Any, arguments: dict[str, Any], ulps: int, documented: Any = lambda key, expected: False) -> None:
    """`jobs_of(arguments)` gives named computations; each has NumPy's outcome or a refusal that NumPy justifies."""
    refused: dict[str, str] = {}

    def function(given: dict[str, Any]) -> dict[str, Any]:
        results, messages = attempt(jobs_of(given))
        refused.update(messages)
        return results

    found = evaluate(function, arguments)
    for key, job in jobs_of(arguments).items():
        expected = outcome(job)
        if key in refused:
            fine = isinstance(expected, Exception) or _without_kernel(expected) or documented(key, expected)
            assert fine, f"{name} {key} was refused: {refused[key]}; NumPy gives {expected!r}"
        else:
            assert not isinstance(expected, Exception), f"{name} {key}: NumPy says {expected}"
            same(f"{name} {key}", found[key], expected, ulps)


def _without_kernel(result: Any) -> bool:
    """Whether NumPy's answer has a dtype that no kernel holds."""
    parts = result if isinstance(result, tuple) else (result,)
    return any(p.dtype == np.float64 or from_numpy(p.dtype) is None for p in parts)


_COMPARES = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def _documented(ufunc: np.ufunc, key: str, expected: Any) -> bool:
    """Integers to the power of a tensor; comparisons that NumPy computes in float64."""
    if ufunc is np.power:
        return expected.dtype.kind in "iu" and (key.endswith("left") or len(key.split(" ")) == 2)
    return ufunc.__name__ in _COMPARES and _meets_in_float64(ufunc, key)


def _meets_in_float64(ufunc: np.ufunc, key: str) -> bool:
    kinds = [float if k == "float" else ml_dtypes.bfloat16 if k == "bfloat16" else k for k in key.split(" ")[:2]]
    resolved = ufunc.resolve_dtypes((*(k if k is float else np.dtype(k) for k in kinds), None))  # pyright: ignore
    return np.dtype(np.float64) in resolved


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
def test_every_pair_of_dtypes(ufunc: np.ufunc):
    positive = ufunc in (np.power, np.left_shift, np.right_shift)
    arguments = {d.name: samples(d, positive) for d in DTYPES}
    arguments |= {f"{d.name}'": samples(d, positive)[::-1].copy() for d in DTYPES}
    if ufunc in (np.left_shift, np.right_shift):
        arguments |= {f"{d.name}'": (np.arange(7) % 8).astype(d) for d in DTYPES}

    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        return {f"{a} {b}": lambda a=a, b=b: ufunc(given[a], given[f"{b}'"]) for a in NAMES for b in NAMES}

    compare_all(ufunc.__name__, jobs, arguments, ULPS.get(ufunc.__name__, 0), lambda key, expected: _documented(ufunc, key, expected))


@pytest.mark.parametrize("ufunc", UNARY, ids=lambda u: u.__name__)
def test_every_dtype(ufunc: np.ufunc):
    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        return {name: lambda name=name: ufunc(given[name]) for name in NAMES}

    refused = "iub" if ufunc is np.reciprocal else "ui" if ufunc is np.signbit else ""
    compare_all(ufunc.__name__, jobs, {d.name: samples(d) for d in DTYPES}, ULPS.get(ufunc.__name__, 0), lambda key, _: key[0] in refused)


WEAK = [True, 0, 1, 2, -1, 127, 300, 70000, 2**40, 2**63, 2**70, 0.0, 0.1, -2.5, 1e6, float("nan"), float("inf")]


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
def test_python_numbers_are_weak(ufunc: np.ufunc):
    numbers = [n for n in WEAK if not (ufunc in (np.left_shift, np.right_shift) and n not in (0, 1, 2))]

    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        right = {f"{d} {type(n).__name__} {n}": lambda d=d, n=n: ufunc(given[d], n) for d in NAMES for n in numbers}
        left = {f"{type(n).__name__} {d} {n} left": lambda d=d, n=n: ufunc(n, given[d]) for d in NAMES for n in numbers}
        return right | left

    positive = ufunc in (np.power, np.left_shift, np.right_shift)
    arguments = {d.name: samples(d, positive) for d in DTYPES}
    if positive and ufunc is not np.power:
        arguments = {d.name: (np.arange(7) % 8).astype(d) for d in DTYPES}
    compare_all(ufunc.__name__, jobs, arguments, ULPS.get(ufunc.__name__, 0), lambda key, expected: _documented(ufunc, key, expected))


def test_plain_powers_of_bfloat16():
    """`**`, which takes a way of its own for some exponents, with the installed ml_dtypes' dtype (before 0.7 a float made float32).

    np.power(float32, 0.5) is a power for some shapes and a square root for others, which differ at −0 and −∞; bfloat16's is a power.
    """
    exponents = [-1, 0, 1, 2, 3, -1.0, 0.0, 1.0, 2.0, 2.5]
    if np.result_type(ml_dtypes.bfloat16, 0.5) == ml_dtypes.bfloat16:
        exponents.append(0.5)

    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        return {f"{n!r}": lambda n=n: given["x"] ** n for n in exponents}

    compare_all("**", jobs, {"x": samples(np.dtype(ml_dtypes.bfloat16))}, ULPS["power"])


SCALARS: list[Any] = [np.int8(3), np.uint8(200), np.int16(-5), np.int64(2**60 + 1), np.float16(0.1), np.float32(0.1), np.float64(0.5)]
SCALARS.extend([np.bool_(True), ml_dtypes.bfloat16(0.3)])


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.true_divide, np.maximum, np.less, np.bitwise_and, np.floor_divide])
def test_numpy_scalars_have_a_dtype(ufunc: np.ufunc):
    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        return {f"{d} {s.dtype.name} {s}": lambda d=d, s=s: ufunc(given[d], s) for d in NAMES for s in SCALARS}

    compare_all(ufunc.__name__, jobs, {d.name: samples(d) for d in DTYPES}, 0, lambda key, expected: _documented(ufunc, key, expected))


def test_where_of_every_pair():
    condition = np.array([True, False, True, False, True, False, True])
    arguments = {d.name: samples(d) for d in DTYPES} | {"condition": condition}

    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        c = given["condition"]
        pairs = {f"{a} {b}": lambda a=a, b=b: np.where(c, given[a], given[b]) for a in NAMES for b in NAMES}
        weak = {f"{a} {n}": lambda a=a, n=n: np.where(c, given[a], n) for a in NAMES for n in (True, 1, 0.5)}
        conditions = {f"if {a}": lambda a=a: np.where(given[a], given["int8"], given["float16"]) for a in NAMES}
        return pairs | weak | conditions

    compare_all("where", jobs, arguments, 0)


def test_concatenate_of_every_pair():
    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        return {f"{a} {b}": lambda a=a, b=b: np.concatenate([given[a], given[b]]) for a in NAMES for b in NAMES}

    compare_all("concatenate", jobs, {d.name: samples(d) for d in DTYPES}, 0)


REDUCTIONS = ["sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "var", "std"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_have_numpys_dtype(name: str):
    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        plain = {d: lambda d=d: getattr(np, name)(given[d]) for d in NAMES}
        keep = {f"{d} keepdims": lambda d=d: getattr(np, name)(given[d], keepdims=True) for d in NAMES}
        return plain | keep

    arguments = {d.name: np.array([3, 1, 2, 1], np.int64).astype(d) for d in DTYPES}
    ulps = 8 if name in ("var", "std") else 0
    compare_all(name, jobs, arguments, ulps)


@pytest.mark.parametrize("source", NAMES)
def test_astype_to_every_dtype(source: str):
    """Integers from end to end, floats in the range of every type: beyond it, C leaves the answer open."""
    dtype = DTYPES[NAMES.index(source)]
    x = samples(dtype) if dtype.kind in "biu" else np.array([0.0, 1.5, 2.5, 3.75, 100.0, 127.0]).astype(dtype)

    def jobs(given: dict[str, Any]) -> dict[str, Any]:
        return {d.name: lambda d=d: given["x"].astype(d) for d in DTYPES}

    compare_all("astype", jobs, {"x": x}, 0)


def test_the_messages_name_the_dtype_and_the_way_out():
    half = np.zeros(3, np.float16)
    whole = np.zeros(3, np.int32)

    def message(function: Any, *args: Any) -> str:
        with pytest.raises(AscirError) as caught:
            evaluate(function, *args)
        return f"{caught.value.message} | {caught.value.hint}"

    assert message(lambda a: a / a, whole) == (
        "np.divide of int32 and int32 gives float64 in NumPy, which the AI Core does not compute"
        " | cast an operand first: x.astype(np.float32)"
    )
    assert message(lambda a: np.sqrt(2 / np.pi) * a, half) == (
        "np.multiply of float64 and float16 gives float64 in NumPy, which the AI Core does not compute"
        " | np.float64 scalars are not weak in NumPy 2; write float(…) around it: 0.7978845608028654"
    )
    assert message(lambda a: a + 300, np.zeros(3, np.uint8)) == (
        "Python integer 300 out of bounds for uint8 | cast the tensor first: .astype(np.int16)"
    )
    assert message(lambda a: a.mean(), whole) == (
        "np.mean of int32 gives float64 in NumPy, which the AI Core does not compute"
        " | cast first: x.astype(np.float32).mean(…), or give dtype=np.float32"
    )
    assert message(lambda a: a.astype(np.float64), half) == (
        "the requested type is float64, which the AI Core does not compute | use float32: .astype(np.float32)"
    )
    assert "boolean subtract, the `-` operator, is not supported" in message(lambda a: a - a, np.zeros(3, bool))
    assert message(lambda a: a & 1, half).endswith(" | bits are those of integers: x.astype(np.int32)")
