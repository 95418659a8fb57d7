"""Finding a compiler, and a cache that neither a race, nor a kill, nor a damaged file can spoil."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ascir.backend_c import build, instructions_header
from ascir.backend_c.emulator import Kernel, launch
from ascir.diagnostics import AscirError
from ascir.machine.target import ASCEND910B

EMPTY = '#include "ascir_core.h"\nASCIR_KERNEL(k) {}\n'


def _fake_compiler(folder: Path, text: str) -> Path:
    """A compiler of a few lines of shell."""
    program = folder / "fakecc"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


def _no_module(name: str) -> None:
    """What `find_spec` says where there is no ziglang wheel."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, with the runtime that is already built."""
    library = build.runtime()
    fresh = tmp_path / "cache"
    fresh.mkdir()
    shutil.copytree(library.parent, fresh / library.parent.name)
    monkeypatch.setenv("ASCIR_CACHE", str(fresh))
    return fresh


def test_a_cache_that_cannot_be_written_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASCIR_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("CC", str(_fake_compiler(tmp_path, "echo fake 3.0")))
    with pytest.raises(AscirError, match=r"no folder can be made at .*: Not a directory\nhint: set ASCIR_CACHE"):
        build.runtime()


def test_a_relative_cache_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCIR_CACHE", f"relative-{tmp_path.name}")
    monkeypatch.chdir(tmp_path)
    before = build.cache_folder()
    monkeypatch.chdir("/")
    assert build.cache_folder() == before == tmp_path / f"relative-{tmp_path.name}"


# --- the compiler ---------------------------------------------------------------------------------------------------------------


def test_cc_comes_first_and_may_have_arguments(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _fake_compiler(tmp_path, "echo fake 1.0")
    monkeypatch.setenv("CC", f"{program} -m64 '-DA=b c'")
    compiler = build.find_compiler()
    assert compiler.command == (str(program), "-m64", "-DA=b c")
    assert "fake 1.0" in compiler.identity


def test_then_the_compilers_on_the_path(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    _fake_compiler(tmp_path, "echo fake 2.0").rename(tmp_path / "clang")
    (tmp_path / "gcc").symlink_to("clang")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.find_compiler().command == (str(tmp_path / "gcc"),)


def test_no_compiler_is_one_error_that_names_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(build, "find_spec", _no_module)
    monkeypatch.setenv("CC", "nowhere-cc -O2")
    with pytest.raises(build.CompilerNotFound, match=r"\$CC is 'nowhere-cc -O2', but there is no 'nowhere-cc' on PATH"):
        build.find_compiler()
    monkeypatch.delenv("CC")
    with pytest.raises(build.CompilerNotFound, match=r"install gcc or clang, or `pip install ascir\[toolchain\]`, or set CC"):
        build.find_compiler()


def test_the_version_is_asked_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _fake_compiler(tmp_path, f"echo asked >> {tmp_path}/log; echo fake 3.0")
    monkeypatch.setenv("CC", str(program))
    build.find_compiler()
    build._find_compiler.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert "fake 3.0" in build.find_compiler().identity
    assert (tmp_path / "log").read_text() == "asked\n"


# --- kernels --------------------------------------------------------------------------------------------------------------------


def test_a_kernel_is_compiled_once(cache: Path) -> None:
    first = build.compile_kernel(EMPTY, "empty kernel")
    assert first.name == "empty_kernel.so" and (first.parent / "empty_kernel.c").read_text() == EMPTY
    stamp = first.stat().st_mtime_ns
    assert build.compile_kernel(EMPTY, "empty kernel") == first
    assert first.stat().st_mtime_ns == stamp
    assert build.compile_kernel(EMPTY + "\n", "empty kernel") != first


def test_a_refused_source_is_kept_and_named(cache: Path) -> None:
    with pytest.raises(build.CompileError) as error:
        build.compile_kernel("int f(void) { return 1 }\n", "broken")
    source = cache / "failed" / "broken.c"
    assert source.read_text() == "int f(void) { return 1 }\n"
    assert f"failed on {source}:\n" in str(error.value) and f"{source}:1:" in str(error.value)


@pytest.mark.parametrize("damage", ["truncated", "emptied", "changed", "checksum lost"])
def test_a_damaged_library_is_built_again(cache: Path, damage: str) -> None:
    library = build.compile_kernel(EMPTY, "damaged")
    data = library.read_bytes()
    if damage == "checksum lost":
        (library.parent / "sha256").unlink()
    else:
        library.write_bytes({"truncated": data[: len(data) // 2], "emptied": b"", "changed": b"\0" + data[1:]}[damage])
    again = build.compile_kernel(EMPTY, "damaged")
    assert again == library
    assert launch(Kernel(again, "k"), [], 1, ASCEND910B).faults == []


def test_a_kernel_that_the_library_lacks(cache: Path) -> None:
    with pytest.raises(AttributeError, match="other__entry"):
        Kernel(build.compile_kernel(EMPTY, "lacking"), "other")


# --- many at once ---------------------------------------------------------------------------------------------------------------

_FIRST_USE = """
import sys
from ascir.backend_c import build
from ascir.backend_c.emulator import Kernel, launch
from ascir.diagnostics import AscirError
from ascir.machine.target import ASCEND910B
report = launch(Kernel(build.compile_kernel(sys.argv[1], "first"), "k"), [], 1, ASCEND910B)
print(report.result.cycles)
"""

_COUNTING = 'case "$*" in *-shared*) echo link >> {log};; esac\nexec cc "$@"'


def _start(cache: Path, source: str = EMPTY) -> subprocess.Popen[str]:
    environment = {**os.environ, "ASCIR_CACHE": str(cache)}
    return subprocess.Popen([sys.executable, "-c", _FIRST_USE, source], env=environment, stdout=subprocess.PIPE, text=True)


def test_eight_processes_build_the_runtime_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All start on an empty cache: one builds, the others wait and use it."""
    log = tmp_path / "log"
    monkeypatch.setenv("CC", str(_fake_compiler(tmp_path, _COUNTING.format(log=log))))
    processes = [_start(tmp_path / "cache") for _ in range(8)]
    assert [process.communicate(timeout=300)[0] for process in processes] == ["0.0\n"] * 8
    assert log.read_text() == "link\nlink\n"  # the runtime, the kernel


def test_a_killed_builder_does_not_poison_the_cache(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler hangs while it writes; its process is killed; the next one finds neither half a library nor a lock."""
    started = tmp_path / "started"
    hanging = _fake_compiler(tmp_path, f'[ "$1" = --version ] && exec cc --version\ntouch {started}; sleep 60')
    empty = tmp_path / "empty"
    monkeypatch.setenv("CC", str(hanging))
    process = _start(empty)
    while not started.exists():
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    monkeypatch.delenv("CC")
    shutil.copytree(cache, empty, dirs_exist_ok=True)
    second = _start(empty)
    assert second.communicate(timeout=60)[0] == "0.0\n"


# --- the runtime ----------------------------------------------------------------------------------------------------------------


def test_the_runtime_compiles_without_warnings(tmp_path: Path) -> None:
    headers = {
        "ascir_instructions.h": instructions_header.public_header(),
        "instruction_tables.h": instructions_header.tables(),
        "loops_float.inc": instructions_header.loops(floats=True),
        "loops_integer.inc": instructions_header.loops(floats=False),
    }
    for name, text in headers.items():
        (tmp_path / name).write_text(text)
    flags = [
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Wpointer-arith",
        "-Werror",
        "-c",
        "-o",
        tmp_path / "out.o",
        "-iquote",
        build.RUNTIME,
        "-iquote",
        tmp_path,
    ]
    compiler = build.find_compiler()
    for source in sorted(build.RUNTIME.glob("*.c")):
        compiler.run([*flags, source], source)


def test_the_public_header_compiles_without_warnings(tmp_path: Path) -> None:
    """Authors include it with their own flags."""
    source = tmp_path / "k.c"
    source.write_text(EMPTY)
    compiler = build.find_compiler()
    include = ["-iquote", build.RUNTIME, "-iquote", build.runtime().parent]
    compiler.run(["-std=c11", "-Wall", "-Wextra", "-Werror", "-c", "-o", tmp_path / "out.o", *include, source], source)
