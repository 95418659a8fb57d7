"""The cycle model: what each of its parts adds, its bounds, and the energy beside it. Kernels are bodies as in test_emulator.py."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascir
from ascir.backend_c.report import Profile
from ascir.machine.target import ASCEND910B, Target
from tests.unit.test_emulator import Ran

ROOT = Path(__file__).parents[2]
T = ASCEND910B
FILL = "__hcc_duplicate(a, 1.0f, 1024); __hcc_duplicate(b, 1.0f, 1024); __pipe_barrier(PIPE_V);\n"


def profile(body: str, block_dim: int = 1, target: Target = T) -> Profile:
    ran = Ran(body, block_dim, target)
    assert ran.texts == []
    return ran.profile


def cycles(body: str, block_dim: int = 1, target: Target = T) -> float:
    found = profile(body, block_dim, target).cycles
    assert found is not None
    return found


# --- banks of UB ----------------------------------------------------------------------------------------------------------------


def _add(a: int, b: int, dst: int, count: int = 64) -> float:
    """Cycles of one repeat of an f32 add of buffers at these bytes of UB, without its start and issue."""
    at_bytes = zip("pqr", (a, b, dst), strict=True)
    buffers = "".join(f'__local__ float *{name} = __alloc_ub(float, {at}, 1024, "{name}");' for name, at in at_bytes)
    fill = f"{buffers} __hcc_duplicate(p, 1.0f, 1024); __hcc_duplicate(q, 1.0f, 1024); __pipe_barrier(PIPE_V); "
    return cycles(f"{fill}__hcc_add(r, p, q, {count});") - cycles(fill) - T.vector_start


BANK = 64 * 1024


@pytest.mark.parametrize(
    ("a", "b", "dst", "expected"),
    [
        (0, BANK + 256, 2 * BANK, 1),  # three banks, the sources half a stripe apart
        (0, BANK, 2 * BANK, 2),  # both sources in the same groups
        (0, 2 * BANK, BANK, 2),
        (0, 8192 + 256, 16384, 2),  # a block read and a block written in one bank
        (0, 8192, 16384, 3),  # two read and one written in one bank
        (0, BANK + 256, 0, 1),  # in place: the write replaces what was read
        (0, BANK + 32, 2 * BANK, 2),  # seven of eight groups are shared
    ],
)
def test_blocks_in_one_bank_group_queue(a: int, b: int, dst: int, expected: int) -> None:
    assert _add(a, b, dst) == expected
    assert _add(a, b, dst, 640) == 10 * expected


def test_slow_arithmetic_hides_conflicts() -> None:
    apart, together = (
        cycles(f'__local__ float *p = __alloc_ub(float, {at}, 1024, "p");{FILL}__hcc_div(p, a, b, 1024);') for at in (2 * BANK, 16384)
    )
    conflict_free = 1024 / 64 * 2
    assert together - apart == 16 * 3 - conflict_free  # 3 cycles a repeat where a division takes 2


def test_one_source_twice_is_read_once() -> None:
    square = cycles(f"{FILL}__hcc_mul(c, a, a, 64);") - cycles(FILL)
    assert square == T.vector_start + 2  # c is in the bank of a


def test_rows_at_a_stride_meet_the_banks_one_by_one() -> None:
    """One repeat a row, half a stripe of 512 B each: rows of p a whole stripe apart stay in place, and clash with every other of a."""
    buffers = (
        f'__local__ float *p = __alloc_ub(float, {BANK}, 16384, "p"), *q = __alloc_ub(float, {2 * BANK}, 1024, "q");'
        f"__hcc_duplicate(p, 1.0f, 16384); {FILL}"
    )
    add = buffers + "__hcc_add_2d(__t(q, 4, 64, 64, 1), __t(a, 4, 64, 64, 1), __t(p, 4, 64, {}, 1));"
    flat, stripe, half = (cycles(add.format(pitch)) for pitch in (64, 128, 192))
    assert half == flat
    assert flat - stripe == 2


# --- queues ---------------------------------------------------------------------------------------------------------------------

_LONG = "__scalar_store(c, 1.0f);" * 400
"""Work of pipe S, which it starts when all before is issued."""


def test_pipe_s_waits_at_a_full_queue() -> None:
    body = "for (int i = 0; i < 40; i++) __hcc_duplicate(a + 8 * i, 1.0f, 8);" + _LONG
    times = [cycles(body, target=replace(T, queue_depth=depth)) for depth in (64, 32, 8, 1)]
    assert times == sorted(times) and times[0] < times[1] < times[2] < times[3]
    one = T.vector_start + 1
    assert times[3] - times[0] == 38 * one - 39 * T.issue_cycles  # the last waits until the one before it begins


def _late_flag(count: int) -> str:
    """V waits for a load that comes behind `count` of its instructions in the program."""
    behind = "__hcc_duplicate(a, 1.0f, 8); __pipe_barrier(PIPE_V);" * (count // 2)
    return f"__wait_flag(PIPE_MTE2, PIPE_V, 0);{behind}LOAD(b, x); __set_flag(PIPE_MTE2, PIPE_V, 0);"


def test_a_wait_that_fills_the_queue_is_a_deadlock() -> None:
    """The flag comes later in the program, and pipe S never gets there."""
    assert Ran(_late_flag(T.queue_depth - 2)).texts == []
    assert Ran(_late_flag(T.queue_depth)).texts == [
        "deadlock: V waits for flag MTE2→V 0 (k.py:1), which nobody sets; pipe S stands at pipe_barrier, for the queue of V is full"
    ]


# --- bandwidth ------------------------------------------------------------------------------------------------------------------


def test_loads_and_stores_share_the_way_of_a_core() -> None:
    """Both directions at once take as long as one after the other, where all cores want the memory; one core alone has room for both."""
    load, store = "LOAD(b, x);", "STORE(a);"
    fill = "__hcc_duplicate(a, 1.0f, 1024); AFTER(PIPE_V, PIPE_MTE3);"
    narrow = replace(T, l2_bandwidth=T.l2_bandwidth / 48)
    way = T.l2_bandwidth / 48 / (T.clock_ghz * 1e9)
    alone = cycles(fill + store, target=narrow)
    assert cycles(fill + store + load, target=narrow) > 8192 / way > alone
    assert cycles(fill + store + load) < 0.8 * (cycles(fill + store) + cycles(load))


def test_the_last_wave_has_the_bandwidth_to_itself() -> None:
    load = "LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_abs(b, a, 8);"
    assert cycles(load, block_dim=49) == pytest.approx(cycles(load, block_dim=48) + cycles(load, block_dim=1))


def test_a_copy_may_use_the_gap_before_one_that_was_timed_first() -> None:
    """The store comes first in the program but begins late; the load is done before it begins."""
    step = "__pipe_barrier(PIPE_V); __hcc_muls(a, a, 1.0f, 1024);"
    slow = f"__hcc_duplicate(a, 1.0f, 1024); {step * 20} AFTER(PIPE_V, PIPE_MTE3); STORE(a);"
    narrow = replace(T, l2_bandwidth=T.l2_bandwidth / 20)
    assert cycles(slow + "LOAD(b, x);", target=narrow) == cycles("LOAD(b, x);" + slow, target=narrow) - T.issue_cycles


_STEPS = ("LOAD(a, x);", "LOAD(b, y);", "__memcpy_async(c, x, 512);", "STORE(a);", "__pipe_barrier(PIPE_V);")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(_STEPS), max_size=12))
def test_no_mix_of_copies_beats_the_bandwidth(steps: list[str]) -> None:
    """Values and order are of no interest here, so neither are faults."""
    slow = replace(T, l2_bandwidth=1e10)
    result = Ran(" ".join(steps), 1, slow).report.result
    moved = result.bytes_read + result.bytes_written
    assert result.cycles >= moved / (slow.l2_bandwidth / (slow.clock_ghz * 1e9)) * (1 - 1e-9)
    assert all(result.cycles >= busy for busy in result.busy)


# --- energy ---------------------------------------------------------------------------------------------------------------------


def test_energy_is_the_sum_of_what_was_done() -> None:
    p = profile("LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_mul(b, a, a, 1024); AFTER(PIPE_V, PIPE_MTE3); STORE(b);")
    e = T.energy
    assert p.energy["L2"] == pytest.approx(8192 * e.l2_byte / 1e6)
    assert p.energy["UB"] == pytest.approx((4096 + 3 * 4096 + 4096) * e.ub_byte / 1e6)
    assert p.energy["arithmetic"] == pytest.approx(1024 * e.multiply["f32"] / 1e6)
    assert p.energy["instructions"] == pytest.approx(3 * e.instruction / 1e6)
    assert "HBM" not in p.energy
    assert p.energy_uj == pytest.approx(sum(p.energy.values()))
    assert f"energy      {p.energy_uj:.3g} µJ (estimate)" in str(p)


def test_what_does_not_fit_in_l2_costs_hbm_too() -> None:
    far = profile("LOAD(a, x); AFTER(PIPE_MTE2, PIPE_V); __hcc_abs(b, a, 8);", target=replace(T, l2_bytes=1024))
    assert far.energy["HBM"] == pytest.approx(4096 * T.energy.hbm_byte / 1e6)


def test_a_faulty_run_has_no_energy() -> None:
    faulty = Ran("__hcc_abs(b, a, 8);").profile
    assert faulty.energy == {} and faulty.energy_uj is None


def test_energy_does_not_depend_on_the_number_of_threads() -> None:
    body = "__hcc_duplicate(a, 1.0f, 1000 + __block_idx);"
    runs = [Ran(body, block_dim=9, threads=threads).profile.energy for threads in (1, 2) * 5]
    assert all(run == runs[0] for run in runs)


# --- against hardware -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_model_is_held_to_the_readings() -> None:
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / "model.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "double buffering of a bandwidth-bound add" in done.stdout


def test_double_buffering_is_worth_little_where_memory_is_the_limit() -> None:
    """hw §6: 1.7 %, and not the half that one core with the memory to itself gains."""
    build: Callable[..., ascir.Kernel] = runpy.run_path(str(ROOT / "examples" / "pipelined_add.py"))["build"]
    x = np.ones(48 * 8 * 8192, np.float32)

    def gain(cores: int) -> float:
        one, two = (build(depth).profile[cores](x, x, np.empty_like(x), x.size).cycles for depth in (1, 2))
        assert one is not None and two is not None
        return one / two

    assert 1.0 <= gain(48) < 1.06
    assert gain(1) > 1.4
