"""Under which schedule kernels run: when an instruction's values are computed, within what flags, barriers and issue allow.

A correct kernel gives the same bits under each. One that lacks a flag is reported under each, and gives wrong numbers under "late" and
under most seeds of "shuffled", as it may on hardware. `runtime/schedule.c` carries it out.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, get_args

from ascir.diagnostics import AscirError, did_you_mean

ScheduleName = Literal["eager", "late", "shuffled"]

SCHEDULES: tuple[ScheduleName, ...] = get_args(ScheduleName)
"""In the order of `SCHEDULE_…` in core.h."""


@dataclass(frozen=True)
class Schedule:
    """A schedule by its name; `seed` picks one of the shuffled ones. AscirError for a name or seed that does not exist."""

    name: str = "eager"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in SCHEDULES:
            near = did_you_mean(str(self.name), SCHEDULES)
            raise AscirError(f"there is no schedule {self.name!r}; {near}", expected=", ".join(SCHEDULES))
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**63:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise AscirError(f"the seed of a schedule is a whole number from 0 to 2**63 - 1, got {self.seed!r}")


_EAGER = Schedule()
_current: ContextVar[Schedule] = ContextVar("schedule", default=_EAGER)


def current() -> Schedule:
    """What launches of this thread run under."""
    return _current.get()


@contextmanager
def schedule(name: str | None, seed: int = 0) -> Generator[None]:
    """Launches within run under a schedule: "eager" (as early as possible, the default), "late" (as late as legal) or "shuffled" (in
    any legal order, which `seed` picks). None leaves it as it is.

    with ascir.schedule("late"):
        y = gelu(x)
    """
    if name is None:
        yield
        return
    token = _current.set(Schedule(name, seed))
    try:
        yield
    finally:
        _current.reset(token)
