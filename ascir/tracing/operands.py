"""What an operation may be given — a traced tensor, a Python number, a NumPy scalar, an array — and how it becomes an SSA value.

Python numbers are weak: they take the dtype NumPy gives the operation, and stay as exact as they were written. NumPy scalars have
a dtype of their own, as in NumPy 2.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ascir.dialects import inference
from ascir.dialects.ascend import BroadcastOp, CastOp
from ascir.dialects.types import dtype_of, shape_of, tensor_type
from ascir.machine.dtypes import BY_NAME, DType, from_numpy, round_to
from ascir.source import fail
from ascir.tracing.sizes import UnknownSize

from .trace import NumpyDType, Shape, current, is_array, is_sequence, kernel_dtype

if TYPE_CHECKING:
    from .tensor import TracedTensor


class Weak(Enum):
    """The kind of a Python number. (Not `int` itself: to NumPy, `int == np.dtype(np.int64)`.)"""

    INT = int
    FLOAT = float


Kind: TypeAlias = "NumpyDType | Weak"


@dataclass(frozen=True)
class Constant:
    """A number known now."""

    number: int | float
    kind: Kind

    @property
    def is_weak(self) -> bool:
        return isinstance(self.kind, Weak)


Operand: TypeAlias = "SSAValue | Constant"


def operand(value: Any) -> Operand:
    """What the author wrote, as a value or a number; an AscirError for anything no kernel can hold."""
    from .tensor import TracedTensor

    if isinstance(value, TracedTensor):
        return value.value_in(current())
    if isinstance(value, np.generic):
        return _typed(value)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, bool):
        return Constant(value, np.dtype(np.bool_))
    if isinstance(value, int):
        return Constant(value, Weak.INT)
    if isinstance(value, float):
        return Constant(value, Weak.FLOAT)
    if is_array(value):
        return current().capture(value)
    if isinstance(value, UnknownSize):
        value.refuse()
    if is_sequence(value):
        fail(f"a {type(value).__name__} is no tensor", "make it an array: np.asarray(…, dtype=np.float32)")
    fail(f"expected a tensor or a number, got {type(value).__name__} {value!r}")


def _typed(value: Any) -> Constant:
    row = from_numpy(value.dtype)
    if row is None:
        kernel_dtype(value.dtype, f"the NumPy scalar {value!r}")
        raise AssertionError
    if row.kind == "bool":
        return Constant(bool(value), value.dtype)
    return Constant(float(value) if row.is_float else int(value), value.dtype)


@cache
def numpy_dtype(dtype: DType) -> NumpyDType:
    return dtype.to_numpy()


def row_of(dtype: NumpyDType) -> DType:
    """The row of a dtype known to have one."""
    row = from_numpy(dtype)
    assert row is not None
    return row


def kind_of(value: Operand) -> Kind:
    return value.kind if isinstance(value, Constant) else numpy_dtype(dtype_of(tensor_type(value)))


def shape_of_operand(value: Operand) -> Shape:
    return () if isinstance(value, Constant) else shape_of(value)


def describe(kind: Kind) -> str:
    """A dtype as an error names it."""
    return f"a Python {kind.value.__name__}" if isinstance(kind, Weak) else kind.name


_R = TypeVar("_R")


def checked(rule: Callable[..., _R], *args: Any) -> _R:
    """What a rule of `dialects/inference.py` answers; its complaint becomes an AscirError at the author's line."""
    try:
        return rule(*args)
    except VerifyException as error:
        fail(str(error))


def common_shape(operands: Sequence[Operand]) -> Shape:
    """NumPy's broadcast of the operands' shapes."""
    return checked(inference.broadcast_shapes, [shape_of_operand(v) for v in operands])


def cast(value: SSAValue, dtype: DType) -> SSAValue:
    """The value in another dtype, as `astype` gives it."""
    return value if dtype_of(tensor_type(value)) == dtype else current().emit(CastOp, value, dtype)


def broadcast(value: SSAValue, shape: Shape) -> SSAValue:
    return value if shape_of(value) == shape else current().emit(BroadcastOp, value, shape)


def materialize(value: Operand, dtype: NumpyDType, shape: Shape, *, exact: bool = False) -> SSAValue:
    """The operand as a tensor of this dtype and shape. `exact` rounds a weak number to the dtype now: for operations that jump."""
    row = row_of(dtype)
    if isinstance(value, Constant):
        number = number_in(value, dtype)
        return current().splat(round_to(number, row) if exact and row.is_float else number, shape, row)
    return broadcast(cast(value, row), shape)


def number_in(constant: Constant, dtype: NumpyDType) -> int | float:
    """The number as an element of `dtype`: a weak one as written, if NumPy can convert it; a typed one cast."""
    if isinstance(constant.kind, Weak):
        return _weak_number(constant.number, dtype)
    if constant.kind == dtype:
        return constant.number
    return _typed(np.asarray(constant.number, constant.kind).astype(dtype)[()]).number


def _weak_number(number: int | float, dtype: NumpyDType) -> int | float:
    row = row_of(dtype)
    if isinstance(number, int) and _is_too_large(number, row):
        fail(f"Python integer {number} is beyond what NumPy converts to {row.numpy}", f"write float({number})")
    if row.kind == "bool":
        return bool(number)
    if row.is_float:
        try:
            return float(number)
        except OverflowError as error:
            fail(str(error))
    if isinstance(number, int) and not in_range(number, dtype):
        fail(f"Python integer {number} out of bounds for {dtype.name}", f"cast the tensor first: .astype(np.{_holder(number)})")
    return number


def _is_too_large(number: int, row: DType) -> bool:
    """Whether NumPy has no conversion for so large a Python int: bool takes int64, bfloat16 took no more before ml_dtypes 0.7."""
    if in_range(number, np.dtype(np.int64)):
        return False
    return row.name == "i1" or (row.name == "bf16" and not _bfloat16_takes_any_int())


@cache
def _bfloat16_takes_any_int() -> bool:
    try:
        numpy_dtype(BY_NAME["bf16"]).type(2**63)
    except TypeError:
        return False
    return True


def _holder(number: int) -> str:
    return next((d for d in ("int16", "int32", "int64", "uint64") if in_range(number, np.dtype(d))), "float32")


def in_range(number: int, dtype: NumpyDType) -> bool:
    """Whether an integer dtype holds the number."""
    info = np.iinfo(dtype)
    return info.min <= number <= info.max


def wrap(value: SSAValue) -> TracedTensor:
    """The value as the author sees it."""
    from .tensor import TracedTensor

    return TracedTensor(current(), value)


def traced(value: Any) -> TracedTensor:
    """A tensor of what the author wrote; a number becomes a 0-d tensor of the dtype NumPy gives it."""
    found = operand(value)
    if isinstance(found, Constant):
        dtype = np.dtype(found.kind.value) if isinstance(found.kind, Weak) else found.kind
        kernel_dtype(dtype, f"the number {found.number}")
        return wrap(materialize(found, dtype, ()))
    return wrap(found)


def whole(value: Any, what: str) -> int:
    """A Python int of anything that is one (axis, shift, width)."""
    if isinstance(value, numbers.Integral):
        return int(value)
    fail(f"{what} is a whole number known when the function is traced, got {type(value).__name__} {value!r}")
