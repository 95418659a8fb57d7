"""How large a tile is: as large as UB holds, and no larger than gives every core work.

Registers of a program are first folded into as few buffers as their lifetimes allow (temporaries reuse one another, in place
where the hardware allows exact overlap; loads and stores keep buffers of their own so that copies can overlap computing). The bytes
of those buffers for a tile of r rows and c columns then bound r and c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ascir.dialects.vector import work_elements
from ascir.machine.layout import ceil_div, num_elements, round_up
from ascir.machine.target import ASCEND910B, Target
from ascir.passes.tile_to_kernel.program import Fold, Instr, Iota, Load, Program, Register, Step, Store
from ascir.passes.tile_to_kernel.space import Space

MIN_TILE_ELEMENTS = 1024  # assumed: below this a core's start-up costs more than sharing the work gains
ALIGN_ELEMENTS = 128  # a whole repeat of 16-bit elements, two of 32-bit


@dataclass(frozen=True)
class Tile:
    """Rows and columns of a tile, the pitch of its rows in elements, and whether it is one contiguous vector."""

    rows: int
    cols: int
    pitch: int
    flat: bool


def registers_read(step: Step) -> tuple[Register, ...]:
    match step:
        case Instr():
            return step.sources
        case Fold():
            return (step.source,)
        case Store():
            return (step.register,)
        case _:
            return ()


def registers_written(step: Step) -> tuple[Register, ...]:
    match step:
        case Instr():
            return (step.destination,)
        case Fold():
            return (step.destination, step.work)
        case Load() | Iota():
            return (step.register,)
        case _:
            return ()


def all_registers(program: Program) -> list[Register]:
    """Every register, in order of first appearance."""
    found: dict[Register, None] = {}
    for section in program.sections():
        for step in section:
            for register in (*registers_read(step), *registers_written(step)):
                found.setdefault(register)
    return list(found)


def assign_buffers(program: Program) -> dict[Register, Register]:
    """Register → the register whose buffer it lives in."""
    home: dict[Register, Register] = {}
    last_use = _last_uses(program)
    free: dict[tuple[object, ...], list[Register]] = {}
    position = 0
    for section in program.sections():
        for step in section:
            # Dicts stand for sets here: the order of a set of objects differs from run to run, and so would the kernels.
            dying = dict.fromkeys(r for r in registers_read(step) if last_use[r] == position and r.role == "temp")
            for register in registers_written(step):
                if register not in home:
                    home[register] = _pick(step, register, dying, home, free)
            dead = dying | dict.fromkeys(r for r in registers_written(step) if last_use[r] == position and r.role == "temp")
            for register in dead:
                buffer = home[register]
                if buffer not in (home[r] for r in registers_written(step) if r not in dead):
                    free.setdefault(_key(buffer), []).append(buffer)
            position += 1
    return home


def _last_uses(program: Program) -> dict[Register, int]:
    last: dict[Register, int] = {}
    position = 0
    for section in program.sections():
        for step in section:
            for register in (*registers_read(step), *registers_written(step)):
                last[register] = position
            position += 1
    return last


def _key(register: Register) -> tuple[object, ...]:
    return register.dtype, register.extent, register.mask


def _pick(
    step: Step,
    register: Register,
    dying: Iterable[Register],
    home: dict[Register, Register],
    free: dict[tuple[object, ...], list[Register]],
) -> Register:
    if register.role != "temp":
        return register
    if isinstance(step, Instr) and step.name not in ("block_broadcast", "cast"):
        for source in dying:
            if _key(home[source]) == _key(register) and home[source].role == "temp":
                return home[source]
    spare = free.get(_key(register))
    return spare.pop() if spare else register


def bytes_of(register: Register, tile: Tile) -> int:
    """Bytes of a register's buffer, rounded up to whole blocks."""
    return round_up(elements_of(register, tile) * register.dtype.bytes, ASCEND910B.block_bytes)


def elements_of(register: Register, tile: Tile) -> int:
    """Elements of a register's buffer for this tile (bytes, for a mask)."""
    c0 = register.dtype.c0
    match register.extent:
        case "tile":
            if register.mask:
                return ceil_div(tile.rows * tile.cols, 8) if tile.flat else tile.rows * mask_pitch(tile)
            return tile.rows * tile.pitch
        case "rows" | "cols":
            n = tile.rows if register.extent == "rows" else tile.cols
            return ceil_div(n, 8) if register.mask else n
        case "blocks":
            return tile.rows * c0
        case "block":
            return c0
        case "one":
            return 1
        case "work0" | "work1":
            need = work_elements((tile.rows, tile.cols), int(register.extent == "work1"), register.dtype)
            assert need is not None
            return need


def mask_pitch(tile: Tile) -> int:
    """Bytes from one row of a mask to the next."""
    return round_up(ceil_div(tile.cols, 8), ASCEND910B.block_bytes)


def make_tile(rows: int, cols: int, program: Program) -> Tile:
    registers = all_registers(program)
    if rows == 1:
        return Tile(1, cols, cols, True)
    grain = max((r.dtype.c0 for r in registers), default=1)
    pitch = round_up(cols, grain)
    flat = pitch == cols and all(r.extent in ("tile", "block") for r in registers)
    return Tile(rows, cols, pitch, flat)


def _bytes(program: Program, buffers: Iterable[Register], rows: int, cols: int) -> int:
    tile = make_tile(rows, cols, program)
    return sum(bytes_of(r, tile) for r in buffers)


def _largest(limit: int, step: int, cost: Callable[[int], int], capacity: int) -> int:
    """The largest n ≤ limit (a multiple of step, or the limit itself) whose cost fits; 0 if none."""
    if cost(limit) <= capacity:
        return limit
    low, high = 0, limit // step
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(middle * step) <= capacity else (low, middle - 1)
    return low * step


def fits(space: Space, program: Program, target: Target) -> bool:
    """Whether the smallest sensible tile fits in UB."""
    buffers = set(assign_buffers(program).values())
    cols = space.cols if space.mode == "rows" else min(space.cols, ALIGN_ELEMENTS)
    return _bytes(program, buffers, 1, cols) <= target.ub_bytes


def choose_tile(space: Space, program: Program, target: Target, cores: int) -> Tile:
    """The tile of a nest: within UB, rows whole where they can be, and at least a tile a core while tiles stay worth it."""
    buffers = list(dict.fromkeys(assign_buffers(program).values()))
    capacity = target.ub_bytes

    def cost(rows: int, cols: int) -> int:
        return _bytes(program, buffers, rows, cols)

    cols = _largest(space.cols, ALIGN_ELEMENTS, lambda c: cost(1, c), capacity)
    rows = 1
    if cols == space.cols or space.mode == "columns":
        if space.mode == "columns":
            cols = min(cols, _columns_share(space, cores))
        rows = _largest(min(space.rows, target.max_copy_blocks), 1, lambda r: cost(r, cols), capacity)
    rows, cols = _share(space, max(rows, 1), cols, cores)
    return make_tile(rows, cols, program)


def _columns_share(space: Space, cores: int) -> int:
    """Columns per tile of a reduction over rows: enough tiles for the cores, rows of at least two repeats."""
    tiles = ceil_div(cores, max(1, num_elements(space.outer)))
    return min(2048, max(2 * ALIGN_ELEMENTS, round_up(ceil_div(space.cols, tiles), ALIGN_ELEMENTS)))


def _share(space: Space, rows: int, cols: int, cores: int) -> tuple[int, int]:
    """Shrink a tile so that all cores get an equal number of tiles, unless it would become too small to pay."""
    if space.mode in ("chunks", "columns"):
        return rows, cols
    outer = num_elements(space.outer)
    if rows == 1 and space.rows == 1 and space.mode == "elementwise":
        waves = ceil_div(outer * ceil_div(space.cols, cols), cores)
        share = round_up(ceil_div(space.cols * outer, waves * cores), ALIGN_ELEMENTS)
        return 1, min(cols, max(share, MIN_TILE_ELEMENTS))
    waves = ceil_div(outer * ceil_div(space.rows, rows), cores)
    share = ceil_div(space.rows * outer, waves * cores)
    least = ceil_div(MIN_TILE_ELEMENTS, space.cols)
    return max(1, min(rows, max(share, least), space.rows)), cols


