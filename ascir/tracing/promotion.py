"""Which dtype an operation is computed in: NumPy is asked, never imitated.

`ufunc.resolve_dtypes` and `np.result_type` know NumPy 2's rules, weak Python numbers and ml_dtypes' bfloat16 included. What is ours is
the refusal: where NumPy would go to float64, which the AI Core does not compute, the author is told where and how to choose float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ascir.machine.dtypes import DType, from_numpy
from ascir.source import fail

from .operands import Constant, Kind, Operand, Weak, describe, kind_of
from .trace import NumpyDType

_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift)
_CAST = "cast an operand first: x.astype(np.float32)"


@lru_cache(maxsize=4096)
def _loop(ufunc: np.ufunc, kinds: tuple[Kind, ...], dtype: NumpyDType | None, casting: Any) -> tuple[NumpyDType, ...]:
    outputs: tuple[Any, ...] = (None,) * ufunc.nout
    options: dict[str, Any] = {} if dtype is None else {"signature": (None,) * ufunc.nin + (dtype,) * ufunc.nout}
    inputs = [k.value if isinstance(k, Weak) else k for k in kinds]
    return ufunc.resolve_dtypes((*inputs, *outputs), casting=casting, **options)


def resolve(ufunc: np.ufunc, operands: Sequence[Operand], dtype: Any = None, casting: str = "same_kind") -> tuple[NumpyDType, ...]:
    """The dtypes of operands, then of results, in the loop NumPy would run; an AscirError if there is none that a kernel can run."""
    kinds = tuple(kind_of(v) for v in operands)
    wanted = None if dtype is None else as_dtype(dtype)[0]
    try:
        found = _loop(ufunc, kinds, wanted, casting)
    except TypeError as error:
        fail(f"np.{ufunc.__name__} of {_listed(kinds)}: {_first_sentence(error)}", _hint_without_loop(ufunc, str(error)))
    for loop_dtype in found:
        _check(loop_dtype, f"np.{ufunc.__name__} of {_listed(kinds)}", operands)
    return found


def result_dtype(what: str, operands: Sequence[Operand]) -> NumpyDType:
    """The dtype that holds all operands (`np.result_type`); `what` names the function in errors."""
    kinds = [kind_of(v) for v in operands]
    arguments: list[Any] = [k.value(0) if isinstance(k, Weak) else k for k in kinds]
    try:
        found = np.result_type(*arguments)
    except TypeError as error:
        fail(f"{what} of {_listed(kinds)}: {_first_sentence(error)}", _CAST)
    _check(found, f"{what} of {_listed(kinds)}", operands)
    return found


def as_dtype(spec: Any) -> tuple[NumpyDType, DType]:
    """The NumPy dtype an author names (`np.float16`, "bfloat16", a DType row) and its row; an AscirError for one no kernel can hold."""
    from .trace import kernel_dtype

    dtype = spec.to_numpy() if isinstance(spec, DType) else _numpy_dtype(spec)
    return dtype, kernel_dtype(dtype, "the requested type")


def _numpy_dtype(spec: Any) -> NumpyDType:
    if spec == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    try:
        return np.dtype(spec)
    except TypeError as error:
        fail(str(error), "name a dtype: np.float32, 'float16', ml_dtypes.bfloat16, x.dtype")


def _hint_without_loop(ufunc: np.ufunc, message: str) -> str | None:
    """What to do where NumPy has no loop; some of its messages say it themselves."""
    if "use the" in message:
        return None
    return "bits are those of integers: x.astype(np.int32)" if ufunc in _BITWISE else _CAST


def _check(dtype: NumpyDType, what: str, operands: Sequence[Operand]) -> None:
    if from_numpy(dtype) is None:
        fail(f"{what} gives {dtype} in NumPy, which no kernel can hold", _CAST)
    if dtype == np.float64:
        fail(f"{what} gives float64 in NumPy, which the AI Core does not compute", _float64_hint(operands))


def _float64_hint(operands: Sequence[Operand]) -> str:
    """What to write so that float64 does not come up."""
    for value in operands:
        if isinstance(value, Constant) and not value.is_weak and value.kind == np.float64:
            return f"np.float64 scalars are not weak in NumPy 2; write float(…) around it: {value.number!r}"
    weak = any(kind_of(v) is Weak.FLOAT for v in operands)
    if weak and all(k is Weak.FLOAT or describe(k) == "bfloat16" for k in map(kind_of, operands)):
        return "give the number a dtype: np.float32(…) or x.dtype.type(…)"
    return "cast first: x.astype(np.float32)" if len(operands) == 1 else _CAST


def _listed(kinds: Sequence[Kind]) -> str:
    return " and ".join(describe(k) for k in kinds)


def _first_sentence(error: TypeError) -> str:
    return str(error).split("\n")[0].split(". ")[0].rstrip(".")
