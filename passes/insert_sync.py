"""insert-sync: flags between pipes and barriers within one, for every hazard that is not yet ordered and for no other.

    ascend_memory.copy %x to %x_tile             ascend_memory.copy %x to %x_tile
                                                 ascend_memory.set_flag mte2 to v, 0
                                            →    ascend_memory.wait_flag mte2 to v, 0
    ascend_vector.exp %x_tile into %y_tile       ascend_vector.exp %x_tile into %y_tile

A flag is set as soon as its last source is issued and waited for just before the instruction that needs it. In a loop, what one
iteration must not overtake in the one before gets a flag that is already set when the loop starts and is waited for once more
behind it, so it counts the same for any number of iterations.

Blocks are planned from the inside out. A block is a row of items, an instruction or a whole loop or branch, and knows what each
pipe may assume complete as sets of instructions, like the vector clocks of the emulator; a flag is added where an item conflicts
with an instruction outside of what its pipe may assume. A set and its wait thus always stand in one block. What happened before
a block is one more instruction per pipe, its *entry*: a block reports which entries it has itself ordered before each need, and
the block around adds flags only for the rest. Read `_Block._order`, then `_Block._pass`. Ids: `event_ids.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import KernelOp
from ascir.dialects.memory import BarrierOp, Pipe, SetFlagOp, WaitFlagOp
from ascir.machine.target import ASCEND910B
from ascir.passes.effects import SYNC_OPS, Program, at, kernels, program
from ascir.passes.event_ids import Flag, Place, assign

Needs = dict[tuple[int, int], int]
"""(pipe, pipes whose entry is ordered before) → the instructions that must be complete: what an item asks of its block."""


@dataclass(eq=False)
class Item(Place):
    """An instruction, or a loop or branch with the instructions `first` ≤ i < `last` in it; bit sets are indexed by pipe number.

    `exits` says, for each way through, which of its instructions may not be complete for each pipe behind it and the entries of
    which pipes it has ordered before each pipe; `drains` are the flags waited for behind a loop with what their source did not know.
    """

    op: Operation
    first: int
    last: int
    bodies: list[list[Item]]
    needs: Needs = field(default_factory=dict[tuple[int, int], int])
    exits: list[tuple[list[int], list[int]]] = field(default_factory=list[tuple[list[int], list[int]]])
    drains: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])


@dataclass(eq=False)
class Barrier:
    """A barrier of one pipe before item `at` of a block."""

    pipe: int
    at: int


class _Plan:
    """The flags and barriers of one kernel. Pipes are numbered; the entry of pipe q is bit `total + q`."""

    def __init__(self, found: Program):
        self.found = found
        self.total = len(found.instructions)
        self.pipes = sorted({i.pipe for i in found.instructions}, key=list(Pipe).index)
        self.pipe_of = [self.pipes.index(i.pipe) for i in found.instructions]
        self.entry = ((1 << len(self.pipes)) - 1) << self.total
        self.own = [1 << (self.total + q) for q in range(len(self.pipes))]
        for index, pipe in enumerate(self.pipe_of):
            self.own[pipe] |= 1 << index
        self.scalar = self.pipes.index(Pipe.S) if Pipe.S in self.pipes else -1
        self.flags: list[Flag] = []
        self.barriers: list[tuple[Pipe, Item]] = []
        self.block(_items(found, found.kernel.body.block, count()), None)

    def block(self, items: list[Item], loop: Item | None) -> _Block:
        for item in items:
            self._summarise(item)
        block = _Block(self, items, loop)
        block.run()
        for item, syncs in zip(items, block.syncs, strict=True):
            self.flags += [s for s in syncs if isinstance(s, Flag)]
            self.barriers += [(self.pipes[s.pipe], item) for s in syncs if isinstance(s, Barrier)]
        return block

    def _summarise(self, item: Item) -> None:
        nothing = [0 for _ in self.pipes]
        if not item.bodies:
            pipe, conflicts = self.pipe_of[item.first], self.found.conflicts[item.first]
            item.needs = {(pipe, 0): conflicts & ~self.own[pipe] if pipe == self.scalar else conflicts}
            item.exits = [([1 << item.first for _ in self.pipes], nothing)]
            return
        is_loop = isinstance(item.op, scf.ForOp)
        for items in item.bodies:
            block = self.block(items, item if is_loop else None)
            for key, conflicts in block.needs.items():
                item.needs[key] = item.needs.get(key, 0) | conflicts
            item.drains += block.drains
            running = [unknown & ~self.entry for unknown in block.after]
            item.exits.append((running, nothing if is_loop else [block.entries(unknown) for unknown in block.after]))
        if not is_loop and len(item.bodies) == 1:
            item.exits.append((nothing, nothing))


class _Block:
    """One block: its items and the flags waited for and barriers made before each (`syncs`)."""

    def __init__(self, plan: _Plan, items: list[Item], loop: Item | None):
        self.plan = plan
        self.items = items
        self.loop = loop
        self.starts = [item.first for item in items]
        self.syncs: list[list[Flag | Barrier]] = [[] for _ in items]
        self.needs: Needs = {}
        self.drains: list[tuple[int, int, int]] = []
        self.after: list[int] = []
        self.earlier: list[list[int]] | None = None
        """What each pipe does not know behind each item, in any iteration before; None in the first."""
        self.now: list[list[int]] = []
        """The same in this iteration, as far as it has come."""
        self.changed = False

    def run(self) -> None:
        """Simulate the block, a loop's body until nothing changes, and add what is missing on the way."""
        plan = self.plan
        entry = [plan.entry for _ in plan.pipes]
        while True:
            self.changed = False
            self.after = self._pass(entry)
            if self.loop is None:
                return
            merged = [a | b for a, b in zip(entry, self.after, strict=True)]
            self.earlier = [
                [a | b for a, b in zip(old, new, strict=True)] for old, new in zip(self.earlier or self.now, self.now, strict=True)
            ]
            if merged == entry and not self.changed:
                break
            entry = merged
        self.after = entry
        for flag in (s for syncs in self.syncs for s in syncs if isinstance(s, Flag) and s.loop):
            source, last = plan.pipes.index(flag.source), self._number(flag.after)
            unknown = (self.earlier[last][source] & ~plan.own[source]) | self._span(last + 1, len(self.items))
            self.drains.append((source, plan.pipes.index(flag.destination), unknown & ~plan.entry))

    def entries(self, running: int) -> int:
        """The pipes whose entry is not among the unknown instructions."""
        return ~(running >> self.plan.total) & ((1 << len(self.plan.pipes)) - 1)

    def _pass(self, entry: Sequence[int]) -> list[int]:
        """One iteration from `entry`: what each pipe does not know; returns the state at the end."""
        running = list(entry)
        self.now = []
        self.needs = {}
        for k, item in enumerate(self.items):
            for sync in self.syncs[k]:
                self._take(sync, k, running)
            self._order(k, running)
            for (pipe, through), conflicts in item.needs.items():
                key = pipe, self.entries(self._unknown(running, pipe, through))
                self.needs[key] = self.needs.get(key, 0) | conflicts
            running = self._execute(item, running)
            self.now.append(list(running))
        return running

    def _order(self, k: int, running: list[int]) -> None:
        """Add what orders the needs of item k."""
        before, known = list(running), list(self.syncs[k])
        added: list[Flag | Barrier] = []
        for (pipe, through), conflicts in self.items[k].needs.items():
            while missing := conflicts & self._unknown(running, pipe, through):
                elsewhere = missing & ~self.plan.own[pipe]
                sync = self._flag(k, pipe, elsewhere) if elsewhere else self._barrier(k, pipe, missing)
                self.changed = True
                if sync not in known and sync not in added:
                    added.append(sync)
                self._take(sync, k, running)
        for sync in list(added) if len(added) > 1 else []:
            others = [s for s in added if s is not sync]
            trial = list(before)
            for other in (*known, *others):
                self._take(other, k, trial)
            if not any(conflicts & self._unknown(trial, *key) for key, conflicts in self.items[k].needs.items()):
                # What was added after it turned out to order all that it was for.
                self.syncs[sync.at if isinstance(sync, Barrier) else k].remove(sync)
                added, running[:] = others, trial

    def _unknown(self, running: Sequence[int], pipe: int, through: int) -> int:
        """What a pipe does not know, given that it has also learned all that the pipes `through` knew and did."""
        unknown = running[pipe]
        for q in range(len(self.plan.pipes)):
            if through >> q & 1:
                unknown &= running[q] & ~self.plan.own[q]
        return unknown

    def _flag(self, k: int, pipe: int, missing: int) -> Flag:
        """A flag from the pipe of the last missing instruction, whose pipe may know the others too."""
        this_time = missing & ((1 << self.starts[k]) - 1)
        last = (this_time or missing).bit_length() - 1
        source, destination = self.plan.pipes[self.plan.pipe_of[last]], self.plan.pipes[pipe]
        after = self.items[bisect_right(self.starts, last) - 1]
        loop = None if this_time else self.loop
        assert this_time or loop is not None
        for flag in self.syncs[k]:
            if isinstance(flag, Flag) and (flag.source, flag.destination, flag.loop) == (source, destination, loop):
                flag.after = max(flag.after, after, key=lambda place: place.leave)
                return flag
        flag = Flag(source, destination, after, self.items[k], loop)
        self.syncs[k].append(flag)
        return flag

    def _barrier(self, k: int, pipe: int, missing: int) -> Barrier:
        """A barrier before item k; for hazards from the iteration before, one at the pipe's first item serves them all."""
        at = k
        if not missing & ((1 << self.starts[k]) - 1):
            at = next(n for n, item in enumerate(self.items) if any(p == pipe for p, _ in item.needs))
        barrier = Barrier(pipe, at)
        self.syncs[at].append(barrier)
        return barrier

    def _take(self, sync: Flag | Barrier, k: int, running: list[int]) -> None:
        """Let a flag or barrier take effect before item k (again: knowing something twice is harmless)."""
        if isinstance(sync, Barrier):
            running[sync.pipe] &= ~self.plan.own[sync.pipe] | self._span(sync.at, k)
        else:
            self._wait(sync, k, running)

    def _wait(self, flag: Flag, k: int, running: list[int]) -> None:
        """The destination now knows what the source knew or had done when it set the flag, but nothing that came after."""
        plan, last = self.plan, self._number(flag.after)
        source, destination = plan.pipes.index(flag.source), plan.pipes.index(flag.destination)
        if flag.loop is None:
            unknown = (self.now[last][source] & ~plan.own[source]) | self._span(last + 1, k)
        else:
            assert self.earlier is not None
            unknown = (self.earlier[last][source] | plan.entry) & ~plan.own[source]
            unknown |= self._span(last + 1, len(self.items)) | self._span(0, k)
        self._learn(destination, unknown, running)

    def _learn(self, pipe: int, unknown: int, running: list[int]) -> None:
        """A pipe now does not know `unknown` at most; from S, which issues whatever comes next, all pipes learn it."""
        for learner in range(len(running)) if pipe == self.plan.scalar else (pipe,):
            running[learner] &= unknown

    def _execute(self, item: Item, running: Sequence[int]) -> list[int]:
        plan = self.plan
        after = [0 for _ in running]
        for unknown, learned in item.exits:
            for p in range(len(after)):
                after[p] |= self._unknown(running, p, learned[p]) | unknown[p]
        inside = (1 << item.last) - (1 << item.first)
        for source, destination, unknown in item.drains:
            self._learn(destination, (running[source] & ~plan.own[source] & ~inside) | unknown, after)
        return after

    def _number(self, item: Place) -> int:
        assert isinstance(item, Item)
        return bisect_right(self.starts, item.first) - 1

    def _span(self, begin: int, end: int) -> int:
        """The instructions of items begin … end - 1."""
        if begin >= end:
            return 0
        return (1 << self.items[end - 1].last) - (1 << self.items[begin].first)


def _items(found: Program, block: Block, clock: count[int]) -> list[Item]:
    """The instructions of a block and the loops and branches that contain any."""
    items: list[Item] = []
    number = next(clock)
    for op in found.steps(block):
        enter = next(clock)
        bodies = [_items(found, inner, clock) for region in op.regions for inner in region.blocks]
        leave = next(clock)
        if op in found.index:
            items.append(Item(enter, leave, number, op, found.index[op], found.index[op] + 1, []))
        elif any(bodies):
            ends = [body for body in bodies if body]
            items.append(Item(enter, leave, number, op, ends[0][0].first, ends[-1][-1].last, bodies))
    return items


class _Writer:
    """Collects the ops to put before and behind others, each in a slot of that gap, and inserts them."""

    def __init__(self) -> None:
        self.before: dict[Operation, list[tuple[int, Operation]]] = {}
        self.behind: dict[Operation, list[tuple[int, Operation]]] = {}

    def flag(self, flag: Flag) -> None:
        after, before, loop = (_op(p) for p in (flag.after, flag.before, flag.loop or flag.before))
        key = flag.source, flag.destination, flag.event
        if flag.late:
            self._add(self.before, before, 1, SetFlagOp(*key), WaitFlagOp(*key))
            return
        self._add(self.behind, after, 1, SetFlagOp(*key))
        self._add(self.before, before, 0, WaitFlagOp(*key))
        if flag.loop is not None:
            self._add(self.before, loop, 3, SetFlagOp(*key))
            self._add(self.behind, loop, 0, WaitFlagOp(*key))

    def barrier(self, pipe: Pipe, before: Operation) -> None:
        self._add(self.before, before, 2, BarrierOp(pipe))

    def _add(self, gaps: dict[Operation, list[tuple[int, Operation]]], place: Operation, slot: int, *ops: Operation) -> None:
        for op in ops:
            op.location = place.location
            gaps.setdefault(place, []).append((slot, op))

    def write(self) -> None:
        for place, entries in self.before.items():
            assert place.parent is not None
            place.parent.insert_ops_before([op for _, op in sorted(entries, key=lambda e: e[0])], place)
        for place, entries in self.behind.items():
            assert place.parent is not None
            place.parent.insert_ops_after([op for _, op in sorted(entries, key=lambda e: e[0])], place)


def _op(place: Place) -> Operation:
    assert isinstance(place, Item)
    return place.op


def synchronise(kernel: KernelOp) -> None:
    """Insert the flags and barriers that a kernel without any needs."""
    plan = _Plan(program(kernel))
    ids = [i for i in range(ASCEND910B.event_ids) if i not in ASCEND910B.reserved_event_ids]
    flags, without = assign(plan.flags, ids)
    writer = _Writer()
    for flag in flags:
        writer.flag(flag)
    complete = {_op(flag.before) for flag in without}
    for op in complete:
        writer.barrier(Pipe.ALL, op)
    for pipe, item in plan.barriers:
        if item.op not in complete:
            writer.barrier(pipe, item.op)
    writer.write()


def manual_sync(kernel: KernelOp) -> Operation | None:
    """The first flag or barrier that an author has put into a kernel."""
    return next((op for op in kernel.walk() if isinstance(op, SYNC_OPS)), None)


@dataclass(frozen=True)
class InsertSyncPass(ModulePass):
    """Order every hazard of every kernel; one that has flags or barriers already is its author's business and stays as it is.

    `strict=true` refuses such a kernel instead.
    """

    name = "insert-sync"

    strict: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels(op):
            found = manual_sync(kernel)
            if found is None:
                synchronise(kernel)
            elif self.strict:
                text = (
                    f"insert-sync: @{kernel.sym_name.data} already has {found.name}{at(found)}; "
                    "leave all flags and barriers to the pass, or drop strict=true to keep these"
                )
                found.emit_error(text, PassFailedException(text))
