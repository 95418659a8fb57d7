"""What neural networks need and NumPy lacks: activations, softmax and normalisations, on plain arrays and in traced functions alike.

One code serves both: NumPy's functions reach traced tensors by themselves. float16 and bfloat16 are computed in float32 and rounded once,
at the end, as tuned kernels do; so the plain result is a golden that a kernel should meet. All functions take float tensors of any
shape, give the dtype and (unless they say otherwise) the shape of `x`, and raise AscirError for other dtypes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ascir.machine.dtypes import from_numpy
from ascir.source import fail
from ascir.tracing.operands import operand, wrap
from ascir.tracing.tensor import TracedTensor
from ascir.tracing.ufuncs import op

__all__ = ["erf", "erfc", "gelu", "layer_norm", "log_softmax", "relu", "rms_norm", "rsqrt", "sigmoid", "silu", "softmax"]

TensorT = TypeVar("TensorT")

_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)


def relu(x: TensorT) -> TensorT:
    """max(x, 0); NaN stays. Integers are taken too."""
    dtype = _dtype(x)
    if dtype is None:
        fail(f"nn.relu takes tensors, got {type(x).__name__}", "pass np.asarray(x, dtype=np.float32)")
    if isinstance(x, TracedTensor) and dtype != np.bool_:
        return _operator("relu", x)
    return cast(TensorT, np.maximum(cast(Any, x), dtype.type(0)))


def sigmoid(x: TensorT) -> TensorT:
    """1 / (1 + e^−x), without overflow for large |x|."""
    return _rounded(x, _sigmoid(_wide(x, "sigmoid")))


def silu(x: TensorT) -> TensorT:
    """x · sigmoid(x)."""
    wide = _wide(x, "silu")
    return _rounded(x, wide * _sigmoid(wide))


def gelu(x: TensorT, approximate: Literal["none", "tanh"] = "none") -> TensorT:
    """x · Φ(x), Φ the distribution of the standard normal: through erfc, or with `approximate="tanh"` by the usual formula in tanh."""
    wide = _wide(x, "gelu")
    if approximate == "none":
        return _rounded(x, 0.5 * wide * erfc(wide * -_SQRT_HALF))
    if approximate != "tanh":
        fail(f"gelu has no approximation {approximate!r}", 'approximate is "none" (erfc) or "tanh"')
    # ½ (1 + tanh u) is sigmoid(2 u), which does not cancel where it is small.
    return _rounded(x, wide * _sigmoid(2.0 * _SQRT_2_OVER_PI * (wide + 0.044715 * wide**3)))


def softmax(x: TensorT, axis: int | tuple[int, ...] = -1) -> TensorT:
    """e^x / Σ e^x along `axis`, after the maximum is taken off."""
    wide = _wide(x, "softmax")
    weight = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return _rounded(x, weight / weight.sum(axis=axis, keepdims=True))


def log_softmax(x: TensorT, axis: int | tuple[int, ...] = -1) -> TensorT:
    """log softmax(x), without going through numbers that vanish."""
    wide = _wide(x, "log_softmax")
    below = wide - wide.max(axis=axis, keepdims=True)
    return _rounded(x, below - np.log(np.exp(below).sum(axis=axis, keepdims=True)))


def layer_norm(x: TensorT, weight: Any = None, bias: Any = None, eps: float = 1e-5, axis: int | tuple[int, ...] = -1) -> TensorT:
    """(x − mean) / √(variance + eps) along `axis`, times `weight`, plus `bias`, which broadcast against x."""
    wide = _wide(x, "layer_norm")
    distance = wide - wide.mean(axis=axis, keepdims=True)
    variance = (distance * distance).mean(axis=axis, keepdims=True)
    return _rounded(x, _scaled(distance / np.sqrt(variance + eps), weight, bias, "layer_norm"))


def rms_norm(x: TensorT, weight: Any = None, eps: float = 1e-6, axis: int | tuple[int, ...] = -1) -> TensorT:
    """x / √(mean x² + eps) along `axis`, times `weight`, which broadcasts against x."""
    wide = _wide(x, "rms_norm")
    square = (wide * wide).mean(axis=axis, keepdims=True)
    return _rounded(x, _scaled(wide / np.sqrt(square + eps), weight, None, "rms_norm"))


def erf(x: TensorT) -> TensorT:
    """The error function, 2/√π ∫₀ˣ e^−t² dt."""
    return _elementary("erf", x, lambda v: np.frompyfunc(math.erf, 1, 1)(v))


def erfc(x: TensorT) -> TensorT:
    """1 − erf(x), also where that is tiny."""
    return _elementary("erfc", x, lambda v: np.frompyfunc(math.erfc, 1, 1)(v))


def rsqrt(x: TensorT) -> TensorT:
    """1 / √x; infinite at 0, NaN below."""
    return _elementary("rsqrt", x, lambda v: 1.0 / np.sqrt(v))


def _sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def _scaled(x: Any, weight: Any, bias: Any, name: str) -> Any:
    if weight is not None:
        x = x * _wide(weight, name)
    return x if bias is None else x + _wide(bias, name)


def _elementary(name: str, x: Any, function: Callable[[Any], Any]) -> Any:
    """An operator without a ufunc; on arrays it goes through double, so that the result is rounded once."""
    _wide(x, name)
    if isinstance(x, TracedTensor):
        return _operator(name, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(function(np.asarray(x, dtype=np.float64))).astype(x.dtype)


def _operator(name: str, x: TracedTensor) -> Any:
    return wrap(op(name, operand(x)))  # pyright: ignore[reportArgumentType]


def _wide(x: Any, name: str) -> Any:
    """The floats that a function computes with: float32 for the two narrow types."""
    dtype = _dtype(x)
    row = None if dtype is None else from_numpy(dtype)
    if row is None or not row.is_float:
        found = type(x).__name__ if dtype is None else dtype
        fail(f"nn.{name} takes float tensors, got {found}", "cast first: x.astype(np.float32)")
    return x.astype(np.float32) if row.bytes < 4 else x


def _dtype(x: Any) -> np.dtype[Any] | None:
    return getattr(x, "dtype", None)


def _rounded(x: Any, result: Any) -> Any:
    """The result in the dtype of x."""
    return result if result.dtype == x.dtype else result.astype(x.dtype)
