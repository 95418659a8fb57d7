"""The numbers of splat constants: how they round to an element type, and how a cast converts them.

An `ascend.constant` keeps one number as it was written; canonicalize, select-precision and legalize-dtypes all need to know what
that number is once it is an f16, and they need it without NumPy, which `ascir-opt` must not wait for.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.ir import SSAValue

from ascir.dialects.ascend import ConstantOp
from ascir.machine.dtypes import DType, round_to, wrap_integer

Number = float | int


def number_of(value: SSAValue) -> Number | None:
    """The number of a splat constant as written, or None for any other value."""
    owner = value.owner
    return owner.number if isinstance(owner, ConstantOp) else None


def rounded(number: Number, dtype: DType) -> Number:
    """The number as an element of this type: floats round to nearest even (or to infinity), integers wrap, bools are 0 or 1."""
    if dtype.kind == "bool":
        return int(number != 0)
    if dtype.is_float:
        return round_to(float(number), dtype)
    bits = 8 * dtype.bytes
    return wrap_integer(int(number), bits) if dtype.kind == "int" else int(number) & ((1 << bits) - 1)


def converted(number: Number, source: DType, target: DType, mode: str) -> Number | None:
    """A number of one type cast to another with a rounding mode.

    None where only the machine's own rules say what comes out: floats beyond an integer type, a directed rounding between
    floats, integers beyond 2^24 that a float rounds.
    """
    x = rounded(number, source)
    if target.kind == "bool" or source.kind == "bool" or (source.is_integer and target.is_integer):
        return rounded(x, target)
    if target.is_float:
        y = rounded(x, target)
        plain = mode == "rint" and abs(x) <= 1 << 24 if source.is_integer else mode == "rint"
        return y if plain or x in (y, math.inf, -math.inf) or x != x else None
    if not math.isfinite(x) or mode not in _ROUND_INTEGER:
        return None
    whole = _ROUND_INTEGER[mode](x)
    return whole if rounded(whole, target) == whole else None


def _half_away(x: float) -> int:
    whole = math.floor(abs(x))
    return int(math.copysign(whole + (abs(x) - whole >= 0.5), x))


_ROUND_INTEGER: dict[str, Callable[[float], int]] = {
    "rint": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": _half_away,
}
