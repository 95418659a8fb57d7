"""legalize-dtypes: writes every operator in element types for which the AI Core has an instruction.

    %0 = ascend.add %x, %x : tensor<8xi8>       %0 = ascend.cast %x : tensor<8xi8> to tensor<8xi16>
                                                %1 = ascend.add %0, %0 : tensor<8xi16>
                                                %2 = ascend.cast %1 : tensor<8xi16> to tensor<8xi8>

What is left lowers one to one onto the rows of `machine/instructions.py` (a row for pipe V, or for a scalar loop on pipe S where
nothing faster is exact). `TABLE` is the whole story; a rule writes the operator as others, and those go through the table again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ascir.dialects.ascend import CastOp, ClampOp, CompareOp, ElementwiseOp, OperatorOp, ReduceOp, SelectOp, elementwise
from ascir.dialects.types import shape_of
from ascir.machine.dtypes import FLOATS, INTEGERS, dtype
from ascir.machine.layout import num_elements
from ascir.machine.operators import BINARY, OPERATORS, REDUCE_KINDS, UNARY
from ascir.passes.operators import Builder, computing_dtype, element, erase_dead, functions, has_row, refuse, replace, row_name

Rule = Callable[["Legalizer", Any], SSAValue]


class Legalizer(Builder):
    """A builder that never puts in an operator for which the table has a rule."""

    def __init__(self) -> None:
        super().__init__(implicit=False)

    def emit(self, op: OperatorOp) -> SSAValue:
        rule = rule_of(op)
        if rule is None:
            return self.insert(op)
        value = rule(self, op)
        op.erase()
        return value

    def operator(self, name: str, *operands: SSAValue) -> SSAValue:
        return self.emit(elementwise(name, *operands))

    def bits(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(elementwise(name, a, b))


# Rules.


def through(wide: str) -> Rule:
    """Compute in a wider type that holds every operand; the result is rounded, or wraps, once."""
    return lambda build, op: build.through(op, dtype(wide))


def operand(build: Legalizer, op: OperatorOp) -> SSAValue:
    """abs and relu of an unsigned number; a cast to the type it has."""
    return op.operands[0]


def max_with_zero(build: Legalizer, op: ElementwiseOp) -> SSAValue:
    """relu where there is no such row."""
    (x,) = op.operands
    return build.operator("max", x, build.splat(0, x, element(x)))


def max_with_negative(build: Legalizer, op: ElementwiseOp) -> SSAValue:
    """abs of an integer: max(x, −x); the most negative number stays itself, as in NumPy."""
    (x,) = op.operands
    return build.operator("max", x, build.operator("neg", x))


def times_minus_one(build: Legalizer, op: ElementwiseOp) -> SSAValue:
    (x,) = op.operands
    return build.operator("mul", x, build.splat(-1, x, element(x)))


def zero_minus(build: Legalizer, op: ElementwiseOp) -> SSAValue:
    (x,) = op.operands
    return build.operator("sub", build.splat(0, x, element(x)), x)


def min_of_max(build: Legalizer, op: ClampOp) -> SSAValue:
    return build.operator("min", build.operator("max", op.x, op.low), op.high)


_COMPARE_BITS: dict[str, Callable[[Legalizer, SSAValue, SSAValue], SSAValue]] = {
    "eq": lambda build, a, b: build.operator("not", build.bits("xor", a, b)),
    "ne": lambda build, a, b: build.bits("xor", a, b),
    "lt": lambda build, a, b: build.bits("and", build.operator("not", a), b),
    "le": lambda build, a, b: build.bits("or", build.operator("not", a), b),
    "gt": lambda build, a, b: build.bits("and", a, build.operator("not", b)),
    "ge": lambda build, a, b: build.bits("or", a, build.operator("not", b)),
}


def compare_bits(build: Legalizer, op: CompareOp) -> SSAValue:
    """false < true, on masks."""
    return _COMPARE_BITS[op.predicate.data](build, op.a, op.b)


def select_bits(build: Legalizer, op: SelectOp) -> SSAValue:
    """(c & a) | (~c & b)"""
    unless = build.bits("and", build.operator("not", op.condition), op.b)
    return build.bits("or", build.bits("and", op.condition, op.a), unless)


def one_or_zero(build: Legalizer, op: CastOp) -> SSAValue:
    """A bool as a number: chosen in the target type where pipe V selects in it, else in f16 and converted."""
    target = element(op.result)
    chosen = target if target.bytes in (2, 4) or target.name == "ui64" else dtype("f16")
    one, zero = (build.splat(n, op.x, chosen) for n in (1, 0))
    return build.cast(build.emit(SelectOp(op.x, one, zero)), target)


def not_zero(build: Legalizer, op: CastOp) -> SSAValue:
    """A number as a bool; NaN is true."""
    return build.emit(CompareOp("ne", op.x, build.splat(0, op.x, element(op.x))))


def cast_twice(build: Legalizer, op: CastOp) -> SSAValue:
    """f16 ↔ bf16 through f32, which holds both: the second cast is the only one that rounds."""
    return build.cast(build.cast(op.x, dtype("f32")), element(op.result), op.round.data)


def any_or_all(build: Legalizer, op: ReduceOp) -> SSAValue:
    """max and min of bools: of 0.0 and 1.0 in f16."""
    half = build.cast(op.x, dtype("f16"))
    return build.cast(build.twin(op, [half], dtype("f16")), element(op.result))


def sum_over_count(build: Legalizer, op: ReduceOp) -> SSAValue:
    """mean = sum / number of elements, in f32."""
    sizes = [shape_of(op.x)[a] for a in op.axes.get_values()]
    if DYNAMIC_INDEX in sizes:
        refuse(build.point, f"{op.name} mean over a dimension of unknown size; infer-shapes with arg-shapes fills it")
    total = build.emit(ReduceOp("sum", op.x, op.axes.get_values(), op.keepdims is not None))
    return build.operator("div", total, build.splat(num_elements(sizes), total, element(total)))


def nothing_reduced(build: Legalizer, op: ReduceOp) -> SSAValue:
    """A reduction over no axes."""
    return op.x


# The table.

_SIGNED = ("i8", "i16", "i32", "i64")
_UNSIGNED = ("ui8", "ui16", "ui32", "ui64")
_BYTES = ("i8", "ui8")
_NUMBERS = (*INTEGERS, *FLOATS)
_ELEMENTWISE = tuple(row.name for row in (*UNARY, *BINARY))
_FLOAT_ONLY_IN_F32 = tuple(name for name in _ELEMENTWISE if OPERATORS[name].accepts("float") and not has_row(name, "f16"))
_REDUCTIONS = tuple(f"reduce_{kind}" for kind in REDUCE_KINDS)

TABLE: tuple[tuple[Sequence[str], Sequence[str], Rule], ...] = (
    # operators                                          element types            written as
    (("clamp",), _NUMBERS, min_of_max),
    (("relu", "abs"), _UNSIGNED, operand),
    (("relu",), ("i8", "i16", "i64"), max_with_zero),
    (("abs",), ("i16", "i32"), max_with_negative),
    (("neg",), ("i16", "i32", "i64"), times_minus_one),
    (("neg",), ("ui16", "ui32", "ui64"), zero_minus),
    (("abs",), ("i8",), through("i16")),
    (("add", "sub", "mul", "max", "min", "neg"), _BYTES, through("i16")),
    (("compare", "select"), _BYTES, through("f16")),
    (("compare",), ("i16",), through("f32")),
    (("compare",), ("i1",), compare_bits),
    (("select",), ("i1",), select_bits),
    (("reduce_max", "reduce_min"), ("i1",), any_or_all),
    (_FLOAT_ONLY_IN_F32, ("f16",), through("f32")),
    ((*_ELEMENTWISE, "compare", "clamp", "iota", *_REDUCTIONS), ("bf16",), through("f32")),
    (("reduce_sum", "reduce_prod", "reduce_mean"), ("f16",), through("f32")),
    (("reduce_mean",), ("f32",), sum_over_count),
    *(((f"cast to {name}",), (name,), operand) for name in (*_NUMBERS, "i1")),
    (("cast to i1",), _NUMBERS, not_zero),
    (tuple(f"cast to {name}" for name in _NUMBERS), ("i1",), one_or_zero),
    (("cast to bf16",), ("f16",), cast_twice),
    (("cast to f16",), ("bf16",), cast_twice),
)
"""What has no row here has an instruction, or is movement. ui16 max, min, compare stay scalar loops: casts of ui16 are too."""

_RULES = {(name, dtype): rule for names, dtypes, rule in TABLE for name in names for dtype in dtypes}


def rule_of(op: OperatorOp) -> Rule | None:
    """How to write an operator as others, or None if it may stay."""
    name = f"cast to {element(op.result).name}" if isinstance(op, CastOp) else row_name(op)
    if isinstance(op, ReduceOp) and not op.axes.get_values():
        return nothing_reduced
    return _RULES.get((name, computing_dtype(op).name))


def legalize(block: Block) -> None:
    """Rewrite the operators of one block that the AI Core has no instruction for."""
    build = Legalizer()
    for op in list(block.ops):
        if not isinstance(op, OperatorOp):
            continue
        _refuse_double(op, op.result)
        if (rule := rule_of(op)) is not None:
            build.before(op)
            replace(op, rule(build, op))
    erase_dead(block)


def _refuse_double(op: Operation, value: SSAValue) -> None:
    if element(value).name == "f64":
        refuse(op, f"f64 in {op.name} ({value.type}): the AI Core computes nothing in double; cast to float32")


@dataclass(frozen=True)
class LegalizeDtypesPass(ModulePass):
    """Leave only pairs of operator and element type for which there is an instruction."""

    name = "legalize-dtypes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function, block in functions(op):
            for argument in block.args:
                _refuse_double(function, argument)
            legalize(block)
