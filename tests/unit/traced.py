"""Runs a traced function in the interpreter, and compares with NumPy to the bit: what the tests of the Python face share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascir.diagnostics import AscirError
from ascir.interpret import run_function
from ascir.tracing import TracedFunction, trace

Function = Callable[..., Any]


def arrays_in(value: Any) -> list[Any]:
    """The arrays of an argument, in order."""
    if isinstance(value, Mapping):
        return [a for v in value.values() for a in arrays_in(v)]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, tuple | list):
        return [a for v in value for a in arrays_in(v)]  # pyright: ignore[reportUnknownVariableType]
    return [value] if isinstance(value, np.ndarray) else []


def traced(function: Function, *args: Any) -> TracedFunction:
    """The function traced on these arguments; its module verifies."""
    given = {f"a{k}": v for k, v in enumerate(args)}
    result = trace(function, given, lambda f, arguments: f(*arguments.values()))
    result.module.verify()
    return result


def evaluate(function: Function, *args: Any) -> Any:
    """What the traced function gives, run by the interpreter."""
    found = traced(function, *args)
    return found.rebuild(run_function(found.module, found.name, [*arrays_in(args), *found.captured]))


def plain(x: Any) -> Any:
    """bfloat16 as float32, which NumPy's testing tools understand."""
    return x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x


def same(found: Any, expected: Any, what: str = "") -> None:
    """One structure, dtypes, shapes and bits (any NaN is any other, zeros keep their sign)."""
    if isinstance(expected, Mapping):
        assert isinstance(found, dict) and list(found) == list(expected), what  # pyright: ignore[reportUnknownArgumentType]
        for key, value in expected.items():  # pyright: ignore[reportUnknownVariableType]
            same(found[key], value, f"{what}[{key!r}]")
    elif isinstance(expected, tuple | list):
        assert type(found) is type(expected) and len(found) == len(expected), what  # pyright: ignore[reportUnknownArgumentType]
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            same(a, b, f"{what}[{k}]")
    else:
        _same_array(found, expected, what)


def _same_array(found: Any, expected: Any, what: str) -> None:
    assert found.dtype == expected.dtype, f"{what}: dtype {found.dtype}, NumPy's {expected.dtype}"
    assert np.shape(found) == np.shape(expected), f"{what}: shape {np.shape(found)}, NumPy's {np.shape(expected)}"
    a, b = plain(found), plain(expected)
    np.testing.assert_array_equal(a, b, err_msg=what)
    if b.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(a) & (a == 0), np.signbit(b) & (b == 0), err_msg=f"{what}: sign of zero")


def check(function: Function, *args: Any, what: str = "") -> None:
    """The traced function gives what NumPy gives."""
    with np.errstate(all="ignore"):
        expected = function(*args)
    same(evaluate(function, *args), expected, what or getattr(function, "__name__", ""))


def refusal(function: Function, *args: Any) -> str:
    """`message | hint` of the AscirError that tracing raises; it must know the author's line (ours, for arguments)."""
    with pytest.raises(AscirError) as caught:
        evaluate(function, *args)
    assert str(caught.value).startswith((__file__.replace("traced.py", "test_"), __file__)), str(caught.value)
    return f"{caught.value.message} | {caught.value.hint}"
