"""Where the author's code is: the file, line and column of the call that reached the builder, and an error there.

The author's frame is the nearest one outside this package. Python keeps the columns of every instruction, so a message can underline
the one call among several on a line, and a value can be named after the variable it is assigned to.
"""

from __future__ import annotations

import inspect
import linecache
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import NoReturn, TypeAlias

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr

from ascir.diagnostics import AscirError

_HERE = os.path.join(os.path.dirname(__file__), "")
_ASCIR = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_Position: TypeAlias = tuple[int | None, int | None, int | None, int | None]
"""First line, last line, first byte, end byte."""


@dataclass(frozen=True)
class Place:
    """An expression in the author's source: where it starts, how many characters it spans, the variable it is assigned to."""

    location: LocationAttr
    width: int
    variable: str | None


class Places:
    """Finds places, each once."""

    def __init__(self) -> None:
        self._places: dict[tuple[CodeType, int], Place] = {}
        self._positions: dict[CodeType, Sequence[_Position]] = {}

    def here(self) -> Place:
        """What the author's code is executing now."""
        frame = _author()
        code, instruction = key = (frame.f_code, frame.f_lasti)
        if key not in self._places:
            if code not in self._positions:
                self._positions[code] = list(code.co_positions())
            self._places[key] = _place(code.co_filename, frame.f_lineno, self._positions[code][instruction // 2])
        return self._places[key]


def fail(message: str, hint: str | None = None, place: Place | None = None) -> NoReturn:
    """One error at the author's line; without a place where `ascir run` calls and there is no author."""
    place = place or Places().here()
    raise AscirError(message, place.location, hint=hint, width=place.width)


def _author() -> FrameType:
    frame = inspect.currentframe()
    assert frame is not None
    while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _place(filename: str, line: int, position: _Position) -> Place:
    if filename.startswith(_ASCIR):
        return Place(UNKNOWN_LOC, 1, None)
    first, last, start, end = position
    if first is None or start is None:
        return Place(_location(filename, line, 1), 1, None)
    text = linecache.getline(filename, first).rstrip()
    raw = text.encode()
    before = raw[:start].decode(errors="replace")
    after = raw[end:].decode(errors="replace") if last == first else ""
    width = max(1, len(text) - len(before) - len(after))
    return Place(_location(filename, first, len(before) + 1), width, _variable(before, after))


def _location(filename: str, line: int, column: int) -> LocationAttr:
    return FileLineColLoc(StringAttr(filename), IntAttr(line), IntAttr(column))


def _variable(before: str, after: str) -> str | None:
    """`count` of `count = <expression>`, `i` of `with <expression> as i:`; the IR is easier to read with the author's names."""
    assigned = re.search(r"(?<![\w.])([A-Za-z_]\w*)\s*=\s*$", before, re.ASCII)
    if assigned and re.match(r"\s*(;|#|$)", after):
        return assigned[1]
    bound = re.match(r"\s+as\s+([A-Za-z_]\w*)", after, re.ASCII)
    return bound[1] if bound else None
