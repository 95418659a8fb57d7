"""Errors that say where: one message with file, line, source line and caret, for text, for verifiers and for passes.

xDSL's own errors carry no position once parsing is over, and damaged input surfaces as whatever Python exception it provokes. So
the parser here gives every op the place it was read from, and `AscirError` shows it. Read `AscirError`, then `parse_module`.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import traceback
from bisect import bisect_right
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from threading import Lock
from types import TracebackType

from xdsl.context import Context
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser, ParserState
from xdsl.utils.exceptions import DiagnosticException, MultipleSpansParseError, ParseError, ShrinkException, VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer

_WIDEST_LINE = 160
"""Characters of a source line that a message shows; more is cut around the caret."""


class AscirError(Exception):
    """What was found, where, what was expected, what to try.

    `str()` is one message: `gelu.py:12:5: error: <message>; expected <expected>`, the source line and a caret under its `width`
    characters when the file can be read, further lines of the message, and `hint: <hint>`. Without a location it is the message alone.
    """

    def __init__(
        self,
        message: str,
        location: LocationAttr | None = None,
        expected: str | None = None,
        hint: str | None = None,
        width: int = 1,
    ):
        super().__init__(message)
        self.message = message
        self.location = location
        self.expected = expected
        self.hint = hint
        self.width = width

    def __str__(self) -> str:
        place = file_position(self.location)
        text, *more = self.message.split("\n")
        if self.expected is not None:
            text = f"{text}; expected {self.expected}"
        lines = [text, *more]
        if place is not None:
            where = f"{place.filename.data}:{place.line.data}:{place.column.data}"
            lines = [f"{where}: error: {text}", *_excerpt(place, self.width), *more]
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


def _show_message(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A mistake that nobody catches ends the program with its message; the way through our code would only hide it."""
    if isinstance(error, AscirError) and not os.environ.get("ASCIR_DEBUG"):
        print(error, file=sys.stderr)
    else:
        _show_traceback(kind, error, trace)


_show_traceback = sys.excepthook
sys.excepthook = _show_message


class ParsingError(AscirError):
    """The text is not IR."""


class VerifyingError(AscirError):
    """The IR breaks a rule of one of its ops or types, or a pass refused it."""


class UsageError(AscirError):
    """A command line or call asks for something that does not exist."""


def file_position(location: Attribute | None) -> FileLineColLoc | None:
    """The file position inside a location: the first of a fused one, the callee of a call; None when there is none."""
    match location:
        case FileLineColLoc():
            return location
        case NameLoc():
            return file_position(location.location)
        case CallSiteLoc():
            return file_position(location.callee) or file_position(location.caller)
        case FusedLoc():
            inner: Iterable[Attribute] = location.locations  # pyright: ignore[reportAssignmentType]
            return next(filter(None, map(file_position, inner)), None)
        case _:
            return None


def location_text(location: LocationAttr) -> str:
    """`gelu.py:12`, or nothing when unknown: for comments and reports, the same in whatever folder the file lies."""
    place = file_position(location)
    if place is None:
        return ""
    return f"{os.path.basename(place.filename.data)}:{place.line.data}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'plan-memory'?`: the nearest of the known names, however far."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1, cutoff=0.0)
    return f"did you mean '{near[0]}'?" if near else "nothing is registered"


def _excerpt(place: FileLineColLoc, width: int) -> list[str]:
    """The source line and a caret line, or nothing when the file cannot be read."""
    linecache.checkcache(place.filename.data)
    line = linecache.getline(place.filename.data, place.line.data).rstrip("\r\n")
    column = place.column.data - 1
    if not line or not 0 <= column <= len(line):
        return []
    width = max(1, min(width, len(line) - column))
    cut = max(0, column - _WIDEST_LINE // 2) if len(line) > _WIDEST_LINE else 0
    blank = "".join("\t" if c == "\t" else " " for c in line[cut:column])
    return [_printable(line[cut : cut + _WIDEST_LINE]), (blank + "^" * width)[:_WIDEST_LINE]]


def _printable(text: str) -> str:
    """The text with a visible stand-in for each control character, so that damaged input cannot upset a terminal."""
    return "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


class _Lexer(MLIRLexer):
    """xDSL's lexer, whose pattern for strings takes exponential time over one that is never closed; possessive, it is linear."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class LocatingParser(Parser):
    """xDSL's parser, which also gives each op without an explicit `loc(…)` the position of its name in the text."""

    def __init__(self, context: Context, text: str, filename: str, line_offset: int = 0):
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._filename = StringAttr(filename)
        self._line_offset = line_offset
        self._op_starts: list[int] = []
        super().__init__(context, "", filename)
        self._parser_state = ParserState(_Lexer(Input(text, filename)))

    def location_at(self, position: int) -> FileLineColLoc:
        """The location of a character of the text."""
        line = bisect_right(self._line_starts, position)
        column = position - self._line_starts[line - 1] + 1
        return FileLineColLoc(self._filename, IntAttr(line + self._line_offset), IntAttr(column))

    def parse_operation(self) -> Operation:
        self._op_starts.append(self.pos)
        op = super().parse_operation()
        start = self._op_starts.pop()
        if isinstance(op.location, UnknownLoc):
            op.location = self.location_at(start)
        return op

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._op_starts[-1] = self.pos
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if found is not None:
            return found
        start = self._op_starts[-1]
        self.raise_error(f"operation {name} is not registered; {self._nearest_op(name)}", start, start + len(name))

    def _nearest_op(self, name: str) -> str:
        dialect, dot, _ = name.partition(".")
        if dot and dialect not in self.ctx.registered_dialect_names:
            return f"there is no dialect '{dialect}', {did_you_mean(dialect, self.ctx.registered_dialect_names)}"
        ops = [op.name for op in self.ctx.loaded_ops]
        return did_you_mean(name, [op for op in ops if op.startswith(dialect + dot)] or ops)

    @property
    def last_read(self) -> int:
        """Where the last token before the current one ends: the place to blame for what was just read."""
        return max(0, len(self.lexer.input.content[: self.pos].rstrip()) - 1)


_PARSING = Lock()
"""One text at a time: for a loop without its terminator xDSL replaces a method of `Operation` while it adds one."""


def parse_module(
    text: str | bytes,
    filename: str = "<string>",
    *,
    context: Context | None = None,
    line_offset: int = 0,
    implicit_module: bool = True,
) -> ModuleOp:
    """Textual IR as a module whose ops all know their place in `filename`; it is not verified yet (`verify_module`).

    `line_offset` is the number of lines before `text` in the file; `implicit_module` wraps top-level ops in a module. Any text
    gives a module or raises an AscirError at a position, never another exception.
    """
    from ascir.universe import new_context

    source = _decode(text, filename, line_offset)
    linecache.cache.pop(filename, None)
    if not os.path.exists(filename):
        _remember(source, filename, line_offset)
    if not source.strip():
        raise ParsingError("the file is empty", _start_of(filename, line_offset), "an operation such as func.func")
    parser: LocatingParser | None = None
    try:
        parser = LocatingParser(context or new_context(), source, filename, line_offset)
        with _PARSING:
            module = parser.parse_module(implicit_module)
    except ParseError as error:
        raise _syntax_error(error, source, filename, line_offset) from error
    except Exception as error:
        location = parser.location_at(parser.last_read) if parser else _start_of(filename, line_offset)
        raise _provoked_error(error, location) from error
    if isinstance(module.location, UnknownLoc):
        module.location = _start_of(filename, line_offset)
    return module


def _start_of(filename: str, line_offset: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(filename), IntAttr(line_offset + 1), IntAttr(1))


def _decode(text: str | bytes, filename: str, line_offset: int) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8", "replace")
        _remember(text.decode("utf-8", "replace"), filename, line_offset)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        place = FileLineColLoc(StringAttr(filename), IntAttr(line + line_offset), IntAttr(column))
        raise ParsingError(f"byte 0x{text[error.start]:02x} is not UTF-8", place, hint="save the file as UTF-8 text") from error


def _remember(text: str, filename: str, line_offset: int) -> None:
    """Keep the lines of text that is no readable file (standard input, strings), so that later messages can show them."""
    lines = ["\n"] * line_offset + [line + "\n" for line in text.split("\n")]
    linecache.cache[filename] = (len(text), None, lines, filename)


_PLAINER = {
    "Could not parse entire input!": "expected an operation",
    "in block definition": "expected an operation or '}'",
}
"""What xDSL's parser says → what it means."""


def _syntax_error(error: ParseError, text: str, filename: str, line_offset: int) -> ParsingError:
    """xDSL's syntax error as one of ours; at the end of the file, the caret stands after the last thing read."""
    message = _printable(" ".join(error.msg.split()))
    start, width, found = error.span.start, error.span.len, error.span.text
    if message in _PLAINER:
        message = _PLAINER[message] + (f", found '{found}'" if found.strip() else "")
    if not text[start:].strip():
        start, width = len(text.rstrip()), 1
        message += ", but the file ends here"
    where = Span(start, start + 1, Input(text, filename), line_offset).get_location()
    place = FileLineColLoc(StringAttr(filename), IntAttr(where.line), IntAttr(where.col))
    return ParsingError(message, place, hint=_references(error, line_offset), width=width)


def _references(error: ParseError, line_offset: int) -> str | None:
    if not isinstance(error, MultipleSpansParseError):
        return None
    lines = ", ".join(str(span.get_location().line + line_offset) for span, _ in error.refs)
    return f"{(error.ref_text or 'see').rstrip(':')}: line {lines}"


def _provoked_error(error: Exception, location: LocationAttr) -> AscirError:
    """What the parser or an op's own syntax threw at bad input."""
    text = " ".join(str(part) for part in error.args).replace("\n", " ")
    if isinstance(error, VerifyException):
        return VerifyingError(text, location)
    if isinstance(error, RecursionError):
        return ParsingError("nested too deeply to parse", location)
    if isinstance(error, ValueError):
        return ParsingError(text, location)
    return ParsingError(f"cannot parse this ({type(error).__name__}: {text})", location)


def verify_module(module: ModuleOp) -> None:
    """Verify every op; raise an AscirError at the first that fails."""
    try:
        module.verify()
    except Exception as error:
        raise located(error) from error


def located(error: Exception) -> AscirError:
    """An error raised by a verifier, a rewrite pattern or `emit_error`, with the place of the op it was raised for."""
    if isinstance(error, AscirError):
        return error
    text = re.sub(r":\n\s*", ": ", str(error)).strip()
    if isinstance(error, RecursionError):
        text = "nested too deeply"
    op = _op_at_fault(error)
    if op is None:
        return VerifyingError(text)
    if op.name not in text:
        text = f"{op.name}: {text}"
    return VerifyingError(text, _nearest_location(op))


@contextmanager
def blame(culprit: str) -> Generator[None]:
    """Turn what a pass or a target raises into an AscirError: its own refusals located, anything else an internal error of it."""
    try:
        yield
    except (AscirError, ShrinkException):
        raise
    except DiagnosticException as error:
        raise located(error) from error
    except Exception as error:
        place = located(error).location
        text = f"internal error in {culprit}: {type(error).__name__}: {' '.join(str(error).split())}"
        raise AscirError(text, place, hint="this is a bug in ascir; ASCIR_DEBUG=1 shows where") from error


def _op_at_fault(error: Exception) -> Operation | None:
    """The innermost op whose verifier, `emit_error` or rewrite pattern raised: xDSL's exceptions do not carry it."""
    found: Operation | None = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        variable = {"verify": "self", "emit_error": "self", "match_and_rewrite": "op"}.get(frame.f_code.co_name)
        candidate = frame.f_locals.get(variable) if variable else None
        if isinstance(candidate, Operation):
            found = candidate
    return found


def _nearest_location(op: Operation) -> LocationAttr | None:
    """The op's own place, or that of the nearest op around it that knows one."""
    around: Operation | None = op
    while around is not None and file_position(around.location) is None:
        around = around.parent_op()
    return around.location if around else None
