"""ascend on NumPy: operators on whole arrays, fused groups, and kernels run block after block.

Element-wise ops, casts and reductions take their arithmetic from `numerics.py`; movement is NumPy's own. A kernel's blocks run in
turn on the caller's arrays: a correct kernel cannot tell.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr
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
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import InterpretationError

from ascir.dialects import ascend
from ascir.dialects.types import dtype_of, is_static, shape_of

from . import numerics
from .buffers import Core, allocate_all
from .numerics import Array, DType


def _dtype(value: SSAValue) -> DType:
    return dtype_of(value.type).to_numpy()


def _static_shape(op: ascend.OperatorOp) -> tuple[int, ...]:
    shape = shape_of(op.result)
    if not is_static(shape):
        raise InterpretationError(f"{op.name} makes {op.result.type} of nothing; give it a static shape (infer-shapes)")
    return shape


def run_kernel(interpreter: Interpreter, core: Core, kernel: ascend.KernelOp, args: PythonValues, blocks: int | None) -> None:
    """Run every block of a kernel, on `blocks` cores or as many as it declares."""
    outside = (core.block, core.blocks, core.buffers)
    core.blocks = kernel.block_dim.value.data if blocks is None else blocks
    for block in range(core.blocks):
        core.block, core.buffers = block, allocate_all(kernel)
        interpreter.run_ssacfg_region(kernel.body, args, kernel.sym_name.data)
    core.block, core.blocks, core.buffers = outside


class AscendFunctions(InterpreterFunctions):
    """Operators and kernels; element-wise ops are added from `machine/operators.py`, below the class."""

    def __init__(self, core: Core):
        self.core = core

    @impl(ascend.CompareOp)
    def compare(self, interpreter: Interpreter, op: ascend.CompareOp, args: PythonValues) -> PythonValues:
        return (np.asarray(numerics.operator(op.predicate.data)(*args)),)

    @impl(ascend.SelectOp)
    def select(self, interpreter: Interpreter, op: ascend.SelectOp, args: PythonValues) -> PythonValues:
        return (numerics.choose(*args),)

    @impl(ascend.ClampOp)
    def clamp(self, interpreter: Interpreter, op: ascend.ClampOp, args: PythonValues) -> PythonValues:
        x, low, high = args
        return (np.asarray(np.minimum(np.maximum(x, low), high)),)

    @impl(ascend.CastOp)
    def cast(self, interpreter: Interpreter, op: ascend.CastOp, args: PythonValues) -> PythonValues:
        return (np.asarray(numerics.convert(args[0], _dtype(op.result), op.round.data)),)

    @impl(ascend.ConstantOp)
    def constant(self, interpreter: Interpreter, op: ascend.ConstantOp, args: PythonValues) -> PythonValues:
        shape, dtype = _static_shape(op), _dtype(op.result)
        if isinstance(op.value, DenseIntOrFPElementsAttr):
            return (numerics.dense(op.value, dtype).reshape(shape),)
        return (np.full(shape, numerics.number(op.number, dtype), dtype),)

    @impl(ascend.IotaOp)
    def iota(self, interpreter: Interpreter, op: ascend.IotaOp, args: PythonValues) -> PythonValues:
        shape = _static_shape(op)
        axis = op.axis.value.data % len(shape)
        index = np.arange(shape[axis]).astype(_dtype(op.result))
        return (np.broadcast_to(index.reshape([-1 if k == axis else 1 for k in range(len(shape))]), shape),)

    @impl(ascend.BroadcastOp)
    def broadcast(self, interpreter: Interpreter, op: ascend.BroadcastOp, args: PythonValues) -> PythonValues:
        shape = shape_of(op.result)
        known = (1,) * (len(shape) - args[0].ndim) + args[0].shape
        return (np.broadcast_to(args[0], [k if d == DYNAMIC_INDEX else d for d, k in zip(shape, known, strict=True)]),)

    @impl(ascend.ReshapeOp)
    def reshape(self, interpreter: Interpreter, op: ascend.ReshapeOp, args: PythonValues) -> PythonValues:
        return (args[0].reshape([-1 if d == DYNAMIC_INDEX else d for d in shape_of(op.result)]),)

    @impl(ascend.TransposeOp)
    def transpose(self, interpreter: Interpreter, op: ascend.TransposeOp, args: PythonValues) -> PythonValues:
        return (args[0].transpose(op.permutation.get_values()),)

    @impl(ascend.SliceOp)
    def slice_(self, interpreter: Interpreter, op: ascend.SliceOp, args: PythonValues) -> PythonValues:
        bounds = zip(args[0].shape, op.starts.get_values(), op.sizes.get_values(), op.steps.get_values(), strict=True)
        return (args[0][(*(_python_slice(*bound) for bound in bounds), ...)],)

    @impl(ascend.ConcatOp)
    def concat(self, interpreter: Interpreter, op: ascend.ConcatOp, args: PythonValues) -> PythonValues:
        return (np.concatenate(args, op.axis.value.data),)

    @impl(ascend.PadOp)
    def pad(self, interpreter: Interpreter, op: ascend.PadOp, args: PythonValues) -> PythonValues:
        x: Array = args[0]
        low, high = op.low.get_values(), op.high.get_values()
        shape = [a + d + b for a, d, b in zip(low, x.shape, high, strict=True)]
        result = np.full(shape, numerics.number(op.value.value.data, x.dtype), x.dtype)
        result[tuple(slice(a, a + d) for a, d in zip(low, x.shape, strict=True))] = x
        return (result,)

    @impl(ascend.ReduceOp)
    def reduce(self, interpreter: Interpreter, op: ascend.ReduceOp, args: PythonValues) -> PythonValues:
        return (numerics.reduce(op.kind.data, args[0], op.axes.get_values(), op.keepdims is not None),)

    @impl(ascend.FusedOp)
    def fused(self, interpreter: Interpreter, op: ascend.FusedOp, args: PythonValues) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, args, "fused")

    @impl_terminator(ascend.YieldOp)
    def yield_(self, interpreter: Interpreter, op: ascend.YieldOp, args: PythonValues) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl_terminator(ascend.ReturnOp)
    def return_(self, interpreter: Interpreter, op: ascend.ReturnOp, args: PythonValues) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(()), ()

    @impl(ascend.LaunchOp)
    def launch(self, interpreter: Interpreter, op: ascend.LaunchOp, args: PythonValues) -> PythonValues:
        kernel = interpreter.get_op_for_symbol(op.kernel)
        assert isinstance(kernel, ascend.KernelOp), "the verifier looked"
        run_kernel(interpreter, self.core, kernel, args, None)
        return ()

    @impl(ascend.BlockIdxOp)
    def block_idx(self, interpreter: Interpreter, op: ascend.BlockIdxOp, args: PythonValues) -> PythonValues:
        return (self.core.block,)

    @impl(ascend.BlockNumOp)
    def block_num(self, interpreter: Interpreter, op: ascend.BlockNumOp, args: PythonValues) -> PythonValues:
        return (self.core.blocks,)


def _python_slice(dim: int, start: int, size: int, step: int) -> slice:
    if size == DYNAMIC_INDEX:
        return slice(None)
    stop = start + size * step
    return slice(start, stop if stop >= 0 else None, step) if size else slice(0)


def _define(name: str, op_type: type[ascend.ElementwiseOp]) -> None:
    function = numerics.operator(name)

    def run(self: AscendFunctions, interpreter: Interpreter, op: ascend.ElementwiseOp, args: PythonValues) -> PythonValues:
        return (np.asarray(function(*args)),)

    setattr(AscendFunctions, f"run_{name}", impl(op_type)(run))


for _name, _op_type in ascend.ELEMENTWISE.items():
    _define(_name, _op_type)
register_impls(AscendFunctions)
