"""KernelBuilder's kernels through the passes, the C back end and the emulator."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ascir import cli
from ascir.backend_c.report import KernelFault
from ascir.builder import Kernel, KernelBuilder
from ascir.diagnostics import AscirError


def scaled_add(sync: str = "auto", *, forget: str = "") -> Kernel:
    """z = 2 x + y over tiles; `sync="manual"` with every flag by hand, but for the one to `forget`."""
    k = KernelBuilder("scaled_add")
    x, y, z = k.gm("x", "float32"), k.gm("y", "float32"), k.gm("z", "float32", output=True)
    n = k.scalar("n")
    tile = 64
    xt, yt = k.alloc("xt", tile, "float32"), k.alloc("yt", tile, "float32")

    def flags(name: str, source: str, destination: str) -> None:
        if sync == "manual" and forget != name:
            k.set_flag(source, destination, 0)
            k.wait_flag(source, destination, 0)

    with k.for_(k.block_idx * tile, n, k.block_num * tile) as i:
        count = k.min(tile, n - i)
        k.copy(x[i : i + count], xt[:count])
        k.copy(y[i : i + count], yt[:count])
        flags("loaded", "MTE2", "V")
        k.muls(xt[:count], 2.0, out=xt[:count])
        if sync == "manual" and forget != "barrier":
            k.barrier("V")
        k.add(xt[:count], yt[:count], out=yt[:count])
        flags("computed", "V", "MTE3")
        k.copy(yt[:count], z[i : i + count])
        flags("free", "V", "MTE2")
        flags("stored", "MTE3", "MTE2")
    return k.build(sync=sync)


def test_stages_and_c_are_those_of_the_pipeline() -> None:
    kernel = scaled_add()
    assert kernel.stages == ["build", "plan-memory", "insert-sync", "verify-sync", "verify-dominance"]
    assert "set_flag" not in kernel.ir("plan-memory")
    assert "ascend_memory.set_flag mte2 to v" in kernel.ir("insert-sync")
    assert kernel.ir("build") == str(kernel)
    statement = next(line for line in kernel.c_source.splitlines() if "__hcc_add(" in line)
    assert "__hcc_add(yt, xt, yt, count);  // test_builder_launch.py:" in statement


def test_manual_flags_pass_when_they_are_complete() -> None:
    assert "__pipe_barrier(PIPE_V);" in scaled_add("manual").c_source


@pytest.mark.parametrize(
    ("forgotten", "message"),
    [
        ("loaded", r"muls on V \(.*\) reads xt written by ascend_memory\.copy on MTE2 \(.*\); no flag MTE2→V between"),
        ("barrier", r"add on V \(.*\) reads xt written by ascend_vector\.muls on V \(.*\); no barrier on V between"),
        ("computed", r"copy on MTE3 \(.*\) reads yt written by ascend_vector\.add on V \(.*\); no flag V→MTE3 between"),
        ("stored", r"copy on MTE2 \(.*\) overwrites yt read by ascend_memory\.copy on MTE3 \(.*\) in an earlier iteration"),
    ],
)
def test_a_forgotten_flag_is_refused(forgotten: str, message: str) -> None:
    with pytest.raises(AscirError, match=message):
        _ = scaled_add("manual", forget=forgotten).compiled


# on the emulator


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 129, 13243])
def test_outputs_are_written_in_place(n: int) -> None:
    kernel = scaled_add()
    x, y = np.arange(n, dtype="f4"), np.full(n, 0.25, "f4")
    z = np.full(n, np.nan, "f4")
    kernel[3](x, y, z, n)
    np.testing.assert_array_equal(z, 2 * x + y)


def test_manual_and_automatic_synchronisation_compute_the_same() -> None:
    x, y = np.arange(1000, dtype="f4"), np.ones(1000, "f4")
    by_hand, automatic = np.zeros(1000, "f4"), np.zeros(1000, "f4")
    scaled_add("manual")[2](x, y, by_hand, 1000)
    scaled_add()[2](x, y, automatic, 1000)
    np.testing.assert_array_equal(by_hand, automatic)


def test_a_strided_input_is_copied_and_the_report_says_so() -> None:
    wide = np.arange(512, dtype="f4").reshape(256, 2)
    x, z = wide[:, 0], np.zeros(256, "f4")
    profile = scaled_add().profile[2](x, np.ascontiguousarray(x), z, 256)
    np.testing.assert_array_equal(z, 3 * x)
    assert profile.copied == ("x: not C-contiguous",)


def test_a_profile_counts_cycles_and_both_spellings_agree() -> None:
    kernel, x, z = scaled_add(), np.arange(256, dtype="f4"), np.zeros(256, "f4")
    first = kernel.profile[2](x, x.copy(), z, 256)
    second = kernel.profile(x, x.copy(), z, 256, block_dim=2)
    assert first.cycles and first.cycles == second.cycles
    assert {event.pipe for event in first.events} == {"MTE2", "V", "MTE3"}
    assert all(event.location.startswith("test_builder_launch.py:") for event in first.events)


def test_an_overrun_is_a_fault_at_its_line() -> None:
    x, z = np.zeros(64, "f4"), np.zeros(64, "f4")
    with pytest.raises(KernelFault, match=r"test_builder_launch\.py:\d+"):
        scaled_add()[1](x, x.copy(), z, 65)


def test_a_printed_kernel_goes_through_ascir_opt_and_ascir_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, file = scaled_add(), tmp_path / "scaled_add.mlir"
    file.write_text(str(kernel))
    command = [sys.executable, "-m", "ascir.tools.ascir_opt", file]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == str(kernel).strip()
    x, y = np.arange(100, dtype="f4"), np.ones(100, "f4")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    inputs, output = [str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "100"], tmp_path / "z.npy"
    assert cli.main(["run", str(file), "--input", *inputs, "--output", str(output), "--block-dim", "2"]) == 0
    np.testing.assert_array_equal(np.load(output), 2 * x + y)
    assert capsys.readouterr().out.startswith("z.npy: float32[100] = 1 3 5")


def test_the_vector_add_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "examples" / "vadd.py"
    runpy.run_path(str(example), run_name="__main__")
    assert re.findall("^(.*?)  +exact on 100003 elements", capsys.readouterr().out, re.MULTILINE) == [
        "NumPy function",
        "KernelBuilder",
        "textual IR",
    ]
