"""An installed wheel holds every package and data file, and plain xDSL tools find the dialects."""

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

from xdsl.universe import Universe

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def _folders() -> dict[str, Path]:
    """Each package that setuptools maps → the folder it lies in (not the links)."""
    return {package: ROOT / folder for package, folder in SETUPTOOLS["package-dir"].items()}


def test_every_package_is_listed() -> None:
    found: set[str] = set()
    for package, folder in _folders().items():
        for init in folder.rglob("__init__.py"):
            found.add(".".join((package, *init.parent.relative_to(folder).parts)))
    assert set(SETUPTOOLS["packages"]) == found


def test_every_data_file_is_packaged() -> None:
    for package, folder in _folders().items():
        data = {path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
        listed: set[Path] = set()
        for name, patterns in SETUPTOOLS["package-data"].items():
            home = folder.joinpath(*name.removeprefix(package).strip(".").split("."))
            if name == package or name.startswith(package + "."):
                listed.update(path for pattern in patterns for path in home.glob(pattern))
        assert data <= listed, f"{package}: add {sorted(str(p) for p in data - listed)} to package-data"


def test_links_lead_to_the_rooms() -> None:
    for name in ("dialects", "passes", "backend_c"):
        link = ROOT / "ascir" / name
        assert link.is_symlink()
        assert link.resolve() == ROOT / name


def test_entry_points_load() -> None:
    scripts = entry_points(group="console_scripts")
    for name in PROJECT["project"]["scripts"]:
        (script,) = scripts.select(name=name)
        assert callable(script.load())


def test_plain_xdsl_tools_know_our_names() -> None:
    universe = Universe.get_multiverse()
    for name in ("ascend", "ascend_memory", "ascend_vector"):
        assert universe.all_dialects[name]().name == name
    for name in ("ascend-fuse-operators", "ascend-verify-sync"):
        assert universe.all_passes[name]().name == name
    assert universe.all_targets["ascend-c"]().name == "ascend-c"


def test_plain_xdsl_opt_prints_our_ops() -> None:
    text = "func.func @f(%x: tensor<4xf32>) {\n  %y = ascend.exp %x : tensor<4xf32>\n  func.return\n}\n"
    command = [sys.executable, "-m", "xdsl.tools.xdsl_opt", "-p", "ascend-verify-dominance"]
    result = subprocess.run(command, input=text, text=True, capture_output=True, check=True)
    assert "ascend.exp %x" in result.stdout
