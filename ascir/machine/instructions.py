"""The vector instructions: one row each, read by verifier, interpreter, C printer, emulator and cost model alike.

A row names the instruction (`ascend_vector.<name>` in IR, `__hcc_<name>` in C), the element types pipe V computes, the further
types a scalar loop on pipe S computes (the hardware has no vector form for them; slow, exact, and costed so), its meaning in
NumPy and in C, and how many steps of which throughput class an element takes.

Meanings are expressions over `a`, `b` (operands) and `s` (scalar operand). The NumPy text is evaluated on arrays of the element
type, f16 and bf16 having been widened to f32, and the result is rounded once to the destination. The C text is evaluated on
`float` (`c_float`, f16 and bf16 likewise widened) or on the integer type itself (`c_int`, wrapping; `T` names the type).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .target import Target

Form = Literal[
    "unary",  # dst = f(a)
    "binary",  # dst = f(a, b)
    "scalar",  # dst = f(a, s), s a scalar register
    "compare",  # mask = a ? b, one bit an element
    "compare_scalar",  # mask = a ? s
    "select",  # dst = mask ? a : b
    "select_scalar",  # dst = mask ? a : s
    "cast",  # dst = a in dst's type
    "duplicate",  # dst = s everywhere
    "iota",  # dst[i] = s + i
    "block_broadcast",  # dst[r, 0:block] = a[r]
    "copy",  # dst = a, UB to UB
    "reduce",  # dst[r] = ⊕ a[r, :] or dst[c] = ⊕ a[:, c]
]

_H = ("f16", "f32")
_F = ("f32",)
_I16 = ("i16", "ui16")
_I32 = ("i32", "ui32")
_I64 = ("i64", "ui64")
_I8 = ("i8", "ui8")
_INT = (*_I8, *_I16, *_I32, *_I64)
_SIGNED = ("i8", "i16", "i32", "i64")
_ALL = ("i1", *_INT, "f16", "bf16", "f32")


@dataclass(frozen=True)
class Instruction:
    """One row. `vector` and `scalar` list IR element types (of the first source; of the destination for duplicate and iota)."""

    name: str
    form: Form
    vector: tuple[str, ...]
    scalar: tuple[str, ...] = ()
    numpy: str = ""
    c_float: str = ""
    c_int: str = ""
    steps: dict[str, float] = field(default_factory=lambda: {"linear": 1.0})

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (*self.vector, *self.scalar)

    def pipe(self, dtype: str) -> str:
        """The pipe that computes this element type: "V", or "S" for a scalar loop."""
        return "V" if dtype in self.vector else "S"

    def cycles_per_element(self, dtype: str, element_bytes: int, target: Target) -> float:
        """Throughput cost of one element; start-up and pipe S are charged by the emulator."""
        if self.pipe(dtype) == "S":
            return target.scalar_element_cycles
        return sum(n * target.cycles_per_element(rate, element_bytes) for rate, n in self.steps.items())

    @property
    def passes(self) -> float:
        """How often an element goes from UB through the unit and back: once a step."""
        return sum(self.steps.values())

    def picojoules(self, dtype: str, target: Target) -> float:
        """Energy of the arithmetic on one element; moving it is charged by the emulator. What has no figure of its own costs f32's."""
        energy = target.energy
        arithmetic = dtype.removeprefix("u") if dtype != "i1" else "i8"
        add, multiply = energy.add[arithmetic], energy.multiply[arithmetic]
        function = energy.function_multiply_adds * (energy.add["f32"] + energy.multiply["f32"])
        linear = multiply if self.name in ("mul", "muls", "reduce_prod") else add
        return sum(n * (function if rate == "function" else linear) for rate, n in self.steps.items())


def _function(**steps: float) -> dict[str, float]:
    """Steps of a function composed from base instructions, as vendor libraries do; the counts are assumed."""
    return dict(steps)



_FLOOR_DIV_INT = "floor_div(a, b)"

_UNARY = (
    Instruction("abs", "unary", _H, _SIGNED, "np.abs(a)", "fabsf(a)", "(T)(a < 0 ? -a : a)"),
    Instruction("exp", "unary", _H, (), "np.exp(a)", "m_exp(a)", steps={"function": 1}),
    Instruction("ln", "unary", _H, (), "np.log(a)", "m_log(a)", steps={"function": 1}),
    Instruction("sqrt", "unary", _H, (), "np.sqrt(a)", "sqrtf(a)", steps={"function": 1}),
    Instruction("rsqrt", "unary", _H, (), "rsqrt(a)", "m_rsqrt(a)", steps={"function": 1}),
    Instruction("reciprocal", "unary", _H, (), "np.reciprocal(a)", "1.0f / a", steps={"function": 1}),
    Instruction("relu", "unary", (*_H, "i32"), (), "np.maximum(a, a.dtype.type(0))", "(a > 0.0f || a != a) ? a : 0.0f", "a > 0 ? a : 0"),
    Instruction("not", "unary", _INT, (), "np.invert(a)", "", "(T)~a"),
    Instruction("sign", "unary", _F, _INT, "np.sign(a)", "a != a ? a : (float)((a > 0.0f) - (a < 0.0f))", "(T)((a > 0) - (a < 0))", _function(linear=5)),
    Instruction("floor", "unary", _F, (), "np.floor(a)", "floorf(a)", steps={"cast": 1}),
    Instruction("ceil", "unary", _F, (), "np.ceil(a)", "ceilf(a)", steps={"cast": 1}),
    Instruction("rint", "unary", _F, (), "np.rint(a)", "rintf(a)", steps={"cast": 1}),
    Instruction("trunc", "unary", _F, (), "np.trunc(a)", "truncf(a)", steps={"cast": 1}),
    Instruction("exp2", "unary", _F, (), "np.exp2(a)", "m_exp2(a)", steps=_function(linear=1, function=1)),
    Instruction("expm1", "unary", _F, (), "np.expm1(a)", "m_expm1(a)", steps=_function(linear=9, function=2)),
    Instruction("log1p", "unary", _F, (), "np.log1p(a)", "m_log1p(a)", steps=_function(linear=6, function=2)),
    Instruction("log2", "unary", _F, (), "np.log2(a)", "m_log2(a)", steps=_function(linear=1, function=1)),
    Instruction("log10", "unary", _F, (), "np.log10(a)", "m_log10(a)", steps=_function(linear=1, function=1)),
    Instruction("cbrt", "unary", _F, (), "np.cbrt(a)", "m_cbrt(a)", steps=_function(linear=6, function=2)),
    Instruction("sin", "unary", _F, (), "np.sin(a)", "m_sin(a)", steps=_function(linear=14, cast=2)),
    Instruction("cos", "unary", _F, (), "np.cos(a)", "m_cos(a)", steps=_function(linear=15, cast=2)),
    Instruction("tan", "unary", _F, (), "np.tan(a)", "m_tan(a)", steps=_function(linear=18, cast=2, function=1)),
    Instruction("asin", "unary", _F, (), "np.arcsin(a)", "m_asin(a)", steps=_function(linear=16, function=1)),
    Instruction("acos", "unary", _F, (), "np.arccos(a)", "m_acos(a)", steps=_function(linear=17, function=1)),
    Instruction("atan", "unary", _F, (), "np.arctan(a)", "m_atan(a)", steps=_function(linear=20, function=1)),
    Instruction("sinh", "unary", _F, (), "np.sinh(a)", "m_sinh(a)", steps=_function(linear=4, function=2)),
    Instruction("cosh", "unary", _F, (), "np.cosh(a)", "m_cosh(a)", steps=_function(linear=4, function=2)),
    Instruction("tanh", "unary", _F, (), "np.tanh(a)", "m_tanh(a)", steps=_function(linear=5, function=2)),
    Instruction("asinh", "unary", _F, (), "np.arcsinh(a)", "m_asinh(a)", steps=_function(linear=6, function=2)),
    Instruction("acosh", "unary", _F, (), "np.arccosh(a)", "m_acosh(a)", steps=_function(linear=4, function=2)),
    Instruction("atanh", "unary", _F, (), "np.arctanh(a)", "m_atanh(a)", steps=_function(linear=4, function=2)),
    Instruction("erf", "unary", _F, (), "erf(a)", "m_erf(a)", steps=_function(linear=16, function=1)),
    Instruction("erfc", "unary", _F, (), "erfc(a)", "m_erfc(a)", steps=_function(linear=22, function=3)),
)

_BINARY = (
    Instruction("add", "binary", (*_H, *_I16, *_I32), (*_I8, *_I64), "np.add(a, b)", "a + b", "(T)(a + b)"),
    Instruction("sub", "binary", (*_H, *_I16, *_I32), (*_I8, *_I64), "np.subtract(a, b)", "a - b", "(T)(a - b)"),
    Instruction("mul", "binary", (*_H, *_I16, *_I32), (*_I8, *_I64), "np.multiply(a, b)", "a * b", "(T)(a * b)"),
    Instruction("div", "binary", _H, (), "np.true_divide(a, b)", "a / b", steps={"function": 1}),
    Instruction("max", "binary", (*_H, "i16", "i32"), ("ui16", "ui32", *_I8, *_I64), "np.maximum(a, b)", "(a > b || a != a) ? a : b", "a > b ? a : b"),
    Instruction("min", "binary", (*_H, "i16", "i32"), ("ui16", "ui32", *_I8, *_I64), "np.minimum(a, b)", "(a < b || a != a) ? a : b", "a < b ? a : b"),
    Instruction("and", "binary", (*_INT, "i1"), (), "np.bitwise_and(a, b)", "", "(T)(a & b)"),
    Instruction("or", "binary", (*_INT, "i1"), (), "np.bitwise_or(a, b)", "", "(T)(a | b)"),
    Instruction("xor", "binary", (*_INT, "i1"), (), "np.bitwise_xor(a, b)", "", "(T)(a ^ b)", _function(linear=4)),
    Instruction("shl", "binary", (), _INT, "np.left_shift(a, b)", "", "shift_left(a, b)"),
    Instruction("shr", "binary", (), _INT, "np.right_shift(a, b)", "", "shift_right(a, b)"),
    Instruction("floor_div", "binary", _F, _INT, "np.floor_divide(a, b)", "m_floor_div(a, b)", _FLOOR_DIV_INT, _function(linear=9, function=1, cast=1)),
    Instruction("mod", "binary", _F, _INT, "np.remainder(a, b)", "m_mod(a, b)", "modulo(a, b)", _function(linear=8, function=1, cast=1)),
    Instruction("fmod", "binary", _F, _INT, "np.fmod(a, b)", "m_fmod(a, b)", "remainder_of(a, b)", _function(linear=6, function=1, cast=1)),
    Instruction("pow", "binary", _F, (), "np.power(a, b)", "m_pow(a, b)", steps=_function(linear=14, function=3)),
    Instruction("atan2", "binary", _F, (), "np.arctan2(a, b)", "m_atan2(a, b)", steps=_function(linear=26, function=2)),
    Instruction("hypot", "binary", _F, (), "np.hypot(a, b)", "m_hypot(a, b)", steps=_function(linear=6, function=2)),
    Instruction("copysign", "binary", _F, (), "np.copysign(a, b)", "copysignf(a, b)", steps=_function(linear=4)),
)

_SCALAR = (
    Instruction("adds", "scalar", (*_H, *_I16, *_I32), (*_I8, *_I64), "np.add(a, s)", "a + s", "(T)(a + s)"),
    Instruction("muls", "scalar", (*_H, *_I16, *_I32), (*_I8, *_I64), "np.multiply(a, s)", "a * s", "(T)(a * s)"),
    Instruction("maxs", "scalar", (*_H, "i16", "i32"), ("ui16", "ui32", *_I8, *_I64), "np.maximum(a, s)", "(a > s || a != a) ? a : s", "a > s ? a : s"),
    Instruction("mins", "scalar", (*_H, "i16", "i32"), ("ui16", "ui32", *_I8, *_I64), "np.minimum(a, s)", "(a < s || a != a) ? a : s", "a < s ? a : s"),
    Instruction("shls", "scalar", (*_I16, *_I32), (*_I8, *_I64), "np.left_shift(a, s)", "", "shift_left(a, s)"),
    Instruction("shrs", "scalar", (*_I16, *_I32), (*_I8, *_I64), "np.right_shift(a, s)", "", "shift_right(a, s)"),
)

_PREDICATES = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_COMPARE = tuple(
    Instruction(f"compare_{p}", "compare", _H, _INT, f"a {op} b", f"a {op} b", f"a {op} b") for p, op in _PREDICATES.items()
) + tuple(
    Instruction(f"compares_{p}", "compare_scalar", _H, _INT, f"a {op} s", f"a {op} s", f"a {op} s") for p, op in _PREDICATES.items()
)

_MOVE = (
    Instruction("select", "select", (*_I16, *_I32, "f16", "bf16", "f32"), (*_I8, *_I64, "i1")),
    Instruction("selects", "select_scalar", (*_I16, *_I32, "f16", "bf16", "f32"), (*_I8, *_I64, "i1")),
    Instruction("cast", "cast", ("i1", "f16", "bf16", "f32", "i8", "ui8", "i16", "i32", "i64"), ("ui16", "ui32", "ui64"), steps={"cast": 1}),
    Instruction("duplicate", "duplicate", _ALL),
    Instruction("iota", "iota", ("f16", "f32", "i16", "i32"), ("ui16", "ui32", *_I8, *_I64)),
    Instruction("block_broadcast", "block_broadcast", (*_I16, *_I32, "f16", "bf16", "f32"), (*_I8, *_I64, "i1")),
    Instruction("copy", "copy", _ALL),
)

_REDUCE = (
    Instruction("reduce_sum", "reduce", _H, _INT, "np.add(a, b)", "a + b", "(T)(a + b)"),
    Instruction("reduce_max", "reduce", _H, _INT, "np.maximum(a, b)", "(a > b || a != a) ? a : b", "a > b ? a : b"),
    Instruction("reduce_min", "reduce", _H, _INT, "np.minimum(a, b)", "(a < b || a != a) ? a : b", "a < b ? a : b"),
    Instruction("reduce_prod", "reduce", _H, _INT, "np.multiply(a, b)", "a * b", "(T)(a * b)"),
)
"""A reduction folds halves: while n > 1, h = ⌈n / 2⌉ and x[0 : n−h] ⊕= x[h : n]; the same order in every back end, so that the
interpreter and the emulator agree to the bit and a long sum keeps the error of a tree."""

INSTRUCTIONS = (*_UNARY, *_BINARY, *_SCALAR, *_COMPARE, *_MOVE, *_REDUCE)
BY_NAME = {row.name: row for row in INSTRUCTIONS}

ROUND_MODES = ("rint", "floor", "ceil", "round", "trunc", "odd")
"""Rounding of a cast (hw §9) in the order of their numbers in the emulator; `odd` is f32 → f16 only."""


def cast_pipe(source: str, destination: str) -> str | None:
    """The pipe of a cast, or None for the pair the AI Core lacks (f16 ↔ bf16: go through f32)."""
    if {source, destination} == {"f16", "bf16"}:
        return None
    vector = BY_NAME["cast"].vector
    return "V" if source in vector and destination in vector else "S"
