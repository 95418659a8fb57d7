"""Random NumPy programs for test_whole_path.py: a seed grows a straight line of steps, each checked on plain arrays as it is added.

Three kinds, by what can be said about the answer. "exact": any values, every result is defined to the last bit. "small": small whole
numbers, so that sums and mixed precision are exact too. "smooth": positive numbers near one under functions that do not cancel, for which
the accuracy rule holds whatever the order and the rounding.
"""

# The steps are lambdas over whatever NumPy takes.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import ml_dtypes
import numpy as np

from ascir import nn

xp, finfo = cast(Any, np), cast(Any, ml_dtypes.finfo)
"""NumPy for expressions whose types its stubs cannot tell."""

Rng = np.random.Generator
KINDS = ("exact", "small", "smooth")
BOOL = np.dtype(np.bool_)
FLOATS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)]
INTEGERS = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)]
DTYPES = [*FLOATS, *INTEGERS, BOOL]
DIMS = [1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 126, 129]
MOST_ELEMENTS = 40_000
WHOLE = {"float16": 2048.0, "bfloat16": 256.0, "float32": 2.0**24}
"""Whole numbers up to these are all there."""


def is_plain(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic))


def rounded(function: Callable[..., Any], *args: Any) -> Any:
    """A float function computed in float64 and rounded when on plain arrays; itself when traced.

    Only instructions that have a float16 form round to it at once; the others go by float32.
    """
    if not is_plain(args[0]):
        return function(*args)
    dtype = function(*args).dtype
    wide = np.asarray(function(*(a.astype(np.float64) for a in args)))
    return wide.astype(dtype) if function in HALF_FUNCTIONS else wide.astype(np.float32).astype(dtype)


def one_zero(function: Callable[..., Any], *args: Any) -> Any:
    """`function`, with +0 for −0: NumPy's choice between the two varies with dtype and machine."""
    result = function(*args)
    return result + 0 if result.dtype in FLOATS else result


@dataclass
class Step:
    """`function` on earlier values; `text` is how a person would write it."""

    text: str
    function: Callable[..., Any]
    operands: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.text}({', '.join(f'v{k}' for k in self.operands)})"


@dataclass
class Program:
    """A function of arrays: `steps` in order, of which `outputs` are returned."""

    name: str
    inputs: list[Any]
    steps: list[Step] = field(default_factory=list[Step])
    outputs: tuple[int, ...] = ()
    coarsest: Any = FLOATS[2]
    """The float dtype with the fewest bits that a value passes through."""

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        values = list(inputs)
        for step in self.steps:
            values.append(step.function(*(values[k] for k in step.operands)))
        return tuple(values[k] for k in self.outputs)

    def __str__(self) -> str:
        given = [f"v{k} = {x.dtype.name}{list(x.shape)}" for k, x in enumerate(self.inputs)]
        made = [f"v{k} = {step}" for k, step in enumerate(self.steps, len(self.inputs))]
        return "\n".join([self.name, *given, *made, f"return {', '.join(f'v{k}' for k in self.outputs)}"])


def one_of(rng: Rng, items: Sequence[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def shape_of_rank(rng: Rng, rank: int) -> tuple[int, ...]:
    """An awkward shape: now and then an empty dimension or one long one, never too many elements."""
    if rank and rng.random() < 0.1:
        return (*(1,) * (rank - 1), int(one_of(rng, [1000, 4097, 13243, 20000])))
    while True:
        shape = tuple(0 if rng.random() < 0.02 else int(one_of(rng, DIMS)) for _ in range(rank))
        if np.prod(shape, dtype=int) <= 6000:
            return shape


def against(rng: Rng, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with `shape`."""
    mine = [1 if rng.random() < 0.3 else d for d in shape]
    return tuple(mine[int(rng.integers(len(mine) + 1)) :]) if rng.random() < 0.3 else tuple(mine)


def numbers(rng: Rng, shape: tuple[int, ...], dtype: np.dtype[Any], kind: str) -> Any:
    """Values as the kind wants them; "exact" has zeros of both signs, subnormals, infinities, NaN and the ends of the integers."""
    if dtype == BOOL:
        return np.asarray(rng.random(shape) < 0.5)
    if kind == "small":
        return np.asarray(rng.integers(-4 if dtype.name[0] != "u" else 0, 5, shape)).astype(dtype)
    if dtype in FLOATS and kind == "smooth":
        return np.asarray(rng.uniform(0.5, 2.0, shape)).astype(dtype)
    if dtype not in FLOATS:
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        near = rng.integers(0, 5, shape).astype(dtype) - (0 if dtype.kind == "u" else 2)
        ends = rng.choice(np.array([info.min, info.max, 0, 1, info.max - 1], dtype), shape)
        return np.asarray(np.where(rng.random(shape) < 0.4, wide, np.where(rng.random(shape) < 0.7, near, ends))).astype(dtype)
    span = np.log2(float(finfo(dtype).max))
    wide = np.exp2(rng.uniform(-span, span, shape)) * rng.choice([-1.0, 1.0], shape)
    usual = rng.normal(size=shape) * 4
    tiny = float(finfo(dtype).smallest_subnormal)
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5, -0.5, tiny, -3 * tiny, float(finfo(dtype).max)], shape)
    chosen = np.where(rng.random(shape) < 0.15, special, np.where(rng.random(shape) < 0.4, wide, usual))
    return np.asarray(chosen).astype(dtype)


# Actions: given values, each proposes a step or None.

Proposal = tuple[str, Callable[..., Any], tuple[int, ...]] | None
UNARY_EXACT: list[tuple[str, Callable[..., Any]]] = [
    *((f.__name__, f) for f in (np.negative, np.abs, np.sign, np.square, np.positive, np.isnan, np.isinf, np.isfinite, np.signbit)),
    *((f.__name__, f) for f in (np.sqrt, np.floor, np.ceil, np.rint, np.trunc, np.logical_not, np.invert, np.reciprocal)),
    ("relu", partial(one_zero, nn.relu)),
]
ONLY_FLOATS = (np.reciprocal, np.signbit)
FUNCTIONS = [
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log1p, np.sin, np.cos, np.tan, np.tanh, np.sinh, np.cosh, np.arctan,
    np.arcsin, np.arccos, np.arcsinh, np.arccosh, np.arctanh, np.cbrt, np.log10,
]  # fmt: skip
HALF_FUNCTIONS = (np.exp, np.log)
BINARY_EXACT = [
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin, np.floor_divide, np.remainder,
    np.fmod, np.copysign, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift, np.heaviside,
]  # fmt: skip
UP_TO_ZERO = (np.maximum, np.minimum, np.fmax, np.fmin)
COMPARE = [
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_xor,
]  # fmt: skip
SMALL_BINARY = [np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.bitwise_xor, np.floor_divide, np.remainder]
SMALL_UNARY = [np.negative, np.abs, np.sign, np.square, np.floor, np.logical_not]


def pick(rng: Rng, values: Sequence[Any]) -> int:
    """The index of a value, later ones more often."""
    return len(values) - 1 - int(min(rng.geometric(0.4) - 1, len(values) - 1))


def unary(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    if kind == "smooth":
        return smooth_unary(rng, values, k)
    if kind == "exact" and values[k].dtype in FLOATS and rng.random() < 0.4:
        function = one_of(rng, FUNCTIONS)
        return function.__name__, partial(rounded, function), (k,)
    name, function = one_of(rng, UNARY_EXACT if kind == "exact" else [(f.__name__, f) for f in SMALL_UNARY])
    if function in ONLY_FLOATS and values[k].dtype not in FLOATS:
        return None
    return name, function, (k,)


def smooth_unary(rng: Rng, values: Sequence[Any], k: int) -> Proposal:
    if values[k].dtype not in FLOATS:
        return None
    choices: list[tuple[str, Callable[..., Any]]] = [
        ("sqrt", np.sqrt), ("tanh", np.tanh), ("exp-", lambda x: np.exp(x * -0.125)), ("log1p", np.log1p), ("sigmoid", nn.sigmoid),
        ("silu", nn.silu), ("gelu", nn.gelu), ("gelu_tanh", partial(nn.gelu, approximate="tanh")), ("arctan", np.arctan),
        ("rsqrt", nn.rsqrt), ("1/", lambda x: 1 / x), ("half+", lambda x: x * 0.5 + 0.25), ("**2", lambda x: x**2),
        ("**.5", lambda x: x**0.5),
    ]  # fmt: skip
    name, function = one_of(rng, choices)
    return name, function, (k,)


def binary(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    a, b = pick(rng, values), int(rng.integers(len(values)))
    if kind == "smooth":
        function = one_of(rng, [np.add, np.multiply, np.divide, np.maximum, np.minimum, np.hypot])
        return (function.__name__, function, (a, b)) if {values[a].dtype, values[b].dtype} <= set(FLOATS) else None
    if kind == "exact" and values[a].dtype in FLOATS and values[b].dtype in FLOATS and rng.random() < 0.15:
        function = one_of(rng, [np.arctan2, np.hypot, np.power])
        return function.__name__, partial(rounded, function), (a, b)
    functions = (BINARY_EXACT if kind == "exact" else SMALL_BINARY) if rng.random() < 0.7 else COMPARE
    function = one_of(rng, functions)
    if function in COMPARE and in_float64(values[a], values[b]):
        return None
    return function.__name__, partial(one_zero, function) if function in UP_TO_ZERO else function, (a, b)


def in_float64(a: Any, b: Any) -> bool:
    """Whether NumPy compares these in float64, which a kernel cannot; ml_dtypes has no word on some pairs."""
    try:
        return bool(np.result_type(a, b) == np.float64)
    except TypeError:
        return True


def with_number(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    """A Python number on one side, which is weak."""
    k = pick(rng, values)
    if values[k].dtype == BOOL or kind == "smooth":
        return None
    wide = [2, 3, 0, 7, 2.5, -1, 0.1, 1e30] if values[k].dtype in FLOATS else [2, 3, 0, 7, 100, -1]
    number = one_of(rng, [2, 3, 1, 0] if kind == "small" else wide)
    chosen = one_of(rng, (BINARY_EXACT[:10] if kind == "exact" else SMALL_BINARY[:5]) + COMPARE[:6])
    function = partial(one_zero, chosen) if chosen in UP_TO_ZERO else chosen
    if rng.random() < 0.5:
        return f"{number} {chosen.__name__}", lambda x: function(number, x), (k,)
    return f"{chosen.__name__} {number}", lambda x: function(x, number), (k,)


def where(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    masks = [k for k, v in enumerate(values) if v.dtype == BOOL]
    if not masks:
        return None
    return "where", xp.where, (one_of(rng, masks), pick(rng, values), int(rng.integers(len(values))))


def clip(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    low, high = sorted(int(v) for v in rng.integers(0, 5, 2))
    return f"clip {low} {high}", lambda x: one_zero(xp.clip, x, low, high), (k,)


def astype(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    target = one_of(rng, FLOATS if kind == "smooth" else DTYPES)
    if kind == "exact" and values[k].dtype in FLOATS and target.kind in "iu":
        # What does not fit is another test's matter: NumPy leaves it to the machine.
        low, high = (0, 100) if target.kind == "u" else (-100, 100)
        return f"fit astype {target.name}", lambda x: xp.where(xp.isnan(x), 0, xp.clip(x, low, high)).astype(target), (k,)
    # The reference of "smooth" stays in float64.
    return f"astype {target.name}", lambda x: x if x.dtype == np.float64 else x.astype(target), (k,)


def one_slice(rng: Rng, n: int) -> slice:
    step = int(one_of(rng, [1, 1, 1, 2, 3, -1, -1, -2, 7]))
    start, stop = sorted(int(v) for v in rng.integers(0, n + 1, 2))
    if rng.random() < 0.4:
        return slice(None, None, step)
    return slice(start, stop, step) if step > 0 else slice(stop, start, step)


def index(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    parts: list[Any] = [int(rng.integers(-d, d)) if d and rng.random() < 0.15 else one_slice(rng, d) for d in values[k].shape]
    if rng.random() < 0.2:
        parts.insert(int(rng.integers(len(parts) + 1)), None)
    elif parts and rng.random() < 0.3:
        cut = int(rng.integers(len(parts)))
        parts[cut : int(rng.integers(cut, len(parts) + 1))] = [...]
    key = tuple(parts)
    return f"[{key}]", lambda x: x[key], (k,)


def permute(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    axes = tuple(int(a) for a in rng.permutation(values[k].ndim))
    return f"transpose {axes}", lambda x: xp.transpose(x, axes), (k,)


def reshape(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    """Another factorisation of the same elements."""
    k = pick(rng, values)
    left, shape = int(values[k].size), []
    if not left:
        return None
    for _ in range(int(rng.integers(0, 4))):
        factor = int(one_of(rng, [d for d in (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 64) if left % d == 0]))
        shape.append(factor)
        left //= factor
    shape.insert(int(rng.integers(len(shape) + 1)), -1 if rng.random() < 0.3 else left)
    return f"reshape {shape}", lambda x: x.reshape(shape), (k,)


def join(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    """Concatenate or stack values of one shape, or a value with itself."""
    k = pick(rng, values)
    same = [j for j, v in enumerate(values) if v.shape == values[k].shape and (kind != "smooth" or v.dtype in FLOATS)]
    operands = tuple(int(j) for j in rng.choice(same or [k], int(rng.integers(1, 4))))
    function = one_of(rng, [xp.concatenate, xp.stack] if values[k].ndim else [xp.stack])
    axis = int(rng.integers(values[k].ndim + (function is xp.stack)))
    return f"{function.__name__} axis {axis}", lambda *xs: function(xs, axis=axis), operands


def move(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    rank = values[k].ndim
    if not rank:
        return None
    axis, n = int(rng.integers(rank)), int(rng.integers(1, 4))
    widths = [(int(a), int(b)) for a, b in rng.integers(0, 4, (rank, 2))]
    return one_of(rng, [
        (f"pad {widths}", lambda x: xp.pad(x, widths, constant_values=n), (k,)), ("flip", lambda x: xp.flip(x, axis), (k,)),
        (f"roll {n} {axis}", lambda x: xp.roll(x, n, axis), (k,)), (f"tile {n}", lambda x: xp.tile(x, n), (k,)),
        (f"repeat {n} {axis}", lambda x: xp.repeat(x, n, axis), (k,)), (f"swapaxes {axis}", lambda x: xp.swapaxes(x, axis, -1), (k,)),
        ("ravel", lambda x: x.ravel(), (k,)), ("squeeze", lambda x: x.squeeze(), (k,)), ("expand", lambda x: xp.expand_dims(x, axis), (k,)),
        ("broadcast", lambda x: xp.broadcast_to(x, (n, *x.shape)), (k,)), ("halves", lambda x: xp.split(x, 2, axis)[1], (k,)),
    ])  # fmt: skip


def reduce(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    rank, dtype = values[k].ndim, values[k].dtype
    axis: Any = None
    if rank and rng.random() < 0.8:
        axis = tuple(int(a) - int(one_of(rng, [0, rank])) for a in rng.permutation(rank)[: int(rng.integers(1, rank + 1))])
        axis = axis[0] if len(axis) == 1 else axis
    names = ["max", "min", "any", "all", "argmax", "argmin"]
    if kind == "smooth":
        names = ["sum", "mean", "max", "min", "sum", "mean", "var", "std"]
    elif kind == "small" or dtype not in FLOATS:
        names += ["sum", "sum", "sum", "prod"]
    name = str(one_of(rng, names))
    axis = one_of(rng, [None, *range(rank)]) if name.startswith("arg") else axis
    keep = bool(rng.random() < 0.5)
    return f"{name} {axis} {keep}", lambda x: one_zero(partial(getattr(xp, name), axis=axis, keepdims=keep), x), (k,)


def network(rng: Rng, values: Sequence[Any], kind: str) -> Proposal:
    k = pick(rng, values)
    if kind != "smooth" or values[k].dtype not in FLOATS or not values[k].ndim or (values[k] > 4).any():  # e^x makes much of rounding
        return None
    axis = int(rng.integers(-values[k].ndim, values[k].ndim))
    name = str(one_of(rng, ["softmax", "rms_norm"]))
    return f"{name} {axis}", lambda x: getattr(nn, name)(x, axis=axis), (k,)


ACTIONS = [
    unary, unary, binary, binary, binary, with_number, where, clip, astype, index, index, permute, reshape, join, move, move,
    reduce, reduce, network,
]  # fmt: skip


def acceptable(value: Any, kind: str) -> bool:
    """Whether the kind still says what the answer is."""
    if value.dtype not in DTYPES or value.size > MOST_ELEMENTS or value.ndim > 6:
        return False
    if kind == "exact" or not value.size or value.dtype == BOOL:
        return True
    wide = value.astype(np.float64)
    if kind == "small":
        return bool((np.abs(wide) < WHOLE.get(value.dtype.name, 2.0**52)).all())
    return bool(((wide > 1e-3) & (wide < 1e3)).all()) if value.dtype in FLOATS else True


def program(seed: int, kind: str) -> Program:
    """The program of this seed, with inputs that suit it."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    shape = shape_of_rank(rng, int(rng.integers(0, 5)))
    inputs: list[Any] = []
    for _ in range(int(rng.integers(1, 4))):
        dtype = one_of(rng, FLOATS if kind == "smooth" else DTYPES)
        inputs.append(numbers(rng, against(rng, shape) if inputs else shape, dtype, kind))
    made = Program(f"{kind}_{seed}", inputs)
    values, wanted = list(inputs), int(rng.integers(2, 9))
    for _ in range(60):
        proposal = one_of(rng, ACTIONS)(rng, values, kind)
        if len(made.steps) == wanted or proposal is None:
            continue
        value = attempt(Step(*proposal), values)
        if value is not None and acceptable(value, kind):
            made.steps.append(Step(*proposal))
            values.append(value)
    last = len(values) - 1
    made.coarsest = max((v.dtype for v in values if v.dtype in FLOATS), key=lambda d: float(finfo(d).eps), default=FLOATS[2])
    made.outputs = (last, *(int(k) for k in rng.integers(0, last + 1, int(rng.integers(0, 3)))))
    return made


def attempt(step: Step, values: Sequence[Any]) -> Any:
    """The step on plain arrays, or None where NumPy refuses it too."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return step.function(*(values[k] for k in step.operands))
        except (TypeError, ValueError, IndexError, OverflowError):
            return None
