"""What a run came to, for people: cycles, utilisation, faults in sentences, and a timeline that opens in Perfetto.

The emulator reports numbers; here C lines become source lines and fault records become text. The wording of every message is in
this file, one function a kind of fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from ascir.backend_c.emulator import RawFault, RawReport
from ascir.backend_c.instructions_header import OPERATION_NAMES
from ascir.backend_c.origins import Origins
from ascir.diagnostics import AscirError
from ascir.machine.dtypes import ALL
from ascir.machine.instructions import ROUND_MODES
from ascir.machine.target import PIPES, SPACES

MAX_FAULTS = 64
"""Distinct faults of one run that are kept."""


@dataclass(frozen=True)
class Fault:
    """Something the hardware would not have forgiven.

    `text` is the whole message, `location` the source line of the instruction (or of the C, when nothing better is known), `bytes`
    the range within `buffer`. `ir_line` and `ir` are the line of the final IR (`k.ir()`), `c_line` and `c` that of the C. Of a race, a
    lost write or an overlap of cores, `other_…` is the earlier party. `times` counts equal faults of all blocks.
    """

    kind: str
    text: str
    location: str
    c_line: int
    instruction: str
    pipe: str | None
    block: int
    buffer: str | None = None
    bytes: tuple[int, int] | None = None
    other_instruction: str | None = None
    other_pipe: str | None = None
    other_location: str | None = None
    other_block: int | None = None
    times: int = 1
    core: int = 0
    ir_line: int | None = None
    ir: str = ""
    c: str = ""

    def __str__(self) -> str:
        times = f" ({self.times} times)" if self.times > 1 else ""
        return f"{self.location}: {self.text}{times}" if self.location else f"{self.text}{times}"

    def explain(self) -> str:
        """The message, and below it the line in the author's file, in the IR and in the C."""
        lines = [str(self)]
        lines += [f"    IR line {self.ir_line}: {self.ir}"] if self.ir_line else []
        lines += [f"    C line {self.c_line}: {self.c}"] if self.c else []
        return "\n".join(lines)


class KernelFault(AscirError):
    """A run with faults: its outputs are not to be used. `faults` holds them; `str()` lists them."""

    def __init__(self, faults: Sequence[Fault]):
        self.faults = tuple(faults)
        count = "a fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__("\n".join((f"the emulator found {count}:", *(f"  {fault}" for fault in self.faults))))


@dataclass(frozen=True)
class BufferUse:
    """Who holds which bytes of UB in a kernel (known for runs with a trace)."""

    kernel: str
    name: str
    offset: int
    bytes: int
    dtype: str


@dataclass(frozen=True)
class Event:
    """One instruction on the timeline; times in µs from the start of the run."""

    kernel: str
    name: str
    pipe: str
    core: int
    block: int
    start: float
    duration: float
    bytes: int
    elements: int
    dtype: str
    c_line: int
    location: str


@dataclass(frozen=True)
class Profile:
    """What one or more launches, one after another, came to.

    `cycles` and `time_us` are None when there are faults. `time_us` counts the kernels and `launch_us`, which is also given apart.
    `utilization` is busy time over kernel time, per pipe, averaged over the cores in use; `instructions` counts by name;
    `bytes_read` and `bytes_written` are those of global memory. `energy` is an estimate in µJ: of moving bytes through HBM, L2 and UB,
    of arithmetic, and of instructions as such (figures and sources: `Energy` in machine/target.py); empty when there are faults.
    `events` and `memory` are there after a run with a trace.
    """

    kernels: tuple[str, ...]
    cycles: float | None
    time_us: float | None
    launch_us: float
    utilization: dict[str, float]
    instructions: dict[str, int]
    block_dim: int
    cores: int
    ub_peak: int
    bytes_read: int
    bytes_written: int
    energy: dict[str, float] = field(default_factory=lambda: dict[str, float]())
    faults: list[Fault] = field(default_factory=lambda: list[Fault]())
    memory: list[BufferUse] = field(default_factory=lambda: list[BufferUse](), repr=False)
    events: list[Event] = field(default_factory=lambda: list[Event](), repr=False)
    events_lost: int = 0
    copied: tuple[str, ...] = ()
    """Arguments that were copied before the run, and why: `x: not C-contiguous`."""

    @staticmethod
    def of(reports: Sequence[RawReport], origins: Origins | None = None) -> Profile:
        """The profile of launches that ran in this order; `origins` tells where the lines of C came from."""
        origins = origins or Origins()
        faults = merge_faults(fault for report in reports for fault in _faults(report, origins))
        cycles = sum(report.result.cycles for report in reports)
        launch_us = sum(report.target.launch_us for report in reports)
        kernel_us = sum(map(_kernel_us, reports))
        return Profile(
            kernels=tuple(report.kernel for report in reports),
            cycles=None if faults else cycles,
            time_us=None if faults else kernel_us + launch_us,
            launch_us=launch_us,
            utilization={} if faults else _utilization(reports),
            instructions=_instructions(reports),
            block_dim=max((report.block_dim for report in reports), default=0),
            cores=max((report.result.cores for report in reports), default=0),
            ub_peak=max((report.result.ub_peak for report in reports), default=0),
            bytes_read=sum(report.result.bytes_read for report in reports),
            bytes_written=sum(report.result.bytes_written for report in reports),
            energy={} if faults else _energy(reports),
            faults=faults,
            memory=[use for report in reports for use in _memory(report)],
            events=_events(reports, origins),
            events_lost=sum(report.result.events_lost for report in reports),
        )

    @property
    def energy_uj(self) -> float | None:
        """The estimate in µJ, all parts together; None when there are faults."""
        return None if self.faults else sum(self.energy.values())

    def __str__(self) -> str:
        """A summary to read: time, what each pipe did, memory, faults."""
        lines = [f"kernels     {', '.join(self.kernels) or 'none'} on {self.cores} cores (block_dim {self.block_dim})"]
        if self.cycles is not None:
            lines.append(f"time        {self.time_us:.2f} µs, of which launching {self.launch_us:.2f} µs; {self.cycles:.0f} cycles")
            lines += [f"{pipe:<11} {_bar(share)} {100 * share:5.1f} % busy" for pipe, share in self.utilization.items()]
        if self.energy:
            parts = ", ".join(f"{name} {share:.3g}" for name, share in self.energy.items())
            lines.append(f"energy      {self.energy_uj:.3g} µJ (estimate): {parts}")
        lines.append(f"memory      UB peak {self.ub_peak} B; GM {self.bytes_read} B read, {self.bytes_written} B written")
        most = sorted(self.instructions.items(), key=lambda item: -item[1])
        lines.append("executed    " + ", ".join(f"{name} {count}" for name, count in most))
        lines += [f"copied      {text}" for text in self.copied]
        lines.append(f"faults      {len(self.faults) or 'none'}")
        lines += [f"  {fault}" for fault in self.faults]
        if self.utilization.get("S", 0) > max((share for pipe, share in self.utilization.items() if pipe != "S"), default=0):
            lines.append("note        scalar work on pipe S takes longest: strided elements, or a dtype the vector unit lacks")
        return "\n".join(lines)

    def trace(self) -> dict[str, Any]:
        """The timeline as Chrome's trace format: a process a core, a thread a pipe.

        ValueError for a run without a trace; one in which nothing ran, over no elements, has an empty timeline.
        """
        if self.kernels and not self.events:
            raise ValueError("this run kept no timeline; run it with trace=True")
        lanes = sorted({(event.core, PIPES.index(event.pipe)) for event in self.events})
        return {"displayTimeUnit": "ns", "traceEvents": [*_lane_names(lanes), *map(_trace_event, self.events)]}

    def save_trace(self, path: str | PathLike[str]) -> None:
        """Write `trace()` as JSON; open it at ui.perfetto.dev or chrome://tracing."""
        with open(path, "w") as out:
            json.dump(self.trace(), out)


def _bar(share: float) -> str:
    """A bar of twenty places."""
    full = round(20 * min(share, 1.0))
    return "█" * full + "·" * (20 - full)


def merge_faults(faults: Iterable[Fault]) -> list[Fault]:
    """Equal messages of several blocks become one that counts them; the first MAX_FAULTS are kept."""
    merged: dict[tuple[str, int], Fault] = {}
    for fault in faults:
        key = (fault.text, fault.c_line)
        known = merged.get(key)
        if known is not None:
            merged[key] = _counted(known, known.times + fault.times)
        elif len(merged) < MAX_FAULTS:
            merged[key] = fault
    return list(merged.values())


def _counted(fault: Fault, times: int) -> Fault:
    from dataclasses import replace

    return replace(fault, times=times)


# --- numbers ------------------------------------------------------------------------------------------------------------------


def _kernel_us(report: RawReport) -> float:
    return report.result.cycles / (report.target.clock_ghz * 1e3)


def _utilization(reports: Sequence[RawReport]) -> dict[str, float]:
    available = sum(report.result.cycles * report.result.cores for report in reports)
    busy = {pipe: sum(report.result.busy[k] for report in reports) for k, pipe in enumerate(PIPES)}
    return {pipe: cycles / available for pipe, cycles in busy.items() if cycles and available}


def _energy(reports: Sequence[RawReport]) -> dict[str, float]:
    """µJ by where they go. What fits in L2 is taken to come from there, as the bandwidth model does."""
    parts = dict.fromkeys(("HBM", "L2", "UB", "arithmetic", "instructions"), 0.0)
    for report in reports:
        result, energy = report.result, report.target.energy
        gm = result.bytes_read + result.bytes_written
        parts["HBM"] += 0.0 if result.in_l2 else gm * energy.hbm_byte
        parts["L2"] += gm * energy.l2_byte
        parts["UB"] += result.ub_bytes * energy.ub_byte
        parts["arithmetic"] += result.arithmetic_pj
        parts["instructions"] += sum(result.of_pipe) * energy.instruction
    return {name: picojoules / 1e6 for name, picojoules in parts.items() if picojoules}


def _instructions(reports: Sequence[RawReport]) -> dict[str, int]:
    """Counts by name; a copy between memories and a vector copy are told apart by the pipe in the trace, not here."""
    counts: dict[str, int] = {}
    for report in reports:
        for name, count in zip(OPERATION_NAMES, report.result.operations, strict=True):
            if count:
                counts[name] = counts.get(name, 0) + count
    return counts


def _memory(report: RawReport) -> list[BufferUse]:
    return [
        BufferUse(report.kernel, raw.name.decode(errors="replace"), raw.offset, raw.bytes, ALL[raw.dtype].name) for raw in report.buffers
    ]


# --- the timeline -------------------------------------------------------------------------------------------------------------


def _events(reports: Sequence[RawReport], origins: Origins) -> list[Event]:
    events: list[Event] = []
    begin = 0.0
    for report in reports:
        begin += report.target.launch_us
        per_us = report.target.clock_ghz * 1e3
        events.extend(
            Event(
                report.kernel,
                OPERATION_NAMES[raw.opcode],
                PIPES[raw.pipe],
                raw.core,
                raw.block,
                begin + raw.start / per_us,
                raw.duration / per_us,
                raw.bytes,
                raw.elements,
                ALL[raw.dtype].name,
                raw.line,
                origins.location(raw.line),
            )
            for raw in report.events
        )
        begin += _kernel_us(report)
    return events


def _lane_names(lanes: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    def name(kind: str, core: int, pipe: int, text: str) -> dict[str, Any]:
        return {"ph": "M", "name": kind, "pid": core, "tid": pipe, "args": {"name": text}}

    processes = [name("process_name", core, 0, f"core {core}") for core in sorted({core for core, _ in lanes})]
    return processes + [name("thread_name", core, pipe, PIPES[pipe]) for core, pipe in lanes]


def _trace_event(event: Event) -> dict[str, Any]:
    arguments = {
        "source": event.location,
        "c_line": event.c_line,
        "kernel": event.kernel,
        "block": event.block,
        "dtype": event.dtype,
        "elements": event.elements,
        "bytes": event.bytes,
    }
    return {
        "ph": "X",
        "name": event.name,
        "cat": event.pipe,
        "pid": event.core,
        "tid": PIPES.index(event.pipe),
        "ts": event.start,
        "dur": event.duration,
        "args": arguments,
    }


# --- faults in words ----------------------------------------------------------------------------------------------------------

_OPERANDS = ("the destination", "operand a", "operand b", "the mask", "the work space")
"""In the order of `ASCIR_DST …` in ascir_core.h."""


@dataclass(frozen=True)
class _Words:
    """A raw fault and the phrases that messages are made of."""

    raw: RawFault
    origins: Origins
    cores: int

    def place(self, line: int) -> str:
        """A source location, or the C line when there is none."""
        return self.origins.location(line) or (f"C line {line}" if line else "")

    @property
    def instruction(self) -> str:
        return OPERATION_NAMES[self.raw.opcode] if self.raw.opcode >= 0 else ""

    @property
    def who(self) -> str:
        """`add on V`."""
        name = self.instruction or "the kernel"
        return f"{name} on {PIPES[self.raw.pipe]}" if self.raw.pipe >= 0 else name

    @property
    def other(self) -> str:
        """`copy on MTE2 (gelu.py:12)`."""
        place = self.place(self.raw.other_line)
        at = f" ({place})" if place else ""
        return f"{OPERATION_NAMES[self.raw.other_opcode]} on {_pipe_name(self.raw.other_pipe)}{at}"

    @property
    def does(self) -> str:
        return "writes" if self.raw.writes else "reads"

    @property
    def operand(self) -> str:
        return _OPERANDS[self.raw.slot] if self.raw.slot >= 0 else "an operand"

    @property
    def buffer(self) -> str | None:
        return self.raw.name.decode(errors="replace") or None

    @property
    def space(self) -> str:
        return SPACES[self.raw.space] if self.raw.space >= 0 else "nowhere"

    @property
    def named(self) -> str:
        """`ub:x_tile`."""
        return f"{self.space}:{self.buffer}" if self.buffer else self.space

    @property
    def bytes(self) -> str:
        """`ub:x_tile[0..1024)`."""
        return f"{self.named}[{self.raw.lo}..{self.raw.hi})"

    @property
    def flag(self) -> str:
        """`MTE2→V 0`."""
        return f"{_pipe_name(self.raw.flag_source)}→{_pipe_name(self.raw.flag_pipe)} {self.raw.flag_event}"


def _pipe_name(pipe: int) -> str:
    return PIPES[pipe] if 0 <= pipe < len(PIPES) else f"pipe {pipe}"


def _unallocated(w: _Words) -> str:
    return f"{w.who} {w.does} an address in no buffer ({w.operand}); point it into a UB buffer or a kernel argument"


def _uninitialised(w: _Words) -> str:
    return f"{w.who} reads {w.bytes}, which the kernel has not written; fill it first (copy, duplicate)"


def _overrun(w: _Words) -> str:
    if w.raw.reason == _REASON["guard"]:
        return f"something wrote outside {w.space}, past the instructions; look for a pointer used in plain C"
    return f"{w.who} {w.does} {w.bytes} ({w.operand}), but the buffer has {w.raw.found} bytes"


def _misaligned(w: _Words) -> str:
    expected = f"expected a multiple of {w.raw.expected}"
    if not w.instruction:
        return f"buffer {w.buffer} starts at byte {w.raw.found} of {w.space}; {expected}"
    if w.raw.reason == _REASON["pitch"]:
        return f"{w.who} {w.does} rows of {w.named} that lie {w.raw.found} bytes apart ({w.operand}); {expected}"
    return f"{w.who} {w.does} {w.bytes} ({w.operand}), which starts at byte {w.raw.found} of {w.space}; {expected}"


def _illegal_path(w: _Words) -> str:
    source, destination = SPACES[w.raw.found], SPACES[w.raw.expected]
    hint = "use __hcc_copy within ub" if source == destination == "ub" else "a copy goes from gm to ub or from ub to gm"
    return f"{w.instruction} from {source} to {destination}; {hint}"


def _race(w: _Words) -> str:
    did = "written" if w.raw.other_writes else "read"
    pipe, other = _pipe_name(w.raw.pipe), _pipe_name(w.raw.other_pipe)
    missing = f"no barrier on {pipe} between" if pipe == other else f"no flag {other}→{pipe} between"
    return f"{w.who} {w.does} {w.bytes} {did} by {w.other}; {missing}"


def _duplicate_flag(w: _Words) -> str:
    place = w.place(w.raw.other_line)
    return f"set_flag {w.flag} is set again before a wait_flag took the first ({place}); wait in between or use another id"


def _left_over_flag(w: _Words) -> str:
    return f"flag {w.flag} is still set when the kernel ends; add the wait_flag it was meant for, or remove the set_flag"


def _reserved_flag(w: _Words) -> str:
    return f"{w.instruction} {w.flag}: id {w.raw.flag_event} is reserved for the vendor's runtime; use another"


def _waits(w: _Words) -> list[str]:
    """`V waits for flag MTE2→V 0 (gelu.py:12)`, for each pipe that waits."""
    waits: list[str] = []
    for pipe, (source, event, line) in zip(PIPES, w.raw.waits, strict=True):
        if source >= 0:
            place = w.place(line)
            waits.append(f"{pipe} waits for flag {PIPES[source]}→{pipe} {event}" + (f" ({place})" if place else ""))
    return waits


def _deadlock(w: _Words) -> str:
    waits = _waits(w)
    end = "which nobody sets" if len(waits) == 1 else "and none of these flags is set"
    if w.raw.pipe >= 0:
        end += f"; pipe S stands at {w.instruction}, for the queue of {PIPES[w.raw.pipe]} is full"
    elif w.instruction == "pipe_barrier":
        end += "; pipe S stands at a barrier for all pipes"
    return f"{'; '.join(waits)}, {end}"


def _unpaired_flag(w: _Words) -> str:
    return f"{'; '.join(_waits(w))}; no set_flag {w.flag} belongs to it: on hardware the core hangs here"


def _capacity(w: _Words) -> str:
    if w.raw.reason == _REASON["buffers"]:
        return f"buffer {w.buffer} is number {w.raw.found}; a kernel may have {w.raw.expected}"
    return f"buffer {w.buffer} ends at byte {w.raw.found} of {w.space}, which has {w.raw.expected}"


def _overwritten(w: _Words) -> str:
    return f"{w.who} writes over {w.bytes} written by {w.other}, and nothing has read it; is a wait or a second buffer missing?"


def _cores_overlap(w: _Words) -> str:
    did = "written" if w.raw.other_writes else "read"
    return (
        f"{w.who} of block {w.raw.block} writes {w.bytes} {did} by {w.other} of block {w.raw.other_block}; give each block bytes of its own"
    )


def _queue_misuse(w: _Words) -> str:
    return list(_REASONS.values())[w.raw.reason](w)


_LEAKS = ("", "allocated and never enqueued", "enqueued and never dequeued", "dequeued and never freed")
"""By the states of a buffer in runtime/queue.c."""


def _leak(w: _Words) -> str:
    return f"a buffer of queue {w.buffer} is {_LEAKS[w.raw.found]} when the kernel ends"


# Illegal operands: a sentence per reason, in the order of `REASON_…` in core.h.


def _dtype_name(number: int) -> str:
    return ALL[number].name if 0 <= number < len(ALL) else "?"


def _wrong_space(w: _Words) -> str:
    return f"{w.who} needs operands in ub; {w.operand} is in {w.named}. Copy it first: __memcpy_async"


def _wrong_dtype(w: _Words) -> str:
    found, expected = _dtype_name(w.raw.found), _dtype_name(w.raw.expected)
    if w.raw.pipe >= 0:
        return f"{w.who}: {w.operand} is {found}; expected {expected}"
    if w.instruction == "cast":
        return f"no cast {found} → {expected}; go through f32"
    return f"{w.instruction} has no {found} form"


def _wrong_step(w: _Words) -> str:
    expected = "1" if w.raw.expected else "1, or 0 to repeat a block"
    return f"{w.who}: elements of {w.operand} lie {w.raw.found} apart; expected {expected}"


def _wrong_pitch(w: _Words) -> str:
    return f"{w.who}: rows of {w.operand} lie {w.raw.found} elements apart; expected {w.raw.expected} or more"


def _count_of(what: str) -> Callable[[_Words], str]:
    def text(w: _Words) -> str:
        return f"{w.who}: {w.operand} has {w.raw.found} {what}; expected {w.raw.expected}"

    return text


def _overlap(w: _Words) -> str:
    other = _OPERANDS[w.raw.found]
    return f"{w.who} writes {w.bytes}, which overlaps {other} without coinciding with it"


def _wrong_rounding(w: _Words) -> str:
    mode = ROUND_MODES[w.raw.found] if 0 <= w.raw.found < len(ROUND_MODES) else str(w.raw.found)
    return f"{w.who}: rounding {mode} is not for this cast; odd is for f32 → f16 only"


_REASONS: dict[str, Callable[[_Words], str]] = {
    "none": lambda w: f"{w.who}: {w.operand}",
    "space": _wrong_space,
    "dtype": _wrong_dtype,
    "rows": _count_of("rows"),
    "columns": _count_of("columns"),
    "step": _wrong_step,
    "pitch": _wrong_pitch,
    "count": lambda w: f"{w.who}: {w.operand} has {w.raw.found} elements; expected {w.raw.expected} or more",
    "overlap": _overlap,
    "read_only": lambda w: f"{w.who} writes {w.bytes}, an argument that is only to be read",
    "work": _count_of("elements"),
    "axis": lambda w: f"{w.who} reduces axis {w.raw.found}; expected 0 or 1",
    "rounding": _wrong_rounding,
    "pipes": lambda w: f"{w.instruction} names {_pipe_name(w.raw.found)} and {_pipe_name(w.raw.expected)}; expected two pipes",
    "event": lambda w: f"{w.instruction} {w.flag}: expected an id from 0 to {w.raw.expected - 1}",
    "copy_rows": lambda w: f"{w.who} moves {w.raw.found} rows; one copy moves at most {w.raw.expected}",
    "copy_bytes": lambda w: f"{w.who} moves rows of {w.raw.found} bytes; expected at most {w.raw.expected}",
    "guard": _overrun,
    "buffers": _capacity,
    "queue_depth": lambda w: f"queue {w.buffer} has depth {w.raw.expected}; expected 1 to 8",
    "queue_flags": lambda w: (
        f"queue {w.buffer} of depth {w.raw.expected} needs as many flags, and other queues between the two pipes have {w.raw.found}"
    ),
    "queue_full": lambda w: f"queue_alloc on {w.buffer}, all of whose {w.raw.expected} buffers are in use; free one first",
    "queue_not_allocated": lambda w: f"queue_enqueue on {w.buffer} of a buffer that was not allocated from it",
    "queue_empty": lambda w: f"queue_dequeue on {w.buffer}, in which nothing is enqueued",
    "queue_not_dequeued": lambda w: f"queue_free on {w.buffer} of a buffer that was not dequeued from it, or is free already",
}

_REASON = {name: number for number, name in enumerate(_REASONS)}

_QUEUE_STEPS = {
    _REASON["queue_full"]: "queue_alloc",
    _REASON["queue_not_allocated"]: "queue_enqueue",
    _REASON["queue_empty"]: "queue_dequeue",
    _REASON["queue_not_dequeued"]: "queue_free",
}
"""Which step of a queue a reason speaks of: it is no instruction, only flags are."""


def _illegal_operand(w: _Words) -> str:
    return list(_REASONS.values())[w.raw.reason](w)


_KINDS: dict[str, Callable[[_Words], str]] = {
    "unallocated": _unallocated,
    "uninitialised read": _uninitialised,
    "overrun": _overrun,
    "misaligned": _misaligned,
    "illegal path": _illegal_path,
    "illegal operand": _illegal_operand,
    "race": _race,
    "duplicate flag": _duplicate_flag,
    "left-over flag": _left_over_flag,
    "reserved flag": _reserved_flag,
    "deadlock": _deadlock,
    "capacity": _capacity,
    "unpaired flag": _unpaired_flag,
    "overwritten before read": _overwritten,
    "cores overlapping in GM": _cores_overlap,
    "queue misuse": _queue_misuse,
    "leak": _leak,
}
"""In the order of `FAULT_…` in core.h."""


def _faults(report: RawReport, origins: Origins) -> list[Fault]:
    cores = max(1, report.result.cores)
    return [_fault(_Words(raw, origins, cores)) for raw in report.faults]


def _fault(w: _Words) -> Fault:
    kind, text = list(_KINDS.items())[w.raw.kind]
    other = w.raw.other_opcode >= 0
    ir = w.origins.ir(w.raw.line)
    return Fault(
        kind=kind,
        text=f"{kind}: {text(w)}",
        location=w.place(w.raw.line),
        c_line=w.raw.line,
        instruction=w.instruction or _QUEUE_STEPS.get(w.raw.reason, ""),
        pipe=PIPES[w.raw.pipe] if w.raw.pipe >= 0 else None,
        block=w.raw.block,
        buffer=w.buffer,
        bytes=(w.raw.lo, w.raw.hi) if w.buffer else None,
        other_instruction=OPERATION_NAMES[w.raw.other_opcode] if other else None,
        other_pipe=PIPES[w.raw.other_pipe] if other else None,
        other_location=w.place(w.raw.other_line) if other else None,
        other_block=w.raw.other_block if w.raw.other_block >= 0 else None,
        times=w.raw.times,
        core=w.raw.block % w.cores,
        ir_line=ir[0] if ir else None,
        ir=ir[1] if ir else "",
        c=w.origins.c(w.raw.line),
    )
