"""Calling the emulator: the C structs of `runtime/launch.h` and `runtime/core.h` seen from Python, and `launch`.

A launch costs one foreign call; what it found stays in the C struct until someone asks. `report.py` turns it into a `Profile`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import Structure, c_char, c_char_p, c_double, c_float, c_int8, c_int32, c_int64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ascir.backend_c import build, schedule
from ascir.backend_c.instructions_header import OPERATION_NAMES, TARGET_INTEGERS, TARGET_NUMBERS
from ascir.backend_c.schedule import SCHEDULES
from ascir.machine.dtypes import ALL
from ascir.machine.instructions import INSTRUCTIONS
from ascir.machine.target import PIPES, SPACES, Target

_NO_PIPE = -1


class Gm(NamedTuple):
    """A kernel argument in global memory: address, bytes, name for messages, and whether the kernel may write it."""

    pointer: int
    bytes: int
    name: bytes
    writable: bool = True


# --- C structs: an annotation names the C type -----------------------------------------------------------------------------------

I32 = I64 = int
F32 = F64 = float
PerPipe: TypeAlias = "Sequence[float]"
PipeCounts: TypeAlias = "Sequence[int]"
OperationCounts: TypeAlias = "Sequence[int]"
Waits: TypeAlias = "Sequence[tuple[int, int, int]]"
Text: TypeAlias = bytes
Name: TypeAlias = bytes
Address: TypeAlias = "int | None"
Pointer: TypeAlias = Any

_C_TYPES: dict[str, Any] = {
    "I32": c_int32,
    "I64": c_int64,
    "F32": c_float,
    "F64": c_double,
    "PerPipe": c_double * len(PIPES),
    "PipeCounts": c_int64 * len(PIPES),
    "OperationCounts": c_int64 * len(OPERATION_NAMES),
    "Waits": c_int32 * 3 * len(PIPES),
    "Text": c_char_p,
    "Name": c_char * 48,
    "Address": c_void_p,
    "Pointer": c_void_p,
}


_Struct = TypeVar("_Struct", bound=Structure)


def _c_struct(cls: type[_Struct]) -> type[_Struct]:
    """Gives a struct its members: the annotations of the class, in order."""
    cls._fields_ = [(name, _C_TYPES[str(type_)]) for name, type_ in cls.__annotations__.items()]
    return cls


@_c_struct
class KernelArg(Structure):
    """`ascir_arg`."""

    p: Address
    i: I64
    f: F32
    writable: I32
    bytes: I64
    name: Text


class TargetNumbers(Structure):
    """`ascir_target`: the numbers named in instructions_header.py, then tables."""

    reserved_event_ids: int
    path: Any
    cycles_per_element: Any
    repeat_reduce: Any
    picojoules: Any
    passes: Any
    _fields_ = [
        *((name, c_int64) for name in TARGET_INTEGERS),
        *((name, c_double) for name in TARGET_NUMBERS),
        ("reserved_event_ids", c_int64),
        ("path", c_int8 * len(SPACES) * len(SPACES)),
        ("cycles_per_element", c_double * len(ALL) * len(INSTRUCTIONS)),
        ("repeat_reduce", c_double * len(ALL)),
        ("picojoules", c_double * len(ALL) * len(INSTRUCTIONS)),
        ("passes", c_double * len(INSTRUCTIONS)),
    ]


@_c_struct
class Request(Structure):
    """`ascir_request`."""

    entry: Address
    args: Address
    target: Address
    arg_count: I64
    block_dim: I64
    threads: I32
    checks: I32
    tracing: I32
    thorough: I32
    policy: I32
    windows: I32
    seed: I64
    finished: Address


@_c_struct
class RawFault(Structure):
    """`ascir_fault`; `report.py` puts it into words."""

    kind: I32
    reason: I32
    opcode: I32
    pipe: I32
    line: I32
    block: I32
    dtype: I32
    times: I32
    space: I32
    slot: I32
    writes: I32
    other_opcode: I32
    other_pipe: I32
    other_line: I32
    other_writes: I32
    other_block: I32
    flag_source: I32
    flag_pipe: I32
    flag_event: I32
    lo: I64
    hi: I64
    found: I64
    expected: I64
    waits: Waits
    name: Name


@_c_struct
class RawEvent(Structure):
    """`ascir_event`; times in cycles from the start of the kernel."""

    start: F64
    duration: F64
    bytes: I64
    elements: I64
    block: I32
    core: I32
    opcode: I32
    pipe: I32
    line: I32
    dtype: I32


@_c_struct
class RawBuffer(Structure):
    """`ascir_buffer_use`."""

    offset: I64
    bytes: I64
    dtype: I32
    line: I32
    name: Name


@_c_struct
class Result(Structure):
    """`ascir_result`; after a launch the pointers have been copied and freed."""

    cycles: F64
    busy: PerPipe
    arithmetic_pj: F64
    ub_bytes: F64
    cores: I64
    in_l2: I64
    bytes_read: I64
    bytes_written: I64
    ub_peak: I64
    operations: OperationCounts
    of_pipe: PipeCounts
    fault: Pointer
    event: Pointer
    buffer: Pointer
    faults: I64
    events: I64
    buffers: I64
    events_lost: I64
    accesses_lost: I64
    out_of_memory: I32


_SHARED = (KernelArg, TargetNumbers, Request, Result, RawFault, RawEvent, RawBuffer)
"""In the order of `ascir_size_of`."""


@dataclass(slots=True)
class RawReport:
    """What one launch left: `result` holds the numbers, the lists what had to be copied out. `faults` come in order of blocks."""

    kernel: str
    target: Target
    block_dim: int
    result: Result
    faults: list[RawFault]
    events: list[RawEvent]
    buffers: list[RawBuffer]


class _Runtime:
    """The loaded library and its pool of host threads."""

    def __init__(self, path: Path):
        self.library = ctypes.CDLL(str(path))
        self.library.ascir_size_of.restype = c_int64
        sizes = [self.library.ascir_size_of(k) for k in range(len(_SHARED))]
        assert sizes == [ctypes.sizeof(s) for s in _SHARED], "runtime/ and emulator.py disagree about a struct"
        self.library.ascir_pool_open.restype = c_void_p
        self.launch: Any = self.library.ascir_launch
        self.launch.argtypes = (c_void_p, c_void_p, c_void_p)
        self.launch.restype = None
        self.release: Any = self.library.ascir_release
        self.release.argtypes = (c_void_p,)
        self.release.restype = None
        self.open_pool()

    def open_pool(self) -> None:
        """A pool for this process: threads do not survive a fork."""
        self.pool: int = self.library.ascir_pool_open(host_threads() - 1)


@cache
def _runtime(path: Path) -> _Runtime:
    runtime = _Runtime(path)
    os.register_at_fork(after_in_child=runtime.open_pool)
    return runtime


def host_threads() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Kernel:
    """A kernel of a compiled library: `ASCIR_KERNEL(symbol)` in the C.

    Raises AttributeError if the library has no such kernel.
    """

    def __init__(self, library: Path, symbol: str):
        self.symbol = symbol
        self.runtime = _runtime(build.runtime())
        self.library = ctypes.CDLL(str(library))
        entry = getattr(self.library, f"{symbol}__entry")
        self.entry = ctypes.cast(entry, c_void_p).value


def thorough_checks() -> bool:
    """Whether `ASCEND_DEBUG=1` asks for the checks that cost more."""
    return os.environ.get("ASCEND_DEBUG", "") not in ("", "0")


def launch(
    kernel: Kernel,
    args: Sequence[Gm | int | float],
    block_dim: int,
    target: Target,
    *,
    trace: bool = False,
    checks: bool = True,
    threads: int | None = None,
    real_addresses: bool = False,
    finished: int = 0,
) -> RawReport:
    """Run `block_dim` blocks of a kernel on at most `threads` host threads (default: all), under the current `Schedule`.

    The memory behind `Gm` arguments must stay alive during the call. A kernel sees it through made-up addresses, unless it needs
    `real_addresses` because its C dereferences pointers itself. Blocks that end are counted in the int64 at address `finished`.
    Faults are collected, not raised. ValueError for a block_dim below 1, MemoryError if the host has no room for a core.
    """
    if block_dim < 1:
        raise ValueError(f"block_dim is {block_dim}; expected 1 or more")
    values = _arguments(args)
    plan = schedule.current()
    request = Request(
        kernel.entry,
        ctypes.addressof(values),
        ctypes.addressof(_numbers(target)),
        len(args),
        block_dim,
        host_threads() if threads is None else threads,
        checks,
        trace,
        thorough_checks(),
        SCHEDULES.index(plan.name),
        not real_addresses,
        plan.seed,
        finished or None,
    )
    result = Result()
    kernel.runtime.launch(kernel.runtime.pool, ctypes.addressof(request), ctypes.addressof(result))
    return _collect(kernel, target, block_dim, result)


def _arguments(args: Sequence[Gm | int | float]) -> ctypes.Array[KernelArg]:
    values = (KernelArg * max(1, len(args)))()
    for value, arg in zip(values, args, strict=False):
        if isinstance(arg, Gm):
            value.p, value.bytes, value.name, value.writable = arg.pointer, arg.bytes, arg.name, arg.writable
        elif isinstance(arg, float):
            value.f = arg
        else:
            value.i = arg
    return values


def _collect(kernel: Kernel, target: Target, block_dim: int, result: Result) -> RawReport:
    report = RawReport(kernel.symbol, target, block_dim, result, [], [], [])
    if result.out_of_memory:
        raise MemoryError(f"no memory left for a core to run kernel '{kernel.symbol}' on")
    if result.fault or result.event or result.buffer:
        report.faults = sorted(_copies(RawFault, result.fault, result.faults), key=lambda fault: fault.block)
        report.events = sorted(_copies(RawEvent, result.event, result.events), key=lambda event: event.block)
        report.buffers = _copies(RawBuffer, result.buffer, result.buffers)
        kernel.runtime.release(ctypes.addressof(result))
    return report


def _copies(struct: type[_Struct], pointer: Pointer, count: int) -> list[_Struct]:
    """The structs behind a pointer that is about to be freed."""
    if not count:
        return []
    array = struct * count
    return list(array.from_buffer_copy(ctypes.string_at(pointer, ctypes.sizeof(array))))


# --- the target as numbers ------------------------------------------------------------------------------------------------------

_numbers_of: dict[int, tuple[Target, TargetNumbers]] = {}


def _numbers(target: Target) -> TargetNumbers:
    """The C struct of a target, made once; the target is kept, so that its id stays its own."""
    known = _numbers_of.get(id(target))
    if known is None:
        known = _numbers_of[id(target)] = (target, _new_numbers(target))
    return known[1]


def _new_numbers(target: Target) -> TargetNumbers:
    numbers = TargetNumbers()
    for name in (*TARGET_INTEGERS, *TARGET_NUMBERS):
        setattr(numbers, name, getattr(target, name))
    numbers.reserved_event_ids = sum(1 << event for event in target.reserved_event_ids)
    for i, source in enumerate(SPACES):
        for j, destination in enumerate(SPACES):
            pipe = target.pipe_of_copy(source, destination)
            numbers.path[i][j] = _NO_PIPE if pipe is None else PIPES.index(pipe)
    for i, row in enumerate(INSTRUCTIONS):
        numbers.passes[i] = row.passes
        for j, dtype in enumerate(ALL):
            numbers.cycles_per_element[i][j] = row.cycles_per_element(dtype.name, dtype.bytes, target)
            numbers.picojoules[i][j] = row.picojoules(dtype.name, target)
    for j, dtype in enumerate(ALL):
        numbers.repeat_reduce[j] = target.cycles_per_element("repeat_reduce", dtype.bytes)
    return numbers
