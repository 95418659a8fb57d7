"""ascend_memory on NumPy: windows on buffers and copies between them.

The interpreter runs every op to its end before the next, so flags and barriers have nothing to order; that each is where it must
be is the business of `verify-sync` and of the emulator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from ascir.dialects.memory import AllocOp, BarrierOp, ConstantOp, CopyOp, ScalarCopyOp, SetFlagOp, ViewOp, WaitFlagOp
from ascir.dialects.types import buffer_type, dtype_of

from .buffers import Core, Window, allocate, argument
from .numerics import dense


@register_impls
class MemoryFunctions(InterpreterFunctions):
    """Buffers of a kernel belong to its core; a workspace of a host function is made where it stands."""

    def __init__(self, core: Core):
        self.core = core

    @impl(AllocOp)
    def alloc(self, interpreter: Interpreter, op: AllocOp, args: PythonValues) -> PythonValues:
        return (self.core.buffers.get(op) or allocate(op),)

    @impl(ConstantOp)
    def constant(self, interpreter: Interpreter, op: ConstantOp, args: PythonValues) -> PythonValues:
        type_ = buffer_type(op.memref)
        values = dense(op.value, dtype_of(type_).to_numpy()).reshape(type_.get_shape())
        return (argument(values, type_),)

    @impl(ViewOp)
    def view(self, interpreter: Interpreter, op: ViewOp, args: PythonValues) -> PythonValues:
        source: Window = args[0]
        dynamic = iter(args[1:])
        offset, sizes, strides = (_mixed(part.get_values(), dynamic) for part in (op.static_offset, op.static_sizes, op.static_strides))
        return (Window(source.memory, source.dtype, sizes, strides, source.start + offset[0]),)

    @impl(CopyOp)
    def copy(self, interpreter: Interpreter, op: CopyOp, args: PythonValues) -> PythonValues:
        source, destination = args
        destination.write(source.array())
        return ()

    @impl(ScalarCopyOp)
    def scalar_copy(self, interpreter: Interpreter, op: ScalarCopyOp, args: PythonValues) -> PythonValues:
        source, destination = args
        destination.write(source.array())
        return ()

    @impl(SetFlagOp)
    def set_flag(self, interpreter: Interpreter, op: SetFlagOp, args: PythonValues) -> PythonValues:
        return ()

    @impl(WaitFlagOp)
    def wait_flag(self, interpreter: Interpreter, op: WaitFlagOp, args: PythonValues) -> PythonValues:
        return ()

    @impl(BarrierOp)
    def barrier(self, interpreter: Interpreter, op: BarrierOp, args: PythonValues) -> PythonValues:
        return ()


def _mixed(static: Sequence[int], dynamic: Iterator[int]) -> tuple[int, ...]:
    return tuple(next(dynamic) if value == DYNAMIC_INDEX else value for value in static)
