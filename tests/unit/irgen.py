"""Random programs for translation validation: a pass is right if the interpreter gives the same before and after it.

`random_function` writes a verified function of `ascend` ops with awkward sizes, `random_inputs` arrays to call it with. Unless
told to be wild, an op is kept only if its values on a sample are finite and small, so that a difference means something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ascir.dialects import ascend
from ascir.dialects.types import Tensor, dtype_of, shape_of, tensor, tensor_type
from ascir.interpret import new_interpreter
from ascir.machine import dtypes as machine_dtypes
from ascir.machine.dtypes import DType
from ascir.machine.instructions import ROUND_MODES
from ascir.machine.operators import BINARY, PREDICATES, REDUCE_KINDS, UNARY

Array = NDArray[Any]
Rng = np.random.Generator

DTYPES = tuple(d.name for d in machine_dtypes.ALL)
SIZES = (1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127)
MAX_ELEMENTS = 8192
MAX_RANK = 4
SMALL = 1000.0
"""Largest magnitude that a tame program may compute on its sample: f16 holds it without trouble."""


def random_function(
    rng: Rng,
    *,
    dtypes: Sequence[str] = DTYPES,
    max_ops: int = 12,
    max_inputs: int = 3,
    exact: bool = False,
    wild: bool = False,
    empty: bool = False,
) -> ModuleOp:
    """A module of one function `@random` of up to `max_ops` operators (and the constants and broadcasts they need).

    `dtypes` are the element types of inputs and casts (comparisons add i1). `exact` keeps to operators whose result is the
    correctly rounded one (and to max and min among reductions of floats), so that any two right compilations agree to the bit.
    `wild` accepts operators whatever their values (pair it with wild inputs); `empty` allows dimensions of size 0.
    """
    writer = _Writer(rng, dtypes, exact=exact, wild=wild, empty=empty)
    for _ in range(int(rng.integers(1, max_inputs + 1))):
        writer.add_input()
    for _ in range(int(rng.integers(1, max_ops + 1))):
        writer.add_op()
    module = writer.finish()
    module.verify()
    return module


def random_inputs(rng: Rng, module: ModuleOp, name: str = "random", *, wild: bool = False) -> list[Array]:
    """Arrays for the function's parameters, small numbers or (`wild`) also ±inf, NaN, ±0, subnormals and extremes."""
    func = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    return [random_array(rng, shape_of(arg), dtype_of(arg.type), wild=wild) for arg in func.args]


def random_array(rng: Rng, shape: Sequence[int], dtype: DType, *, wild: bool = False) -> Array:
    """An array of small numbers of this dtype; `wild` puts a hard one in about every third place."""
    np_dtype = dtype.to_numpy()
    if dtype.is_float:
        values = rng.uniform(-2, 2, shape)
    else:
        low, high = {"bool": (0, 2), "int": (-9, 100), "uint": (0, 100)}[dtype.kind]
        values = rng.integers(low, high, shape)
    values = np.asarray(values).astype(np_dtype)
    return np.where(rng.random(shape) < 0.3, rng.choice(hard_numbers(dtype), shape), values) if wild else values


def hard_numbers(dtype: DType) -> Array:
    """The numbers of a dtype at which implementations differ."""
    np_dtype = dtype.to_numpy()
    if dtype.kind == "bool":
        return np.array([False, True])
    if dtype.is_integer:
        bounds = np.iinfo(np_dtype)
        return np.array([0, 1, 2, 7, bounds.min, bounds.max, bounds.max - 1, bounds.max // 2], np_dtype)
    bits = np.dtype(f"uint{8 * dtype.bytes}")
    one = np.ones(1, np_dtype).view(bits)[0]
    infinity = np.array([np.inf], np_dtype).view(bits)[0]
    positive = np.array([0, 1, 2, one - 1, one, one + 1, infinity - 1, infinity], bits).view(np_dtype)
    others = np.array([np.nan, 0.5, 1.5, 2.5, 127.5, 255.0, 32768.0, 65504.0], np_dtype)
    return np.concatenate([positive, -positive, others, -others])


def rounded_once(exact: Array, dtype: np.dtype[Any]) -> Array:
    """float64 as `dtype`. ml_dtypes before 0.7 rounds to float32 on the way to bfloat16, so it is given a float32 rounded to odd."""
    if dtype.name != "bfloat16":
        return exact.astype(dtype)
    near = exact.astype(np.float32)
    cut = np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
    return (cut.view(np.uint32) | (np.isfinite(cut) & (cut != exact))).view(np.float32).astype(dtype)


def assert_same(found: Sequence[Array], expected: Sequence[Array]) -> None:
    """The same dtypes, shapes and values; any NaN equals any other (NumPy's own check does not know bf16's), and -0 equals 0."""
    assert [(v.dtype, v.shape) for v in found] == [(v.dtype, v.shape) for v in expected]
    for a, b in zip(found, expected, strict=True):
        is_float = a.dtype.kind not in "biu"
        np.testing.assert_array_equal(*((a.astype(np.float64), b.astype(np.float64)) if is_float else (a, b)))


class _Writer:
    """A function under construction, with the value of everything on one sample."""

    def __init__(self, rng: Rng, dtypes: Sequence[str], *, exact: bool, wild: bool, empty: bool):
        self.rng, self.exact, self.wild = rng, exact, wild
        self.dtypes = [machine_dtypes.dtype(d) for d in dtypes]
        self.sizes = (*SIZES, 0) if empty else SIZES
        self.block = Block()
        self.sample: dict[SSAValue, Array] = {}
        self.interpreter = new_interpreter(ModuleOp([]))

    def add_input(self) -> None:
        dtype, shape = self.one_of(self.dtypes), self.shape()
        arg = self.block.insert_arg(tensor(shape, dtype), len(self.block.args))
        self.sample[arg] = random_array(self.rng, shape, dtype, wild=self.wild)

    def add_op(self) -> None:
        """Try steps until one applies and is tame; a constant always is."""
        for _ in range(20):
            op = self.one_of(_STEPS)(self)
            if op is not None and self.emit(op, keep_if_tame=True) is not None:
                return

    def finish(self) -> ModuleOp:
        unused = [v for v in self.sample if v.first_use is None and not isinstance(v.owner, Block)]
        results = unused[-3:] or [next(iter(self.sample))]
        self.block.add_op(ReturnOp(*results))
        types = FunctionType.from_lists(list(self.block.arg_types), [v.type for v in results])
        return ModuleOp([FuncOp("random", types, Region(self.block))])

    def emit(self, op: ascend.OperatorOp, *, keep_if_tame: bool = False) -> SSAValue | None:
        """Append the op and give its result, or None where its values on the sample are not worth comparing."""
        with np.errstate(all="ignore"):
            value = np.asarray(self.interpreter.run_op(op, tuple(self.sample[v] for v in op.operands))[0])
        if keep_if_tame and not self.wild and not _is_tame(value):
            op.erase()
            return None
        self.block.add_op(op)
        self.sample[op.result] = value
        return op.result

    # What steps ask for.

    def one_of(self, items: Sequence[Any]) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def rounds(self, type_: Tensor) -> bool:
        """Whether an inexact operator on this type would round, which an exact program may not."""
        return self.exact and dtype_of(type_).is_float

    def shape(self) -> tuple[int, ...]:
        """A random shape of rank 0 to 4 that is not too large."""
        rank = int(self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))
        while True:
            shape = tuple(self.one_of(self.sizes) for _ in range(rank))
            if prod(shape) <= MAX_ELEMENTS:
                return shape

    def value(self, fits: Callable[[Tensor], bool] = lambda _: True) -> SSAValue | None:
        """A value already there, a late one rather than an early one."""
        found = [v for v in self.sample if fits(tensor_type(v))]
        return found[-1 - min(int(self.rng.geometric(0.3)) - 1, len(found) - 1)] if found else None

    def partner(self, of: SSAValue, dtype: DType | None = None) -> SSAValue:
        """A value of the same shape (and dtype, unless another is named), broadcast or made if need be."""
        shape, dtype = shape_of(of), dtype or dtype_of(of.type)
        found = self.value(lambda t: dtype_of(t) == dtype and _broadcasts(t.get_shape(), shape))
        if found is None or self.chance(0.1):
            return self.constant(tensor(shape, dtype))
        if shape_of(found) == shape:
            return found
        made = self.emit(ascend.BroadcastOp(found, shape))
        assert made is not None
        return made

    def constant(self, type_: Tensor) -> SSAValue:
        made = self.emit(_constant(self, type_))
        assert made is not None
        return made


def _is_tame(value: Array) -> bool:
    if value.dtype == np.bool_ or value.dtype.kind in "iu":
        return True
    wide = value.astype(np.float64)
    return bool(np.isfinite(wide).all() and (np.abs(wide) <= SMALL).all())


def _broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    lead = len(to) - len(shape)
    return lead >= 0 and all(a in (1, b) for a, b in zip(shape, to[lead:], strict=True))


def _is_number(type_: Tensor) -> bool:
    return dtype_of(type_).kind != "bool"


def _has_rank(type_: Tensor) -> bool:
    return len(type_.get_shape()) > 0


# Each step proposes an op on values already there, or None where it does not apply.


def _elementwise(w: _Writer) -> ascend.OperatorOp | None:
    row = w.one_of((*UNARY, *BINARY))
    a = w.value(lambda t: row.accepts(dtype_of(t).kind) and (row.exact or not w.rounds(t)))
    if a is None:
        return None
    return ascend.elementwise(row.name, *([a] if row.arity == 1 else [a, w.partner(a)]))


def _compare(w: _Writer) -> ascend.OperatorOp | None:
    a = w.value()
    return ascend.CompareOp(w.one_of(list(PREDICATES)), a, w.partner(a)) if a is not None else None


def _select(w: _Writer) -> ascend.OperatorOp | None:
    a = w.value()
    return ascend.SelectOp(w.partner(a, machine_dtypes.dtype("i1")), a, w.partner(a)) if a is not None else None


def _clamp(w: _Writer) -> ascend.OperatorOp | None:
    x = w.value(_is_number)
    return ascend.ClampOp(x, w.partner(x), w.partner(x)) if x is not None else None


def _cast(w: _Writer) -> ascend.OperatorOp | None:
    x = w.value()
    if x is None:
        return None
    dtype: DType = w.one_of(w.dtypes)
    modes = [m for m in ROUND_MODES if m != "odd" or (dtype_of(x.type).name, dtype.name) == ("f32", "f16")]
    return ascend.CastOp(x, dtype, w.one_of(modes) if w.chance(0.3) else None)


def _constant(w: _Writer, type_: Tensor | None = None) -> ascend.OperatorOp:
    """One number, or a few of them spelt out."""
    type_ = type_ or tensor(w.shape(), w.one_of(w.dtypes))
    dtype, shape = dtype_of(type_), type_.get_shape()
    if 0 < prod(shape) <= 8 and w.chance(0.3):
        values = random_array(w.rng, (prod(shape),), dtype, wild=w.wild).astype(np.float64 if dtype.is_float else object)
        return ascend.ConstantOp(_dense(type_, values.tolist()), type_)
    number = random_array(w.rng, (1,), dtype, wild=w.wild).astype(np.float64 if dtype.is_float else object)[0]
    return ascend.ConstantOp.splat(float(number) if dtype.is_float else int(number), type_)


def _dense(type_: Any, values: list[Any]) -> Attribute:
    return DenseIntOrFPElementsAttr.from_list(type_, values)


def _iota(w: _Writer) -> ascend.OperatorOp | None:
    dtype, shape = w.one_of(w.dtypes), w.shape()
    if not shape or dtype.kind == "bool":
        return None
    return ascend.IotaOp(int(w.rng.integers(len(shape))), tensor(shape, dtype))


def _broadcast(w: _Writer) -> ascend.OperatorOp | None:
    x = w.value()
    if x is None:
        return None
    shape = [w.one_of(w.sizes) if d == 1 and w.chance(0.7) else d for d in shape_of(x)]
    if len(shape) < MAX_RANK and w.chance(0.5):
        shape.insert(0, w.one_of(w.sizes))
    return ascend.BroadcastOp(x, shape) if prod(shape) <= MAX_ELEMENTS else None


def _reshape(w: _Writer) -> ascend.OperatorOp | None:
    """Merge two neighbours, split one dimension, or put in a 1."""
    x = w.value()
    if x is None:
        return None
    shape = list(shape_of(x))
    if len(shape) > 1 and w.chance(0.5):
        k = int(w.rng.integers(len(shape) - 1))
        shape[k : k + 2] = [shape[k] * shape[k + 1]]
    elif len(shape) < MAX_RANK:
        k = int(w.rng.integers(len(shape) + 1))
        size = shape[k] if k < len(shape) else 1
        factor = w.one_of([f for f in (1, 2, 3, 5, 7, 11) if size % f == 0])
        shape[k : k + 1] = [factor, size // factor] if w.chance(0.5) else [size // factor, factor]
    return ascend.ReshapeOp(x, shape)


def _transpose(w: _Writer) -> ascend.OperatorOp | None:
    x = w.value()
    return ascend.TransposeOp(x, [int(p) for p in w.rng.permutation(len(shape_of(x)))]) if x is not None else None


def _slice(w: _Writer) -> ascend.OperatorOp | None:
    x = w.value()
    if x is None:
        return None
    bounds = [_slice_of(w, dim) for dim in shape_of(x)]
    return ascend.SliceOp(x, [b[0] for b in bounds], [b[1] for b in bounds], [b[2] for b in bounds])


def _slice_of(w: _Writer, dim: int) -> tuple[int, int, int]:
    if dim == 0 or w.chance(0.4):
        return 0, dim, 1
    step = int(w.rng.integers(1, 4))
    size = int(w.rng.integers(1, -(-dim // step) + 1))
    start = int(w.rng.integers(0, dim - (size - 1) * step))
    return (start + (size - 1) * step, size, -step) if w.chance(0.3) else (start, size, step)


def _concat(w: _Writer) -> ascend.OperatorOp | None:
    a = w.value(_has_rank)
    if a is None:
        return None
    axis = int(w.rng.integers(len(shape_of(a))))

    def fits(t: Tensor) -> bool:
        dims, own = list(t.get_shape()), list(shape_of(a))
        return (
            t.element_type == tensor_type(a).element_type
            and len(dims) == len(own)
            and dims[:axis] == own[:axis]
            and (dims[axis + 1 :] == own[axis + 1 :])
        )

    parts = [a, *(w.value(fits) or a for _ in range(int(w.rng.integers(0, 3))))]
    return ascend.ConcatOp(parts, axis) if sum(prod(shape_of(p)) for p in parts) <= MAX_ELEMENTS else None


def _pad(w: _Writer) -> ascend.OperatorOp | None:
    x = w.value()
    if x is None:
        return None
    dtype, rank = dtype_of(x.type), len(shape_of(x))
    low, high = ([int(v) for v in w.rng.integers(0, 4, rank)] for _ in range(2))
    number = random_array(w.rng, (1,), dtype, wild=w.wild).astype(np.float64 if dtype.is_float else object)[0]
    return ascend.PadOp(x, low, high, float(number) if dtype.is_float else int(number))


def _reduce(w: _Writer) -> ascend.OperatorOp | None:
    kind = w.one_of(REDUCE_KINDS)

    def fits(t: Tensor) -> bool:
        if kind in ("max", "min"):
            return True
        return not w.rounds(t) and (dtype_of(t).is_float if kind == "mean" else _is_number(t))

    x = w.value(fits)
    if x is None:
        return None
    axes = [k for k in range(len(shape_of(x))) if w.chance(0.5)]
    if 0 in [shape_of(x)[k] for k in axes] and kind not in ("sum", "prod"):
        return None
    return ascend.ReduceOp(kind, x, axes, keepdims=w.chance(0.5))


_STEPS: tuple[Callable[[_Writer], ascend.OperatorOp | None], ...] = (
    *(_elementwise,) * 8,
    _compare,
    _select,
    _clamp,
    *(_cast,) * 2,
    _constant,
    _iota,
    *(_broadcast,) * 2,
    _reshape,
    _transpose,
    _slice,
    _concat,
    _pad,
    *(_reduce,) * 3,
)
