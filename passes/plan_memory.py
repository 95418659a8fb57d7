"""plan-memory: every on-chip buffer gets an offset, and buffers that never live at the same time may share bytes.

    %a = ascend_memory.alloc "a" : memref<…>        %a = ascend_memory.alloc "a" at 0 : memref<…>
    %b = ascend_memory.alloc "b" : memref<…>   →    %b = ascend_memory.alloc "b" at 8192 : memref<…>
    … uses of %a …, then … uses of %b …             // or also at 0, where not everything fits side by side

Sharing makes the second owner wait for the first, so buffers share only when they must (or with `share=true`). A buffer lives from
its first to its last use; where one iteration of a loop leaves something in it for the next, or for later, it lives for the whole
loop. `pack` is a pure function: `tile-to-kernel` asks it whether a tile fits.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import KernelOp
from ascir.dialects.memory import AllocOp, Space, space_of
from ascir.dialects.types import buffer_type, byte_size
from ascir.machine.layout import round_up
from ascir.machine.target import Target, parse_target
from ascir.passes.effects import Instruction, Program, at, kernels, program
from ascir.passes.ranges import Region

REPORT = "memory_report"
"""The kernel attribute: memory → {capacity, peak, buffers = {label = [offset, bytes, first, last instruction]}}."""


@dataclass(frozen=True)
class Interval:
    """A buffer of `bytes` that lives from instruction `first` to `last`, both included; `offset` if somebody has placed it."""

    name: str
    bytes: int
    first: int
    last: int
    offset: int | None = None


_ORDERS: tuple[Callable[[Interval], tuple[int, ...]], ...] = (
    lambda b: (-b.bytes, b.first),
    lambda b: (b.first, -b.bytes),
    lambda b: (b.first - b.last, -b.bytes),
)
"""Orders in which to place buffers: large ones first, by time, long-lived ones first."""


def pack(buffers: Sequence[Interval], alignment: int) -> tuple[list[int], int]:
    """Offsets in bytes in the order given, and the end of the highest buffer.

    Buffers that live at the same time never overlap; offsets already given stay. Each buffer takes the smallest gap that holds it,
    and of several orders the one with the lowest peak wins.
    """
    goal = sum(round_up(b.bytes, alignment) for b in live_at_peak(buffers, alignment)[1])
    best: tuple[list[int], int] = [], 0
    for order in _ORDERS:
        offsets = _place_all(buffers, order, alignment)
        peak = max((o + b.bytes for o, b in zip(offsets, buffers, strict=True)), default=0)
        if not best[0] or peak < best[1]:
            best = offsets, peak
        if best[1] <= goal:
            break
    return best


def live_at_peak(buffers: Sequence[Interval], alignment: int) -> tuple[int, list[Interval]]:
    """The instruction at which the most bytes are live, and the buffers live there, largest first."""
    steps: dict[int, int] = {}
    for b in buffers:
        size = round_up(b.bytes, alignment)
        steps[b.first] = steps.get(b.first, 0) + size
        steps[b.last + 1] = steps.get(b.last + 1, 0) - size
    live, most, when = 0, -1, 0
    for index in sorted(steps):
        live += steps[index]
        if live > most:
            most, when = live, index
    return when, sorted((b for b in buffers if b.first <= when <= b.last), key=lambda b: -b.bytes)


def _place_all(buffers: Sequence[Interval], order: Callable[[Interval], tuple[int, ...]], alignment: int) -> list[int]:
    offsets = [b.offset or 0 for b in buffers]
    placed = sorted((b.offset, n) for n, b in enumerate(buffers) if b.offset is not None)
    for n in sorted((n for n, b in enumerate(buffers) if b.offset is None), key=lambda n: order(buffers[n])):
        offsets[n] = _gap(buffers, placed, buffers[n], alignment)
        insort(placed, (offsets[n], n))
    return offsets


def _gap(buffers: Sequence[Interval], placed: Sequence[tuple[int, int]], new: Interval, alignment: int) -> int:
    """The start of the smallest gap for `new` among the placed buffers that live with it, or the end of them all."""
    best, room, free = 0, None, 0
    for offset, n in placed:
        other = buffers[n]
        if other.last < new.first or new.last < other.first:
            continue
        if new.bytes <= offset - free and (room is None or offset - free < room):
            best, room = free, offset - free
        free = max(free, round_up(offset + other.bytes, alignment))
    return free if room is None else best


def intervals(found: Program) -> dict[AllocOp, Interval]:
    """The on-chip buffers of a kernel and when they live, counted in its instructions (`effects.program`)."""
    lives = _uses(found)
    _extend_over_loops(found, lives)
    buffers: dict[AllocOp, Interval] = {}
    for op in found.kernel.walk():
        if isinstance(op, AllocOp) and space_of(op.memref) is not Space.GM:
            first, last = lives.get(op.memref, (0, 0))
            offset = None if op.offset is None else op.offset.value.data
            buffers[op] = Interval(op.label.data, byte_size(buffer_type(op.memref)) or 0, first, last, offset)
    return buffers


def _uses(found: Program) -> dict[SSAValue, tuple[int, int]]:
    """First and last use of each buffer."""
    lives: dict[SSAValue, tuple[int, int]] = {}
    for instruction in found.instructions:
        for access in instruction.accesses:
            first, _ = lives.get(access.root, (instruction.index, 0))
            lives[access.root] = first, instruction.index
    return lives


def _extend_over_loops(found: Program, lives: dict[SSAValue, tuple[int, int]]) -> None:
    """A buffer that an iteration inherits, or that is used after the loop, keeps its bytes from the loop's start to its end."""
    for loop, members in _loops(found).items():
        begin, end = members[0].index, members[-1].index
        inherited = _inherited(found, loop)
        for root in {access.root for m in members for access in m.accesses}:
            first, last = lives[root]
            if not _is_inside(root, loop) and (root in inherited or last > end):
                lives[root] = min(first, begin), max(last, end)


def _loops(found: Program) -> dict[scf.ForOp, list[Instruction]]:
    members: dict[scf.ForOp, list[Instruction]] = {}
    for instruction in found.instructions:
        for loop in instruction.loops:
            members.setdefault(loop, []).append(instruction)
    return members


def _is_inside(root: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a buffer is allocated in the body of a loop: then each iteration has it anew."""
    block = root.owner if isinstance(root.owner, Block) else root.owner.parent
    while block is not None and block is not loop.body.block:
        block = block.parent_block()
    return block is not None


_Written = dict[SSAValue, list[Region]]


def _inherited(found: Program, loop: scf.ForOp) -> set[SSAValue]:
    """Buffers of which an iteration may read a byte that it has not written before."""
    inherited: set[SSAValue] = set()
    _follow(found, loop.body.block, {}, inherited)
    return inherited


def _follow(found: Program, block: Block, written: _Written, inherited: set[SSAValue]) -> None:
    """Collect into `inherited` what `block` reads without having `written` it, and into `written` what it surely writes."""
    for op in found.steps(block):
        if op in found.index:
            _follow_one(found.instructions[found.index[op]], written, inherited)
            continue
        branches = [_copy(written) for _ in range(2)]
        for region, branch in zip(op.regions, branches, strict=False):
            for inner in region.blocks:
                _follow(found, inner, branch, inherited)
        if isinstance(op, scf.IfOp):
            for root, regions in branches[0].items():
                written[root] = [r for r in regions if r in branches[1].get(root, ())]


def _copy(written: _Written) -> _Written:
    return {root: list(regions) for root, regions in written.items()}


def _follow_one(instruction: Instruction, written: _Written, inherited: set[SSAValue]) -> None:
    for access in instruction.accesses:
        if not access.write and access.root not in inherited:
            region = access.region
            if region is None or not any(w.covers(region) for w in written.get(access.root, ())):
                inherited.add(access.root)
    for access in instruction.accesses:
        regions = written.setdefault(access.root, [])
        if access.write and access.region is not None and access.region not in regions:
            regions.append(access.region)


def plan(kernel: KernelOp, target: Target, share: bool = False) -> None:
    """Give every on-chip buffer of a kernel its offset and the kernel its `memory_report`.

    Raises PassFailedException, naming the live buffers, where a memory is too small.
    """
    found = program(kernel)
    buffers = intervals(found)
    spaces = {op: str(space_of(op.memref)) for op in buffers}
    summary: dict[str, Attribute] = {}
    for space in dict.fromkeys(spaces.values()):
        ops = [op for op in buffers if spaces[op] == space]
        offsets, peak = _fit(found, space, [buffers[op] for op in ops], target, share)
        for op, offset in zip(ops, offsets, strict=True):
            op.offset = IntegerAttr(offset, i64)
        summary[space] = _summary([replace(buffers[op], offset=o) for op, o in zip(ops, offsets, strict=True)], peak, target, space)
    if summary:
        kernel.attributes[REPORT] = DictionaryAttr(summary)


def _fit(found: Program, space: str, buffers: Sequence[Interval], target: Target, share: bool) -> tuple[list[int], int]:
    memory = target.memories[space]
    if not share:
        side_by_side = [replace(b, first=0, last=0) for b in buffers]
        offsets, peak = pack(side_by_side, memory.alignment)
        if peak <= memory.bytes:
            return offsets, peak
    offsets, peak = pack(buffers, memory.alignment)
    if peak > memory.bytes:
        text = _too_much(found, space, buffers, peak, target)
        found.kernel.emit_error(text, PassFailedException(text))
    return offsets, peak


def _too_much(found: Program, space: str, buffers: Sequence[Interval], peak: int, target: Target) -> str:
    capacity = target.memories[space].bytes
    kernel = f"plan-memory: ascend.kernel @{found.kernel.sym_name.data}"
    for b in buffers:
        if b.offset is not None and b.offset + b.bytes > capacity:
            return f'{kernel} places "{b.name}" at {b.offset} with {b.bytes} B, but {space} of {target.name} ends at {capacity} B'
    when, live = live_at_peak(buffers, target.memories[space].alignment)
    largest = ", ".join(f"{b.name} {b.bytes} B" for b in live)
    place = ""
    if found.instructions:
        op = found.instructions[when].op
        place = f" at {op.name}{at(op)}"
    gaps = "" if sum(b.bytes for b in live) > capacity else "; they would fit, but offsets and lifetimes leave gaps between them"
    return (
        f"{kernel} needs {peak} B of {space}, and {target.name} has {capacity} B.\n"
        f"Live{place}: {largest}{gaps}.\n"
        "Try a smaller tile, a narrower dtype, or buffers that live less long."
    )


def _summary(buffers: Sequence[Interval], peak: int, target: Target, space: str) -> Attribute:
    rows: dict[str, Attribute] = {}
    for b in buffers:
        name, twin = b.name, 1
        while name in rows:
            twin += 1
            name = f"{b.name} ({twin})"
        rows[name] = DenseArrayBase.from_list(i64, [b.offset or 0, b.bytes, b.first, b.last])
    numbers = {"capacity": target.memories[space].bytes, "peak": peak}
    return DictionaryAttr({**{k: IntegerAttr(n, i64) for k, n in numbers.items()}, "buffers": DictionaryAttr(rows)})


def report(kernel: KernelOp) -> str:
    """Who holds what, as a table: memory, offset, bytes, and between which instructions; "" before `plan-memory`."""
    summary = kernel.attributes.get(REPORT)
    if not isinstance(summary, DictionaryAttr):
        return ""
    instructions = program(kernel).instructions
    lines: list[str] = []
    for space, entry in summary.data.items():
        assert isinstance(entry, DictionaryAttr)
        peak, capacity = (n.value.data for k in ("peak", "capacity") if isinstance(n := entry.data[k], IntegerAttr))
        lines.append(f"@{kernel.sym_name.data}: {peak} of {capacity} B of {space} ({100 * peak / capacity:.1f} %)")
        buffers = entry.data["buffers"]
        assert isinstance(buffers, DictionaryAttr)
        lines += [_row(name, row, instructions) for name, row in sorted(buffers.data.items(), key=lambda item: _numbers(item[1]))]
    return "\n".join(lines)


def _numbers(row: Attribute) -> tuple[int, ...]:
    assert isinstance(row, DenseArrayBase)
    return tuple(int(n) for n in row.get_values())


def _row(name: str, row: Attribute, instructions: Sequence[Instruction]) -> str:
    offset, size, first, last = _numbers(row)
    ends = [f"{i} {instructions[i].op.name}{at(instructions[i].op)}" for i in (first, last) if i < len(instructions)]
    return f"  {offset:>7} {size:>7} B  {name:<16} {' … '.join(ends)}"


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Place on-chip buffers: `plan-memory{target="ascend910b{ub=98304}"}`; `share=true` packs even what fits side by side."""

    name = "plan-memory"

    target: str = "ascend910b"
    share: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            target = parse_target(self.target)
        except ValueError as error:
            raise PassFailedException(f"plan-memory: {error}") from error
        for kernel in kernels(op):
            plan(kernel, target, self.share)
