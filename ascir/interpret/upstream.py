"""The upstream ops that kernels use: index arithmetic and constants of `arith`, loops and branches of `scf`, loads and stores.

xDSL's own implementations carry every scalar as an attribute and know no NumPy buffers. Here an integer or an index is a Python
int (signless and signed ones in signed form, `i1` as 0 or 1), and a float a NumPy scalar of its own dtype, so that one operation
rounds once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, Signedness
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError
from xdsl.utils.hints import isa

from ascir.dialects.types import dtype_of

from . import numerics
from .buffers import Window

INDEX_BITS = 64


def is_whole(type_: Attribute) -> bool:
    """An index or an integer: a Python int here."""
    return isinstance(type_, IndexType | IntegerType)


def bits_of(type_: Attribute) -> int:
    return type_.width.data if isa(type_, IntegerType) else INDEX_BITS


def scalar(value: Any, type_: Attribute) -> Any:
    """A number in the form the interpreter keeps for an SSA value of this type; integers wrap, floats round."""
    if not is_whole(type_):
        return numerics.number(value, dtype_of(type_).to_numpy())
    width = bits_of(type_)
    low = int(value) & (1 << width) - 1
    is_unsigned = width == 1 or (isa(type_, IntegerType) and type_.signedness.data == Signedness.UNSIGNED)
    return low - (1 << width) if not is_unsigned and low >> (width - 1) else low


def unsigned(value: int, type_: Attribute) -> int:
    """The same bits read as an unsigned number."""
    return value & (1 << bits_of(type_)) - 1


def _divide(a: int, b: int) -> int:
    """Division towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _shift(shift: Callable[[int, int], int], beyond: Callable[[int], int]) -> Callable[[int, int, int], int]:
    return lambda a, b, width: shift(a, b) if 0 <= b < width else beyond(a)


_SIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivSIOp: _divide,
    arith.FloorDivSIOp: lambda a, b: a // b,
    arith.CeilDivSIOp: lambda a, b: -(-a // b),
    arith.RemSIOp: lambda a, b: a - _divide(a, b) * b,
    arith.MinSIOp: min,
    arith.MaxSIOp: max,
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.XOrIOp: lambda a, b: a ^ b,
}
_UNSIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.DivUIOp: lambda a, b: a // b,
    arith.CeilDivUIOp: lambda a, b: -(-a // b),
    arith.RemUIOp: lambda a, b: a % b,
    arith.MinUIOp: min,
    arith.MaxUIOp: max,
    arith.ShRUIOp: lambda a, b: a >> b,
}
_SHIFTS: dict[type[Operation], Callable[[int, int, int], int]] = {
    arith.ShLIOp: _shift(lambda a, b: a << b, lambda a: 0),
    arith.ShRSIOp: _shift(lambda a, b: a >> b, lambda a: -1 if a < 0 else 0),
}
_FLOAT: dict[type[Operation], Callable[[Any, Any], Any]] = {
    arith.AddfOp: lambda a, b: a + b,
    arith.SubfOp: lambda a, b: a - b,
    arith.MulfOp: lambda a, b: a * b,
    arith.DivfOp: lambda a, b: a / b,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
}
_ORDER: tuple[Callable[[Any, Any], bool], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)
"""arith.cmpi's predicates 0–5 (signed); 6–9 are `<`, `<=`, `>`, `>=` on unsigned numbers."""

_FLOAT_ORDER: tuple[Callable[[Any, Any], bool], ...] = (
    lambda a, b: a == b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a != b,
    lambda a, b: True,
)
"""arith.cmpf's predicates 1–7 (ordered: false if either is NaN); 8–14 are the same, true if either is NaN."""


class UpstreamFunctions(InterpreterFunctions):
    """arith, scf and memref; arithmetic and casts are added from the tables, below the class."""

    @impl(arith.ConstantOp)
    def constant(self, interpreter: Interpreter, op: arith.ConstantOp, args: PythonValues) -> PythonValues:
        value = op.value
        if not isinstance(value, IntegerAttr | FloatAttr):
            raise InterpretationError(f"{op.name} of {value}; only numbers are interpreted")
        return (scalar(value.value.data, op.result.type),)

    @impl(arith.CmpiOp)
    def compare_integers(self, interpreter: Interpreter, op: arith.CmpiOp, args: PythonValues) -> PythonValues:
        a, b = args
        predicate = op.predicate.value.data
        if predicate >= len(_ORDER):
            a, b, predicate = unsigned(a, op.lhs.type), unsigned(b, op.lhs.type), predicate - 4
        return (int(_ORDER[predicate](a, b)),)

    @impl(arith.CmpfOp)
    def compare_floats(self, interpreter: Interpreter, op: arith.CmpfOp, args: PythonValues) -> PythonValues:
        a, b = args
        predicate, nan = op.predicate.value.data, a != a or b != b
        if predicate in (0, 15):
            return (int(predicate == 15),)
        ordered = predicate <= 7
        if nan:
            return (int(not ordered),)
        if predicate == 14:
            return (0,)
        return (int(_FLOAT_ORDER[(predicate - 1) % 7](a, b)),)

    @impl(arith.SelectOp)
    def select(self, interpreter: Interpreter, op: arith.SelectOp, args: PythonValues) -> PythonValues:
        condition, a, b = args
        return (a if condition else b,)

    @impl(arith.NegfOp)
    def negate(self, interpreter: Interpreter, op: arith.NegfOp, args: PythonValues) -> PythonValues:
        return (-args[0],)

    @impl(scf.ForOp)
    def for_(self, interpreter: Interpreter, op: scf.ForOp, args: PythonValues) -> PythonValues:
        first, end, step, *carried = args
        if step <= 0:
            raise InterpretationError(f"{op.name} has step {step}; expected a positive one")
        for i in range(first, end, step):
            carried = interpreter.run_ssacfg_region(op.body, (i, *carried), "for")
        return tuple(carried)

    @impl(scf.IfOp)
    def if_(self, interpreter: Interpreter, op: scf.IfOp, args: PythonValues) -> PythonValues:
        return interpreter.run_ssacfg_region(op.true_region if args[0] else op.false_region, (), "if")

    @impl_terminator(scf.YieldOp)
    def yield_(self, interpreter: Interpreter, op: scf.YieldOp, args: PythonValues) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(memref.LoadOp)
    def load(self, interpreter: Interpreter, op: memref.LoadOp, args: PythonValues) -> PythonValues:
        window, *indices = args
        return (scalar(_element(window, indices).array()[()], op.res.type),)

    @impl(memref.StoreOp)
    def store(self, interpreter: Interpreter, op: memref.StoreOp, args: PythonValues) -> PythonValues:
        value, window, *indices = args
        _element(window, indices).array()[()] = numerics.number(value, window.dtype)
        return ()


def _element(window: Window, indices: list[int]) -> Window:
    for index, dim in zip(indices, window.shape, strict=True):
        if not 0 <= index < dim:
            raise InterpretationError(f"index {indices} is outside of shape {list(window.shape)}")
    start = window.start + sum(i * s for i, s in zip(indices, window.strides, strict=True))
    return Window(window.memory, window.dtype, (), (), start)


def _binary(function: Callable[..., Any], *, as_unsigned: bool = False, with_bits: bool = False) -> Any:
    def run(self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        type_ = op.results[0].type
        operands = [unsigned(v, type_) for v in args] if as_unsigned else list(args)
        if with_bits:
            operands.append(bits_of(type_))
        return (scalar(function(*operands), type_),)

    return run


_UNSIGNED_CASTS = (arith.ExtUIOp, arith.UIToFPOp)
_CASTS: tuple[type[Operation], ...] = (
    *_UNSIGNED_CASTS,
    arith.IndexCastOp,
    arith.ExtSIOp,
    arith.TruncIOp,
    arith.SIToFPOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.ExtFOp,
    arith.TruncFOp,
)


def _cast(self: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
    """A cast between scalars: unsigned sources by their bits (a signed `i1` is 0 or -1), floats towards zero into integers."""
    value, source, result = args[0], op.operands[0].type, op.results[0].type
    if is_whole(source):
        value = unsigned(value, source) if isinstance(op, _UNSIGNED_CASTS) else -value if bits_of(source) == 1 else value
    elif is_whole(result):
        wide = np.dtype(np.uint64 if isinstance(op, arith.FPToUIOp) else np.int64)
        value = numerics.convert(np.asarray(value), wide, "trunc")[()]
    return (scalar(value, result),)


def _define(op: type[Operation], run: Any) -> None:
    setattr(UpstreamFunctions, f"run_{op.name}", impl(op)(run))


for _op, _function in (*_SIGNED.items(), *_FLOAT.items()):
    _define(_op, _binary(_function))
for _op, _function in _UNSIGNED.items():
    _define(_op, _binary(_function, as_unsigned=True))
for _op, _function in _SHIFTS.items():
    _define(_op, _binary(_function, with_bits=True))
for _op in _CASTS:
    _define(_op, _cast)
register_impls(UpstreamFunctions)
