"""Where in the author's file we are: the place every traced op carries and every message of the tracer names.

The place is the nearest frame that is neither the tracer, `ascir.nn`, the operator that called them, nor NumPy: one step from
the author's own line, whatever machinery lies between.
"""

from __future__ import annotations

import linecache
import sys
from itertools import islice
from types import CodeType, FrameType
from typing import NoReturn

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr

from ascir.diagnostics import AscirError

_MACHINERY = ("ascir.nn", "ascir.operator", "ascir.tracing", "numpy")
_is_machinery: dict[str, bool] = {}


class Places:
    """The places of one trace, each looked up once."""

    def __init__(self) -> None:
        self._known: dict[tuple[CodeType, int], LocationAttr] = {}

    def here(self) -> LocationAttr:
        """The author's file, line and column."""
        frame = author_frame()
        if frame is None:
            return UNKNOWN_LOC
        key = (frame.f_code, frame.f_lasti)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = position(frame)[0]
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


def position(frame: FrameType) -> tuple[LocationAttr, int]:
    """File, line and 1-based column of what `frame` is executing, and how many characters of the line it spans."""
    filename, line, start, end = frame.f_code.co_filename, frame.f_lineno, 0, 1
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if positions is not None and positions[0] is not None and positions[2] is not None:
        line = positions[0]
        text = linecache.getline(filename, line).encode()
        last = positions[3] if positions[1] == line and positions[3] is not None else len(text.rstrip())
        start, end = (len(text[:n].decode(errors="replace")) for n in (positions[2], last))
    return FileLineColLoc(StringAttr(filename), IntAttr(line), IntAttr(start + 1)), max(1, end - start)


def fail(message: str, hint: str | None = None) -> NoReturn:
    """One AscirError at the author's line."""
    frame = author_frame()
    location, width = position(frame) if frame is not None else (UNKNOWN_LOC, 1)
    raise AscirError(message, location, hint=hint, width=width) from None


class UnknownSize:
    """A dimension given as None in a TensorSpec: it can be passed on to `reshape` and `broadcast_to`, but has no number."""

    def __init__(self, axis: int):
        self.axis = axis

    def __repr__(self) -> str:
        return "?"

    def refuse(self, *_: object) -> NoReturn:
        """An AscirError that asks for the size."""
        fail(f"the size of axis {self.axis} is not known", "give ascir.TensorSpec a number in the place of None, or compile with an array")

    __index__ = __int__ = __float__ = __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = refuse  # pyright: ignore
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = refuse
    __hash__ = object.__hash__
