"""legalize-dtypes: what is left has an instruction, and every answer is NumPy's to the bit, for each operator and element type."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import (
    CastOp,
    ClampOp,
    CompareOp,
    IotaOp,
    OperatorOp,
    ReduceOp,
    SelectOp,
    elementwise,
)
from ascir.dialects.types import tensor
from ascir.interpret import run_function
from ascir.machine import dtypes
from ascir.machine.instructions import BY_NAME, ROUND_MODES, cast_pipe
from ascir.machine.operators import OPERATORS, PREDICATES, REDUCE_KINDS
from ascir.passes.legalize_dtypes import LegalizeDtypesPass
from ascir.passes.operators import computing_dtype, element, row_name

from .irgen import hard_numbers, random_array, random_function, random_inputs
from .translation import Array, apply, assert_bits, assert_kept, function, names, operators, parse

DTYPES = [d.name for d in dtypes.ALL]
LEGALIZE = LegalizeDtypesPass()
_SPELT = {"log": "ln", "neg": "muls", "compare": "compare_eq"}
_MOVEMENT = ("broadcast", "reshape", "transpose", "slice", "concat", "pad", "constant")


def has_instruction(op: OperatorOp) -> bool:
    """Whether one instruction row computes the operator (a mask's and, or, xor, not and movement apart)."""
    name, dtype = row_name(op), computing_dtype(op).name
    if isinstance(op, CastOp):
        target = element(op.result).name
        return dtype != target and "i1" not in (dtype, target) and cast_pipe(dtype, target) is not None
    if name in _MOVEMENT or (name == "not" and dtype == "i1"):
        return True
    row = BY_NAME.get(_SPELT.get(name, name))
    return row is not None and dtype in row.dtypes


def legal(make: Callable[..., OperatorOp], *inputs: Array) -> None:
    module = function(inputs, make)
    assert_kept(module, inputs, LEGALIZE)
    assert [op.name for op in operators(module) if not has_instruction(op)] == []


def hard(dtype: str) -> tuple[Array, Array]:
    """Every pair of hard numbers of the type, and some ordinary ones."""
    row = dtypes.dtype(dtype)
    numbers = np.concatenate([hard_numbers(row), random_array(np.random.default_rng(3), (9,), row)])
    return np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))


@pytest.mark.parametrize(("name", "dtype"), [(r.name, d.name) for r in OPERATORS.values() for d in dtypes.ALL if r.accepts(d.kind)])
def test_element_wise(name: str, dtype: str) -> None:
    legal(partial(elementwise, name), *hard(dtype)[: OPERATORS[name].arity])


@pytest.mark.parametrize("dtype", DTYPES)
def test_compare_and_select_and_clamp(dtype: str) -> None:
    a, b = hard(dtype)
    for predicate in PREDICATES:
        legal(partial(CompareOp, predicate), a, b)
    condition = np.resize([True, False, False], a.shape)
    legal(SelectOp, condition, a, b)
    if dtype != "i1":
        legal(ClampOp, a, b, np.roll(a, 5))


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_casts(source: str, target: str) -> None:
    numbers = hard_numbers(dtypes.dtype(source))
    for mode in ROUND_MODES:
        if mode != "odd" or (source, target) == ("f32", "f16"):
            legal(partial(CastOp, dtype=target, round=mode), numbers)


@pytest.mark.parametrize("kind", REDUCE_KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype: str, kind: str) -> None:
    row = dtypes.dtype(dtype)
    if (kind == "mean" and not row.is_float) or (kind in ("sum", "prod") and dtype == "i1"):
        return
    x = random_array(np.random.default_rng(4), (3, 5, 4), row)
    for axes, keepdims in (((1,), False), ((0, 2), True), ((0, 1, 2), False), ((), True)):
        legal(partial(ReduceOp, kind, axes=axes, keepdims=keepdims), x)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "i1"])
def test_iota(dtype: str) -> None:
    legal(partial(IotaOp, 1, tensor((2, 300), dtype)))


def left(body: str, result: str, arguments: str) -> list[str]:
    return names(apply(parse(f"func.func @f({arguments}) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}"), LEGALIZE))


def test_a_value_is_cast_once_and_a_constant_not_at_all() -> None:
    body = (
        "%c = ascend.constant 300 : i64 : tensor<4xi8>\n%0 = ascend.mul %x, %c : tensor<4xi8>\n"
        "%1 = ascend.add %x, %0 : tensor<4xi8>\n%r = ascend.max %x, %1 : tensor<4xi8>"
    )
    found = left(body, "tensor<4xi8>", "%x: tensor<4xi8>")
    assert found.count("cast i8") == 3  # x once, and the two results that are used again
    assert "constant i8" not in found and "constant i16" in found


def test_a_constant_is_rounded_to_its_own_type_first() -> None:
    body = "%c = ascend.constant 300 : i64 : tensor<2xui8>\n%r = ascend.max %x, %c : tensor<2xui8>"
    text = f"func.func @f(%x: tensor<2xui8>) -> tensor<2xui8> {{\n{body}\nfunc.return %r : tensor<2xui8>\n}}"
    (result,) = run_function(apply(parse(text), LEGALIZE), "f", [np.array([7, 99], np.uint8)])
    assert result.tolist() == [44, 99]


def test_what_is_broadcast_is_cast_while_small() -> None:
    body = "%0 = ascend.broadcast %y : tensor<1xbf16> to tensor<512xbf16>\n%r = ascend.add %x, %0 : tensor<512xbf16>"
    found = left(body, "tensor<512xbf16>", "%x: tensor<512xbf16>, %y: tensor<1xbf16>")
    assert found == ["cast bf16", "cast bf16", "broadcast f32", "add f32", "cast f32"]


def test_what_the_hardware_has_is_left_alone() -> None:
    for body, type_ in [
        ("%r = ascend.add %x, %x : tensor<4xf16>", "tensor<4xf16>"),
        ("%r = ascend.mod %x, %x : tensor<4xi64>", "tensor<4xi64>"),
        ("%r = ascend.max %x, %x : tensor<4xui16>", "tensor<4xui16>"),
        ("%r = ascend.xor %x, %x : tensor<4xi1>", "tensor<4xi1>"),
    ]:
        assert len(left(body, type_, f"%x: {type_}")) == 1


def run(make: Callable[..., OperatorOp], *inputs: Array) -> list[int | float | bool]:
    """The numbers that the legalized operator gives."""
    module = apply(function(inputs, make), LEGALIZE)
    return run_function(module, "random", inputs)[0].tolist()


def on_itself(name: str) -> Callable[[SSAValue], OperatorOp]:
    def make(x: SSAValue) -> OperatorOp:
        return elementwise(name, x, x)

    return make


def test_bytes_wrap() -> None:
    x = np.array([255, 200, 0, 16], np.uint8)
    assert run(on_itself("mul"), x) == [1, 64, 0, 0]
    assert run(partial(elementwise, "neg"), x) == [1, 56, 0, 240]
    low = np.array([-128, 127], np.int8)
    assert run(partial(elementwise, "abs"), low) == [-128, 127]
    assert run(on_itself("add"), low) == [0, -2]


def test_long_integers_are_exact_beyond_doubles() -> None:
    x = np.array([2**53 + 1, -(2**62) - 1, 2**63 - 1], np.int64)
    y = np.array([2**53, 1, 1], np.int64)
    assert run(partial(elementwise, "sub"), x, y) == [1, -(2**62) - 2, 2**63 - 2]
    assert run(partial(elementwise, "max"), x, y) == [2**53 + 1, 1, 2**63 - 1]


def test_bools_are_numbers_and_numbers_are_bools() -> None:
    x = np.array([0.0, -0.0, np.nan, 1e-40, -3.0], np.float32)
    assert run(partial(CastOp, dtype="i1"), x) == [False, False, True, True, True]


def test_a_half_sum_does_not_overflow_on_the_way() -> None:
    x = np.array([60000, 60000, -60000], np.float16)
    assert run(partial(ReduceOp, "sum", axes=[0], keepdims=True), x) == [60000]


def test_double_is_refused_at_its_line() -> None:
    text = (
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = ascend.cast %x : tensor<4xf32> to tensor<4xf64>\n"
        "%1 = ascend.cast %0 : tensor<4xf64> to tensor<4xf32>\nfunc.return %1 : tensor<4xf32>\n}"
    )
    with pytest.raises(PassFailedException, match="the AI Core computes nothing in double; cast to float32"):
        apply(parse(text), LEGALIZE)
    with pytest.raises(PassFailedException, match=r"f64 in func.func \(tensor<4xf64>\)"):
        apply(parse("func.func @f(%x: tensor<4xf64>) {\nfunc.return\n}"), LEGALIZE)


def test_a_mean_over_an_unknown_size_is_refused() -> None:
    body = '%r = ascend.reduce "mean" %x axes [0] : tensor<?x4xf32> to tensor<4xf32>'
    with pytest.raises(PassFailedException, match="mean over a dimension of unknown size; infer-shapes with arg-shapes fills it"):
        left(body, "tensor<4xf32>", "%x: tensor<?x4xf32>")


@pytest.mark.parametrize("wild", [False, True])
def test_no_bit_of_a_random_program_changes(wild: bool) -> None:
    for seed in range(250):
        rng = np.random.default_rng(seed)
        module = parse(str(random_function(rng, wild=wild, exact=wild, empty=True)))
        assert_kept(module, random_inputs(rng, module, wild=wild), LEGALIZE)
        assert [op.name for op in operators(module) if not has_instruction(op)] == []


def test_a_legal_program_stays() -> None:
    x = np.zeros(4, np.int8)
    module = apply(function([x], on_itself("add")), LEGALIZE)
    once = str(module)
    assert str(apply(module, LEGALIZE)) == once
    assert_bits(run_function(module, "random", [x]), [x])
