"""What an operator is called with: arrays, numbers, and tuples, lists and dicts of them.

Arrays become tensor arguments; everything else is part of the program and of the key under which it is cached. `describe` makes the
key and gathers the arrays in one walk, because it runs at every call; `check_array` and `substitute` run when a program is traced.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX

from ascir.machine.dtypes import DType
from ascir.source import fail

from .tensor import TracedTensor
from .trace import MAX_RANK, Array, NumpyDType, is_dict, is_sequence, kernel_dtype


@dataclass(frozen=True, init=False)
class TensorSpec:
    """Shape and dtype of an array to come: `TensorSpec((8, None), "float16")`; None is a size not known yet.

    Raises AscirError for a dtype no kernel can hold, a negative size or more than 8 axes.
    """

    shape: tuple[int | None, ...]
    dtype: NumpyDType

    def __init__(self, shape: Sequence[int | None], dtype: Any):
        from .promotion import as_dtype

        sizes = tuple(shape)
        if not all(d is None or (isinstance(d, numbers.Integral) and d >= 0) for d in sizes):
            fail(f"TensorSpec takes sizes from 0 up, or None where one is not known; got {sizes}")
        object.__setattr__(self, "shape", tuple(None if d is None else int(d) for d in sizes))
        object.__setattr__(self, "dtype", as_dtype(dtype)[0])
        check_rank(len(sizes), "TensorSpec")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape with DYNAMIC_INDEX for None."""
        return tuple(DYNAMIC_INDEX if d is None else d for d in self.shape)

    @property
    def is_static(self) -> bool:
        return None not in self.shape


class Identity:
    """An object as a key: equal to itself alone, and kept alive so that nothing else takes its id."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


_BY_VALUE: tuple[type, ...] = (bool, int, str, bytes, type(None), type(Ellipsis), np.dtype, DType, range, Enum)


def describe(value: Any, arrays: list[Any]) -> Hashable:
    """A key that is equal for values which give the same program; arrays (and TensorSpecs) are gathered in order."""
    kind = cast(type[Any], type(value))
    if kind is np.ndarray or kind is TensorSpec:
        arrays.append(value)
        return value.shape, value.dtype
    if kind is float:
        return float, value if value and value == value else repr(value)
    describe_kind = _DESCRIBE.get(kind) or _describe_as(kind)
    return describe_kind(value, kind, arrays)


_Describe: TypeAlias = Callable[[Any, type, list[Any]], Hashable]


def _describe_as(kind: type) -> _Describe:
    """How values of a class are described."""
    found = next((how for known, how in list(_DESCRIBE.items()) if issubclass(kind, known)), _by_identity)
    _DESCRIBE[kind] = found
    return found


def _by_identity(value: Any, kind: type, arrays: list[Any]) -> Hashable:
    return Identity(value)


def _by_value(value: Any, kind: type, arrays: list[Any]) -> Hashable:
    return kind, value


def _by_text(value: Any, kind: type, arrays: list[Any]) -> Hashable:
    return kind, repr(value)


def _as_array(value: Any, kind: type, arrays: list[Any]) -> Hashable:
    arrays.append(value)
    return kind, value.shape, value.dtype


def _as_scalar(value: Any, kind: type, arrays: list[Any]) -> Hashable:
    return value.dtype, value.tobytes()


def _by_items(value: Any, kind: type, arrays: list[Any]) -> Hashable:
    return kind, *[describe(item, arrays) for item in value]


def _by_entries(value: Any, kind: type, arrays: list[Any]) -> Hashable:
    return kind, *[(k, describe(v, arrays)) for k, v in value.items()]


_DESCRIBE: dict[type, _Describe] = {
    np.generic: _as_scalar,
    np.ndarray: _as_array,
    tuple: _by_items,
    list: _by_items,
    dict: _by_entries,
    float: _by_text,
    slice: _by_text,
    **dict.fromkeys(_BY_VALUE, _by_value),
}
"""Class → how its values enter a key; classes met later are added."""


def substitute(value: Any, make: Callable[[Any, str], Any], name: str) -> Any:
    """The argument with a tensor in the place of each array, in the order of `describe`; an AscirError for what is no argument."""
    if isinstance(value, np.ndarray | TensorSpec):
        return make(value, name)
    if is_sequence(value):
        return _substitute_sequence(value, make, name)
    if is_dict(value):
        return {k: substitute(v, make, f"{name}_{k}") for k, v in value.items()}
    if isinstance(value, (np.generic, float, slice, *_BY_VALUE)) or callable(value):
        return value
    instead = "np.asarray(…, dtype=np.float32)" if hasattr(value, "__array__") else "arrays, numbers, strings, or tuples and dicts of them"
    fail(f"argument '{name}' is a {type(value).__name__}, which is neither an array nor a number", f"pass {instead}")


def _substitute_sequence(value: Sequence[Any], make: Callable[[Any, str], Any], name: str) -> Any:
    if isinstance(value, list) and value and not _holds_arrays(value):
        fail(f"argument '{name}' is a list of numbers, not an array", f"pass np.asarray({name}, dtype=np.float32)")
    items = [substitute(item, make, f"{name}_{k}") for k, item in enumerate(value)]
    return rebuilt(type(value), items)


def rebuilt(kind: Any, items: Sequence[Any]) -> Any:
    """A tuple, named tuple or list of these items."""
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def _holds_arrays(value: Any) -> bool:
    if is_dict(value):
        return any(_holds_arrays(v) for v in value.values())
    if is_sequence(value):
        return any(_holds_arrays(v) for v in value)
    return isinstance(value, np.ndarray | TensorSpec | TracedTensor | str)


def holds_traced(value: Any) -> bool:
    """Whether an argument comes from a function that is being traced."""
    if isinstance(value, TracedTensor):
        return True
    if is_sequence(value):
        return any(holds_traced(v) for v in value)
    return is_dict(value) and any(holds_traced(v) for v in value.values())


def native(dtype: NumpyDType) -> NumpyDType:
    """The dtype in the machine's byte order."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def check_array(array: Array | TensorSpec, name: str) -> DType:
    """The row of an argument's dtype; an AscirError for an array no kernel can take."""
    if isinstance(array, np.ma.MaskedArray | np.matrix):
        fail(f"argument '{name}' is a {type(array).__name__}, whose operators differ from an array's", f"pass np.asarray({name})")
    check_rank(len(array.shape), f"argument '{name}'")
    return kernel_dtype(native(array.dtype), f"argument '{name}'")


def check_rank(rank: int, what: str) -> None:
    if rank > MAX_RANK:
        fail(f"{what} has {rank} axes; kernels take up to {MAX_RANK}", "join neighbouring axes: x.reshape(…)")
