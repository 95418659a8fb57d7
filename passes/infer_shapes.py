"""infer-shapes: fills `?` dimensions from what is known: the shapes of arguments, and operators whose operands share one shape.

    func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32>        {arg-shapes=8x4}: every `?` becomes 8,
      %0 = ascend.broadcast %c : tensor<f32> to tensor<?x4xf32>  that of %0 too, because it is added to %x
      %1 = ascend.add %x, %0 : tensor<?x4xf32>

Sizes flow from operands to results, and between the operands of an element-wise operator, until nothing changes; a function
without `?` is left alone. Dimensions nobody knows stay `?`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException, VerifyException

from ascir.dialects import inference
from ascir.dialects.ascend import (
    BroadcastOp,
    CastOp,
    ClampOp,
    CompareOp,
    ConstantOp,
    ElementwiseOp,
    IotaOp,
    OperatorOp,
    ReshapeOp,
    SelectOp,
    SliceOp,
)
from ascir.dialects.inference import Shape, text
from ascir.dialects.types import is_static, shape_of, tensor, tensor_type
from ascir.machine.layout import num_elements
from ascir.passes.operators import element, functions, refuse


def of_same_shape(op: OperatorOp) -> Shape:
    """Operands and result have one shape: what any of them knows, all do."""
    shape = inference.same([*map(shape_of, op.operands), shape_of(op.result)])
    for operand in op.operands:
        refine(operand, shape)
    return shape


def of_broadcast(op: BroadcastOp) -> Shape:
    """A dimension of the operand that is not 1 is one of the result."""
    shape, to = shape_of(op.x), shape_of(op.result)
    inference.broadcast(shape, to)
    known = (1,) * (len(to) - len(shape)) + shape
    return tuple(size if dim == DYNAMIC_INDEX and size != 1 else dim for size, dim in zip(known, to, strict=True))


def of_reshape(op: ReshapeOp) -> Shape:
    """The number of elements fixes a single unknown dimension."""
    shape, to = shape_of(op.x), shape_of(op.result)
    if not is_static(shape) or to.count(DYNAMIC_INDEX) != 1:
        return inference.reshape(shape, to)
    rest = num_elements([d for d in to if d != DYNAMIC_INDEX])
    whole = tuple(num_elements(shape) // rest if d == DYNAMIC_INDEX and rest else d for d in to)
    return inference.reshape(shape, whole)


def of_slice(op: SliceOp) -> Shape:
    """A slice of a whole dimension has its size, once that is known."""
    sizes = op.sizes.get_values()
    known = [dim if size == DYNAMIC_INDEX else size for dim, size in zip(shape_of(op.x), sizes, strict=True)]
    op.sizes = DenseArrayBase.from_list(i64, known)
    return of_operands(op)


def of_operands(op: OperatorOp) -> Shape:
    """What the operator itself infers from its operands."""
    return op.infer().get_shape()


_RULES: dict[type[OperatorOp], Callable[[Any], Shape]] = {
    CompareOp: of_same_shape,
    SelectOp: of_same_shape,
    ClampOp: of_same_shape,
    CastOp: of_same_shape,
    BroadcastOp: of_broadcast,
    ReshapeOp: of_reshape,
    SliceOp: of_slice,
    ConstantOp: lambda op: shape_of(op.result),
    IotaOp: lambda op: shape_of(op.result),
}
"""How the shape of a result follows; element-wise operators are `of_same_shape`, all others infer it."""


def refine(value: SSAValue, shape: Shape) -> bool:
    """Fill unknown dimensions of a value from a shape; False if that taught nothing. VerifyException where the two contradict."""
    known = inference.same([shape_of(value), shape])
    if known == shape_of(value):
        return False
    new = Rewriter.replace_value_with_new_type(value, tensor(known, element(value)))
    if isinstance(new, BlockArgument) and isinstance(value, BlockArgument):
        new.location = value.location
    return True


def infer_once(block: Block) -> bool:
    """Walk the operators in order; whether any type changed."""
    before = [v.type for v in _values(block)]
    for op in block.ops:
        if not isinstance(op, OperatorOp):
            continue
        default = of_same_shape if isinstance(op, ElementwiseOp) else of_operands
        try:
            refine(op.result, _RULES.get(type(op), default)(op))
        except VerifyException as error:
            refuse(op, f"{op.name}: {error}")
    return before != [v.type for v in _values(block)]


def _values(block: Block) -> list[SSAValue]:
    return [*block.args, *(op.result for op in block.ops if isinstance(op, OperatorOp))]


def parse_shapes(spec: str) -> list[Shape]:
    """`8x128,?x4,` → [(8, 128), (?, 4), ()]."""
    return [tuple(_parse_dim(d, spec) for d in shape.split("x")) if shape else () for shape in spec.split(",")]


def _parse_dim(dim: str, spec: str) -> int:
    if dim == "?":
        return DYNAMIC_INDEX
    if not dim.isdecimal():
        raise PassFailedException(f"infer-shapes: '{dim}' in arg-shapes={spec} is no size; write 8x128 or ?x128 for each argument")
    return int(dim)


@dataclass(frozen=True)
class InferShapesPass(ModulePass):
    """Fill unknown dimensions. `arg_shapes` gives those of the arguments of the module's function: `8x128,128`."""

    name = "infer-shapes"

    arg_shapes: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function, block in functions(op):
            if self.arg_shapes:
                self._refine_arguments(function, parse_shapes(self.arg_shapes))
            if all(is_static(tensor_type(v).get_shape()) for v in _values(block)):
                continue
            while infer_once(block):
                pass
            function.update_function_type()

    def _refine_arguments(self, function: FuncOp, shapes: Sequence[Shape]) -> None:
        name, arguments = function.sym_name.data, function.args
        if len(shapes) != len(arguments):
            found = f"arg-shapes={self.arg_shapes} names {len(shapes)} shapes"
            raise PassFailedException(f"{self.name}: {found}, but @{name} takes {len(arguments)} arguments")
        for number, (argument, shape) in enumerate(zip(arguments, shapes, strict=True)):
            try:
                refine(argument, shape)
            except VerifyException:
                raise PassFailedException(
                    f"{self.name}: argument {number} of @{name} is {argument.type}, which {text(shape)} does not fit"
                ) from None
