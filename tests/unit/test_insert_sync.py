"""insert-sync: what it inserts for small kernels, how it gets by with six event ids, and that random kernels come out sound.

`check` (verify-sync) and `Core` (a concrete run, see clockwork.py) judge the random kernels; both must be content, and each flag and
barrier must be missed by `check` once it is gone.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ascir.dialects.ascend import KernelOp, ReturnOp
from ascir.dialects.memory import GM, UB, AllocOp, BarrierOp, CopyOp, Pipe, SetFlagOp, WaitFlagOp
from ascir.dialects.types import buffer
from ascir.dialects.vector import vector_op
from ascir.machine.target import ASCEND910B
from ascir.passes.event_ids import Flag, Place, assign
from ascir.passes.insert_sync import InsertSyncPass, synchronise
from ascir.passes.plan_memory import plan
from ascir.passes.verify_sync import check

from .clockwork import KERNELS, SYNC_OPS, Core, load, orderings, without
from .kernelgen import random_kernel


def shape(name: str) -> list[str]:
    """The instructions, loops, flags and barriers of a synchronised kernel, one word or two a line."""
    kernel = load(next(p for p in KERNELS if p.stem == name))
    synchronise(kernel)
    return _lines(kernel.body.block)


def _lines(block: Block) -> list[str]:
    lines: list[str] = []
    for op in block.ops:
        what = op.name.partition(".")[2]
        match op:
            case SetFlagOp() | WaitFlagOp():
                lines.append(f"{what[:-5]} {op.key[0]}>{op.key[1]} {op.key[2]}")
            case BarrierOp():
                lines.append(f"barrier {op.pipe.data}")
            case _ if op.regions:
                inner = [_lines(b) for region in op.regions for b in region.blocks]
                lines += [f"{what} {{", *(line for part in inner for line in part), "}"]
            case _ if op.name.startswith(("ascend_memory.copy", "ascend_vector.")):
                lines.append(what)
            case _:
                pass
    return lines


def test_a_tile_loop_gets_four_flags_and_no_barrier() -> None:
    assert shape("loop") == [
        "set v>mte2 0",
        "set mte3>v 0",
        "for {",
        "wait v>mte2 0",
        "copy",
        "set mte2>v 0",
        "wait mte2>v 0",
        "wait mte3>v 0",
        "exp",
        "set v>mte2 0",
        "set v>mte3 0",
        "wait v>mte3 0",
        "copy",
        "set mte3>v 0",
        "}",
        "wait v>mte2 0",
        "wait mte3>v 0",
    ]


def test_one_flag_serves_two_loads_and_a_chain_within_a_pipe_gets_a_barrier() -> None:
    lines = ["copy", "copy", "set mte2>v 0", "wait mte2>v 0", "add", "barrier v", "exp", "set v>mte3 0", "wait v>mte3 0", "copy"]
    assert shape("straight") == lines


def test_a_tile_updated_in_place_is_loaded_again_only_when_stored() -> None:
    lines = shape("in_place")
    assert lines[0] == "set mte3>mte2 0" and "barrier mte3" not in lines
    assert [line for line in lines if "mte3" in line and "mte2" in line] == [
        "set mte3>mte2 0",
        "wait mte3>mte2 0",
        "set mte3>mte2 0",
        "wait mte3>mte2 0",
    ]


def test_the_halves_of_a_buffer_are_ordered_separately() -> None:
    lines = shape("ping_pong")
    assert [line for line in lines if line.startswith("set mte2>v")] == ["set mte2>v 0", "set mte2>v 1"]
    assert lines[:2] == ["set mte3>mte2 0", "set mte3>mte2 1"]


def test_flags_and_barriers_bear_the_location_of_what_they_order() -> None:
    kernel = load(next(p for p in KERNELS if p.stem == "loop"))
    synchronise(kernel)
    (loop,) = (op for op in kernel.walk() if isinstance(op, scf.ForOp))
    for op in kernel.walk():
        if isinstance(op, SetFlagOp) and op.parent is loop.body.block:
            assert op.prev_op is not None and op.location == op.prev_op.location
        if isinstance(op, WaitFlagOp) and op.parent is loop.body.block:
            assert op.next_op is not None and op.location == op.next_op.location
        if isinstance(op, SYNC_OPS) and op.parent is not loop.body.block:
            assert op.location == loop.location


# kernels with flags of their own


def test_a_kernel_with_flags_is_left_alone_or_refused() -> None:
    kernel = load(KERNELS[0])
    module = kernel.parent_op()
    assert isinstance(module, ModuleOp)
    InsertSyncPass(strict=True).apply(Context(), module)
    before = str(module)
    InsertSyncPass().apply(Context(), module)
    assert str(module) == before
    with pytest.raises(PassFailedException) as error:
        InsertSyncPass(strict=True).apply(Context(), module)
    assert str(error.value).startswith("insert-sync: @branch already has ascend_memory.set_flag (branch.mlir:")


# event ids


def wide(width: int, depth: int) -> KernelOp:
    """`depth` loops in each other; each loads `width` tiles at once, computes them one by one, and stores them one by one."""
    kernel = KernelOp("wide", [buffer((64,), "f32", GM)] * (width + 1), 1)
    top, index = kernel.body.block, IndexType()
    end = top.last_op
    assert isinstance(end, ReturnOp)
    zero, one, two = (arith.ConstantOp(IntegerAttr(n, index)) for n in range(3))
    top.insert_ops_before([zero, one, two], end)

    def level(number: int) -> scf.ForOp:
        body = Block(arg_types=[index])
        tiles: list[SSAValue] = []
        for n in range(width):
            alloc = AllocOp(f"t{number}_{n}", buffer((64,), "f32", UB))
            top.insert_op_after(alloc, two)
            tiles.append(alloc.memref)
        body.add_ops([CopyOp(kernel.args[n], tile) for n, tile in enumerate(tiles)])
        if number < depth:
            body.add_op(level(number + 1))
        body.add_ops([vector_op("exp", tile, tile) for tile in tiles])
        body.add_ops([CopyOp(tile, kernel.args[-1]) for tile in tiles])
        body.add_op(scf.YieldOp())
        return scf.ForOp(zero, two, one, [], Region(body))

    top.insert_op_before(level(1), end)
    ModuleOp([kernel]).verify()
    return kernel


@pytest.mark.parametrize(("width", "depth"), [(6, 1), (7, 1), (20, 1), (3, 3), (8, 4), (2, 8)])
def test_more_flags_than_event_ids(width: int, depth: int) -> None:
    kernel = wide(width, depth)
    synchronise(kernel)
    assert check(kernel) == []
    if depth < 5:
        assert Core(kernel).faults == []


def test_eight_loops_in_each_other_need_a_barrier_of_all_pipes() -> None:
    kernel = wide(2, 8)
    synchronise(kernel)
    assert Pipe.ALL in {op.pipe.data for op in kernel.walk() if isinstance(op, BarrierOp)}


def flag(after: int, before: int, loop: Place | None = None) -> Flag:
    return Flag(Pipe.MTE2, Pipe.V, Place(after, after, 0), Place(before, before, 0), loop)


def test_ids_are_used_again_once_a_flag_has_been_waited_for() -> None:
    flags, without_id = assign([flag(0, 2), flag(1, 3), flag(4, 5)], [0, 1])
    assert [f.event for f in flags] == [0, 1, 0] and not without_id


def test_a_flag_handed_on_by_a_loop_keeps_its_id_from_everything_inside() -> None:
    flags, _ = assign([flag(3, 2, Place(1, 6, 0)), flag(3, 4), flag(8, 9)], [0, 1])
    assert {(f.loop is not None, f.event) for f in flags} == {(True, 0), (False, 1), (False, 0)}


def test_without_an_id_a_flag_is_set_late_and_serves_the_next_too() -> None:
    flags, without_id = assign([flag(0, 5), flag(1, 6), flag(2, 7), flag(3, 8)], [0, 1])
    assert not without_id
    assert [(f.after.enter, f.late) for f in flags] == [(0, False), (1, False), (2, True)]


def test_flags_of_a_loop_are_merged_when_there_are_too_many() -> None:
    loop = Place(1, 30, 0)
    handed_on = [flag(10 + n, 2 + n, loop) for n in range(4)]
    flags, without_id = assign([*handed_on, flag(3, 4)], [0, 1, 2, 3])
    assert not without_id
    merged = [(f.before.enter, f.after.enter) for f in flags if f.loop]
    assert merged == [(2, 11), (4, 13)]


# random kernels

seeds = st.integers(0, 1 << 30)


def prepared(seed: int, size: int) -> KernelOp:
    kernel = random_kernel(seed, size, buffers=6)
    if seed % 2:
        plan(kernel, ASCEND910B, share=seed % 4 == 1)
    synchronise(kernel)
    return kernel


def faults(kernel: KernelOp) -> list[str]:
    """What three concrete runs find."""
    runs = (Core(kernel, [trips], block_idx, block_num) for trips, block_idx, block_num in ((0, 0, 1), (2, 1, 2), (3, 0, 2)))
    return [fault for core in runs for fault in core.faults]


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_random_kernels_come_out_sound(seed: int) -> None:
    kernel = prepared(seed, 12)
    assert check(kernel) == []
    assert faults(kernel) == []


@settings(max_examples=8, deadline=None)
@given(seeds)
def test_long_random_kernels_come_out_sound(seed: int) -> None:
    kernel = prepared(seed, 80)
    assert check(kernel) == []
    assert faults(kernel) == []


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_nothing_inserted_is_idle(seed: int) -> None:
    kernel = prepared(seed, 10)
    for ordering in orderings(kernel):
        assert {p.kind for p in check(without(kernel, ordering))} == {"race"}, [str(op) for op in ordering]


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_what_a_concrete_run_finds_verify_sync_finds(seed: int) -> None:
    kernel = prepared(seed, 9)
    for ops in [*orderings(kernel), *([op] for op in kernel.walk() if isinstance(op, SYNC_OPS))]:
        broken = without(kernel, ops)
        if faults(broken):
            assert check(broken) != []


def test_two_thousand_instructions_take_well_under_a_second() -> None:
    from time import process_time

    kernel = load(next(p for p in KERNELS if p.stem == "straight"))
    body = kernel.body.block
    row: list[Operation] = [op for op in body.ops if op.name.startswith("ascend_vector.")]
    for n in range(2000):
        copy = row[n % 2].clone()
        body.insert_op_before(copy, row[0])
    start = process_time()
    synchronise(kernel)
    assert check(kernel) == []
    assert process_time() - start < 2  # 0.5 s on a quiet machine
