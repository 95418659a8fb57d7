"""Shorthand between IR types and the machine's tables, shared by the three dialects.

Builtin tensors and memrefs are used as they are; this file only says which element types and which memory spaces the AI Core
knows, and words the messages that every verifier needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StridedLayoutAttr,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ascir.machine import dtypes
from ascir.machine.dtypes import DType
from ascir.machine.layout import num_elements, strides_of

Tensor: TypeAlias = TensorType[Attribute]
Buffer: TypeAlias = MemRefType[Attribute]

_FLOATS: dict[str, AnyFloat] = {
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
}


def _integer(name: str) -> IntegerType:
    unsigned = name.startswith("ui")
    return IntegerType(int(name.lstrip("ui")), Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS)


_TYPES: dict[str, Attribute] = {name: _FLOATS.get(name) or _integer(name) for name in dtypes.BY_NAME}
_DTYPES: dict[Attribute, DType] = {type_: dtypes.BY_NAME[name] for name, type_ in _TYPES.items()}


def element_type(dtype: DType | str) -> Attribute:
    """The IR type of a dtype: `f16`, `i8`, `ui8`, …"""
    return _TYPES[dtype if isinstance(dtype, str) else dtype.name]


def dtype_of(type_: Attribute) -> DType:
    """The dtype of an element type, or of a tensor's or memref's elements. VerifyException where the AI Core has none."""
    if isinstance(type_, TensorType | MemRefType):
        type_ = cast(Tensor | Buffer, type_).element_type
    found = _DTYPES.get(type_)
    if found is None:
        raise VerifyException(f"element type {type_} is none of {', '.join(dtypes.BY_NAME)}")
    return found


def tensor(shape: Sequence[int], dtype: DType | str) -> Tensor:
    """`tensor<shape x dtype>`; a dimension of -1 or DYNAMIC_INDEX prints as `?`."""
    return TensorType(element_type(dtype), shape)


def tensor_type(value: SSAValue) -> Tensor:
    """The tensor type of a value whose op constrains it to one."""
    assert isinstance(value.type, TensorType)
    return cast(Tensor, value.type)


def buffer_type(value: SSAValue) -> Buffer:
    """The memref type of a value whose op constrains it to one."""
    assert isinstance(value.type, MemRefType)
    return cast(Buffer, value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor or memref value."""
    type_: Any = value.type
    return type_.get_shape()


def is_static(shape: Sequence[int]) -> bool:
    return DYNAMIC_INDEX not in shape


def strides_of_buffer(type_: Buffer) -> tuple[int, ...]:
    """Element strides of a memref; DYNAMIC_INDEX where unknown."""
    if isinstance(type_.layout, NoneAttr):
        shape = type_.get_shape()
        if is_static(shape[1:]):
            return strides_of(shape)
        inner: list[int] = []
        step = 1
        for dim in reversed(shape):
            inner.append(step)
            step = DYNAMIC_INDEX if DYNAMIC_INDEX in (dim, step) else step * dim
        return tuple(reversed(inner))
    strides = type_.get_strides()
    if strides is None:
        raise VerifyException(f"{type_} has no strides; use a strided<[…], offset: …> layout")
    return tuple(DYNAMIC_INDEX if s is None else s for s in strides)


def buffer(
    shape: Sequence[int],
    dtype: DType | str | Attribute,
    space: Attribute,
    strides: Sequence[int] | None = None,
    offset: int = 0,
) -> Buffer:
    """`memref<shape x dtype, strided<…>, space>`; the layout is left out where it is plain row-major at offset 0."""
    elem = dtype if isinstance(dtype, Attribute) else element_type(dtype)
    plain = MemRefType(elem, shape, NoneAttr(), space)
    if strides is None or (offset == 0 and tuple(strides) == strides_of_buffer(plain)):
        return plain
    layout = StridedLayoutAttr(
        [None if s == DYNAMIC_INDEX else s for s in strides], None if offset == DYNAMIC_INDEX else offset
    )
    return MemRefType(elem, shape, layout, space)


def byte_size(type_: Buffer) -> int | None:
    """Bytes of a contiguous buffer, or None when a dimension is dynamic."""
    shape = type_.get_shape()
    return num_elements(shape) * dtype_of(type_).bytes if is_static(shape) else None


@irdl_custom_directive
class ConstantValue(CustomDirective):
    """The attribute as usual, but dense floats as bytes where upstream would print an element as its bit pattern.

    xDSL 0.75 prints `dense<[0x7c00]>` for an infinity in f16 and reads it back as the number 31744; `dense<"0x007C">` it reads
    as it is meant. The generic form still has the fault: it belongs to the attribute.
    """

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.parse(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.value.get(op)
        values, _, _ = str(attribute).rpartition(" : ")
        if "0x" in values and isinstance(attribute, DenseIntOrFPElementsAttr):
            state.print_whitespace(printer)
            type_: Attribute = attribute.get_type()
            printer.print_string(f'dense<"0x{attribute.data.data.hex().upper()}"> : {type_}')
        else:
            self.value.print(printer, state, op)
