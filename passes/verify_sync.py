"""verify-sync: no instruction may touch bytes that another, still running, also touches; no flag may be lost or waited for in vain.

    ascend_memory.copy %x to %x_tile                        // runs on MTE2
    ascend_vector.exp %x_tile into %y_tile                  // runs on V: race, nothing orders V after MTE2

The kernel is executed on abstract values. For each pipe there is the set of instructions that may still run as far as that pipe
knows: an instruction joins every pipe's set, a barrier clears its pipe's own, a flag carries what its source pipe did not know
when it was set, and waiting keeps only what neither knows. Pipe S issues the instructions of all pipes, so what it has waited for
every later instruction knows. Branches join by union, and a loop body runs until its entry state no longer changes, so any number
of iterations is covered, none included. The pass trusts nothing that `insert-sync` computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import KernelOp
from ascir.dialects.memory import BarrierOp, Pipe, SetFlagOp, WaitFlagOp
from ascir.machine.target import ASCEND910B
from ascir.passes.effects import Instruction, at, clash, kernels, name_of, program

Key = tuple[Pipe, Pipe, int]
_PIPES = tuple(p for p in Pipe if p is not Pipe.ALL)
_SHOWN = 20
"""Problems that one message lists; a kernel without any flag has hundreds."""


@dataclass(frozen=True)
class Problem:
    """What is wrong (`race`, `unpaired`, `duplicate`, `left over`, `one branch`, `reserved`), at which op, in a sentence."""

    kind: str
    op: Operation
    text: str


@dataclass
class _State:
    """`running`: for each pipe, the instructions that may not have completed as far as it knows; `flags`: those now set."""

    running: dict[Pipe, int] = field(default_factory=lambda: dict.fromkeys(_PIPES, 0))
    flags: dict[Key, tuple[int, SetFlagOp]] = field(default_factory=dict[Key, tuple[int, SetFlagOp]])

    def copy(self) -> _State:
        return _State(dict(self.running), dict(self.flags))


def check(kernel: KernelOp) -> list[Problem]:
    """Every unordered hazard and every misused flag of a kernel, in the order found; none for a sound one."""
    return _Checker(kernel).run()


class _Checker:
    """One abstract execution of a kernel."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.program = program(kernel)
        self.instructions = self.program.instructions
        self.own = dict.fromkeys(_PIPES, 0)
        for instruction in self.instructions:
            self.own[instruction.pipe] |= 1 << instruction.index
        self.problems: dict[object, Problem] = {}
        self.set_somewhere: set[Key] = set()

    def run(self) -> list[Problem]:
        for op in self.kernel.walk():
            if isinstance(op, SetFlagOp | WaitFlagOp):
                self._check_id(op)
        state = _State()
        self._block(self.kernel.body.block, state)
        for key, (_, op) in state.flags.items():
            text = f"{_flag(key)} is still set at the end of the kernel; wait for it, or the next kernel starts wrong"
            self._report("left over", op, text)
        return list(self.problems.values())

    def _report(self, kind: str, op: Operation, text: str, about: object = None) -> None:
        self.problems.setdefault((kind, op, about), Problem(kind, op, f"{kind}: {op.name}{at(op)}: {text}"))

    def _check_id(self, op: SetFlagOp | WaitFlagOp) -> None:
        if isinstance(op, SetFlagOp):
            self.set_somewhere.add(op.key)
        if op.key[2] in ASCEND910B.reserved_event_ids:
            free = ASCEND910B.event_ids - len(ASCEND910B.reserved_event_ids)
            self._report("reserved", op, f"event id {op.key[2]} belongs to the vendor runtime; use 0…{free - 1}")

    def _block(self, block: Block, state: _State) -> None:
        for op in self.program.steps(block):
            match op:
                case SetFlagOp():
                    self._set(op, state)
                case WaitFlagOp():
                    self._wait(op, state)
                case BarrierOp():
                    self._barrier(op.pipe.data, state)
                case scf.ForOp():
                    self._loop(op, state)
                case scf.IfOp():
                    self._branch(op, state)
                case _:
                    self._instruction(self.instructions[self.program.index[op]], state)

    def _instruction(self, instruction: Instruction, state: _State) -> None:
        missing = self.program.conflicts[instruction.index] & state.running[instruction.pipe]
        if instruction.pipe is Pipe.S:
            missing &= ~self.own[Pipe.S]  # S finishes one before it begins the next
        if missing:
            self._races(instruction, missing)
            state.running[instruction.pipe] &= ~missing  # as if ordered: what follows from this race is no further problem
        bit = 1 << instruction.index
        for pipe in _PIPES:
            state.running[pipe] |= bit
        for key, (running, op) in state.flags.items():
            state.flags[key] = running | bit, op

    def _set(self, op: SetFlagOp, state: _State) -> None:
        if op.key in state.flags:
            earlier = state.flags[op.key][1]
            where = "in the iteration before" if earlier is op else f"by {earlier.name}{at(earlier)}"
            self._report("duplicate", op, f"{_flag(op.key)} is already set, {where}; wait for it first or use another event id")
        source = op.key[0]
        state.flags[op.key] = state.running[source] & ~self.own[source], op

    def _wait(self, op: WaitFlagOp, state: _State) -> None:
        if op.key not in state.flags:
            reason = "no set_flag comes before it" if op.key in self.set_somewhere else "the kernel never sets it"
            waits = f"{op.key[1].upper()} would wait for ever for {_flag(op.key)}"
            self._report("unpaired", op, f"{waits}: {reason}")
            return
        running, _ = state.flags.pop(op.key)
        self._learn(op.key[1], running, state)

    def _barrier(self, pipe: Pipe, state: _State) -> None:
        if pipe is Pipe.ALL:
            state.running = dict.fromkeys(_PIPES, 0)
        else:
            self._learn(pipe, ~self.own[pipe], state)

    def _learn(self, pipe: Pipe, running: int, state: _State) -> None:
        """A pipe now knows that nothing but `running` runs; from S, which issues what comes next, all learn it."""
        for learner in _PIPES if pipe is Pipe.S else (pipe,):
            state.running[learner] &= running

    def _branch(self, op: scf.IfOp, state: _State) -> None:
        before = set(state.flags)
        other = state.copy()
        self._block(op.true_region.block, state)
        if op.false_region.blocks:
            self._block(op.false_region.block, other)
        for key in state.flags.keys() ^ other.flags.keys():
            set_op = (state.flags.get(key) or other.flags[key])[1]
            what = "waited for" if key in before else "set"
            self._report("one branch", set_op, f"{_flag(key)} is {what} in one branch of scf.if{at(op)} only", op)
        self._join(state, other)

    def _loop(self, op: scf.ForOp, state: _State) -> None:
        """The body until another iteration would start from a state already seen; `state` ends as any of those states."""
        while True:
            entry, after = state.copy(), state.copy()
            self._block(op.body.block, after)
            for key in state.flags.keys() - after.flags.keys():
                text = f"{_flag(key)} is waited for in each iteration of scf.for{at(op)}, but set once; set it again in the body"
                self._report("unpaired", state.flags[key][1], text, op)
            for key in after.flags.keys() - state.flags.keys():
                text = f"{_flag(key)} is still set at the end of an iteration of scf.for{at(op)}; wait for it in the body"
                self._report("left over", after.flags.pop(key)[1], text, op)
            self._join(state, after)
            if state == entry:
                return

    def _join(self, state: _State, other: _State) -> None:
        """What may run on either path, in place."""
        for pipe in _PIPES:
            state.running[pipe] |= other.running[pipe]
        for key, (running, op) in other.flags.items():
            known = state.flags.get(key)
            state.flags[key] = (running, op) if known is None else (known[0] | running, known[1])

    def _races(self, second: Instruction, missing: int) -> None:
        """One problem for each pipe: a flag after its last conflicting instruction would order the earlier ones too."""
        for pipe in _PIPES:
            found = missing & self.own[pipe]
            earlier = found & ((1 << second.index) - 1)
            if found:
                first = self.instructions[(earlier or found).bit_length() - 1]
                key = ("race", second.index, pipe)
                self.problems.setdefault(key, Problem("race", second.op, f"race: {_race(first, second)}"))


def _race(first: Instruction, second: Instruction) -> str:
    pair = clash(first, second)
    assert pair is not None
    earlier, later = pair
    verb = "overwrites" if later.write else "reads"
    touched = "written" if earlier.write else "read"
    what = f"{verb} {name_of(later.root)}"
    what += f", which shares memory with {name_of(earlier.root)}," if later.root is not earlier.root else ""
    again = " in an earlier iteration" if first.index >= second.index else ""
    who = f"{_place(second)} {what} {touched} by {_place(first)}{again}"
    a, b = first.pipe.upper(), second.pipe.upper()
    one, two = (f"the {i.op.name.partition('.')[2]}" for i in (first, second))
    if first.pipe is second.pipe:
        return f"{who}; no barrier on {a} between. Put ascend_memory.barrier {a.lower()} before {two}, or run insert-sync"
    return f"{who}; no flag {a}→{b} between. Set one after {one} and wait before {two}, or run insert-sync"


def _place(instruction: Instruction) -> str:
    return f"{instruction.op.name} on {instruction.pipe.upper()}{at(instruction.op)}"


def _flag(key: Key) -> str:
    return f"flag {key[0].upper()}→{key[1].upper()} {key[2]}"


def message(kernel: KernelOp, problems: Sequence[Problem]) -> str:
    """The problems of a kernel, a line each."""
    lines = [f"{p.text}." for p in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        lines.append(f"… and {len(problems) - _SHOWN} more in @{kernel.sym_name.data}.")
    return "verify-sync: " + "\n".join(lines)


@dataclass(frozen=True)
class VerifySyncPass(ModulePass):
    """Refuse kernels with an unordered hazard or an unpaired, duplicated, reserved or forgotten flag."""

    name = "verify-sync"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels(op):
            problems = check(kernel)
            if problems:
                text = message(kernel, problems)
                problems[0].op.emit_error(text, PassFailedException(text))
