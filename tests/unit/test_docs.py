"""What README shows is what happens: its Python and its commands run, its output is today's, its links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ascir
from ascir.passes.pipeline import Options, operator_pipeline

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


PYTHON = [*blocks(README, "python"), *blocks(DESIGN, "python")]
LINES = [line.partition("#")[0].strip() for block in blocks(README, "sh") for line in block.splitlines()]
COMMANDS = [line for line in LINES if not line.startswith("make ")]


def run(command: list[str], folder: Path) -> None:
    """Run in `folder`, where the commands of this environment come first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with the examples and the arrays that README's commands name."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    np.save(tmp_path / "x.npy", np.arange(1000, dtype=np.float32))
    np.save(tmp_path / "y.npy", np.ones(1000, np.float32))
    np.save(tmp_path / "golden.npy", np.ones(1000))
    return tmp_path


def test_generated_parts_are_up_to_date() -> None:
    run([sys.executable, str(ROOT / "docs" / "first_minute.py"), "--check"], ROOT)


def test_check_notices_a_change(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name in ("docs/first_minute.py", "docs/gelu_timeline.svg", "README.md"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "README.md").write_text(README.replace("gelu_0 on 46 cores", "gelu_0 on 64 cores"), encoding="utf-8")
    command = [sys.executable, "docs/first_minute.py", "--check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "README.md is out of date; run: python docs/first_minute.py\n")


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python_runs(number: int, shop: Path) -> None:
    (shop / "shown.py").write_text(PYTHON[number], encoding="utf-8")
    run([sys.executable, "shown.py"], shop)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command: str, shop: Path) -> None:
    assert command.split()[0] in ("ascir", "ascir-opt", "xdsl-opt")
    run(shlex.split(command), shop)
    if "--output z.npy" in command:
        np.testing.assert_array_equal(np.load(shop / "z.npy"), np.arange(1, 1001, dtype=np.float32))


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {line.split()[1] for line in LINES if line.startswith("make ")} <= targets


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))])
def test_links_and_paths_exist(page: str) -> None:
    """Links relative to the page, and paths in backticks, which start at the root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []
    paths = re.findall(r"`((?:ascir|dialects|passes|backend_c|tests|docs|examples|benchmarks)/[\w/.]*)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_public_names_exist() -> None:
    names = set(re.findall(r"`ascir\.(\w+)`", README))
    assert names and [name for name in names if not hasattr(ascir, name)] == []


def test_design_lists_the_passes_in_order() -> None:
    table = re.findall(r"^\| `([\w-]+)` \|", DESIGN.partition("## Passes")[2], re.MULTILINE)
    assert table == list(dict.fromkeys(step.name for step in operator_pipeline(Options())))


def test_design_names_every_file_of_the_rooms() -> None:
    for package in ("passes", "passes/tile_to_kernel", "backend_c", "dialects", "ascir"):
        for path in (ROOT / package).glob("*.py"):
            known = path.name in DESIGN or f"`{path.stem.replace('_', '-')}`" in DESIGN or path.name == "__init__.py"
            assert known, f"docs/design.md does not say what {package}/{path.name} is for"
