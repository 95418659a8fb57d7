"""A judge of synchronisation that shares no idea with the passes: it runs a kernel with real numbers.

Indices are evaluated, every access becomes the exact set of bytes it touches, pipes carry vector clocks (pipe S hands its own on
with all that it issues), and two accesses to a byte that no clock orders are a race. It sees one run, so it misses what other trip
counts would show; what it does see is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ascir.diagnostics import parse_module
from ascir.dialects import ascend, memory
from ascir.dialects.memory import Pipe
from ascir.dialects.types import buffer_type, dtype_of, strides_of_buffer
from ascir.dialects.vector import VectorOp

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.mlir"))
PIPES = [p for p in Pipe if p is not Pipe.ALL]
Clock = dict[Pipe, int]


def load(path: Path) -> ascend.KernelOp:
    """The kernel in a file of tests/unit/kernels."""
    module = parse_module(path.read_text(), str(path))
    module.verify()
    (kernel,) = (op for op in module.walk() if isinstance(op, ascend.KernelOp))
    return kernel


class _Done(NamedTuple):
    """An access that has been issued: by which pipe and as its how-manieth instruction, to which bytes of which memory."""

    pipe: Pipe
    number: int
    home: object
    bits: int
    write: bool
    op: Operation


class Core:
    """One core running one kernel; `faults` lists the races and misused flags of this run.

    `clobbered` lists reads that find, in program order, not what was last written to the buffer they read, but what another buffer
    that shares its bytes has put there.
    """

    def __init__(self, kernel: ascend.KernelOp, scalars: Sequence[int] = (), block_idx: int = 0, block_num: int = 1):
        numbers = [a for a in kernel.args if a.type.name == "index"]
        self.values: dict[SSAValue, int] = dict(zip(numbers, scalars, strict=True))
        self.block_idx, self.block_num = block_idx, block_num
        self.issued: Clock = dict.fromkeys(PIPES, 0)
        self.known: dict[Pipe, Clock] = {p: dict.fromkeys(PIPES, 0) for p in PIPES}
        self.flags: dict[tuple[Pipe, Pipe, int], Clock] = {}
        self.done: list[_Done] = []
        self.faults: list[str] = []
        self.clobbered: list[str] = []
        self._written: dict[tuple[object, int], int] = {}
        self._tick = count()
        self._run(kernel.body.block)
        self.faults += [f"left over: {key}" for key in self.flags]

    def _run(self, block: Block) -> None:
        for op in block.ops:
            self._step(op)

    def _number(self, value: SSAValue | int) -> int:
        return value if isinstance(value, int) else self.values[value]

    def _step(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                for i in range(self._number(op.lb), self._number(op.ub), self._number(op.step)):
                    self.values[op.body.block.args[0]] = i
                    self._run(op.body.block)
            case scf.IfOp():
                region = op.true_region if self._number(op.cond) else op.false_region
                for block in region.blocks:
                    self._run(block)
            case memory.SetFlagOp() | memory.WaitFlagOp():
                self._flag(op)
            case memory.BarrierOp(pipe=pipe):
                for waiting in PIPES if pipe.data is Pipe.ALL else [pipe.data]:
                    self._learn(waiting, self.issued if pipe.data is Pipe.ALL else {waiting: self.issued[waiting]})
            case VectorOp():
                self._issue(op, op.pipe, op.sources, op.writes)
            case memory.CopyOp():
                self._issue(op, op.pipe, [op.source], [op.destination])
            case memory.ScalarCopyOp():
                self._issue(op, Pipe.S, [op.source], [op.destination])
            case memref.LoadOp():
                self._issue(op, Pipe.S, [op.memref], [], op.indices)
            case memref.StoreOp():
                self._issue(op, Pipe.S, [], [op.memref], op.indices)
            case _:
                self._compute(op)

    def _flag(self, op: memory.SetFlagOp | memory.WaitFlagOp) -> None:
        source, destination, _ = op.key
        self._learn(source if isinstance(op, memory.SetFlagOp) else destination, self.known[Pipe.S])
        if isinstance(op, memory.SetFlagOp):
            if op.key in self.flags:
                self.faults.append(f"set twice: {op.key}")
            self.flags[op.key] = {**self.known[source], source: self.issued[source]}
        elif op.key in self.flags:
            self._learn(destination, self.flags.pop(op.key))
        else:
            self.faults.append(f"waits for ever: {op.key}")

    def _compute(self, op: Operation) -> None:
        rules: dict[str, Callable[[int, int], int]] = {
            "arith.addi": lambda a, b: a + b,
            "arith.subi": lambda a, b: a - b,
            "arith.muli": lambda a, b: a * b,
            "arith.remsi": lambda a, b: a % b,
            "arith.cmpi": lambda a, b: int(a == b),
            "arith.minsi": min,
        }
        if isinstance(op, arith.ConstantOp):
            if isinstance(op.value, IntegerAttr):
                self.values[op.result] = op.value.value.data
        elif isinstance(op, ascend.BlockIdxOp | ascend.BlockNumOp):
            self.values[op.result] = self.block_idx if isinstance(op, ascend.BlockIdxOp) else self.block_num
        elif op.name in rules:
            a, b = (self._number(v) for v in op.operands)
            self.values[op.results[0]] = rules[op.name](a, b)
        else:
            assert op.name.startswith("ascend_memory.") or op.name in ("scf.yield", "ascend.return"), op.name

    def _learn(self, pipe: Pipe, clock: Clock) -> None:
        for other, number in clock.items():
            self.known[pipe][other] = max(self.known[pipe][other], number)

    def _issue(
        self,
        op: Operation,
        pipe: Pipe,
        reads: Sequence[SSAValue],
        writes: Sequence[SSAValue],
        indices: Sequence[SSAValue] = (),
    ) -> None:
        self._learn(pipe, self.known[Pipe.S])
        number = self.issued[pipe] + 1
        touched = [self._touch(op, v, False, indices) for v in reads] + [self._touch(op, v, True, indices) for v in writes]
        for new in touched:
            for old in self.done:
                clash = old.home == new.home and old.bits & new.bits and (old.write or new.write)
                in_order = old.pipe is pipe is Pipe.S
                if clash and not in_order and self.known[pipe][old.pipe] < old.number:
                    self.faults.append(f"race: {old.op.name} {old.number} on {old.pipe}, {op.name} {number} on {pipe}")
        self.done += touched
        self.issued[pipe] = number

    def _touch(self, op: Operation, value: SSAValue, write: bool, indices: Sequence[SSAValue]) -> _Done:
        root, cells, size = self._cells(value, indices, isinstance(op, VectorOp) and not write)
        home: object = root
        base = 0
        if isinstance(root.owner, memory.AllocOp) and root.owner.offset is not None:
            home, base = "ub", root.owner.offset.value.data
        for cell in cells:
            mine, shared = (root, cell), (home, base + cell)
            if write:
                self._written[mine] = self._written[shared] = next(self._tick)
            elif self._written.get(mine) != self._written.get(shared) and mine in self._written:
                self.clobbered.append(f"{op} reads byte {cell} of {root.name_hint}")
        bits = sum(((1 << size) - 1) << (base + cell) for cell in cells)
        pipe = op.pipe if isinstance(op, VectorOp | memory.CopyOp) else Pipe.S
        return _Done(pipe, self.issued[pipe] + 1, home, bits, write, op)

    def _cells(self, value: SSAValue, indices: Sequence[SSAValue], repeats: bool) -> tuple[SSAValue, set[int], int]:
        """The buffer beneath, the bytes in it at which the elements touched start, and the bytes of an element."""
        type_, view = buffer_type(value), value.owner
        size, start = dtype_of(type_).bytes, 0
        dims = list(zip(type_.get_shape(), strides_of_buffer(type_), strict=True))
        if isinstance(view, memory.ViewOp):
            dims = [(self._number(n), self._number(s)) for n, s in zip(view.mixed_sizes, view.mixed_strides, strict=True)]
        if repeats and dims[-1][1] == 0:
            dims[-1] = (32 // size, 1)
        while isinstance(owner := value.owner, memory.ViewOp):
            start += self._number(owner.mixed_offset)
            value = owner.source
        places = [range(n) for n, _ in dims] if not indices else [[self._number(i)] for i in indices]
        cells = {start}
        for place, (_, stride) in zip(places, dims, strict=True):
            cells = {cell + i * stride for cell in cells for i in place}
        return value, {cell * size for cell in cells}, size


SYNC_OPS = (memory.SetFlagOp, memory.WaitFlagOp, memory.BarrierOp)


def orderings(kernel: ascend.KernelOp) -> list[list[Operation]]:
    """The flags and barriers of a kernel that `insert-sync` wrote, the ops of each together.

    A barrier is one op, a flag a set and a wait, a flag that iterations hand on four ops: set, loop with wait and set, wait.
    """
    found: list[list[Operation]] = []
    assert not _orderings(kernel.body.block, found)
    return found


def _orderings(block: Block, found: list[list[Operation]]) -> dict[object, list[Operation]]:
    """Collects the orderings of a block; returns the flags that a loop's body waits for before it sets them."""
    started: dict[object, list[Operation]] = {}
    handed_on: dict[object, list[Operation]] = {}
    for op in block.ops:
        match op:
            case memory.BarrierOp():
                found.append([op])
            case memory.SetFlagOp():
                started.setdefault(op.key, []).append(op)
            case memory.WaitFlagOp():
                if op.key in started:
                    found.append([*started.pop(op.key), op])
                else:
                    handed_on[op.key] = [op]
            case _:
                inner = [_orderings(b, found) for region in op.regions for b in region.blocks]
                for key, ops in (item for flags in inner for item in flags.items()):
                    started[key] += ops
    for key, ops in started.items():
        handed_on[key] += ops
    return handed_on


def without(kernel: ascend.KernelOp, ops: Sequence[Operation]) -> ascend.KernelOp:
    """A copy of the kernel that lacks these ops."""
    places = [n for n, op in enumerate(kernel.walk()) if op in ops]
    copy = kernel.clone()
    doomed = [op for n, op in enumerate(copy.walk()) if n in places]
    for op in doomed:
        op.detach()
        op.erase()
    return copy
