"""verify-sync: every kind of problem, worded as the user sees it, each with an innocent twin; and no flag of fourteen kernels idle.

The kernels of tests/unit/kernels are synchronised by `insert-sync`. On the originals nothing is reported; every flag and barrier
deleted in turn is, and so is every lone `set_flag` and `wait_flag`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from ascir.diagnostics import parse_module
from ascir.dialects.ascend import KernelOp
from ascir.machine.target import ASCEND910B
from ascir.passes.insert_sync import synchronise
from ascir.passes.plan_memory import plan
from ascir.passes.verify_sync import VerifySyncPass, check

from .clockwork import KERNELS, Core, load, orderings, without

SHORT = {
    "load": "ascend_memory.copy %x to %a : memref<64xf32, #gm> to memref<64xf32, #ub>",
    "load b": "ascend_memory.copy %x to %b : memref<64xf32, #gm> to memref<64xf32, #ub>",
    "exp": "ascend_vector.exp %a into %b : memref<64xf32, #ub> into memref<64xf32, #ub>",
    "relu": "ascend_vector.relu %b into %a : memref<64xf32, #ub> into memref<64xf32, #ub>",
    "store": "ascend_memory.copy %b to %y : memref<64xf32, #ub> to memref<64xf32, #gm>",
    "write": "memref.store %f, %b[%zero] : memref<64xf32, #ub>",
    "read": "%s = memref.load %b[%zero] : memref<64xf32, #ub>",
    "loop": "scf.for %i = %zero to %n step %one {",
    "if": "scf.if %c {",
    "else": "} else {",
    "end": "}",
}


def module(*lines: str) -> ModuleOp:
    """A kernel of lines in shorthand (`SHORT`, `set mte2 v 0`, `wait mte2 v 0`, `barrier v`); line 1 of k.mlir is the first of them."""
    head = (
        "#gm = #ascend_memory.space<gm> #ub = #ascend_memory.space<ub> "
        "ascend.kernel @k(%x: memref<64xf32, #gm>, %y: memref<64xf32, #gm>, %n: index, %c: i1) {"
        '%a = ascend_memory.alloc "a" : memref<64xf32, #ub> %b = ascend_memory.alloc "b" : memref<64xf32, #ub> '
        "%f = arith.constant 0.0 : f32 %zero = arith.constant 0 : index %one = arith.constant 1 : index "
    )
    found = parse_module(head + "\n".join(map(_long, lines)) + "}", "k.mlir")
    found.verify()
    return found


def _long(line: str) -> str:
    match line.split():
        case ["set" | "wait" as what, source, destination, event]:
            return f"ascend_memory.{what}_flag {source} to {destination}, {event}"
        case ["barrier", pipe]:
            return f"ascend_memory.barrier {pipe}"
        case _:
            return SHORT[line]


def problems(*lines: str) -> list[str]:
    (kernel,) = (op for op in module(*lines).walk() if isinstance(op, KernelOp))
    return [p.text for p in check(kernel)]


# races


def test_a_read_before_the_copy_has_arrived() -> None:
    assert problems("load", "exp") == [
        "race: ascend_vector.exp on V (k.mlir:2) reads a written by ascend_memory.copy on MTE2 (k.mlir:1); "
        "no flag MTE2→V between. Set one after the copy and wait before the exp, or run insert-sync"
    ]
    assert problems("load", "set mte2 v 0", "wait mte2 v 0", "exp") == []


def test_two_dependent_vector_instructions_without_a_barrier() -> None:
    assert problems("exp", "relu")[0] == (
        "race: ascend_vector.relu on V (k.mlir:2) reads b written by ascend_vector.exp on V (k.mlir:1); "
        "no barrier on V between. Put ascend_memory.barrier v before the relu, or run insert-sync"
    )
    assert problems("exp", "barrier v", "relu") == []


def test_a_copy_that_overwrites_what_is_still_read() -> None:
    assert problems("exp", "load") == [
        "race: ascend_memory.copy on MTE2 (k.mlir:2) overwrites a read by ascend_vector.exp on V (k.mlir:1); "
        "no flag V→MTE2 between. Set one after the exp and wait before the copy, or run insert-sync"
    ]


def test_an_iteration_that_overtakes_the_one_before() -> None:
    text = problems("loop", "load", "set mte2 v 0", "wait mte2 v 0", "exp", "end")
    assert (
        "race: ascend_memory.copy on MTE2 (k.mlir:2) overwrites a read by ascend_vector.exp on V (k.mlir:5) in an earlier iteration; "
        "no flag V→MTE2 between. Set one after the exp and wait before the copy, or run insert-sync"
    ) in text
    handed_on = ("set v mte2 0", "loop", "wait v mte2 0", "load", "set mte2 v 0", "wait mte2 v 0", "exp", "set v mte2 0", "end")
    assert problems(*handed_on, "wait v mte2 0") == []


def test_an_instruction_that_overtakes_itself() -> None:
    assert problems("loop", "exp", "end") == [
        "race: ascend_vector.exp on V (k.mlir:2) overwrites b written by ascend_vector.exp on V (k.mlir:2) in an earlier iteration; "
        "no barrier on V between. Put ascend_memory.barrier v before the exp, or run insert-sync"
    ]
    assert problems("loop", "barrier v", "exp", "end") == []


def test_only_the_first_of_the_races_that_one_flag_mends_is_listed() -> None:
    assert len(problems("load", "exp", "barrier v", "exp", "barrier v", "exp")) == 1


def test_pipe_s_reading_an_element_too_early() -> None:
    assert "memref.load on S (k.mlir:2) reads b written by ascend_vector.exp on V (k.mlir:1)" in problems("exp", "read")[0]
    assert problems("exp", "set v s 0", "wait v s 0", "read") == []


def test_pipe_s_is_in_order_with_itself() -> None:
    assert problems("loop", "read", "end") == []


def test_what_pipe_s_has_waited_for_orders_all_that_it_issues_later() -> None:
    assert problems("exp", "set v s 0", "wait v s 0", "store") == []
    assert problems("exp", "set v s 0", "store", "wait v s 0") != []


def test_a_store_of_pipe_s_is_seen_by_others_only_behind_a_flag() -> None:
    assert "ascend_vector.relu on V (k.mlir:2) reads b written by memref.store on S (k.mlir:1)" in problems("write", "relu")[0]
    assert problems("write", "set s v 0", "wait s v 0", "relu") == []
    assert problems("write", "barrier s", "relu") == []


def test_a_flag_carries_what_its_source_has_waited_for() -> None:
    through_v = ("load b", "set mte2 v 0", "wait mte2 v 0", "set v mte3 0", "wait v mte3 0", "store")
    assert problems(*through_v) == []
    too_early = ("load b", "set v mte3 0", "set mte2 v 0", "wait mte2 v 0", "wait v mte3 0", "store")
    assert "ascend_memory.copy on MTE3 (k.mlir:6) reads b written by ascend_memory.copy on MTE2" in problems(*too_early)[0]


def test_a_flag_set_before_the_copy_orders_nothing() -> None:
    assert problems("set mte2 v 0", "load", "wait mte2 v 0", "exp") != []


def test_a_barrier_of_one_pipe_orders_no_other() -> None:
    assert problems("load", "barrier v", "exp") != [] and problems("load", "barrier mte2", "exp") != []
    assert problems("load", "barrier all", "exp") == []


def test_what_only_one_branch_orders_is_not_ordered() -> None:
    assert problems("exp", "if", "barrier v", "end", "relu") != []
    assert problems("exp", "if", "barrier v", "else", "barrier v", "end", "relu") == []


def test_what_a_loop_orders_is_not_ordered_when_it_does_not_run() -> None:
    assert problems("exp", "loop", "barrier v", "end", "relu") != []


def test_branches_exclude_each_other() -> None:
    assert problems("if", "exp", "else", "relu", "end") == []
    assert problems("loop", "if", "exp", "else", "relu", "end", "end") != []


def test_buffers_that_share_bytes_conflict() -> None:
    found = module("exp", "store")
    text = str(found).replace('alloc "a" :', 'alloc "a" at 0 :').replace('alloc "b" :', 'alloc "b" at 128 :')
    kernel = next(op for op in parse_module(text).walk() if isinstance(op, KernelOp))
    assert len(check(kernel)) == 1
    shared = module("load", "load b")
    text = str(shared).replace('alloc "a" :', 'alloc "a" at 0 :').replace('alloc "b" :', 'alloc "b" at 128 :')
    kernel = next(op for op in parse_module(text).walk() if isinstance(op, KernelOp))
    assert "overwrites b, which shares memory with a, written by ascend_memory.copy" in check(kernel)[0].text


# flags


def test_a_wait_that_nothing_satisfies() -> None:
    assert problems("wait mte2 v 3") == [
        "unpaired: ascend_memory.wait_flag (k.mlir:1): V would wait for ever for flag MTE2→V 3: the kernel never sets it"
    ]
    assert problems("wait mte2 v 3", "set mte2 v 3", "wait mte2 v 3") == [
        "unpaired: ascend_memory.wait_flag (k.mlir:1): V would wait for ever for flag MTE2→V 3: no set_flag comes before it"
    ]


def test_a_flag_set_twice() -> None:
    assert problems("set mte2 v 0", "set mte2 v 0", "wait mte2 v 0") == [
        "duplicate: ascend_memory.set_flag (k.mlir:2): flag MTE2→V 0 is already set, by ascend_memory.set_flag (k.mlir:1); "
        "wait for it first or use another event id"
    ]
    assert problems("set mte2 v 0", "set mte2 v 1", "wait mte2 v 0", "wait mte2 v 1") == []


def test_a_flag_left_over() -> None:
    assert problems("set mte2 v 0") == [
        "left over: ascend_memory.set_flag (k.mlir:1): flag MTE2→V 0 is still set at the end of the kernel; "
        "wait for it, or the next kernel starts wrong"
    ]


def test_a_flag_set_in_one_branch() -> None:
    assert problems("if", "set mte2 v 0", "end", "wait mte2 v 0") == [
        "one branch: ascend_memory.set_flag (k.mlir:2): flag MTE2→V 0 is set in one branch of scf.if (k.mlir:1) only"
    ]
    assert problems("if", "set mte2 v 0", "else", "set mte2 v 0", "end", "wait mte2 v 0") == []


def test_a_flag_waited_for_in_one_branch() -> None:
    assert problems("set mte2 v 0", "if", "wait mte2 v 0", "end")[0] == (
        "one branch: ascend_memory.set_flag (k.mlir:1): flag MTE2→V 0 is waited for in one branch of scf.if (k.mlir:2) only"
    )


def test_a_flag_that_a_loop_waits_for_but_does_not_set_again() -> None:
    assert problems("set mte2 v 0", "loop", "wait mte2 v 0", "end", "wait mte2 v 0") == [
        "unpaired: ascend_memory.set_flag (k.mlir:1): flag MTE2→V 0 is waited for in each iteration of scf.for (k.mlir:2), "
        "but set once; set it again in the body"
    ]


def test_a_flag_that_a_loop_leaves_set() -> None:
    assert problems("loop", "set mte2 v 0", "end") == [
        "left over: ascend_memory.set_flag (k.mlir:2): flag MTE2→V 0 is still set at the end of an iteration of scf.for (k.mlir:1); "
        "wait for it in the body"
    ]


@pytest.mark.parametrize("event", [6, 7])
def test_reserved_event_ids(event: int) -> None:
    assert problems(f"set mte2 v {event}", f"wait mte2 v {event}") == [
        f"reserved: ascend_memory.{what}_flag (k.mlir:{line}): event id {event} belongs to the vendor runtime; use 0…5"
        for line, what in ((1, "set"), (2, "wait"))
    ]


def test_the_pass_raises_what_check_finds() -> None:
    VerifySyncPass().apply(Context(), module("load"))
    with pytest.raises(PassFailedException) as error:
        VerifySyncPass().apply(Context(), module("load", "exp"))
    assert str(error.value).startswith("verify-sync: race: ascend_vector.exp on V (k.mlir:2) reads a written by ")


def test_a_long_list_is_cut() -> None:
    with pytest.raises(PassFailedException) as error:
        VerifySyncPass().apply(Context(), module(*["exp", "relu"] * 20))
    assert str(error.value).endswith("\n… and 19 more in @k.")


def test_other_control_flow_is_refused() -> None:
    text = "ascend.kernel @k(%c: i1) { scf.while () : () -> () { scf.condition(%c) } do { scf.yield } }"
    found = parse_module(text, "k.mlir")
    with pytest.raises(PassFailedException, match=r"scf.while \(k.mlir:1\): a kernel's control flow is scf.for and scf.if"):
        VerifySyncPass().apply(Context(), found)


def test_unknown_effects_are_refused() -> None:
    text = "ascend.kernel @k(%x: memref<4xf32, #ascend_memory.space<gm>>) { memref.dealloc %x : memref<4xf32, #ascend_memory.space<gm>> }"
    with pytest.raises(PassFailedException, match=r"memref.dealloc .* does not know what it does to them"):
        VerifySyncPass().apply(Context(), parse_module(text))


# fourteen kernels


def synchronised(path: Path, share: bool = False) -> KernelOp:
    kernel = load(path)
    plan(kernel, ASCEND910B, share)
    synchronise(kernel)
    return kernel


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_nothing_is_reported_on_the_originals(path: Path, share: bool) -> None:
    kernel = synchronised(path, share)
    assert check(kernel) == []
    scalars = [a for a in kernel.args if a.type.name == "index"]
    for trips in (0, 1, 4) if scalars else (0,):
        for block_idx, block_num in ((0, 1), (0, 2), (1, 2), (20, 48)):
            core = Core(kernel, [trips] * len(scalars), block_idx, block_num)
            assert core.faults == [] and core.clobbered == []


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_every_flag_and_barrier_is_needed(path: Path) -> None:
    kernel = synchronised(path)
    for ordering in orderings(kernel):
        found = check(without(kernel, ordering))
        assert found and {p.kind for p in found} == {"race"}, [str(op) for op in ordering]


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_a_set_or_a_wait_alone_is_reported(path: Path) -> None:
    kernel = synchronised(path)
    for op in (op for ordering in orderings(kernel) for op in ordering if len(ordering) > 1):
        kinds = {p.kind for p in check(without(kernel, [op]))}
        assert kinds & {"unpaired", "left over", "duplicate"}, str(op)
