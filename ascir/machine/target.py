"""What an AI Core has: sizes, alignments, legal paths, costs — each with its source.

A target is data. A second chip is a second `Target`, never an `if` elsewhere. Sources: "hw §n" is section n of docs/hardware.md,
which gathers public Ascend documentation; "derived" is arithmetic on such numbers; "assumed" is a number nobody documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from .dtypes import BLOCK_BYTES

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIXP")
"""The pipes in the order of their numbers in the emulator (hw §2)."""

SPACES = ("gm", "l1", "l0a", "l0b", "l0c", "ub", "bt", "fb")
"""The memories in the order of their numbers in the emulator (hw §1)."""


@dataclass(frozen=True)
class Memory:
    """One on-chip memory: bytes and the alignment of an operand in it (hw §1)."""

    bytes: int
    alignment: int


@dataclass(frozen=True)
class Rate:
    """Vector throughput in elements per cycle, for 16-bit and for 32-bit elements (hw §3)."""

    b16: float
    b32: float


@dataclass(frozen=True)
class Energy:
    """What work costs in pJ, for the estimate beside the cycles.

    Figures marked "TPUv4i" are from table 2 of Jouppi et al., "Ten Lessons From Three Generations Shaped Google's TPUv4i" (ISCA 2021),
    which brings Horowitz's operation energies (ISSCC 2014) to 7 nm, the node of this chip. Leakage is not in it.
    """

    hbm_byte: float = 43.75  # TPUv4i: HBM2 250–450 pJ per 64 bits, the middle
    l2_byte: float = 7.0  # assumed: four times TPUv4i's 1 MB SRAM (14 pJ per 64 bits), for the wires to a shared 192 MB
    ub_byte: float = 1.42  # derived: TPUv4i's 32 KB (8.5 pJ per 64 bits) and 1 MB SRAM (14), at 192 KB on a log scale
    instruction: float = 25.0  # assumed: fetch, decode and dispatch; Horowitz has 70 pJ at 45 nm
    function_multiply_adds: float = 4.0  # assumed: exp, ln, sqrt, division: a table and a cubic polynomial
    add: dict[str, float] = field(
        default_factory=lambda: {
            **{"f16": 0.16, "bf16": 0.11, "f32": 0.38, "i8": 0.007, "i32": 0.03},  # TPUv4i
            **{"i16": 0.015, "i64": 0.06},  # assumed: half and twice i32
        }
    )
    multiply: dict[str, float] = field(
        default_factory=lambda: {
            **{"f16": 0.34, "bf16": 0.21, "f32": 1.31, "i8": 0.07, "i32": 1.48},  # TPUv4i
            **{"i16": 0.37, "i64": 5.92},  # assumed: a quarter of and four times i32
        }
    )


@dataclass(frozen=True)
class Target:
    """The facts of one chip. Cycles are of `clock_ghz`; bandwidths are bytes per second unless they say per cycle."""

    name: str
    clock_ghz: float
    cube_cores: int
    vector_cores: int
    memories: dict[str, Memory]
    paths: dict[tuple[str, str], str]
    """(source space, destination space) → pipe of the copy."""

    rates: dict[str, Rate]
    """Throughput class of an instruction → elements per cycle."""

    repeat_bytes: int = 256  # hw §3: one repeat = 8 blocks of 32 B
    block_bytes: int = BLOCK_BYTES  # hw §3
    max_repeats: int = 255  # hw §3
    max_stride_blocks: int = 255  # hw §3: block and repeat strides fit in uint8
    event_ids: int = 8  # hw §2: 0–7
    reserved_event_ids: tuple[int, ...] = (6, 7)  # hw §2: the vendor runtime's
    max_copy_blocks: int = 4095  # hw §5: rows of one copy
    max_copy_bytes: int = 2_097_151  # hw §5: bytes of one row of a padded copy

    vector_start: float = 14.0  # assumed: pipe fill of one vector instruction
    barrier_cycles: float = 10.0  # assumed: drain of a pipe at pipe_barrier
    flag_cycles: float = 8.0  # assumed: set_flag to wait_flag across pipes
    issue_cycles: float = 1.0  # assumed: pipe S dispatches one instruction to a queue
    scalar_element_cycles: float = 6.0  # assumed: two loads, an operation, a store per element of a scalar loop in UB
    scalar_gm_cycles: float = 24.0  # assumed: one element copied between GM and UB by a scalar load and store
    scalar_access_cycles: float = 4.0  # assumed: one scalar load or store in UB
    copy_start: float = 20.6  # hw §6: issue of a 128 B copy
    copy_row: float = 8.3  # hw §6: each further burst (row) of a copy
    gm_read_per_cycle: float = 110.0  # hw §6: bytes per cycle and core, GM→UB
    gm_write_per_cycle: float = 86.0  # hw §6: bytes per cycle and core, UB→GM
    l2_bytes: int = 192 * 1024 * 1024  # hw §1
    l2_bandwidth: float = 2.00e12  # hw §6: both directions, all cores, working set within L2
    hbm_bandwidth: float = 1.12e12  # hw §6: the same, working set beyond L2
    unaligned_efficiency: float = 0.70  # hw §6: 32 B-aligned against 512 B-aligned GM addresses
    aligned_gm_bytes: int = 512  # hw §6
    lockstep: float = 0.5  # assumed: how far cores load and compute at the same moments; fits double buffering's 1.7 % (hw §6)
    launch_us: float = 3.0  # hw §6
    queue_depth: int = 32  # hw §6 for MTE1 and M; assumed for the other pipes: instructions that wait in one
    bank_groups: int = 16  # hw §3: of UB; neighbouring blocks of 32 B lie in neighbouring groups
    group_banks: int = 3  # hw §3: banks of 4 KB in one group

    energy: Energy = field(default_factory=Energy)

    @property
    def ub_bytes(self) -> int:
        return self.memories["ub"].bytes

    def pipe_of_copy(self, source: str, destination: str) -> str | None:
        """The pipe of a copy between two spaces, or None for an illegal path (hw §2)."""
        return self.paths.get((source, destination))

    def cycles_per_element(self, rate: str, element_bytes: int) -> float:
        """Cycles one element takes in class `rate`; elements wider than 4 bytes take as many 32-bit steps."""
        row = self.rates[rate]
        if element_bytes <= 2:
            return 1.0 / row.b16
        return element_bytes / 4 / row.b32


_PATHS_2201 = {  # hw §2
    ("gm", "ub"): "MTE2",
    ("gm", "l1"): "MTE2",
    ("gm", "l0a"): "MTE2",
    ("gm", "l0b"): "MTE2",
    ("l1", "l0a"): "MTE1",
    ("l1", "l0b"): "MTE1",
    ("l1", "bt"): "MTE1",
    ("ub", "gm"): "MTE3",
    ("l0c", "gm"): "FIXP",
    ("l0c", "l1"): "FIXP",
    ("l1", "fb"): "FIXP",
    ("ub", "ub"): "V",
}

ASCEND910B = Target(
    name="ascend910b",
    clock_ghz=1.8,  # hw §1
    cube_cores=24,  # hw §1: 910B2/B3
    vector_cores=48,  # hw §1
    memories={  # hw §1
        "l1": Memory(512 * 1024, 32),
        "l0a": Memory(64 * 1024, 512),
        "l0b": Memory(64 * 1024, 512),
        "l0c": Memory(128 * 1024, 64),
        "ub": Memory(192 * 1024, 32),
        "bt": Memory(1024, 64),
        "fb": Memory(2 * 1024, 64),
    },
    paths=_PATHS_2201,
    rates={  # hw §3, elements per cycle and vector core
        "linear": Rate(128, 64),
        "function": Rate(32, 32),
        "cast": Rate(64, 64),
        "block_reduce": Rate(128, 64),
        "repeat_reduce": Rate(7, 7),
    },
)

TARGETS = {ASCEND910B.name: ASCEND910B}


def parse_target(spec: str) -> Target:
    """A target by its name, with optional changes: `ascend910b` or `ascend910b{ub=98304,vector_cores=8}`.

    Raises ValueError with the nearest name for an unknown target or field.
    """
    from difflib import get_close_matches

    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\{(.*)\})?\s*", spec)
    name = match.group(1) if match else spec
    if match is None or name not in TARGETS:
        near = get_close_matches(name, TARGETS, 1) or list(TARGETS)
        raise ValueError(f"unknown target '{spec}'; did you mean '{near[0]}'?")
    target = TARGETS[name]
    for item in filter(None, (match.group(2) or "").split(",")):
        key, _, text = (part.strip() for part in item.partition("="))
        target = _changed(target, key, text)
    return target


def _changed(target: Target, key: str, text: str) -> Target:
    from difflib import get_close_matches

    if key in target.memories:
        memory = replace(target.memories[key], bytes=_whole(key, text))
        return replace(target, memories={**target.memories, key: memory})
    if key in ("vector_cores", "cube_cores"):
        return replace(target, **{key: _whole(key, text)})
    known = [*target.memories, "vector_cores", "cube_cores"]
    near = get_close_matches(key, known, 1) or [", ".join(known)]
    raise ValueError(f"unknown target option '{key}'; did you mean '{near[0]}'?")


def _whole(key: str, text: str) -> int:
    if not text.isdecimal() or int(text) <= 0:
        raise ValueError(f"target option {key} is a positive whole number, not '{text}'")
    return int(text)
