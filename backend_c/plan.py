"""The host program as data: which buffers exist and which kernels run over them, in order.

`tile-to-kernel` leaves a function of `ascend.launch` ops over GM buffers. Running it does not need the IR: this file turns it into a
`Plan`, a table of buffers and a list of launches, which `run.py` carries out at every call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects import ascend, memory
from ascir.dialects.types import buffer_type, byte_size, dtype_of
from ascir.machine.layout import num_elements


@dataclass(frozen=True)
class BufferSlot:
    """One GM buffer: an input or output of the operator (`number`), work space of `bytes`, or a constant's values."""

    kind: Literal["input", "output", "workspace", "constant"]
    number: int
    bytes: int
    values: bytes = b""


def dense_bytes(value: DenseIntOrFPElementsAttr) -> bytes:
    """The values in row-major order as they lie in GM (a splat attribute holds its one value once)."""
    element = dtype_of(value.get_element_type())
    raw = bytes(value.data.data)
    if element.kind == "bool":
        raw = bytes(int(b != 0) for b in raw)
    size = num_elements(value.get_shape()) * element.bytes
    return raw * (size // len(raw)) if raw else raw


@dataclass(frozen=True)
class Launch:
    """A kernel over the buffers with these slots."""

    kernel: str
    block_dim: int
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """The buffers and launches of one operator."""

    slots: tuple[BufferSlot, ...]
    launches: tuple[Launch, ...]
    inputs: int
    outputs: int


def plan_of(module: ModuleOp, name: str) -> Plan:
    """The plan of host function `name`, which `tile-to-kernel` made.

    PassFailedException if the function holds anything but launches.
    """
    func = next((op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name), None)
    if func is None:
        raise PassFailedException(f"no function @{name} in the module")
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, ascend.KernelOp)}
    count = func.attributes.get("inputs")
    inputs = count.value.data if isinstance(count, IntegerAttr) else len(func.args)
    slots: list[BufferSlot] = []
    slot_of: dict[SSAValue, int] = {}
    for number, arg in enumerate(func.args):
        slot_of[arg] = len(slots)
        kind = "input" if number < inputs else "output"
        slots.append(BufferSlot(kind, number if number < inputs else number - inputs, byte_size(buffer_type(arg)) or 0))
    launches: list[Launch] = []
    for op in func.body.block.ops:
        match op:
            case memory.AllocOp():
                slot_of[op.memref] = len(slots)
                slots.append(BufferSlot("workspace", len(slots), byte_size(buffer_type(op.memref)) or 0))
            case memory.ConstantOp():
                slot_of[op.memref] = len(slots)
                values = dense_bytes(op.value)
                slots.append(BufferSlot("constant", len(slots), len(values), values))
            case memory.ViewOp():
                slot_of[op.result] = slot_of[op.source]
            case ascend.LaunchOp():
                kernel = kernels[op.kernel.root_reference.data]
                arguments = tuple(slot_of[v] for v in op.arguments)
                launches.append(Launch(kernel.sym_name.data, kernel.block_dim.value.data, arguments))
            case ReturnOp():
                pass
            case _:
                raise PassFailedException(f"{op.name} cannot stand in the host function @{name}")
    return Plan(tuple(slots), tuple(launches), inputs, len(func.args) - inputs)
