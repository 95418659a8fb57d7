"""Bars for what takes long: building, compiling, running kernels.

`with bar("running gelu", 46) as done:` counts with `done.advance()`, or in C through `done.address`. A bar is drawn when its work has
taken a second, by a thread of its own (a launch is one foreign call), on standard error, and is gone when the work is done. There is none
when standard error is no terminal, with `ASCIR_PROGRESS=0`, and within `silenced()`, which is `--quiet`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from ctypes import addressof, c_int64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 1.0
"""Seconds before a bar appears."""

PERIOD = 0.2
"""Seconds between two looks at the counters."""

_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silenced() -> Generator[None]:
    """No bars within."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


class Bar:
    """Work that counts what is done of it; `total` None for work that cannot be counted."""

    __slots__ = ("address", "begun", "count", "text", "total")

    def __init__(self, text: str, total: int | None):
        self.text = text
        self.total = total
        self.begun = time.monotonic()
        self.count = c_int64(0)
        self.address = addressof(self.count)

    def advance(self, steps: int = 1) -> None:
        """So many more are done. One thread of Python calls this; C counts at `address`."""
        self.count.value += steps

    def __enter__(self) -> Bar:
        _screen.open(self)
        return self

    def __exit__(self, *_: object) -> None:
        _screen.close(self)


class _NoBar(Bar):
    """What nobody sees and nobody counts."""

    def __init__(self) -> None:
        super().__init__("", None)
        self.address = 0

    def advance(self, steps: int = 1) -> None:
        pass

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        pass


_NO_BAR = _NoBar()


def bar(text: str, total: int | None = None) -> Bar:
    """A bar for work of `total` steps, to be entered with `with`."""
    return Bar(text, total) if _is_watched() else _NO_BAR


def _is_watched() -> bool:
    try:
        terminal = sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is no stderr, or it is closed
        return False
    return terminal and os.environ.get("ASCIR_PROGRESS") != "0" and not _silent.get()


class _Screen:
    """The bars at work, and the thread that draws those that are old enough.

    The thread sleeps while there is no work, and looks at most every `PERIOD`: work that comes and goes quickly costs it nothing.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lock = threading.Lock()
        self.bars: list[Bar] = []
        self.drawn: dict[Bar, TaskID] = {}
        self.wake = threading.Event()
        self.painter: threading.Thread | None = None
        self.display: Progress | None = None
        self.broken = False

    def open(self, bar: Bar) -> None:
        with self.lock:
            self.bars.append(bar)
            if self.painter is None and not self.broken:
                self.painter = threading.Thread(target=self._paint, name="ascir progress", daemon=True)
                self.painter.start()
        self.wake.set()

    def close(self, bar: Bar) -> None:
        """When this returns, nothing of the bar is left on the terminal: the caller may print."""
        with self.lock, suppress(OSError, ValueError):  # a terminal that went away, or a fork that came between
            self.bars.remove(bar)
            task = self.drawn.pop(bar, None)
            if task is None or self.display is None:
                return
            self.display.remove_task(task)
            if not self.drawn:
                self.display, display = None, self.display
                display.stop()

    def _paint(self) -> None:
        """The thread's work. A terminal that goes away ends the bars, never the run."""
        try:
            while True:
                self.wake.wait()
                if self._is_due():
                    self._draw()
                time.sleep(PERIOD)
        except (ImportError, OSError, ValueError):
            self.broken = True

    def _is_due(self) -> bool:
        with self.lock:
            if not self.bars:
                self.wake.clear()
            return any(bar.begun <= time.monotonic() - DELAY for bar in self.bars)

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        with self.lock:
            if not self.bars:
                return
            if self.display is None:
                columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
                console = Console(stderr=True)
                self.display = Progress(
                    *columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
                )
                self.display.start()
                console.show_cursor(True)  # whoever is killed in the middle leaves a terminal in order
            for bar in self.bars:
                if bar not in self.drawn:
                    self.drawn[bar] = self.display.add_task(bar.text, total=bar.total, completed=bar.count.value)
                    self.display.tasks[-1].start_time = bar.begun
                self.display.update(self.drawn[bar], completed=bar.count.value)
            self.display.refresh()


_screen = _Screen()

# Threads do not survive a fork, and a lock may be held by one of them.
os.register_at_fork(after_in_child=_screen.reset)
