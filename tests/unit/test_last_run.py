"""The newest run and what it took of UB: written when a run is traced or a process ends, shown by `ascir info -t memory`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ascir import KernelFault, hybrid_operator
from ascir.backend_c import last_run
from ascir.backend_c.build import cache_folder
from ascir.builder import Kernel
from ascir.cli import main

ROOT = Path(__file__).parents[2]
X = np.ones((64, 1000), np.float16)


@hybrid_operator
def twice(x: np.ndarray) -> np.ndarray:
    return x + x


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own; what runs was compiled in the shared one."""
    twice(X)
    last_run.write_noted()
    monkeypatch.setenv("ASCIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def info(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of `ascir info -t memory` from the last run on."""
    capsys.readouterr()
    assert main(["info", "-t", "memory"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("target ascend910b\nspace  bytes")
    return printed.partition("\n\n")[2].splitlines()


def test_a_profiled_run_is_told(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert info(capsys) == ["last run: none yet"]
    profile = twice.profile(X)
    title, header, row = info(capsys)
    assert title.startswith(f"last run: {time.strftime('%Y-%m-%d ')}") and title.endswith(" on ascend910b")
    assert header.split() == ["kernel", "block_dim", "space", "peak", "bytes", "share"]
    share = 100 * profile.ub_peak / (192 * 1024)
    assert row.split("  ")[0] == "twice_0"
    assert row.split() == ["twice_0", str(profile.block_dim), "ub", str(profile.ub_peak), f"{share:.1f}", "%", "of", "196608"]
    assert profile.ub_peak > 0
    assert [file.name for file in cache.iterdir()] == ["last_run.json"]


def test_a_plain_run_is_written_at_the_end_only(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice(X)
    assert not cache.exists()
    last_run.write_noted()
    assert info(capsys)[2].startswith("twice_0 ")
    before = last_run.last_run_file().stat().st_mtime_ns
    last_run.write_noted()
    assert last_run.last_run_file().stat().st_mtime_ns == before


def test_another_process_leaves_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    twice(X)
    (tmp_path / "cache").mkdir()
    for entry in cache_folder().iterdir():
        if entry.is_dir():
            (tmp_path / "cache" / entry.name).symlink_to(entry)
    monkeypatch.setenv("ASCIR_CACHE", str(tmp_path / "cache"))
    np.save(tmp_path / "x.npy", np.ones(1000, np.float32))
    command = ["-m", "ascir.cli", "run", str(ROOT / "examples" / "vadd.mlir"), "--input", "x.npy", "x.npy", "1000", "--block-dim", "3"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert info(capsys)[2].split()[:3] == ["vadd", "3", "ub"]


def test_a_faulty_run_is_told_as_such(cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.undo()
    x = np.ones(1000, np.float32)
    kernel = Kernel.parse((ROOT / "examples" / "vadd.mlir").read_bytes(), "vadd", sync="unchecked")
    with pytest.raises(KernelFault):
        kernel(x, x, x.copy(), 1000)
    monkeypatch.setenv("ASCIR_CACHE", str(cache))
    last_run.write_noted()
    assert info(capsys)[0].endswith(" on ascend910b, with faults")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "3", "null", "{}", '{"when": 3}', "\x00", '{"when": "never", "target": "t", "faulty": false, "peaks": []}', "[" * 9999],
)
def test_a_damaged_file_is_a_plain_line(cache: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    cache.mkdir()
    (cache / "last_run.json").write_text(content)
    (line,) = info(capsys)
    assert line.startswith(f"last run: unknown, {cache}/last_run.json cannot be read (")
    assert line.endswith("; the next run writes it anew")
    twice.profile(X)
    assert len(info(capsys)) == 3


def test_a_missing_field_is_a_plain_line(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice.profile(X)
    whole = json.loads((cache / "last_run.json").read_text())
    for field in whole:
        (cache / "last_run.json").write_text(json.dumps({k: v for k, v in whole.items() if k != field}))
        assert info(capsys)[0].startswith("last run: unknown, ")
    for field in whole["peaks"][0]:
        peak = {k: v for k, v in whole["peaks"][0].items() if k != field}
        (cache / "last_run.json").write_text(json.dumps({**whole, "peaks": [peak]}))
        assert info(capsys)[0].startswith("last run: unknown, ")


def test_a_cache_that_cannot_be_written_spoils_no_run(cache: Path) -> None:
    cache.write_text("a file where a folder should be")
    assert twice.profile(X).ub_peak > 0
    np.testing.assert_array_equal(twice(X), X + X)
