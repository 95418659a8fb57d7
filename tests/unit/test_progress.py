"""Progress bars: there on a terminal after a second, gone when the work is done, and never anywhere else."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ascir.backend_c import progress
from ascir.backend_c.progress import bar, silenced
from ascir.builder import Kernel

ROOT = Path(__file__).parents[2]

SLOW = """\
// y = 1 + 1 + …: so many instructions that a block takes a while.
#gm = #ascend_memory.space<gm>
#ub = #ascend_memory.space<ub>
ascend.kernel @slow(%x: memref<8xf32, #gm>, %n: index) attributes {block_dim = 8 : i64} {
  %a = ascend_memory.alloc "a" : memref<8xf32, #ub>
  %b = ascend_memory.alloc "b" : memref<8xf32, #ub>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %value = arith.constant 1.0 : f32
  ascend_vector.duplicate %value into %a : f32 into memref<8xf32, #ub>
  scf.for %i = %zero to %n step %one {
    ascend_vector.add %a, %a into %b : memref<8xf32, #ub>, memref<8xf32, #ub> into memref<8xf32, #ub>
  }
}
"""
"""A kernel that takes as long as it is told to."""

COUNTING = """\
import sys, time
from ascir.backend_c.progress import bar
with bar("counting", 20) as done:
    for _ in range(20):
        time.sleep({pause})
        done.advance()
print("after", flush=True)
"""


def on_a_terminal(command: list[str], folder: Path, **environment: str) -> tuple[str, str, int]:
    """What a command draws on a terminal that is its standard error, what it prints, and its exit code."""
    terminal, theirs = pty.openpty()
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100", **environment}
    process = subprocess.Popen([sys.executable, *command], cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    drawn = b""
    while True:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, "the command neither draws nor ends"
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how Linux tells that the other side is closed
            break
        if not piece:
            break
        drawn += piece
    os.close(terminal)
    printed, _ = process.communicate()
    return drawn.decode(), printed.decode(), process.returncode


def script(folder: Path, text: str) -> list[str]:
    (folder / "script.py").write_text(text)
    return ["script.py"]


def test_long_work_shows_a_bar_that_goes_away(tmp_path: Path) -> None:
    drawn, printed, code = on_a_terminal(script(tmp_path, COUNTING.format(pause=0.1)), tmp_path)
    assert (printed, code) == ("after\n", 0)
    assert "counting" in drawn
    shares = [int(share) for share in re.findall(r"(\d+)%", drawn)]
    assert shares == sorted(shares) and len(set(shares)) >= 3
    assert shares[0] >= 30, "it appears after a second of two"
    assert re.search(r"\x1b\[2K[^%]*$", drawn), "the line is erased"
    assert drawn.rindex("\x1b[?25h") > drawn.rindex("\x1b[?25l"), "the cursor is visible"


def test_short_work_shows_none(tmp_path: Path) -> None:
    assert on_a_terminal(script(tmp_path, COUNTING.format(pause=0.01)), tmp_path) == ("", "after\n", 0)


@pytest.mark.parametrize("how", ["variable", "silenced"])
def test_a_bar_can_be_turned_off(tmp_path: Path, how: str) -> None:
    text = COUNTING.format(pause=0.08)
    if how == "silenced":
        text = text.replace("with bar", "from ascir.backend_c.progress import silenced\nwith silenced(), bar")
    environment = {"ASCIR_PROGRESS": "0"} if how == "variable" else {}
    assert on_a_terminal(script(tmp_path, text), tmp_path, **environment) == ("", "after\n", 0)


def test_nothing_is_written_where_there_is_no_terminal(tmp_path: Path) -> None:
    command = [sys.executable, *script(tmp_path, COUNTING.format(pause=0.08) + "assert 'rich' not in sys.modules\n")]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("after\n", "", 0)


def test_a_failure_in_the_middle_leaves_the_terminal_in_order(tmp_path: Path) -> None:
    text = COUNTING.format(pause=0.1).replace("done.advance()", "done.advance()\n        assert done.count.value < 15, 'too far'")
    drawn, printed, code = on_a_terminal(script(tmp_path, text), tmp_path)
    assert (printed, code) == ("", 1)
    assert "counting" in drawn
    assert "\x1b[2K" in drawn[: drawn.index("Traceback")]
    assert drawn.rstrip().endswith("AssertionError: too far")


def instructions_of(seconds: float) -> int:
    """How many instructions a block of the slow kernel runs for all blocks to take so long together."""
    kernel = Kernel.parse(SLOW, "slow")
    x = np.zeros(8, np.float32)
    kernel(x, 1)  # compiled here
    count, taken = 1000, 0.0
    while taken < 0.1:
        count *= 4
        begun = time.perf_counter()
        kernel(x, count)
        taken = time.perf_counter() - begun
    return int(count * seconds / taken)


def test_a_long_launch_counts_its_blocks(tmp_path: Path) -> None:
    (tmp_path / "slow.mlir").write_text(SLOW)
    np.save(tmp_path / "x.npy", np.zeros(8, np.float32))
    command = ["-m", "ascir.cli", "run", "slow.mlir", "--input", "x.npy", str(instructions_of(3))]
    drawn, _, code = on_a_terminal(command, tmp_path)
    assert code == 0
    assert "running slow" in drawn
    assert {"25%", "50%", "62%", "75%"} & set(re.findall(r"\d+%", drawn))
    assert on_a_terminal([*command, "--quiet"], tmp_path)[::2] == ("", 0)


def test_quiet_is_an_option_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    from ascir.cli import COMMANDS, main

    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "-q, --quiet" in capsys.readouterr().out


# the counter, within this process


class Terminal:
    """A standard error that says it is one."""

    def isatty(self) -> bool:
        return True


def test_the_emulator_counts_blocks_as_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from ascir import hybrid_operator

    opened: list[progress.Bar] = []

    def remember(text: str, total: int | None = None) -> progress.Bar:
        opened.append(progress.Bar(text, total))
        return opened[-1]

    monkeypatch.setattr("ascir.backend_c.run.bar", remember)
    def shifted(x: np.ndarray) -> np.ndarray:
        return np.exp(x) + np.sum(x)

    operator = hybrid_operator(shifted, block_dim=5)
    x = np.ones(100_000, np.float32)
    operator(x)
    (shown,) = opened
    assert shown.text.startswith("running ")
    assert shown.total == shown.count.value > 5


def test_without_a_terminal_a_bar_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bar("a") is bar("b", 3)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert bar("a") is not bar("a")
    with silenced():
        assert bar("a") is bar("b", 3)
    monkeypatch.setattr(sys, "stderr", None)
    assert bar("a") is bar("b", 3)
