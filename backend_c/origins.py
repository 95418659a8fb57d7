"""From a line of C back to where it came from: the author's file, the line of the final IR, the C itself.

Faults and the timeline carry C lines, because that is all the emulator knows. Locations are at hand; the lines of the IR cost a print of
the whole module, so they are looked up when a fault asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer


class _CountingStream(StringIO):
    """A stream that knows on which line it is."""

    line = 1

    def write(self, s: str, /) -> int:
        self.line += s.count("\n")
        return super().write(s)


class _LinePrinter(Printer):
    """Prints IR and notes the line on which each op begins."""

    def __init__(self) -> None:
        self.text = _CountingStream()
        self.line_of: dict[Operation, int] = {}
        super().__init__(self.text)

    def print_op(self, op: Operation) -> None:
        self.line_of[op] = self.text.line
        super().print_op(op)


@dataclass
class Origins:
    """Where the lines of a C source came from; `locations` and `operations` by C line."""

    source: str = ""
    locations: Mapping[int, str] = field(default_factory=lambda: dict[int, str]())
    operations: Mapping[int, Operation] = field(default_factory=lambda: dict[int, Any]())
    module: ModuleOp | None = None

    @cached_property
    def _c(self) -> list[str]:
        return self.source.splitlines()

    @cached_property
    def _printed(self) -> tuple[dict[Operation, int], list[str]]:
        printer = _LinePrinter()
        if self.module is not None:
            printer.print_op(self.module)
        return printer.line_of, printer.text.getvalue().splitlines()

    def location(self, line: int) -> str:
        """`gelu.py:12`, or nothing when unknown."""
        return self.locations.get(line, "")

    def c(self, line: int) -> str:
        """The C of a line, without the comment that names its source."""
        return self._c[line - 1].split("  // ")[0].strip() if 0 < line <= len(self._c) else ""

    def ir(self, line: int) -> tuple[int, str] | None:
        """Line number and text of the op in `ir()` that a C line was printed for."""
        op = self.operations.get(line)
        line_of, text = self._printed if op is not None else ({}, [])
        number = line_of.get(op) if op is not None else None
        return (number, text[number - 1].strip()) if number else None
