"""Buffers of the interpreter: a window of a flat stretch of bytes, as `ascend_memory.view` describes it.

A window keeps the whole buffer beneath it, so that a view of a view counts from the right place and no access leaves the
buffer. Fresh memory holds poison (NaN, or bytes of 0xAA), which makes a read before the first write visible in the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import InterpretationError

from ascir.dialects.ascend import KernelOp
from ascir.dialects.memory import AllocOp, Space, space_of
from ascir.dialects.types import Buffer, buffer_type, byte_size, dtype_of
from ascir.machine.dtypes import BLOCK_BYTES
from ascir.machine.layout import num_elements, strides_of

from .numerics import Array, DType, from_numpy

_POISON_BYTE = 0xAA


@dataclass(frozen=True, slots=True)
class Window:
    """Elements `start + Σ i_k · strides[k]` of `memory`, a flat array of bytes; start and strides count elements of `dtype`."""

    memory: NDArray[np.uint8]
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int = 0

    def array(self) -> Array:
        """A NumPy view of the window. Raises InterpretationError where it leaves the buffer."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        lowest = self.start + sum(min(0, r) for r in reach)
        highest = self.start + sum(max(0, r) for r in reach)
        room = self.memory.size // self.dtype.itemsize
        if lowest < 0 or highest >= room:
            raise InterpretationError(f"access to elements {lowest} to {highest} of a buffer with {room}")
        size = self.dtype.itemsize
        return np.ndarray(self.shape, self.dtype, self.memory, self.start * size, tuple(s * size for s in self.strides))

    def lanes(self) -> Array:
        """The window as a vector source: where the column stride is 0, lane j reads element j mod (32 B / size) of a block."""
        if self.strides[-1] or self.shape[-1] == 1:
            return self.array()
        columns = self.shape[-1]
        block = min(columns, BLOCK_BYTES // self.dtype.itemsize)
        first = Window(self.memory, self.dtype, (*self.shape[:-1], block), (*self.strides[:-1], 1), self.start)
        return first.array()[..., np.arange(columns) % block]

    def write(self, value: Array) -> None:
        """Store `value`, of exactly this shape."""
        if value.shape != self.shape:
            raise InterpretationError(f"shape {value.shape} written to a buffer of shape {self.shape}")
        self.array()[...] = value

    def poison(self) -> None:
        """Make the contents recognisably no one's: NaN for floats, bytes of 0xAA for integers, true for bools."""
        row = from_numpy(self.dtype)
        if row is not None and row.is_float:
            self.array()[...] = np.nan
        elif self.dtype == np.bool_:
            self.array()[...] = True
        else:
            self.array()[...] = np.full(self.dtype.itemsize, _POISON_BYTE, np.uint8).view(self.dtype)[0]


@dataclass
class Core:
    """What a running kernel can ask of the core it runs on: which of how many, and the buffers it holds."""

    block: int = 0
    blocks: int = 1
    buffers: dict[AllocOp, Window] = field(default_factory=lambda: dict[AllocOp, Window]())


def argument(array: Array, type_: Buffer) -> Window:
    """The caller's array as a GM buffer, shared and not copied.

    Raises ValueError unless it has the memref's dtype and size and is C-contiguous.
    """
    dtype, shape = dtype_of(type_).to_numpy(), type_.get_shape()
    if DYNAMIC_INDEX in shape:
        fits = array.ndim == len(shape) and all(a in (b, DYNAMIC_INDEX) for a, b in zip(shape, array.shape, strict=True))
        shape = array.shape
    else:
        fits = array.size == num_elements(shape)
    if array.dtype != dtype or not fits:
        raise ValueError(f"an array of {array.dtype} and shape {array.shape} was passed for {type_}")
    if not array.flags.c_contiguous:
        raise ValueError(f"the array passed for {type_} is not C-contiguous; pass np.ascontiguousarray of it")
    return Window(array.reshape(-1).view(np.uint8), dtype, tuple(shape), strides_of(shape))


def allocate(op: AllocOp, memory: NDArray[np.uint8] | None = None) -> Window:
    """A poisoned buffer for `op`, in `memory` at its planned offset or in bytes of its own."""
    type_, size = buffer_type(op.memref), _size(op)
    first = _offset(op) or 0
    bytes_ = np.empty(size, np.uint8) if memory is None else memory[first : first + size]
    window = Window(bytes_, dtype_of(type_).to_numpy(), type_.get_shape(), strides_of(type_.get_shape()))
    window.poison()
    return window


def allocate_all(kernel: KernelOp) -> dict[AllocOp, Window]:
    """Every buffer of a kernel. Those with an offset share their memory by it, so that a wrong plan shows in the result."""
    allocs = [op for op in kernel.walk() if isinstance(op, AllocOp)]
    memories = _memories([op for op in allocs if op.offset is not None])
    return {op: allocate(op, memories[space_of(op.memref)] if op.offset is not None else None) for op in allocs}


def _memories(planned: Sequence[AllocOp]) -> dict[Space, NDArray[np.uint8]]:
    ends: dict[Space, int] = defaultdict(int)
    for op in planned:
        space = space_of(op.memref)
        ends[space] = max(ends[space], (_offset(op) or 0) + _size(op))
    return {space: np.empty(end, np.uint8) for space, end in ends.items()}


def _offset(op: AllocOp) -> int | None:
    return None if op.offset is None else op.offset.value.data


def _size(op: AllocOp) -> int:
    size = byte_size(buffer_type(op.memref))
    assert size is not None, "the verifier wants a static shape"
    return size
