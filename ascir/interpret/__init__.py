"""The NumPy meaning of the three dialects: the oracle that every pass and the emulator are tested against.

`run_function` runs a function of tensor operators, or the host function that `tile-to-kernel` makes of it; `run_kernel` one
kernel. It shares no code with the C backend, and runs ops strictly in order: timing, flags and races are the emulator's. Start
reading at `numerics.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable
from xdsl.utils.hints import isa

from ascir.dialects.ascend import KernelOp
from ascir.dialects.types import Buffer, Tensor, dtype_of

from . import ascend
from .ascend import AscendFunctions
from .buffers import Core, argument
from .memory import MemoryFunctions
from .numerics import Array
from .upstream import UpstreamFunctions, scalar
from .vector import VectorFunctions

__all__ = ["new_interpreter", "run_function", "run_kernel"]

_Op = TypeVar("_Op", bound=Operation)


def run_function(module: ModuleOp, name: str, args: Sequence[Any]) -> list[Array]:
    """Call `func.func @name` and give its results, which own their memory.

    A tensor parameter takes an array of its dtype and shape, a memref parameter a C-contiguous array of its dtype and size that
    is shared (a host function writes its outputs in place and returns []), any other a number. Raises ValueError for an argument
    that does not fit, InterpretationError for an op without meaning here.
    """
    interpreter = new_interpreter(module)
    function = _symbol(module, name, FuncOp)
    values = _arguments(name, function.function_type.inputs.data, args)
    with np.errstate(all="ignore"):
        return [np.array(v) for v in interpreter.call_op(function, values)]


def run_kernel(module: ModuleOp, name: str, args: Sequence[Any], block_dim: int | None = None) -> None:
    """Run `ascend.kernel @name` for each block index in turn, all on the same arrays, which it writes in place.

    `block_dim` replaces the number of cores that the kernel declares. Arguments as in `run_function`.
    """
    core = Core()
    interpreter = new_interpreter(module, core)
    kernel = _symbol(module, name, KernelOp)
    values = _arguments(name, kernel.function_type.inputs.data, args)
    with np.errstate(all="ignore"):
        ascend.run_kernel(interpreter, core, kernel, values, block_dim)


def new_interpreter(module: ModuleOp, core: Core | None = None) -> Interpreter:
    """An xDSL interpreter that knows every op of ours, for those who want to run single ops (`run_op`)."""
    interpreter, core = Interpreter(module), core or Core()
    for functions in (FuncFunctions(), UpstreamFunctions(), AscendFunctions(core), MemoryFunctions(core), VectorFunctions()):
        interpreter.register_implementations(functions)
    return interpreter


def _symbol(module: ModuleOp, name: str, kind: type[_Op]) -> _Op:
    found = SymbolTable.lookup_symbol(module, name)
    if not isinstance(found, kind):
        raise ValueError(f"the module has no {kind.name} @{name}")
    return found


def _arguments(name: str, types: Sequence[Attribute], args: Sequence[Any]) -> tuple[Any, ...]:
    if len(types) != len(args):
        raise ValueError(f"@{name} takes {len(types)} arguments, got {len(args)}")
    return tuple(_argument(value, type_) for value, type_ in zip(args, types, strict=True))


def _argument(value: Any, type_: Attribute) -> Any:
    if isa(type_, Buffer):
        return argument(value, type_)
    return _tensor(np.asarray(value), type_) if isa(type_, Tensor) else scalar(value, type_)


def _tensor(array: Array, type_: Tensor) -> Array:
    shape = type_.get_shape()
    fits = array.ndim == len(shape) and all(d in (n, DYNAMIC_INDEX) for d, n in zip(shape, array.shape, strict=True))
    if array.dtype != dtype_of(type_).to_numpy() or not fits:
        raise ValueError(f"an array of {array.dtype} and shape {array.shape} was passed for {type_}")
    return array
