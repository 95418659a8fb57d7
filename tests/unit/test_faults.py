"""What the emulator tells the author of a faulty kernel: which fault, in which words, at which line of his Python file or his IR.

Each case is a kernel and its innocent twin, written once: `fixed` is False for the one and True for the other. The comment `# fault`
marks the line that is to blame, `# first` the earlier party of a race. Every kernel stores what it computed, to show that a fault
never changes a value. The checkers themselves are tested in test_emulator.py, on C.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ascir
from ascir import cli
from ascir.backend_c import emulator
from ascir.backend_c.emulator import Gm
from ascir.backend_c.report import Fault, KernelFault, Profile
from ascir.builder import Kernel, KernelBuilder
from ascir.builder.buffers import Buffer
from ascir.machine.target import ASCEND910B

RUNS = 20
"""A checker that finds a fault only sometimes is no checker."""

FILE = Path(__file__).name

Build = Callable[[KernelBuilder, bool], "Buffer | None"]


def arrays_of(kernel: Kernel, number: int) -> list[Any]:
    """Arguments for a kernel: 0, 1, 2… for an array it reads, zeros for one it writes, `number` for every scalar."""
    values: list[Any] = []
    for parameter in kernel.parameters:
        if parameter.extents is None:
            values.append(number)
        else:
            size = [extent if isinstance(extent, int) else 64 for extent in parameter.extents]
            values.append(apart(np.arange(np.prod(size), dtype=np.float32) * (not parameter.output)).reshape(size))
    return values


def apart(values: np.ndarray) -> np.ndarray:
    """The values far from any other argument: what misses an array by a few bytes must not happen to hit the next one."""
    room = np.zeros(values.size + 2048, values.dtype)
    room[1024:-1024] = values
    return room[1024:-1024]


@dataclass(frozen=True)
class Case:
    """A kernel of this file with one fault; `numbers` are what its scalars are when it is at fault and when it is fixed."""

    build: Build
    kind: str
    text: str
    numbers: tuple[int, int]

    def kernel(self, fixed: bool) -> Kernel:
        k = KernelBuilder(self.build.__name__)
        result = self.build(k, fixed)
        if result is not None:
            y = k.gm("y", "float32", (64,), output=True)
            k.barrier()
            k.copy(result[:64], y)
        return k.build(sync="unchecked")

    def line(self, mark: str) -> str:
        """The place of the line that ends in a comment."""
        lines, first = inspect.getsourcelines(self.build)
        (found,) = (number for number, line in enumerate(lines, first) if line.rstrip().endswith(f"# {mark}"))
        return f"{FILE}:{found}"

    @cached_property
    def faulty(self) -> Kernel:
        return self.kernel(fixed=False)

    def launch(self) -> None:
        self.faulty(*arrays_of(self.faulty, self.numbers[0]))


CASES: list[Case] = []


def case(kind: str, text: str, *, faulty: int = 0, fixed: int = 0) -> Callable[[Build], Build]:
    """Declares the function below as a case; in the text, FIRST stands for the place of the earlier party."""

    def add(build: Build) -> Build:
        CASES.append(Case(build, kind, text, (faulty, fixed)))
        return build

    return add


def order(k: KernelBuilder, source: str, destination: str) -> None:
    k.set_flag(source, destination, 0)
    k.wait_flag(source, destination, 0)


# --- races ----------------------------------------------------------------------------------------------------------------------


@case("race", "exp on V reads ub:a[0..256) written by copy on MTE2 (FIRST); no flag MTE2→V between")
def read_after_write(k: KernelBuilder, fixed: bool) -> Buffer:
    x, a, b = k.gm("x", "float32", 64), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.copy(x, a)  # first
    if fixed:
        order(k, "MTE2", "V")
    k.exp(a, out=b)  # fault
    return b


@case("race", "copy on MTE2 writes ub:a[0..256) read by exp on V (FIRST); no flag V→MTE2 between")
def write_after_read(k: KernelBuilder, fixed: bool) -> Buffer:
    x, a, b = k.gm("x", "float32", 64), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.copy(x, a)
    order(k, "MTE2", "V")
    k.exp(a, out=b)  # first
    if fixed:
        order(k, "V", "MTE2")
    k.barrier("MTE2")
    k.copy(x, a)  # fault
    return b


@case("race", "copy on MTE2 writes ub:a[0..256) written by duplicate on V (FIRST); no flag V→MTE2 between")
def write_after_write(k: KernelBuilder, fixed: bool) -> Buffer:
    x, a = k.gm("x", "float32", 64), k.alloc("a", 64, "float32")
    k.duplicate(0.0, out=a)  # first
    if fixed:
        order(k, "V", "MTE2")
    k.copy(x, a)  # fault
    return a


@case("race", "exp on V reads ub:a[0..256) written by duplicate on V (FIRST); no barrier on V between")
def within_pipe_v(k: KernelBuilder, fixed: bool) -> Buffer:
    a, b = k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.duplicate(1.0, out=a)  # first
    if fixed:
        k.barrier("V")
    k.exp(a, out=b)  # fault
    return b


@case("race", "copy on MTE3 reads ub:a[0..256) written by duplicate on V (FIRST); no flag V→MTE3 between")
def stored_too_early(k: KernelBuilder, fixed: bool) -> Buffer:
    a, z = k.alloc("a", 64, "float32"), k.gm("z", "float32", 64, output=True)
    k.duplicate(1.0, out=a)  # first
    if fixed:
        order(k, "V", "MTE3")
    k.copy(a, z)  # fault
    return a


@case("race", "copy on MTE2 reads gm:z[0..256) written by copy on MTE3 (FIRST); no flag MTE3→MTE2 between")
def through_global_memory(k: KernelBuilder, fixed: bool) -> Buffer:
    a, b, z = k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32"), k.gm("z", "float32", 64, output=True)
    k.duplicate(1.0, out=a)
    order(k, "V", "MTE3")
    k.copy(a, z)  # first
    if fixed:
        order(k, "MTE3", "MTE2")
    k.copy(z, b)  # fault
    return b


@case("race", "scalar_load on S reads ub:a[12..16) written by copy on MTE2 (FIRST); no flag MTE2→S between")
def scalar_read_too_early(k: KernelBuilder, fixed: bool) -> Buffer:
    x, a, b = k.gm("x", "float32", 64), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.copy(x, a)  # first
    if fixed:
        order(k, "MTE2", "S")
    number = k.load(a, 3)  # fault
    k.duplicate(number, out=b)
    return b


@case("race", "copy on MTE2 writes ub:a[0..256) read by exp on V (FIRST); no flag V→MTE2 between")
def across_iterations(k: KernelBuilder, fixed: bool) -> Buffer:
    x, a, b = k.gm("x", "float32", 64), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    with k.for_(2):
        k.barrier("MTE2")
        k.copy(x, a)  # fault
        order(k, "MTE2", "V")
        k.barrier("V")
        k.exp(a, out=b)  # first
        if fixed:
            order(k, "V", "MTE2")
    return b


# --- memory ---------------------------------------------------------------------------------------------------------------------


@case("uninitialised read", "exp on V reads ub:a[128..256), which the kernel has not written; fill it first (copy, duplicate)")
def half_filled(k: KernelBuilder, fixed: bool) -> Buffer:
    x, a, b = k.gm("x", "float32", 64), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    filled = 64 if fixed else 32
    k.copy(x[:filled], a[:filled])
    order(k, "MTE2", "V")
    k.exp(a, out=b)  # fault
    return b


@case("overrun", "duplicate on V writes ub:a[0..260) (the destination), but the buffer has 256 bytes", faulty=65, fixed=64)
def past_a_buffer(k: KernelBuilder, fixed: bool) -> Buffer:
    n, a, b = k.scalar("n"), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.duplicate(2.0, out=b)
    k.duplicate(1.0, out=a[:n])  # fault
    return b


@case("overrun", "copy on MTE2 reads gm:x[4..260) (operand a), but the buffer has 256 bytes", faulty=1, fixed=0)
def past_an_array(k: KernelBuilder, fixed: bool) -> Buffer:
    x, n, a, b = k.gm("x", "float32"), k.scalar("n"), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.duplicate(2.0, out=b)
    k.copy(x[n : n + 64], a)  # fault
    return b


@case("overrun", "copy on MTE3 writes gm:z[-32..224) (the destination), but the buffer has 256 bytes", faulty=-8, fixed=0)
def before_an_array(k: KernelBuilder, fixed: bool) -> Buffer:
    z, n, a = k.gm("z", "float32", output=True), k.scalar("n"), k.alloc("a", 64, "float32")
    k.duplicate(2.0, out=a)
    order(k, "V", "MTE3")
    k.copy(a, z[n : n + 64])  # fault
    return a


@case("overrun", "copy on MTE2 reads gm:x[4000000000..4000000256) (operand a), but the buffer has 256 bytes", faulty=10**9, fixed=0)
def far_from_every_array(k: KernelBuilder, fixed: bool) -> Buffer:
    x, n, a, b = k.gm("x", "float32"), k.scalar("n"), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.duplicate(2.0, out=b)
    k.copy(x[n : n + 64], a)  # fault
    return b


@case(
    "misaligned",
    "abs on V reads ub:a[4..36) (operand a), which starts at byte 4 of ub; expected a multiple of 32",
    faulty=1,
    fixed=8,
)
def between_blocks(k: KernelBuilder, fixed: bool) -> Buffer:
    n, a, b = k.scalar("n"), k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")
    k.duplicate(1.0, out=a)
    k.duplicate(2.0, out=b)
    k.barrier("V")
    k.abs(a[n : n + 8], out=b[:8])  # fault
    return b


@case(
    "illegal operand",
    "abs on V writes ub:a[32..288), which overlaps operand a without coinciding with it",
    faulty=8,
    fixed=64,
)
def shifted_by_a_block(k: KernelBuilder, fixed: bool) -> Buffer:
    n, a = k.scalar("n"), k.alloc("a", 128, "float32")
    k.duplicate(-1.0, out=a)
    k.barrier("V")
    k.abs(a[:64], out=a[n : n + 64])  # fault
    return a


# --- flags ----------------------------------------------------------------------------------------------------------------------


@case("duplicate flag", "set_flag MTE2→V 0 is set again before a wait_flag took the first (FIRST); wait in between or use another id")
def set_twice(k: KernelBuilder, fixed: bool) -> None:
    k.set_flag("MTE2", "V", 0)  # first
    k.set_flag("MTE2", "V", 1 if fixed else 0)  # fault
    k.wait_flag("MTE2", "V", 0)
    if fixed:
        k.wait_flag("MTE2", "V", 1)


@case("left-over flag", "flag V→MTE3 1 is still set when the kernel ends; add the wait_flag it was meant for, or remove the set_flag")
def never_waited_for(k: KernelBuilder, fixed: bool) -> None:
    k.set_flag("V", "MTE3", 1)  # fault
    if fixed:
        k.wait_flag("V", "MTE3", 1)


@case("reserved flag", "wait_flag V→MTE3 6: id 6 is reserved for the vendor's runtime; use another")
def set_by_the_vendor(k: KernelBuilder, fixed: bool) -> None:
    k.set_flag("V", "MTE3", 5)
    k.wait_flag("V", "MTE3", 5)
    if not fixed:
        k.set_flag("V", "MTE3", 6)
        k.wait_flag("V", "MTE3", 6)  # fault


@case("unpaired flag", "V waits for flag MTE2→V 0 (FAULT); no set_flag MTE2→V 0 belongs to it: on hardware the core hangs here")
def never_set(k: KernelBuilder, fixed: bool) -> None:
    if fixed:
        k.set_flag("MTE2", "V", 0)
    k.wait_flag("MTE2", "V", 0)  # fault


@case("deadlock", "S waits for flag V→S 0 (FAULT), which nobody sets")
def scalar_waits_for_ever(k: KernelBuilder, fixed: bool) -> None:
    if fixed:
        k.set_flag("V", "S", 0)
    k.wait_flag("V", "S", 0)  # fault


@case("deadlock", "V waits for flag MTE3→V 0 (FAULT); MTE3 waits for flag V→MTE3 0 (FIRST), and none of these flags is set")
def each_other(k: KernelBuilder, fixed: bool) -> None:
    if fixed:
        k.set_flag("MTE3", "V", 0)
    k.wait_flag("MTE3", "V", 0)  # fault
    if fixed:
        k.set_flag("V", "MTE3", 0)
    k.wait_flag("V", "MTE3", 0)  # first
    if not fixed:
        k.set_flag("V", "MTE3", 0)
        k.set_flag("MTE3", "V", 0)


# --- what is told ---------------------------------------------------------------------------------------------------------------

NAMES = [case.build.__name__ for case in CASES]


def faults_of(launch: Callable[[], object]) -> tuple[Fault, ...]:
    with pytest.raises(KernelFault) as raised:
        launch()
    return raised.value.faults


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_fault_is_named_at_its_line_on_every_run(case: Case) -> None:
    text = case.text
    for name in ("FIRST", "FAULT"):
        text = text.replace(name, case.line(name.lower())) if name in text else text
    expected = (case.kind, f"{case.kind}: {text}", case.line("fault"))
    runs = [faults_of(case.launch) for _ in range(RUNS)]
    assert all(faults == runs[0] for faults in runs)
    assert expected in [(fault.kind, fault.text, fault.location) for fault in runs[0]]
    assert {fault.kind for fault in runs[0]} == {case.kind}


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_its_twin_is_silent_and_has_cycles(case: Case) -> None:
    kernel = case.kernel(fixed=True)
    for _ in range(RUNS):
        profile = kernel.profile(*arrays_of(kernel, case.numbers[1]))
        assert profile.faults == []
        assert profile.cycles is not None


def test_two_lines_of_a_race_are_given_apart() -> None:
    race = next(c for c in CASES if c.build is read_after_write)
    (fault,) = faults_of(race.launch)
    assert (fault.instruction, fault.pipe, fault.buffer, fault.bytes) == ("exp", "V", "a", (0, 256))
    assert (fault.other_instruction, fault.other_pipe, fault.other_location) == ("copy", "MTE2", race.line("first"))


def test_the_message_lists_the_faults_with_their_lines() -> None:
    race = next(c for c in CASES if c.build is read_after_write)
    with pytest.raises(KernelFault) as raised:
        race.launch()
    (fault,) = raised.value.faults
    assert str(raised.value) == f"the emulator found a fault:\n  {race.line('fault')}: {fault.text}"


# --- IR that Python's face would not let pass ------------------------------------------------------------------------------------

A, PART = "memref<64xf32, #ascend_memory.space<ub>>", "memref<?xf32, #ascend_memory.space<ub>>"
EIGHT, ROWS = "memref<8xf32, #ascend_memory.space<ub>>", "memref<8x8xf32, #ascend_memory.space<ub>>"
FAR = "memref<8x8xf32, strided<[16, 1]>, #ascend_memory.space<ub>>"
APART = "memref<8xf32, strided<[?]>, #ascend_memory.space<ub>>"

TEXT = f"""\
ascend.kernel @{{name}}(%x: memref<?x8xf32, #ascend_memory.space<gm>>, %n: index) {{{{
  %a = ascend_memory.alloc "a" : memref<64xf32, #ascend_memory.space<ub>>
  %one = arith.constant 1.0 : f32
  %part = ascend_memory.view %a at [0] sizes [%n] strides [1] : {A} to {PART}
  ascend_vector.duplicate %one into %a : f32 into {A}
  {{statement}}
}}}}
"""


@pytest.mark.parametrize(
    ("statement", "number", "twin", "text"),
    [
        (
            f"ascend_vector.add %a, %part into %a : {A}, {PART} into {A}",
            56,
            64,
            "illegal operand: add on V: operand b has 56 columns; expected 64",
        ),
        (
            f"ascend_vector.muls %part, %one into %part : {PART}, f32 into {PART}",
            -8,
            0,
            "illegal operand: muls on V: the destination has -8 elements; expected 0 or more",
        ),
    ],
    ids=["shapes", "negative count"],
)
def test_extents_that_only_the_run_knows(statement: str, number: int, twin: int, text: str) -> None:
    kernel = Kernel.parse(TEXT.format(name="extents", statement=statement), filename="dir/extents.mlir")
    x = np.zeros((1, 8), np.float32)
    for _ in range(RUNS):
        (fault,) = faults_of(lambda: kernel(x, number))
        assert (fault.text, fault.location) == (text, "extents.mlir:6")
        kernel(x, twin)


def test_a_copy_compares_both_ends() -> None:
    """The destination's window is smaller than what is copied."""
    row = "memref<64xf32, #ascend_memory.space<gm>>"
    view = f"%row = ascend_memory.view %x at [0] sizes [64] strides [1] : memref<?x8xf32, #ascend_memory.space<gm>> to {row}"
    text = TEXT.format(name="both_ends", statement=f"{view}\n  ascend_memory.copy %row to %part : {row} to {PART}")
    kernel, x = Kernel.parse(text, filename="k.mlir"), np.zeros((8, 8), np.float32)
    (fault,) = faults_of(lambda: kernel(x, 56))
    assert (fault.text, fault.location) == ("illegal operand: copy on MTE2: operand a has 64 columns; expected 56", "k.mlir:7")
    kernel(x, 64)


def test_a_stride_that_only_the_run_knows() -> None:
    """Windows whose elements lie apart are not taken for contiguous ones."""
    spread = "memref<8xf32, strided<[?]>, #ascend_memory.space<ub>>"
    view = f"%spread = ascend_memory.view %a at [0] sizes [8] strides [%n] : {A} to {spread}"
    kernel = Kernel.parse(
        TEXT.format(name="apart", statement=f"{view}\n  ascend_vector.exp %spread into %spread : {spread} into {spread}"),
        filename="k.mlir",
    )
    x = np.zeros((1, 8), np.float32)
    (fault,) = faults_of(lambda: kernel(x, 2))
    text = "illegal operand: exp on V: elements of the destination lie 2 apart; expected 1"
    assert (fault.text, fault.location) == (text, "k.mlir:7")
    kernel(x, 1)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            f"ascend_vector.block_broadcast %eight into %far : {EIGHT} into {FAR}",
            "c: ascend_vector.block_broadcast writes b with strides [16, 1]; this instruction knows [8, 1] only",
        ),
        (
            f"ascend_vector.reduce_sum %rows into %apart work %a axis 1 : {ROWS} into {APART} work {A}",
            "c: ascend_vector.reduce_sum writes b with strides [n]; this instruction knows [1] only",
        ),
    ],
    ids=["block_broadcast", "reduce_sum"],
)
def test_strides_that_an_instruction_cannot_express_are_refused(statement: str, message: str) -> None:
    views = f"""
  %b = ascend_memory.alloc "b" : memref<128xf32, #ascend_memory.space<ub>>
  %eight = ascend_memory.view %a at [0] sizes [8] strides [1] : {A} to {EIGHT}
  %rows = ascend_memory.view %a at [0] sizes [8, 8] strides [8, 1] : {A} to {ROWS}
  %far = ascend_memory.view %b at [0] sizes [8, 8] strides [16, 1] : memref<128xf32, #ascend_memory.space<ub>> to {FAR}
  %apart = ascend_memory.view %b at [0] sizes [8] strides [%n] : memref<128xf32, #ascend_memory.space<ub>> to {APART}
  """
    kernel = Kernel.parse(TEXT.format(name="fixed", statement=views + statement))
    with pytest.raises(ascir.AscirError) as raised:
        _ = kernel.c_source
    assert raised.value.message == message


# --- what a faulty run leaves ----------------------------------------------------------------------------------------------------


def raw(case: Case, *, checks: bool) -> tuple[Profile, list[NDArray[Any]]]:
    """The profile of a faulty kernel and its arrays after the run."""
    runner = case.faulty.compiled.runner
    values = arrays_of(case.faulty, case.numbers[0])
    arguments = [Gm(v.ctypes.data, v.nbytes, b"") if isinstance(v, np.ndarray) else v for v in values]
    report = emulator.launch(runner.kernel, arguments, 1, ASCEND910B, checks=checks)
    return Profile.of([report]), [v for v in values if isinstance(v, np.ndarray)]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_fault_changes_no_value_and_hides_the_cycles(case: Case) -> None:
    profile, arrays = raw(case, checks=True)
    assert [fault.kind for fault in profile.faults]
    assert (profile.cycles, profile.time_us, profile.utilization) == (None, None, {})
    _, unchecked = raw(case, checks=False)
    for array, other in zip(arrays, unchecked, strict=True):
        assert array.tobytes() == other.tobytes()


def test_what_is_stored_after_a_fault_is_what_was_computed() -> None:
    """So that the comparison above compares something."""
    race = next(c for c in CASES if c.build is read_after_write)
    x, y = raw(race, checks=True)[1]
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_an_operator_with_a_fault_returns_no_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled by passes that place no flags and miss none."""
    monkeypatch.setattr("ascir.passes.insert_sync.synchronise", _no_flags)
    monkeypatch.setattr("ascir.passes.verify_sync.check", _no_problems)

    @ascir.hybrid_operator
    def double(x: Any) -> Any:
        return x + x

    x = np.arange(64, dtype=np.float32)
    assert {fault.kind for fault in faults_of(lambda: double(x))} == {"race"}
    assert {fault.kind for fault in faults_of(lambda: double.profile(x))} == {"race"}


def _no_flags(kernel: object) -> None: ...


def _no_problems(kernel: object) -> list[object]:
    return []


def test_the_command_line_saves_and_shows_no_result_of_a_faulty_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    race = next(c for c in CASES if c.build is read_after_write)
    source, x, y = (tmp_path / name for name in ("race.mlir", "x.npy", "y.npy"))
    source.write_text(str(race.faulty))
    np.save(x, np.arange(64, dtype=np.float32))
    command = ["run", str(source), "--input", str(x), "--output", str(y), "--sync", "unchecked"]
    assert cli.main([*command, "--profile", "--trace", str(tmp_path / "t.json")]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("ascir: the emulator found a fault:\n  race.mlir:")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["race.mlir", "x.npy"]


# --- who orders the pipes ---------------------------------------------------------------------------------------------------------


def test_without_flags_of_its_own_a_kernel_is_unordered_only_if_unchecked() -> None:
    text = str(next(c for c in CASES if c.build is write_after_write).kernel(fixed=False))
    text = "\n".join(line for line in text.splitlines() if "barrier" not in line)
    arguments: Sequence[Any] = (np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
    Kernel.parse(text)(*arguments)
    np.testing.assert_array_equal(arguments[1], arguments[0])
    assert {fault.kind for fault in faults_of(lambda: Kernel.parse(text, sync="unchecked")(*arguments))} == {"race"}
    with pytest.raises(ascir.AscirError, match="verify-sync: race"):
        Kernel.parse(text, sync="manual")(*arguments)


def test_an_unknown_way_to_order_is_refused() -> None:
    text = str(next(c for c in CASES if c.build is never_set).kernel(fixed=True))
    with pytest.raises(ascir.AscirError, match="unknown sync 'uncheckd'; did you mean 'unchecked'\\?; expected auto, manual, unchecked"):
        _ = Kernel.parse(text, sync="uncheckd").compiled
