"""What a kernel does to memory: which pipe each instruction runs on, which bytes it reads and writes, which pairs conflict.

Memory planning and synchronisation ask the same questions and must get the same answers, so they ask here. `program` numbers the
instructions of a kernel (the ops that touch buffers) in program order and lists their accesses; `Program.conflicts` says for
each which others must not run at the same time. Index arithmetic behind the answers: `ranges.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import PassFailedException

from ascir.diagnostics import location_text
from ascir.dialects.ascend import KernelOp
from ascir.dialects.memory import AllocOp, BarrierOp, CopyOp, Pipe, ScalarCopyOp, SetFlagOp, SpaceAttr, WaitFlagOp
from ascir.dialects.types import buffer_type
from ascir.dialects.vector import VectorOp
from ascir.passes.ranges import Linear, Ranges, Region, root_of, scaled

SYNC_OPS = (SetFlagOp, WaitFlagOp, BarrierOp)


@dataclass(frozen=True)
class Access:
    """Bytes [lo, hi) of `root`, an allocation or a kernel argument, read or written by `pipe`.

    Where offsets are known only at run time, [lo, hi) surrounds every byte they can reach and `region` has the finer answer in
    symbols (None: whatever lies in [lo, hi)).
    """

    pipe: Pipe
    root: SSAValue
    lo: int
    hi: int
    write: bool
    region: Region | None


@dataclass(frozen=True)
class Instruction:
    """The `index`th op of a kernel that touches buffers, the loops around it (outermost first) and what it does."""

    index: int
    op: Operation
    pipe: Pipe
    accesses: tuple[Access, ...]
    loops: tuple[scf.ForOp, ...]


@dataclass
class Program:
    """The instructions of a kernel in program order."""

    kernel: KernelOp
    ranges: Ranges = field(default_factory=Ranges)
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    _steps: dict[Block, list[Operation]] = field(default_factory=dict[Block, list[Operation]])

    def steps(self, block: Block) -> list[Operation]:
        """The ops of a block that matter here: instructions, flags, barriers, and loops and branches."""
        if block not in self._steps:
            self._steps[block] = [op for op in block.ops if op in self.index or op.regions or isinstance(op, SYNC_OPS)]
        return self._steps[block]

    @cached_property
    def index(self) -> dict[Operation, int]:
        """Op → its number among the instructions."""
        return {i.op: i.index for i in self.instructions}

    @cached_property
    def conflicts(self) -> list[int]:
        """For each instruction the bit set of those that may touch the same bytes before it, one of the two writing."""
        return _Conflicts(self).found


def kernels(module: ModuleOp) -> Iterator[KernelOp]:
    """Every kernel of a module, nested modules included."""
    for op in module.body.block.ops:
        if isinstance(op, KernelOp):
            yield op
        elif isinstance(op, ModuleOp):
            yield from kernels(op)


def program(kernel: KernelOp) -> Program:
    """The instructions of a kernel.

    Raises PassFailedException for control flow other than scf.for and scf.if, and for ops with unknown effects on buffers.
    """
    found = Program(kernel)
    _collect(found, kernel.body.block, ())
    return found


def _collect(found: Program, block: Block, loops: tuple[scf.ForOp, ...]) -> None:
    for op in block.ops:
        if op.regions:
            _collect_nested(found, op, loops)
        elif touched := accesses(op, found.ranges):
            number = len(found.instructions)
            found.instructions.append(Instruction(number, op, touched[0].pipe, tuple(touched), loops))
        elif op.name.startswith("arith."):
            # In program order, so that a long chain of additions is never followed by a deep recursion.
            found.ranges.linear(op.results[0])


def _collect_nested(found: Program, op: Operation, loops: tuple[scf.ForOp, ...]) -> None:
    if not isinstance(op, scf.ForOp | scf.IfOp):
        raise PassFailedException(f"{op.name}{at(op)}: a kernel's control flow is scf.for and scf.if; lower it to those")
    inner = (*loops, op) if isinstance(op, scf.ForOp) else loops
    for region in op.regions:
        for block in region.blocks:
            _collect(found, block, inner)


def accesses(op: Operation, ranges: Ranges | None = None) -> list[Access]:
    """What an op reads and writes; nothing for arithmetic, views, allocations, flags and barriers.

    Raises PassFailedException for an op with buffer operands whose effects nobody has written down here.
    """
    ranges = ranges or Ranges()
    match op:
        case VectorOp():
            reads = [_access(ranges, op.pipe, v, False, block=True) for v in op.sources]
            return reads + [_access(ranges, op.pipe, v, True) for v in op.writes]
        case CopyOp():
            return _copy(ranges, op, op.pipe)
        case ScalarCopyOp():
            return _copy(ranges, op, Pipe.S)
        case memref.LoadOp() | memref.StoreOp():
            return [_element(ranges, op)]
        case AllocOp() | SetFlagOp() | WaitFlagOp() | BarrierOp():
            return []
        case _:
            if any(isinstance(v.type, MemRefType) for v in op.operands) and not op.has_trait(Pure):
                raise PassFailedException(
                    f"{op.name}{at(op)} has buffer operands, but passes/effects.py does not know what it does to them"
                )
            return []


def _access(ranges: Ranges, pipe: Pipe, value: SSAValue, write: bool, block: bool = False) -> Access:
    lo, hi = ranges.hull(value, block)
    return Access(pipe, root_of(value), lo, hi, write, ranges.region(value, block))


def _copy(ranges: Ranges, op: CopyOp | ScalarCopyOp, pipe: Pipe) -> list[Access]:
    return [_access(ranges, pipe, op.source, False), _access(ranges, pipe, op.destination, True)]


def _element(ranges: Ranges, op: memref.LoadOp | memref.StoreOp) -> Access:
    hull = ranges.hull(op.memref)
    region = ranges.element(op.memref, op.indices)
    lo, hi = ranges.around(region, hull) if region else hull
    return Access(Pipe.S, root_of(op.memref), lo, hi, isinstance(op, memref.StoreOp), region)


def name_of(root: SSAValue) -> str:
    """How a message calls a buffer: its label, or the name of the argument."""
    if isinstance(root.owner, AllocOp):
        return root.owner.label.data
    return root.name_hint or (f"argument {root.index}" if isinstance(root, BlockArgument) else "a buffer")


def at(op: Operation) -> str:
    """` (gelu.py:12)`, or nothing where the source line is unknown."""
    place = location_text(op.location)
    return f" ({place})" if place else ""


class _Window(NamedTuple):
    """What the accesses of a group share: `space` is the memory of a planned buffer, else the buffer itself."""

    space: object
    lo: int
    hi: int
    root: SSAValue
    region: Region | None
    loops: tuple[scf.ForOp, ...]


@dataclass
class _Group:
    """Instructions with the same window: bit sets of who reads and who writes it. `span`: its bytes at most, None if unknown."""

    window: _Window
    span: int | None
    readers: int = 0
    writers: int = 0


class _Conflicts:
    """Works out `Program.conflicts`: windows are compared pair by pair, instructions only by the windows they have."""

    def __init__(self, program: Program):
        self.ranges = program.ranges
        self.found = [0] * len(program.instructions)
        self._scopes: dict[SSAValue, set[Block]] = {}
        groups: dict[_Window, _Group] = {}
        for instruction in program.instructions:
            for access in instruction.accesses:
                window = _window(access, instruction.loops)
                group = groups.get(window)
                if group is None:
                    region = window.region
                    group = groups[window] = _Group(window, None if region is None else self.ranges.span(region))
                if access.write:
                    group.writers |= 1 << instruction.index
                else:
                    group.readers |= 1 << instruction.index
        for a, b in _touching(list(groups.values())):
            self._compare(a, b)

    def _compare(self, a: _Group, b: _Group) -> None:
        if not (a.writers or b.writers):
            return
        around = _common(a.window.loops, b.window.loops)
        movable = self._movable(a, b)
        same = not (movable and self._apart(a, b, None))
        for early, late in ((a, b), (b, a)) if a is not b else ((a, b),):
            carried = any(not (movable and self._apart(early, late, loop)) for loop in around)
            if same or carried:
                self._record(late.writers, early.readers | early.writers, carried)
                self._record(late.readers, early.writers, carried)

    def _record(self, members: int, others: int, carried: bool) -> None:
        """`others` come before each member if they stand before it, or (`carried`) in an earlier iteration wherever they stand."""
        for index in _bits(members):
            self.found[index] |= others if carried else others & ((1 << index) - 1)

    def _movable(self, a: _Group, b: _Group) -> bool:
        """Whether the symbols in the offsets can tell more than that [lo, hi) overlap."""
        if a.window.root is not b.window.root or a.span is None or b.span is None:
            return False
        return any(g.window.region is not None and g.window.region.offset.terms for g in (a, b))

    def _apart(self, a: _Group, b: _Group, loop: scf.ForOp | None) -> bool:
        """Whether two windows are disjoint: in one iteration of all loops around both, or b in a later iteration of `loop` than a."""
        one, other = a.window.region, b.window.region
        assert one is not None and other is not None and a.span is not None and b.span is not None
        shared, own_a, own_b = self._split(one.offset, other.offset, loop)
        stride = 0
        if loop is not None:
            stride, own_a, own_b = self._stride(loop, own_a, own_b)
        low, high = self.ranges.bounds(shared)
        for form, sign in ((own_b, 1), (own_a, -1)):
            least, greatest = scaled(self.ranges.bounds(form), sign)
            low = None if low is None or least is None else low + least
            high = None if high is None or greatest is None else high + greatest
        # b starts low … high bytes behind a, and at least `stride` further for each iteration between them.
        behind = low is not None and stride >= 0 and low + stride >= a.span
        before = high is not None and stride <= 0 and high + stride + b.span <= 0
        return behind or before

    def _split(self, a: Linear, b: Linear, loop: scf.ForOp | None) -> tuple[Linear, Linear, Linear]:
        """b - a over symbols with one value in both instances, and what is left of a and b: symbols that differ between them."""
        if loop is None:
            return b.minus(a), Linear(), Linear()
        inside_a, inside_b = self._varying(a, loop), self._varying(b, loop)
        return b.minus(inside_b).minus(a.minus(inside_a)), inside_a, inside_b

    def _varying(self, form: Linear, loop: scf.ForOp) -> Linear:
        body = loop.body.block
        return Linear(0, frozenset((s, c) for s, c in form.terms if body in self._scope(s)))

    def _scope(self, symbol: SSAValue) -> set[Block]:
        """The blocks around a value's definition."""
        if symbol not in self._scopes:
            block = symbol.owner if isinstance(symbol.owner, Block) else symbol.owner.parent
            found: set[Block] = set()
            while block is not None:
                found.add(block)
                block = block.parent_block()
            self._scopes[symbol] = found
        return self._scopes[symbol]

    def _stride(self, loop: scf.ForOp, a: Linear, b: Linear) -> tuple[int, Linear, Linear]:
        """The least bytes that a window moves from an iteration to the next, and what else moves a and b, if both follow alike."""
        induction = loop.body.block.args[0]
        factor = dict(a.terms).get(induction, 0)
        if factor == 0 or factor != dict(b.terms).get(induction, 0):
            return 0, a, b
        moving = Linear(0, frozenset({(induction, factor)}))
        return factor * self.ranges.least_step(loop), a.minus(moving), b.minus(moving)


def _window(access: Access, loops: tuple[scf.ForOp, ...]) -> _Window:
    """Planned buffers of one memory are compared by their bytes in it: `plan-memory` lets them share."""
    owner = access.root.owner
    if isinstance(owner, AllocOp) and owner.offset is not None:
        base, space = owner.offset.value.data, buffer_type(access.root).memory_space
        assert isinstance(space, SpaceAttr | NoneAttr)
        return _Window(space, base + access.lo, base + access.hi, access.root, access.region, loops)
    return _Window(access.root, access.lo, access.hi, access.root, access.region, loops)


def _touching(groups: Sequence[_Group]) -> Iterator[tuple[_Group, _Group]]:
    """Pairs of groups (a group with itself included) in one memory whose [lo, hi) overlap."""
    spaces: dict[object, list[_Group]] = {}
    for group in groups:
        if group.window.lo < group.window.hi:
            spaces.setdefault(group.window.space, []).append(group)
    for members in spaces.values():
        members.sort(key=lambda g: g.window.lo)
        open_: list[_Group] = []
        for group in members:
            open_ = [g for g in open_ if g.window.hi > group.window.lo]
            yield from ((other, group) for other in open_)
            yield group, group
            open_.append(group)


def _common(a: Sequence[scf.ForOp], b: Sequence[scf.ForOp]) -> list[scf.ForOp]:
    """The loops around both, outermost first."""
    shared: list[scf.ForOp] = []
    for one, other in zip(a, b, strict=False):
        if one is not other:
            break
        shared.append(one)
    return shared


def _bits(members: int) -> Iterator[int]:
    """The numbers in a bit set, ascending."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def clash(first: Instruction, second: Instruction) -> tuple[Access, Access] | None:
    """An access of each to the same bytes, one of them a write; reads of the second first, as those are what a race spoils."""
    for later in sorted(second.accesses, key=lambda a: a.write):
        for earlier in first.accesses:
            a, b = _window(earlier, ()), _window(later, ())
            if (earlier.write or later.write) and a.space == b.space and a.lo < b.hi and b.lo < a.hi:
                return earlier, later
    return None
