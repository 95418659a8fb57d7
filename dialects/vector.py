"""ascend_vector: the SIMD instructions on UB buffers, in destination style — one op an instruction row.

The ops are made from `machine/instructions.py`: the form of a row decides its operands, the row its dtypes and its pipe. Operands are
1-d views (a count of elements) or 2-d views (rows a 32 B-aligned pitch apart). A source may repeat: row stride 0 reads one
row for all, column stride 0 reads one 32 B block for a whole row (fill it with `block_broadcast`). A mask holds one bit an
element, in bytes (`ui8`), a row's mask starting on its own 32 B block.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, IntegerType, MemRefType, StringAttr, i64
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, irdl_op_definition, operand_def, prop_def, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from ascir.dialects.memory import Pipe, Space, space_of
from ascir.dialects.types import Buffer, buffer_type, dtype_of, element_type, strides_of_buffer
from ascir.machine.dtypes import DType
from ascir.machine.instructions import BY_NAME, INSTRUCTIONS, ROUND_MODES, Form, Instruction, cast_pipe
from ascir.machine.layout import ceil_div, round_up
from ascir.machine.target import ASCEND910B


def scalar_type(dtype: DType) -> Attribute:
    """The register type of a scalar operand: the element type, integers without sign as `arith` wants them."""
    return IntegerType(8 * dtype.bytes) if dtype.is_integer else element_type(dtype)


class _Effects(MemoryEffect):
    """Reads the sources, writes the destination and the work space."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, VectorOp)
        reads = {EffectInstance(MemoryEffectKind.READ, v) for v in op.sources}
        return reads | {EffectInstance(MemoryEffectKind.WRITE, v) for v in op.writes}


class VectorOp(IRDLOperation):
    """What all instructions share: a row of the table, sources, a destination, a pipe."""

    destination = operand_def(MemRefType)
    traits = traits_def(_Effects())

    @property
    def row(self) -> Instruction:
        """The row of the instruction table."""
        return BY_NAME[self.name.removeprefix("ascend_vector.")]

    @property
    def sources(self) -> tuple[SSAValue, ...]:
        """The buffers read, masks first."""
        return tuple(v for v in self.operands[:-1] if isinstance(v.type, MemRefType))

    @property
    def writes(self) -> tuple[SSAValue, ...]:
        """The buffers written: the destination, and a reduction's work space."""
        return (self.destination,)

    @property
    def dtype(self) -> DType:
        """The dtype that decides the pipe and the meaning: the data source's, else the destination's."""
        return dtype_of(self.destination.type)

    @property
    def pipe(self) -> Pipe:
        return Pipe(self.row.pipe(self.dtype.name).lower())

    def verify_(self) -> None:
        for value in (*self.sources, *self.writes):
            self._verify_space(value)
        dtype = self.dtype
        if dtype.name not in self.row.dtypes:
            raise VerifyException(f"{self.name} has no {dtype.name} form; it takes {', '.join(self.row.dtypes)}")
        for value in (*self.sources, *self.writes):
            self._verify_rank(value)
        self._verify_operands(dtype)
        self._verify_destination()
        if self.pipe is Pipe.V:
            for value in (*self.sources, *self.writes):
                _verify_alignment(buffer_type(value), self.name)

    def _verify_space(self, value: SSAValue) -> None:
        space = space_of(value)
        if space is not Space.UB:
            hint = value.name_hint or "the operand"
            raise VerifyException(
                f"{self.name} needs operands in ub; %{hint} is in {space.value}. Copy it first: ascend_memory.copy"
            )

    def _verify_rank(self, value: SSAValue) -> None:
        rank = len(buffer_type(value).get_shape())
        if rank not in (1, 2):
            raise VerifyException(f"{self.name} works on 1-d or 2-d buffers, got rank {rank}; take a view")

    def _verify_destination(self) -> None:
        """hw §3: only a source may repeat."""
        type_ = buffer_type(self.destination)
        if any(n != 1 and s == 0 for n, s in zip(type_.get_shape(), strides_of_buffer(type_), strict=True)):
            raise VerifyException(f"{self.name}: the destination {type_} has stride 0; only a source may repeat")

    def _verify_operands(self, dtype: DType) -> None:
        """Element types and shapes of this form; the common case is that all agree with the destination."""
        for value in self.sources:
            self._same_type(value, dtype)
            self._same_shape(value)

    def _same_type(self, value: SSAValue, dtype: DType) -> None:
        found = dtype_of(value.type)
        if found != dtype:
            both = f"{found.name} and {dtype.name}"
            raise VerifyException(f"{self.name} has operands of {both}; they must agree (ascend_vector.cast converts)")

    def _same_shape(self, value: SSAValue) -> None:
        shape = buffer_type(value).get_shape()
        self._shape_is(value, buffer_type(self.destination).get_shape(), shape)

    def _shape_is(self, value: SSAValue, expected: Sequence[int], found: Sequence[int]) -> None:
        same = all(a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(expected, found, strict=False))
        if len(expected) != len(found) or not same:
            hint = value.name_hint or "operand"
            raise VerifyException(f"{self.name}: %{hint} has shape {list(found)}; expected {list(expected)}")

    def _verify_scalar(self, value: SSAValue, dtype: DType) -> None:
        if value.type != scalar_type(dtype):
            raise VerifyException(f"{self.name} on {dtype.name} takes a scalar of type {scalar_type(dtype)}, got {value.type}")

    def _verify_mask(self, mask: SSAValue, shape: Sequence[int]) -> None:
        found = dtype_of(mask.type).name
        if found != "ui8":
            raise VerifyException(f"{self.name}: a mask holds bits in bytes of ui8, got {found}")
        bits = shape[-1]
        columns = DYNAMIC_INDEX if bits == DYNAMIC_INDEX else ceil_div(bits, 8)
        self._shape_is(mask, (*shape[:-1], columns), buffer_type(mask).get_shape())


def _verify_alignment(type_: Buffer, name: str) -> None:
    """Static part of the 32 B rule: the start and the pitch of what a V instruction touches."""
    size, block = dtype_of(type_).bytes, ASCEND910B.block_bytes
    offset = type_.get_offset()
    if offset is not None and offset * size % block:
        raise VerifyException(f"{name}: operand starts at byte {offset * size} of its buffer; expected a multiple of {block}")
    shape, strides = type_.get_shape(), strides_of_buffer(type_)
    if strides[-1] not in (0, 1, DYNAMIC_INDEX) and shape[-1] != 1:
        raise VerifyException(f"{name}: elements of a row lie {strides[-1]} apart; a vector instruction reads contiguous elements")
    if len(shape) == 2 and shape[0] != 1 and strides[0] != DYNAMIC_INDEX and strides[0] * size % block:
        raise VerifyException(f"{name}: rows lie {strides[0] * size} B apart; expected a multiple of {block}")


def _dst(*formats: str) -> str:
    """Assembly format of sources into a destination."""
    names = " `,` ".join(f"${f}" for f in formats)
    types = " `,` ".join(f"type(${f})" for f in formats)
    return f"{names} `into` $destination attr-dict `:` {types} `into` type($destination)"


class UnaryOp(VectorOp):
    """dst = f(a)."""

    a = operand_def(MemRefType)
    assembly_format = _dst("a")

    def __init__(self, a: SSAValue, destination: SSAValue):
        super().__init__(operands=[a, destination])


class BinaryOp(VectorOp):
    """dst = f(a, b)."""

    a = operand_def(MemRefType)
    b = operand_def(MemRefType)
    assembly_format = _dst("a", "b")

    def __init__(self, a: SSAValue, b: SSAValue, destination: SSAValue):
        super().__init__(operands=[a, b, destination])


class ScalarOp(VectorOp):
    """dst = f(a, s) with s in a scalar register."""

    a = operand_def(MemRefType)
    s = operand_def(AnyAttr())
    assembly_format = _dst("a", "s")

    def __init__(self, a: SSAValue, s: SSAValue, destination: SSAValue):
        super().__init__(operands=[a, s, destination])

    def _verify_operands(self, dtype: DType) -> None:
        super()._verify_operands(dtype)
        self._verify_scalar(self.s, dtype)


class CompareOp(VectorOp):
    """mask = a ? b."""

    a = operand_def(MemRefType)
    b = operand_def(MemRefType)
    assembly_format = _dst("a", "b")

    def __init__(self, a: SSAValue, b: SSAValue, destination: SSAValue):
        super().__init__(operands=[a, b, destination])

    @property
    def dtype(self) -> DType:
        return dtype_of(self.a.type)

    def _verify_operands(self, dtype: DType) -> None:
        self._same_type(self.b, dtype)
        shape = buffer_type(self.a).get_shape()
        self._shape_is(self.b, shape, buffer_type(self.b).get_shape())
        self._verify_mask(self.destination, shape)


class CompareScalarOp(VectorOp):
    """mask = a ? s."""

    a = operand_def(MemRefType)
    s = operand_def(AnyAttr())
    assembly_format = _dst("a", "s")

    def __init__(self, a: SSAValue, s: SSAValue, destination: SSAValue):
        super().__init__(operands=[a, s, destination])

    @property
    def dtype(self) -> DType:
        return dtype_of(self.a.type)

    def _verify_operands(self, dtype: DType) -> None:
        self._verify_scalar(self.s, dtype)
        self._verify_mask(self.destination, buffer_type(self.a).get_shape())


class SelectOp(VectorOp):
    """dst = mask ? a : b."""

    mask = operand_def(MemRefType)
    a = operand_def(MemRefType)
    b = operand_def(MemRefType)
    assembly_format = _dst("mask", "a", "b")

    def __init__(self, mask: SSAValue, a: SSAValue, b: SSAValue, destination: SSAValue):
        super().__init__(operands=[mask, a, b, destination])

    def _verify_operands(self, dtype: DType) -> None:
        for value in (self.a, self.b):
            self._same_type(value, dtype)
            self._same_shape(value)
        self._verify_mask(self.mask, buffer_type(self.destination).get_shape())


class SelectScalarOp(VectorOp):
    """dst = mask ? a : s."""

    mask = operand_def(MemRefType)
    a = operand_def(MemRefType)
    s = operand_def(AnyAttr())
    assembly_format = _dst("mask", "a", "s")

    def __init__(self, mask: SSAValue, a: SSAValue, s: SSAValue, destination: SSAValue):
        super().__init__(operands=[mask, a, s, destination])

    def _verify_operands(self, dtype: DType) -> None:
        self._same_type(self.a, dtype)
        self._same_shape(self.a)
        self._verify_scalar(self.s, dtype)
        self._verify_mask(self.mask, buffer_type(self.destination).get_shape())


class FillOp(VectorOp):
    """dst = s everywhere (`duplicate`), or dst[i] = s + i along the last dimension (`iota`)."""

    s = operand_def(AnyAttr())
    assembly_format = _dst("s")

    def __init__(self, s: SSAValue, destination: SSAValue):
        super().__init__(operands=[s, destination])

    def _verify_operands(self, dtype: DType) -> None:
        if self.s.type not in (scalar_type(dtype), element_type(dtype)):
            self._verify_scalar(self.s, dtype)


class CastOp(VectorOp):
    """dst = a in dst's dtype; `round` says how a value between two is rounded (hw §9)."""

    a = operand_def(MemRefType)
    round = prop_def(StringAttr, default_value=StringAttr("rint"))
    assembly_format = "$a `into` $destination (`round` $round^)? attr-dict `:` type($a) `into` type($destination)"

    def __init__(self, a: SSAValue, destination: SSAValue, round: str = "rint"):
        super().__init__(operands=[a, destination], properties={"round": StringAttr(round)})

    @property
    def pipe(self) -> Pipe:
        pipe = cast_pipe(dtype_of(self.a.type).name, dtype_of(self.destination.type).name)
        return Pipe.S if pipe == "S" else Pipe.V

    def _verify_operands(self, dtype: DType) -> None:
        source = dtype_of(self.a.type).name
        if cast_pipe(source, dtype.name) is None:
            raise VerifyException(f"no direct cast {source} → {dtype.name}; go through f32")
        if source not in self.row.dtypes:
            raise VerifyException(f"{self.name} has no {source} form; it takes {', '.join(self.row.dtypes)}")
        mode = self.round.data
        if mode not in ROUND_MODES:
            raise VerifyException(f"unknown rounding '{mode}'; expected one of {', '.join(ROUND_MODES)}")
        if mode == "odd" and (source, dtype.name) != ("f32", "f16"):
            raise VerifyException(f"rounding 'odd' is for f32 → f16 only, got {source} → {dtype.name}")
        self._same_shape(self.a)


class BlockBroadcastOp(VectorOp):
    """dst[r, :] = a[r]: each element fills one 32 B block."""

    a = operand_def(MemRefType)
    assembly_format = _dst("a")

    def __init__(self, a: SSAValue, destination: SSAValue):
        super().__init__(operands=[a, destination])

    def _verify_operands(self, dtype: DType) -> None:
        self._same_type(self.a, dtype)
        rows = buffer_type(self.a).get_shape()
        self._shape_is(self.a, rows[:1], rows)
        self._shape_is(self.destination, (rows[0], dtype.c0), buffer_type(self.destination).get_shape())


class ReduceOp(VectorOp):
    """dst[r] = ⊕ a[r, :] (`axis 1`) or dst[c] = ⊕ a[:, c] (`axis 0`), folding halves within the work space."""

    a = operand_def(MemRefType)
    work = operand_def(MemRefType)
    axis = prop_def(IntegerAttr.constr(i64))
    assembly_format = (
        "$a `into` $destination `work` $work `axis` $axis attr-dict"
        " `:` type($a) `into` type($destination) `work` type($work)"
    )

    def __init__(self, a: SSAValue, destination: SSAValue, work: SSAValue, axis: int):
        super().__init__(operands=[a, work, destination], properties={"axis": IntegerAttr(axis, i64)})

    @property
    def sources(self) -> tuple[SSAValue, ...]:
        return (self.a,)

    @property
    def writes(self) -> tuple[SSAValue, ...]:
        return (self.destination, self.work)

    def _verify_operands(self, dtype: DType) -> None:
        self._same_type(self.a, dtype)
        self._same_type(self.work, dtype)
        shape = buffer_type(self.a).get_shape()
        axis = self.axis.value.data
        if len(shape) != 2 or axis not in (0, 1):
            raise VerifyException(f"{self.name} reduces axis 0 or 1 of a 2-d buffer, got axis {axis} of rank {len(shape)}")
        self._shape_is(self.destination, (shape[1 - axis],), buffer_type(self.destination).get_shape())
        work = buffer_type(self.work).get_shape()
        self._shape_is(self.work, work[:1], work)
        need = work_elements(shape, axis, dtype)
        if need is not None and work[0] != DYNAMIC_INDEX and work[0] < need:
            raise VerifyException(f"{self.name} needs a work space of {need} elements, got {work[0]}")


def work_elements(shape: Sequence[int], axis: int, dtype: DType) -> int | None:
    """Elements of work space a reduction of `shape` along `axis` needs: half of what it folds. None while dynamic."""
    rows, columns = shape
    if DYNAMIC_INDEX in (rows, columns):
        return None
    if axis == 1:
        return max(1, ceil_div(columns, 2))
    return max(1, ceil_div(rows, 2)) * round_up(columns, dtype.c0)


_FORMS: dict[Form, type[VectorOp]] = {
    "unary": UnaryOp,
    "binary": BinaryOp,
    "scalar": ScalarOp,
    "compare": CompareOp,
    "compare_scalar": CompareScalarOp,
    "select": SelectOp,
    "select_scalar": SelectScalarOp,
    "cast": CastOp,
    "duplicate": FillOp,
    "iota": FillOp,
    "block_broadcast": BlockBroadcastOp,
    "copy": UnaryOp,
    "reduce": ReduceOp,
}


def _define(row: Instruction) -> type[VectorOp]:
    class_name = "".join(part.capitalize() for part in row.name.split("_")) + "Op"
    namespace = {"name": f"ascend_vector.{row.name}", "__module__": __name__, "__doc__": row.numpy or row.form}
    return irdl_op_definition(type(class_name, (_FORMS[row.form],), namespace))


OPS: dict[str, type[VectorOp]] = {row.name: _define(row) for row in INSTRUCTIONS}
"""Instruction name → op class."""


def vector_op(name: str, *operands: SSAValue, **properties: int | str) -> VectorOp:
    """The instruction `name` on `operands` (sources, then destination, then a reduction's work space)."""
    assert name in BY_NAME, name
    return OPS[name](*operands, **properties)  # pyright: ignore[reportArgumentType, reportCallIssue]


AscendVector = Dialect("ascend_vector", list(OPS.values()), [])
