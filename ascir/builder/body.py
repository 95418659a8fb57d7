"""Where the ops of a kernel under construction go: the stack of open blocks, and the author's source line of each op.

A `Body` belongs to one `KernelBuilder`, so two threads can build at once. It appends ops to the innermost open block, runs each
op's verifier before the op is in, and turns what the verifier says into one `AscirError` at the line of the author's file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ascir.machine.dtypes import ALL, BY_NAME, BY_NUMPY, F64, DType, from_numpy
from ascir.source import Place, Places, fail

if TYPE_CHECKING:
    import numpy as np

DTypeLike: TypeAlias = "str | DType | type | np.dtype[Any]"

INDEX = IndexType()


class Scope:
    """One open block and the values already made in it, by what they compute."""

    def __init__(self, block: Block):
        self.block = block
        self.known: dict[Hashable, SSAValue] = {}


class Body:
    """The open blocks of one kernel, outermost first."""

    def __init__(self) -> None:
        self.scopes = [Scope(Block())]
        self.sealed = False
        self.unopened: list[Place] = []
        self._places = Places()

    @property
    def entry(self) -> Scope:
        """The kernel's own block: arguments, buffers and constants live here."""
        return self.scopes[0]

    @property
    def inner(self) -> Scope:
        """The innermost open block."""
        return self.scopes[-1]

    def here(self) -> Place:
        """What the author's code is executing."""
        return self._places.here()

    def fail(self, message: str, hint: str | None = None, place: Place | None = None) -> NoReturn:
        """One error at the author's line."""
        fail(message, hint, place or self.here())

    def append(self, op: Operation, scope: Scope | None = None, place: Place | None = None) -> Operation:
        """Verify `op` and put it at the end of `scope` (the innermost block if not given)."""
        place = place or self.here()
        op.location = place.location
        if self.sealed:
            self._reject(op, place, "the kernel is built already", "a new KernelBuilder makes another")
        for value in op.operands:
            if not self.is_visible(value):
                self._reject(op, place, f"{op.name} uses a value of another kernel, or of a loop or branch that has ended")
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            self._reject(op, place, str(error))
        (scope or self.inner).block.add_op(op)
        return op

    def _reject(self, op: Operation, place: Place, message: str, hint: str | None = None) -> NoReturn:
        name = op.name
        op.erase()
        self.fail(message if name in message else f"{name}: {message}", hint, place)

    def is_visible(self, value: SSAValue) -> bool:
        """Whether an op appended now may use `value`: it was made in a block that is still open."""
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        return any(scope.block is block for scope in self.scopes)

    def result(self, op: Operation) -> SSAValue:
        """Append an op and name its result after the author's variable."""
        place = self.here()
        value = self.append(op, place=place).results[0]
        value.name_hint = place.variable
        return value

    def known(self, key: Hashable) -> SSAValue | None:
        """The value that an open block has under `key`."""
        return next((scope.known[key] for scope in self.scopes if key in scope.known), None)

    def once(self, key: Hashable, make: Callable[[], Operation], place: Place | None = None) -> SSAValue:
        """The value of a pure op, made at most once among the open blocks.

        It is named after the author's variable, unless `place` says that it is a step towards another value.
        """
        value = self.known(key)
        if value is None:
            value = self.append(make(), place=place).results[0] if place else self.result(make())
            self.inner.known[key] = value
        return value

    def at_entry(self, key: Hashable, make: Callable[[], Operation], name: str | None = None) -> SSAValue:
        """Like `once`, for constants and core numbers, which cannot be wrong: they stand in the kernel's own block, before any loop."""
        known = self.entry.known
        if key not in known:
            op = make()
            op.location = self.here().location
            self.entry.block.add_op(op)
            value = known[key] = op.results[0]
            value.name_hint = name if SSAValue.is_valid_name(name) else None
        return known[key]

    def constant(self, value: int | float, type_: Attribute = INDEX) -> SSAValue:
        """`arith.constant`; a float is rounded to its type."""
        if isinstance(value, int):
            return self.at_entry((value, type_), lambda: arith.ConstantOp(_integer(value, type_)), f"c{value}")
        assert isinstance(type_, AnyFloat)
        return self.at_entry((repr(value), type_), lambda: arith.ConstantOp(FloatAttr(value, type_)))

    def dtype(self, spec: DTypeLike) -> DType:
        """The dtype an author names: "float32", "f32", `np.float32`, an array's `.dtype`."""
        found = spec if isinstance(spec, DType) else _dtype(spec)
        if found is None:
            self.fail(f"a kernel holds no elements of type {spec}", f"it knows {', '.join(d.numpy for d in ALL)}")
        if found is F64:
            self.fail("the AI Core computes nothing in float64", "use float32")
        return found


def _integer(value: int, type_: Attribute) -> IntegerAttr:
    assert isa(type_, IndexType | IntegerType)
    return IntegerAttr(value, type_)


def _dtype(spec: str | type | np.dtype[Any]) -> DType | None:
    if isinstance(spec, str):
        return BY_NUMPY.get(spec) or BY_NAME.get(spec)
    import numpy as np

    try:
        return from_numpy(np.dtype(spec))  # pyright: ignore[reportCallIssue, reportArgumentType]: anything may be asked for
    except TypeError:
        return None
