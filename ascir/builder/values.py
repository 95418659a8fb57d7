"""Numbers that are known only when the kernel runs: `Index` (a 64-bit integer), `Scalar` (a float), `Condition` (a truth value).

They look like Python numbers and write `arith` ops. An `Index` keeps its value as a sum of multiples of opaque values plus a
constant, for two reasons: `x[i : i + 128]` must be seen to have 128 elements, and nothing is emitted for an expression nobody
uses. What folds to a constant is a plain Python int.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, NoReturn, TypeAlias, overload

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, f32, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ascir.dialects.types import dtype_of, element_type
from ascir.machine.dtypes import DType

from .body import INDEX, Body, DTypeLike

IndexLike: TypeAlias = "Index | int"
ConditionLike: TypeAlias = "Condition | bool"

_INT64 = range(-(2**63), 2**63)


class _Value:
    """What the three kinds share: they belong to a body, and Python may not ask for their value."""

    __slots__ = ("body", "place")
    __array_ufunc__ = None  # NumPy scalars leave arithmetic with us to us
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, body: Body):
        self.body = body
        self.place = body.here()

    def __bool__(self) -> bool:
        self.body.fail("a condition is known only when the kernel runs", "write `with k.if_(condition):` in place of `if`")

    def __index__(self) -> int:
        self.body.fail("this number is known only when the kernel runs", "write `with k.for_(…) as i:` in place of `range(…)`")

    def __float__(self) -> float:
        self.body.fail("this number is known only when the kernel runs", "`.astype` converts it there")


class Index(_Value):
    """An integer of the running kernel: `Σ coefficient · value + constant`, computed in 64 bits."""

    __slots__ = ("constant", "terms")

    def __init__(self, body: Body, terms: Mapping[SSAValue, int], constant: int = 0):
        super().__init__(body)
        self.terms = dict(terms)
        self.constant = constant

    def __repr__(self) -> str:
        terms = sorted(self.terms.items(), key=lambda item: item[1] < 0)
        parts = [("- " if n < 0 else "+ ") + ("" if abs(n) == 1 else f"{abs(n)} * ") + _name(value) for value, n in terms]
        if self.constant:
            parts.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        return " ".join(parts).removeprefix("+ ")

    @property
    def key(self) -> Hashable:
        """What it computes: equal keys are equal numbers."""
        return frozenset(self.terms.items()), self.constant

    @property
    def value(self) -> SSAValue:
        """The SSA value, computed here unless an open block has it already."""
        value = self.body.known(self.key)
        if value is None:
            value = self.body.inner.known[self.key] = self._sum()
            value.name_hint = value.name_hint or self.place.variable
        return value

    def _sum(self) -> SSAValue:
        """Σ as `muli`, `addi`, `subi`; what is added comes before what is subtracted."""
        total: SSAValue | None = None
        for term, factor in sorted(self.terms.items(), key=lambda item: item[1] < 0):
            if total is None:
                total = self._scaled(term, factor)
            elif factor > 0:
                total = self._op(arith.AddiOp, total, self._scaled(term, factor))
            else:
                total = self._op(arith.SubiOp, total, self._scaled(term, -factor))
        assert total is not None
        return self._op(arith.AddiOp, total, self.body.constant(self.constant)) if self.constant else total

    def _scaled(self, term: SSAValue, factor: int) -> SSAValue:
        return term if factor == 1 else self._op(arith.MuliOp, term, self.body.constant(factor))

    def _op(self, op: Callable[[SSAValue, SSAValue], Operation], a: SSAValue, b: SSAValue) -> SSAValue:
        return self.body.once((op, a, b), lambda: op(a, b), self.place)

    def __add__(self, other: object) -> IndexLike:
        return _linear(self, self, 1, other, 1)

    def __radd__(self, other: object) -> IndexLike:
        return _linear(self, other, 1, self, 1)

    def __sub__(self, other: object) -> IndexLike:
        return _linear(self, self, 1, other, -1)

    def __rsub__(self, other: object) -> IndexLike:
        return _linear(self, other, 1, self, -1)

    def __neg__(self) -> IndexLike:
        return _linear(self, self, -1, 0, 1)

    def __mul__(self, other: object) -> IndexLike:
        other = as_index(self.body, other)
        if isinstance(other, int):
            return _linear(self, self, other, 0, 1)
        a, b = self.value, other.value
        product = self.body.once((arith.MuliOp, frozenset((a, b))), lambda: arith.MuliOp(a, b))
        return Index(self.body, {product: 1})

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> IndexLike:
        return floor_div(self.body, self, other)

    def __rfloordiv__(self, other: object) -> IndexLike:
        return floor_div(self.body, other, self)

    def __mod__(self, other: object) -> IndexLike:
        return self - floor_div(self.body, self, other) * as_index(self.body, other)

    def __rmod__(self, other: object) -> IndexLike:
        return as_index(self.body, other) - floor_div(self.body, other, self) * self

    def __truediv__(self, other: object) -> NoReturn:
        self.body.fail("integers of a kernel have no `/`", "write `//`, or convert first: `i.astype('float32') / …`")

    __rtruediv__ = __truediv__

    def __lt__(self, other: object) -> ConditionLike:
        return _compare_indices("slt", self, other)

    def __le__(self, other: object) -> ConditionLike:
        return _compare_indices("sle", self, other)

    def __gt__(self, other: object) -> ConditionLike:
        return _compare_indices("sgt", self, other)

    def __ge__(self, other: object) -> ConditionLike:
        return _compare_indices("sge", self, other)

    def __eq__(self, other: object) -> ConditionLike:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compare_indices("eq", self, other)

    def __ne__(self, other: object) -> ConditionLike:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compare_indices("ne", self, other)

    def astype(self, dtype: DTypeLike) -> Scalar:
        """This integer as a float of `dtype` (float32, float16, bfloat16), rounded to nearest even."""
        type_ = _float_type(self.body, dtype)
        value = self.value
        wide = self.body.once((arith.IndexCastOp, value, i64), lambda: arith.IndexCastOp(value, i64))
        return Scalar(self.body, self.body.once((arith.SIToFPOp, wide, type_), lambda: arith.SIToFPOp(wide, type_)))


def _name(value: SSAValue) -> str:
    """The author's name of a value, or the op that computes it."""
    if value.name_hint:
        return value.name_hint
    return f"({value.owner.name})" if isinstance(value.owner, Operation) else "?"


_FOLD: dict[str, Callable[[int], bool]] = {
    "slt": lambda difference: difference < 0,
    "sle": lambda difference: difference <= 0,
    "sgt": lambda difference: difference > 0,
    "sge": lambda difference: difference >= 0,
    "eq": lambda difference: difference == 0,
    "ne": lambda difference: difference != 0,
}


def _compare_indices(predicate: str, a: Index, other: object) -> ConditionLike:
    b = as_index(a.body, other)
    difference = a - b
    if isinstance(difference, int):
        return _FOLD[predicate](difference)
    left, right = a.value, index_value(a.body, b)
    return Condition(a.body, a.body.once((predicate, left, right), lambda: arith.CmpiOp(left, right, predicate)))


def _linear(owner: Index, a: object, m: int, b: object, n: int) -> IndexLike:
    """m · a + n · b."""
    terms: dict[SSAValue, int] = {}
    constant = 0
    for part, factor in ((as_index(owner.body, a), m), (as_index(owner.body, b), n)):
        if isinstance(part, int):
            constant += factor * part
            continue
        constant += factor * part.constant
        for value, count in part.terms.items():
            terms[value] = terms.get(value, 0) + factor * count
    terms = {value: count for value, count in terms.items() if count}
    return Index(owner.body, terms, constant) if terms else constant


def as_index(body: Body, value: object) -> IndexLike:
    """An `Index` or a Python int; anything else is the author's mistake."""
    if isinstance(value, Index):
        return value
    value = plain(value)
    if isinstance(value, numbers.Integral):
        number = int(value)
        if number not in _INT64:
            body.fail(f"{number} does not fit the 64 bits of a kernel's integers")
        return number
    if isinstance(value, Scalar):
        body.fail("expected an integer, got a float of the kernel", "`s.astype('int64')` truncates it to one")
    body.fail(f"expected an integer or an index of the kernel, got {type(value).__name__} {value!r}")


def plain(value: Any) -> Any:
    """A NumPy scalar as the Python number it stands for; anything else as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def index_value(body: Body, value: IndexLike) -> SSAValue:
    """The SSA value of an index, constants included."""
    return body.constant(value) if isinstance(value, int) else value.value


def same_index(a: IndexLike, b: IndexLike) -> bool:
    """Whether both are known to be equal whatever the kernel is given."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int) and a == b
    return a.key == b.key


def floor_div(body: Body, a: object, b: object) -> IndexLike:
    """⌊a / b⌋, Python's rule for negative numbers."""
    a, b = as_index(body, a), as_index(body, b)
    if isinstance(b, int):
        if b == 0:
            body.fail("division by zero")
        if isinstance(a, int):
            return a // b
        if all(n % b == 0 for n in (*a.terms.values(), a.constant)):
            return Index(body, {v: n // b for v, n in a.terms.items()}, a.constant // b)
    left, right = index_value(body, a), index_value(body, b)
    quotient = body.once((arith.FloorDivSIOp, left, right), lambda: arith.FloorDivSIOp(left, right))
    return Index(body, {quotient: 1})


def least(body: Body, a: object, b: object) -> IndexLike | Scalar:
    """The smaller of two indices, or of two floats (NaN if one is NaN)."""
    return _extremum(body, a, b, min, arith.MinSIOp, arith.MinimumfOp)


def greatest(body: Body, a: object, b: object) -> IndexLike | Scalar:
    """The larger of two indices, or of two floats (NaN if one is NaN)."""
    return _extremum(body, a, b, max, arith.MaxSIOp, arith.MaximumfOp)


_Binary: TypeAlias = Callable[[SSAValue, SSAValue], Operation]


def _extremum(body: Body, a: object, b: object, fold: Callable[[int, int], int], integer: _Binary, floating: _Binary) -> IndexLike | Scalar:
    scalar = a if isinstance(a, Scalar) else b
    if isinstance(scalar, Scalar):
        return scalar.binary(floating, a, b)
    a, b = as_index(body, a), as_index(body, b)
    if isinstance(a, int) and isinstance(b, int):
        return fold(a, b)
    if same_index(a, b):
        return a
    left, right = index_value(body, a), index_value(body, b)
    return Index(body, {body.once((integer, frozenset((left, right))), lambda: integer(left, right)): 1})


def select_number(body: Body, condition: object, a: object, b: object) -> IndexLike | Scalar:
    """`a` where the condition holds, else `b`: two indices or two floats."""
    scalar = a if isinstance(a, Scalar) else b
    if isinstance(scalar, Scalar):
        left, right = scalar.operand(a), scalar.operand(b)
    else:
        left, right = index_value(body, as_index(body, a)), index_value(body, as_index(body, b))
    chosen = condition_value(body, condition)
    value = body.once((arith.SelectOp, chosen, left, right), lambda: arith.SelectOp(chosen, left, right))
    return Scalar(body, value) if isinstance(scalar, Scalar) else Index(body, {value: 1})


class Scalar(_Value):
    """A float of the running kernel in a scalar register; every operation rounds once to its dtype (f16, bf16 or f32)."""

    __slots__ = ("value",)

    def __init__(self, body: Body, value: SSAValue):
        super().__init__(body)
        self.value = value

    def __repr__(self) -> str:
        return f"{_name(self.value)} : {self.value.type}"

    @property
    def dtype(self) -> DType:
        return dtype_of(self.value.type)

    def operand(self, other: object) -> SSAValue:
        """`other` as a value of this dtype: Python numbers take it on, another dtype is an error."""
        if isinstance(other, Scalar):
            if other.value.type != self.value.type:
                self.body.fail(
                    f"scalars of {self.dtype.numpy} and {other.dtype.numpy} do not mix",
                    f"convert one: `s.astype('{self.dtype.numpy}')`",
                )
            return other.value
        if isinstance(other, Index):
            self.body.fail("an integer of the kernel and a float do not mix", f"convert it: `i.astype('{self.dtype.numpy}')`")
        other = plain(other)
        if isinstance(other, numbers.Real):
            return self.body.constant(float(other), self.value.type)
        self.body.fail(f"expected a number, got {type(other).__name__} {other!r}")

    def binary(self, op: _Binary, a: object, b: object) -> Scalar:
        """`op` of two numbers, at least one a scalar of this dtype."""
        left, right = self.operand(a), self.operand(b)
        return Scalar(self.body, self.body.once((op, left, right), lambda: op(left, right)))

    def __add__(self, other: object) -> Scalar:
        return self.binary(arith.AddfOp, self, other)

    def __radd__(self, other: object) -> Scalar:
        return self.binary(arith.AddfOp, other, self)

    def __sub__(self, other: object) -> Scalar:
        return self.binary(arith.SubfOp, self, other)

    def __rsub__(self, other: object) -> Scalar:
        return self.binary(arith.SubfOp, other, self)

    def __mul__(self, other: object) -> Scalar:
        return self.binary(arith.MulfOp, self, other)

    def __rmul__(self, other: object) -> Scalar:
        return self.binary(arith.MulfOp, other, self)

    def __truediv__(self, other: object) -> Scalar:
        return self.binary(arith.DivfOp, self, other)

    def __rtruediv__(self, other: object) -> Scalar:
        return self.binary(arith.DivfOp, other, self)

    def __neg__(self) -> Scalar:
        return Scalar(self.body, self.body.once((arith.NegfOp, self.value), lambda: arith.NegfOp(self.value)))

    def _compare(self, predicate: str, other: object) -> Condition:
        a, b = self.value, self.operand(other)
        return Condition(self.body, self.body.once((predicate, a, b), lambda: arith.CmpfOp(a, b, predicate)))

    def __lt__(self, other: object) -> Condition:
        return self._compare("olt", other)

    def __le__(self, other: object) -> Condition:
        return self._compare("ole", other)

    def __gt__(self, other: object) -> Condition:
        return self._compare("ogt", other)

    def __ge__(self, other: object) -> Condition:
        return self._compare("oge", other)

    def __eq__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._compare("oeq", other)

    def __ne__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._compare("une", other)

    @overload
    def astype(self, dtype: Literal["int64"]) -> Index: ...
    @overload
    def astype(self, dtype: DTypeLike) -> Scalar | Index: ...
    def astype(self, dtype: DTypeLike) -> Scalar | Index:
        """This float in another float dtype (rounded to nearest even), or as an `Index` for int64 (truncated towards zero)."""
        value = self.value
        if self.body.dtype(dtype).name == "i64":
            wide = self.body.once((arith.FPToSIOp, value), lambda: arith.FPToSIOp(value, i64))
            return Index(self.body, {self.body.once((arith.IndexCastOp, wide), lambda: arith.IndexCastOp(wide, INDEX)): 1})
        type_ = _float_type(self.body, dtype)
        if type_ == value.type:
            return self
        wide = value if self.dtype.bytes == 4 else self._converted(arith.ExtFOp, value, f32)
        return Scalar(self.body, wide if type_ == f32 else self._converted(arith.TruncFOp, wide, type_))

    def _converted(self, op: type[arith.ExtFOp | arith.TruncFOp], value: SSAValue, type_: Attribute) -> SSAValue:
        return self.body.once((op, value, type_), lambda: op(value, type_))


def _float_type(body: Body, spec: DTypeLike) -> AnyFloat:
    dtype = body.dtype(spec)
    type_ = element_type(dtype)
    if not isinstance(type_, AnyFloat):
        body.fail(f"expected one of float32, float16, bfloat16, got {dtype.numpy}")
    return type_


class Condition(_Value):
    """A truth value of the running kernel; combine with `&`, `|`, `~`, use in `k.if_` and `k.where`."""

    __slots__ = ("value",)

    def __init__(self, body: Body, value: SSAValue):
        super().__init__(body)
        self.value = value

    def __and__(self, other: object) -> ConditionLike:
        return self._combine(arith.AndIOp, other)

    def __or__(self, other: object) -> ConditionLike:
        return self._combine(arith.OrIOp, other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> ConditionLike:
        return self._combine(arith.XOrIOp, True)

    def _combine(self, op: type[arith.AndIOp | arith.OrIOp | arith.XOrIOp], other: object) -> Condition:
        a, b = self.value, condition_value(self.body, other)
        return Condition(self.body, self.body.once((op, frozenset((a, b))), lambda: op(a, b)))


def condition_value(body: Body, value: object) -> SSAValue:
    """The i1 of a condition or of a Python truth value."""
    if isinstance(value, Condition):
        return value.value
    value = plain(value)
    if isinstance(value, bool):
        return body.constant(int(value), i1)
    body.fail(f"expected a condition such as `i < n`, got {type(value).__name__} {value!r}")
