"""The element-wise operators of the `ascend` dialect: one row each, named as NumPy or the vector unit names them.

An operator works on whole tensors and on any dtype NumPy allows; `passes/legalize_dtypes.py` and `passes/tile_to_kernel` turn it
into the instructions of `instructions.py`. The NumPy name doubles as its meaning in the interpreter and as the key by which
the tracer recognises the ufunc.
"""

from __future__ import annotations

from dataclasses import dataclass

_FLOAT = "float"
_NUMBER = "float int uint"
_BITS = "int uint bool"
_ANY = "float int uint bool"


@dataclass(frozen=True)
class Operator:
    """`ascend.<name>`; `kinds` lists the kinds of dtype it accepts (see `dtypes.Kind`)."""

    name: str
    arity: int
    numpy: str
    kinds: str
    exact: bool = False
    """NumPy's result in the same dtype is the correctly rounded one, so `strict` promises its bits."""

    def accepts(self, kind: str) -> bool:
        return kind in self.kinds.split()


UNARY = (
    Operator("abs", 1, "absolute", _NUMBER, True),
    Operator("neg", 1, "negative", _NUMBER, True),
    Operator("sign", 1, "sign", _NUMBER, True),
    Operator("exp", 1, "exp", _FLOAT),
    Operator("exp2", 1, "exp2", _FLOAT),
    Operator("expm1", 1, "expm1", _FLOAT),
    Operator("log", 1, "log", _FLOAT),
    Operator("log2", 1, "log2", _FLOAT),
    Operator("log10", 1, "log10", _FLOAT),
    Operator("log1p", 1, "log1p", _FLOAT),
    Operator("sqrt", 1, "sqrt", _FLOAT, True),
    Operator("rsqrt", 1, "rsqrt", _FLOAT),
    Operator("cbrt", 1, "cbrt", _FLOAT),
    Operator("reciprocal", 1, "reciprocal", _FLOAT, True),
    Operator("sin", 1, "sin", _FLOAT),
    Operator("cos", 1, "cos", _FLOAT),
    Operator("tan", 1, "tan", _FLOAT),
    Operator("asin", 1, "arcsin", _FLOAT),
    Operator("acos", 1, "arccos", _FLOAT),
    Operator("atan", 1, "arctan", _FLOAT),
    Operator("sinh", 1, "sinh", _FLOAT),
    Operator("cosh", 1, "cosh", _FLOAT),
    Operator("tanh", 1, "tanh", _FLOAT),
    Operator("asinh", 1, "arcsinh", _FLOAT),
    Operator("acosh", 1, "arccosh", _FLOAT),
    Operator("atanh", 1, "arctanh", _FLOAT),
    Operator("erf", 1, "erf", _FLOAT),
    Operator("erfc", 1, "erfc", _FLOAT),
    Operator("relu", 1, "relu", _NUMBER, True),
    Operator("floor", 1, "floor", _FLOAT, True),
    Operator("ceil", 1, "ceil", _FLOAT, True),
    Operator("rint", 1, "rint", _FLOAT, True),
    Operator("trunc", 1, "trunc", _FLOAT, True),
    Operator("not", 1, "invert", _BITS, True),
)
"""`rsqrt`, `erf`, `erfc` and `relu` have no ufunc; `ascir.nn` gives their NumPy meaning."""

BINARY = (
    Operator("add", 2, "add", _NUMBER, True),
    Operator("sub", 2, "subtract", _NUMBER, True),
    Operator("mul", 2, "multiply", _NUMBER, True),
    Operator("div", 2, "true_divide", _FLOAT, True),
    Operator("max", 2, "maximum", _NUMBER, True),
    Operator("min", 2, "minimum", _NUMBER, True),
    Operator("pow", 2, "power", _FLOAT),
    Operator("floor_div", 2, "floor_divide", _NUMBER),
    Operator("mod", 2, "remainder", _NUMBER),
    Operator("fmod", 2, "fmod", _NUMBER),
    Operator("atan2", 2, "arctan2", _FLOAT),
    Operator("hypot", 2, "hypot", _FLOAT),
    Operator("copysign", 2, "copysign", _FLOAT, True),
    Operator("and", 2, "bitwise_and", _BITS, True),
    Operator("or", 2, "bitwise_or", _BITS, True),
    Operator("xor", 2, "bitwise_xor", _BITS, True),
    Operator("shl", 2, "left_shift", "int uint", True),
    Operator("shr", 2, "right_shift", "int uint", True),
)

COMPARE = (
    Operator("eq", 2, "equal", _ANY, True),
    Operator("ne", 2, "not_equal", _ANY, True),
    Operator("lt", 2, "less", _ANY, True),
    Operator("le", 2, "less_equal", _ANY, True),
    Operator("gt", 2, "greater", _ANY, True),
    Operator("ge", 2, "greater_equal", _ANY, True),
)
"""Comparisons give `i1`; `ascend.compare` carries the name as its predicate."""

REDUCE_KINDS = ("sum", "prod", "max", "min", "mean")
OPERATORS = {row.name: row for row in (*UNARY, *BINARY)}
PREDICATES = {row.name: row for row in COMPARE}
