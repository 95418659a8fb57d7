"""`TracedTensor`: what an author's function is given in the place of an array.

It has a shape and a dtype and no values. NumPy's operators and functions reach it through NumPy's own protocols; whatever would need
a value while the function is traced — `if`, `float()`, item assignment — is refused with what to write instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ascir.dialects.types import dtype_of, shape_of, tensor_type
from ascir.source import fail
from ascir.tracing.sizes import UnknownSize

from .registry import UFUNCS, call_function, name_of, refuse_parameter, unknown
from .trace import NumpyDType, Shape, Trace


class TracedTensor(NDArrayOperatorsMixin):
    """A tensor of the function being traced: `shape`, `dtype`, NumPy's operators, functions and the methods below."""

    __slots__ = ("_trace", "_value", "dtype", "sizes")
    __hash__ = None  # pyright: ignore[reportAssignmentType]
    __array_priority__ = 1000.0

    dtype: NumpyDType
    """NumPy's dtype of the elements."""

    sizes: Shape
    """The shape with DYNAMIC_INDEX where a size is not known."""

    def __init__(self, trace: Trace, value: SSAValue):
        self._trace = trace
        self._value = value
        self.dtype = dtype_of(tensor_type(value)).to_numpy()
        self.sizes = shape_of(value)

    def value_in(self, trace: Trace) -> SSAValue:
        """The SSA value; an AscirError outside of the function it was made in."""
        if trace is not self._trace:
            fail("this tensor was kept from another call of a traced function and has no value here", "pass it as an argument")
        return self._value

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape)) + ("," if self.ndim == 1 else "")
        return f"TracedTensor(shape=({shape}), dtype={self.dtype.name})"

    # what is known

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes; a size that is not known refuses to be used as a number."""
        if DYNAMIC_INDEX not in self.sizes:
            return self.sizes
        return tuple(UnknownSize(k) if d == DYNAMIC_INDEX else d for k, d in enumerate(self.sizes))  # pyright: ignore[reportReturnType]

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.sizes:
            fail("len() of a 0-d tensor")
        return int(self.shape[0])

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if out is not None:
            refuse_parameter(name_of(ufunc), "out", out)
        where = kwargs.pop("where", True)
        if where is not True:
            refuse_parameter(name_of(ufunc), "where", where)
        ours = UFUNCS.get(ufunc)
        if ours is None:
            unknown(name_of(ufunc))
        return ours(method, *inputs, **kwargs)

    def __array_function__(self, func: Callable[..., Any], types: Sequence[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_function(func, args, kwargs)

    def __pow__(self, other: Any) -> TracedTensor:
        """NumPy's `**`: a float tensor to the power of a plain −1, 0, ½, 1 or 2 is not computed by `pow`."""
        short = _SHORT_POWERS.get(other) if type(other) in (int, float) and self._has_short_power(other) else None
        return cast(TracedTensor, np.power(self, other)) if short is None else short(self)

    def _has_short_power(self, number: float) -> bool:
        """Where the dtype stays, as bfloat16's does beside a float since ml_dtypes 0.7; its ½ is a power, not NumPy's square root."""
        if self.dtype.name == "bfloat16":
            return number != 0.5 and np.result_type(self.dtype, number) == self.dtype
        return self.dtype.kind == "f"

    # methods

    def astype(self, dtype: Any, **options: Any) -> TracedTensor:
        """The elements in another dtype; floats lose their fraction in integers, integers wrap."""
        return call_function(np.astype, (self, dtype), options)

    def __getitem__(self, index: Any) -> TracedTensor:
        from .indexing import index as take

        return take(self, index)

    def __iter__(self) -> Iterator[TracedTensor]:
        if not self.sizes:
            fail("a 0-d tensor cannot be iterated over")
        return iter([self[k] for k in range(len(self))])

    @property
    def T(self) -> TracedTensor:
        """All axes reversed."""
        return np.transpose(self)  # pyright: ignore

    @property
    def mT(self) -> TracedTensor:
        """The last two axes swapped."""
        return np.swapaxes(self, -1, -2)  # pyright: ignore

    def reshape(self, *shape: Any, order: str = "C") -> TracedTensor:
        return call_function(np.reshape, (self, shape[0] if len(shape) == 1 else shape), {"order": order})

    def transpose(self, *axes: Any) -> TracedTensor:
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return call_function(np.transpose, (self, given), {})

    def copy(self, order: str = "C") -> TracedTensor:
        """The tensor itself: nothing can change it."""
        return self

    def __copy__(self) -> TracedTensor:
        return self

    def __deepcopy__(self, memo: object) -> TracedTensor:
        return self

    # what needs a value

    def __bool__(self) -> bool:
        fail(
            "the truth of a tensor is not known while the function is traced",
            "choose per element: np.where(condition, a, b), np.maximum(a, b); combine conditions with &, |, ~ for and, or, not",
        )

    def __float__(self) -> float:
        fail(
            "float() of a tensor: its value is not known while the function is traced",
            "keep the tensor: .astype(np.float32) converts it, np.sqrt(x) does what math.sqrt(x) would",
        )

    def __int__(self) -> int:
        fail("int() of a tensor: its value is not known while the function is traced", "keep the tensor; .astype(np.int32) converts it")

    def __complex__(self) -> complex:
        fail("complex() of a tensor: kernels hold no complex numbers")

    def __index__(self) -> int:
        fail(
            "a tensor cannot be an index or a size: its value is not known while the function is traced",
            "use shapes (x.shape[0]), arguments that are Python numbers, or np.where(mask, a, b)",
        )

    def __array__(self, *_: object, **__: object) -> NoReturn:
        fail(
            "a traced tensor cannot become a NumPy array: its values are not known while the function is traced",
            "use it as it is; np.stack([a, b]) joins tensors where np.array([a, b]) would",
        )

    def __contains__(self, item: object) -> bool:
        fail("`in` asks for the values of a tensor, which are not known when it is traced", "write (x == item).any() and return it")

    def __setitem__(self, index: object, value: object) -> NoReturn:
        fail(
            "item assignment: a traced tensor cannot be changed",
            "build the new one: np.where(mask, new, x), or np.concatenate([x[:k], new, x[k + 1:]])",
        )

    def __delitem__(self, index: object) -> NoReturn:
        fail("a traced tensor cannot be changed", "np.concatenate([x[:k], x[k + 1:]]) leaves a row out")

    def __format__(self, spec: str) -> str:
        if spec:
            fail(f"the value of a tensor is not known while the function is traced, so it cannot be printed as '{spec}'")
        return repr(self)

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and hasattr(np.ndarray, name):
            unknown(f"ndarray.{name}")
        raise AttributeError(f"'TracedTensor' object has no attribute '{name}'")


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: TracedTensor, *args: Any, **kwargs: Any) -> Any:
        return call_function(function, (self, *args), kwargs)

    method.__name__ = function.__name__
    method.__doc__ = f"`np.{function.__name__}` of this tensor."
    return method


_METHODS: dict[str, Callable[..., Any]] = {
    **{f: getattr(np, f) for f in "sum prod mean max min any all argmax argmin std var squeeze ravel swapaxes round clip repeat".split()},
    "flatten": np.ravel,
}
for _name, _function in _METHODS.items():
    setattr(TracedTensor, _name, _method(_function))

_SHORT_POWERS: dict[float, Callable[[TracedTensor], TracedTensor]] = {
    -1: lambda x: np.reciprocal(x),  # pyright: ignore
    0: lambda x: np.ones_like(x),  # pyright: ignore
    0.5: lambda x: np.sqrt(x),  # pyright: ignore
    1: lambda x: x,
    2: lambda x: np.square(x),  # pyright: ignore
}
