"""canonicalize: each rule where it applies, its twin where it must not, and no bit changed in a thousand random programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import SSAValue
from xdsl.transforms.canonicalize import CanonicalizePass

from ascir.dialects.ascend import BroadcastOp, CastOp, CompareOp, ConstantOp, OperatorOp, elementwise
from ascir.dialects.types import tensor
from ascir.interpret import run_function
from ascir.interpret.numerics import convert
from ascir.machine import dtypes
from ascir.machine.instructions import ROUND_MODES
from ascir.machine.operators import OPERATORS, PREDICATES
from ascir.passes.operators import widens
from ascir.passes.splats import converted, rounded

from .irgen import hard_numbers, random_function, random_inputs, rounded_once
from .translation import Array, apply, assert_bits, assert_kept, function, names, operators, parse, row

ALL = (*dtypes.ALL, dtypes.F64)
CANONICALIZE = CanonicalizePass()


def canonical(body: str, result: str, arguments: str = "%x: tensor<4xf32>") -> list[str]:
    """The operators left of a function that returns %r."""
    return names(apply(parse(f"func.func @f({arguments}) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}"), CANONICALIZE))


def binary(name: str, number: str, dtype: str, *, swap: bool = False) -> list[str]:
    type_, kind = f"tensor<4x{dtype}>", "f64" if "f" in dtype else "i64"
    operands = "%c, %x" if swap else "%x, %c"
    return canonical(f"%c = ascend.constant {number} : {kind} : {type_}\n%r = ascend.{name} {operands} : {type_}", type_, f"%x: {type_}")


@pytest.mark.parametrize(
    ("name", "number", "dtype"),
    [
        ("add", "0", "i8"),
        ("add", "-0.0", "f32"),
        ("sub", "0.0", "f16"),
        ("sub", "0", "ui32"),
        ("mul", "1.0", "bf16"),
        ("mul", "1", "i64"),
        ("mul", "257", "i8"),  # is 1
        ("div", "1.0", "f32"),
        ("floor_div", "1", "i32"),
        ("pow", "1.0", "f16"),
        ("and", "255", "ui8"),
        ("or", "0", "i16"),
        ("shl", "0", "i16"),
    ],
)
def test_a_neutral_element_goes(name: str, number: str, dtype: str) -> None:
    assert binary(name, number, dtype) == []


@pytest.mark.parametrize(
    ("name", "number", "dtype"),
    [
        ("add", "0.0", "f32"),  # -0 + 0 = 0
        ("sub", "-0.0", "f32"),
        ("mul", "0.0", "f32"),  # inf · 0 = NaN
        ("mul", "1.0001", "f16"),  # rounds to 1 in f16, but mixed computes in f32
        ("floor_div", "1.0", "f32"),
        ("pow", "2.0", "f16"),  # until select-precision widens it
        ("pow", "17.0", "f32"),
        ("pow", "0.5", "f32"),
    ],
)
def test_what_only_looks_neutral_stays(name: str, number: str, dtype: str) -> None:
    assert f"{name} {dtype}" in binary(name, number, dtype)


def test_a_neutral_element_on_the_left_goes_where_order_does_not_matter() -> None:
    assert binary("mul", "1.0", "f32", swap=True) == []
    assert binary("div", "1.0", "f32", swap=True) == ["constant f32", "div f32"]


def test_an_integer_times_zero_is_zero() -> None:
    assert binary("mul", "0", "i32") == binary("and", "0", "i32") == ["constant i32"]


def test_dividing_by_a_power_of_two_is_multiplying() -> None:
    assert binary("div", "4.0", "f16") == ["constant f16", "mul f16"]
    assert binary("div", "3.0", "f16") == ["constant f16", "div f16"]
    assert binary("div", "32768.0", "f16") == ["constant f16", "div f16"]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("number", [0.25, -2.0, 2.0**14, 2.0**-14])
def test_dividing_by_a_power_of_two_keeps_every_bit(dtype: str, number: float) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = (bits.astype(np.uint32) << 16).view(np.float32) if dtype == "f32" else bits.view(dtypes.dtype(dtype).to_numpy())
    constant = ConstantOp.splat(number, tensor(x.shape, dtype))

    def divided(a: SSAValue) -> list[OperatorOp]:
        return [constant, elementwise("div", a, constant.result)]

    module = function([x], divided)
    assert_kept(module, [x], CANONICALIZE)
    assert [op.name for op in operators(module)] == ["ascend.constant", "ascend.mul"]


def test_an_operator_of_itself() -> None:
    for name, dtype, left in [
        ("max", "f32", []),
        ("and", "i1", []),
        ("sub", "i8", ["constant i8"]),
        ("sub", "f32", ["sub f32"]),  # NaN, inf
        ("xor", "ui8", ["constant ui8"]),
    ]:
        type_ = f"tensor<4x{dtype}>"
        assert canonical(f"%r = ascend.{name} %x, %x : {type_}", type_, f"%x: {type_}") == left, name


@pytest.mark.parametrize(
    ("inner", "outer", "dtype", "left"),
    [
        ("neg", "neg", "f32", []),
        ("not", "not", "i1", []),
        ("abs", "abs", "f16", ["abs f16"]),
        ("neg", "abs", "i8", ["abs i8"]),
        ("abs", "neg", "f32", ["abs f32", "neg f32"]),
        ("reciprocal", "reciprocal", "f32", ["reciprocal f32", "reciprocal f32"]),
    ],
)
def test_an_operator_twice(inner: str, outer: str, dtype: str, left: list[str]) -> None:
    type_ = f"tensor<4x{dtype}>"
    body = f"%0 = ascend.{inner} %x : {type_}\n%r = ascend.{outer} %0 : {type_}"
    assert canonical(body, type_, f"%x: {type_}") == left


def test_negated_comparisons() -> None:
    def left(predicate: str, dtype: str) -> list[str]:
        body = f'%0 = ascend.compare "{predicate}" %x, %y : tensor<4x{dtype}> to tensor<4xi1>\n%r = ascend.not %0 : tensor<4xi1>'
        return canonical(body, "tensor<4xi1>", f"%x: tensor<4x{dtype}>, %y: tensor<4x{dtype}>")

    assert left("eq", "f32") == ["compare f32"]
    assert left("lt", "i32") == ["compare i32"]
    assert left("lt", "f32") == ["compare f32", "not i1"]  # neither a < b nor a >= b with a NaN


def test_comparisons_with_itself() -> None:
    def left(predicate: str, dtype: str) -> list[str]:
        body = f'%r = ascend.compare "{predicate}" %x, %x : tensor<4x{dtype}> to tensor<4xi1>'
        return canonical(body, "tensor<4xi1>", f"%x: tensor<4x{dtype}>")

    assert left("lt", "f32") == left("eq", "i8") == ["constant i1"]
    assert left("eq", "f32") == ["compare f32"]  # is x a number?


def test_selections() -> None:
    arguments = "%x: tensor<4xf32>, %y: tensor<4xf32>, %c: tensor<4xi1>"
    known = (
        "%t = ascend.constant 1 : i64 : tensor<4xi1>\n%0 = ascend.select %t, %x, %y : tensor<4xi1>, tensor<4xf32>\n"
        "%r = ascend.select %c, %0, %x : tensor<4xi1>, tensor<4xf32>"
    )
    assert canonical(known, "tensor<4xf32>", arguments) == []
    negated = "%0 = ascend.not %c : tensor<4xi1>\n%r = ascend.select %0, %x, %y : tensor<4xi1>, tensor<4xf32>"
    assert canonical(negated, "tensor<4xf32>", arguments) == ["select i1"]


@pytest.mark.parametrize(
    ("types", "left"),
    [
        ("f16 f32 f16", []),
        ("i8 i16 i64", ["cast i8"]),
        ("ui8 i16 ui8", []),
        ("i32 f32 i32", ["cast i32", "cast f32"]),
        ("f32 f16 f32", ["cast f32", "cast f16"]),
        ("i16 i8 i16", ["cast i16", "cast i8"]),
        ("f16 f32 bf16", ["cast f16", "cast f32"]),
        ("i8 ui16 i32", ["cast i8", "cast ui16"]),
    ],
)
def test_chains_of_casts(types: str, left: list[str]) -> None:
    a, b, c = (f"tensor<4x{t}>" for t in types.split())
    assert canonical(f"%0 = ascend.cast %x : {a} to {b}\n%r = ascend.cast %0 : {b} to {c}", c, f"%x: {a}") == left


def test_only_an_implicit_pair_cancels() -> None:
    def left(first: str, second: str) -> list[str]:
        body = (
            f"%0 = ascend.cast %x {first} : tensor<4xf32> to tensor<4xbf16>\n%r = ascend.cast %0 {second} : tensor<4xbf16> to tensor<4xf32>"
        )
        return canonical(body, "tensor<4xf32>")

    assert left("implicit", "implicit") == []
    assert left("implicit", "") == left("", "implicit") == ["cast f32", "cast bf16"]


def test_movement() -> None:
    body = (
        "%0 = ascend.broadcast %x : tensor<4xf32> to tensor<2x4xf32>\n%1 = ascend.broadcast %0 : tensor<2x4xf32> to tensor<3x2x4xf32>\n"
        "%2 = ascend.transpose %1 [1, 2, 0] : tensor<3x2x4xf32> to tensor<2x4x3xf32>\n"
        "%3 = ascend.transpose %2 [2, 0, 1] : tensor<2x4x3xf32> to tensor<3x2x4xf32>\n"
        "%4 = ascend.reshape %3 : tensor<3x2x4xf32> to tensor<24xf32>\n%r = ascend.reshape %4 : tensor<24xf32> to tensor<6x4xf32>"
    )
    assert canonical(body, "tensor<6x4xf32>") == ["broadcast f32", "reshape f32"]


def test_unknown_sizes_are_left_alone() -> None:
    arguments = "%x: tensor<?xf32>, %y: tensor<?x?xf32>"
    same = "%r = ascend.broadcast %x : tensor<?xf32> to tensor<?xf32>"
    assert canonical(same, "tensor<?xf32>", arguments) == ["broadcast f32"]
    assert canonical(same.replace("broadcast", "reshape"), "tensor<?xf32>", arguments) == []
    swapped = "%r = ascend.reshape %y : tensor<?x?xf32> to tensor<?x?xf32>"
    assert canonical(swapped, "tensor<?x?xf32>", arguments) == ["reshape f32"]
    constant = "%c = ascend.constant 1.0 : f64 : tensor<f32>\n%r = ascend.broadcast %c : tensor<f32> to tensor<?xf32>"
    assert canonical(constant, "tensor<?xf32>", arguments) == ["constant f32", "broadcast f32"]


_NO_UFUNC = ("rsqrt", "erf", "erfc", "relu")
_KNOWN = [(row.name, d.name) for row in OPERATORS.values() for d in ALL if row.accepts(d.kind) and row.name not in _NO_UFUNC]


@pytest.mark.parametrize(("name", "dtype"), _KNOWN)
def test_constants_fold_to_what_the_operator_gives(name: str, dtype: str) -> None:
    hard = hard_numbers(dtypes.dtype(dtype))
    row = OPERATORS[name]
    rng = np.random.default_rng(len(name))
    chosen = [rng.permutation(hard)[:5] for _ in range(row.arity)]
    _assert_folds(chosen, partial(elementwise, name))


@pytest.mark.parametrize("dtype", [d.name for d in ALL])
def test_constant_comparisons_fold(dtype: str) -> None:
    hard = hard_numbers(dtypes.dtype(dtype))
    a, b = np.resize(hard, 12), np.resize(np.roll(hard, 3), 12)
    for predicate in PREDICATES:
        _assert_folds([a, b], partial(CompareOp, predicate))


def _assert_folds(columns: Sequence[Array], make: Callable[..., OperatorOp]) -> None:
    """Each row of numbers as constants: the folded function has no operator left and gives the unfolded answer."""
    for numbers in zip(*columns, strict=True):
        operands = [np.array([n]) for n in numbers]

        def of_constants(operands: Sequence[Array] = operands) -> list[OperatorOp]:
            constants = [ConstantOp.splat(x.item(), tensor(x.shape, row(x))) for x in operands]
            return [*constants, make(*(c.result for c in constants))]

        module = function([], of_constants)
        assert_kept(module, [], CANONICALIZE)
        assert [op.name for op in operators(module)] == ["ascend.constant"]


@pytest.mark.parametrize("target", [d.name for d in ALL])
@pytest.mark.parametrize("source", [d.name for d in ALL])
def test_a_constant_is_cast_as_a_tensor_is(source: str, target: str) -> None:
    numbers = hard_numbers(dtypes.dtype(source))
    for mode in ROUND_MODES:
        if mode == "odd" and (source, target) != ("f32", "f16"):
            continue
        module = function([numbers], partial(CastOp, dtype=target, round=mode))
        (expected,) = run_function(module, "random", [numbers])
        for number, wanted in zip(numbers, expected, strict=True):
            found = converted(number.item(), dtypes.dtype(source), dtypes.dtype(target), mode)
            if found is not None:
                assert_bits([np.array(found).astype(expected.dtype)], [np.array(wanted)])
            else:
                assert source != target and dtypes.dtype(source).kind != "bool", "left to the machine without need"


@pytest.mark.parametrize("target", ALL, ids=lambda d: d.name)
@pytest.mark.parametrize("source", ALL, ids=lambda d: d.name)
def test_a_widening_cast_is_one_that_keeps_every_number(source: dtypes.DType, target: dtypes.DType) -> None:
    numbers = hard_numbers(source)
    if source.bytes == 2:
        numbers = np.arange(1 << 16, dtype=np.uint16).view(source.to_numpy())
    with np.errstate(all="ignore"):
        kept = convert(numbers, target.to_numpy(), "trunc" if source.is_float and not target.is_float else "rint")
    same = [a == b or (a != a and b != b) for a, b in zip(numbers.tolist(), kept.tolist(), strict=True)]
    assert widens(source, target) == (all(same) and (target.kind != "bool" or source.kind == "bool"))


def test_numbers_round_without_numpy_as_with_it() -> None:
    rng = np.random.default_rng(5)
    ties = ((np.arange(0, 0x7F80, 7, dtype=np.uint32) << 16) | 0x8000).view(np.float32)  # half-way between two bf16
    wide = np.concatenate([ties, hard_numbers(dtypes.F64), *(rng.normal(0, 10.0**e, 400) for e in range(-9, 40, 3))])
    for name in ("f16", "bf16", "f32"):
        dtype = dtypes.dtype(name)
        with np.errstate(over="ignore"):
            expected = rounded_once(wide, dtype.to_numpy()).astype(np.float64)
        assert_bits([np.array([rounded(x, dtype) for x in wide.tolist()])], [expected])


def test_powers_are_products() -> None:
    x = np.array([0.0, -0.0, 1.5, -1.25, 3.0, -7.0, 1e19, -1e-19, np.inf, -np.inf, np.nan, 1e-40], np.float32)
    for exponent in range(17):
        body = (
            f"%c = ascend.constant {exponent}.0 : f64 : tensor<12xf32>\n%r = ascend.pow %x, %c : tensor<12xf32>\n"
            "func.return %r : tensor<12xf32>"
        )
        module = apply(parse(f"func.func @f(%x: tensor<12xf32>) -> tensor<12xf32> {{\n{body}\n}}"), CANONICALIZE)
        assert all(op.name in ("ascend.mul", "ascend.constant") for op in operators(module))
        assert len(operators(module)) <= 6
        (found,) = run_function(module, "f", [x])
        with np.errstate(all="ignore"):
            exact = x.astype(np.float64) ** exponent
            nearest = exact.astype(np.float32)
        if exponent <= 2:
            assert_bits([found], [nearest])
        finite = np.isfinite(nearest)
        assert_bits([found[~finite]], [nearest[~finite]])
        assert (np.signbit(found) == np.signbit(nearest))[finite].all()
        bound = max(exponent - 1, 1) / 2 * np.spacing(np.abs(nearest[finite])).astype(np.float64)
        assert (np.abs(found[finite] - exact[finite]) <= bound * 2).all(), exponent


@pytest.mark.parametrize("wild", [False, True])
def test_no_bit_of_a_random_program_changes(wild: bool) -> None:
    for seed in range(400):
        rng = np.random.default_rng(seed)
        module = random_function(rng, wild=wild, empty=True)
        assert_kept(module, random_inputs(rng, module, wild=wild), CANONICALIZE)


def test_rewrites_keep_the_source_line() -> None:
    module = parse(
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n%c = ascend.constant 3.0 : f64 : tensor<f32>\n"
        "%d = ascend.broadcast %c : tensor<f32> to tensor<2xf32>\n%r = ascend.pow %x, %d : tensor<2xf32>\n"
        "func.return %r : tensor<2xf32>\n}"
    )
    apply(module, CANONICALIZE)
    lines = [op.location.line.data for op in operators(module) if isinstance(op.location, FileLineColLoc)]
    assert lines == [4, 4]


def test_a_broadcast_of_a_broadcast_aligns_right_too() -> None:
    x = np.arange(3, dtype=np.float32).reshape(3, 1)

    def twice(a: SSAValue) -> tuple[OperatorOp, OperatorOp]:
        first = BroadcastOp(a, (1, 3, 4))
        return first, BroadcastOp(first.result, (5, 3, 4))

    module = function([x], twice)
    assert_kept(module, [x], CANONICALIZE)
    assert len(operators(module)) == 1
