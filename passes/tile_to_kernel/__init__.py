"""tile-to-kernel: each fused group becomes a kernel; the function becomes the host program that launches them.

    func.func @f(%x: tensor<…>) -> tensor<…>          ascend.kernel @f_0(%x: memref<…, gm>, %y: memref<…, gm>) { … }
      %r = ascend.fused (%x) { … }               →    func.func @f(%x: memref<…, gm>, %y: memref<…, gm>)
      return %r                                         ascend.launch @f_0(%x, %y)

Results are written in destination style: outputs follow inputs in the argument list; values between kernels get GM work space. Read
`nest.py` (what runs), `program.py` (which instructions), `tiling.py` (how large), `build.py` (the IR), in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FunctionType, IntegerAttr, ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects import ascend, memory
from ascir.dialects.types import shape_of, tensor_type
from ascir.machine.layout import View, num_elements, strides_of
from ascir.machine.target import ASCEND910B, Target, parse_target
from ascir.passes.operators import refuse
from ascir.passes.tile_to_kernel.build import build_kernel, gm_type
from ascir.passes.tile_to_kernel.nest import NotLowerable, nests_of


@dataclass(frozen=True)
class TileToKernelPass(ModulePass):
    """Lower fused groups to kernels."""

    name = "tile-to-kernel"

    target: str = ASCEND910B.name
    block_dim: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = parse_target(self.target)
        for func in list(op.ops):
            if isinstance(func, FuncOp) and not func.is_declaration and _has_tensors(func):
                _Host(func, target, self.block_dim).run()


def _has_tensors(func: FuncOp) -> bool:
    return any(isinstance(t, TensorType) for t in (*func.function_type.inputs, *func.function_type.outputs))


class _Host:
    """Rewrites one function into its host program."""

    def __init__(self, func: FuncOp, target: Target, block_dim: int | None):
        self.func = func
        self.target = target
        self.block_dim = block_dim
        self.name = func.sym_name.data
        self.old = func.body.block
        self.block = Block()
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.kernels = 0

    def run(self) -> None:
        last = self.old.last_op
        assert isinstance(last, ReturnOp)
        for arg in self.old.args:
            self.buffers[arg] = self._argument(arg, arg.name_hint)
        for k, value in enumerate(last.arguments):
            self._output(value, k, len(last.arguments))
        for op in self.old.ops:
            match op:
                case ascend.FusedOp():
                    self._launch(op)
                case ascend.ReshapeOp():
                    self._alias(op)
                case ascend.ConstantOp():
                    self._constant(op)
                case ReturnOp():
                    pass
                case _:
                    raise PassFailedException(f"tile-to-kernel: {op.name} stands outside a group; run fuse-operators first")
        end = ReturnOp()
        end.location = last.location
        self.block.add_op(end)
        self._replace()

    def _argument(self, value: SSAValue, hint: str | None) -> SSAValue:
        type_ = tensor_type(value)
        if not type_.has_static_shape():
            refuse(self.func, f"tile-to-kernel: {type_} has unknown dimensions; give shapes (infer-shapes fills them)")
        arg = self.block.insert_arg(gm_type(type_), len(self.block.args))
        arg.name_hint = hint
        return arg

    def _output(self, value: SSAValue, number: int, count: int) -> None:
        """An argument for a result; a result that reshapes another value lends it its memory."""
        buffer = self._argument(value, "out" if count == 1 else f"out{number}")
        while isinstance(value.owner, ascend.ReshapeOp):
            self.buffers[value] = buffer
            value = value.owner.x
            buffer = self._reshaped(buffer, shape_of(value))
        if value in self.buffers:
            raise PassFailedException("tile-to-kernel: a result that is an argument or another result needs a copy; run fuse-operators")
        self.buffers[value] = buffer

    def _reshaped(self, buffer: SSAValue, shape: Sequence[int]) -> SSAValue:
        view = memory.ViewOp(buffer, 0, shape, strides_of(shape))
        self.block.add_op(view)
        return view.result

    def _alias(self, op: ascend.ReshapeOp) -> None:
        if op.result not in self.buffers:
            self.buffers[op.result] = self._reshaped(self.buffers[op.x], shape_of(op.result))

    def _constant(self, op: ascend.ConstantOp) -> None:
        if not isinstance(op.value, DenseIntOrFPElementsAttr):
            raise PassFailedException("tile-to-kernel: a constant stands outside a group; run fuse-operators first")
        type_ = tensor_type(op.result)
        constant = memory.ConstantOp(op.value, gm_type(type_))
        constant.location = op.location
        self.block.add_op(constant)
        self.buffers[op.result] = constant.memref

    def _launch(self, op: ascend.FusedOp) -> None:
        for value in op.outputs:
            if value not in self.buffers:
                alloc = memory.AllocOp(f"{self.name}_{value.name_hint or 'workspace'}", gm_type(tensor_type(value)))
                alloc.location = op.location
                self.block.add_op(alloc)
                self.buffers[value] = alloc.memref
        outputs = [k for k, v in enumerate(op.outputs) if num_elements(shape_of(v))]
        if not outputs:
            return
        name = f"{self.name}_{self.kernels}"
        self.kernels += 1
        operands = [self.buffers[v] for v in (*op.inputs, *op.outputs)]
        hints = [v.name_hint or f"in{k}" for k, v in enumerate(op.body.block.args)]
        hints += ["out" if len(op.outputs) == 1 else f"out{k}" for k in range(len(op.outputs))]
        try:
            nests = nests_of(op.body.block, [View.contiguous(shape_of(v)) for v in op.outputs], self.target)
        except NotLowerable as reason:
            raise PassFailedException(f"tile-to-kernel: a group cannot be one kernel: {reason}; run fuse-operators") from None
        types = [v.type for v in operands]
        kernel = build_kernel(
            name, nests, types, _distinct(hints), len(op.inputs), self.target, self.block_dim, op.location  # pyright: ignore[reportArgumentType]
        )
        parent = self.func.parent_block()
        assert parent is not None
        parent.insert_op_before(kernel, self.func)
        launch = ascend.LaunchOp(name, operands)
        launch.location = op.location
        self.block.add_op(launch)

    def _replace(self) -> None:
        region = self.func.body
        location = self.func.location
        new = FuncOp(self.name, FunctionType.from_lists(list(self.block.arg_types), []), Region(self.block))
        new.location = location
        new.attributes = {**self.func.attributes, "inputs": IntegerAttr(len(self.old.args), i64)}
        parent = self.func.parent_block()
        assert parent is not None and region is not None
        parent.insert_op_before(new, self.func)
        parent.erase_op(self.func)


def _distinct(names: Sequence[str]) -> list[str]:
    """Names made different by a number where they clash."""
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        result.append(name if not seen[name] else f"{name}_{seen[name]}")
    return result
