"""What our command line programs share: exit codes, and one message instead of a traceback.

0 for success, 1 when the input or the kernel is at fault, 2 when the command line is. ASCIR_DEBUG=1 lets every exception through.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import NoReturn

import ascir
from ascir.diagnostics import AscirError, UsageError, did_you_mean, file_position

_HERE = os.path.dirname(os.path.abspath(__file__))


class Parser(argparse.ArgumentParser):
    """argparse whose complaints are one line with the nearest name, and whose help ends with an example as it is written."""

    def __init__(self, prog: str, description: str, example: str, **options: object):
        super().__init__(prog, description=description, epilog=example, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"unrecognized arguments: (-[^\s=]+)", message)
        choice = re.match(r"(argument .*): invalid choice: '?([^' ]*)'? \(choose from (.*)\)", message)
        if unknown:
            options = re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", self.format_help())
            message = f"unknown option '{unknown[1]}'; {did_you_mean(unknown[1], options)}"
        elif choice:
            names = [name.strip(" '") for name in choice[3].split(",")]
            message = f"{choice[1]}: there is no '{choice[2]}'; {did_you_mean(choice[2], names)}"
        raise UsageError(message)


class Version(argparse.Action):
    """Print our version and xDSL's, looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"{parser.prog} {ascir.__version__} (xdsl {version('xdsl')})")
        parser.exit()


def run_tool(program: str, body: Callable[[], int | None]) -> int:
    """Run the body of a command line program; report what it raises and return the exit code, which may be the body's own."""
    stdout = sys.stdout
    if isinstance(stdout, TextIOWrapper):
        stdout.reconfigure(encoding="utf-8")  # IR and C hold characters beyond a C locale
    try:
        code = body()
        stdout.flush()
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; Python would complain again while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if os.environ.get("ASCIR_DEBUG"):
            raise
        print(_message(program, error), file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return code or 0


def _message(program: str, error: Exception) -> str:
    if not isinstance(error, AscirError):
        text = " ".join(str(error).split())
        return f"{program}: internal error: {type(error).__name__}: {text} (ASCIR_DEBUG=1 shows where)"
    place = file_position(error.location)
    if place is None or os.path.abspath(place.filename.data).startswith(_HERE):
        error.location = None  # the "author" was this program, acting for someone at a command line
        return f"{program}: {error}"
    return str(error)


def unreadable(path: str, error: OSError) -> str:
    """Why a file cannot be read, with the nearest name beside it when there is no such file."""
    if not isinstance(error, FileNotFoundError):
        return f"cannot read '{path}': {error.strerror}"
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        return f"cannot read '{path}': there is no folder '{folder}'"
    near = [entry.name for entry in os.scandir(folder or ".") if entry.is_file()]
    return f"cannot read '{path}': no such file; {did_you_mean(name, near)}" if near else f"cannot read '{path}': no such file"
