"""select-precision: strict keeps every bit of NumPy's answer; mixed is the f32 program, rounded where values are stored."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import CastOp, ConstantOp, ReduceOp
from ascir.dialects.types import tensor_type
from ascir.interpret import run_function
from ascir.machine import dtypes
from ascir.passes.legalize_dtypes import LegalizeDtypesPass
from ascir.passes.select_precision import SelectPrecisionPass
from ascir.passes.splats import rounded

from .irgen import random_function, random_inputs
from .translation import Array, apply, assert_bits, assert_kept, function, names, operators, parse

MIXED, STRICT = SelectPrecisionPass(), SelectPrecisionPass(precision="strict")
CANONICALIZE, LEGALIZE = CanonicalizePass(), LegalizeDtypesPass()
NARROW = [dtypes.dtype("f16"), dtypes.dtype("bf16")]


def program(body: str, result: str, arguments: str) -> ModuleOp:
    return parse(f"func.func @f({arguments}) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}")


def left(body: str, dtype: str = "f16", precision: SelectPrecisionPass = MIXED, result: str | None = None) -> list[str]:
    """Operators of a function of %x and %y of one type, T in the text."""
    type_ = f"tensor<8x{dtype}>"
    module = program(body.replace("T", type_), result or type_, f"%x: {type_}, %y: {type_}")
    return names(apply(module, precision))


# mixed


def test_a_chain_is_computed_in_f32_and_rounded_once() -> None:
    body = "%0 = ascend.mul %x, %y : T\n%1 = ascend.exp %0 : T\n%r = ascend.add %1, %x : T"
    for dtype in ("f16", "bf16"):
        assert left(body, dtype) == [f"cast {dtype}", f"cast {dtype}", "mul f32", "exp f32", "add f32", "cast f32"]


def test_what_is_exact_in_f16_stays_there_until_a_chain_begins() -> None:
    assert left("%0 = ascend.abs %x : T\n%r = ascend.max %0, %y : T") == ["abs f16", "max f16"]
    assert left("%0 = ascend.sqrt %x : T\n%r = ascend.max %0, %y : T") == ["cast f16", "sqrt f32", "cast f16", "max f32", "cast f32"]
    assert left("%r = ascend.abs %x : T", "bf16") == ["cast bf16", "abs f32", "cast f32"]


def test_a_value_that_is_moved_is_rounded_first() -> None:
    body = (
        "%0 = ascend.mul %x, %y : T\n%1 = ascend.slice %0 starts [0] sizes [8] steps [1] : T to T\n"
        "%2 = ascend.concat %1 axis 0 : T to T\n%r = ascend.sqrt %2 : T"
    )
    mul = ["cast f16", "cast f16", "mul f32", "cast f32"]
    assert left(body) == [*mul, "slice f16", "concat f16", "cast f16", "sqrt f32", "cast f32"]


def test_a_broadcast_or_reshape_is_no_store() -> None:
    body = (
        '%0 = ascend.reduce "sum" %x axes [0] keepdims : T to tensor<1xf16>\n%1 = ascend.broadcast %0 : tensor<1xf16> to T\n'
        "%2 = ascend.reshape %1 : T to T\n%r = ascend.div %x, %2 : T"
    )
    assert left(body) == ["cast f16", "reduce f32", "broadcast f32", "reshape f32", "div f32", "cast f32"]


def test_what_is_broadcast_is_cast_while_small() -> None:
    body = (
        '%0 = ascend.reduce "max" %x axes [0] keepdims : T to tensor<1xf16>\n'
        "%1 = ascend.broadcast %0 : tensor<1xf16> to T\n%r = ascend.sub %x, %1 : T"
    )
    assert left(body) == ["reduce f16", "cast f16", "cast f16", "broadcast f32", "sub f32", "cast f32"]


def test_the_author_s_cast_rounds_and_the_compiler_s_does_not() -> None:
    body = "%0 = ascend.exp %x : T\n%1 = ascend.cast %0 MARK : T to tensor<8xf32>\n%r = ascend.exp %1 : tensor<8xf32>"
    wide = "tensor<8xf32>"
    assert left(body.replace("MARK", "implicit"), result=wide) == ["cast f16", "exp f32", "exp f32"]
    assert left(body.replace("MARK", ""), result=wide) == ["cast f16", "exp f32", "cast f32", "cast f16", "exp f32"]
    x = np.linspace(0.1, 1, 8, dtype=np.float32)
    module = program(
        "%0 = ascend.cast %x : tensor<8xf32> to tensor<8xf16>\n%1 = ascend.add %0, %0 : tensor<8xf16>\n"
        "%r = ascend.cast %1 : tensor<8xf16> to tensor<8xf32>",
        "tensor<8xf32>",
        "%x: tensor<8xf32>",
    )
    (result,) = run_function(apply(module, MIXED, LEGALIZE, CANONICALIZE), "f", [x])
    assert_bits([result], [(x.astype(np.float16) * 2).astype(np.float32)])


def test_a_constant_is_not_rounded_to_the_storage_type() -> None:
    body = "%c = ascend.constant 0.1 : f64 : T\n%r = ascend.mul %x, %c : T"
    type_ = "tensor<8xf16>"
    module = apply(program(body.replace("T", type_), type_, f"%x: {type_}"), MIXED)
    x = np.arange(8, dtype=np.float16)
    assert_bits(run_function(module, "f", [x]), [(x.astype(np.float32) * np.float32(0.1)).astype(np.float16)])


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_a_comparison_sees_the_rounded_constant_as_numpy_does(dtype: str) -> None:
    row = dtypes.dtype(dtype)
    x = np.full(8, rounded(0.1, row)).astype(row.to_numpy())
    type_ = f"tensor<8x{dtype}>"
    constant = f"%c = ascend.constant 0.1 : f64 : {type_}\n"
    stored = f'{constant}%r = ascend.compare "eq" %x, %c : {type_} to tensor<8xi1>'
    computed = f'{constant}%1 = ascend.add %x, %z : {type_}\n%r = ascend.compare "eq" %1, %c : {type_} to tensor<8xi1>'
    for body in (stored, computed):
        module = apply(program(body, "tensor<8xi1>", f"%x: {type_}, %z: {type_}"), MIXED, LEGALIZE)
        (result,) = run_function(module, "f", [x, np.zeros_like(x)])
        assert result.all()


def _storing(module: ModuleOp) -> bool:
    """Whether the program moves, casts or compares, so that its values are not simply those of the f32 program."""
    apart = ("transpose", "slice", "concat", "pad", "cast", "compare", "iota", "dense")
    return any(word in str(module) for word in apart)


def _narrowed(module: ModuleOp, dtype: dtypes.DType) -> ModuleOp:
    """The same program on a narrower type. (Constants of both are made numbers of that type first.)"""
    for op in operators(module):
        if isinstance(op, ConstantOp) and op.number is not None:
            op.value = ConstantOp.splat(rounded(op.number, dtype), tensor_type(op.result)).value
    return parse(str(module).replace("f32", dtype.name))


@pytest.mark.parametrize("dtype", NARROW, ids=lambda d: d.name)
def test_mixed_is_the_f32_program_rounded_at_its_results(dtype: dtypes.DType) -> None:
    compared = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        wide = random_function(rng, dtypes=("f32",), max_ops=10)
        if _storing(wide):
            continue
        narrow = apply(_narrowed(wide, dtype), MIXED)
        inputs = [x.astype(dtype.to_numpy()) for x in random_inputs(rng, wide)]
        with np.errstate(all="ignore"):
            results = run_function(wide, "random", [x.astype(np.float32) for x in inputs])
            expected = [x.astype(dtype.to_numpy()) if x.dtype == np.float32 else x for x in results]
        assert_bits(run_function(narrow, "random", inputs), expected)
        assert not any(isinstance(op.location, UnknownLoc) for op in operators(narrow))
        assert_kept(narrow, inputs, LEGALIZE)
        compared += 1
    assert compared > 50


def _worst(found: Array, exact: Array) -> float:
    """Largest error in units of the result's last place."""
    unit = np.spacing(np.abs(exact.astype(found.dtype))).astype(np.float64)
    return float((np.abs(found.astype(np.float64) - exact) / unit).max())


SOFTMAX = """
  %0 = ascend.reduce "max" %x axes [1] keepdims : tensor<4x64xF> to tensor<4x1xF>
  %1 = ascend.broadcast %0 : tensor<4x1xF> to tensor<4x64xF>
  %2 = ascend.sub %x, %1 : tensor<4x64xF>
  %3 = ascend.exp %2 : tensor<4x64xF>
  %4 = ascend.reduce "sum" %3 axes [1] keepdims : tensor<4x64xF> to tensor<4x1xF>
  %5 = ascend.broadcast %4 : tensor<4x1xF> to tensor<4x64xF>
  %r = ascend.div %3, %5 : tensor<4x64xF>"""


def test_softmax_in_half_is_as_good_as_a_half_can_be() -> None:
    x = np.random.default_rng(1).normal(0, 3, (4, 64)).astype(np.float16)
    text = SOFTMAX.replace("F", "f16")
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    exact = e / e.sum(1, keepdims=True)
    worst: dict[str, float] = {}
    for pass_ in (MIXED, STRICT):
        module = apply(program(text, "tensor<4x64xf16>", "%x: tensor<4x64xf16>"), CANONICALIZE, pass_, LEGALIZE, CANONICALIZE)
        worst[pass_.precision] = _worst(run_function(module, "f", [x])[0], exact)
    assert worst["mixed"] <= 0.51 < 2 < worst["strict"]


# strict


def test_strict_rounds_after_every_operator() -> None:
    body = "%0 = ascend.mul %x, %y : T\n%1 = ascend.tanh %0 : T\n%r = ascend.add %1, %x : T"
    assert left(body, "f16", STRICT) == ["mul f16", "cast f16", "tanh f32", "cast f32", "add f16"]
    bf16 = ["cast bf16", "cast bf16", "mul f32", "cast f32", "cast bf16", "tanh f32", "cast f32", "cast bf16", "add f32", "cast f32"]
    assert left(body, "bf16", STRICT) == bf16


def test_strict_casts_survive_canonicalize() -> None:
    body = "%0 = ascend.tanh %x : tensor<8xf16>\n%r = ascend.sin %0 : tensor<8xf16>"
    module = apply(program(body, "tensor<8xf16>", "%x: tensor<8xf16>"), STRICT, CANONICALIZE)
    assert names(module) == ["cast f16", "tanh f32", "cast f32", "cast f16", "sin f32", "cast f32"]


@pytest.mark.parametrize("wild", [False, True])
def test_strict_changes_no_bit(wild: bool) -> None:
    for seed in range(250):
        rng = np.random.default_rng(seed)
        module = parse(str(random_function(rng, dtypes=("f16", "bf16", "f32", "i8"), exact=wild, wild=wild, empty=True)))
        assert_kept(module, random_inputs(rng, module, wild=wild), STRICT)


def test_strict_through_the_whole_pipeline_changes_no_bit() -> None:
    for seed in range(150):
        rng = np.random.default_rng(seed)
        module = random_function(rng, exact=True, wild=True, empty=True)
        assert_kept(module, random_inputs(rng, module, wild=True), CANONICALIZE, STRICT, LEGALIZE, CANONICALIZE)


# both


@pytest.mark.parametrize("precision", [MIXED, STRICT], ids=lambda p: p.precision)
def test_a_sum_of_halves_accumulates_in_f32(precision: SelectPrecisionPass) -> None:
    x = np.array([60000, 60000, -60000, 1], np.float16)
    for kind, expected in (("sum", 60000), ("mean", 15000)):
        module = apply(function([x], partial(ReduceOp, kind, axes=[0])), precision)
        assert run_function(module, "random", [x])[0] == expected


@pytest.mark.parametrize("precision", [MIXED, STRICT], ids=lambda p: p.precision)
def test_programs_without_narrow_floats_are_left_alone(precision: SelectPrecisionPass) -> None:
    body = "%0 = ascend.exp %x : T\n%r = ascend.add %0, %y : T"
    assert left(body, "f32", precision) == ["exp f32", "add f32"]


@pytest.mark.parametrize("precision", [MIXED, STRICT], ids=lambda p: p.precision)
def test_the_choice_is_noted_on_the_function(precision: SelectPrecisionPass) -> None:
    x = np.zeros(3, np.float16)
    module = apply(function([x], partial(CastOp, dtype="f32")), precision)
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    assert str(func.attributes["precision"]) == f'"{precision.precision}"'


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(PassFailedException, match="there is no precision 'fp8'; choose one of mixed, strict"):
        apply(parse(""" func.func private @f() -> () """), SelectPrecisionPass(precision="fp8"))
