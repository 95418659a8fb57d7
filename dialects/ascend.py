"""ascend: operators on tensors, and the kernels they become.

The operator half works on `tensor` values and knows nothing of memories: element-wise ops made from `machine/operators.py`,
movement (broadcast, reshape, transpose, slice, concat, pad) and reductions; operands of element-wise ops have one shape, made so by
`ascend.broadcast`. The kernel half is what `tile-to-kernel` leaves: `ascend.kernel`, run by `ascend.launch`. Read `inference.py` for
shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.interfaces import HasCanonicalizationPatternsInterface, HasFolderInterface
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    ConstantLike,
    HasAncestor,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from ascir.dialects import inference
from ascir.dialects.memory import Space, space_of
from ascir.dialects.types import ConstantValue, Tensor, dtype_of, shape_of, tensor, tensor_type
from ascir.machine.dtypes import DType
from ascir.machine.instructions import ROUND_MODES
from ascir.machine.operators import BINARY, OPERATORS, PREDICATES, REDUCE_KINDS, UNARY, Operator

ShapeArray = DenseArrayBase.constr(i64)


def _array(values: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, list(values))


def _one_of(op: Operation, what: str, found: str, known: Sequence[str]) -> None:
    if found not in known:
        raise VerifyException(f"{op.name}: unknown {what} '{found}'; expected one of {', '.join(known)}")


class OperatorOp(IRDLOperation):
    """An op with one tensor result whose shape and dtype `infer` gives."""

    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Tensor:
        """The result type that operands and attributes imply; VerifyException if they make no sense together."""
        raise NotImplementedError

    def verify_(self) -> None:
        expected, found = self.infer(), self.result.type
        dtype_of(tensor_type(self.result))
        if found != expected:
            raise VerifyException(f"{self.name} gives {expected}, but its result is declared {found}")


class ElementwiseOp(OperatorOp):
    """An op of `machine/operators.py`."""

    @property
    def operator(self) -> Operator:
        return OPERATORS[self.name.removeprefix("ascend.")]

    def infer(self) -> Tensor:
        return infer_elementwise(self.name, self.operator, self.operands)


def infer_elementwise(name: str, operator: Operator, operands: Sequence[SSAValue]) -> Tensor:
    """One shape, one dtype, of a kind the operator accepts."""
    dtype = common_dtype(name, operands)
    if not operator.accepts(dtype.kind):
        raise VerifyException(f"{name} takes {operator.kinds.replace(' ', ', ')} elements, got {dtype.name}")
    return tensor(inference.same([shape_of(v) for v in operands]), dtype)


def common_dtype(name: str, operands: Sequence[SSAValue]) -> DType:
    found = [dtype_of(tensor_type(v)) for v in operands]
    if any(d != found[0] for d in found):
        raise VerifyException(f"{name} has operands of {' and '.join(d.name for d in found)}; ascend.cast makes them agree")
    return found[0]


_T = VarConstraint("T", BaseAttr(TensorType))
"""Operands and result of one type."""


class UnaryOp(ElementwiseOp, HasCanonicalizationPatternsInterface):
    """`ascend.exp %x : tensor<…>`."""

    x = operand_def(_T)
    result = result_def(_T)
    assembly_format = "$x attr-dict `:` type($result)"

    def __init__(self, x: SSAValue):
        super().__init__(operands=[x], result_types=[x.type])

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


class BinaryOp(ElementwiseOp, HasCanonicalizationPatternsInterface):
    """`ascend.add %a, %b : tensor<…>`."""

    a = operand_def(_T)
    b = operand_def(_T)
    result = result_def(_T)
    assembly_format = "$a `,` $b attr-dict `:` type($result)"

    def __init__(self, a: SSAValue, b: SSAValue):
        super().__init__(operands=[a, b], result_types=[a.type])

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


def _patterns() -> tuple[RewritePattern, ...]:
    from ascir.passes.canonicalization import PATTERNS

    return PATTERNS


def _define(operator: Operator) -> type[ElementwiseOp]:
    class_name = "".join(part.capitalize() for part in operator.name.split("_")) + "Op"
    base = UnaryOp if operator.arity == 1 else BinaryOp
    namespace = {"name": f"ascend.{operator.name}", "__module__": __name__, "__doc__": f"NumPy's `{operator.numpy}`."}
    return irdl_op_definition(cast(type[ElementwiseOp], type(class_name, (base,), namespace)))


ELEMENTWISE: dict[str, type[ElementwiseOp]] = {row.name: _define(row) for row in (*UNARY, *BINARY)}
"""Operator name → op class."""


def elementwise(name: str, *operands: SSAValue) -> ElementwiseOp:
    """The element-wise op `ascend.<name>` on operands of one type."""
    return ELEMENTWISE[name](*operands)  # pyright: ignore[reportCallIssue]


@irdl_op_definition
class CompareOp(OperatorOp, HasCanonicalizationPatternsInterface):
    """`ascend.compare "lt" %a, %b : tensor<4xf32> to tensor<4xi1>`; NaN compares as in NumPy."""

    name = "ascend.compare"

    T: ClassVar = VarConstraint("T", BaseAttr(TensorType))
    predicate = prop_def(StringAttr)
    a = operand_def(T)
    b = operand_def(T)
    assembly_format = "$predicate $a `,` $b attr-dict `:` type($a) `to` type($result)"

    def __init__(self, predicate: str, a: SSAValue, b: SSAValue):
        super().__init__(operands=[a, b], result_types=[tensor(shape_of(a), "i1")], properties={"predicate": StringAttr(predicate)})

    def infer(self) -> Tensor:
        _one_of(self, "predicate", self.predicate.data, list(PREDICATES))
        return tensor(inference.same([shape_of(self.a), shape_of(self.b)]), "i1")

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


@irdl_op_definition
class SelectOp(OperatorOp, HasCanonicalizationPatternsInterface):
    """`ascend.select %condition, %a, %b : tensor<4xi1>, tensor<4xf32>`: a where the condition holds, else b (`np.where`)."""

    name = "ascend.select"

    T: ClassVar = VarConstraint("T", BaseAttr(TensorType))
    condition = operand_def(TensorType)
    a = operand_def(T)
    b = operand_def(T)
    result = result_def(T)
    assembly_format = "$condition `,` $a `,` $b attr-dict `:` type($condition) `,` type($result)"

    def __init__(self, condition: SSAValue, a: SSAValue, b: SSAValue):
        super().__init__(operands=[condition, a, b], result_types=[a.type])

    def infer(self) -> Tensor:
        condition = dtype_of(tensor_type(self.condition))
        if condition.kind != "bool":
            raise VerifyException(f"{self.name} chooses by i1, got {condition.name}; ascend.compare gives one")
        shapes = [shape_of(v) for v in self.operands]
        return tensor(inference.same(shapes), common_dtype(self.name, (self.a, self.b)))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


@irdl_op_definition
class ClampOp(OperatorOp):
    """`ascend.clamp %x, %low, %high : tensor<4xf32>`: minimum(maximum(x, low), high), as `np.clip`; NaN stays."""

    name = "ascend.clamp"

    T: ClassVar = VarConstraint("T", BaseAttr(TensorType))
    x = operand_def(T)
    low = operand_def(T)
    high = operand_def(T)
    result = result_def(T)
    assembly_format = "$x `,` $low `,` $high attr-dict `:` type($result)"

    def __init__(self, x: SSAValue, low: SSAValue, high: SSAValue):
        super().__init__(operands=[x, low, high], result_types=[x.type])

    def infer(self) -> Tensor:
        dtype = common_dtype(self.name, self.operands)
        if dtype.kind == "bool":
            raise VerifyException(f"{self.name} takes numbers, got i1")
        return tensor(inference.same([shape_of(v) for v in self.operands]), dtype)


@irdl_op_definition
class CastOp(OperatorOp, HasCanonicalizationPatternsInterface):
    """`ascend.cast %x : tensor<4xf16> to tensor<4xf32>`; `round` names the mode where bits are lost (hw §9).

    `implicit` marks a cast the compiler put in: a pair of those may cancel, a rounding the author asked for may not.
    """

    name = "ascend.cast"

    x = operand_def(TensorType)
    round = prop_def(StringAttr, default_value=StringAttr("rint"))
    implicit = opt_prop_def(UnitAttr)
    assembly_format = "$x (`round` $round^)? (`implicit` $implicit^)? attr-dict `:` type($x) `to` type($result)"

    def __init__(self, x: SSAValue, dtype: DType | str, round: str | None = None, implicit: bool = False):
        result = tensor(shape_of(x), dtype)
        if round is None:
            toward_zero = dtype_of(tensor_type(x)).is_float and dtype_of(result).is_integer
            round = "trunc" if toward_zero else "rint"
        properties = {"round": StringAttr(round), "implicit": UnitAttr() if implicit else None}
        super().__init__(operands=[x], result_types=[result], properties=properties)

    def infer(self) -> Tensor:
        mode, source, dtype = self.round.data, dtype_of(tensor_type(self.x)), dtype_of(tensor_type(self.result))
        _one_of(self, "rounding", mode, ROUND_MODES)
        if mode == "odd" and (source.name, dtype.name) != ("f32", "f16"):
            raise VerifyException(f"{self.name}: rounding 'odd' is for f32 → f16 only, got {source.name} → {dtype.name}")
        return tensor(shape_of(self.x), dtype)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


@irdl_op_definition
class ConstantOp(OperatorOp, HasFolderInterface):
    """`ascend.constant 0.5 : f64 : tensor<8x128xf16>`: one number everywhere, or `dense<[…]>` values.

    A single number is kept as written (f64 or i64) and rounded to the element type where it is used, so that a later change of
    precision does not see it rounded twice.
    """

    name = "ascend.constant"

    value = prop_def(BaseAttr(FloatAttr) | BaseAttr(IntegerAttr) | BaseAttr(DenseIntOrFPElementsAttr))
    traits = traits_def(Pure(), ConstantLike())
    assembly_format = "custom<ConstantValue>($value) attr-dict `:` type($result)"
    custom_directives = (ConstantValue,)

    def __init__(self, value: Attribute, type_: Tensor):
        super().__init__(properties={"value": value}, result_types=[type_])

    @classmethod
    def splat(cls, value: float | int | bool, type_: Tensor) -> ConstantOp:
        """The number everywhere in a tensor of this type."""
        if dtype_of(type_).is_float:
            return cls(FloatAttr(float(value), 64), type_)
        return cls(IntegerAttr(int(value), i64), type_)

    @property
    def number(self) -> float | int | None:
        """The single number, or None for dense values."""
        return None if isinstance(self.value, DenseIntOrFPElementsAttr) else self.value.value.data

    def infer(self) -> Tensor:
        type_ = tensor_type(self.result)
        if isinstance(self.value, DenseIntOrFPElementsAttr):
            return self.value.type  # pyright: ignore[reportReturnType]
        if isinstance(self.value, FloatAttr) and not dtype_of(type_).is_float:
            raise VerifyException(f"{self.name}: a float value does not fill {type_}; write an integer")
        return type_

    def fold(self) -> Sequence[Attribute]:
        return (self.value,)


@irdl_op_definition
class IotaOp(OperatorOp):
    """`ascend.iota axis 1 : tensor<2x3xi32>`: the index along one axis."""

    name = "ascend.iota"

    axis = prop_def(IntegerAttr.constr(i64))
    assembly_format = "`axis` $axis attr-dict `:` type($result)"

    def __init__(self, axis: int, type_: Tensor):
        super().__init__(properties={"axis": IntegerAttr(axis, i64)}, result_types=[type_])

    def infer(self) -> Tensor:
        type_ = tensor_type(self.result)
        if dtype_of(type_).kind == "bool":
            raise VerifyException(f"{self.name} counts in numbers, not in i1")
        inference.normalize_axis(self.axis.value.data, len(type_.get_shape()))
        return type_


@irdl_op_definition
class BroadcastOp(OperatorOp, HasCanonicalizationPatternsInterface):
    """`ascend.broadcast %x : tensor<128xf16> to tensor<8x128xf16>`, by NumPy's rule: align right, repeat size 1."""

    name = "ascend.broadcast"

    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` type($x) `to` type($result)"

    def __init__(self, x: SSAValue, shape: Sequence[int]):
        super().__init__(operands=[x], result_types=[tensor(shape, dtype_of(tensor_type(x)))])

    def infer(self) -> Tensor:
        return tensor(inference.broadcast(shape_of(self.x), shape_of(self.result)), dtype_of(tensor_type(self.x)))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


@irdl_op_definition
class ReshapeOp(OperatorOp, HasCanonicalizationPatternsInterface):
    """`ascend.reshape %x : tensor<6xf16> to tensor<2x3xf16>`: the same elements in row-major order."""

    name = "ascend.reshape"

    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` type($x) `to` type($result)"

    def __init__(self, x: SSAValue, shape: Sequence[int]):
        super().__init__(operands=[x], result_types=[tensor(shape, dtype_of(tensor_type(x)))])

    def infer(self) -> Tensor:
        return tensor(inference.reshape(shape_of(self.x), shape_of(self.result)), dtype_of(tensor_type(self.x)))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


@irdl_op_definition
class TransposeOp(OperatorOp, HasCanonicalizationPatternsInterface):
    """`ascend.transpose %x [1, 0] : tensor<2x3xf16> to tensor<3x2xf16>`."""

    name = "ascend.transpose"

    x = operand_def(TensorType)
    permutation = prop_def(ShapeArray)
    assembly_format = "$x $permutation attr-dict `:` type($x) `to` type($result)"

    def __init__(self, x: SSAValue, permutation: Sequence[int]):
        shape = inference.transpose(shape_of(x), permutation)
        super().__init__(
            operands=[x], properties={"permutation": _array(permutation)}, result_types=[tensor(shape, dtype_of(tensor_type(x)))]
        )

    def infer(self) -> Tensor:
        shape = inference.transpose(shape_of(self.x), self.permutation.get_values())
        return tensor(shape, dtype_of(tensor_type(self.x)))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return _patterns()


@irdl_op_definition
class SliceOp(OperatorOp):
    """`ascend.slice %x starts … sizes … steps …`: element k of an axis is `x[start + k · step]`; steps may be negative."""

    name = "ascend.slice"

    x = operand_def(TensorType)
    starts = prop_def(ShapeArray)
    sizes = prop_def(ShapeArray)
    steps = prop_def(ShapeArray)
    assembly_format = "$x `starts` $starts `sizes` $sizes `steps` $steps attr-dict `:` type($x) `to` type($result)"

    def __init__(self, x: SSAValue, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]):
        shape = inference.slice_(shape_of(x), starts, sizes, steps)
        super().__init__(
            operands=[x],
            properties={"starts": _array(starts), "sizes": _array(sizes), "steps": _array(steps)},
            result_types=[tensor(shape, dtype_of(tensor_type(x)))],
        )

    def infer(self) -> Tensor:
        bounds = (self.starts.get_values(), self.sizes.get_values(), self.steps.get_values())
        return tensor(inference.slice_(shape_of(self.x), *bounds), dtype_of(tensor_type(self.x)))


@irdl_op_definition
class ConcatOp(OperatorOp):
    """`ascend.concat %a, %b axis 0 : tensor<…>, tensor<…> to tensor<…>`."""

    name = "ascend.concat"

    inputs = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(i64))
    assembly_format = "$inputs `axis` $axis attr-dict `:` type($inputs) `to` type($result)"

    def __init__(self, inputs: Sequence[SSAValue], axis: int):
        shape = inference.concat([shape_of(v) for v in inputs], axis)
        super().__init__(
            operands=[list(inputs)],
            properties={"axis": IntegerAttr(axis % len(shape), i64)},
            result_types=[tensor(shape, common_dtype(self.name, inputs))],
        )

    def infer(self) -> Tensor:
        if not self.inputs:
            raise VerifyException(f"{self.name} needs an operand")
        shape = inference.concat([shape_of(v) for v in self.inputs], self.axis.value.data)
        return tensor(shape, common_dtype(self.name, self.inputs))


@irdl_op_definition
class PadOp(OperatorOp):
    """`ascend.pad %x low … high … value 0.0 : f64 : tensor<…> to tensor<…>`: a border of one number."""

    name = "ascend.pad"

    x = operand_def(TensorType)
    low = prop_def(ShapeArray)
    high = prop_def(ShapeArray)
    value = prop_def(BaseAttr(FloatAttr) | BaseAttr(IntegerAttr))
    assembly_format = "$x `low` $low `high` $high `value` $value attr-dict `:` type($x) `to` type($result)"

    def __init__(self, x: SSAValue, low: Sequence[int], high: Sequence[int], value: float | int):
        dtype = dtype_of(tensor_type(x))
        number = FloatAttr(float(value), 64) if dtype.is_float else IntegerAttr(int(value), i64)
        super().__init__(
            operands=[x],
            properties={"low": _array(low), "high": _array(high), "value": number},
            result_types=[tensor(inference.pad(shape_of(x), low, high), dtype)],
        )

    def infer(self) -> Tensor:
        dtype = dtype_of(tensor_type(self.x))
        if isinstance(self.value, FloatAttr) != dtype.is_float:
            raise VerifyException(f"{self.name}: value {self.value} does not fit elements of {dtype.name}")
        return tensor(inference.pad(shape_of(self.x), self.low.get_values(), self.high.get_values()), dtype)


@irdl_op_definition
class ReduceOp(OperatorOp):
    """`ascend.reduce "sum" %x axes [1] keepdims : tensor<8x128xf32> to tensor<8x1xf32>`.

    The result has the operand's dtype: NumPy's promotion of small integers is a cast before it. Over no elements a sum is 0,
    a product 1; max, min and mean of nothing have no value and do not verify. max and min give NaN if there is one.
    """

    name = "ascend.reduce"

    kind = prop_def(StringAttr)
    x = operand_def(TensorType)
    axes = prop_def(ShapeArray)
    keepdims = opt_prop_def(UnitAttr)
    assembly_format = "$kind $x `axes` $axes (`keepdims` $keepdims^)? attr-dict `:` type($x) `to` type($result)"

    def __init__(self, kind: str, x: SSAValue, axes: Sequence[int], keepdims: bool = False):
        shape = inference.reduce(shape_of(x), axes, keepdims)
        rank = len(shape_of(x))
        super().__init__(
            operands=[x],
            properties={
                "kind": StringAttr(kind),
                "axes": _array(sorted(a % rank for a in axes)),
                "keepdims": UnitAttr() if keepdims else None,
            },
            result_types=[tensor(shape, dtype_of(tensor_type(x)))],
        )

    def infer(self) -> Tensor:
        kind, dtype, shape = self.kind.data, dtype_of(tensor_type(self.x)), shape_of(self.x)
        _one_of(self, "reduction", kind, REDUCE_KINDS)
        if (kind == "mean" and not dtype.is_float) or (kind in ("sum", "prod") and dtype.kind == "bool"):
            raise VerifyException(f"{self.name} {kind} of {dtype.name}; cast first")
        axes = self.axes.get_values()
        result = inference.reduce(shape, axes, self.keepdims is not None)
        if kind in ("max", "min", "mean") and 0 in [shape[a] for a in axes]:
            raise VerifyException(f"{self.name} {kind} of no elements has no value")
        return tensor(result, dtype)


@irdl_op_definition
class FusedOp(IRDLOperation):
    """`%r = ascend.fused (%x) { ^bb0(%a: …): … ascend.yield %b : … } : (…) -> …`: operators that become one kernel.

    Made by `fuse-operators`.
    """

    name = "ascend.fused"

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure(), IsolatedFromAbove())
    assembly_format = "` ` `(` $inputs `)` $body attr-dict `:` functional-type($inputs, $outputs)"

    def __init__(self, inputs: Sequence[SSAValue], output_types: Sequence[Attribute], body: Region):
        super().__init__(operands=[list(inputs)], result_types=[list(output_types)], regions=[body])

    def verify_(self) -> None:
        if tuple(self.body.block.arg_types) != self.inputs.types:
            raise VerifyException(f"{self.name}: block arguments and operands differ in type")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or last.values.types != self.outputs.types:
            raise VerifyException(f"{self.name} ends with an ascend.yield of its results")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The values a group hands out."""

    name = "ascend.yield"

    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator(), HasParent(FusedOp), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The end of a kernel."""

    name = "ascend.return"
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(KernelOp)))
    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__()


@irdl_op_definition
class KernelOp(IRDLOperation):
    """`ascend.kernel @k(%x: memref<…>, %n: index) attributes {block_dim = 8 : i64} { … }`: what each of `block_dim` cores runs.

    Memref arguments lie in GM; other arguments are scalars. `memory_report` (from `plan-memory`) says who holds what.
    """

    name = "ascend.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    block_dim = prop_def(IntegerAttr.constr(i64))
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), SingleBlockImplicitTerminator(ReturnOp))

    def __init__(
        self,
        name: str,
        arg_types: Sequence[Attribute],
        block_dim: int,
        body: Region | None = None,
        arg_names: Sequence[str] = (),
    ):
        if body is None:
            body = Region(Block(arg_types=list(arg_types)))
            for arg, hint in zip(body.block.args, arg_names, strict=False):
                arg.name_hint = hint if SSAValue.is_valid_name(hint) else None
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(list(arg_types), []),
                "block_dim": IntegerAttr(block_dim, i64),
            },
            regions=[body],
        )

    def __post_init__(self) -> None:
        if len(self.body.blocks) != 1:
            return  # `clone` makes the op first and its blocks afterwards; the verifier wants one
        block = self.body.block
        if block.last_op is None or not block.last_op.has_trait(IsTerminator):
            block.add_op(ReturnOp())  # xDSL's ensure_terminator patches a global, which two threads cannot do at once

    @property
    def args(self):
        return self.body.block.args

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        block_dim = 1
        name, inputs, outputs, region, extra, arg_attrs, _ = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type")
        )
        attributes = dict(extra.data) if extra is not None else {}
        given = attributes.pop("block_dim", None)
        if isinstance(given, IntegerAttr):
            block_dim = given.value.data
        elif given is not None:
            parser.raise_error(f"block_dim is a number of cores, not {given}")
        if outputs:
            parser.raise_error("ascend.kernel has no results; it writes its GM arguments")
        if not region.blocks and not inputs:
            region.add_block(Block())  # `{ }` is read as a region without a block
        kernel = cls(name, inputs, block_dim, region)
        kernel.attributes |= attributes
        if arg_attrs is not None:
            kernel.arg_attrs = arg_attrs
        return kernel

    def print(self, printer: Printer) -> None:
        attributes = {"block_dim": self.block_dim, **self.attributes}
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            attributes,
            arg_attrs=self.arg_attrs,
            reserved_attr_names=("sym_name", "function_type", "arg_attrs"),
        )

    def verify_(self) -> None:
        if self.function_type.inputs.data != tuple(self.body.block.arg_types):
            raise VerifyException(f"{self.name}: block arguments differ from the declared types")
        if self.block_dim.value.data < 1:
            raise VerifyException(f"{self.name} runs on at least one core, got block_dim {self.block_dim.value.data}")
        if self.function_type.outputs:
            raise VerifyException(f"{self.name} has no results; it writes its GM arguments")
        for arg in self.args:
            self._verify_argument(arg)

    def _verify_argument(self, arg: SSAValue) -> None:
        is_buffer = isinstance(arg.type, MemRefType)
        if is_buffer and space_of(arg) is not Space.GM:
            raise VerifyException(f"{self.name}: memref arguments lie in gm, got {arg.type}; allocate on-chip buffers inside")
        if is_buffer and dtype_of(arg.type).name == "f64":
            raise VerifyException(f"{self.name}: %{arg.name_hint or 'argument'} holds f64; the AI Core computes nothing in double, use f32")
        if not is_buffer and not isinstance(arg.type, IndexType | IntegerType | AnyFloat):
            raise VerifyException(f"{self.name}: an argument is a memref or a scalar, got {arg.type}")


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """`ascend.launch @k(%x, %y) : memref<…>, memref<…>`: run a kernel on all its cores and wait for it."""

    name = "ascend.launch"

    kernel = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def(AnyAttr())
    assembly_format = "$kernel `(` $arguments `)` attr-dict `:` type($arguments)"

    def __init__(self, kernel: str, arguments: Sequence[SSAValue]):
        super().__init__(properties={"kernel": SymbolRefAttr(kernel)}, operands=[list(arguments)])

    def verify_(self) -> None:
        target = SymbolTable.lookup_symbol(self, self.kernel)
        if not isinstance(target, KernelOp):
            raise VerifyException(f"{self.name}: no ascend.kernel named @{self.kernel.root_reference.data}")
        if target.function_type.inputs.data != self.arguments.types:
            raise VerifyException(f"{self.name}: arguments differ in type from those of @{target.sym_name.data}")


class _Index(IRDLOperation):
    result = result_def(IndexType)
    traits = traits_def(Pure(), HasAncestor(KernelOp))
    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class BlockIdxOp(_Index):
    """The number of this core among `block_num`."""

    name = "ascend.block_idx"


@irdl_op_definition
class BlockNumOp(_Index):
    """How many cores run the kernel."""

    name = "ascend.block_num"


class _Materialize(ConstantMaterializationInterface):
    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        return ConstantOp(value, cast(Tensor, type)) if isinstance(type, TensorType) else None


Ascend = Dialect(
    "ascend",
    [
        *ELEMENTWISE.values(),
        CompareOp,
        SelectOp,
        ClampOp,
        CastOp,
        ConstantOp,
        IotaOp,
        BroadcastOp,
        ReshapeOp,
        TransposeOp,
        SliceOp,
        ConcatOp,
        PadOp,
        ReduceOp,
        FusedOp,
        YieldOp,
        KernelOp,
        ReturnOp,
        LaunchOp,
        BlockIdxOp,
        BlockNumOp,
    ],
    [],
    [_Materialize()],
)
