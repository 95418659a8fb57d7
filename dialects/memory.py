"""ascend_memory: buffers in the AI Core's memories, the copies between them, and the flags that order the pipes.

A buffer is a `memref` whose memory space is `#ascend_memory.space<ub>`; `alloc` makes one, `view` is a window on one, `copy` is one
DMA. Pipes run asynchronously, so a value is safe to read only behind a flag or a barrier: `set_flag` / `wait_flag` order one pipe
after another, `barrier` a pipe after itself. Read `machine/target.py` for the spaces and paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.utils import (
    DynamicIndexList,
    EnumAttribute,
    get_dynamic_index_list,
    split_dynamic_index_list,
    verify_dynamic_index_list,
)
from xdsl.ir import Dialect, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryAllocEffect, MemoryEffect, MemoryEffectKind, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ascir.dialects.types import Buffer, ConstantValue, buffer, buffer_type, byte_size, dtype_of, is_static, strides_of_buffer
from ascir.machine.target import ASCEND910B


class Space(StrEnum):
    """The memories; `machine/target.py` has their sizes."""

    GM = "gm"
    L1 = "l1"
    L0A = "l0a"
    L0B = "l0b"
    L0C = "l0c"
    UB = "ub"
    BT = "bt"
    FB = "fb"


class Pipe(StrEnum):
    """The pipes, spelt as in messages and traces; `ALL` only for barriers."""

    S = "s"
    V = "v"
    M = "m"
    MTE1 = "mte1"
    MTE2 = "mte2"
    MTE3 = "mte3"
    FIXP = "fixp"
    ALL = "all"


@irdl_attr_definition
class SpaceAttr(EnumAttribute[Space]):
    """`#ascend_memory.space<ub>`."""

    name = "ascend_memory.space"

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Space:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(Space)


@irdl_attr_definition
class PipeAttr(EnumAttribute[Pipe], SpacedOpaqueSyntaxAttribute):
    name = "ascend_memory.pipe"


GM = SpaceAttr(Space.GM)
UB = SpaceAttr(Space.UB)


def space_of(value: SSAValue) -> Space:
    """The memory a buffer value lives in; VerifyException for a memref of another world."""
    space = buffer_type(value).memory_space
    if not isinstance(space, SpaceAttr):
        raise VerifyException(f"memref {value.type} needs a memory space such as #ascend_memory.space<ub>")
    return space.data


class _ReadsWrites(MemoryEffect):
    """Reads `source`, writes `destination`: tied to the operands."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, CopyOp | ScalarCopyOp)
        return {
            EffectInstance(MemoryEffectKind.READ, op.source),
            EffectInstance(MemoryEffectKind.WRITE, op.destination),
        }


class _Orders(MemoryEffect):
    """A flag or barrier may not move or vanish: it touches everything."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)}


@irdl_op_definition
class AllocOp(IRDLOperation):
    """`%x = ascend_memory.alloc "x_tile" : memref<…>`: a buffer for the whole kernel (on chip) or operator (GM workspace).

    `offset` (bytes from the start of its memory) is filled by `plan-memory`, or by an author who plans by hand.
    """

    name = "ascend_memory.alloc"

    label = prop_def(StringAttr)
    offset = opt_prop_def(IntegerAttr.constr(i64))
    memref = result_def(MemRefType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$label (`at` $offset^)? attr-dict `:` type($memref)"

    def __init__(self, label: str, type_: Buffer, offset: int | None = None):
        offset_attr = None if offset is None else IntegerAttr(offset, i64)
        super().__init__(properties={"label": StringAttr(label), "offset": offset_attr}, result_types=[type_])
        self.memref.name_hint = label if SSAValue.is_valid_name(label) else None

    def verify_(self) -> None:
        type_ = buffer_type(self.memref)
        space = space_of(self.memref)
        if dtype_of(type_).name == "f64":
            raise VerifyException(f'buffer "{self.label.data}" holds f64; the AI Core computes nothing in double, use f32')
        size = byte_size(type_)
        if size is None:
            raise VerifyException(f'buffer "{self.label.data}" needs a static shape, got {type_}')
        if not isinstance(type_.layout, NoneAttr):
            raise VerifyException(f'buffer "{self.label.data}" is contiguous, got {type_}; ascend_memory.view gives it strides')
        if self.offset is not None and self.offset.value.data < 0:
            raise VerifyException(f'buffer "{self.label.data}" starts at byte {self.offset.value.data}; expected 0 or more')
        if space == Space.GM:
            return
        memory = ASCEND910B.memories[space.value]
        if self.offset is not None and self.offset.value.data % memory.alignment:
            raise VerifyException(
                f'buffer "{self.label.data}" starts at byte {self.offset.value.data} of {space.value}; '
                f"expected a multiple of {memory.alignment}"
            )


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """`ascend_memory.constant dense<[…]> : tensor<…> to memref<…, #ascend_memory.space<gm>>`: values that come with the program."""

    name = "ascend_memory.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    memref = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "custom<ConstantValue>($value) attr-dict `to` type($memref)"
    custom_directives = (ConstantValue,)

    def __init__(self, value: DenseIntOrFPElementsAttr, type_: Buffer):
        super().__init__(properties={"value": value}, result_types=[type_])

    def verify_(self) -> None:
        type_ = buffer_type(self.memref)
        if space_of(self.memref) is not Space.GM:
            raise VerifyException(f"constants lie in gm; copy them on chip, got {type_}")
        if self.value.get_element_type() != type_.element_type or tuple(self.value.get_shape()) != type_.get_shape():
            raise VerifyException(f"constant of type {self.value.type} does not fill {type_}")


@irdl_op_definition
class ViewOp(IRDLOperation):
    """A window on a buffer: element (i0, …) is `source[offset + Σ i_k · strides[k]]`, counted in elements from its start.

    `%v = ascend_memory.view %x at [%o] sizes [8, %n] strides [128, 1] : memref<…> to memref<…>`. Dynamic sizes and strides show as
    `?` in the type. The emulator checks every access through it against the buffer beneath.
    """

    name = "ascend_memory.view"

    source = operand_def(MemRefType)
    offset = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offset = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(MemRefType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())
    assembly_format = (
        "$source `at` custom<DynamicIndexList>($offset, $static_offset)"
        " `sizes` custom<DynamicIndexList>($sizes, $static_sizes)"
        " `strides` custom<DynamicIndexList>($strides, $static_strides)"
        " attr-dict `:` type($source) `to` type($result)"
    )
    custom_directives = (DynamicIndexList,)

    def __init__(
        self,
        source: SSAValue,
        offset: SSAValue | int,
        sizes: Sequence[SSAValue | int],
        strides: Sequence[SSAValue | int],
    ):
        parts = [split_dynamic_index_list(v, DYNAMIC_INDEX) for v in ([offset], sizes, strides)]
        (static_offset, dyn_offset), (static_sizes, dyn_sizes), (static_strides, dyn_strides) = parts
        type_ = buffer(
            static_sizes,
            buffer_type(source).element_type,
            buffer_type(source).memory_space,
            static_strides,
            view_offset(source, static_offset[0]),
        )
        super().__init__(
            operands=[source, dyn_offset, dyn_sizes, dyn_strides],
            result_types=[type_],
            properties={
                "static_offset": DenseArrayBase.from_list(i64, static_offset),
                "static_sizes": DenseArrayBase.from_list(i64, static_sizes),
                "static_strides": DenseArrayBase.from_list(i64, static_strides),
            },
        )

    @property
    def mixed_offset(self) -> SSAValue | int:
        return get_dynamic_index_list(self.static_offset.get_values(), self.offset, DYNAMIC_INDEX)[0]

    @property
    def mixed_sizes(self) -> list[SSAValue | int]:
        return get_dynamic_index_list(self.static_sizes.get_values(), self.sizes, DYNAMIC_INDEX)

    @property
    def mixed_strides(self) -> list[SSAValue | int]:
        return get_dynamic_index_list(self.static_strides.get_values(), self.strides, DYNAMIC_INDEX)

    def verify_(self) -> None:
        offset = self.static_offset.get_values()
        sizes = self.static_sizes.get_values()
        strides = self.static_strides.get_values()
        if len(offset) != 1:
            raise VerifyException(f"a view has one offset, in elements; got {len(offset)}")
        verify_dynamic_index_list(offset, self.offset, DYNAMIC_INDEX, " in the offset")
        verify_dynamic_index_list(sizes, self.sizes, DYNAMIC_INDEX, " in the sizes")
        verify_dynamic_index_list(strides, self.strides, DYNAMIC_INDEX, " in the strides")
        if len(sizes) != len(strides):
            raise VerifyException(f"a view needs a stride for each size; got {len(sizes)} sizes and {len(strides)} strides")
        source = buffer_type(self.source)
        expected = buffer(
            sizes, source.element_type, source.memory_space, strides, view_offset(self.source, offset[0])
        )
        if self.result.type != expected:
            raise VerifyException(f"view has type {self.result.type}; its sizes and strides say {expected}")
        self._verify_bounds(source, offset[0], sizes, strides)

    def _verify_bounds(self, source: Buffer, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> None:
        shape = source.get_shape()
        if not is_static((*shape, offset, *sizes, *strides)) or 0 in sizes:
            return
        source_strides = strides_of_buffer(source)
        if not is_static(source_strides):
            return
        room = 1 + sum((n - 1) * s for n, s in zip(shape, source_strides, strict=True)) if 0 not in shape else 0
        lowest = offset + sum(min(0, (n - 1) * s) for n, s in zip(sizes, strides, strict=True))
        highest = offset + sum(max(0, (n - 1) * s) for n, s in zip(sizes, strides, strict=True))
        if lowest < 0 or highest >= room:
            raise VerifyException(
                f"view reaches elements {lowest} to {highest} of a buffer with {room}; make it smaller or move it"
            )


def view_offset(source: SSAValue, offset: int) -> int:
    """The offset a view's type shows: the sum of both where known, else DYNAMIC_INDEX."""
    base = buffer_type(source).get_offset()
    return DYNAMIC_INDEX if base is None or offset == DYNAMIC_INDEX else base + offset


def _verify_same_extent(source: Buffer, destination: Buffer, name: str) -> None:
    if source.element_type != destination.element_type:
        raise VerifyException(
            f"{name} moves {dtype_of(source).name} to {dtype_of(destination).name}; "
            "element types must agree (ascend_vector.cast converts)"
        )
    a, b = source.get_shape(), destination.get_shape()
    known = all(x == y or DYNAMIC_INDEX in (x, y) for x, y in zip(a, b, strict=False))
    if len(a) != len(b) or not known:
        raise VerifyException(f"{name} moves shape {list(a)} to shape {list(b)}; they must agree")


@irdl_op_definition
class CopyOp(IRDLOperation):
    """One DMA: rows of contiguous elements from one memory to another (1-d: one row; 2-d: a row a burst).

    The pipe follows from the spaces: GM → UB runs on MTE2, UB → GM on MTE3. In UB every row starts on a 32 B boundary.
    """

    name = "ascend_memory.copy"

    source = operand_def(MemRefType)
    destination = operand_def(MemRefType)
    traits = traits_def(_ReadsWrites())
    assembly_format = "$source `to` $destination attr-dict `:` type($source) `to` type($destination)"

    def __init__(self, source: SSAValue, destination: SSAValue):
        super().__init__(operands=[source, destination])

    @property
    def pipe(self) -> Pipe:
        path = (space_of(self.source).value, space_of(self.destination).value)
        return Pipe(ASCEND910B.paths[path].lower())

    def verify_(self) -> None:
        path = (space_of(self.source).value, space_of(self.destination).value)
        if path not in ASCEND910B.paths or path[0] == path[1]:
            goes = sorted(b for a, b in ASCEND910B.paths if a == path[0] and a != b)
            raise VerifyException(
                f"illegal path {path[0]} → {path[1]}; from {path[0]} a copy reaches {', '.join(goes) or 'nothing'}"
                + ("; within ub use ascend_vector.copy" if path == ("ub", "ub") else "")
            )
        source, destination = buffer_type(self.source), buffer_type(self.destination)
        _verify_same_extent(source, destination, self.name)
        for type_, space in ((source, path[0]), (destination, path[1])):
            _verify_rows(type_, space)


def _verify_rows(type_: Buffer, space: str) -> None:
    shape, strides = type_.get_shape(), strides_of_buffer(type_)
    if len(shape) not in (1, 2):
        raise VerifyException(f"a copy moves one row or rows of a matrix, got rank {len(shape)}; loop over the outer dimensions")
    if strides[-1] not in (1, DYNAMIC_INDEX) and shape[-1] != 1:
        raise VerifyException(
            f"a copy moves contiguous rows; {space} operand has stride {strides[-1]} (ascend_memory.scalar_copy takes any)"
        )
    size = dtype_of(type_).bytes
    pitch = strides[0] * size
    alignment = ASCEND910B.memories["ub"].alignment
    offset = type_.get_offset()
    if space == "ub" and offset not in (None, DYNAMIC_INDEX) and offset * size % alignment:
        raise VerifyException(f"copy touches {space} at byte {offset * size} of its buffer; expected a multiple of {alignment}")
    if len(shape) == 2 and space != "gm" and shape[0] != 1 and strides[0] != DYNAMIC_INDEX and pitch % alignment:
        raise VerifyException(f"rows in {space} are {pitch} B apart; expected a multiple of {alignment}")


@irdl_op_definition
class ScalarCopyOp(IRDLOperation):
    """Elements copied one by one by a loop on pipe S between GM and UB: any strides, and slow (costed so)."""

    name = "ascend_memory.scalar_copy"

    source = operand_def(MemRefType)
    destination = operand_def(MemRefType)
    traits = traits_def(_ReadsWrites())
    assembly_format = "$source `to` $destination attr-dict `:` type($source) `to` type($destination)"

    def __init__(self, source: SSAValue, destination: SSAValue):
        super().__init__(operands=[source, destination])

    def verify_(self) -> None:
        path = (space_of(self.source).value, space_of(self.destination).value)
        if not set(path) <= {"gm", "ub"}:
            raise VerifyException(f"a scalar copy reaches gm and ub, not {path[0]} → {path[1]}")
        source, destination = buffer_type(self.source), buffer_type(self.destination)
        _verify_same_extent(source, destination, self.name)
        if len(source.get_shape()) not in (1, 2):
            raise VerifyException(f"a scalar copy has one or two dimensions, got {len(source.get_shape())}")


class _FlagOp(IRDLOperation):
    """What `set_flag` and `wait_flag` share: `ascend_memory.set_flag mte2 to v, 0`."""

    source = prop_def(PipeAttr)
    destination = prop_def(PipeAttr)
    event = prop_def(IntegerAttr.constr(i64))
    traits = traits_def(_Orders())

    def __init__(self, source: Pipe, destination: Pipe, event: int):
        super().__init__(
            properties={
                "source": PipeAttr(source),
                "destination": PipeAttr(destination),
                "event": IntegerAttr(event, i64),
            }
        )

    @property
    def key(self) -> tuple[Pipe, Pipe, int]:
        """(source pipe, destination pipe, event id)."""
        return self.source.data, self.destination.data, self.event.value.data

    def verify_(self) -> None:
        source, destination, event = self.key
        if Pipe.ALL in (source, destination) or source == destination:
            raise VerifyException(
                f"a flag orders one pipe after another, got {source.value} to {destination.value}; "
                "ascend_memory.barrier orders a pipe after itself"
            )
        if not 0 <= event < ASCEND910B.event_ids:
            raise VerifyException(f"event id {event} is not in 0…{ASCEND910B.event_ids - 1}")


_FLAG_FORMAT = "$source `to` $destination `,` $event attr-dict"


@irdl_op_definition
class SetFlagOp(_FlagOp):
    """Fires when all earlier work of the source pipe has completed."""

    name = "ascend_memory.set_flag"
    assembly_format = _FLAG_FORMAT


@irdl_op_definition
class WaitFlagOp(_FlagOp):
    """Blocks the destination pipe until the flag is set, and clears it."""

    name = "ascend_memory.wait_flag"
    assembly_format = _FLAG_FORMAT


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """`ascend_memory.barrier v`: later work of the pipe waits for its earlier work to complete; `all` for every pipe."""

    name = "ascend_memory.barrier"

    pipe = prop_def(PipeAttr)
    traits = traits_def(_Orders())
    assembly_format = "$pipe attr-dict"

    def __init__(self, pipe: Pipe):
        super().__init__(properties={"pipe": PipeAttr(pipe)})


AscendMemory = Dialect(
    "ascend_memory",
    [AllocOp, ConstantOp, ViewOp, CopyOp, ScalarCopyOp, SetFlagOp, WaitFlagOp, BarrierOp],
    [SpaceAttr, PipeAttr],
)

