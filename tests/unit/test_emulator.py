"""The emulator by small kernels in C: every checker has a kernel that trips it and an innocent twin; flags, time, trace, threads.

A kernel is written as its body: `x`, `y` and `z` are GM arguments of 1024 floats (x and y only read, z written), `a`, `b`, `c` UB buffers
of 1024 floats. `LOAD`, `STORE`, `AFTER(p, q)` stand for what every kernel does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ascir.backend_c import emulator
from ascir.backend_c.build import compile_kernel
from ascir.backend_c.emulator import Gm, Kernel, RawReport
from ascir.backend_c.origins import Origins
from ascir.backend_c.report import Event, Fault, KernelFault, Profile, merge_faults
from ascir.machine.target import ASCEND910B, Target

N = 1024
RUNS = 20
"""A checker that finds a fault only sometimes is no checker."""

_PRELUDE = """#include "ascir_core.h"
#define BUFFERS \\
  __local__ float *a = __alloc_ub(float, 0, 1024, "a"); \\
  __local__ float *b = __alloc_ub(float, 4096, 1024, "b"); \\
  __local__ float *c = __alloc_ub(float, 8192, 1024, "c"); \\
  __gm__ const float *x = __arg(0).p, *y = __arg(1).p; __gm__ float *z = __arg(2).p; const int64_t n = __arg(3).i; \\
  (void)a, (void)b, (void)c, (void)x, (void)y, (void)z, (void)n
#define AFTER(source, pipe) __set_flag(source, pipe, 0); __wait_flag(source, pipe, 0)
#define LOAD(to, from) __memcpy_async(to, from, 4096)
#define STORE(from) __memcpy_async(z, from, 4096)
"""


@cache
def _kernel(body: str) -> Kernel:
    """Line 1 of the body is line 1 of the C, for messages."""
    text = "\n".join((_PRELUDE, f"ASCIR_KERNEL(k) {{ BUFFERS;\n#line 1\n{body}\n}}"))
    return Kernel(compile_kernel(text, "test"), "k")


class Ran:
    """A run of a body, with its arrays."""

    def __init__(self, body: str, block_dim: int = 1, target: Target = ASCEND910B, size: int = N, **options: Any):
        self.x = np.arange(size, dtype=np.float32)
        self.y = np.full(size, 2, np.float32)
        self.z = np.zeros(size, np.float32)
        arguments = [gm(self.x, b"x"), gm(self.y, b"y"), gm(self.z, b"z", True), size]
        self.report: RawReport = emulator.launch(_kernel(body), arguments, block_dim, target, **options)
        self.profile = Profile.of([self.report], Origins(locations={line: f"k.py:{line}" for line in range(1, 100)}))

    @property
    def texts(self) -> list[str]:
        return [fault.text for fault in self.profile.faults]


def gm(array: NDArray[Any], name: bytes, writable: bool = False) -> Gm:
    return Gm(array.ctypes.data, array.nbytes, name, writable)


def found(body: str, **options: Any) -> list[str]:
    """Messages of a body, which are the same on each of RUNS runs."""
    runs = [Ran(body, **options).texts for _ in range(RUNS)]
    assert all(texts == runs[0] for texts in runs)
    return runs[0]


def innocent(body: str, **options: Any) -> None:
    assert found(body, **options) == []


ADD = """LOAD(a, x);
LOAD(b, y);
AFTER(PIPE_MTE2, PIPE_V);
__hcc_add(c, a, b, 1024);
AFTER(PIPE_V, PIPE_MTE3);
STORE(c);"""


def test_a_kernel_computes() -> None:
    ran = Ran(ADD)
    assert ran.texts == []
    assert np.array_equal(ran.z, ran.x + ran.y)


# --- bounds ---------------------------------------------------------------------------------------------------------------------


def test_overrun_of_a_buffer() -> None:
    """The neighbour's bytes exist, and still they are not this buffer's."""
    innocent("__hcc_duplicate(a, 1.0f, 1024);")
    assert found("__hcc_duplicate(a, 1.0f, 1025);") == [
        "overrun: duplicate on V writes ub:a[0..4100) (the destination), but the buffer has 4096 bytes"
    ]
    assert found("__hcc_duplicate(a - 8, 1.0f, 16);") == [
        "overrun: duplicate on V writes ub:a[-32..32) (the destination), but the buffer has 4096 bytes"
    ]


def test_overrun_by_rows() -> None:
    innocent("__hcc_duplicate_2d(__t(a, 8, 100, 128, 1), 1.0f);")
    assert found("__hcc_duplicate_2d(__t(a, 9, 100, 128, 1), 1.0f);") == [
        "overrun: duplicate on V writes ub:a[0..4496) (the destination), but the buffer has 4096 bytes"
    ]


def test_overrun_of_an_argument() -> None:
    innocent("__memcpy_async(a, x + 24, 4000);")
    assert found("__memcpy_async(a, x + 25, 4000);") == [
        "overrun: copy on MTE2 reads gm:x[100..4100) (operand a), but the buffer has 4096 bytes"
    ]


def test_overrun_is_not_executed() -> None:
    """Foreign memory stays as it was."""
    memory = np.zeros(2 * N, np.float32)
    kernel = _kernel("__hcc_duplicate(a, 1.0f, 1024); AFTER(PIPE_V, PIPE_MTE3); __memcpy_async(z + 512, a, 4096);")
    small = Gm(memory.ctypes.data, 4 * N, b"z", True)
    report = emulator.launch(kernel, [0, 0, small, 0], 1, ASCEND910B)
    assert [fault.kind for fault in Profile.of([report]).faults] == ["overrun"]
    assert not memory.any()


def test_wild_numbers_do_not_wrap_around() -> None:
    assert len(found("__memcpy_async(a, x, INT64_MAX - 1);")) == 1
    assert len(found("__hcc_duplicate_2d(__t(a, INT64_C(1) << 40, 1 << 30, INT64_C(1) << 40, 1), 1.0f);")) == 1


def test_unallocated() -> None:
    innocent("LOAD(a, x);")
    assert found("LOAD(a, (float *)64);") == [
        "unallocated: copy reads an address in no buffer (operand a); point it into a UB buffer or a kernel argument"
    ]


def test_capacity_of_ub() -> None:
    innocent('__alloc_ub(float, 12288, (196608 - 12288) / 4, "rest");')
    assert found('__alloc_ub(float, 12288, (196640 - 12288) / 4, "rest");') == [
        "capacity: buffer rest ends at byte 196640 of ub, which has 196608"
    ]


def test_guard_zone_around_ub() -> None:
    """Plain C can write past the door; the zone next to UB remembers."""
    innocent("((volatile char *)a)[0] = 1;")
    assert found("((volatile char *)a)[-1] = 1;") == [
        "overrun: something wrote outside ub, past the instructions; look for a pointer used in plain C"
    ]


# --- alignment ------------------------------------------------------------------------------------------------------------------


def test_misaligned_start() -> None:
    innocent("__hcc_duplicate(a + 8, 1.0f, 8);")
    assert found("__hcc_duplicate(a + 1, 1.0f, 8);") == [
        "misaligned: duplicate on V writes ub:a[4..36) (the destination), which starts at byte 4 of ub; expected a multiple of 32"
    ]


def test_misaligned_pitch() -> None:
    innocent("__hcc_duplicate_2d(__t(a, 4, 7, 8, 1), 1.0f);")
    assert found("__hcc_duplicate_2d(__t(a, 4, 7, 9, 1), 1.0f);") == [
        "misaligned: duplicate on V writes rows of ub:a that lie 36 bytes apart (the destination); expected a multiple of 32"
    ]


def test_gm_needs_no_alignment_and_pipe_s_only_that_of_elements() -> None:
    innocent("__memcpy_async(a, x + 1, 4); AFTER(PIPE_MTE2, PIPE_S); __scalar_store(a + 1, __scalar_load(a));")


def test_misaligned_buffer() -> None:
    assert found('__alloc_ub(float, 12300, 8, "odd");') == ["misaligned: buffer odd starts at byte 12300 of ub; expected a multiple of 32"]


# --- paths and operands ---------------------------------------------------------------------------------------------------------


def test_illegal_path() -> None:
    assert found("__hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V); LOAD(b, a);") == [
        "illegal path: copy from ub to ub; use __hcc_copy within ub"
    ]
    assert found("LOAD(z, x);") == ["illegal path: copy from gm to gm; a copy goes from gm to ub or from ub to gm"]


def test_operand_in_the_wrong_memory() -> None:
    assert found("__hcc_add(a, x, x, 8);") == [
        "illegal operand: add on V needs operands in ub; operand b is in gm:x. Copy it first: __memcpy_async"
    ]


def test_dtypes_must_agree() -> None:
    assert found("__hcc_exp((int32_t *)b, a, 8);") == ["illegal operand: exp on V: the destination is i32; expected f32"]
    assert found("__hcc_exp((int32_t *)b, (int32_t *)a, 8);") == ["illegal operand: exp has no i32 form"]
    assert found("__hcc_cast((bfloat16_t *)b, (half *)a, ROUND_RINT, 8);") == ["illegal operand: no cast f16 → bf16; go through f32"]


def test_shapes_must_agree() -> None:
    fill = "__hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V);"
    innocent(f"{fill} __hcc_abs_2d(__t(b, 4, 8, 8, 1), __t(a, 4, 8, 16, 1));")
    assert found(f"{fill} __hcc_abs_2d(__t(b, 4, 8, 8, 1), __t(a, 3, 8, 16, 1));") == [
        "illegal operand: abs on V: operand a has 3 rows; expected 4"
    ]


def test_strides_the_vector_unit_cannot_express() -> None:
    fill = "__hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V);"
    innocent(f"{fill} __hcc_abs_2d(__t(b, 4, 8, 8, 1), __t(a, 4, 8, 0, 1));")  # one row for all
    innocent(f"{fill} __hcc_abs_2d(__t(b, 4, 16, 16, 1), __t(a, 4, 16, 8, 0));")  # one block for a row
    assert found(f"{fill} __hcc_abs_2d(__t(b, 4, 8, 8, 1), __t(a, 4, 8, 64, 2));") == [
        "illegal operand: abs on V: elements of operand a lie 2 apart; expected 1, or 0 to repeat a block"
    ]
    assert found(f"{fill} __hcc_abs_2d(__t(b, 4, 8, 0, 1), __t(a, 4, 8, 8, 1));") == [
        "illegal operand: abs on V: rows of the destination lie 0 elements apart; expected 8 or more"
    ]
    assert found(f"{fill} __hcc_abs_2d(__t(b, 4, 8, 8, 1), __t(a + 24, 4, 8, -8, 1));") == [
        "illegal operand: abs on V: rows of operand a lie -8 elements apart; expected 0 or more"
    ]


def test_source_and_destination_coincide_or_do_not_overlap() -> None:
    fill = "__hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V);"
    innocent(f"{fill} __hcc_abs(a, a, 512);")
    innocent(f"{fill} __hcc_abs(a + 512, a, 512);")
    innocent(f"{fill} __hcc_abs_2d(__t(a + 8, 8, 8, 16, 1), __t(a, 8, 8, 16, 1));")  # columns between columns
    assert found(f"{fill} __hcc_abs(a + 504, a, 512);") == [
        "illegal operand: abs on V writes ub:a[2016..4064), which overlaps operand a without coinciding with it"
    ]
    assert len(found(f"{fill} __hcc_abs_2d(__t(a + 8, 8, 16, 16, 1), __t(a, 8, 16, 16, 1));")) == 1


def test_arguments_that_are_only_read() -> None:
    assert found("__hcc_duplicate(a, 1.0f, 8); AFTER(PIPE_V, PIPE_MTE3); __memcpy_async((float *)x, a, 32);") == [
        "illegal operand: copy on MTE3 writes gm:x[0..32), an argument that is only to be read"
    ]


def test_limits_of_a_copy() -> None:
    room = '__local__ uint8_t *r = __alloc_ub(uint8_t, 12288, 163840, "r");'
    innocent(f"{room} __memcpy_async_2d(__t(r, 4095, 1, 32, 1), __t((uint8_t *)x, 4095, 1, 1, 1));")
    assert found(f"{room} __memcpy_async_2d(__t(r, 4096, 1, 32, 1), __t((uint8_t *)x, 4096, 1, 1, 1));") == [
        "illegal operand: copy on MTE2 moves 4096 rows; one copy moves at most 4095"
    ]


def test_work_space_of_a_reduction() -> None:
    fill = "__hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V);"
    innocent(f"{fill} __hcc_reduce_sum(b, __t(a, 8, 100, 128, 1), c, 50, 1);")
    assert found(f"{fill} __hcc_reduce_sum(b, __t(a, 8, 100, 128, 1), c, 49, 1);") == [
        "illegal operand: reduce_sum on V: the work space has 49 elements; expected 50"
    ]
    assert found(f"{fill} __hcc_reduce_sum(b, __t(a, 8, 100, 128, 1), c, 50, 2);") == [
        "illegal operand: reduce_sum on V reduces axis 2; expected 0 or 1"
    ]


def test_no_elements_is_no_access() -> None:
    innocent("__hcc_add(a, b, c, 0); __memcpy_async(a, x, 0); __hcc_reduce_sum(b, __t(a, 0, 8, 8, 1), c, 8, 1);")
    assert len(found("__hcc_add(a, b, c, -1);")) == 1


# --- uninitialised reads --------------------------------------------------------------------------------------------------------


def test_uninitialised_read() -> None:
    innocent("__hcc_duplicate(a, 1.0f, 100); __pipe_barrier(PIPE_V); __hcc_abs(b, a, 100);")
    assert found("__hcc_duplicate(a, 1.0f, 100); __pipe_barrier(PIPE_V); __hcc_abs(b, a, 104);") == [
        "uninitialised read: abs on V reads ub:a[400..416), which the kernel has not written; fill it first (copy, duplicate)"
    ]


def test_the_gap_between_rows_is_not_initialised() -> None:
    fill = "__hcc_duplicate_2d(__t(a, 8, 100, 128, 1), 1.0f); __pipe_barrier(PIPE_V);"
    innocent(f"{fill} __hcc_abs_2d(__t(b, 8, 100, 128, 1), __t(a, 8, 100, 128, 1));")
    innocent(f"{fill} __hcc_abs_2d(__t(b, 3, 50, 128, 1), __t(a + 128, 3, 50, 128, 1));")
    texts = found(f"{fill} __hcc_abs_2d(__t(b, 8, 101, 128, 1), __t(a, 8, 101, 128, 1));")
    assert len(texts) == 1 and "ub:a[400..404)" in texts[0]


def test_pieces_add_up_to_an_initialised_buffer() -> None:
    pieces = "".join(f"__hcc_duplicate(a + {k}, 1.0f, 128);" for k in (0, 256, 640, 128, 896, 384, 512, 768))
    innocent(f"{pieces} __pipe_barrier(PIPE_V); __hcc_abs(b, a, 1024);")
    some = pieces.replace("__hcc_duplicate(a + 512, 1.0f, 128);", "")
    texts = found(f"{some} __pipe_barrier(PIPE_V); __hcc_abs(b, a, 1024);")
    assert len(texts) == 1 and "ub:a[2048..2560)" in texts[0]


def test_buffers_that_share_bytes_do_not_share_contents() -> None:
    """A plan that puts two live buffers on one another is found, whichever is written."""
    share = '__local__ float *d = __alloc_ub(float, 0, 512, "d");'
    write_both = f"{share} __hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V); __hcc_duplicate(d, 2.0f, 512); __pipe_barrier(PIPE_V);"
    innocent(f"{write_both} __hcc_abs(b, d, 512); __hcc_abs(c, a + 512, 512);")
    texts = found(f"{write_both} __hcc_abs(b, a, 1024);")
    assert len(texts) == 1 and "ub:a[0..2048)" in texts[0]
    assert np.array_equal(
        Ran(f"{write_both} __hcc_copy(b, d, 512); AFTER(PIPE_V, PIPE_MTE3); __memcpy_async(z, b, 2048);").z[:512], np.full(512, 2)
    )


# --- races ----------------------------------------------------------------------------------------------------------------------


def test_race_read_after_write() -> None:
    innocent(ADD)
    race = ADD.replace("AFTER(PIPE_MTE2, PIPE_V);", "")
    assert found(race) == [
        "race: add on V reads ub:b[0..4096) written by copy on MTE2 (k.py:2); no flag MTE2→V between",
        "race: add on V reads ub:a[0..4096) written by copy on MTE2 (k.py:1); no flag MTE2→V between",
    ]
    fault = Ran(race).profile.faults[0]
    assert (fault.location, fault.pipe, fault.other_pipe, fault.other_location) == ("k.py:4", "V", "MTE2", "k.py:2")
    assert (fault.buffer, fault.bytes, fault.instruction, fault.other_instruction) == ("b", (0, 4096), "add", "copy")


def test_race_write_after_read() -> None:
    body = f"{ADD}\nAFTER(PIPE_V, PIPE_MTE2);\nLOAD(a, x);"
    innocent(body)
    assert found(body.replace("AFTER(PIPE_V, PIPE_MTE2);", "")) == [
        "race: copy on MTE2 writes ub:a[0..4096) read by add on V (k.py:4); no flag V→MTE2 between"
    ]


def test_race_write_after_write() -> None:
    innocent("LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_duplicate(a, 1.0f, 8);")
    assert found("LOAD(a, x);\n__hcc_duplicate(a, 1.0f, 8);") == [
        "race: duplicate on V writes ub:a[0..32) written by copy on MTE2 (k.py:1); no flag MTE2→V between"
    ]


@pytest.mark.parametrize(
    ("pipe", "first", "second"),
    [
        ("V", "__hcc_duplicate(a, 1.0f, 8);", "__hcc_abs(b, a, 8);"),
        ("V", "__hcc_duplicate(a, 1.0f, 8);", "__hcc_duplicate(a, 2.0f, 8);"),
        ("MTE2", "LOAD(a, x);", "__memcpy_async(a, y, 64);"),
        ("MTE3", "STORE(c);", "STORE(c);"),
    ],
)
def test_race_within_a_pipe(pipe: str, first: str, second: str) -> None:
    before = "__hcc_duplicate(c, 1.0f, 1024); AFTER(PIPE_V, PIPE_MTE3); " if pipe == "MTE3" else ""
    innocent(f"{before}{first} __pipe_barrier(PIPE_{pipe}); {second}")
    texts = found(f"{before}{first} {second}")
    assert len(texts) == 1 and texts[0].endswith(f"no barrier on {pipe} between")


def test_pipe_s_is_its_own_order_but_not_that_of_others() -> None:
    innocent("__scalar_store(a, 1.0f); __scalar_store(a, __scalar_load(a));")
    store = "for (int i = 0; i < 8; i++) __scalar_store(a + i, 1.0f);"
    innocent(f"{store} AFTER(PIPE_S, PIPE_V); __hcc_abs(b, a, 8);")
    assert len(found(f"{store} __hcc_abs(b, a, 8);")) == 1
    innocent("__hcc_duplicate(a, 1.0f, 8); AFTER(PIPE_V, PIPE_S); __scalar_load(a);")
    assert len(found("__hcc_duplicate(a, 1.0f, 8); __scalar_load(a);")) == 1


def test_what_pipe_s_knows_it_passes_on() -> None:
    """An instruction is issued after S waited, so it need not wait again."""
    innocent("LOAD(a, x); AFTER(PIPE_MTE2, PIPE_S); __hcc_abs(b, a, 1024);")


def test_flags_carry_what_their_source_knew() -> None:
    """MTE2 → V → MTE3: no flag from MTE2 to MTE3 is needed."""
    innocent("LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_duplicate(b, 1.0f, 8); AFTER(PIPE_V, PIPE_MTE3); STORE(a);")
    assert len(found("LOAD(a, x); __hcc_duplicate(b, 1.0f, 8); AFTER(PIPE_V, PIPE_MTE3); STORE(a);")) == 1


def test_a_barrier_for_all_pipes_orders_all() -> None:
    innocent("LOAD(a, x); LOAD(b, y); __pipe_barrier(PIPE_ALL); __hcc_add(c, a, b, 1024); __pipe_barrier(PIPE_ALL); STORE(c);")


def test_a_flag_orders_only_what_came_before_it() -> None:
    set_flag, wait_flag = "__set_flag(PIPE_MTE2, PIPE_V, 0);", "__wait_flag(PIPE_MTE2, PIPE_V, 0);"
    innocent(f"LOAD(a, x); LOAD(b, y); {set_flag} {wait_flag} __hcc_add(c, a, b, 8);")
    texts = found(f"LOAD(a, x); {set_flag} LOAD(b, y); {wait_flag} __hcc_add(c, a, b, 8);")
    assert texts == ["race: add on V reads ub:b[0..32) written by copy on MTE2 (k.py:1); no flag MTE2→V between"]


def test_race_in_global_memory() -> None:
    store = "__hcc_duplicate(c, 1.0f, 1024); AFTER(PIPE_V, PIPE_MTE3); STORE(c);"
    innocent(f"{store} AFTER(PIPE_MTE3, PIPE_MTE2); LOAD(a, z);")
    assert found(f"{store} LOAD(a, z);") == [
        "race: copy on MTE2 reads gm:z[0..4096) written by copy on MTE3 (k.py:1); no flag MTE3→MTE2 between"
    ]


def test_strided_operands_race_only_where_they_meet() -> None:
    """The bounds of all of these overlap; the rows decide."""
    left = "__hcc_duplicate_2d(__t(a, 8, 60, 128, 1), 1.0f);"
    innocent(f"{left} __hcc_duplicate_2d(__t(a + 64, 8, 64, 128, 1), 1.0f);")  # the same pitch
    innocent(f"{left} __hcc_duplicate_2d(__t(a + 64, 4, 8, 256, 1), 1.0f);")  # another pitch
    innocent(f"{left} __hcc_duplicate(a + 64, 1.0f, 64);")  # one row
    for other in ("__t(a + 56, 7, 80, 128, 1)", "__t(a + 64, 7, 72, 128, 1)", "__t(a + 64, 4, 8, 64, 1)", "__t(a + 120, 1, 16, 0, 1)"):
        texts = found(f"{left} __hcc_duplicate_2d({other}, 1.0f);")
        assert len(texts) == 1 and texts[0].endswith("written by duplicate on V (k.py:1); no barrier on V between")


def test_races_are_found_in_long_loops() -> None:
    """Thousands of accesses later the ring of past ones has turned over many times."""
    loop = "for (int i = 0; i < 5000; i++) {{ LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_abs(b, a, 8); __pipe_barrier(PIPE_V); {} }}"
    innocent(loop.format("AFTER(PIPE_V, PIPE_MTE2);"))
    assert found(loop.format("if (i != 4000) { AFTER(PIPE_V, PIPE_MTE2); }")) == [
        "race: copy on MTE2 writes ub:a[0..32) read by abs on V (k.py:1); no flag V→MTE2 between"
    ]


# --- footprints, against sets of bytes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """A 2-d operand in a buffer of 1024 floats: element (r, c) at `start + r · row + c · col`."""

    start: int
    rows: int
    cols: int
    row: int
    col: int

    @property
    def elements(self) -> set[int]:
        return {self.start + r * self.row + c * self.col for r in range(self.rows) for c in range(self.cols)}

    @property
    def numbers(self) -> list[int]:
        return [self.start, self.rows, self.cols, self.row, self.col]


def _window(rng: np.random.Generator, *, vector: bool = False) -> Window:
    """A random window; one a vector instruction can express has rows of contiguous elements, 32 B apart or more."""
    while True:
        rows, cols = (int(n) for n in rng.integers(1, 9, 2))
        row, col = int(rng.integers(-40, 41)), int(rng.integers(-40, 41))
        start = int(rng.integers(0, 320))
        if vector:
            row, col, start = 8 * int(rng.integers(1, 5)), 1, start // 8 * 8
        window = Window(start, rows, cols, row, col)
        distinct = len(window.elements) == rows * cols
        if distinct and min(window.elements) >= 0 and max(window.elements) < N and not (vector and row < cols):
            return window


_OPERAND = "__t(a + __arg({0}).i, __arg({0} + 1).i, __arg({0} + 2).i, __arg({0} + 3).i, __arg({0} + 4).i)"


def _texts(kernel: Kernel, *windows: Window) -> list[str]:
    x, z = np.zeros(N, np.float32), np.zeros(N, np.float32)
    numbers = [number for window in windows for number in window.numbers]
    report = emulator.launch(kernel, [gm(x, b"x"), 0, gm(z, b"z", True), 0, *numbers], 1, ASCEND910B)
    return [fault.text for fault in Profile.of([report]).faults]


def test_races_are_those_of_shared_bytes() -> None:
    """Random windows of any strides: a race exactly where the sets of elements meet."""
    write = f"__scalar_copy({_OPERAND.format(4)}, __t(x, __arg(5).i, __arg(6).i, 0, 0));"
    kernel = _kernel(f"{write} __hcc_duplicate_2d({_OPERAND.format(9)}, 1.0f);")
    both = _kernel(f"__hcc_duplicate_2d({_OPERAND.format(4)}, 1.0f); __hcc_duplicate_2d({_OPERAND.format(9)}, 1.0f);")
    rng = np.random.default_rng(1)
    met = 0
    for k in range(3000):
        vector = k % 2 == 1
        first, second = _window(rng, vector=vector), _window(rng, vector=True)
        texts = _texts(both if vector else kernel, first, second)
        meet = bool(first.elements & second.elements)
        assert [text.split(":")[0] for text in texts] == ["race"] * meet, (first, second, texts)
        met += meet
    assert 300 < met < 2700


def test_uninitialised_are_the_bytes_nobody_wrote() -> None:
    """Random windows written, a random window read: a fault exactly if an element is missing."""
    writes = " ".join(f"__scalar_copy({_OPERAND.format(k)}, __t(x, __arg({k + 1}).i, __arg({k + 2}).i, 0, 0));" for k in (4, 9, 14, 19))
    read = f"__scalar_copy(__t(z, __arg(25).i, __arg(26).i, __arg(26).i, 1), {_OPERAND.format(24)});"
    kernel = _kernel(f"{writes} {read}")
    rng = np.random.default_rng(2)
    missed = 0
    for k in range(3000):
        written = [_window(rng, vector=k % 2 == 1) for _ in range(3)] + [
            Window(int(rng.integers(0, 200)), 1, int(rng.integers(1, 500)), 0, 1)
        ]
        wanted = _window(rng)
        missing = wanted.elements - set[int]().union(*(window.elements for window in written))
        texts = _texts(kernel, *written, wanted)
        assert [text.split(":")[0] for text in texts] == ["uninitialised read"] * bool(missing), (written, wanted, texts)
        if missing:
            first = int(texts[0].split("ub:a[")[1].split("..")[0])
            assert first // 4 in missing
        missed += bool(missing)
    assert 300 < missed < 2700


# --- flags ----------------------------------------------------------------------------------------------------------------------


def test_a_flag_set_twice() -> None:
    twice = "__set_flag(PIPE_MTE2, PIPE_V, 0);\n{}__set_flag(PIPE_MTE2, PIPE_V, 0);\n__wait_flag(PIPE_MTE2, PIPE_V, 0);"
    innocent(twice.format("__wait_flag(PIPE_MTE2, PIPE_V, 0);"))
    assert found(twice.format("")) == [
        "duplicate flag: set_flag MTE2→V 0 is set again before a wait_flag took the first (k.py:1); wait in between or use another id"
    ]


def test_a_flag_left_over() -> None:
    assert found("__set_flag(PIPE_V, PIPE_MTE3, 3);") == [
        "left-over flag: flag V→MTE3 3 is still set when the kernel ends; add the wait_flag it was meant for, or remove the set_flag"
    ]


def test_reserved_ids() -> None:
    innocent("__set_flag(PIPE_V, PIPE_MTE3, 5); __wait_flag(PIPE_V, PIPE_MTE3, 5);")
    assert found("__set_flag(PIPE_V, PIPE_MTE3, 6); __wait_flag(PIPE_V, PIPE_MTE3, 6);") == [
        "reserved flag: set_flag V→MTE3 6: id 6 is reserved for the vendor's runtime; use another",
        "reserved flag: wait_flag V→MTE3 6: id 6 is reserved for the vendor's runtime; use another",
    ]
    assert found("__set_flag(PIPE_V, PIPE_MTE3, 8);") == ["illegal operand: set_flag V→MTE3 8: expected an id from 0 to 7"]
    assert found("__set_flag(PIPE_V, PIPE_V, 0);") == ["illegal operand: set_flag names V and V; expected two pipes"]


def test_a_wait_may_come_before_its_set() -> None:
    """Only the waiting pipe stands still; what it was given runs when the flag comes."""
    ran = Ran("""__wait_flag(PIPE_MTE2, PIPE_V, 0);
__hcc_abs(b, a, 1024);
__set_flag(PIPE_V, PIPE_MTE3, 0);
__wait_flag(PIPE_V, PIPE_MTE3, 0);
STORE(b);
LOAD(a, x);
__set_flag(PIPE_MTE2, PIPE_V, 0);""")
    assert ran.texts == []
    assert np.array_equal(ran.z, ran.x)


def test_a_wait_that_no_set_belongs_to() -> None:
    innocent("__set_flag(PIPE_MTE2, PIPE_V, 1); __wait_flag(PIPE_MTE2, PIPE_V, 1); __hcc_duplicate(a, 1.0f, 8);")
    assert found("__wait_flag(PIPE_MTE2, PIPE_V, 1); __hcc_duplicate(a, 1.0f, 8);") == [
        "unpaired flag: V waits for flag MTE2→V 1 (k.py:1); no set_flag MTE2→V 1 belongs to it: on hardware the core hangs here"
    ]
    assert Ran("__wait_flag(PIPE_MTE2, PIPE_V, 1);").profile.faults[0].location == "k.py:1"


def test_deadlock_of_pipe_s_leaves_the_kernel() -> None:
    """S cannot wait for what the program says later; nothing after it runs, and nothing hangs."""
    store = "__hcc_duplicate(a, 1.0f, 1024); AFTER(PIPE_V, PIPE_MTE3); STORE(a);"
    ran = Ran(f"__wait_flag(PIPE_V, PIPE_S, 0);\n__set_flag(PIPE_V, PIPE_S, 0);\n{store}")
    assert ran.texts == ["deadlock: S waits for flag V→S 0 (k.py:1), which nobody sets"]
    assert not ran.z.any()


def test_deadlock_of_pipes_that_wait_for_each_other() -> None:
    body = """__wait_flag(PIPE_MTE3, PIPE_V, 0);
__set_flag(PIPE_V, PIPE_MTE3, 0);
__wait_flag(PIPE_V, PIPE_MTE3, 0);
__set_flag(PIPE_MTE3, PIPE_V, 0);"""
    assert found(body) == [
        "deadlock: V waits for flag MTE3→V 0 (k.py:1); MTE3 waits for flag V→MTE3 0 (k.py:3), and none of these flags is set"
    ]
    assert found("__wait_flag(PIPE_MTE2, PIPE_V, 0);\n__pipe_barrier(PIPE_ALL);\n__set_flag(PIPE_MTE2, PIPE_V, 0);") == [
        "deadlock: V waits for flag MTE2→V 0 (k.py:1), which nobody sets; pipe S stands at a barrier for all pipes"
    ]


def test_a_core_is_clean_after_a_deadlock() -> None:
    assert Ran("__wait_flag(PIPE_MTE2, PIPE_V, 1); LOAD(a, x);").texts
    innocent(ADD)


# --- what a fault is worth ------------------------------------------------------------------------------------------------------


def test_faults_do_not_change_values_and_hide_the_cycles() -> None:
    ran = Ran(ADD.replace("AFTER(PIPE_MTE2, PIPE_V);", ""))
    assert np.array_equal(ran.z, ran.x + ran.y)
    assert ran.profile.cycles is None and ran.profile.time_us is None


def test_faults_of_loops_and_blocks_are_counted() -> None:
    ran = Ran("for (int i = 0; i < 10; i++) __hcc_duplicate(a + 1, 1.0f, 8);", block_dim=7)
    misaligned = ran.profile.faults[0]
    assert (misaligned.kind, misaligned.times) == ("misaligned", 70)
    assert str(misaligned).endswith("(70 times)")


def test_kernel_fault_lists_them() -> None:
    error = KernelFault(Ran("__set_flag(PIPE_V, PIPE_MTE3, 3);").profile.faults)
    assert str(error).splitlines()[0] == "the emulator found a fault:"
    assert str(error).splitlines()[1].startswith("  k.py:1: left-over flag: ")


def test_faults_are_limited() -> None:
    many = [Fault("race", f"race: {k}", "", k, "add", "V", 0) for k in range(1000)]
    assert len(merge_faults(many)) == 64


def test_without_checks_only_memory_is_protected() -> None:
    assert Ran(ADD.replace("AFTER(PIPE_MTE2, PIPE_V);", ""), checks=False).texts == []
    assert len(Ran("__hcc_duplicate(a, 1.0f, 1025);", checks=False).texts) == 1
    assert len(Ran("__wait_flag(PIPE_MTE2, PIPE_V, 1); LOAD(a, x);", checks=False).texts) == 1


# --- scalars and scalar copies --------------------------------------------------------------------------------------------------


def test_scalar_copy_takes_any_strides() -> None:
    ran = Ran("""__scalar_copy(__t(a, 32, 32, 32, 1), __t(x, 32, 32, 1, 32));
AFTER(PIPE_S, PIPE_MTE3);
STORE(a);""")
    assert ran.texts == []
    assert np.array_equal(ran.z.reshape(32, 32), ran.x.reshape(32, 32).T)


def test_scalar_copy_repeats_and_reverses() -> None:
    ran = Ran("""__scalar_copy(__t(a, 1, 8, 0, 1), __t(x + 5, 1, 8, 0, 0));
__scalar_copy(__t(a + 8, 1, 8, 0, 1), __t(x + 7, 1, 8, 0, -1));
AFTER(PIPE_S, PIPE_MTE3);
__memcpy_async(z, a, 64);""")
    assert ran.texts == []
    assert ran.z[:16].tolist() == [5] * 8 + list(range(7, -1, -1))


def test_scalar_accesses_of_every_kind() -> None:
    ran = Ran("""__local__ half *h = __alloc_ub(half, 12288, 16, "h");
__local__ int8_t *i = __alloc_ub(int8_t, 12320, 32, "i");
__local__ uint64_t *u = __alloc_ub(uint64_t, 12352, 4, "u");
__scalar_store(h, 1.0f / 3); __scalar_store(i, 300); __scalar_store(u, -1); __scalar_store(a, 0.5);
__scalar_store(a + 1, __scalar_load(h));
__scalar_store(a + 2, (float)__scalar_load(i));
__scalar_store(a + 3, (float)(__scalar_load(u) == -1));
AFTER(PIPE_S, PIPE_MTE3); __memcpy_async(z, a, 16);""")
    assert ran.texts == []
    assert ran.z[:4].tolist() == [0.5, float(np.float16(1 / 3)), 44.0, 1.0]


def test_scalar_arithmetic_is_total() -> None:
    ran = Ran("""const float results[] = {__div(7, 0), __rem(7, 0), __floor_div(-7, 2), __ceil_div(7, 2), __ceil_div(-7, 2),
  __div(INT64_MIN, -1) == INT64_MIN, __min(3, 4), __max(3, 4), __max(1.5f, 2), __round_f16(1.0f / 3), __round_bf16(1.0f / 3)};
for (int k = 0; k < 11; k++) __scalar_store(a + k, results[k]);
AFTER(PIPE_S, PIPE_MTE3); __memcpy_async(z, a, 44);""")
    assert ran.z[:9].tolist() == [0, 0, -4, 4, -3, 1, 3, 4, 2]
    assert ran.z[9] == np.float16(1 / 3) and ran.z[10] == 0.333984375


# --- time -----------------------------------------------------------------------------------------------------------------------


def cycles(body: str, **options: Any) -> float:
    ran = Ran(body, **options)
    assert ran.texts == []
    return ran.report.result.cycles


def test_a_vector_instruction_costs_start_and_repeats() -> None:
    """1024 f32 are 16 repeats of one cycle; the issue of the instruction and its start come on top."""
    t = ASCEND910B
    assert cycles("__hcc_duplicate(a, 1.0f, 1024);") == t.issue_cycles + t.vector_start + 16
    assert cycles("__hcc_duplicate(a, 1.0f, 1);") == t.issue_cycles + t.vector_start + 1
    assert cycles("__hcc_duplicate(a, 1.0f, 65);") == t.issue_cycles + t.vector_start + 2


def test_a_copy_costs_start_rows_and_bytes() -> None:
    t = ASCEND910B
    assert cycles("LOAD(a, x);") == pytest.approx(t.issue_cycles + t.copy_start + 4096 / t.gm_read_per_cycle)
    rows = cycles("__memcpy_async_2d(__t(a, 8, 64, 128, 1), __t(x, 8, 64, 128, 1));")
    assert rows == pytest.approx(t.issue_cycles + t.copy_start + 7 * t.copy_row + 2048 / t.gm_read_per_cycle)
    unaligned = cycles("__memcpy_async(a, x + 1, 2048);")
    assert unaligned == pytest.approx(t.issue_cycles + t.copy_start + 2048 / (t.gm_read_per_cycle * t.unaligned_efficiency))


def test_pipe_s_costs_by_the_element() -> None:
    t = ASCEND910B
    assert cycles("__scalar_copy(__t(a, 1, 100, 0, 1), __t(x, 1, 100, 0, 1));") == t.issue_cycles + 100 * t.scalar_gm_cycles
    assert (
        cycles("__hcc_duplicate((int8_t *)a, 1, 32); AFTER(PIPE_V, PIPE_S); __hcc_add((int8_t *)b, (int8_t *)a, (int8_t *)a, 32);") > 32 * 6
    )


def test_pipes_overlap_and_flags_order_them() -> None:
    load, compute = cycles("LOAD(a, x);"), cycles("__hcc_duplicate(b, 1.0f, 1024);")
    both = cycles("LOAD(a, x); __hcc_duplicate(b, 1.0f, 1024);")
    ordered = cycles("LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_duplicate(b, 1.0f, 1024);")
    assert both < load + compute - ASCEND910B.issue_cycles
    assert ordered >= load + compute - ASCEND910B.issue_cycles + ASCEND910B.flag_cycles


def test_rows_or_columns_whichever_is_cheaper() -> None:
    """Narrow rows go down columns, one repeat a row; wide rows go along."""
    t = ASCEND910B
    assert cycles("__hcc_duplicate_2d(__t(a, 32, 8, 16, 1), 1.0f);") == t.issue_cycles + t.vector_start + 32
    assert cycles("__hcc_duplicate_2d(__t(a, 2, 500, 512, 1), 1.0f);") == t.issue_cycles + 2 * (t.vector_start + 8)
    assert cycles("__hcc_duplicate_2d(__t(a, 8, 128, 128, 1), 1.0f);") == cycles("__hcc_duplicate(a, 1.0f, 1024);")


def test_time_grows_with_size_and_ignores_data() -> None:
    body = "LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_exp(b, a, {}); AFTER(PIPE_V, PIPE_MTE3); __memcpy_async(z, b, 4);"
    times = [cycles(body.format(n)) for n in (1, 64, 100, 200, 500, 1024)]
    assert times == sorted(times) and times[0] < times[-1]
    kernel = _kernel(ADD)

    def run(x: NDArray[np.float32]) -> float:
        z = np.zeros(N, np.float32)
        return emulator.launch(kernel, [gm(x, b"x"), gm(x, b"y"), gm(z, b"z", True), N], 1, ASCEND910B).result.cycles

    assert run(np.full(N, np.nan, np.float32)) == run(np.ones(N, np.float32)) == run(np.ones(N + 1, np.float32)[1:])


def test_cores_share_the_bandwidth_and_l2_is_faster_than_hbm() -> None:
    load = "LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_abs(b, a, 8);"
    t = ASCEND910B
    share = t.l2_bandwidth / (t.clock_ghz * 1e9) / 48
    assert cycles(load, block_dim=48) - cycles(load) == pytest.approx(4096 / share - 4096 / t.gm_read_per_cycle)
    small = replace(t, l2_bytes=N)
    assert cycles(load, block_dim=48, target=small) > cycles(load, block_dim=48)


def test_more_blocks_than_cores_run_in_waves() -> None:
    two = replace(ASCEND910B, vector_cores=2)
    body = "__hcc_duplicate(a, 1.0f, 1024);"
    one = cycles(body, target=two)
    assert [cycles(body, block_dim=n, target=two) / one for n in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]


def test_a_kernel_is_never_faster_than_its_bytes() -> None:
    slow = replace(ASCEND910B, l2_bandwidth=1e9)
    assert cycles("LOAD(a, x);", target=slow) >= 4096 / (1e9 / (slow.clock_ghz * 1e9))


SPREAD = """for (int64_t i = __block_idx; i < n / 1024; i += __block_num) {
LOAD(a, x + i * 1024); LOAD(b, y + i * 1024);
AFTER(PIPE_MTE2, PIPE_V);
__hcc_add(c, a, b, 1024);
AFTER(PIPE_V, PIPE_MTE3);
__memcpy_async(z + i * 1024, c, 4096);
AFTER(PIPE_MTE3, PIPE_MTE2); AFTER(PIPE_MTE3, PIPE_V); }"""


def test_results_and_cycles_do_not_depend_on_the_number_of_threads() -> None:
    runs = [Ran(SPREAD, block_dim=13, size=64 * N, threads=threads, trace=True) for threads in (1, 2, 3, 8) for _ in range(5)]
    assert all(np.array_equal(ran.z, ran.x + ran.y) for ran in runs)
    assert {ran.report.result.cycles for ran in runs} == {runs[0].report.result.cycles}
    assert all(ran.profile == runs[0].profile for ran in runs)


# --- launches -------------------------------------------------------------------------------------------------------------------


def test_python_threads_may_launch_at_once() -> None:
    failures: list[str] = []

    def work(body: str, expected: list[str]) -> None:
        for _ in range(30):
            ran = Ran(body, block_dim=5, size=16 * N)
            if [fault.kind for fault in ran.profile.faults] != expected or (not expected and not np.array_equal(ran.z, ran.x + ran.y)):
                failures.append(str(ran.texts))

    unanswered = "__wait_flag(PIPE_MTE2, PIPE_V, 1); LOAD(a, x);"
    bodies: list[tuple[str, list[str]]] = [(SPREAD, []), (unanswered, ["unpaired flag"]), (SPREAD, [])]
    threads = [threading.Thread(target=work, args=arguments) for arguments in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_forked_child_can_launch() -> None:
    """Threads do not survive a fork, and UB must not be shared with the parent."""
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_emulator as t
assert t.Ran(t.SPREAD, block_dim=4, size=8 * t.N, threads=4).texts == []
child = os.fork()
ran = t.Ran(t.SPREAD, block_dim=4, size=8 * t.N, threads=4)
good = ran.texts == [] and (ran.z == ran.x + ran.y).all()
if child == 0:
    os._exit(0 if good else 1)
sys.exit(0 if good and os.waitpid(child, 0)[1] == 0 else 1)
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=60, check=False).returncode == 0


def test_block_dim_must_be_positive() -> None:
    with pytest.raises(ValueError, match="block_dim is 0; expected 1 or more"):
        Ran(ADD, block_dim=0)


# --- report ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def profile() -> Iterator[Profile]:
    yield Ran(ADD.replace("STORE(c)", "__memcpy_async(z + 1024 * __block_idx, c, 4096)"), block_dim=2, size=2 * N, trace=True).profile


def test_profile_counts(profile: Profile) -> None:
    assert profile.instructions == {"add": 2, "copy": 6}
    assert (profile.bytes_read, profile.bytes_written, profile.ub_peak) == (2 * 8192, 2 * 4096, 12288)
    assert set(profile.utilization) == {"V", "MTE2", "MTE3"} and all(0 < u < 1 for u in profile.utilization.values())
    assert [(use.name, use.offset, use.bytes, use.dtype) for use in profile.memory] == [
        ("a", 0, 4096, "f32"),
        ("b", 4096, 4096, "f32"),
        ("c", 8192, 4096, "f32"),
    ]
    assert profile.cycles is not None and profile.time_us is not None
    assert profile.time_us == pytest.approx(profile.cycles / 1800 + profile.launch_us)


def test_launches_add_up() -> None:
    one = Ran(ADD, trace=True)
    two = Profile.of([one.report, one.report])
    assert one.profile.cycles is not None and two.cycles == 2 * one.profile.cycles
    assert two.launch_us == 2 * one.profile.launch_us and two.instructions == {"add": 2, "copy": 6}
    first, second = [event.start for event in two.events if event.name == "add"]
    assert second - first == pytest.approx(one.profile.time_us)


def test_events_name_line_and_size(profile: Profile) -> None:
    event = next(event for event in profile.events if event.name == "copy")
    assert isinstance(event, Event)
    assert (event.pipe, event.location, event.c_line, event.elements, event.bytes, event.dtype) == ("MTE2", "k.py:1", 1, 1024, 4096, "f32")


def test_trace_opens_in_perfetto(profile: Profile, tmp_path: Path) -> None:
    """Chrome's trace format: complete events with µs, a process a core, a thread a pipe, named."""
    file = tmp_path / "trace.json"
    profile.save_trace(file)
    events = json.loads(file.read_text())["traceEvents"]
    complete = [event for event in events if event["ph"] == "X"]
    assert len(complete) == 8 and all(event["dur"] > 0 and event["ts"] >= 3.0 for event in complete)
    named = {(event["name"], event["pid"], event["tid"]): event["args"]["name"] for event in events if event["ph"] == "M"}
    for event in complete:
        assert named["process_name", event["pid"], 0] == f"core {event['pid']}"
        assert named["thread_name", event["pid"], event["tid"]] == event["cat"]
        assert {"source", "c_line", "elements", "bytes"} <= set(event["args"])
    lanes: dict[tuple[int, int], float] = {}
    for event in complete:
        lane = (event["pid"], event["tid"])
        assert event["ts"] >= lanes.get(lane, 0.0) - 1e-9, "events of a pipe overlap"
        lanes[lane] = event["ts"] + event["dur"]


def test_a_run_without_trace_has_no_timeline() -> None:
    with pytest.raises(ValueError, match="run it with trace=True"):
        Ran(ADD).profile.trace()


def test_host_threads_are_those_of_the_process() -> None:
    assert 1 <= emulator.host_threads() <= (os.cpu_count() or 1)


# --- what several blocks do to one array ------------------------------------------------------------------------------------------

_FILL = "__hcc_duplicate(a, 1.0f, 1024); AFTER(PIPE_V, PIPE_MTE3); "


def test_blocks_that_write_the_same_bytes() -> None:
    innocent(f"{_FILL}__memcpy_async(z + 256 * __block_idx, a, 1024);", block_dim=4)
    assert found(f"{_FILL}__memcpy_async(z + 255 * __block_idx, a, 1024);", block_dim=2) == [
        "cores overlapping in GM: copy on MTE3 of block 1 writes gm:z[1020..1024) written by copy on MTE3 (k.py:1) of block 0; "
        "give each block bytes of its own"
    ]


def test_a_block_that_reads_what_another_writes() -> None:
    body = "__memcpy_async(a, z + 256 * {}, 1024); AFTER(PIPE_MTE2, PIPE_MTE3);\n__memcpy_async(z + 256 * __block_idx, a, 1024);"
    innocent(body.format("__block_idx"), block_dim=4)
    assert found(body.format("((__block_idx + 1) % 2)"), block_dim=2) == [
        "cores overlapping in GM: copy on MTE3 of block 0 writes gm:z[0..1024) read by copy on MTE2 (k.py:1) of block 1; "
        "give each block bytes of its own",
    ]


def test_blocks_side_by_side_in_columns() -> None:
    """Bounds meet, bytes do not."""
    column = _FILL + "__memcpy_async_2d(__t(z + {} * __block_idx, 8, 16, 128, 1), __t(a, 8, 16, 16, 1));"
    innocent(column.format(16), block_dim=8)
    ran = Ran(column.format(15), block_dim=8)
    assert [(fault.block, fault.other_block, fault.times) for fault in ran.profile.faults] == [(1, 0, 56)]


def test_reading_the_same_bytes_is_no_overlap() -> None:
    innocent("LOAD(a, z);", block_dim=8)
    innocent(f"{_FILL}if (__block_idx == 0) STORE(a);", block_dim=8)


def test_an_overlap_names_both_parties() -> None:
    (fault,) = Ran(f"{_FILL}STORE(a);", block_dim=2).profile.faults
    assert (fault.kind, fault.instruction, fault.pipe, fault.block, fault.core) == ("cores overlapping in GM", "copy", "MTE3", 1, 1)
    assert (fault.buffer, fault.bytes, fault.other_block, fault.other_pipe) == ("z", (0, 4096), 0, "MTE3")


# --- data that nobody reads -------------------------------------------------------------------------------------------------------


def test_a_load_that_is_overwritten_before_it_is_read() -> None:
    twice = "LOAD(a, x); __pipe_barrier(PIPE_MTE2);\n{}LOAD(a, y);"
    innocent(twice.format("AFTER(PIPE_MTE2, PIPE_V); __hcc_abs(b, a, 8); AFTER(PIPE_V, PIPE_MTE2); "))
    innocent("LOAD(a, x); __pipe_barrier(PIPE_MTE2); __memcpy_async(a, y, 64);")
    innocent("LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_duplicate(a, 1.0f, 1024);")  # the load was for a loop of no trips
    assert found(twice.format("")) == [
        "overwritten before read: copy on MTE2 writes over ub:a[0..4096) written by copy on MTE2 (k.py:1), and nothing has read it; "
        "is a wait or a second buffer missing?"
    ]


def test_thorough_checks_find_any_lost_write(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "__hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V); __hcc_duplicate(a, 2.0f, 1024);"
    innocent(body)
    monkeypatch.setenv("ASCEND_DEBUG", "1")
    assert [text.split(":")[0] for text in found(body)] == ["overwritten before read"]
    innocent("__hcc_duplicate(a, 1.0f, 1024); __pipe_barrier(PIPE_V); __hcc_abs(a, a, 1024);")


# --- queues -----------------------------------------------------------------------------------------------------------------------

_IN = '__local__ float *t; ascir_queue *q = __queue(float, PIPE_MTE2, PIPE_V, 2, 16384, 256, "q");\n'
_PUT = "t = __queue_alloc(q); __memcpy_async(t, x + 256 * i, 1024); __queue_enqueue(q, t); "
_TAKE = "t = __queue_dequeue(q); __hcc_exp(a + 256 * i, t, 256); __queue_free(q, t); "


def test_a_queue_keeps_copies_ahead_of_the_vector_unit() -> None:
    steps = f"for (int i = 0; i < 4; i++) {{ {_PUT} {_TAKE} }} AFTER(PIPE_V, PIPE_MTE3); STORE(a);"
    innocent(_IN + steps)
    ran = Ran(_IN + steps)
    np.testing.assert_allclose(ran.z, np.exp(ran.x), rtol=1e-6)


@pytest.mark.parametrize(
    ("steps", "twin", "text"),
    [
        (
            "int i = 0; for (int k = 0; k < 3; k++) { " + _PUT + "}",
            "int i = 0; for (int k = 0; k < 3; k++) { " + _PUT + _TAKE + "__pipe_barrier(PIPE_V); }",
            "queue misuse: queue_alloc on q, all of whose 2 buffers are in use; free one first",
        ),
        (
            "int i = 0;" + _PUT + _TAKE + "__queue_enqueue(q, t);",
            "int i = 0;" + _PUT + _TAKE,
            "queue misuse: queue_enqueue on q of a buffer that was not allocated from it",
        ),
        ("int i = 0;" + _TAKE, "int i = 0;" + _PUT + _TAKE, "queue misuse: queue_dequeue on q, in which nothing is enqueued"),
        (
            "int i = 0;" + _PUT + _TAKE + "__queue_free(q, t);",
            "int i = 0;" + _PUT + _TAKE,
            "queue misuse: queue_free on q of a buffer that was not dequeued from it, or is free already",
        ),
        (
            "t = __queue_alloc(q); (void)t;",
            "int i = 0;" + _PUT + _TAKE,
            "leak: a buffer of queue q is allocated and never enqueued when the kernel ends",
        ),
        ("int i = 0;" + _PUT, "int i = 0;" + _PUT + _TAKE, "leak: a buffer of queue q is enqueued and never dequeued when the kernel ends"),
        (
            "int i = 0;" + _PUT + "t = __queue_dequeue(q);",
            "int i = 0;" + _PUT + _TAKE,
            "leak: a buffer of queue q is dequeued and never freed when the kernel ends",
        ),
    ],
)
def test_misuse_of_a_queue(steps: str, twin: str, text: str) -> None:
    innocent(_IN + twin)
    assert text in found(_IN + steps)


def test_queues_share_the_flags_between_two_pipes() -> None:
    opened = "".join(f'__queue(float, PIPE_MTE2, PIPE_V, 2, {16384 + 2048 * k}, 256, "q{k}");\n' for k in range(4))
    innocent(opened.rsplit("__queue", 1)[0])
    assert found(opened) == [
        "queue misuse: queue q3 of depth 2 needs as many flags, and other queues between the two pipes have 6"
    ]
