"""One method for each row of the instruction table: the form of the row decides the signature, the row the docstring.

`k.add(a, b, out=c)` appends `ascend_vector.add`. The name is the row's, with an underscore where Python has taken it
(`and_`, `or_`, `not_`). Buffers given to one instruction must be seen to have the same extents, so that no tail is read past
another's end.
"""

from __future__ import annotations

import keyword
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, SSAValue

from ascir.dialects.vector import scalar_type, vector_op, work_elements
from ascir.machine.dtypes import DType
from ascir.machine.instructions import BY_NAME, INSTRUCTIONS, Form, Instruction

from .body import Body
from .buffers import Buffer, Mask
from .values import Condition, Index, IndexLike, Scalar, condition_value, plain, same_index

Operand: TypeAlias = "Buffer | Mask"
Number: TypeAlias = "Index | Scalar | Condition | float"

ROLES: dict[Form, tuple[str, ...]] = {
    "unary": ("a",),
    "binary": ("a", "b"),
    "scalar": ("a", "s"),
    "compare": ("a", "b"),
    "compare_scalar": ("a", "s"),
    "select": ("mask", "a", "b"),
    "select_scalar": ("mask", "a", "s"),
    "cast": ("a",),
    "duplicate": ("s",),
    "iota": ("s",),
    "block_broadcast": ("a",),
    "copy": ("a",),
    "reduce": ("a",),
}
"""What the sources of each form are: buffers `a` and `b`, a number `s`, a mask."""


def python_name(row: Instruction) -> str:
    """The method of a row: its name, `and_` for `and`."""
    return f"{row.name}_" if keyword.iskeyword(row.name) else row.name


class Issuer:
    """Appends vector instructions to a body; `KernelBuilder` is one, and the methods of the table are set on this class below."""

    body: Body

    def workspace(self, elements: int, dtype: DType) -> Buffer:
        """UB memory for a reduction to fold in."""
        raise NotImplementedError

    def issue(self, row: Instruction, sources: Sequence[object], out: object, **properties: Any) -> Any:
        """Append one instruction and return `out`."""
        given = dict(zip(ROLES[row.form], sources, strict=True)) | {"out": out}
        buffers = {role: self._buffer(row, role, value) for role, value in given.items() if role != "s"}
        self._check_extents(row, [(role, value) for role, value in given.items() if isinstance(value, Buffer | Mask)])
        dtype = buffers.get("a", buffers["out"]).dtype
        operands = [buffers[role].value if role in buffers else self._scalar(row, value, dtype) for role, value in given.items()]
        self.body.append(vector_op(row.name, *operands, **properties))
        return out

    def reduce(self, row: Instruction, a: object, out: object, axis: int | None, work: object) -> Any:
        """Append a reduction, with a work space of its own if none is given."""
        source, destination = self._buffer(row, "a", a), self._buffer(row, "out", out)
        if source.ndim == 1 and axis in (None, 0, -1):
            source, axis = source[None, :], 1
        if axis is None or source.ndim != 2 or axis not in (0, 1, -1, -2):
            self._fail(row, f"reduces axis 0 or 1 of a 2-d buffer, got axis {axis} of {source!r}")
        space = self._buffer(row, "work", self._work(row, source, axis % 2) if work is None else work)
        self._same_extent(row, ("a", source.shape[1 - axis % 2]), ("out", destination.shape[0] if destination.ndim else 1))
        self.body.append(vector_op(row.name, source.value, destination.value, space.value, axis=axis % 2))
        return out

    def _work(self, row: Instruction, source: Buffer, axis: int) -> Buffer:
        bounds = [bound for bound in source.bounds if bound is not None]
        need = work_elements(bounds, axis, source.dtype) if len(bounds) == 2 else None
        if need is None:
            self._fail(row, f"cannot tell how much work space {source!r} needs", "pass `work=k.alloc(…)`")
        return self.workspace(need, source.dtype)

    def _fail(self, row: Instruction, message: str, hint: str | None = None) -> NoReturn:
        self.body.fail(f"{python_name(row)}: {message}", hint)

    def _buffer(self, row: Instruction, role: str, value: object) -> Buffer:
        """The buffer given for a role; of a mask, its bytes."""
        is_mask = role == "mask" or (role == "out" and row.form in ("compare", "compare_scalar"))
        if is_mask and not isinstance(value, Mask):
            self._fail(row, f"{role} is a mask, got {_kind(value)}", "`k.alloc_mask(shape)` makes one")
        if isinstance(value, Mask):
            return value.bytes
        if isinstance(value, Buffer):
            return value
        if role == "out" and value is None:
            self._fail(row, "no destination", "give it last, or as `out=buffer`")
        self._fail(row, f"{role} is a buffer, got {_kind(value)}", _scalar_form(row) if role == "b" else None)

    def _scalar(self, row: Instruction, value: object, dtype: DType) -> SSAValue:
        return self.number(python_name(row), value, dtype, scalar_type(dtype))

    def number(self, name: str, value: object, dtype: DType, type_: Attribute) -> SSAValue:
        """A number of the kernel of exactly this dtype, or a Python number that fits it, as a value of `type_`.

        An `Index` keeps its low bits where the dtype is narrower.
        """
        if isinstance(value, Scalar):
            if value.value.type != type_:
                self.body.fail(f"{name}: {dtype.numpy} expected, got {value.dtype.numpy}", f"convert it: `s.astype('{dtype.numpy}')`")
            return value.value
        if dtype.kind == "bool" and isinstance(plain(value), Condition | bool):
            return condition_value(self.body, plain(value))
        if isinstance(value, Index) and dtype.is_float:
            self.body.fail(f"{name}: {dtype.numpy} expected, got the integer {value!r}", f"convert it: `i.astype('{dtype.numpy}')`")
        if isinstance(value, Index) and dtype.is_integer:
            return self._narrowed(value.value, type_)
        return self._constant(name, plain(value), dtype, type_)

    def _narrowed(self, index: SSAValue, type_: Attribute) -> SSAValue:
        return self.body.once((arith.IndexCastOp, index, type_), lambda: arith.IndexCastOp(index, type_))

    def _constant(self, name: str, value: object, dtype: DType, type_: Attribute) -> SSAValue:
        if isinstance(type_, AnyFloat) and isinstance(value, numbers.Real):
            number = float(value)
            if math.isfinite(number) and not math.isfinite(type_.round(number)):
                self.body.fail(f"{name}: {value} is too large for {dtype.numpy}")
            return self.body.constant(number, type_)
        if dtype.is_integer and isinstance(value, numbers.Integral):
            number, bits = int(value), 8 * dtype.bytes
            low, high = (0, 2**bits - 1) if dtype.kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            if not low <= number <= high:
                self.body.fail(f"{name}: {number} does not fit {dtype.numpy} ({low} to {high})")
            constant = self.body.constant(number, IntegerType(bits))
            return constant if type_ == constant.type else self._narrowed(self.body.constant(number), type_)
        self.body.fail(f"{name}: a number that fits {dtype.numpy} expected, got {_kind(value)}")

    def _check_extents(self, row: Instruction, operands: Sequence[tuple[str, Operand]]) -> None:
        """Extents known only when the kernel runs must be the same index; the op's verifier compares the others."""
        (role, first), *others = operands
        for other_role, other in others:
            sizes = list(zip(first.shape, other.shape, strict=False))
            if row.form == "block_broadcast":
                del sizes[1:]
            for a, b in sizes:
                self._same_extent(row, (role, a), (other_role, b))

    def _same_extent(self, row: Instruction, a: tuple[str, IndexLike | None], b: tuple[str, IndexLike | None]) -> None:
        if not may_pair(a[1], b[1]):
            self._fail(row, f"{a[0]} has {a[1]!r} elements and {b[0]} {b[1]!r}; they may differ", SLICE_BOTH)


SLICE_BOTH = "slice both with the same count: `a[:count]`, `b[:count]`"


def may_pair(a: IndexLike | None, b: IndexLike | None) -> bool:
    """False where equality cannot be seen: one of two extents is dynamic and they are not the same index."""
    if a is None or b is None or (isinstance(a, int) and isinstance(b, int)):
        return True
    return same_index(a, b)


def _kind(value: object) -> str:
    if isinstance(value, Buffer | Mask):
        return f"the {'mask' if isinstance(value, Mask) else 'buffer'} {value!r}"
    if isinstance(value, Index):
        return f"the integer {value!r}"
    return f"{type(value).__name__} {value!r}"


def _scalar_form(row: Instruction) -> str | None:
    """The instruction that takes a number in place of the second buffer."""
    name = row.name.replace("compare_", "compares_") if row.form == "compare" else f"{row.name}s"
    return f"`k.{name}` takes a number" if name in BY_NAME else None


_Method: TypeAlias = Callable[..., Any]


def _one_buffer(row: Instruction) -> _Method:
    def method(self: Issuer, a: Operand, out: Operand | None = None) -> Any:
        return self.issue(row, (a,), out)

    return method


def _two_buffers(row: Instruction) -> _Method:
    def method(self: Issuer, a: Operand, b: Operand, out: Operand | None = None) -> Any:
        return self.issue(row, (a, b), out)

    return method


def _buffer_and_number(row: Instruction) -> _Method:
    def method(self: Issuer, a: Buffer, s: Number, out: Operand | None = None) -> Any:
        return self.issue(row, (a, s), out)

    return method


def _select(row: Instruction) -> _Method:
    def method(self: Issuer, mask: Mask, a: Buffer, b: Buffer, out: Buffer | None = None) -> Any:
        return self.issue(row, (mask, a, b), out)

    return method


def _select_number(row: Instruction) -> _Method:
    def method(self: Issuer, mask: Mask, a: Buffer, s: Number, out: Buffer | None = None) -> Any:
        return self.issue(row, (mask, a, s), out)

    return method


def _cast(row: Instruction) -> _Method:
    def method(self: Issuer, a: Buffer, out: Buffer | None = None, round: str = "rint") -> Any:
        return self.issue(row, (a,), out, round=round)

    return method


def _number(row: Instruction) -> _Method:
    def method(self: Issuer, s: Number, out: Buffer | None = None) -> Any:
        return self.issue(row, (s,), out)

    return method


def _reduce(row: Instruction) -> _Method:
    def method(self: Issuer, a: Buffer, out: Buffer | None = None, axis: int | None = None, work: Buffer | None = None) -> Any:
        return self.reduce(row, a, out, axis, work)

    return method


_METHODS: dict[Form, Callable[[Instruction], _Method]] = {
    "unary": _one_buffer,
    "binary": _two_buffers,
    "scalar": _buffer_and_number,
    "compare": _two_buffers,
    "compare_scalar": _buffer_and_number,
    "select": _select,
    "select_scalar": _select_number,
    "cast": _cast,
    "duplicate": _number,
    "iota": _number,
    "block_broadcast": _one_buffer,
    "copy": _one_buffer,
    "reduce": _reduce,
}

_MEANINGS: dict[Form, str] = {
    "select": "out = a where the mask has a bit, else b",
    "select_scalar": "out = a where the mask has a bit, else s",
    "cast": "out = a in out's dtype; `round` is rint, floor, ceil, round, trunc or odd",
    "duplicate": "out = s everywhere",
    "iota": "out[…, i] = s + i",
    "block_broadcast": "out[r, :] = a[r]; a row of out is one 32 B block",
    "copy": "out = a, within UB",
}


_ENDING = "Returns out. Raises AscirError where a dtype, shape or space does not fit."


def _docstring(row: Instruction) -> str:
    """What the instruction does, on which shapes and dtypes, and on which pipe."""
    meaning = _MEANINGS.get(row.form, f"out = {row.numpy}")
    shapes = "1-d or 2-d buffers in UB of one shape"
    if row.form == "reduce":
        meaning = f"out = {row.numpy} folded along `axis` (0 or 1 of a 2-d buffer; the one axis of a 1-d buffer)"
        shapes = "a (rows, cols), out (rows,) for axis 1 or (cols,) for axis 0; `work` is allocated if not given"
    pipes = [f"Pipe V: {', '.join(row.vector)}."] if row.vector else []
    loops = [f"Pipe S, element by element: {', '.join(row.scalar)}."] if row.scalar else []
    return f"{meaning}.\n\n{' '.join([f'{shapes}.', *pipes, *loops])}\n{_ENDING}"


def _define_methods() -> None:
    for row in INSTRUCTIONS:
        method = _METHODS[row.form](row)
        method.__name__ = python_name(row)
        method.__qualname__ = f"KernelBuilder.{method.__name__}"
        method.__doc__ = _docstring(row)
        setattr(Issuer, method.__name__, method)


_define_methods()
