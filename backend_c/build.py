"""The host's C compiler: found, used, and its results kept.

The emulator's runtime is compiled once for this compiler and processor, every kernel once for its text; both lie in `$ASCIR_CACHE`
(else `~/.cache/ascir`) in a folder named after a hash of all that went into them. A folder appears there complete or not at all,
whoever is killed on the way, and a library whose bytes are not those that were written is built again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ascir.backend_c import instructions_header
from ascir.backend_c.progress import bar
from ascir.diagnostics import AscirError

RUNTIME = Path(__file__).parent / "runtime"
"""The emulator's sources; kernels include `ascir_core.h` from here."""

_LANGUAGE = ("-std=gnu11", "-fPIC", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
_RUNTIME_FLAGS = (*_LANGUAGE, "-O3", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden")
_KERNEL_FLAGS = (*_LANGUAGE, "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-parameter")
_LIBRARY = "libascir.so"
_CHECKSUM = "sha256"


class CompilerNotFound(AscirError):
    """No C compiler on this machine."""


class CompileError(AscirError):
    """The C compiler refused a source; the message has its output and where the source lies."""


@dataclass(frozen=True)
class Compiler:
    """A command to which arguments are appended, and all that tells its output from another's."""

    command: tuple[str, ...]
    identity: str

    def run(self, arguments: Sequence[str | Path], source: Path) -> None:
        """Raises CompileError with the compiler's messages if it fails on `source`."""
        done = subprocess.run([*self.command, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode:
            message = done.stderr.strip() or f"exit status {done.returncode}"
            raise CompileError(f"{shlex.join(self.command)} failed on {source}:\n{message}")


# --- finding a compiler ---------------------------------------------------------------------------------------------------------


def find_compiler() -> Compiler:
    """`$CC` (with arguments, if it has any), else `cc`, `gcc`, `clang`, else the ziglang wheel.

    Raises CompilerNotFound, which names the fix, when there is none.
    """
    return _find_compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@cache
def _find_compiler(cc: str, path: str) -> Compiler:
    if cc.strip():
        command = shlex.split(cc)
        program = shutil.which(command[0], path=path)
        if program is None:
            raise CompilerNotFound(f"$CC is '{cc}', but there is no '{command[0]}' on PATH; set CC to a C compiler or unset it")
        return _compiler((program, *command[1:]))
    for name in ("cc", "gcc", "clang"):
        program = shutil.which(name, path=path)
        if program is not None:
            return _compiler((program,))
    if find_spec("ziglang") is not None:
        return _compiler((sys.executable, "-m", "ziglang", "cc"))
    raise CompilerNotFound("no C compiler found: install gcc or clang, or `pip install ascir[toolchain]`, or set CC")


def _compiler(command: tuple[str, ...]) -> Compiler:
    program = Path(os.path.realpath(command[0]))
    stamp = program.stat()
    key = _digest(*command, str(program), str(stamp.st_mtime_ns), str(stamp.st_size))
    return Compiler(command, f"{shlex.join(command)}\n{_version(command, key)}")


def _version(command: Sequence[str], key: str) -> str:
    """Output of `--version`, asked once per compiler binary."""
    kept = cache_folder() / "compilers" / key
    if kept.is_file():
        return kept.read_text()
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompilerNotFound(f"`{shlex.join(command)} --version` fails; set CC to a C compiler that runs:\n{done.stderr.strip()}")
    make_folder(kept.parent)
    write_whole(kept, done.stdout)
    return done.stdout


@cache
def _processor() -> str:
    """What `-march=native` depends on."""
    try:
        first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    except OSError:
        return platform.machine() + platform.processor()
    facts = re.findall(r"^(?:model name|flags|Features|CPU (?:part|implementer))\s*:.*", first, re.MULTILINE)
    return "\n".join((platform.machine(), *facts))


def _native() -> str:
    return "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"


# --- the cache ------------------------------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    """`$ASCIR_CACHE`, else `~/.cache/ascir`."""
    chosen = os.environ.get("ASCIR_CACHE")
    return _absolute(chosen) if chosen else Path.home() / ".cache" / "ascir"


@cache
def _absolute(folder: str) -> Path:
    """A relative folder stays where it was at its first use, wherever the process goes."""
    return Path(folder).absolute()


def make_folder(folder: Path) -> None:
    """Make a folder of the cache; AscirError if it cannot be made or written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AscirError(
            f"no folder can be made at {folder}: {error.strerror}", hint="set ASCIR_CACHE to one that can be written"
        ) from None
    if not os.access(folder, os.W_OK):
        raise AscirError(f"the folder {folder} cannot be written", hint="set ASCIR_CACHE to one that can")


def _digest(*parts: str | bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:24]


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write_whole(file: Path, text: str) -> None:
    """Readers see the old file or all of the new one."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    with os.fdopen(handle, "w") as out:
        out.write(text)
    os.replace(name, file)


@contextmanager
def _lock(file: Path) -> Generator[None]:
    """One builder at a time, among threads and processes; the system frees the lock of one that is killed."""
    import fcntl

    with open(file, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _is_sound(library: Path) -> bool:
    """The library is there, and whole: loading a truncated one would kill the process."""
    try:
        return _checksum(library) == (library.parent / _CHECKSUM).read_text()
    except OSError:
        return False


def _cached(folder: Path, library: str, build: Callable[[Path], None]) -> Path:
    """The library in `folder`, which `build` fills when it is not there yet."""
    wanted = folder / library
    if _is_sound(wanted):
        return wanted
    make_folder(folder.parent)
    with _lock(folder.parent / f".lock-{folder.name[-2:]}"):
        if _is_sound(wanted):
            return wanted
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as temporary:
            fresh = Path(temporary) / "new"
            fresh.mkdir()
            build(fresh)
            (fresh / _CHECKSUM).write_text(_checksum(fresh / library))
            if folder.exists():
                folder.rename(Path(temporary) / "damaged")
            fresh.rename(folder)
    return wanted


# --- the runtime ----------------------------------------------------------------------------------------------------------------


@cache
def _generated() -> dict[str, str]:
    return {
        "ascir_instructions.h": instructions_header.public_header(),
        "instruction_tables.h": instructions_header.tables(),
        "loops_float.inc": instructions_header.loops(floats=True),
        "loops_integer.inc": instructions_header.loops(floats=False),
    }


@cache
def _sources() -> bytes:
    files = sorted(RUNTIME.iterdir())
    return b"".join(file.name.encode() + file.read_bytes() for file in files if file.suffix in (".c", ".h"))


def runtime() -> Path:
    """The emulator's shared library, built at its first use with this compiler on this processor.

    Raises CompilerNotFound or CompileError.
    """
    return _runtime(find_compiler(), cache_folder())


@cache
def _runtime(compiler: Compiler, root: Path) -> Path:
    key = _digest(_sources(), *_generated().values(), compiler.identity, _processor(), *_RUNTIME_FLAGS)
    return _cached(root / f"runtime-{key}", _LIBRARY, lambda folder: _build_runtime(compiler, folder))


def _build_runtime(compiler: Compiler, folder: Path) -> None:
    for name, text in _generated().items():
        (folder / name).write_text(text)
    flags = [*_RUNTIME_FLAGS, _native(), "-iquote", RUNTIME, "-iquote", folder]
    sources = sorted(RUNTIME.glob("*.c"), key=lambda file: not file.name.startswith("loops_"))  # the long ones first

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        compiler.run([*flags, "-c", source, "-o", target], source)
        return target

    objects: list[Path] = []
    with bar("building the emulator", len(sources) + 1) as done:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for task in as_completed([pool.submit(compile_one, source) for source in sources]):
                objects.append(task.result())
                done.advance()
        compiler.run(["-shared", *sorted(objects), "-o", folder / _LIBRARY, "-lpthread", "-lm"], RUNTIME)
    for file in objects:
        file.unlink()


# --- kernels --------------------------------------------------------------------------------------------------------------------


def compile_kernel(source: str, name: str) -> Path:
    """The shared library of a C source that includes `ascir_core.h` and defines `ASCIR_KERNEL(…)`s; `name` names its file.

    Raises CompileError with the compiler's messages and the path of the source, CompilerNotFound without a compiler.
    """
    library = runtime()
    compiler = find_compiler()
    stem = re.sub(r"\W", "_", name, flags=re.ASCII) or "kernel"
    key = _digest(source, stem, str(library), *_KERNEL_FLAGS)

    def build(folder: Path) -> None:
        file = folder / f"{stem}.c"
        file.write_text(source)
        with bar(f"compiling {stem}.c"):
            _compile_kernel(compiler, library, file, folder / f"{stem}.so")

    return _cached(cache_folder() / "kernels" / key, f"{stem}.so", build)


def _compile_kernel(compiler: Compiler, library: Path, source: Path, target: Path) -> None:
    include = ["-iquote", RUNTIME, "-iquote", library.parent]
    try:
        compiler.run([*_KERNEL_FLAGS, *include, "-shared", source, library, "-o", target], source)
    except CompileError as error:
        kept = cache_folder() / "failed" / source.name
        kept.parent.mkdir(exist_ok=True)
        shutil.copyfile(source, kept)
        raise CompileError(str(error).replace(str(source), str(kept))) from None
