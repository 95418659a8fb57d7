"""Which bytes of a buffer a value may touch, as far as index arithmetic says.

Two copies of one loop conflict unless their windows are disjoint, and the windows of a tiled loop are `tile · 4096 + [0, 4096)`
with `tile` known only at run time. So an index becomes a linear form over unknown symbols (`Linear`) with bounds where they are
known, and the window of a buffer value becomes a `Region`: rows of bytes at a linear offset. Read `Linear`, then `Ranges.region`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, NoneAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import BlockIdxOp, BlockNumOp, KernelOp
from ascir.dialects.memory import AllocOp, ViewOp
from ascir.dialects.types import buffer_type, byte_size, dtype_of, strides_of_buffer
from ascir.machine.target import ASCEND910B

UNBOUNDED = 1 << 62
"""More bytes than any buffer has: the end of a GM argument of unknown size."""

Bounds = tuple[int | None, int | None]
"""Least and greatest value, both included; None where unknown."""


@dataclass(frozen=True)
class Linear:
    """`constant + Σ coefficient · symbol`: an index over values that are known only at run time."""

    constant: int = 0
    terms: frozenset[tuple[SSAValue, int]] = frozenset()

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """`self + times · other`."""
        if not other.terms:
            return Linear(self.constant + times * other.constant, self.terms)
        sums = dict(self.terms)
        for symbol, coefficient in other.terms:
            sums[symbol] = sums.get(symbol, 0) + times * coefficient
        terms = frozenset((symbol, c) for symbol, c in sums.items() if c)
        return Linear(self.constant + times * other.constant, terms)

    def times(self, factor: int) -> Linear:
        return Linear().plus(self, factor)

    def minus(self, other: Linear) -> Linear:
        return self.plus(other, -1)


@dataclass(frozen=True)
class Region:
    """`rows` runs of `width` bytes, `pitch` bytes apart, the first at `offset` in its buffer. One run: rows 1, pitch 0."""

    offset: Linear
    rows: Linear
    pitch: int
    width: Linear

    @property
    def extent(self) -> Linear:
        """Bytes from the first to the end of the last (where there is a row at all)."""
        return self.rows.times(self.pitch).plus(Linear(-self.pitch)).plus(self.width)

    def covers(self, other: Region) -> bool:
        """Whether every byte of `other` is provably in this region."""
        if self == other:
            return True
        gap = other.offset.minus(self.offset)
        if not gap.is_constant or gap.constant < 0:
            return False
        if self.pitch == 0:
            return _at_most(other.extent.plus(gap), self.extent)
        same_rows = self.pitch == other.pitch and self.rows == other.rows
        return same_rows and _at_most(other.width.plus(gap), self.width)


def _at_most(a: Linear, b: Linear) -> bool:
    difference = a.minus(b)
    return difference.is_constant and difference.constant <= 0


_Rule = Callable[[int, int], int]
_QUOTIENTS = (arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp)
_REMAINDERS = (arith.RemSIOp, arith.RemUIOp)
_BINARY = (arith.MuliOp, arith.MinSIOp, arith.MaxSIOp, *_QUOTIENTS, *_REMAINDERS)
"""Operations whose results are symbols with bounds, the same symbol for the same operands."""


class Ranges:
    """Linear forms, bounds and regions of the values of one kernel, each worked out once."""

    def __init__(self) -> None:
        self._linear: dict[SSAValue, Linear] = {}
        self._bounds: dict[SSAValue, Bounds] = {}
        self._twins: dict[tuple[object, ...], SSAValue] = {}
        self._regions: dict[tuple[SSAValue, bool], Region | None] = {}
        self._starts: dict[SSAValue, Linear] = {}
        self._hulls: dict[tuple[SSAValue, bool], tuple[int, int]] = {}

    # numbers

    def linear(self, value: SSAValue | int) -> Linear:
        """The value as a linear form; what is not linear is a symbol of its own, one symbol for equal expressions."""
        if isinstance(value, int):
            return Linear(value)
        if value not in self._linear:
            self._linear[value] = self._to_linear(value)
        return self._linear[value]

    def _to_linear(self, value: SSAValue) -> Linear:
        op = value.owner
        match op:
            case arith.ConstantOp(value=IntegerAttr() as number):
                return Linear(number.value.data)
            case arith.AddiOp():
                return self.linear(op.lhs).plus(self.linear(op.rhs))
            case arith.SubiOp():
                return self.linear(op.lhs).minus(self.linear(op.rhs))
            case arith.IndexCastOp():
                return self.linear(op.input)
            case arith.MuliOp():
                a, b = self.linear(op.lhs), self.linear(op.rhs)
                if a.is_constant or b.is_constant:
                    return b.times(a.constant) if a.is_constant else a.times(b.constant)
            case _:
                pass
        return Linear(0, frozenset({(self._representative(value), 1)}))

    def _representative(self, value: SSAValue) -> SSAValue:
        """The first value seen that is computed in the same way from the same operands."""
        op = value.owner
        if not isinstance(op, _BINARY):
            return value
        return self._twins.setdefault((op.name, *map(self.linear, op.operands)), value)

    def bounds(self, form: Linear) -> Bounds:
        """Least and greatest value of a linear form."""
        low: int | None = form.constant
        high: int | None = form.constant
        for symbol, coefficient in form.terms:
            least, greatest = scaled(self._bounds_of(symbol), coefficient)
            low, high = _add(low, least), _add(high, greatest)
        return low, high

    def _bounds_of(self, symbol: SSAValue) -> Bounds:
        if symbol not in self._bounds:
            self._bounds[symbol] = (None, None)
            self._bounds[symbol] = self._to_bounds(symbol)
        return self._bounds[symbol]

    def _to_bounds(self, symbol: SSAValue) -> Bounds:
        op = symbol.owner
        if isinstance(op, Block):
            return self._induction_bounds(op, symbol)
        if isinstance(op, BlockIdxOp | memref.DimOp):
            return 0, None
        if isinstance(op, BlockNumOp):
            return 1, None
        if not isinstance(op, (*_BINARY, arith.SelectOp)):
            return None, None
        a, b = (self.bounds(self.linear(v)) for v in op.operands[-2:])
        match op:
            case arith.MinSIOp():
                return _of_both(min, a[0], b[0]), _of_any(min, a[1], b[1])
            case arith.MaxSIOp():
                return _of_any(max, a[0], b[0]), _of_both(max, a[1], b[1])
            case arith.SelectOp():
                return _of_both(min, a[0], b[0]), _of_both(max, a[1], b[1])
            case arith.MuliOp():
                return _product(a, b)
            case arith.RemSIOp() | arith.RemUIOp():
                return _remainder(a, b)
            case _:
                return _quotient(op, a, b)

    def _induction_bounds(self, block: Block, symbol: SSAValue) -> Bounds:
        loop = block.parent_op()
        if not isinstance(loop, scf.ForOp) or symbol is not block.args[0]:
            return None, None
        low, _ = self.bounds(self.linear(loop.lb))
        _, high = self.bounds(self.linear(loop.ub))
        return low, _add(high, -1)

    def least_step(self, loop: scf.ForOp) -> int:
        """The least distance between induction values of two iterations: steps are positive."""
        low, _ = self.bounds(self.linear(loop.step))
        return max(1, low or 1)

    # buffers

    def start(self, value: SSAValue) -> Linear:
        """Where the first element of a buffer value lies in its root, in bytes."""
        if value not in self._starts:
            op = view_of(value)
            if op is None:
                self._starts[value] = Linear()
            elif isinstance(op, ViewOp):
                offset = self.linear(op.mixed_offset).times(dtype_of(value.type).bytes)
                self._starts[value] = self.start(op.source).plus(offset)
            else:
                self._starts[value] = Linear(0, frozenset({(value, 1)}))
        return self._starts[value]

    def region(self, value: SSAValue, block: bool = False) -> Region | None:
        """The bytes an instruction touches through a buffer value, or None where rows of bytes cannot say it.

        Numbers that are unknown at compile time stay symbols. With `block`, a last dimension of stride 0 stands for the 32 B block
        that a vector instruction repeats.
        """
        key = (value, block)
        if key not in self._regions:
            self._regions[key] = self._to_region(value, block)
        return self._regions[key]

    def _to_region(self, value: SSAValue, block: bool) -> Region | None:
        dims = self._dims(value)
        if dims is None:
            return None
        if block and dims and dims[-1][1] == 0:
            element = dtype_of(value.type).bytes
            dims[-1] = (Linear(ASCEND910B.block_bytes // element), element)
        return _rows(self.start(value), dims, dtype_of(value.type).bytes)

    def _dims(self, value: SSAValue) -> list[tuple[Linear, int]] | None:
        """(count, stride in bytes) of each dimension; None when a stride or the extent of an argument is unknown."""
        op, type_ = view_of(value), buffer_type(value)
        size = dtype_of(type_).bytes
        if isinstance(op, ViewOp):
            strides = [self.linear(s) for s in op.mixed_strides]
            if not all(s.is_constant for s in strides):
                return None
            return [(self.linear(n), s.constant * size) for n, s in zip(op.mixed_sizes, strides, strict=True)]
        if op is not None or byte_size(type_) is None:
            return None
        return [(Linear(n), s * size) for n, s in zip(type_.get_shape(), strides_of_buffer(type_), strict=True)]

    def hull(self, value: SSAValue, block: bool = False) -> tuple[int, int]:
        """[lo, hi) in bytes of the root around everything the value reaches, as narrow as the numbers are known."""
        key = (value, block)
        if key not in self._hulls:
            self._hulls[key] = self._to_hull(value, block)
        return self._hulls[key]

    def _to_hull(self, value: SSAValue, block: bool) -> tuple[int, int]:
        region, op = self.region(value, block), view_of(value)
        outer = self.hull(op.operands[0]) if op is not None else (0, _bytes_of(value))
        return outer if region is None else self.around(region, outer)

    def around(self, region: Region, outer: tuple[int, int]) -> tuple[int, int]:
        """[lo, hi) of a region that is known to lie within `outer`."""
        low, high = self.bounds(region.offset)
        end = _add(high, self.span(region))
        lo = outer[0] if low is None else max(outer[0], low)
        return lo, max(lo, outer[1] if end is None else min(outer[1], end))

    def span(self, region: Region) -> int | None:
        """The most bytes from its first to the end of its last; 0 for a region that is empty, None if unknown."""
        rows, width = self.bounds(region.rows)[1], self.bounds(region.width)[1]
        if rows is None or width is None:
            return self.bounds(region.extent)[1] if region.pitch else width
        return 0 if rows <= 0 or width <= 0 else (rows - 1) * region.pitch + width

    def element(self, value: SSAValue, indices: Iterable[SSAValue]) -> Region | None:
        """The one element that `memref.load` and `memref.store` touch."""
        type_ = buffer_type(value)
        size, offset = dtype_of(type_).bytes, self.start(value)
        for index, stride in zip(indices, strides_of_buffer(type_), strict=True):
            if stride == DYNAMIC_INDEX:
                return None
            offset = offset.plus(self.linear(index), stride * size)
        return Region(offset, Linear(1), 0, Linear(size))


def view_of(value: SSAValue) -> Operation | None:
    """The op that makes `value` a window on another buffer; None for a root: an allocation or a kernel argument."""
    op = value.owner
    if isinstance(op, AllocOp) or (isinstance(op, Block) and isinstance(op.parent_op(), KernelOp)):
        return None
    if isinstance(op, ViewOp):
        return op
    if isinstance(op, Operation) and op.operands and isinstance(op.operands[0].type, MemRefType) and op.has_trait(Pure):
        return op
    name = value.name_hint or "a buffer"
    raise PassFailedException(
        f"cannot tell which memory %{name} stands for; a buffer is a kernel argument, an ascend_memory.alloc or a view of one"
    )


def root_of(value: SSAValue) -> SSAValue:
    """The allocation or kernel argument beneath views. PassFailedException for buffers carried by loops and branches."""
    while (op := view_of(value)) is not None:
        value = op.operands[0]
    return value


def _bytes_of(root: SSAValue) -> int:
    type_ = buffer_type(root)
    size = byte_size(type_) if isinstance(type_.layout, NoneAttr) else None
    return UNBOUNDED if size is None else size


def _rows(offset: Linear, dims: list[tuple[Linear, int]], element: int) -> Region | None:
    """Dimensions, innermost last, folded into rows of contiguous bytes."""
    width, rows, pitch = Linear(element), Linear(1), 0
    for count, stride in reversed(dims):
        if count == Linear(1) or stride == 0:
            continue
        if stride < 0:
            return None
        if pitch == 0 and width == Linear(stride):
            width = count.times(stride)
        elif pitch == 0:
            rows, pitch = count, stride
        elif rows.times(pitch) == Linear(stride):
            rows = count.times(rows.constant)
        else:
            return None
    return Region(offset, rows, pitch, width)


def _add(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def scaled(bounds: Bounds, factor: int) -> Bounds:
    """The bounds of `factor · x`."""
    low, high = (None if b is None else factor * b for b in bounds)
    return (low, high) if factor >= 0 else (high, low)


def _of_both(rule: _Rule, a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else rule(a, b)


def _of_any(rule: _Rule, a: int | None, b: int | None) -> int | None:
    return rule(a, b) if a is not None and b is not None else a if b is None else b


def _remainder(number: Bounds, divisor: Bounds) -> Bounds:
    """`n rem d` lies between 0 and d - 1 for n ≥ 0 and d > 0."""
    if number[0] is None or number[0] < 0 or divisor[0] is None or divisor[0] <= 0:
        return None, None
    return 0, _of_any(min, number[1], _add(divisor[1], -1))


def _quotient(op: Operation, number: Bounds, divisor: Bounds) -> Bounds:
    """n / d for a known d > 0: monotonous in n."""
    d = divisor[0]
    if d is None or d <= 0 or divisor[1] != d:
        return None, None
    if isinstance(op, arith.DivUIOp) and (number[0] is None or number[0] < 0):
        return None, None
    low, high = (None if n is None else _divide(op, d, n) for n in number)
    return low, high


def _divide(op: Operation, d: int, n: int) -> int:
    if isinstance(op, arith.CeilDivSIOp):
        return -(-n // d)
    return n // d if n >= 0 or isinstance(op, arith.FloorDivSIOp) else -(-n // d)


def _product(a: Bounds, b: Bounds) -> Bounds:
    """a · b for factors that are not negative."""
    if a[0] is None or b[0] is None or min(a[0], b[0]) < 0:
        return None, None
    return a[0] * b[0], None if a[1] is None or b[1] is None else a[1] * b[1]
