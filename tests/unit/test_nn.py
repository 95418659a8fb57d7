"""ascir.nn: right in plain NumPy, stable where the textbook formula is not, and the same when traced."""

# Functions under test are lambdas over whatever NumPy takes; their types are what is tested.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from traced import evaluate, plain, refusal

from ascir import nn
from ascir.diagnostics import AscirError

ELEMENTWISE: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "relu": (nn.relu, lambda x: max(x, 0.0)),
    "sigmoid": (nn.sigmoid, lambda x: 1 / (1 + math.exp(-x))),
    "silu": (nn.silu, lambda x: x / (1 + math.exp(-x))),
    "gelu": (nn.gelu, lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2))),
    "gelu_tanh": (
        lambda x: nn.gelu(x, approximate="tanh"),
        lambda x: x / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "erf": (nn.erf, math.erf),
    "erfc": (nn.erfc, math.erfc),
}
ROWS: dict[str, Callable[..., Any]] = {
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
    "layer_norm": nn.layer_norm,
    "rms_norm": nn.rms_norm,
}
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
EPSILON = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}

dtypes = pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)


def close(found: Any, expected: Any, dtype: np.dtype[Any], ulps: float = 4) -> None:
    """Within so many units in the last place, those of the smallest normal number below it."""
    assert found.dtype == dtype
    tiny = float(ml_dtypes.finfo(dtype).smallest_normal)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=ulps * EPSILON[dtype.name], atol=ulps * tiny * EPSILON[dtype.name])


@dtypes
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_activations_meet_their_definition(name: str, dtype: np.dtype[Any]):
    function, exact = ELEMENTWISE[name]
    x = np.linspace(-6, 6, 97).astype(dtype)
    close(function(x), [exact(float(v)) for v in x], dtype, ulps=24 if "gelu" in name else 4)
    np.testing.assert_array_equal(plain(evaluate(function, x)), plain(function(x)))


@dtypes
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize(("shape", "axis"), [((7,), -1), ((3, 33), -1), ((4, 1), 1), ((5, 2, 3), 0), ((2, 3, 4), (1, 2))])
def test_rows_meet_their_definition(name: str, dtype: np.dtype[Any], shape: tuple[int, ...], axis: Any):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    wide = x.astype(np.float64)
    close(ROWS[name](x, axis=axis), ROWS[name](wide, axis=axis), dtype, ulps=16)
    np.testing.assert_array_equal(plain(evaluate(lambda a: ROWS[name](a, axis=axis), x)), plain(ROWS[name](x, axis=axis)))


def test_softmax_adds_up_to_one_however_large_the_numbers():
    x = np.array([[1e4, 1e4, -1e4], [3e38, -3e38, 0], [-np.inf, 0, 0]], np.float32)
    with np.errstate(over="ignore"):
        for found in (nn.softmax(x), evaluate(nn.softmax, x)):
            np.testing.assert_array_equal(found, [[0.5, 0.5, 0], [1, 0, 0], [0, 0.5, 0.5]])
        np.testing.assert_allclose(nn.log_softmax(x)[0], [-math.log(2), -math.log(2), -2e4 - math.log(2)], rtol=1e-6)


def test_sigmoid_neither_overflows_nor_warns():
    x = np.array([-1e30, -200, -90, 0, 90, 1e30, np.inf, -np.inf, np.nan], np.float32)
    with np.errstate(over="raise", invalid="raise"):
        found = nn.sigmoid(x)
    np.testing.assert_allclose(found, [0, 0, 8.19401e-40, 0.5, 1, 1, 1, 0, np.nan], rtol=1e-4)


def test_half_statistics_do_not_overflow():
    """The square of 300 is no float16; the norm computes in float32."""
    x = np.array([300, -300, 300, -300], np.float16)
    np.testing.assert_array_equal(nn.layer_norm(x), [1, -1, 1, -1])
    np.testing.assert_array_equal(nn.rms_norm(x), [1, -1, 1, -1])
    np.testing.assert_array_equal(evaluate(nn.layer_norm, x), [1, -1, 1, -1])


def test_bfloat16_sums_count_every_term():
    """NumPy alone would stop at 256: 256 + 1 is 256 in bfloat16."""
    x = np.zeros(4096, ml_dtypes.bfloat16)
    np.testing.assert_array_equal(nn.softmax(x).astype(np.float32), np.full(4096, 2.0**-12))


def test_weight_and_bias_broadcast_and_do_not_change_the_dtype():
    rng = np.random.default_rng(0)
    x, weight, bias = (rng.normal(size=s).astype(d) for s, d in (((2, 8), np.float16), (8, np.float32), (8, ml_dtypes.bfloat16)))

    def function(a: Any, w: Any, b: Any) -> Any:
        return nn.layer_norm(a, w, b), nn.layer_norm(a, bias=b), nn.rms_norm(a, w, eps=1e-3)

    for found, expected in zip(evaluate(function, x, weight, bias), function(x, weight, bias), strict=True):
        assert found.dtype == np.float16
        np.testing.assert_array_equal(found, expected)
    wide: Any = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * weight + bias.astype(np.float64)
    np.testing.assert_allclose(nn.layer_norm(wide, weight, bias.astype(np.float32)), expected, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(nn.layer_norm(x, weight, bias), np.float64), expected, atol=4e-3)


def test_rsqrt_and_relu_at_their_edges():
    x = np.array([4, 0.25, 0, -0.0, -1, np.inf, np.nan], np.float32)
    for found in (nn.rsqrt(x), evaluate(nn.rsqrt, x)):
        np.testing.assert_array_equal(found, [0.5, 2, np.inf, -np.inf, np.nan, 0, np.nan])
    for found in (nn.relu(x), evaluate(nn.relu, x)):
        np.testing.assert_array_equal(found, [4, 0.25, 0, 0, 0, np.inf, np.nan])
    whole = np.array([-3, 0, 5], np.int8)
    assert nn.relu(whole).dtype == evaluate(nn.relu, whole).dtype == np.int8
    np.testing.assert_array_equal(evaluate(nn.relu, whole), [0, 0, 5])


def test_zero_dimensional_and_empty_tensors():
    assert nn.sigmoid(np.zeros((), np.float32)) == 0.5 == evaluate(nn.sigmoid, np.zeros((), np.float32))
    assert nn.gelu(np.zeros((0, 3), np.float16)).shape == evaluate(nn.gelu, np.zeros((0, 3), np.float16)).shape == (0, 3)
    assert nn.erf(np.zeros((2, 0), np.float32)).dtype == np.float32


def test_what_the_functions_refuse():
    whole = np.zeros(3, np.int32)
    assert refusal(nn.softmax, whole) == "nn.softmax takes float tensors, got int32 | cast first: x.astype(np.float32)"
    assert refusal(lambda x: nn.layer_norm(x.astype(np.float32), x), whole) == (
        "nn.layer_norm takes float tensors, got int32 | cast first: x.astype(np.float32)"
    )
    assert 'approximate is "none" (erfc) or "tanh"' in refusal(lambda x: nn.gelu(x, "sigmoid"), np.zeros(3, np.float32))  # pyright: ignore
    with pytest.raises(AscirError, match=r"nn\.erf takes float tensors, got list"):
        nn.erf([1.0])
    with pytest.raises(AscirError, match=r"nn\.relu takes tensors, got list"):
        nn.relu([1.0])
