"""NumPy's ufuncs on traced tensors: one operator each where `machine/operators.py` has the row, otherwise a few.

Each runs in the dtypes of the loop that NumPy would pick (`promotion.resolve`); operands are cast and broadcast to it first. Read
`UfuncRule`, then the tables of composites at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ascir.dialects.ascend import ClampOp, CompareOp, SelectOp, elementwise
from ascir.dialects.types import dtype_of, shape_of, tensor_type
from ascir.machine.dtypes import dtype as row_named
from ascir.machine.operators import COMPARE, OPERATORS
from ascir.source import fail

from .operands import (
    Constant,
    Operand,
    Weak,
    broadcast,
    cast,
    common_shape,
    describe,
    in_range,
    kind_of,
    materialize,
    operand,
    row_of,
    whole,
    wrap,
)
from .promotion import resolve
from .registry import FUNCTIONS, UFUNCS, implements, name_of, unknown
from .trace import NumpyDType, current

Builder: TypeAlias = Callable[..., SSAValue]

_BOOL, _F32 = row_named("i1"), row_named("f32")


def op(name: str, *values: SSAValue) -> SSAValue:
    """`ascend.<name>`."""
    return current().emit(elementwise, name, *values)


def compare(predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
    return current().emit(CompareOp, predicate, a, b)


def select(condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    return current().emit(SelectOp, condition, a, b)


def fill(like: SSAValue, number: float | int) -> SSAValue:
    """One number in the shape and dtype of another value."""
    return current().splat(number, shape_of(like), dtype_of(tensor_type(like)))


def is_float(value: SSAValue) -> bool:
    return dtype_of(tensor_type(value)).is_float


@dataclass(frozen=True)
class UfuncRule:
    """A ufunc whose result `build` makes of operands in one loop's dtypes and of one shape."""

    ufunc: np.ufunc
    build: Builder
    exact: bool = False
    """The result jumps: a Python number counts as rounded to the dtype, as in NumPy, not as written."""

    reduction: Callable[..., Any] | None = None
    """The NumPy function that `ufunc.reduce` is."""

    def __call__(self, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__":
            return self.apply([operand(v) for v in inputs], **self._checked(options))
        if method == "reduce" and self.reduction is not None:
            return self._reduce(*inputs, **options)
        if method == "outer" and self.ufunc.nin == 2:
            return self._outer(*inputs, **options)
        unknown(f"np.{self.ufunc.__name__}.{method}")

    def apply(self, operands: Sequence[Operand], dtype: Any = None, casting: str = "same_kind") -> Any:
        """The result as the author sees it."""
        found = resolve(self.ufunc, operands, dtype, casting)
        shape = common_shape(operands)
        values = [materialize(v, d, shape, exact=self.exact) for v, d in zip(operands, found, strict=False)]
        return wrap(self.build(*values))

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        for name in options.keys() - {"dtype", "casting", "order", "subok"}:
            fail(f"np.{self.ufunc.__name__} with {name}= does not work in a kernel", "cast operands with .astype instead")
        return {k: v for k, v in options.items() if k in ("dtype", "casting")}

    def _reduce(self, x: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **options: Any) -> Any:
        for name in options:
            fail(f"{name_of(self.ufunc)}.reduce with {name}= does not work in a kernel")
        assert self.reduction is not None
        more = {} if dtype is None else {"dtype": dtype}
        return FUNCTIONS[self.reduction](x, axis=axis, keepdims=keepdims, **more)

    def _outer(self, a: Any, b: Any, **options: Any) -> Any:
        first, second = wrap_any(a), wrap_any(b)
        return self("__call__", first[(..., *(None,) * second.ndim)], second, **options)


def wrap_any(value: Any) -> Any:
    from .operands import traced

    return traced(value)


# Operators with a row of their own; bool loops of arithmetic are logic.

_BOOL_LOOPS = {"add": "or", "mul": "and", "max": "or", "min": "and"}
_IDENTITY_OF_INTEGERS = ("floor", "ceil", "trunc")
_IDENTITY_OF_UNSIGNED = ("abs",)


def row_builder(name: str) -> Builder:
    """The operator `name` in any loop NumPy has for it."""

    def build(*values: SSAValue) -> SSAValue:
        dtype = dtype_of(tensor_type(values[0]))
        if dtype.kind == "bool" and name in _BOOL_LOOPS:
            return op(_BOOL_LOOPS[name], *values)
        if (name in _IDENTITY_OF_INTEGERS and not dtype.is_float) or (name in _IDENTITY_OF_UNSIGNED and dtype.kind in ("uint", "bool")):
            return values[0]
        if not OPERATORS[name].accepts(dtype.kind):
            fail(f"np.{OPERATORS[name].numpy} of {dtype.numpy} does not work in a kernel", _INSTEAD_ON_INTEGERS.get(name))
        return op(name, *values)

    return build


_INSTEAD_ON_INTEGERS = {"reciprocal": "write 1 // x, or x.astype(np.float32) for a fraction"}

_REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
_JUMPS = ("floor_div", "mod", "fmod")


def register(ufunc: np.ufunc, build: Builder, exact: bool = False) -> None:
    UFUNCS[ufunc] = UfuncRule(ufunc, build, exact, _REDUCTIONS.get(ufunc))


for _row in OPERATORS.values():
    if isinstance(_ufunc := getattr(np, _row.numpy, None), np.ufunc):
        register(_ufunc, row_builder(_row.name), _row.name in _JUMPS)


# Comparisons.


@dataclass(frozen=True)
class CompareRule(UfuncRule):
    """Python integers beyond the tensor's dtype compare by value, as in NumPy; so do int64 and uint64."""

    predicate: str = "eq"

    def apply(self, operands: Sequence[Operand], dtype: Any = None, casting: str = "same_kind") -> Any:
        for k, value in enumerate(operands):
            answer = self._beyond(value, operands[1 - k], mirrored=k == 0)
            if answer is not None:
                return wrap(current().splat(answer, common_shape(operands), _BOOL))
        return super().apply(operands, dtype, casting)

    def _beyond(self, number: Operand, tensor: Operand, mirrored: bool) -> int | None:
        """The answer for a number that the tensor's integers cannot reach: it is above or below them all."""
        if not isinstance(number, Constant) or number.kind is not Weak.INT or number.number == 0:
            return None
        dtype = kind_of(tensor)
        if not isinstance(dtype, np.dtype) or dtype.kind not in "iu" or in_range(int(number.number), dtype):
            return None
        tensor_is_less = (number.number > 0) != mirrored
        return int(_WHEN_LESS[self.predicate] if tensor_is_less else _WHEN_GREATER[self.predicate])


_WHEN_LESS = {"eq": False, "ne": True, "lt": True, "le": True, "gt": False, "ge": False}
_WHEN_GREATER = {"eq": False, "ne": True, "lt": False, "le": False, "gt": True, "ge": True}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def comparison(predicate: str) -> Builder:
    def build(a: SSAValue, b: SSAValue) -> SSAValue:
        first, second = dtype_of(tensor_type(a)), dtype_of(tensor_type(b))
        if first == second:
            return compare(predicate, a, b)
        if first.kind == "uint":
            return _signed_with_unsigned(_MIRRORED[predicate], b, a)
        return _signed_with_unsigned(predicate, a, b)

    return build


def _signed_with_unsigned(predicate: str, signed: SSAValue, unsigned: SSAValue) -> SSAValue:
    """int64 with uint64: a negative number is less than all, any other compares as uint64."""
    negative = compare("lt", signed, fill(signed, 0))
    as_unsigned = compare(predicate, cast(signed, dtype_of(tensor_type(unsigned))), unsigned)
    if _WHEN_LESS[predicate]:
        return op("or", negative, as_unsigned)
    return op("and", op("not", negative), as_unsigned)


for _row in COMPARE:
    _ufunc = getattr(np, _row.numpy)
    UFUNCS[_ufunc] = CompareRule(_ufunc, comparison(_row.name), exact=True, predicate=_row.name)


# Powers.


@dataclass(frozen=True)
class PowerRule(UfuncRule):
    """Integers take a constant exponent, by multiplication; floats take any."""

    def apply(self, operands: Sequence[Operand], dtype: Any = None, casting: str = "same_kind") -> Any:
        loop = resolve(self.ufunc, operands, dtype, casting)[0]
        if loop.kind in "iu":
            return wrap(self._integer(operands, loop))
        return super().apply(operands, dtype, casting)

    def _integer(self, operands: Sequence[Operand], loop: NumpyDType) -> SSAValue:
        base, exponent = operands
        if not isinstance(exponent, Constant):
            fail(
                "an integer tensor to the power of a tensor does not work in a kernel",
                "use a constant exponent, floats (x.astype(np.float32) ** y), or 1 << n for powers of two",
            )
        times = whole(exponent.number, "the exponent")
        if times < 0:
            fail("Integers to negative integer powers are not allowed.", "x.astype(np.float32) ** n is a fraction")
        if exponent.is_weak and not in_range(times, loop):
            fail(f"Python integer {times} out of bounds for {loop.name}")
        return _repeated(materialize(base, loop, common_shape(operands)), times)


def _repeated(x: SSAValue, times: int) -> SSAValue:
    """x to a whole power, squaring: integers wrap the same in any order."""
    result: SSAValue | None = None
    while times:
        if times & 1:
            result = x if result is None else op("mul", result, x)
        times >>= 1
        if times:
            x = op("mul", x, x)
    return fill(x, 1) if result is None else result


UFUNCS[np.power] = PowerRule(np.power, row_builder("pow"))


# Ufuncs written as several operators. Operands come in one dtype and shape.


def isnan(x: SSAValue) -> SSAValue:
    return compare("ne", x, x) if is_float(x) else current().splat(0, shape_of(x), _BOOL)


def isinf(x: SSAValue) -> SSAValue:
    return compare("eq", op("abs", x), fill(x, math.inf)) if is_float(x) else current().splat(0, shape_of(x), _BOOL)


def isfinite(x: SSAValue) -> SSAValue:
    return compare("lt", op("abs", x), fill(x, math.inf)) if is_float(x) else current().splat(1, shape_of(x), _BOOL)


def signbit(x: SSAValue) -> SSAValue:
    """−0 and negative NaN count."""
    return compare("lt", op("copysign", fill(x, 1.0), x), fill(x, 0.0))


def fmax(a: SSAValue, b: SSAValue) -> SSAValue:
    """The greater; a number rather than NaN."""
    if dtype_of(tensor_type(a)).kind == "bool":
        return op("or", a, b)
    return select(op("or", compare("ge", a, b), isnan(b)), a, b) if is_float(a) else op("max", a, b)


def fmin(a: SSAValue, b: SSAValue) -> SSAValue:
    """The smaller; a number rather than NaN."""
    if dtype_of(tensor_type(a)).kind == "bool":
        return op("and", a, b)
    return select(op("or", compare("le", a, b), isnan(b)), a, b) if is_float(a) else op("min", a, b)


def heaviside(x: SSAValue, at_zero: SSAValue) -> SSAValue:
    zero = fill(x, 0.0)
    step = select(compare("lt", x, zero), zero, select(compare("eq", x, zero), at_zero, fill(x, 1.0)))
    return select(isnan(x), x, step)


def _log_sum(exp: str, log_of: Callable[[SSAValue], SSAValue], of_equal: float) -> Builder:
    """log(eᵃ + eᵇ) = max(a, b) + log(1 + e^−|a − b|); equal operands, infinite ones too, are a + log 2."""

    def build(a: SSAValue, b: SSAValue) -> SSAValue:
        distance = op("neg", op("abs", op("sub", a, b)))
        apart = op("add", op("max", a, b), log_of(op(exp, distance)))
        return select(compare("eq", a, b), op("add", a, fill(a, of_equal)), apart)

    return build


def _log2_1p(x: SSAValue) -> SSAValue:
    return op("mul", op("log1p", x), fill(x, math.log2(math.e)))


def _in_f32(build: Builder) -> Builder:
    """float16 and bfloat16 computed in float32 and rounded once, as NumPy does for its own one-step ufuncs."""

    def wide(*values: SSAValue) -> SSAValue:
        dtype = dtype_of(tensor_type(values[0]))
        return cast(build(*(cast(v, _F32) for v in values)), dtype)

    return wide


def _times(number: float) -> Builder:
    def build(x: SSAValue) -> SSAValue:
        return op("mul", x, fill(x, number))

    return _in_f32(build)


def _itself(x: SSAValue) -> SSAValue:
    return x


def _as_bool(x: SSAValue) -> SSAValue:
    return cast(x, _BOOL)


def _logical(name: str) -> Builder:
    def build(*values: SSAValue) -> SSAValue:
        return op(name, *(_as_bool(v) for v in values))

    return build


def _square(x: SSAValue) -> SSAValue:
    return op("mul", x, x)


_DEGREES = float(np.float32(180) / np.float32(np.pi))
_RADIANS = float(np.float32(np.pi) / np.float32(180))
_DIVMOD = (row_builder("floor_div"), row_builder("mod"))

_COMPOSITES: dict[np.ufunc, Builder] = {
    np.positive: _itself,
    np.square: _square,
    np.fabs: row_builder("abs"),
    np.isnan: isnan,
    np.isinf: isinf,
    np.isfinite: isfinite,
    np.signbit: signbit,
    np.fmax: fmax,
    np.fmin: fmin,
    np.heaviside: heaviside,
    np.logaddexp: _in_f32(_log_sum("exp", lambda x: op("log1p", x), math.log(2))),
    np.logaddexp2: _in_f32(_log_sum("exp2", _log2_1p, 1.0)),
    np.logical_and: _logical("and"),
    np.logical_or: _logical("or"),
    np.logical_xor: _logical("xor"),
    np.logical_not: _logical("not"),
    np.degrees: _times(_DEGREES),
    np.rad2deg: _times(_DEGREES),
    np.radians: _times(_RADIANS),
    np.deg2rad: _times(_RADIANS),
}
for _ufunc, _build in _COMPOSITES.items():
    register(_ufunc, _build)


@dataclass(frozen=True)
class DivmodRule(UfuncRule):
    """Both results of `divmod`."""

    def apply(self, operands: Sequence[Operand], dtype: Any = None, casting: str = "same_kind") -> Any:
        found = resolve(self.ufunc, operands, dtype, casting)
        shape = common_shape(operands)
        values = [materialize(v, d, shape, exact=True) for v, d in zip(operands, found, strict=False)]
        return tuple(wrap(build(*values)) for build in _DIVMOD)


UFUNCS[np.divmod] = DivmodRule(np.divmod, row_builder("floor_div"))


# Choices by element, which are functions in NumPy.


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """a where the condition holds, else b, in the dtype that holds both."""
    from .promotion import result_dtype

    if x is None or y is None:
        fail("np.where(mask) gives as many indices as the mask has ones, which is not known", "write np.where(mask, x, y)")
    mask, a, b = operand(condition), operand(x), operand(y)
    dtype = result_dtype("np.where", (a, b))
    shape = common_shape((mask, a, b))
    chosen = materialize(mask, np.dtype(np.bool_), shape)
    return wrap(select(chosen, materialize(a, dtype, shape), materialize(b, dtype, shape)))


_clip: np.ufunc = np._core.umath.clip  # pyright: ignore


@implements(np.clip)
def clip(a: Any, a_min: Any = np._NoValue, a_max: Any = np._NoValue, *, min: Any = np._NoValue, max: Any = np._NoValue) -> Any:  # pyright: ignore
    """minimum(maximum(a, low), high); a Python integer beyond the dtype bounds nothing, as in NumPy."""
    low, high = (None if v is np._NoValue else v for v in (a_min if min is np._NoValue else min, a_max if max is np._NoValue else max))  # pyright: ignore
    x = operand(a)
    dtype = kind_of(x)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        low = None if type(low) is int and low <= np.iinfo(dtype).min else low
        high = None if type(high) is int and high >= np.iinfo(dtype).max else high
    if low is None or high is None:
        if low is None and high is None:
            return np.positive(a)
        return UFUNCS[np.maximum]("__call__", a, low) if high is None else UFUNCS[np.minimum]("__call__", a, high)
    return _clamp(x, operand(low), operand(high))


def _clamp(x: Operand, low: Operand, high: Operand) -> Any:
    dtype = resolve(_clip, (x, low, high))[0]
    shape = common_shape((x, low, high))
    values = [materialize(v, dtype, shape) for v in (x, low, high)]
    if dtype == np.bool_:
        return wrap(op("and", op("or", values[0], values[1]), values[2]))
    return wrap(current().emit(ClampOp, *values))


@implements(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced; integers have none."""
    value = operand(x)
    dtype = kind_of(value)
    assert isinstance(dtype, np.dtype) and isinstance(value, SSAValue)
    if not row_of(dtype).is_float:
        return wrap(value)
    largest = _largest(dtype)
    result = select(isnan(value), _filling(value, nan), value)
    result = select(compare("eq", value, fill(value, math.inf)), _filling(value, largest if posinf is None else posinf), result)
    return wrap(select(compare("eq", value, fill(value, -math.inf)), _filling(value, -largest if neginf is None else neginf), result))


def _filling(like: SSAValue, number: Any) -> SSAValue:
    found = operand(number)
    return materialize(found, kind_of(like), shape_of(like))  # pyright: ignore[reportArgumentType]


def _largest(dtype: NumpyDType) -> float:
    if dtype.name == "bfloat16":
        import ml_dtypes

        return float(ml_dtypes.finfo(dtype).max)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    return float(np.finfo(dtype).max)


@implements(np.round, np.around)
def round_(a: Any, decimals: int = 0) -> Any:
    """Half to even; decimals by scaling, as NumPy does."""
    dtype = kind_of(operand(a))
    assert isinstance(dtype, np.dtype)
    if dtype.kind in "iub":
        if dtype.kind == "b" or decimals < 0:
            fail(f"np.round of {describe(dtype)} to {decimals} decimals does not work in a kernel", "write x // 10 * 10, or use float32")
        return wrap_any(a)
    if decimals == 0:
        return np.rint(a)
    scale = dtype.type(10.0 ** abs(decimals))
    return np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale


@implements(np.fix)
def fix(x: Any) -> Any:
    """Towards zero."""
    return np.trunc(x)


@implements(np.outer)
def outer(a: Any, b: Any) -> Any:
    """Every product of an element of a and one of b."""
    return np.multiply(wrap_any(a).ravel()[:, None], wrap_any(b).ravel()[None, :])


@implements(np.astype)
def astype(x: Any, dtype: Any, *, casting: str = "unsafe") -> Any:
    from .promotion import as_dtype

    value = operand(x)
    assert isinstance(value, SSAValue)
    wanted, row = as_dtype(dtype)
    source = kind_of(value)
    if not np.can_cast(source, wanted, casting):  # pyright: ignore
        fail(f"Cannot cast {describe(source)} to {wanted.name} according to the rule '{casting}'")
    return wrap(cast(value, row))


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any) -> Any:
    values = [wrap_any(v).value_in(current()) for v in args]
    return tuple(wrap(broadcast(v, common_shape(values))) for v in values)
