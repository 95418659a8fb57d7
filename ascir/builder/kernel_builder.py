"""`KernelBuilder`: the explicit way to write a kernel, one instruction a line, in Python.

    k = ascir.KernelBuilder("vadd")
    x, y, z = k.gm("x", "float32"), k.gm("y", "float32"), k.gm("z", "float32", output=True)
    n = k.scalar("n", "int64")
    …
    kernel = k.build()
    kernel[8](xa, ya, za, na)

Each method appends ops and checks them at once. Read `body.py` for where ops go, `buffers.py` for slices, `instructions.py` for the
vector instructions, `control.py` for loops and branches, `kernel.py` for what `build` returns.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Attribute, BlockArgument, Region, SSAValue

from ascir.diagnostics import AscirError, did_you_mean
from ascir.dialects.ascend import BlockIdxOp, BlockNumOp, KernelOp
from ascir.dialects.memory import AllocOp, BarrierOp, CopyOp, Pipe, ScalarCopyOp, SetFlagOp, Space, SpaceAttr, WaitFlagOp
from ascir.dialects.types import buffer, element_type
from ascir.machine.dtypes import DType
from ascir.machine.instructions import BY_NAME
from ascir.machine.layout import round_up
from ascir.machine.target import ASCEND910B, parse_target
from ascir.passes.pipeline import SYNC

from .body import INDEX, Body, DTypeLike
from .buffers import Buffer, Mask, mask_bytes, row_major
from .control import Branch, Else, Loop
from .instructions import SLICE_BOTH, Issuer, may_pair
from .kernel import Extent, Kernel, Parameter
from .values import (
    Condition,
    ConditionLike,
    Index,
    IndexLike,
    Scalar,
    as_index,
    condition_value,
    greatest,
    index_value,
    least,
    select_number,
)


class KernelBuilder(Issuer):
    """A kernel under construction.

    `name` becomes the kernel's symbol and a C function. Arguments are declared by `gm` and `scalar`, in the order in which the
    kernel takes them. Every method raises AscirError, at the caller's line, for what the machine cannot do.
    """

    def __init__(self, name: str):
        self.body = Body()
        self.name = self._identifier(name, "a kernel's name")
        self._made = self.body.here().location
        self._parameters: list[Parameter] = []
        self._labels: set[str] = set()
        self._flags: list[str] = []

    # arguments

    def gm(self, name: str, dtype: DTypeLike, shape: Sequence[IndexLike | None] | int | None = (None,), *, output: bool = False) -> Buffer:
        """An array argument in global memory.

        `shape` holds an int for a size every call has, None (or -1) for one that differs between calls, or an `Index` made of
        scalar arguments, which each call's array must then have. Rows can be told apart only if all dimensions but the first
        are ints or indices. An `output` may be written (and read: it is passed in and out).
        """
        element = self.body.dtype(dtype)
        sizes = [self._extent(size) for size in (shape if isinstance(shape, Sequence) else (shape,))]
        static = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
        value = self._argument(name, buffer(static, element, SpaceAttr(Space.GM)))
        extents = tuple(self._call_extent(size) for size in sizes)
        self._parameters.append(Parameter(name, element, extents, output))
        return Buffer(self.body, name, value, element, Space.GM, row_major(sizes))

    def scalar(self, name: str, dtype: DTypeLike = "int64") -> Any:
        """A number argument: an `Index` for an integer dtype, which calls must fit; a `Scalar` for float32, float16, bfloat16."""
        element = self.body.dtype(dtype)
        if element.kind == "bool" or element.name == "ui64":
            self.body.fail(f"a scalar argument is a float or an integer that int64 holds, got {element.numpy}")
        value = self._argument(name, INDEX if element.is_integer else element_type(element))
        self._parameters.append(Parameter(name, element, None))
        return Index(self.body, {value: 1}) if element.is_integer else Scalar(self.body, value)

    def _argument(self, name: str, type_: Attribute) -> SSAValue:
        self._identifier(name, "an argument's name")
        if any(name == parameter.name for parameter in self._parameters):
            self.body.fail(f"{self.name} has an argument {name} already")
        if self.body.sealed:
            self.body.fail(f"{self.name} is built already", "declare arguments before `build`")
        block = self.body.entry.block
        value = block.insert_arg(type_, len(block.args))
        value.location = self.body.here().location
        value.name_hint = name
        return value

    def _identifier(self, name: str, what: str) -> str:
        if not (isinstance(name, str) and name.isidentifier() and name.isascii()) or keyword.iskeyword(name):  # pyright: ignore[reportUnnecessaryIsInstance]
            self.body.fail(f"{what} is an identifier of ASCII letters, digits and underscores, got {name!r}")
        return name

    def _extent(self, size: IndexLike | None) -> IndexLike | None:
        if size is None or (isinstance(size, int) and size == -1):
            return None
        size = as_index(self.body, size)
        if isinstance(size, int) and size < 0:
            self.body.fail(f"a dimension is 0 or more, or None where it is unknown; got {size}")
        return size

    def _call_extent(self, size: IndexLike | None) -> Extent:
        """A dimension as a call can check it: in terms of argument numbers."""
        if not isinstance(size, Index):
            return size
        args = self.body.entry.block.args
        if not all(isinstance(value, BlockArgument) and value in args for value in size.terms):
            self.body.fail(f"a dimension of an argument is made of scalar arguments, got {size!r}")
        return [(args.index(value), factor) for value, factor in size.terms.items()], size.constant

    # memory

    def alloc(self, name: str, shape: Sequence[int] | int, dtype: DTypeLike, space: str = "ub", *, pitch: int | None = None) -> Buffer:
        """A buffer of known `shape` in on-chip memory, for the whole kernel; `plan-memory` places it.

        `pitch` is the distance in elements from one row of a 2-d buffer to the next, where it is more than the row: vector
        instructions and copies want the rows of a matrix 32 B-aligned.
        """
        element = self.body.dtype(dtype)
        where = self._space(space)
        sizes = [self._static(size, name) for size in (shape if isinstance(shape, Sequence) else (shape,))]
        width = sizes[-1] if sizes else 1
        if pitch is not None and (len(sizes) != 2 or pitch < width):
            self.body.fail(f"the pitch of {name} is the distance between rows of a 2-d buffer, at least {width} elements; got {pitch}")
        stored = sizes if pitch is None else [sizes[0], pitch]
        label = self._label(name)
        op = AllocOp(label, buffer(stored, element, SpaceAttr(where)))
        self.body.append(op, self.body.entry)
        whole = Buffer(self.body, label, op.memref, element, where, row_major(stored))
        return whole if pitch is None or pitch == width else whole[:, :width]

    def alloc_mask(self, shape: Sequence[int] | int, name: str | None = None) -> Mask:
        """A mask in UB of one bit for each element of `shape` (1-d or 2-d), each row's bits on a 32 B block of their own.

        It is named after the variable it is assigned to unless `name` is given.
        """
        name = name or self.body.here().variable or "mask"
        sizes = [self._static(size, name) for size in (shape if isinstance(shape, Sequence) else (shape,))]
        if len(sizes) not in (1, 2):
            self.body.fail(f"a mask has one or two dimensions, got {len(sizes)}")
        width = mask_bytes(sizes[-1])
        pitch = round_up(width, ASCEND910B.block_bytes) if len(sizes) == 2 else None
        return Mask(self.alloc(name, (*sizes[:-1], width), "uint8", pitch=pitch), sizes)

    def workspace(self, elements: int, dtype: DType) -> Buffer:
        return self.alloc("work", elements, dtype)

    def _space(self, name: str) -> Space:
        known = [space.name.lower() for space in Space if space is not Space.GM]
        if name.lower() == "gm":
            self.body.fail("a kernel allocates on-chip memory; global memory is passed in", "declare it with `k.gm`")
        if name.lower() not in known:
            self.body.fail(f"unknown space '{name}'; the AI Core has {', '.join(known)}", did_you_mean(name, known))
        return Space(name.lower())

    def _static(self, size: object, name: str) -> int:
        size = as_index(self.body, size)
        if not isinstance(size, int) or size < 0:
            self.body.fail(f"buffer {name} needs sizes known now, got {size!r}", "allocate the most it can need and take a slice")
        return size

    def _label(self, name: str) -> str:
        """A label no other buffer has: reports and messages name buffers by it."""
        label, number = name, 0
        while label in self._labels:
            number += 1
            label = f"{name}_{number}"
        self._labels.add(label)
        return label

    # moves

    def copy(self, source: Buffer, out: Buffer | None = None) -> Buffer:
        """One DMA from `source` to `out` (1-d: a row; 2-d: rows), or `ascend_vector.copy` where both are in UB. Returns out."""
        a, b = self._moved("copy", source, out)
        if (a.space, b.space) == (Space.UB, Space.UB):
            return self.issue(BY_NAME["copy"], (a,), b)
        return self._move(CopyOp, "copy", a, b)

    def scalar_copy(self, source: Buffer, out: Buffer | None = None) -> Buffer:
        """Elements one by one on pipe S between GM and UB: any strides, and slow. Returns out."""
        return self._move(ScalarCopyOp, "scalar_copy", *self._moved("scalar_copy", source, out))

    def _moved(self, name: str, source: object, out: object) -> tuple[Buffer, Buffer]:
        for role, value in (("source", source), ("out", out)):
            if not isinstance(value, Buffer):
                hint = "of a mask, copy its `.bytes`" if isinstance(value, Mask) else f"`k.{name}(source, out)`"
                self.body.fail(f"{name}: {role} is a buffer, got {type(value).__name__}", hint)
        assert isinstance(source, Buffer) and isinstance(out, Buffer)
        return source, out

    def _move(self, op: type[CopyOp | ScalarCopyOp], name: str, source: Buffer, out: Buffer) -> Buffer:
        self._check_writable(out)
        for a, b in zip(source.known_shape(), out.known_shape(), strict=False):
            if not may_pair(a, b):
                self.body.fail(f"{name}: source has {a!r} elements and out {b!r}; they may differ", SLICE_BOTH)
        self.body.append(op(source.value, out.value))
        return out

    def _check_writable(self, out: Buffer) -> None:
        if out.space is not Space.GM:
            return
        parameter = next(p for p in self._parameters if p.name == out.name)
        if not parameter.output:
            self.body.fail(f"{out.name} is an input, so the kernel may not write it", f"declare `k.gm({out.name!r}, …, output=True)`")
        parameter.written = True

    def load(self, source: Buffer, index: IndexLike | tuple[IndexLike, ...] = 0) -> Any:
        """One element of a UB buffer in a scalar register (pipe S): an `Index`, a `Scalar` or, of bools, a `Condition`."""
        indices = self._element("load", source, index)
        value = self.body.result(memref.LoadOp.get(source.value, indices))
        if source.dtype.kind == "bool":
            return Condition(self.body, value)
        if source.dtype.is_float:
            return Scalar(self.body, value)
        return Index(self.body, {self.body.once((arith.IndexCastOp, value), lambda: arith.IndexCastOp(value, INDEX)): 1})

    def store(self, out: Buffer, index: IndexLike | tuple[IndexLike, ...], value: Any) -> None:
        """Write one element of a UB buffer (pipe S). An integer buffer keeps the low bits of an `Index`."""
        indices = self._element("store", out, index)
        number = self.number("store", value, out.dtype, element_type(out.dtype))
        self.body.append(memref.StoreOp.get(number, out.value, indices))

    def _element(self, name: str, target: object, index: IndexLike | tuple[IndexLike, ...]) -> list[SSAValue]:
        if not isinstance(target, Buffer) or target.space is not Space.UB:
            got = f"{target!r}" if isinstance(target, Buffer) else type(target).__name__
            self.body.fail(f"{name} reaches buffers in ub, got {got}", "copy it to UB first: `k.copy`")
        indices = [as_index(self.body, i) for i in (index if isinstance(index, tuple) else (index,))]
        if len(indices) != target.ndim:
            self.body.fail(f"{name} takes an index for each of the {target.ndim} dimensions of {target.name}, got {len(indices)}")
        for axis, (i, size) in enumerate(zip(indices, target.shape, strict=True)):
            if isinstance(i, int) and (i < 0 or (isinstance(size, int) and i >= size)):
                self.body.fail(f"{name}: index {i} is outside dimension {axis} of {target.name}, which has {size!r} elements")
        return [index_value(self.body, i) for i in indices]

    # numbers

    @property
    def block_idx(self) -> Index:
        """The number of this core, 0 … block_num − 1."""
        return Index(self.body, {self.body.at_entry(BlockIdxOp, BlockIdxOp, "block_idx"): 1})

    @property
    def block_num(self) -> Index:
        """How many cores run the kernel."""
        return Index(self.body, {self.body.at_entry(BlockNumOp, BlockNumOp, "block_num"): 1})

    def min(self, a: Any, b: Any, out: Any = None) -> Any:
        """The smaller of two numbers (indices, or floats: NaN if one is NaN); of two buffers, the instruction `min` into `out`."""
        return self.issue(BY_NAME["min"], (a, b), out) if isinstance(a, Buffer | Mask) else least(self.body, a, b)

    def max(self, a: Any, b: Any, out: Any = None) -> Any:
        """The larger of two numbers (indices, or floats: NaN if one is NaN); of two buffers, the instruction `max` into `out`."""
        return self.issue(BY_NAME["max"], (a, b), out) if isinstance(a, Buffer | Mask) else greatest(self.body, a, b)

    def where(self, condition: ConditionLike, a: Any, b: Any) -> Any:
        """`a` if the condition holds, else `b`: two indices, or two floats of one dtype."""
        return select_number(self.body, condition, a, b)

    # loops and branches

    def for_(self, *bounds: IndexLike) -> Loop:
        """`with k.for_(stop) as i:`, `k.for_(start, stop)`, `k.for_(start, stop, step)`: Python's `range` with a positive step."""
        if not 1 <= len(bounds) <= 3:
            self.body.fail(f"for_ takes stop, or start and stop, or start, stop and step; got {len(bounds)} numbers")
        numbers = [as_index(self.body, bound) for bound in bounds]
        start, stop, step = [*([0] if len(numbers) == 1 else []), *numbers, 1][:3]
        if isinstance(step, int) and step < 1:
            self.body.fail(f"for_ counts upwards, got step {step}", "count up and use `stop - 1 - i`")
        return Loop(self.body, start, stop, step)

    def if_(self, condition: ConditionLike) -> Branch:
        """`with k.if_(condition):`, run by the cores for which it holds; `with k.else_():` may follow."""
        return Branch(self.body, condition_value(self.body, condition))

    def else_(self) -> Else:
        """The other branch of the `if_` that ended just before."""
        return Else(self.body)

    # order between pipes, for sync="manual"

    def set_flag(self, source: str, destination: str, event: int = 0) -> None:
        """Fires flag `event` (0–7) for pipe `destination` when earlier work of `source` has completed ("MTE2", "V", …)."""
        self._flag("set_flag", SetFlagOp(self._pipe(source), self._pipe(destination), self._event(event)))

    def wait_flag(self, source: str, destination: str, event: int = 0) -> None:
        """Pipe `destination` waits for flag `event` from pipe `source`, and clears it."""
        self._flag("wait_flag", WaitFlagOp(self._pipe(source), self._pipe(destination), self._event(event)))

    def barrier(self, pipe: str = "ALL") -> None:
        """Later work of `pipe` (or of "ALL") waits for its earlier work."""
        self._flag("barrier", BarrierOp(self._pipe(pipe)))

    def _flag(self, name: str, op: Any) -> None:
        self.body.append(op)
        self._flags.append(name)

    def _event(self, event: object) -> int:
        event = as_index(self.body, event)
        if not isinstance(event, int):
            self.body.fail(f"an event id is a number known now, got {event!r}")
        return event

    def _pipe(self, name: str) -> Pipe:
        known = [pipe.name for pipe in Pipe]
        if not isinstance(name, str) or name.upper() not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
            self.body.fail(f"unknown pipe {name!r}; the AI Core has {', '.join(known)}", did_you_mean(str(name).upper(), known))
        return Pipe(name.lower())

    # the result

    def build(self, *, sync: str = "auto", block_dim: int = 1, target: str = ASCEND910B.name) -> Kernel:
        """The kernel, ready to print, compile and launch; nothing can be added to the builder afterwards.

        `sync="auto"` places flags and barriers; `sync="manual"` keeps the author's, and compiling refuses a kernel in which one is
        missing; `sync="unchecked"` leaves that to the emulator, which names the two instructions that collide when they do.
        `block_dim` is the number of cores where a launch names none.
        """
        self._check_complete(sync, block_dim, target)
        self.body.sealed = True
        module = ModuleOp([self._kernel_op(block_dim)])
        module.location = self._made
        return Kernel(module, tuple(self._parameters), sync=sync, target=target)

    def _check_complete(self, sync: str, block_dim: int, target: str) -> None:
        if self.body.sealed:
            self.body.fail(f"{self.name} is built already")
        if sync not in SYNC:
            self.body.fail(f"sync is {', '.join(map(repr, SYNC))}; got {sync!r}")
        if not isinstance(block_dim, int) or block_dim < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            self.body.fail(f"block_dim is the number of cores, 1 or more; got {block_dim!r}")
        try:
            parse_target(target)
        except ValueError as error:
            self.body.fail(str(error))
        if sync == "auto" and self._flags:
            self.body.fail(f"{self.name} calls {self._flags[0]}, but sync='auto' places the flags", "build(sync='manual') keeps yours")
        if len(self.body.scopes) > 1:
            self.body.fail(f"{self.name} is built inside a loop or branch that is still open")
        for nested in self.body.unopened:
            self.body.fail("a loop or branch is without its `with`", "write `with k.for_(…) as i:`, `with k.if_(…):`", nested)
        unwritten = next((p.name for p in self._parameters if p.output and not p.written), None)
        if unwritten is not None:
            self.body.fail(f"nothing writes the output {unwritten} of {self.name}", "copy to it, or declare it without output=True")

    def _kernel_op(self, block_dim: int) -> KernelOp:
        region = Region(self.body.entry.block)
        op = KernelOp(self.name, self.body.entry.block.arg_types, block_dim, region)
        for made in filter(None, (op, op.body.block.last_op)):
            made.location = self._made
        return op

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Only what is not there comes here; the nearest instruction is named."""
        if name.startswith("_") or "body" not in self.__dict__:
            raise AttributeError(name)
        known = [n for n in dir(type(self)) if not n.startswith("_")]
        raise UnknownMethod(f"KernelBuilder has no method {name}", self.body.here().location, hint=did_you_mean(name, known))


class UnknownMethod(AscirError, AttributeError):
    """Also an AttributeError, so that `hasattr` works."""
