"""The `ascir` command: what it runs, what it prints, and one message for each mistake."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ascir.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
VADD = str(ROOT / "examples" / "vadd.mlir")

PYTHON = """\
import numpy as np
from ascir import hybrid_operator

@hybrid_operator
def scale(x, factor=2):
    return x * factor, x - 1

def plain(x):
    return np.exp(x)

def broken(x):
    return x + undefined
"""

TENSORS = """\
func.func @negate(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = ascend.neg %x : tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}
"""


class Shell:
    """A folder with files in it, and the command run there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        self.folder = folder
        self.capsys = capsys

    def file(self, name: str, content: str) -> str:
        (self.folder / name).write_text(content)
        return str(self.folder / name)

    def array(self, name: str, values: np.ndarray) -> str:
        np.save(self.folder / name, values)
        return str(self.folder / name)

    def load(self, name: str) -> np.ndarray:
        return np.load(self.folder / name)

    def run(self, *arguments: str, code: int = 0) -> str:
        assert main(arguments) == code
        captured = self.capsys.readouterr()
        assert not (captured.out if code else captured.err)
        return captured.err if code else captured.out


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


# run


def test_a_python_operator_runs(shell: Shell) -> None:
    file = shell.file("ops.py", PYTHON)
    x = np.arange(100, dtype=np.float32)
    printed = shell.run("run", f"{file}:scale", "--input", shell.array("x.npy", x), "--output", "y.npy", "z.npy")
    assert "y.npy: float32[100] = 0 2 4 6 8 10 …" in printed
    np.testing.assert_array_equal(shell.load("y.npy"), 2 * x)
    np.testing.assert_array_equal(shell.load("z.npy"), x - 1)


def test_numbers_are_arguments_and_unsaved_results_are_shown(shell: Shell) -> None:
    file = shell.file("ops.py", PYTHON)
    x = shell.array("x.npy", np.arange(3, dtype=np.int32))
    assert "result 0: int32[3] = 0 5 10\n" in shell.run("run", file, "--input", x, "5")


def test_a_plain_function_runs_when_it_is_named(shell: Shell) -> None:
    file = shell.file("ops.py", PYTHON)
    shell.run("run", f"{file}:plain", "--input", shell.array("x.npy", np.zeros(5, np.float32)), "--output", "y.npy")
    np.testing.assert_array_equal(shell.load("y.npy"), np.ones(5, np.float32))


def test_a_function_in_textual_ir_runs(shell: Shell) -> None:
    file = shell.file("f.mlir", TENSORS)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    shell.run("run", file, "--input", shell.array("x.npy", x), "--output", "y.npy", "--block-dim", "2")
    np.testing.assert_array_equal(shell.load("y.npy"), -x)


def test_a_kernel_in_textual_ir_runs_with_a_profile_and_a_timeline(shell: Shell) -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 10_000), dtype=np.float32)
    inputs = (shell.array("x.npy", x), shell.array("y.npy", y), "10000")
    printed = shell.run(
        "run", VADD, "--input", *inputs, "--output", "z.npy", "--block-dim", "3", "--profile", "--trace", "t.json"
    )
    np.testing.assert_array_equal(shell.load("z.npy"), x + y)
    assert "cycles" in printed
    assert json.loads((shell.folder / "t.json").read_text())


def test_a_kernel_takes_its_outputs_as_inputs_too(shell: Shell) -> None:
    x = shell.array("x.npy", np.ones(8, np.float32))
    z = shell.array("z0.npy", np.full(16, 7, np.float32))
    shell.run("run", f"{VADD}:vadd", "--input", x, x, z, "8", "--output", "z.npy")
    np.testing.assert_array_equal(shell.load("z.npy"), [2] * 8 + [7] * 8)
    np.testing.assert_array_equal(shell.load("z0.npy"), [7] * 16)


def test_bfloat16_survives_the_trip_through_files(shell: Shell) -> None:
    import ml_dtypes

    x = np.arange(4).astype(ml_dtypes.bfloat16)
    shell.run("run", shell.file("ops.py", PYTHON), "--input", shell.array("x.npy", x), "--output", "y.npy")
    np.testing.assert_array_equal(shell.load("y.npy").view(ml_dtypes.bfloat16).astype(np.float32), [0, 2, 4, 6])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{py}:scal", "--input", "{x}"], "has no @hybrid_operator or ascir.Kernel 'scal'; did you mean 'scale'?"),
        (["{py}", "--input", "{x}", "--output", "a", "b", "c"], "gives 2 results, got 3 names"),
        (["{py}"], "missing a required argument: 'x'"),
        (["ops.pie"], "cannot read 'ops.pie': no such file; did you mean 'ops.py'?"),
        (["{py}", "--input", "y.npy"], "cannot read 'y.npy': no such file; did you mean 'x.npy'?"),
        (["{py}", "--input", "{py}"], "as a NumPy array"),
        (["{vadd}", "--input", "{x}", "{x}"], "vadd takes x: float32[?], y: float32[?], z: float32[?] (output), n: int64: 3 inputs"),
        (["{tensors}", "--input", "{x}"], "@negate takes %x: tensor<?x3xf32>; got float32[3] for %x"),
        (["{tensors}"], "@negate takes %x: tensor<?x3xf32>; got 0 inputs"),
        (["{tensors}:negat", "--input", "{x}"], "has no function or kernel 'negat'; did you mean 'negate'?"),
        (["{py}", "--inptu", "{x}"], "unknown option '--inptu'; did you mean '--input'?"),
        (["{py}", "--input", "{x}", "--block-dim", "0"], "argument --block-dim: a number of cores is 1 or more, got '0'"),
    ],
)
def test_a_mistake_in_run_is_one_message(shell: Shell, arguments: list[str], message: str) -> None:
    places = {
        "py": shell.file("ops.py", PYTHON),
        "tensors": shell.file("f.mlir", TENSORS),
        "x": shell.array("x.npy", np.arange(3, dtype=np.float32)),
        "vadd": VADD,
    }
    assert main(["run", *(a.format(**places) for a in arguments)]) in (1, 2)
    complaint = shell.capsys.readouterr().err
    assert complaint.startswith("ascir: ")
    assert message in complaint
    assert "Traceback" not in complaint


def test_an_error_in_the_authors_file_names_its_line(shell: Shell) -> None:
    file = shell.file("ops.py", PYTHON)
    x = shell.array("x.npy", np.arange(3, dtype=np.float32))
    complaint = shell.run("run", f"{file}:broken", "--input", x, code=1)
    assert complaint.startswith(f"{file}:12:16: error: NameError: name 'undefined' is not defined\n    return x + undefined\n")
    unparsable = shell.file("no.py", "def f(x:\n")
    assert shell.run("run", unparsable, code=1).startswith(f"{unparsable}:1:6: error: SyntaxError")
    assert shell.run("run", shell.file("no.mlir", "func.func @f("), code=1).startswith(f"{shell.folder}/no.mlir:1:14: error:")


# compile


def test_compile_prints_c_or_a_stage(shell: Shell) -> None:
    file = shell.file("ops.py", PYTHON)
    assert "__hcc_muls(" in shell.run("compile", f"{file}:scale", "--input", "float32[8,100]")
    assert "ascend_memory.set_flag" in shell.run("compile", VADD, "--stage", "insert-sync")
    assert shell.run("compile", VADD, "-o", "vadd.c") == ""
    assert "__hcc_add(" in (shell.folder / "vadd.c").read_text()
    assert "did you mean 'insert-sync'?" in shell.run("compile", VADD, "--stage", "insert-snc", code=1)
    assert "data type 'float31' not understood" in shell.run("compile", file, "--input", "float31[8]", code=1)


# info and the rest


def test_info_tells_what_the_target_has(shell: Shell) -> None:
    summary = shell.run("info")
    assert "ascend910b: 24 cube and 48 vector cores at 1.8 GHz" in summary
    assert "ub 192 KiB" in summary
    assert "compiler" in summary and "cache" in summary
    assert "ub     98304" in shell.run("info", "-t", "memory", "--target", "ascend910b{ub=98304}")
    assert "bfloat16  bf16  bfloat16_t" in shell.run("info", "-t", "types")
    assert "ascend_vector.exp" in shell.run("info", "-t", "instructions")
    assert "did you mean 'ascend910b'?" in shell.run("info", "--target", "ascend910a", code=2)
    assert "there is no 'memry'; did you mean 'memory'?" in shell.run("info", "-t", "memry", code=2)


def test_info_says_what_to_do_without_a_compiler(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(shell.folder))
    monkeypatch.delenv("CC", raising=False)
    if find_spec("ziglang") is None:
        assert "no C compiler found: install gcc or clang, or `pip install ascir[toolchain]`" in shell.run("info")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "there is no 'no-such-compiler' on PATH" in shell.run("info")
    file = shell.file("ops.py", PYTHON)
    complaint = shell.run("run", file, "--input", shell.array("x.npy", np.zeros(3, np.float32)), code=1)
    assert complaint.startswith("ascir: $CC is 'no-such-compiler'")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"examples:\n  ascir {command}" in capsys.readouterr().out


def test_an_unknown_command_is_answered_with_the_nearest(shell: Shell) -> None:
    assert shell.run("rnu", code=2) == "ascir: argument COMMAND: there is no 'rnu'; did you mean 'run'?\n"
    assert "ascir run gelu.py:gelu" in shell.run()
