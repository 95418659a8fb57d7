"""The oracle itself, against NumPy called directly and against numbers worked out by hand.

Rules that NumPy leaves open or that are ours (rounding modes, folding, masks, poison) have literal expectations; brute force in
Python stands in where a table would be too long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import Float16Type, Float32Type, FunctionType, IndexType, ModuleOp, i1, i8, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import InterpretationError

from ascir.dialects import ascend
from ascir.dialects.ascend import ELEMENTWISE, OperatorOp, elementwise
from ascir.dialects.memory import UB
from ascir.dialects.types import Buffer, buffer, dtype_of, tensor
from ascir.dialects.vector import VectorOp, scalar_type, vector_op, work_elements
from ascir.interpret import new_interpreter, run_function, run_kernel
from ascir.interpret.buffers import Window
from ascir.machine import dtypes
from ascir.machine.instructions import INSTRUCTIONS, Instruction
from ascir.machine.layout import round_up
from ascir.machine.operators import OPERATORS, PREDICATES
from ascir.universe import new_context

from .irgen import DTYPES, assert_same, hard_numbers, random_array, random_function, random_inputs

Array = NDArray[Any]
DType = dtypes.DType
ALL = (*dtypes.ALL, dtypes.F64)
BF16 = dtypes.dtype("bf16").to_numpy()


def _of(dtype: Any) -> Callable[[Any], Array]:
    return lambda values: np.asarray(values, dtype)


F16, F32, I8, I16, I32, I64 = (_of(name) for name in ("f2", "f4", "i1", "i2", "i4", "i8"))
U8, U16, U64 = (_of(f"u{n}") for n in (1, 2, 8))
GM = "#ascend_memory.space<gm>"
IN_UB = "#ascend_memory.space<ub>"


def parse(text: str) -> ModuleOp:
    module = Parser(new_context(), text).parse_module()
    module.verify()
    return module


def apply(make: Callable[[Any], OperatorOp], x: Array) -> Array:
    """The result of an operator on one array."""
    return apply_to(lambda values: make(values[0]), x)


def apply_to(make: Callable[[list[Any]], OperatorOp], *inputs: Array) -> Array:
    """The result of one operator on arrays, through a verified function."""
    rows = [dtypes.from_numpy(x.dtype) for x in inputs]
    block = Block(arg_types=[tensor(x.shape, row) for x, row in zip(inputs, rows, strict=True) if row is not None])
    op = make(list(block.args))
    block.add_ops([op, ReturnOp(op.result)])
    types = FunctionType.from_lists(list(block.arg_types), [op.result.type])
    module = ModuleOp([FuncOp("f", types, Region(block))])
    module.verify()
    (result,) = run_function(module, "f", inputs)
    return result


def same(found: Array, expected: Any) -> None:
    assert_same([found], [np.asarray(expected, found.dtype)])


def cross(values: Array) -> tuple[Array, Array]:
    """Every pair of values."""
    return np.repeat(values, len(values)), np.tile(values, len(values))


# --- operators on tensors -------------------------------------------------------------------------------------------------

_NO_UFUNC = ("rsqrt", "erf", "erfc", "relu")
_ELEMENTWISE = [(row.name, d) for row in OPERATORS.values() if row.name not in _NO_UFUNC for d in ALL if row.accepts(d.kind)]


@pytest.mark.parametrize(("name", "dtype"), _ELEMENTWISE, ids=lambda v: getattr(v, "name", v))
def test_elementwise_operator_is_numpys_ufunc_in_the_dtype(name: str, dtype: DType) -> None:
    row = OPERATORS[name]
    values = hard_numbers(dtype)
    inputs = (values,) if row.arity == 1 else cross(values)
    with np.errstate(all="ignore"):
        expected = getattr(np, row.numpy)(*inputs)
    found = apply_to(lambda v: elementwise(name, *v), *inputs)
    assert found.dtype == dtype.to_numpy()
    same(found, expected)


@pytest.mark.parametrize("dtype", [d for d in ALL if d.is_float], ids=lambda d: d.name)
def test_operators_without_a_ufunc(dtype: DType) -> None:
    x = np.array([-1, -0.0, 0, 0.25, 4, np.inf, np.nan], dtype.to_numpy())
    same(apply(lambda v: elementwise("relu", v), x), [0, 0, 0, 0.25, 4, np.inf, np.nan])
    same(apply(lambda v: elementwise("rsqrt", v), x), [np.nan, -np.inf, np.inf, 2, 0.5, 0, np.nan])
    same(apply(lambda v: elementwise("erf", v), np.array([-9, 0, 9, np.inf, np.nan], dtype.to_numpy())), [-1, 0, 1, 1, np.nan])


def test_functions_without_a_ufunc_round_once() -> None:
    x = F16([17])  # 1/√17 = 0.242535…; with an f16 root between it would be 0.2424
    same(apply(lambda v: elementwise("rsqrt", v), x), F16([0.24253562503633297]))
    same(apply(lambda v: elementwise("erf", v), F32([0.5])), F32([0.5204998778130465]))


_INTEGER_RULES = [
    ("floor_div", [7, -7, 7, -128, -128], [2, 2, 0, -1, 0], [3, -4, 0, -128, 0]),
    ("mod", [7, -7, 7, -128, 7], [3, 3, 0, -1, -3], [1, 2, 0, 0, -2]),
    ("fmod", [7, -7, 7, -128, 7], [3, 3, 0, -1, -3], [1, -1, 0, 0, 1]),
    ("shl", [1, 1, -3, 1, 1], [3, 7, 1, 8, 100], [8, -128, -6, 0, 0]),
    ("shr", [8, -8, -8, 8, -1], [1, 1, 8, 9, 100], [4, -4, -1, 0, -1]),
    ("add", [127, -128, 1, 0, -1], [1, -1, 1, 0, 1], [-128, 127, 2, 0, 0]),
    ("mul", [127, -128, 16, 3, -1], [2, -1, 16, -4, -1], [-2, -128, 0, -12, 1]),
]


@pytest.mark.parametrize(("name", "a", "b", "expected"), _INTEGER_RULES)
def test_integers_wrap_and_division_by_zero_is_zero(name: str, a: list[int], b: list[int], expected: list[int]) -> None:
    same(apply_to(lambda v: elementwise(name, *v), I8(a), I8(b)), expected)


def test_negating_the_least_integer_wraps() -> None:
    least = np.array([np.iinfo(np.int64).min])
    same(apply(lambda v: elementwise("abs", v), least), least)
    same(apply(lambda v: elementwise("neg", v), least), least)


@pytest.mark.parametrize("dtype", ALL, ids=lambda d: d.name)
@pytest.mark.parametrize("predicate", PREDICATES)
def test_compare_is_numpys(predicate: str, dtype: DType) -> None:
    a, b = cross(hard_numbers(dtype))
    with np.errstate(invalid="ignore"):
        expected = getattr(np, PREDICATES[predicate].numpy)(a, b)
    same(apply_to(lambda v: ascend.CompareOp(predicate, *v), a, b), expected)


@pytest.mark.parametrize("dtype", ALL, ids=lambda d: d.name)
def test_select_moves_values(dtype: DType) -> None:
    a = hard_numbers(dtype)
    b, condition = a[::-1].copy(), np.arange(len(a)) % 3 == 0
    found = apply_to(lambda v: ascend.SelectOp(*v), condition, a, b)
    assert found.tobytes() == np.array([x if c else y for c, x, y in zip(condition, a, b, strict=True)], a.dtype).tobytes()


def test_clamp_is_np_clip_and_keeps_nan() -> None:
    x = F16([-3, 0.5, 3, np.nan, np.inf])
    same(apply_to(lambda v: ascend.ClampOp(*v), x, np.full_like(x, -1), np.full_like(x, 1)), [-1, 0.5, 1, np.nan, 1])


# --- casts ----------------------------------------------------------------------------------------------------------------


def cast(x: Array, to: str, round: str | None = None) -> Array:
    return apply(lambda v: ascend.CastOp(v, to, round), x)


@pytest.mark.parametrize("to", ALL, ids=lambda d: d.name)
@pytest.mark.parametrize("source", ALL, ids=lambda d: d.name)
def test_cast_of_numbers_that_fit_is_astype(source: DType, to: DType) -> None:
    x = np.array([0, 1, 2, 3, 100], source.to_numpy())
    same(cast(x, to.name), x.astype(to.to_numpy()))


_MODES = {
    "rint": [-2, -2, -2, -1, -0.0, 0, 1, 2, 2, 2],
    "floor": [-3, -2, -2, -1, -1, 0, 1, 1, 1, 2],
    "ceil": [-2, -1, -1, -1, 0, 1, 1, 2, 2, 3],
    "trunc": [-2, -1, -1, -1, 0, 0, 1, 1, 1, 2],
    "round": [-3, -2, -2, -1, -1, 1, 1, 2, 2, 3],
}


@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("mode", _MODES)
def test_rounding_a_float_to_an_integer(mode: str, source: str) -> None:
    x = np.array([-2.5, -1.75, -1.5, -1, -0.5, 0.5, 1, 1.5, 1.75, 2.5], dtypes.dtype(source).to_numpy())
    same(cast(x, "i32", mode), _MODES[mode])


def test_float_to_integer_out_of_range() -> None:
    """INT64_MIN, wrapped to the narrower type; INT32_MIN in i32; exact in ui64 where it fits."""
    x = F32([np.nan, np.inf, -np.inf, 1e30, 3e9, -3e9, 300, -1])
    least = -(2**63)
    same(cast(x, "i64"), np.array([least, least, least, least, 3000000000, -3000000000, 300, -1]))
    same(cast(x, "i32"), np.array([-(2**31)] * 6 + [300, -1]))
    same(cast(x, "i8"), np.array([0, 0, 0, 0, 0x5E00, -0x5E00, 44, -1]).astype(np.int8))
    same(cast(x, "ui16"), np.array([0, 0, 0, 0, 3000000000, -3000000000, 300, 65535]).astype(np.uint16))
    high = F32([1e19, 2e19, -1, np.nan])
    same(cast(high, "ui64"), np.array([9999999980506447872, 2**63, 2**64 - 1, 2**63], np.uint64))


def test_integers_wrap_and_bool_is_not_zero() -> None:
    same(cast(I64([300, -1, 2**40 + 5]), "ui8"), [44, 255, 5])
    same(cast(F32([0, -0.0, 0.1, np.nan]), "i1"), [False, False, True, True])
    same(cast(I8([0, 2, -1]), "i1"), [False, True, True])
    same(cast(np.array([True, False]), "bf16"), [1, 0])


def test_259_is_260_in_bf16() -> None:
    assert cast(I32([259]), "bf16").astype(np.float64) == 260


def positive_numbers(to: str) -> Array:
    """Every finite number ≥ 0 of a 16-bit float type, in order, then infinity."""
    infinity = int(np.array([np.inf], dtypes.dtype(to).to_numpy()).view(np.uint16)[0])
    return np.arange(infinity + 1, dtype=np.uint16).view(dtypes.dtype(to).to_numpy()).astype(np.float64)


def by_brute_force(x: Array, to: str, mode: str) -> list[float]:
    """Round each value by looking its neighbours up among all numbers of the type."""
    numbers = positive_numbers(to)
    result: list[float] = []
    for value in x.tolist():
        k = int(np.searchsorted(numbers, abs(value)))
        low, high = (k, k) if numbers[k] == abs(value) else (k - 1, k)
        step = numbers[low] - numbers[low - 1] if np.isinf(numbers[high]) else numbers[high] - numbers[low]
        far = abs(value) - numbers[low]
        outward = (mode == "floor") == (value < 0)
        index = {
            "trunc": low,
            "floor": high if outward else low,
            "ceil": high if outward else low,
            "round": high if far >= step / 2 and high > low else low,
            "odd": low if low % 2 else high,
        }[mode]
        result.append(float(np.copysign(numbers[index], value)))
    return result


_DIRECTED = [(to, mode) for to in ("f16", "bf16") for mode in ("floor", "ceil", "trunc", "round")]


@pytest.mark.parametrize(("to", "mode"), [*_DIRECTED, ("f16", "odd")])
def test_directed_rounding_between_floats(to: str, mode: str) -> None:
    rng = np.random.default_rng(1)
    some = positive_numbers(to)[rng.integers(1, len(positive_numbers(to)) - 2, 60)]
    after = np.nextafter(some.astype(dtypes.dtype(to).to_numpy()), dtypes.dtype(to).to_numpy().type(np.inf)).astype(np.float64)
    between = [some + (after - some) * part for part in (0, 0.25, 0.5, 0.75)]
    positive = np.concatenate([*between, [1e-30, 65519, 65520, 7e4]])
    x = np.concatenate([positive, -positive]).astype(np.float32)
    found = cast(x, to, mode)
    np.testing.assert_array_equal(found.astype(np.float64), by_brute_force(x, to, mode))


@pytest.mark.parametrize("mode", ["floor", "ceil", "trunc", "round"])
@pytest.mark.parametrize("source", ["i32", "i64", "ui64"])
def test_directed_rounding_of_integers(source: str, mode: str) -> None:
    dtype = dtypes.dtype(source).to_numpy()
    wide = int(np.iinfo(dtype).max)
    values = [0, 1, 2049, 2051, 4099, 70000, 2**24 + 1, 2**24 + 3, wide, wide // 2, wide // 3]
    if dtype.kind == "i":
        values += [-v for v in values] + [-wide - 1]
    found = cast(np.array(values, dtype), "f32", mode).astype(np.float64)
    for value, number in zip(values, found.tolist(), strict=True):
        below, above = (float(np.nextafter(np.float32(number), np.float32(s * np.inf))) for s in (-1, 1))
        exact = int(number) == value
        if mode == "floor" or (mode == "trunc" and value > 0):
            assert exact or int(number) < value < int(above)
        elif mode in ("ceil", "trunc"):
            assert exact or int(below) < value < int(number)
        else:
            far = abs(int(number) - value)
            assert 2 * far <= (int(above) - int(number) if value > number else int(number) - int(below))
    assert cast(np.array([2**24 + 1], dtype), "f32", "round")[0] == 2**24 + 2  # half-way: away from zero, not to even


def test_nan_and_infinity_pass_through_directed_rounding() -> None:
    same(cast(F32([np.nan, np.inf, -np.inf, -0.0]), "f16", "floor"), [np.nan, np.inf, -np.inf, -0.0])


# --- constants, movement, reductions --------------------------------------------------------------------------------------


def call(body: str, *inputs: Array) -> list[Array]:
    """`body` is the text of a function @f."""
    return run_function(parse(body), "f", inputs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1 : f64 : tensor<2xf16>", F16([0.1, 0.1])),
        ("0.1 : f64 : tensor<2xbf16>", np.array([0.1, 0.1], BF16)),
        ("0x7FF0000000000000 : f64 : tensor<1xbf16>", np.array([np.inf], BF16)),
        ("3 : i64 : tensor<2x1xf32>", F32([[3], [3]])),
        ("-1 : i64 : tensor<2xui8>", U8([255, 255])),
        ("18446744073709551615 : i64 : tensor<1xui64>", U64([2**64 - 1])),
        ("true : tensor<2xi1>", np.array([True, True])),
        ("7 : i64 : tensor<i64>", np.int64(7)),
        ("2.5 : f64 : tensor<0x3xf32>", np.zeros((0, 3), np.float32)),
        ("dense<[[1, 2], [-3, 4]]> : tensor<2x2xi32> : tensor<2x2xi32>", I32([[1, 2], [-3, 4]])),
        ("dense<[true, false, true]> : tensor<3xi1> : tensor<3xi1>", np.array([True, False, True])),
        ("dense<[1.5, -0.0]> : tensor<2xbf16> : tensor<2xbf16>", np.array([1.5, -0.0], BF16)),
        ('dense<"0x003C007C00FC007E"> : tensor<4xf16> : tensor<4xf16>', F16([1, np.inf, -np.inf, np.nan])),
        ("dense<2.5> : tensor<2x3xf64> : tensor<2x3xf64>", np.full((2, 3), 2.5)),
    ],
)
def test_constant(text: str, expected: Array) -> None:
    type_ = text.rpartition(" : ")[2]
    found = call(f"func.func @f() -> {type_} {{ %0 = ascend.constant {text} func.return %0 : {type_} }}")
    assert_same(found, [np.asarray(expected)])


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


_MOVEMENT: list[tuple[Callable[[Any], OperatorOp], Array]] = [
    (lambda x: ascend.BroadcastOp(x, (5, 2, 3, 4)), np.broadcast_to(X, (5, 2, 3, 4))),
    (lambda x: ascend.ReshapeOp(x, (4, 6)), X.reshape(4, 6)),
    (lambda x: ascend.ReshapeOp(x, (24, 1)), X.reshape(24, 1)),
    (lambda x: ascend.TransposeOp(x, (2, 0, 1)), X.transpose(2, 0, 1)),
    (lambda x: ascend.SliceOp(x, (0, 1, 0), (2, 2, 2), (1, 1, 2)), X[:, 1:, ::2]),
    (lambda x: ascend.SliceOp(x, (1, 2, 3), (2, 3, 4), (-1, -1, -1)), X[::-1, ::-1, ::-1]),
    (lambda x: ascend.SliceOp(x, (0, 2, 3), (2, 2, 2), (1, -1, -2)), X[:, 2:0:-1, 3::-2]),
    (lambda x: ascend.SliceOp(x, (0, 3, 0), (2, 0, 4), (1, 1, 1)), X[:, 3:, :]),
    (lambda x: ascend.ConcatOp([x, x, x], 1), np.concatenate([X, X, X], 1)),
    (lambda x: ascend.ConcatOp([x, x], -1), np.concatenate([X, X], -1)),
    (lambda x: ascend.PadOp(x, (1, 0, 2), (0, 3, 0), -np.inf), np.pad(X, ((1, 0), (0, 3), (2, 0)), constant_values=-np.inf)),
]


@pytest.mark.parametrize(("make", "expected"), _MOVEMENT)
def test_movement(make: Callable[[SSAValue], OperatorOp], expected: Array) -> None:
    same(apply(make, X), expected)


def test_movement_of_a_0d_tensor() -> None:
    x = np.array(2.5, np.float16)
    table: list[tuple[Callable[[Any], OperatorOp], Array]] = [
        (lambda v: ascend.SliceOp(v, (), (), ()), x),
        (lambda v: ascend.TransposeOp(v, ()), x),
        (lambda v: ascend.PadOp(v, (), (), 0.0), x),
        (lambda v: ascend.ReduceOp("sum", v, ()), x),
        (lambda v: ascend.ReshapeOp(v, (1, 1)), x.reshape(1, 1)),
        (lambda v: elementwise("neg", v), -x),
    ]
    for make, expected in table:
        found = apply(make, x)
        assert found.shape == expected.shape and found == expected


@pytest.mark.parametrize("dtype", [d for d in ALL if d.kind != "bool"], ids=lambda d: d.name)
def test_iota(dtype: DType) -> None:
    type_ = f"tensor<2x300x{dtype.name}>"
    (found,) = call(f"func.func @f() -> {type_} {{ %0 = ascend.iota axis 1 : {type_} func.return %0 : {type_} }}")
    assert_same([found], [np.broadcast_to(np.arange(300).astype(dtype.to_numpy()), (2, 300))])


_REDUCED = [(k, d) for k in ("sum", "prod", "max", "min") for d in ALL if d.kind != "bool" or k in ("max", "min")]


@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize(("kind", "dtype"), _REDUCED, ids=lambda v: getattr(v, "name", v))
def test_reduce_is_numpys_in_the_dtype(kind: str, dtype: DType, axes: tuple[int, ...]) -> None:
    x = random_array(np.random.default_rng(5), (3, 5, 7), dtype)
    wide = x.astype(np.float32) if dtype.name in ("f16", "bf16") and kind in ("sum", "prod") else x
    extra: dict[str, Any] = {"dtype": wide.dtype} if kind in ("sum", "prod") else {}
    expected = getattr(np, kind)(wide, axis=axes, keepdims=True, **extra)
    same(apply(lambda v: ascend.ReduceOp(kind, v, axes, keepdims=True), x), expected.astype(x.dtype))
    found = apply(lambda v: ascend.ReduceOp(kind, v, axes), x)
    assert found.shape == tuple(n for k, n in enumerate(x.shape) if k not in axes)


def test_reductions_by_hand() -> None:
    x = F16([60000, 60000, -60000])
    for kind, expected in (("sum", 60000), ("mean", 20000), ("max", 60000), ("min", -60000)):
        assert apply(lambda v, kind=kind: ascend.ReduceOp(kind, v, [0]), x) == expected
    assert apply(lambda v: ascend.ReduceOp("sum", v, [0]), I8([100, 100])) == -56
    assert np.isnan(apply(lambda v: ascend.ReduceOp("max", v, [0]), np.array([1, np.nan, 2], BF16)).astype(np.float32))
    same(apply(lambda v: ascend.ReduceOp("sum", v, [0]), np.zeros((0, 2), np.float32)), [0, 0])
    same(apply(lambda v: ascend.ReduceOp("prod", v, [0]), np.zeros((0, 2), np.int32)), [1, 1])


def test_fused_group_and_call() -> None:
    found = call(
        """
        func.func @twice(%x: tensor<3xi32>) -> tensor<3xi32> {
          %0 = ascend.fused (%x) {
          ^bb0(%a: tensor<3xi32>):
            %1 = ascend.add %a, %a : tensor<3xi32>
            ascend.yield %1 : tensor<3xi32>
          } : (tensor<3xi32>) -> tensor<3xi32>
          func.return %0 : tensor<3xi32>
        }
        func.func @f(%x: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
          %0 = func.call @twice(%x) : (tensor<3xi32>) -> tensor<3xi32>
          func.return %x, %0 : tensor<3xi32>, tensor<3xi32>
        }""",
        I32([1, 2, 3]),
    )
    assert_same(found, [I32([1, 2, 3]), I32([2, 4, 6])])


def test_results_own_their_memory() -> None:
    x = F32([1, 2])
    text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> }"
    (found,) = call(text, x)
    found[:] = 0
    assert x.tolist() == [1, 2]


def test_unknown_dimensions_follow_the_arguments() -> None:
    text = """
        func.func @f(%x: tensor<?x4xf32>) -> tensor<?xf32> {
          %0 = ascend.slice %x starts [0, 1] sizes [-9223372036854775808, 2] steps [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
          %1 = ascend.broadcast %0 : tensor<?x2xf32> to tensor<3x?x2xf32>
          %2 = ascend.reshape %1 : tensor<3x?x2xf32> to tensor<?xf32>
          func.return %2 : tensor<?xf32>
        }"""
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    assert_same(call(text, x), [np.broadcast_to(x[:, 1:3], (3, 5, 2)).reshape(-1)])


# --- random programs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_random_program_survives_printing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wild = seed % 2 == 1
    module = random_function(rng, wild=wild, empty=seed % 5 == 0)
    inputs = random_inputs(rng, module, wild=wild)
    expected = run_function(module, "random", inputs)
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    for value, type_ in zip(expected, func.function_type.outputs.data, strict=True):
        assert value.dtype == dtype_of(type_).to_numpy()
    text = StringIO()
    Printer(text).print_op(module)
    assert_same(run_function(parse(text.getvalue()), "random", inputs), expected)


def test_random_programs_reach_every_operator_and_dtype() -> None:
    rng = np.random.default_rng(0)
    ops = [op for _ in range(300) for op in random_function(rng, wild=True).walk() if isinstance(op, OperatorOp)]
    known = {op.name for op in ascend.Ascend.operations if issubclass(op, OperatorOp)}
    assert {op.name for op in ops} == known
    assert {dtype_of(op.result.type).name for op in ops} == set(DTYPES)


def test_exact_programs_hold_no_inexact_operator() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        for op in random_function(rng, exact=True, dtypes=["f16", "i32"]).walk():
            if isinstance(op, OperatorOp):
                assert dtype_of(op.result.type).name in ("f16", "i32", "i1")
                on_floats = dtype_of(op.result.type).is_float
                assert not (on_floats and isinstance(op, ascend.ElementwiseOp)) or op.operator.exact
                assert not (on_floats and isinstance(op, ascend.ReduceOp)) or op.kind.data in ("max", "min")


# --- arguments ------------------------------------------------------------------------------------------------------------

IDENTITY = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> }"


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("g", [], "the module has no func.func @g"),
        ("f", [], "@f takes 1 arguments, got 0"),
        ("f", [np.zeros(2)], r"an array of float64 and shape \(2,\) was passed for tensor<2xf32>"),
        ("f", [np.zeros(3, np.float32)], r"an array of float32 and shape \(3,\) was passed for tensor<2xf32>"),
    ],
)
def test_arguments_that_do_not_fit(name: str, args: Sequence[Array], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_function(parse(IDENTITY), name, args)


STORE = f"ascend.kernel @k(%x: memref<4xf32, {GM}>) {{ }}"


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((4, 2), np.float32)[:, 0], "is not C-contiguous; pass np.ascontiguousarray of it"),
        (np.zeros(5, np.float32), r"an array of float32 and shape \(5,\) was passed for memref<4xf32"),
        (np.zeros(4, np.int32), r"an array of int32 and shape \(4,\) was passed for memref<4xf32"),
    ],
)
def test_buffers_that_do_not_fit(array: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_kernel(parse(STORE), "k", [array])


# --- scalars --------------------------------------------------------------------------------------------------------------


Scalar = tuple[Any, Attribute]


def unary(make: Callable[[Any], Operation], x: Scalar) -> Any:
    return run_op(lambda v: make(v[0]), x)


def binary(make: Callable[[Any, Any], Operation], a: Scalar, b: Scalar) -> Any:
    return run_op(lambda v: make(v[0], v[1]), a, b)


def run_op(make: Callable[[list[Any]], Operation], *operands: Scalar) -> Any:
    """The result of an upstream op on scalars of these types."""
    block = Block(arg_types=[type_ for _, type_ in operands])
    op = make(list(block.args))
    op.verify()
    (result,) = new_interpreter(ModuleOp([])).run_op(op, tuple(value for value, _ in operands))
    return result


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        (arith.AddiOp, 2**63 - 1, 1, -(2**63)),
        (arith.SubiOp, 3, 5, -2),
        (arith.MuliOp, 2**32, 2**31, -(2**63)),
        (arith.DivSIOp, -7, 2, -3),
        (arith.FloorDivSIOp, -7, 2, -4),
        (arith.CeilDivSIOp, -7, 2, -3),
        (arith.CeilDivSIOp, 7, 2, 4),
        (arith.RemSIOp, -7, 2, -1),
        (arith.DivUIOp, -2, 2, 2**63 - 1),
        (arith.CeilDivUIOp, 7, 2, 4),
        (arith.RemUIOp, -1, 10, 5),
        (arith.MinSIOp, -1, 2, -1),
        (arith.MaxSIOp, -1, 2, 2),
        (arith.MinUIOp, -1, 2, 2),
        (arith.MaxUIOp, -1, 2, -1),
        (arith.AndIOp, 12, 10, 8),
        (arith.OrIOp, 12, 10, 14),
        (arith.XOrIOp, 12, 10, 6),
        (arith.ShLIOp, 1, 63, -(2**63)),
        (arith.ShLIOp, 1, 64, 0),
        (arith.ShRSIOp, -8, 1, -4),
        (arith.ShRSIOp, -8, 64, -1),
        (arith.ShRUIOp, -8, 62, 3),
    ],
)
def test_integer_arithmetic(op: Callable[..., Operation], a: int, b: int, expected: int) -> None:
    assert binary(op, (a, i64), (b, i64)) == expected


def test_narrow_integers_wrap_in_their_own_width() -> None:
    assert binary(arith.AddiOp, (100, i8), (100, i8)) == -56
    assert binary(arith.XOrIOp, (1, i1), (1, i1)) == 0
    assert binary(arith.AddiOp, (1, i1), (1, i1)) == 0


def test_division_by_zero_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        binary(arith.FloorDivSIOp, (1, IndexType()), (0, IndexType()))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (arith.AddfOp, 2.75),
        (arith.SubfOp, 0.25),
        (arith.MulfOp, 1.875),
        (arith.DivfOp, 1.2001953125),  # 1.5 / 1.25 rounded once to f16
        (arith.MaximumfOp, 1.5),
        (arith.MinimumfOp, 1.25),
        (arith.MaxnumfOp, 1.5),
        (arith.MinnumfOp, 1.25),
    ],
)
def test_float_arithmetic_in_f16(op: Callable[..., Operation], expected: float) -> None:
    f16 = Float16Type()
    result = binary(op, (np.float16(1.5), f16), (np.float16(1.25), f16))
    assert type(result) is np.float16 and result == expected


def test_maximumf_keeps_nan_and_maxnumf_drops_it() -> None:
    f32 = Float32Type()
    pair = ((np.float32(np.nan), f32), (np.float32(1), f32))
    assert np.isnan(binary(arith.MaximumfOp, *pair)) and binary(arith.MaxnumfOp, *pair) == 1
    assert unary(arith.NegfOp, (np.float32(2), f32)) == -2


def test_compare_integers() -> None:
    names = "eq ne slt sle sgt sge ult ule ugt uge".split()
    held = [n for n in names if binary(lambda a, b, n=n: arith.CmpiOp(a, b, n), (-1, i32), (1, i32))]
    assert held == ["ne", "slt", "sle", "ugt", "uge"]


def test_compare_floats() -> None:
    names = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
    f32 = Float32Type()

    def holding(a: float, b: float) -> str:
        held = [n for n in names if binary(lambda x, y, n=n: arith.CmpfOp(x, y, n), (np.float32(a), f32), (np.float32(b), f32))]
        return " ".join(held)

    assert holding(1, 2) == "olt ole one ord ult ule une true"
    assert holding(2, 2) == "oeq oge ole ord ueq uge ule true"
    assert holding(np.nan, 2) == "ueq ugt uge ult ule une uno true"


def test_scalar_casts() -> None:
    index, f32, f16 = IndexType(), Float32Type(), Float16Type()
    assert unary(lambda x: arith.IndexCastOp(x, i8), (300, index)) == 44
    assert unary(lambda x: arith.ExtSIOp(x, i64), (-1, i8)) == -1
    assert unary(lambda x: arith.ExtUIOp(x, i64), (-1, i8)) == 255
    assert unary(lambda x: arith.ExtSIOp(x, i64), (1, i1)) == -1
    assert unary(lambda x: arith.TruncIOp(x, i8), (200, i64)) == -56
    assert unary(lambda x: arith.SIToFPOp(x, f32), (2**24 + 1, i64)) == np.float32(2**24)
    assert unary(lambda x: arith.UIToFPOp(x, f32), (-1, i8)) == np.float32(255)
    assert unary(lambda x: arith.FPToSIOp(x, i32), (np.float32(-2.7), f32)) == -2
    assert unary(lambda x: arith.FPToUIOp(x, i8), (np.float32(200.5), f32)) == -56
    assert unary(lambda x: arith.TruncFOp(x, f16), (np.float32(0.1), f32)) == np.float16(0.1)
    assert unary(lambda x: arith.ExtFOp(x, f32), (np.float16(0.1), f16)) == np.float32(np.float16(0.1))
    assert run_op(lambda v: arith.SelectOp(*v), (0, i1), (3, index), (4, index)) == 4


# --- kernels --------------------------------------------------------------------------------------------------------------

VADD = f"""
ascend.kernel @vadd(%x: memref<?xf16, {GM}>, %y: memref<?xf16, {GM}>, %n: index) attributes {{block_dim = 3 : i64}} {{
  %tile = arith.constant 64 : index
  %first = ascend.block_idx
  %blocks = ascend.block_num
  %tiles = arith.ceildivsi %n, %tile : index
  %ub = ascend_memory.alloc "tile" : memref<64xf16, {IN_UB}>
  scf.for %i = %first to %tiles step %blocks {{
    %o = arith.muli %i, %tile : index
    %left = arith.subi %n, %o : index
    %c = arith.minsi %tile, %left : index
    %from = ascend_memory.view %x at [%o] sizes [%c] strides [1]
      : memref<?xf16, {GM}> to memref<?xf16, strided<[1], offset: ?>, {GM}>
    %to = ascend_memory.view %y at [%o] sizes [%c] strides [1]
      : memref<?xf16, {GM}> to memref<?xf16, strided<[1], offset: ?>, {GM}>
    %t = ascend_memory.view %ub at [0] sizes [%c] strides [1] : memref<64xf16, {IN_UB}> to memref<?xf16, {IN_UB}>
    ascend_memory.copy %from to %t : memref<?xf16, strided<[1], offset: ?>, {GM}> to memref<?xf16, {IN_UB}>
    ascend_memory.set_flag mte2 to v, 0
    ascend_memory.wait_flag mte2 to v, 0
    ascend_vector.add %t, %t into %t : memref<?xf16, {IN_UB}>, memref<?xf16, {IN_UB}> into memref<?xf16, {IN_UB}>
    ascend_memory.barrier all
    ascend_memory.copy %t to %to : memref<?xf16, {IN_UB}> to memref<?xf16, strided<[1], offset: ?>, {GM}>
  }}
}}
func.func @f(%x: memref<1000xf16, {GM}>, %y: memref<1000xf16, {GM}>) {{
  %w = ascend_memory.alloc "workspace" : memref<1000xf16, {GM}>
  ascend.launch @copy(%x, %w) : memref<1000xf16, {GM}>, memref<1000xf16, {GM}>
  ascend.launch @copy(%w, %y) : memref<1000xf16, {GM}>, memref<1000xf16, {GM}>
  func.return
}}
ascend.kernel @copy(%x: memref<1000xf16, {GM}>, %y: memref<1000xf16, {GM}>) attributes {{block_dim = 4 : i64}} {{
  %b = ascend.block_idx
  %250 = arith.constant 250 : index
  %o = arith.muli %b, %250 : index
  %t = ascend_memory.alloc "t" : memref<250xf16, {IN_UB}>
  %v = ascend_memory.view %x at [%o] sizes [250] strides [1]
    : memref<1000xf16, {GM}> to memref<250xf16, strided<[1], offset: ?>, {GM}>
  %w = ascend_memory.view %y at [%o] sizes [250] strides [1]
    : memref<1000xf16, {GM}> to memref<250xf16, strided<[1], offset: ?>, {GM}>
  ascend_memory.copy %v to %t : memref<250xf16, strided<[1], offset: ?>, {GM}> to memref<250xf16, {IN_UB}>
  ascend_memory.copy %t to %w : memref<250xf16, {IN_UB}> to memref<250xf16, strided<[1], offset: ?>, {GM}>
}}
"""


@pytest.mark.parametrize("block_dim", [None, 1, 48])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_blocks_of_a_kernel_share_the_work(n: int, block_dim: int | None) -> None:
    x = np.arange(n, dtype=np.float16)
    y = np.zeros_like(x)
    run_kernel(parse(VADD), "vadd", [x, y, n], block_dim)
    assert_same([y], [x + x])


def test_host_function_writes_its_outputs_in_place() -> None:
    x, y = np.arange(1000, dtype=np.float16).reshape(10, 100), np.zeros((1000,), np.float16)
    assert run_function(parse(VADD), "f", [x, y]) == []
    assert_same([y], [x.reshape(-1)])


def kernel(body: str, *arrays: Array) -> None:
    """Run a kernel whose arguments are %0, %1, … of these arrays' shapes."""
    rows = [(dtypes.from_numpy(a.dtype), a.shape) for a in arrays]
    types = [f"memref<{'x'.join(map(str, shape))}x{row.name}, {GM}>" for row, shape in rows if row is not None]
    arguments = ", ".join(f"%{k}: {t}" for k, t in enumerate(types))
    run_kernel(parse(f"ascend.kernel @k({arguments}) {{ {body} }}"), "k", arrays)


def test_two_dimensional_copies_follow_both_pitches() -> None:
    x, y = np.arange(40, dtype=np.float32).reshape(4, 10), np.zeros((3, 7), np.float32)
    kernel(
        f"""
        %ub = ascend_memory.alloc "ub" : memref<3x16xf32, {IN_UB}>
        %v = ascend_memory.view %0 at [12] sizes [3, 7] strides [10, 1]
          : memref<4x10xf32, {GM}> to memref<3x7xf32, strided<[10, 1], offset: 12>, {GM}>
        %t = ascend_memory.view %ub at [0] sizes [3, 7] strides [16, 1]
          : memref<3x16xf32, {IN_UB}> to memref<3x7xf32, strided<[16, 1]>, {IN_UB}>
        ascend_memory.copy %v to %t
          : memref<3x7xf32, strided<[10, 1], offset: 12>, {GM}> to memref<3x7xf32, strided<[16, 1]>, {IN_UB}>
        ascend_memory.copy %t to %1 : memref<3x7xf32, strided<[16, 1]>, {IN_UB}> to memref<3x7xf32, {GM}>""",
        x,
        y,
    )
    assert_same([y], [x[1:, 2:9]])


def test_scalar_copy_takes_any_strides_and_a_view_of_a_view_counts_from_its_start() -> None:
    x, y = np.arange(24, dtype=np.int64).reshape(4, 6), np.zeros((2, 3), np.int64)
    kernel(
        f"""
        %ub = ascend_memory.alloc "ub" : memref<3x2xi64, {IN_UB}>
        %a = ascend_memory.view %0 at [6] sizes [18] strides [1]
          : memref<4x6xi64, {GM}> to memref<18xi64, strided<[1], offset: 6>, {GM}>
        %b = ascend_memory.view %a at [17] sizes [3, 2] strides [-2, -6]
          : memref<18xi64, strided<[1], offset: 6>, {GM}> to memref<3x2xi64, strided<[-2, -6], offset: 23>, {GM}>
        ascend_memory.scalar_copy %b to %ub : memref<3x2xi64, strided<[-2, -6], offset: 23>, {GM}> to memref<3x2xi64, {IN_UB}>
        %t = ascend_memory.view %ub at [0] sizes [2, 3] strides [1, 2]
          : memref<3x2xi64, {IN_UB}> to memref<2x3xi64, strided<[1, 2]>, {IN_UB}>
        ascend_memory.scalar_copy %t to %1 : memref<2x3xi64, strided<[1, 2]>, {IN_UB}> to memref<2x3xi64, {GM}>""",
        x,
        y,
    )
    assert_same([y], [np.array([[23, 21, 19], [17, 15, 13]])])


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.name)
def test_load_and_store(dtype: DType) -> None:
    x = hard_numbers(dtype)[:2].reshape(1, 2)
    y = np.zeros((1, 2), x.dtype)
    type_ = f"memref<1x2x{dtype.name}, {GM}>"
    kernel(
        f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %a = memref.load %0[%c0, %c0] : {type_}
        memref.store %a, %1[%c0, %c1] : {type_}""",
        x,
        y,
    )
    assert y[0, 1] == x[0, 0] and y[0, 0] == 0


def test_loop_carries_and_branches() -> None:
    x, y = np.array([5], np.int32), np.array([0], np.int32)
    kernel(
        f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %n32 = memref.load %0[%c0] : memref<1xi32, {GM}>
        %n = arith.index_cast %n32 : i32 to index
        %zero = arith.constant 0 : i32
        %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i32) {{
          %odd_ = arith.remsi %i, %c2 : index
          %odd = arith.cmpi eq, %odd_, %c1 : index
          %next = scf.if %odd -> (i32) {{
            %i32 = arith.index_cast %i : index to i32
            %t = arith.addi %s, %i32 : i32
            scf.yield %t : i32
          }} else {{
            scf.yield %s : i32
          }}
          scf.yield %next : i32
        }}
        memref.store %sum, %1[%c0] : memref<1xi32, {GM}>""",
        x,
        y,
    )
    assert y.tolist() == [1 + 3]


def test_uninitialised_memory_is_poison() -> None:
    y, z = np.zeros(16, np.float32), np.zeros(16, np.int16)
    kernel(
        f"""
        %f = ascend_memory.alloc "f" : memref<16xf32, {IN_UB}>
        %i = ascend_memory.alloc "i" at 64 : memref<16xi16, {IN_UB}>
        ascend_memory.copy %f to %0 : memref<16xf32, {IN_UB}> to memref<16xf32, {GM}>
        ascend_memory.copy %i to %1 : memref<16xi16, {IN_UB}> to memref<16xi16, {GM}>""",
        y,
        z,
    )
    assert np.isnan(y).all() and (z.view(np.uint16) == 0xAAAA).all()


@pytest.mark.parametrize(("offset", "expected"), [(0, 2.0), (64, 1.0)])
def test_buffers_planned_to_overlap_share_their_bytes(offset: int, expected: float) -> None:
    """A wrong plan shows in the numbers: %b is written while %a is still needed."""
    y = np.zeros(16, np.float32)
    kernel(
        f"""
        %one = arith.constant 1.0 : f32
        %two = arith.constant 2.0 : f32
        %a = ascend_memory.alloc "a" at 0 : memref<16xf32, {IN_UB}>
        %b = ascend_memory.alloc "b" at {offset} : memref<16xf32, {IN_UB}>
        ascend_vector.duplicate %one into %a : f32 into memref<16xf32, {IN_UB}>
        ascend_vector.duplicate %two into %b : f32 into memref<16xf32, {IN_UB}>
        ascend_memory.copy %a to %0 : memref<16xf32, {IN_UB}> to memref<16xf32, {GM}>""",
        y,
    )
    assert (y == expected).all()


def test_access_outside_of_a_buffer_is_an_error() -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(InterpretationError, match="access to elements 4 to 11 of a buffer with 8"):
        kernel(
            f"""
            %4 = arith.constant 4 : index
            %ub = ascend_memory.alloc "ub" : memref<8xf32, {IN_UB}>
            %v = ascend_memory.view %0 at [%4] sizes [8] strides [1]
              : memref<8xf32, {GM}> to memref<8xf32, strided<[1], offset: ?>, {GM}>
            ascend_memory.copy %v to %ub : memref<8xf32, strided<[1], offset: ?>, {GM}> to memref<8xf32, {IN_UB}>""",
            x,
        )


# --- vector instructions --------------------------------------------------------------------------------------------------


def window(x: Array, pitch: int | None = None) -> Window:
    """`x` in a buffer of its own, a row every `pitch` elements."""
    if x.ndim == 1 or pitch is None:
        flat, strides = x.copy(), tuple(s // x.itemsize for s in x.copy().strides)
    else:
        flat = np.zeros((len(x), pitch), x.dtype)
        flat[:, : x.shape[1]] = x
        strides = (pitch, 1)
    return Window(flat.reshape(-1).view(np.uint8), x.dtype, x.shape, strides)


def buffer_of(w: Window) -> Buffer:
    row = dtypes.from_numpy(w.dtype)
    assert row is not None
    return buffer(w.shape, row, UB, w.strides)


def run_vector(name: str, *operands: Window | tuple[Any, DType], **properties: int | str) -> None:
    """Run an instruction on windows (sources, destination, work space) and scalars with their dtype; the op is verified."""
    types = [buffer_of(v) if isinstance(v, Window) else scalar_type(v[1]) for v in operands]
    op = vector_op(name, *Block(arg_types=types).args, **properties)
    op.verify()
    values = {ssa: v if isinstance(v, Window) else v[0] for ssa, v in zip(_in_order(op), operands, strict=True)}
    new_interpreter(ModuleOp([])).run_op(op, tuple(values[ssa] for ssa in op.operands))


def _in_order(op: VectorOp) -> list[SSAValue]:
    """The operands as `vector_op` takes them: block arguments in their order."""
    return sorted(op.operands, key=lambda v: v.index)  # pyright: ignore


def empty_like(x: Array, dtype: Any = None, pitch: int | None = None) -> Window:
    return window(np.zeros(x.shape, dtype or x.dtype), pitch)


UFUNC = {"ln": "log"} | {f"{name}s": OPERATORS[name].numpy for name in ("add", "mul", "max", "min", "shl", "shr")}
"""NumPy's name of an instruction that is not named like its operator."""
EXACT = {"floor_div", "mod", "fmod", "adds", "muls", "maxs", "mins"} | {r.name for r in OPERATORS.values() if r.exact}


_OWN_FUNCTION: dict[str, Callable[[Array], Array]] = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erfc": lambda x: np.array([math.erfc(v) for v in x.ravel().tolist()]).reshape(x.shape),
    "erf": lambda x: np.array([math.erf(v) for v in x.ravel().tolist()]).reshape(x.shape),
    "relu": lambda x: np.maximum(x, np.zeros_like(x)),
}


def expected_of(name: str, *inputs: Array) -> Array:
    """NumPy's ufunc in f32 (in double for functions) rounded to the dtype; integers in their own type."""
    dtype = inputs[0].dtype
    function = _OWN_FUNCTION.get(name) or getattr(np, UFUNC.get(name) or OPERATORS[name].numpy)
    if dtype.kind in "iub":
        return function(*inputs)
    wide = [v.astype(np.float32 if name in EXACT else np.float64) for v in inputs]
    return function(*wide).astype(dtype)


def instructions(*forms: str) -> list[tuple[Instruction, DType]]:
    return [(row, dtypes.dtype(d)) for row in INSTRUCTIONS if row.form in forms for d in row.dtypes]


def label(v: Any) -> str:
    return v.name


@pytest.mark.parametrize(("row", "dtype"), instructions("unary", "binary"), ids=label)
def test_arithmetic_instruction(row: Instruction, dtype: DType) -> None:
    """1-d, and 2-d with a pitch: the same lanes give the same numbers."""
    values = hard_numbers(dtype)
    inputs = (values,) if row.form == "unary" else cross(values)
    with np.errstate(all="ignore"):
        expected = expected_of(row.name, *inputs)
        flat = empty_like(inputs[0])
        run_vector(row.name, *map(window, inputs), flat)
        assert_same([flat.array()], [expected])
        pitch = round_up(len(inputs[0]), dtype.c0) + dtype.c0
        matrices = [np.stack([v, v[::-1]]) for v in inputs]
        deep = empty_like(matrices[0], pitch=pitch)
        run_vector(row.name, *(window(m, pitch) for m in matrices), deep)
        assert_same([deep.array()], [np.stack([expected, expected[::-1]])])


@pytest.mark.parametrize(("row", "dtype"), instructions("scalar"), ids=label)
def test_scalar_instruction(row: Instruction, dtype: DType) -> None:
    x = hard_numbers(dtype)
    with np.errstate(all="ignore"):
        for s in x:
            out = empty_like(x)
            run_vector(row.name, window(x), (s if dtype.is_float else int(s), dtype), out)
            assert_same([out.array()], [expected_of(row.name, x, np.full_like(x, s))])


def test_narrow_floats_are_rounded_once() -> None:
    """f16 2048 + 1 = 2049 is a tie that goes to even; e¹⁰ in f16 is the f32 exponential rounded."""
    out = empty_like(F16([0]))
    run_vector("adds", window(F16([2048])), (np.float16(1), dtypes.dtype("f16")), out)
    assert out.array() == 2048
    run_vector("exp", window(F16([10])), out)
    assert out.array() == np.float16(22026.465)


def bits_of(mask: Window, columns: int) -> list[list[int]]:
    """The bits of a 2-d mask, and pad bits behind them."""
    return [[int(row[k // 8]) >> (k % 8) & 1 for k in range(8 * mask.shape[1])] for row in mask.array().tolist()]


@pytest.mark.parametrize(("row", "dtype"), instructions("compare", "compare_scalar"), ids=label)
def test_comparison_writes_one_bit_an_element(row: Instruction, dtype: DType) -> None:
    """Rows of 13 lanes: two bytes, three pad bits that are 0 even if they were 1 before."""
    values = hard_numbers(dtype)
    a = np.resize(values, (3, 13))
    b = np.resize(values[::-1], (3, 13))
    mask = window(np.full((3, 2), 255, np.uint8), 32)
    if row.form == "compare":
        run_vector(row.name, window(a, 64), window(b, 64), mask)
    else:
        b = np.full_like(a, values[1])
        run_vector(row.name, window(a, 64), (values[1] if dtype.is_float else int(values[1]), dtype), mask)
    holds = getattr(np, PREDICATES[row.name.rpartition("_")[2]].numpy)(a, b)
    assert bits_of(mask, 13) == [[*(int(v) for v in line), 0, 0, 0] for line in holds]


@pytest.mark.parametrize(("row", "dtype"), instructions("select", "select_scalar"), ids=label)
@pytest.mark.parametrize("shape", [(11,), (2, 11)])
def test_select_reads_the_bits(row: Instruction, dtype: DType, shape: tuple[int, ...]) -> None:
    a = np.resize(hard_numbers(dtype), shape)
    b = np.resize(hard_numbers(dtype)[::-1], shape)
    condition = np.random.default_rng(2).random(shape) < 0.5
    mask = window(np.packbits(condition, axis=-1, bitorder="little"), 32)
    out = empty_like(a, pitch=64)
    if row.form == "select":
        run_vector(row.name, mask, window(a, 64), window(b, 64), out)
    else:
        b = np.full_like(a, hard_numbers(dtype)[1])
        run_vector(row.name, mask, window(a, 64), (b.flat[0] if not dtype.is_integer else int(b.flat[0]), dtype), out)
    chosen = [x if c else y for c, x, y in zip(condition.ravel(), a.ravel(), b.ravel(), strict=True)]
    assert out.array().tobytes() == np.array(chosen, a.dtype).tobytes()


def test_source_repeated_over_rows() -> None:
    out = empty_like(np.zeros((3, 8), np.float32))
    row = window(np.arange(8, dtype=np.float32))
    a = window(np.arange(24, dtype=np.float32).reshape(3, 8))
    run_vector("add", a, Window(row.memory, row.dtype, (3, 8), (0, 1)), out)
    assert_same([out.array()], [a.array() + row.array()])


@pytest.mark.parametrize("columns", [1, 5, 8, 19])
def test_source_repeated_over_columns_reads_its_block_again_and_again(columns: int) -> None:
    """Column stride 0: lane j reads element j mod 8 of the row's 32 B block."""
    blocks = np.arange(24, dtype=np.float32).reshape(3, 8)
    source = window(blocks)
    out = empty_like(np.zeros((3, columns), np.float32), pitch=24)
    run_vector("copy", Window(source.memory, source.dtype, (3, columns), (8, 0)), out)
    assert_same([out.array()], [blocks[:, np.arange(columns) % 8]])


@pytest.mark.parametrize(("row", "dtype"), instructions("block_broadcast"), ids=label)
def test_block_broadcast_fills_a_block_a_row(row: Instruction, dtype: DType) -> None:
    x = hard_numbers(dtype)
    out = window(np.zeros((len(x), dtype.c0), x.dtype))
    run_vector("block_broadcast", window(x), out)
    assert out.array().tobytes() == np.repeat(x[:, None], dtype.c0, axis=1).tobytes()


@pytest.mark.parametrize(("row", "dtype"), instructions("duplicate", "copy", "iota"), ids=label)
def test_moves_and_fills(row: Instruction, dtype: DType) -> None:
    x = np.resize(hard_numbers(dtype), (2, 37))
    out = empty_like(x, pitch=96)
    if row.form == "copy":
        run_vector("copy", window(x, 64), out)
        assert out.array().tobytes() == x.tobytes()
        return
    start = x.dtype.type(3) if dtype.is_float else 3
    run_vector(row.name, (start, dtype), out)
    counted = np.arange(3, 40).astype(x.dtype) if row.form == "iota" else np.full(37, 3, x.dtype)
    assert_same([out.array()], [np.stack([counted, counted])])


def test_iota_wraps_and_rounds() -> None:
    out = window(np.zeros(300, np.int8))
    run_vector("iota", (100, dtypes.dtype("i8")), out)
    assert_same([out.array()], [np.arange(100, 400).astype(np.int8)])
    out = window(np.zeros(3, np.float16))
    run_vector("iota", (np.float16(2048), dtypes.dtype("f16")), out)
    assert out.array().tolist() == [2048, 2048, 2050]


@pytest.mark.parametrize(("source", "to"), [(a, b) for a in DTYPES for b in DTYPES if {a, b} != {"f16", "bf16"}])
def test_cast_instruction(source: str, to: str) -> None:
    """Numbers that both types hold, and the rules for those they do not."""
    x = random_array(np.random.default_rng(3), (2, 9), dtypes.dtype(source))
    out = empty_like(x, dtypes.dtype(to).to_numpy(), 64)
    run_vector("cast", window(x, 64), out, round="trunc")
    wide = x.astype(np.float64)
    if to == "i1":
        expected = wide != 0
    elif dtypes.dtype(to).is_float:
        expected = np.array(by_brute_force(x.ravel(), to, "trunc")).reshape(x.shape) if to in ("f16", "bf16") else wide
    else:
        expected = np.trunc(wide).astype(np.int64)
    assert_same([out.array()], [np.asarray(expected).astype(out.dtype)])


def test_cast_instruction_rounds_as_told() -> None:
    x = window(F32([-1.5, 1.5, 2.5]))
    table = {"rint": [-2, 2, 2], "floor": [-2, 1, 2], "ceil": [-1, 2, 3], "round": [-2, 2, 3], "trunc": [-1, 1, 2]}
    for mode, expected in table.items():
        out = window(np.zeros(3, np.int16))
        run_vector("cast", x, out, round=mode)
        assert out.array().tolist() == expected
    out = window(np.zeros(1, np.float16))
    run_vector("cast", window(F32([2049])), out, round="odd")
    assert out.array() == 2050  # 2048 is even in its last place, 2050 odd


def fold_by_hand(function: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    """x[0 : n−h] ⊕= x[h : n] with h = ⌈n / 2⌉, until one is left."""
    while len(values) > 1:
        half = -(-len(values) // 2)
        values = [function(v, values[half + k]) if half + k < len(values) else v for k, v in enumerate(values[:half])]
    return values[0]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("row", "dtype"), instructions("reduce"), ids=label)
def test_reduction_folds_halves_in_the_element_type(row: Instruction, dtype: DType, axis: int) -> None:
    x = random_array(np.random.default_rng(4), (6, 13), dtype)
    name = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}[row.name.removeprefix("reduce_")]
    lines = x if axis == 1 else x.T
    with np.errstate(all="ignore"):
        expected = [fold_by_hand(lambda a, b: expected_of(name, np.array([a]), np.array([b]))[0], list(line)) for line in lines]
    out = window(np.zeros(len(lines), x.dtype))
    need = work_elements((6, 16 if axis == 0 else 13), axis, dtype)
    assert need is not None
    work = window(np.zeros(need, x.dtype))
    run_vector(row.name, window(x, 64), out, work, axis=axis)
    assert_same([out.array()], [np.array(expected, x.dtype)])


def test_reduction_in_f16_rounds_after_each_fold() -> None:
    """[2048, 1, 1, 1]: 2048 + 1 ties to 2048 and 1 + 1 is 2, then 2050; a running sum would stay at 2048, an exact one is 2051."""
    out, work = window(np.zeros(1, np.float16)), window(np.zeros(2, np.float16))
    run_vector("reduce_sum", window(F16([[2048, 1, 1, 1]])), out, work, axis=1)
    assert out.array() == 2050
    assert np.isnan(work.array()).all(), "work space holds no promise"


def test_destination_may_be_a_source() -> None:
    x = window(np.arange(8, dtype=np.float32))
    run_vector("mul", x, x, x)
    assert_same([x.array()], [np.arange(8, dtype=np.float32) ** 2])


def test_source_of_another_run_time_size_is_an_error() -> None:
    a, b = window(np.zeros(8, np.float32)), window(np.zeros(5, np.float32))
    types: list[Attribute] = [buffer((-(2**63),), "f32", UB)] * 3
    op = vector_op("add", *Block(arg_types=types).args)
    op.verify()
    with pytest.raises(InterpretationError, match=r"a source has shape \(5,\); expected \(8,\)"):
        new_interpreter(ModuleOp([])).run_op(op, (a, b, a))


def test_every_op_of_the_dialects_has_a_meaning() -> None:
    from ascir.dialects.memory import AscendMemory
    from ascir.dialects.vector import AscendVector

    impls = new_interpreter(ModuleOp([]))._impls._impl_dict  # pyright: ignore[reportPrivateUsage]
    ops = [op for d in (ascend.Ascend, AscendMemory, AscendVector) for op in d.operations]
    assert [op.name for op in ops if op not in impls and op is not ascend.KernelOp] == []
    assert set(ELEMENTWISE) == set(OPERATORS)
