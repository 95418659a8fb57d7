"""plan-memory: who may share bytes with whom, what a loop keeps alive, and what the error says when there is too much."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from ascir.diagnostics import parse_module
from ascir.dialects.ascend import KernelOp
from ascir.dialects.memory import AllocOp
from ascir.machine.target import ASCEND910B
from ascir.passes.plan_memory import Interval, PlanMemoryPass, live_at_peak, pack, plan, report

from .clockwork import KERNELS, Core, load
from .kernelgen import random_kernel


def kernel(*lines: str, buffers: str = "a b c", elements: int = 64) -> KernelOp:
    """A kernel on UB buffers of `elements` f32 and a GM argument, its body written in a shorthand.

    `load a`, `store a`, `exp a b` (a into b), `loop`, `odd` (a branch), `end`; `a:32` is the first 32 elements of a, `a:k` an unknown
    number of them.
    """
    type_ = f"memref<{elements}xf32, #ascend_memory.space<ub>>"
    text = [f'%{b} = ascend_memory.alloc "{b}" : {type_}' for b in buffers.split()]
    text += ["%zero = arith.constant 0 : index", "%one = arith.constant 1 : index", "%odd = arith.constant true"]
    text += ["%k = arith.minsi %n, %zero : index"]
    for number, line in enumerate(lines):
        text += _statement(number, line.split(), type_, elements)
    gm = f"memref<{elements}xf32, #ascend_memory.space<gm>>"
    module = parse_module(f"ascend.kernel @k(%x: {gm}, %n: index) {{\n" + "\n".join(text) + "\n}")
    module.verify()
    (found,) = (op for op in module.walk() if isinstance(op, KernelOp))
    return found


def _statement(number: int, words: list[str], type_: str, elements: int) -> list[str]:
    simple = {"loop": f"scf.for %i{number} = %zero to %n step %one {{", "odd": "scf.if %odd {", "end": "}"}
    if words[0] in simple:
        return [simple[words[0]]]
    views: list[str] = []
    types: list[str] = []
    for place, word in enumerate(words[1:]):
        name, _, count = word.partition(":")
        size = {"": str(elements), "k": "%k"}.get(count, count)
        types.append(f"memref<{size.replace('%k', '?')}xf32, #ascend_memory.space<ub>>")
        views.append(f"%v{number}_{place} = ascend_memory.view %{name} at [0] sizes [{size}] strides [1] : {type_} to {types[-1]}")
    a, b, outside = f"%v{number}_0", f"%v{number}_1", f"%g{number}"
    gm, whole = types[0].replace("ub", "gm"), type_.replace("ub", "gm")
    sizes = views[0].partition(" at ")[2].partition(" : ")[0]
    window = f"{outside} = ascend_memory.view %x at {sizes} : {whole} to {gm}"
    match words[0]:
        case "load":
            return [*views, window, f"ascend_memory.copy {outside} to {a} : {gm} to {types[0]}"]
        case "store":
            return [*views, window, f"ascend_memory.copy {a} to {outside} : {types[0]} to {gm}"]
        case _:
            return [*views, f"ascend_vector.exp {a} into {b} : {types[0]} into {types[1]}"]


def offsets(found: KernelOp, share: bool = True) -> dict[str, int]:
    plan(found, ASCEND910B, share)
    return {op.label.data: op.offset.value.data for op in found.walk() if isinstance(op, AllocOp) and op.offset is not None}


def share(found: KernelOp, one: str, other: str) -> bool:
    placed = offsets(found)
    return placed[one] == placed[other]


# pack


def test_buffers_that_live_one_after_the_other_share_bytes() -> None:
    assert pack([Interval("a", 64, 0, 1), Interval("b", 64, 2, 3)], 32) == ([0, 0], 64)


def test_a_buffer_read_by_the_instruction_that_writes_the_next_does_not_share_with_it() -> None:
    assert pack([Interval("a", 64, 0, 1), Interval("b", 64, 1, 2)], 32) == ([0, 64], 128)


def test_offsets_are_aligned_and_the_peak_is_the_last_byte_used() -> None:
    assert pack([Interval("a", 40, 0, 0), Interval("b", 20, 0, 0)], 32) == ([0, 64], 84)


def test_given_offsets_stay_and_others_fill_the_smallest_gap_that_holds_them() -> None:
    fixed = [Interval("x", 32, 0, 9, 96), Interval("y", 32, 0, 9, 192)]
    assert pack([*fixed, Interval("new", 64, 0, 9)], 32) == ([96, 192, 128], 224)


def test_packing_nothing_takes_nothing() -> None:
    assert pack([], 32) == ([], 0)


def test_another_order_is_tried_when_large_ones_first_leaves_a_gap() -> None:
    buffers = [Interval("a", 64, 0, 1), Interval("b", 96, 1, 2), Interval("c", 64, 2, 3), Interval("d", 96, 3, 4), Interval("e", 64, 0, 4)]
    assert pack(buffers, 32)[1] == sum(b.bytes for b in live_at_peak(buffers, 32)[1]) == 224


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """A buffer of any size and life; one in four has an offset already."""
    first = draw(st.integers(0, 20))
    fixed = 32 * draw(st.integers(0, 20)) if draw(st.integers(0, 3)) == 0 else None
    return Interval("b", draw(st.integers(0, 300)), first, first + draw(st.integers(0, 12)), fixed)


@settings(deadline=None)
@given(st.lists(intervals(), max_size=12))
def test_packings_never_overlap_live_buffers(buffers: list[Interval]) -> None:
    placed, peak = pack(buffers, 32)
    used: dict[tuple[int, int], int] = {}
    for n, (b, offset) in enumerate(zip(buffers, placed, strict=True)):
        assert offset % 32 == 0 and offset + b.bytes <= peak and b.offset in (None, offset)
        for cell in ((when, byte) for when in range(b.first, b.last + 1) for byte in range(offset, offset + b.bytes)):
            other = buffers[used.setdefault(cell, n)]
            assert other is b or (other.offset is not None and b.offset is not None)


# lives


def test_what_fits_side_by_side_does_not_share() -> None:
    found = kernel("load a", "store a", "load b", "store b", buffers="a b")
    assert offsets(found, share=False) == {"a": 0, "b": 256}


def test_buffers_share_when_they_must() -> None:
    found = kernel("load a", "store a", "load b", "store b", buffers="a b", elements=32768)
    assert offsets(found, share=False) == {"a": 0, "b": 0}


def test_share_packs_even_what_fits() -> None:
    assert share(kernel("load a", "store a", "load b", "store b", buffers="a b"), "a", "b")


def test_buffers_that_each_iteration_writes_first_share_within_a_loop() -> None:
    assert share(kernel("loop", "load a", "store a", "load b", "store b", "end", buffers="a b"), "a", "b")


def test_a_buffer_that_an_iteration_inherits_lives_for_the_whole_loop() -> None:
    assert not share(kernel("loop", "store a", "load a", "load b", "store b", "end", buffers="a b"), "a", "b")


def test_a_buffer_filled_before_a_loop_that_reads_it_lives_for_the_whole_loop() -> None:
    assert not share(kernel("load a", "loop", "store a", "load b", "store b", "end", buffers="a b"), "a", "b")


def test_a_buffer_used_after_a_loop_lives_for_the_whole_loop() -> None:
    assert not share(kernel("loop", "load b", "store b", "load a", "end", "store a", buffers="a b"), "a", "b")


def test_a_buffer_written_in_part_and_read_whole_is_inherited() -> None:
    assert not share(kernel("loop", "load a:32", "store a", "load b", "store b", "end", buffers="a b"), "a", "b")


def test_a_buffer_written_whole_and_read_in_part_is_not() -> None:
    assert share(kernel("loop", "load a", "store a:32", "load b", "store b", "end", buffers="a b"), "a", "b")


def test_as_many_elements_as_were_written_are_not_inherited_even_if_the_number_is_unknown() -> None:
    assert share(kernel("loop", "load a:k", "store a:k", "load b", "store b", "end", buffers="a b"), "a", "b")
    assert not share(kernel("loop", "load a:k", "store a", "load b", "store b", "end", buffers="a b"), "a", "b")


def test_a_write_that_may_not_happen_does_not_count() -> None:
    assert not share(kernel("loop", "odd", "load a", "end", "store a", "load b", "store b", "end", buffers="a b"), "a", "b")
    assert not share(kernel("loop", "loop", "load a", "end", "store a", "load b", "store b", "end", buffers="a b"), "a", "b")


def test_an_inner_loop_keeps_what_it_inherits_only_while_it_runs() -> None:
    found = kernel("loop", "load a", "loop", "exp a a", "load b", "store b", "end", "store a", "load c", "store c", "end")
    placed = offsets(found)
    assert placed["a"] != placed["b"] and placed["c"] in (placed["a"], placed["b"])


def test_the_work_space_of_a_reduction_counts() -> None:
    found = load(next(p for p in KERNELS if p.stem == "reduce"))
    plan(found, ASCEND910B, share=True)
    assert "work" in report(found)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30))
def test_no_read_finds_what_another_buffer_has_put_in_its_place(seed: int) -> None:
    found = random_kernel(seed, 14, buffers=8)
    plan(found, ASCEND910B, share=True)
    for trips in (0, 1, 3):
        assert Core(found, [trips]).clobbered == []


# limits and reports


def full(extra: int) -> KernelOp:
    """196 608 B of buffers that all live at the end, and `extra` elements more."""
    text = "ascend.kernel @full(%s: f32) {\n"
    sizes = {"big": 32768, "small": 16384, "rest": extra}
    names = [name for name, size in sizes.items() if size]
    for name in names:
        text += f'%{name} = ascend_memory.alloc "{name}" : memref<{sizes[name]}xf32, #ascend_memory.space<ub>>\n'
    for name in names + names:
        type_ = f"memref<{sizes[name]}xf32, #ascend_memory.space<ub>>"
        text += f"ascend_vector.relu %{name} into %{name} : {type_} into {type_}\n"
    module = parse_module(text + "}", "full.mlir")
    module.verify()
    (found,) = (op for op in module.walk() if isinstance(op, KernelOp))
    return found


def test_196608_bytes_of_live_buffers_fit() -> None:
    assert offsets(full(0), share=False) == {"big": 0, "small": 131072}


def test_196640_bytes_name_the_buffers_and_what_to_try() -> None:
    with pytest.raises(PassFailedException) as error:
        plan(full(8), ASCEND910B)
    assert str(error.value) == (
        "plan-memory: ascend.kernel @full needs 196640 B of ub, and ascend910b has 196608 B.\n"
        "Live at ascend_vector.relu (full.mlir:7): big 131072 B, small 65536 B, rest 32 B.\n"
        "Try a smaller tile, a narrower dtype, or buffers that live less long."
    )


def run(module: Operation, **options: Any) -> None:
    assert isinstance(module, ModuleOp)
    PlanMemoryPass(**options).apply(Context(), module)


def test_the_target_says_how_much_there_is() -> None:
    found = kernel("load a", "store a", "load b", "exp b a", "store a")
    module = found.parent_op()
    assert module is not None
    with pytest.raises(PassFailedException, match="needs 512 B of ub, and ascend910b has 480 B"):
        run(module, target="ascend910b{ub=480}")
    run(module, target="ascend910b{ub=512}")
    with pytest.raises(PassFailedException, match="plan-memory: unknown target 'ascend910'; did you mean 'ascend910b'"):
        run(module, target="ascend910")


def test_a_buffer_placed_beyond_the_end_is_named() -> None:
    found = kernel("load a", "store a", buffers="a")
    plan(found, ASCEND910B)
    (alloc,) = (op for op in found.walk() if isinstance(op, AllocOp))
    alloc.offset = IntegerAttr(196608, i64)
    with pytest.raises(PassFailedException) as error:
        plan(found, ASCEND910B)
    assert 'ascend.kernel @k places "a" at 196608 with 256 B, but ub of ascend910b ends at 196608 B' in str(error.value)


def test_the_report_shows_offset_bytes_and_life() -> None:
    found = kernel("load a", "exp a b", "store b", buffers="a b")
    assert report(found) == ""
    plan(found, ASCEND910B)
    table = report(found).splitlines()
    assert table[0] == "@k: 512 of 196608 B of ub (0.3 %)"
    assert table[1].split()[:6] == ["0", "256", "B", "a", "0", "ascend_memory.copy"]
    assert table[2].split()[:6] == ["256", "256", "B", "b", "1", "ascend_vector.exp"]


def test_twins_are_told_apart_and_the_attribute_survives_text() -> None:
    found = kernel("load a", "store a", "load b", "store b", buffers="a b")
    for op in found.walk():
        if isinstance(op, AllocOp):
            op.label = StringAttr("a tile")
    plan(found, ASCEND910B)
    assert "a tile (2)" in report(found)
    again = parse_module(str(found.parent_op()))
    (copy,) = (op for op in again.walk() if isinstance(op, KernelOp))
    assert copy.attributes == found.attributes


def test_planning_twice_changes_nothing() -> None:
    found = kernel("load a", "exp a b", "store b", buffers="a b")
    assert offsets(found) == offsets(found)
