"""Where in the author's file we are: the place every traced or built op carries, and every message names.

The place is the nearest frame that is neither ours (tracer, builder, `ascir.nn`, the operator that called them) nor NumPy's: one
step from the author's own line, whatever machinery lies between. Python keeps the columns of every instruction, so a message can
underline the one call among several on a line, and a value can be named after the variable it is assigned to.
"""

from __future__ import annotations

import linecache
import re
import sys
from dataclasses import dataclass
from itertools import islice
from types import CodeType, FrameType
from typing import NoReturn

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr

from ascir.diagnostics import AscirError

_MACHINERY = ("ascir.nn", "ascir.operator", "ascir.tracing", "ascir.builder", "ascir.source", "numpy")
_is_machinery: dict[str, bool] = {}


@dataclass(frozen=True)
class Place:
    """An expression in the author's source: where it starts, how many characters it spans, the variable it is assigned to."""

    location: LocationAttr
    width: int = 1
    variable: str | None = None


NOWHERE = Place(UNKNOWN_LOC)


class Places:
    """The places of one trace or kernel, each looked up once."""

    def __init__(self) -> None:
        self._known: dict[tuple[CodeType, int], Place] = {}

    def here(self) -> Place:
        """What the author's code is executing now."""
        frame = author_frame()
        if frame is None:
            return NOWHERE
        key = (frame.f_code, frame.f_lasti)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = place_of(frame)
        return found


def author_frame() -> FrameType | None:
    """The nearest frame of the author's own code, or None when there is none."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        ours = _is_machinery.get(module)
        if ours is None:
            ours = _is_machinery[module] = f"{module}.".startswith(tuple(f"{name}." for name in _MACHINERY))
        if not ours:
            return frame
        frame = frame.f_back
    return None


def place_of(frame: FrameType) -> Place:
    """What `frame` is executing."""
    filename, line, start, width, variable = frame.f_code.co_filename, frame.f_lineno, 0, 1, None
    unknown = (None, None, None, None)
    first, last, start_byte, end_byte = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), unknown)
    if first is not None and start_byte is not None:
        line = first
        text = linecache.getline(filename, first).rstrip()
        raw = text.encode()
        before = raw[:start_byte].decode(errors="replace")
        after = raw[end_byte:].decode(errors="replace") if last == first else ""
        start, width = len(before), max(1, len(text) - len(before) - len(after))
        variable = _variable(before, after)
    return Place(FileLineColLoc(StringAttr(filename), IntAttr(line), IntAttr(start + 1)), width, variable)


def _variable(before: str, after: str) -> str | None:
    """`count` of `count = <expression>`, `i` of `with <expression> as i:`; the IR is easier to read with the author's names."""
    assigned = re.search(r"(?<![\w.])([A-Za-z_]\w*)\s*=\s*$", before, re.ASCII)
    if assigned and re.match(r"\s*(;|#|$)", after):
        return assigned[1]
    bound = re.match(r"\s+as\s+([A-Za-z_]\w*)", after, re.ASCII)
    return bound[1] if bound else None


def fail(message: str, hint: str | None = None, place: Place | None = None) -> NoReturn:
    """One AscirError at the author's line."""
    place = place or Places().here()
    raise AscirError(message, place.location, hint=hint, width=place.width) from None
