"""A tile's program: the loads, instructions and stores that one tile needs, before anybody knows how large a tile is.

Registers are virtual buffers whose extent is symbolic (a tile, its rows, its columns, one block a row); the lowering of operators
to instruction rows happens here, and nowhere else: constants become scalar forms where the hardware has them, booleans become
bit masks, one-per-row values become blocks that an instruction can read with stride 0. `tiling.py` then picks sizes, `build.py` writes IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from ascir.dialects import ascend
from ascir.dialects.types import dtype_of, tensor_type
from ascir.machine.dtypes import DType, dtype
from ascir.machine.instructions import BY_NAME
from ascir.passes.tile_to_kernel.space import Space, Window

Extent = Literal["tile", "rows", "cols", "blocks", "block", "one", "work0", "work1"]
"""tile: rows × cols · rows, cols: a vector · blocks: one 32 B block a row · block: a single 32 B block · one: a single
element · work0, work1: the work space of a reduction of a tile along axis 0 or 1."""

Number = float | int


@dataclass(eq=False)
class Register:
    """A virtual buffer. A `mask` register holds bits (dtype is that of its bytes, ui8)."""

    name: str
    dtype: DType
    extent: Extent
    mask: bool = False
    role: Literal["load", "temp", "store"] = "temp"


Value = Register | Number
"""An operand: a register, or a constant that is the same everywhere."""


@dataclass
class Step:
    """One thing to emit; `location` is the source operator's."""

    location: LocationAttr


@dataclass
class Load(Step):
    """GM → register through a window."""

    register: Register
    source: int
    window: Window


@dataclass
class Store(Step):
    """Register → GM through a window."""

    register: Register
    target: int
    window: Window


@dataclass
class Iota(Step):
    """Fill with offset + index · stride along the only dimension whose stride is not 0."""

    register: Register
    window: Window


@dataclass
class Instr(Step):
    """One instruction row: sources (masks first) and maybe a scalar into a destination."""

    name: str
    destination: Register
    sources: tuple[Register, ...] = ()
    scalar: Number | None = None
    round: str | None = None


@dataclass
class Fold(Step):
    """Reduce a tile to rows or columns; with `accumulator`, combine it with what earlier chunks gave."""

    name: str
    destination: Register
    source: Register
    work: Register
    axis: int


@dataclass
class Program:
    """Steps before the loop (`once`), per tile or chunk (`body`), and — when chunks accumulate — around the inner loop."""

    once: list[Step] = field(default_factory=lambda: list[Step]())
    first: list[Step] = field(default_factory=lambda: list[Step]())
    body: list[Step] = field(default_factory=lambda: list[Step]())
    last: list[Step] = field(default_factory=lambda: list[Step]())

    def sections(self) -> tuple[list[Step], ...]:
        return self.once, self.first, self.body, self.last


_MASK_DTYPE = dtype("ui8")
_SCALAR_FORMS = {"add": "adds", "mul": "muls", "max": "maxs", "min": "mins", "shl": "shls", "shr": "shrs"}
_COMMUTATIVE = ("add", "mul", "max", "min", "and", "or", "xor")
_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}
_INSTRUCTION = {"log": "ln"}
"""Operator names whose instruction is spelt differently; all others share their name."""


def identity(kind: str, element: DType) -> Number:
    """The neutral element of a reduction."""
    if kind in ("sum", "prod"):
        return 0 if kind == "sum" else 1
    if element.is_float:
        return float("-inf") if kind == "max" else float("inf")
    bits = 8 * element.bytes
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if element.kind == "int" else (0, (1 << bits) - 1)
    return low if kind == "max" else high


class Lowering:
    """Turns the operators of one group into a `Program`."""

    def __init__(self, space: Space):
        self.space = space
        self.program = Program()
        self.section = self.program.body
        self.location: LocationAttr
        self._count = 0
        self._blocks: dict[Register, Register] = {}
        self._masks: dict[Register, Register] = {}
        self._constants: dict[tuple[str, str], Register] = {}

    # registers

    def register(self, hint: str, element: DType, extent: Extent, **options: bool | str) -> Register:
        self._count += 1
        return Register(f"{hint}_{self._count}", element, extent, **options)  # pyright: ignore[reportArgumentType]

    def _emit(self, name: str, destination: Register, *sources: Register, scalar: Number | None = None, round: str | None = None):
        self.section.append(Instr(self.location, name, destination, sources, scalar, round))
        return destination

    # memory

    def load(self, name: str, element: DType, source: int, window: Window) -> Register:
        """A register holding the window's tile, rows, columns or single element, whichever the strides tell apart."""
        extent = self._loaded_extent(window)
        register = self.register(f"{name}_tile", element, "one" if extent == "block" else extent, role="load")
        self.section.append(Load(self.location, register, source, window))
        if extent != "block":
            return register
        return self._emit("block_broadcast", self.register(f"{name}_tile", element, "block", role="load"), register)

    def _loaded_extent(self, window: Window) -> Extent:
        row = window.row != 0 or self.space.rows == 1
        col = window.col != 0 or self.space.cols == 1
        if col:
            return "tile" if row else "cols"
        return "rows" if row else "block"

    def iota(self, element: DType, window: Window) -> Register:
        register = self.register("index", element, self._loaded_extent(window))
        self.section.append(Iota(self.location, register, window))
        return register

    def store(self, value: Value, element: DType, extent: Extent, target: int, window: Window) -> None:
        """Write a value of the given extent, converting masks to bytes and filling in constants."""
        register = self._materialize(value, element, extent)
        if register.mask:
            register = self._bytes(register, element)
        if register.extent != extent:
            register = self._widen(register, extent)
        if register.role == "temp":
            register.role = "store"
        self.section.append(Store(self.location, register, target, window))

    def _widen(self, register: Register, extent: Extent) -> Register:
        """A broadcast value written out in full."""
        wide = self.register(register.name, register.dtype, extent)
        return self._emit("copy", wide, self.spread_to(register, extent))

    # values

    def _materialize(self, value: Value, element: DType, extent: Extent) -> Register:
        """A register an instruction can read: a constant fills one block, once for the whole kernel."""
        if isinstance(value, Register):
            return value
        if element.kind == "bool":
            mask = self.register("mask", _MASK_DTYPE, extent, mask=True)
            return self._emit("duplicate", mask, scalar=255 if value else 0)
        key = (repr(value), element.name)  # by repr: -0.0 is not 0.0, and NaN is itself
        if key not in self._constants:
            block = self.register("constant", element, "block", role="load")
            self.program.once.append(Instr(self.location, "duplicate", block, (), value))
            self._constants[key] = block
        return self._constants[key]

    def _bytes(self, mask: Register, element: DType) -> Register:
        """A mask as bytes 0 and 1: select 1.0 or 0.0 in f16, then convert."""
        half = self.register("bits", dtype("f16"), mask.extent)
        self._emit("duplicate", half, scalar=1.0)
        self._emit("selects", half, mask, half, scalar=0.0)
        return self._emit("cast", self.register("bool", element, mask.extent), half, round="rint")

    def _mask(self, register: Register) -> Register:
        """Bytes 0 and 1 as a mask: convert to f16, compare with 0."""
        if register.mask:
            return register
        if register not in self._masks:
            half = self.register("bits", dtype("f16"), register.extent)
            self._emit("cast", half, register, round="rint")
            mask = self.register("mask", _MASK_DTYPE, register.extent, mask=True)
            self._masks[register] = self._emit("compares_ne", mask, half, scalar=0.0)
        return self._masks[register]

    def spread_to(self, register: Register, extent: Extent) -> Register:
        """A register that an instruction with this destination extent can read: one-per-row values become blocks."""
        if register.extent == "rows" and extent == "tile":
            if register not in self._blocks:
                block = self.register(register.name, register.dtype, "blocks")
                self._blocks[register] = self._emit("block_broadcast", block, register)
            return self._blocks[register]
        return register

    # operators

    def operator(self, op: Operation, operands: Sequence[Value], extent: Extent) -> Value:
        """The value of an element-wise, compare, select or cast operator over the given extent."""
        self.location = op.location
        element = dtype_of(tensor_type(op.results[0]))
        source = dtype_of(tensor_type(op.operands[-1]))
        if isinstance(op, ascend.SelectOp):
            return self._select(element, extent, *operands)
        if isinstance(op, ascend.CompareOp):
            return self._compare(op.predicate.data, source, extent, *operands)
        if isinstance(op, ascend.CastOp):
            (x,) = (self._read(v, source, extent) for v in operands)
            return self._emit("cast", self.register("cast", element, extent), x, round=op.round.data)
        assert isinstance(op, ascend.ElementwiseOp), op.name
        name = op.name.removeprefix("ascend.")
        if element.kind == "bool":
            return self._logic(name, extent, operands)
        if name == "neg":
            return self._scalar("muls", element, extent, operands[0], -1)
        if len(operands) == 2:
            return self._binary(name, element, extent, *operands)
        destination = self.register(name, element, extent)
        return self._emit(_INSTRUCTION.get(name, name), destination, self._read(operands[0], element, extent))

    def _read(self, value: Value, element: DType, extent: Extent) -> Register:
        return self.spread_to(self._materialize(value, element, extent), extent)

    def _scalar(self, name: str, element: DType, extent: Extent, a: Value, scalar: Number) -> Register:
        destination = self.register(name, element, extent)
        return self._emit(name, destination, self._read(a, element, extent), scalar=scalar)

    def _binary(self, name: str, element: DType, extent: Extent, a: Value, b: Value) -> Register:
        if not isinstance(a, Register) and isinstance(b, Register) and name in _COMMUTATIVE:
            a, b = b, a
        if not isinstance(b, Register):
            if name in _SCALAR_FORMS and element.name in BY_NAME[_SCALAR_FORMS[name]].dtypes:
                return self._scalar(_SCALAR_FORMS[name], element, extent, a, b)
            if name == "sub":
                return self._scalar("adds", element, extent, a, -b)
        elif name == "sub" and not isinstance(a, Register):
            return self._scalar("adds", element, extent, self._scalar("muls", element, extent, b, -1), a)
        first, second = self._read(a, element, extent), self._read(b, element, extent)
        return self._emit(name, self.register(name, element, extent), first, second)

    def _compare(self, predicate: str, element: DType, extent: Extent, a: Value, b: Value) -> Register:
        if not isinstance(a, Register):
            a, b, predicate = b, a, _SWAPPED[predicate]
        mask = self.register("mask", _MASK_DTYPE, extent, mask=True)
        first = self._read(a, element, extent)
        if isinstance(b, Register):
            return self._emit(f"compare_{predicate}", mask, first, self._read(b, element, extent))
        return self._emit(f"compares_{predicate}", mask, first, scalar=b)

    def _condition(self, value: Value, extent: Extent) -> Register:
        """A mask over exactly this extent: conditions do not broadcast, so a narrower one is widened as f16 first."""
        register = self._materialize(value, dtype("i1"), extent)
        if register.extent == extent:
            return self._mask(register)
        half = self.register("bits", dtype("f16"), register.extent)
        if register.mask:
            self._emit("duplicate", half, scalar=1.0)
            self._emit("selects", half, register, half, scalar=0.0)
        else:
            self._emit("cast", half, register, round="rint")
        mask = self.register("mask", _MASK_DTYPE, extent, mask=True)
        return self._emit("compares_ne", mask, self.spread_to(half, extent), scalar=0.0)

    def _select(self, element: DType, extent: Extent, condition: Value, a: Value, b: Value) -> Register:
        mask = self._condition(condition, extent)
        first = self._read(a, element, extent)
        destination = self.register("select", element, extent)
        if isinstance(b, Register):
            return self._emit("select", destination, mask, first, self.spread_to(b, extent))
        return self._emit("selects", destination, mask, first, scalar=b)

    def _logic(self, name: str, extent: Extent, operands: Sequence[Value]) -> Register:
        masks = [self._condition(v, extent) for v in operands]
        destination = self.register("mask", _MASK_DTYPE, extent, mask=True)
        return self._emit(name, destination, *masks)

    # reductions

    def reduce(self, op: ascend.ReduceOp, value: Value) -> Register:
        """Fold the columns (or, in mode `columns`, the rows) of a tile; chunks accumulate into a register that outlives them."""
        self.location = op.location
        kind, element = op.kind.data, dtype_of(tensor_type(op.result))
        columns = self.space.mode == "columns"
        axis, extent = (0, "cols") if columns else (1, "rows")
        source = self._materialize(value, element, "tile")
        if source.extent != "tile":
            source = self._widen(source, "tile")
        work = self.register("work", element, "work0" if columns else "work1")
        partial = self.register(kind, element, extent)
        self.section.append(Fold(self.location, f"reduce_{kind}", partial, source, work, axis))
        if self.space.mode == "rows":
            return partial
        total = self.register("total", element, extent, role="load")
        start = Instr(self.location, "duplicate", total, (), identity(kind, element))
        self.program.first.append(start)
        return self._emit(_COMBINE[kind], total, total, partial)



def element_of(value: SSAValue) -> DType:
    return dtype_of(tensor_type(value))
