"""What the newest run took of each memory, kept in the cache folder for `ascir info -t memory`.

A run with a trace is written down at once; any other costs a call an assignment, and the newest of a process is written when the process
ends. Nobody depends on the file, so a failure to write it is silent.
"""

from __future__ import annotations

import atexit
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ascir.backend_c.build import cache_folder, make_folder, write_whole
from ascir.backend_c.emulator import RawReport
from ascir.diagnostics import AscirError


@dataclass(frozen=True)
class Peak:
    """The most bytes of a memory that one block of a kernel held, of so many that there are."""

    kernel: str
    block_dim: int
    space: str
    bytes: int
    capacity: int


@dataclass(frozen=True)
class LastRun:
    """When kernels ran, on which target, whether faults were found, and what they held."""

    when: datetime
    target: str
    faulty: bool
    peaks: tuple[Peak, ...]


_noted: tuple[float, Sequence[RawReport]] | None = None
"""A run that is not written yet, and when it was. It has no trace (that would be large): those are written at once."""


def last_run_file() -> Path:
    """Where the newest run is written."""
    return cache_folder() / "last_run.json"


def note(reports: Sequence[RawReport], *, write: bool) -> None:
    """Remember a run of these launches; `write` it now, or when the process ends."""
    global _noted
    if not reports:
        return
    _noted = time.time(), reports
    if write:
        write_noted()


@atexit.register
def write_noted() -> None:
    """Write what was noted last, unless that is done."""
    global _noted
    noted, _noted = _noted, None
    if noted is None:
        return
    with suppress(OSError, AscirError):
        file = last_run_file()
        make_folder(file.parent)
        write_whole(file, json.dumps(_as_json(*noted), indent=1))


def _as_json(when: float, reports: Sequence[RawReport]) -> dict[str, Any]:
    most: dict[tuple[str, int], int] = {}
    for report in reports:
        key = report.kernel, report.block_dim
        most[key] = max(report.result.ub_peak, most.get(key, 0))
    target = reports[-1].target
    peaks = [
        {"kernel": kernel, "block_dim": block_dim, "space": "ub", "bytes": peak, "capacity": target.ub_bytes}
        for (kernel, block_dim), peak in most.items()
    ]
    moment = datetime.fromtimestamp(when).astimezone().isoformat(timespec="seconds")
    return {"when": moment, "target": target.name, "faulty": bool(reports[-1].faults), "peaks": peaks}


def last_run() -> LastRun | None:
    """The newest run that was written, None when there is none. ValueError if the file is damaged."""
    try:
        known = json.loads(last_run_file().read_bytes())
        peaks = tuple(
            Peak(str(peak["kernel"]), int(peak["block_dim"]), str(peak["space"]), int(peak["bytes"]), int(peak["capacity"]))
            for peak in known["peaks"]
        )
        return LastRun(datetime.fromisoformat(known["when"]), str(known["target"]), bool(known["faulty"]), peaks)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{last_run_file()} cannot be read ({type(error).__name__})") from None
