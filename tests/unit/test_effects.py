"""effects and ranges: which bytes an op touches, and which pairs of instructions index arithmetic can tell apart."""

from __future__ import annotations

import pytest
from xdsl.utils.exceptions import PassFailedException

from ascir.diagnostics import parse_module
from ascir.dialects.ascend import KernelOp
from ascir.passes.effects import Program, accesses, name_of, program

HEAD = """
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
#at = strided<[1], offset: ?>
#rows = strided<[64, 1], offset: ?>
ascend.kernel @k(%x: memref<4096xf32, #gm>, %y: memref<4096xf32, #gm>, %n: index) {
  %a = ascend_memory.alloc "a" at 0 : memref<128xf32, #ub>
  %b = ascend_memory.alloc "b" at 256 : memref<128xf32, #ub>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %size = arith.constant 64 : index
  %first = ascend.block_idx
  %step = ascend.block_num
"""


def parse(body: str) -> Program:
    module = parse_module(HEAD + body + "}")
    module.verify()
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    return program(kernel)


def touched(body: str) -> list[tuple[str, str, int, int, bool]]:
    """(pipe, buffer, first byte, end, written) of the last op."""
    last = parse(body).instructions[-1]
    return [(str(a.pipe), name_of(a.root), a.lo, a.hi, a.write) for a in last.accesses]


def window(name: str, offset: str, source: str = "%x", size: str = "64") -> str:
    shape = "?" if size.startswith("%") else size
    return (
        f"%{name} = ascend_memory.view {source} at [{offset}] sizes [{size}] strides [1]"
        f" : memref<4096xf32, #gm> to memref<{shape}xf32, #at, #gm>\n"
    )


def copy_out(name: str, size: str = "64") -> str:
    """A copy of the start of %a to a window."""
    shape = "?" if size.startswith("%") else size
    return (
        f"%{name}_local = ascend_memory.view %a at [0] sizes [{size}] strides [1] : memref<128xf32, #ub> to memref<{shape}xf32, #ub>\n"
        f"ascend_memory.copy %{name}_local to %{name} : memref<{shape}xf32, #ub> to memref<{shape}xf32, #at, #gm>\n"
    )


def test_a_view_touches_its_own_bytes() -> None:
    type_ = "memref<2x16xf32, strided<[64, 1], offset: 8>, #ub>"
    text = f"""%v = ascend_memory.view %a at [8] sizes [2, 16] strides [64, 1] : memref<128xf32, #ub> to {type_}
    ascend_vector.exp %v into %v : {type_} into {type_}"""
    assert touched(text) == [("v", "a", 32, 352, False), ("v", "a", 32, 352, True)]


def test_a_source_that_repeats_a_block_reads_all_of_it() -> None:
    text = """
    %v = ascend_memory.view %a at [0] sizes [2, 64] strides [8, 0] : memref<128xf32, #ub> to memref<2x64xf32, strided<[8, 0]>, #ub>
    %w = ascend_memory.view %b at [0] sizes [2, 64] strides [64, 1] : memref<128xf32, #ub> to memref<2x64xf32, #ub>
    ascend_vector.exp %v into %w : memref<2x64xf32, strided<[8, 0]>, #ub> into memref<2x64xf32, #ub>"""
    assert touched(text) == [("v", "a", 0, 64, False), ("v", "b", 0, 512, True)]


def test_an_unknown_offset_touches_the_whole_of_what_it_is_a_window_on() -> None:
    half = "memref<64xf32, strided<[1], offset: 64>, #ub>"
    text = f"""
    %half = ascend_memory.view %a at [64] sizes [64] strides [1] : memref<128xf32, #ub> to {half}
    %v = ascend_memory.view %half at [%n] sizes [8] strides [1] : {half} to memref<8xf32, #at, #ub>
    %s = memref.load %v[%zero] : memref<8xf32, #at, #ub>"""
    assert touched(text) == [("s", "a", 256, 512, False)]


def test_a_scalar_access_touches_one_element() -> None:
    assert touched("%s = memref.load %a[%two] : memref<128xf32, #ub>") == [("s", "a", 8, 12, False)]


def test_a_reduction_writes_its_work_space() -> None:
    text = """%m = ascend_memory.view %a at [0] sizes [1, 128] strides [128, 1] : memref<128xf32, #ub> to memref<1x128xf32, #ub>
    %d = ascend_memory.view %b at [0] sizes [1] strides [1] : memref<128xf32, #ub> to memref<1xf32, #ub>
    %w = ascend_memory.view %b at [64] sizes [64] strides [1] : memref<128xf32, #ub> to memref<64xf32, strided<[1], offset: 64>, #ub>
    ascend_vector.reduce_sum %m into %d work %w axis 1
      : memref<1x128xf32, #ub> into memref<1xf32, #ub> work memref<64xf32, strided<[1], offset: 64>, #ub>"""
    assert [t[1:] for t in touched(text)] == [("a", 0, 512, False), ("b", 0, 4, True), ("b", 256, 512, True)]


def test_arithmetic_and_views_touch_nothing() -> None:
    found = parse(window("v", "%n"))
    assert found.instructions == [] and all(accesses(op) == [] for op in found.kernel.body.block.ops)


def test_a_buffer_that_a_loop_carries_has_no_known_memory() -> None:
    text = """%r = scf.for %i = %zero to %n step %one iter_args(%p = %a) -> (memref<128xf32, #ub>) {
      %s = memref.load %p[%zero] : memref<128xf32, #ub>
      scf.yield %p : memref<128xf32, #ub>
    }"""
    with pytest.raises(PassFailedException, match="cannot tell which memory %p stands for"):
        parse(text)


def conflicting(body: str) -> set[tuple[int, int]]:
    """(earlier, later) instructions that may touch the same bytes; an instruction with itself in an earlier iteration included."""
    conflicts = parse(body).conflicts
    return {(n, m) for m, others in enumerate(conflicts) for n in range(others.bit_length()) if others >> n & 1}


def test_buffers_placed_on_the_same_bytes_conflict() -> None:
    store = "memref.store %s, %{0}[%c{1}] : memref<128xf32, #ub>\n"
    head = "%s = arith.constant 0.0 : f32\n%c64 = arith.constant 64 : index\n%c0 = arith.constant 0 : index\n"
    assert conflicting(head + store.format("a", 64) + store.format("b", 0)) == {(0, 1)}
    assert conflicting(head + store.format("a", 0) + store.format("b", 0)) == set()


def test_tiles_of_a_loop_are_apart() -> None:
    body = "%o = arith.muli %i, %size : index\n" + window("v", "%o") + copy_out("v")
    assert conflicting(f"scf.for %i = %first to %four step %step {{ {body} }}") == set()
    assert conflicting(f"scf.for %i = %zero to %n step %one {{ {body} }}") == set()


def test_tiles_that_are_longer_than_the_step_are_not() -> None:
    body = "%o = arith.muli %i, %four : index\n" + window("v", "%o") + copy_out("v")
    assert conflicting(f"scf.for %i = %zero to %n step %one {{ {body} }}") == {(0, 0)}


def test_a_step_of_many_elements_counts() -> None:
    body = window("v", "%i") + copy_out("v")
    assert conflicting(f"scf.for %i = %zero to %n step %size {{ {body} }}") == set()
    assert conflicting(f"scf.for %i = %zero to %n step %four {{ {body} }}") == {(0, 0)}


def test_a_short_last_tile_is_bounded_by_min() -> None:
    rest = "%o = arith.muli %i, %size : index\n%left = arith.subi %n, %o : index\n%m = arith.minsi %left, %size : index\n"
    body = rest + window("v", "%o", size="%m") + copy_out("v", "%m")
    assert conflicting(f"scf.for %i = %zero to %n step %one {{ {body} }}") == set()
    assert conflicting(f"scf.for %i = %zero to %n step %one {{ {body.replace('minsi', 'maxsi')} }}") == {(0, 0)}


def test_neighbours_meet_in_the_next_iteration_only() -> None:
    body = "%o = arith.muli %i, %size : index\n%p = arith.addi %o, %size : index\n"
    body += window("v", "%o") + window("w", "%p") + copy_out("v") + copy_out("w")
    # The second copy writes what the first writes again in the next iteration, and never what the first has written before.
    assert conflicting(f"scf.for %i = %zero to %n step %one {{ {body} }}") == {(1, 0)}


def test_windows_that_walk_backwards() -> None:
    body = "%end = arith.constant 2048 : index\n%d = arith.muli %i, %size : index\n"
    body += "%o = arith.subi %end, %d : index\n%p = arith.subi %o, %size : index\n"
    body += window("v", "%o") + window("w", "%p") + copy_out("v") + copy_out("w")
    assert conflicting(f"scf.for %i = %zero to %n step %one {{ {body} }}") == {(1, 0)}


def test_an_inner_loop_with_known_bounds_stays_in_the_tile_of_the_outer() -> None:
    inner = "%o = arith.muli %i, %big : index\n%p = arith.muli %j, %size : index\n%q = arith.addi %o, %p : index\n"
    body = inner + window("v", "%q") + copy_out("v")
    loops = "%big = arith.constant 256 : index\nscf.for %i = %zero to %n step %one {{ scf.for %j = %zero to {0} step %one {{ {1} }} }}"
    assert conflicting(loops.format("%four", body)) == set()
    assert conflicting(loops.format("%n", body)) == {(0, 0)}


def test_equal_expressions_are_one_symbol() -> None:
    rest = "%a1 = arith.remsi %i, %four : index\n%a2 = arith.remsi %i, %four : index\n"
    rest += "%o = arith.muli %a1, %size : index\n%m = arith.muli %a2, %size : index\n%p = arith.addi %m, %size : index\n"
    body = rest + window("v", "%o") + window("w", "%p") + copy_out("v") + copy_out("w")
    assert (0, 1) in conflicting(f"scf.for %i = %zero to %n step %one {{ {body} }}")
    alone = rest.replace("%i", "%n") + window("v", "%o") + window("w", "%p") + copy_out("v") + copy_out("w")
    assert conflicting(alone) == set()
