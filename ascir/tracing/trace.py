"""One run of an author's function on tensors without values: the block being written, and what it reads besides its arguments.

Every op of `ascend` is pure, so an op with the operands and attributes of an earlier one is that one. An op takes the author's line as
its place; what its constructor refuses becomes one error there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from ascir.dialects.ascend import ConstantOp, OperatorOp
from ascir.dialects.types import tensor
from ascir.machine.dtypes import F64, DType, from_numpy, wrap_integer
from ascir.source import Places, fail

Array: TypeAlias = NDArray[Any]
NumpyDType: TypeAlias = np.dtype[Any]
Shape: TypeAlias = tuple[int, ...]

MAX_RANK = 8


def is_array(value: object) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, tuple | list)


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


_INT64_MAX = 2**63 - 1


class Trace:
    """A function under construction, written at `place`. `names` gives arrays from outside of it the names they have there, by id."""

    def __init__(self, place: LocationAttr, names: Mapping[int, str] | None = None):
        self._place = place
        self.block = Block()
        self.captured: list[Array] = []
        self.captured_values: list[SSAValue] = []
        self._names = names or {}
        self._captured_at: dict[int, SSAValue] = {}
        self._known: dict[Hashable, SSAValue] = {}
        self._places = Places()

    def __enter__(self) -> Trace:
        _open.traces.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _open.traces.pop()

    def argument(self, shape: Shape, dtype: DType, name: str | None) -> SSAValue:
        """A new tensor argument of the function."""
        value = self.block.insert_arg(tensor(shape, dtype), len(self.block.args))
        value.location = self._place
        if name is not None and SSAValue.is_valid_name(name):
            value.name_hint = name
        return value

    def emit(self, make: Callable[..., OperatorOp], *args: Hashable) -> SSAValue:
        """The result of `make(*args)`, appended unless it is there already."""
        key = (make, args)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._append(make, *args)
        return found

    def splat(self, number: int | float, shape: Shape, dtype: DType) -> SSAValue:
        """One number everywhere, kept as written: it is rounded where it is used."""
        key = (repr(number), shape, dtype.name)
        found = self._known.get(key)
        if found is None:
            if isinstance(number, int) and not dtype.is_float and number > _INT64_MAX:
                number = wrap_integer(number, 64)
            found = self._known[key] = self._append(ConstantOp.splat, number, tensor(shape, dtype))
        return found

    def capture(self, array: Array) -> SSAValue:
        """An array that is no argument: a hidden argument, which every call passes as the array is then."""
        found = self._captured_at.get(id(array))
        if found is None:
            name = self._names.get(id(array), "captured")
            dtype = kernel_dtype(array.dtype.newbyteorder("="), f"the array '{name}' that the function uses")
            found = self.argument(array.shape, dtype, name)
            self._captured_at[id(array)] = found
            self.captured.append(array)
            self.captured_values.append(found)
        return found

    def _append(self, make: Callable[..., OperatorOp], *args: Any) -> SSAValue:
        try:
            op = make(*args)
        except VerifyException as error:
            fail(str(error))
        op.location = self._places.here().location
        self.block.add_op(op)
        return op.result


class _Open(threading.local):
    """The traces under way in this thread, innermost last."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []


_open = _Open()


def current() -> Trace:
    """The trace that is under way."""
    if not _open.traces:
        fail("a traced tensor has no value outside of its function; return it, and use what the operator returns")
    return _open.traces[-1]


def kernel_dtype(dtype: NumpyDType, what: str) -> DType:
    """The row of a dtype that a kernel can hold; `what` names the value in the error for any other."""
    row = from_numpy(dtype)
    if row is F64:
        fail(f"{what} is float64, which the AI Core does not compute", "use float32: .astype(np.float32)")
    if row is None:
        fail(f"{what} has dtype {dtype}, which no kernel can hold", _advice(dtype))
    return row


def _advice(dtype: NumpyDType) -> str:
    if dtype.kind == "O":
        return "make it an array of numbers: np.asarray(x, dtype=np.float32)"
    if dtype.kind == "c":
        return "pass real and imaginary parts as two float32 arrays"
    return "use bool, int8 … uint64, float16, bfloat16 (ml_dtypes) or float32"
