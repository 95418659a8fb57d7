"""`ascir info`: what this machine and the target have, for people who size a kernel or report a bug."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ascir.diagnostics import UsageError
from ascir.machine import dtypes
from ascir.machine.instructions import INSTRUCTIONS
from ascir.machine.target import Target, parse_target


def info(args: argparse.Namespace) -> None:
    """Print the topic asked for."""
    try:
        target = parse_target(args.target)
    except ValueError as error:
        raise UsageError(str(error)) from None
    topics = {"summary": _summary, "memory": _memory, "types": _types, "instructions": _instructions}
    print("\n".join(topics[args.topic](target)))


def _table(rows: Iterable[Sequence[object]]) -> list[str]:
    """The rows with their columns aligned."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in texts]


def _summary(target: Target) -> list[str]:
    return _table(
        (
            ("versions", ", ".join(f"{name} {_version(name)}" for name in ("ascir", "xdsl", "numpy", "ml_dtypes"))),
            ("python", f"{platform.python_version()} on {platform.machine()}"),
            ("target", f"{target.name}: {target.cube_cores} cube and {target.vector_cores} vector cores at {target.clock_ghz} GHz"),
            ("memory", ", ".join(f"{space} {_size(memory.bytes)}" for space, memory in target.memories.items())),
            ("compiler", _compiler()),
            ("cache", _cache()),
        )
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _compiler() -> str:
    from ascir.backend_c.build import CompilerNotFound, find_compiler

    try:
        command, version_line, *_ = find_compiler().identity.splitlines()
    except CompilerNotFound as error:
        return " ".join(str(error).split())
    return f"{command}: {version_line}"


def _cache() -> str:
    from ascir.backend_c.build import cache_folder

    folder = cache_folder()
    sizes = list(_sizes(folder))
    return f"{folder}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB ($ASCIR_CACHE moves it; it may be deleted)"


def _sizes(folder: Path) -> Iterator[int]:
    """Bytes of each file; those that a process which builds at this moment takes away are left out."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield os.path.getsize(os.path.join(parent, name))


def _size(count: int) -> str:
    return f"{count // 1024} KiB" if count % 1024 == 0 else f"{count} B"


def _memory(target: Target) -> list[str]:
    rows: list[tuple[object, ...]] = [("space", "bytes", "alignment", "copies to")]
    for space in ("gm", *target.memories):
        goes = [f"{to} ({pipe})" for (start, to), pipe in target.paths.items() if start == space]
        memory = target.memories.get(space)
        rows.append((space, memory.bytes if memory else "the host's", memory.alignment if memory else "-", ", ".join(goes) or "-"))
    return [f"target {target.name}", *_table(rows), "", *_last_run()]


def _last_run() -> list[str]:
    """What the newest run on this machine took of the memories."""
    from ascir.backend_c.last_run import last_run

    try:
        run = last_run()
    except ValueError as error:
        return [f"last run: unknown, {error}; the next run writes it anew"]
    if run is None:
        return ["last run: none yet"]
    rows: list[tuple[object, ...]] = [("kernel", "block_dim", "space", "peak bytes", "share")]
    rows += [(p.kernel, p.block_dim, p.space, p.bytes, f"{100 * p.bytes / max(1, p.capacity):.1f} % of {p.capacity}") for p in run.peaks]
    faulty = ", with faults" if run.faulty else ""
    return [f"last run: {run.when:%Y-%m-%d %H:%M:%S} on {run.target}{faulty}", *_table(rows)]


def _types(target: Target) -> list[str]:
    rows: list[tuple[object, ...]] = [("NumPy", "IR", "C", "bytes", "alignment of allocated memory")]
    rows += [(d.numpy, d.name, d.c, d.bytes, d.alignment) for d in dtypes.ALL]
    return _table(rows)


def _instructions(target: Target) -> list[str]:
    rows: list[tuple[object, ...]] = [("instruction", "form", "on pipe V", "by a scalar loop")]
    rows += [(f"ascend_vector.{row.name}", row.form, " ".join(row.vector), " ".join(row.scalar) or "-") for row in INSTRUCTIONS]
    return _table(rows)
