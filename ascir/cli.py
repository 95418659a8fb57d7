"""`ascir`: the command line, a table of commands that are imported when they are called.

Each command's work is in a file of `ascir/tools`; this one holds what a person types: names, options, help and examples.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from ascir.backend_c.progress import silenced
from ascir.backend_c.schedule import SCHEDULES
from ascir.passes.pipeline import SYNC
from ascir.tools.shell import Parser, Version, run_tool

EXAMPLE = """\
examples:
  ascir demo                                              a photograph becomes a sketch, every stage left to look at
  ascir run gelu.py:gelu --input x.npy --output y.npy     compile a NumPy function and run it on the emulator
  ascir run kernel.mlir --input x.npy y.npy 1000 --output z.npy --profile
  ascir compile gelu.py --input float16[8,1024] -o gelu.c
  ascir compare golden.npy y.npy                          which elements differ, and by how much
  ascir info                                              what this machine has
'ascir COMMAND --help' tells more; ascir-opt runs single passes on textual IR."""

_FILE = "FILE is Python source with a @hybrid_operator (or an ascir.Kernel), or textual IR with a function or kernel; :NAME picks one."

_RUN = """\
examples:
  ascir run gelu.py:gelu --input x.npy --output y.npy
  ascir run examples/vadd.mlir --input x.npy y.npy 1000 --output z.npy --block-dim 8 --profile
  ascir run kernel.mlir --input x.npy --sync unchecked

The inputs of a kernel go to its arguments in order: .npy files to arrays, numbers to scalars. Arrays that it writes are made of
zeros, with the sizes of the first input where their own are unknown, unless there is an input for every argument.

Flags and barriers of a kernel: --sync auto places them where a kernel has none, and checks them before it runs (textual IR starts
so); manual only checks; unchecked neither places nor checks, so that the emulator tells what goes wrong."""

_COMPILE = """\
examples:
  ascir compile gelu.py:gelu --input float16[8,1024] -o gelu.c
  ascir compile examples/vadd.mlir --stage insert-sync"""

_COMPARE = """\
examples:
  ascir compare golden.npy result.npy
  ascir compare golden.npy result.npy --rtol 1e-3 --atol 1e-6
  ascir compare all.npz:golden result.npy --dtype bfloat16

The rule: re = |result - golden| / (|golden| + 1e-7); mean(re) < τ and max(re) < 10 τ, where τ is 2⁻¹⁰ for float16, 2⁻⁷ for bfloat16
and 2⁻¹³ for float32, whichever the result is (--dtype names another). NaN and infinities stand in the same places. Integers, bools and
float64 are equal. With --rtol or --atol every element has |result - golden| <= atol + rtol × |golden| as in np.isclose, NaNs being equal
(the one left out is NumPy's: rtol 1e-5, atol 1e-8); then that decides, and the rule is only told.

Exit code: 0 when the result is right, 1 when it is not, 2 when the files cannot be compared."""

_INFO = """\
examples:
  ascir info                              versions, target, compiler, cache
  ascir info -t memory                    sizes, alignments and paths of the on-chip memories; what the last run took
  ascir info -t types                     element types in NumPy, IR and C
  ascir info -t instructions              vector instructions and the types they compute
  ascir info -t memory --target "ascend910b{ub=98304}" """

_DEMO = """\
examples:
  ascir demo
  ascir demo --output /tmp/sketch"""

TOPICS = ("summary", "memory", "types", "instructions")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:NAME]", help="what to run")
    parser.add_argument("--input", nargs="+", action="extend", default=[], metavar="X", help=".npy files, or numbers for scalars")
    parser.add_argument("--output", nargs="+", action="extend", default=[], metavar="Y.npy", help="where to save the results, in order")
    parser.add_argument("--block-dim", type=_cores, metavar="N", help="run on so many cores")
    parser.add_argument("--sync", choices=SYNC, help="who orders the pipes of a kernel (see below)")
    parser.add_argument("--schedule", choices=SCHEDULES, help="the order in which the emulator computes values (eager)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which of the shuffled schedules")
    parser.add_argument("--profile", action="store_true", help="print cycles, time and what each pipe did")
    parser.add_argument("--trace", metavar="T.json", help="save a timeline that Perfetto opens")


def _cores(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of cores is 1 or more, got '{text}'")
    return int(text)


def _add_compile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:NAME]", help="what to compile")
    parser.add_argument(
        "--input", nargs="+", action="extend", default=[], metavar="X", help=".npy files or types such as float16[8,1024] to compile for"
    )
    parser.add_argument("-o", "--output-file", metavar="OUT.c", help="where to write; standard output when left out")
    parser.add_argument("--stage", metavar="PASS", help="print the IR after this pass instead of C")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("golden", metavar="GOLDEN.npy", help="what is right, best in float64; FILE.npz:NAME picks an array")
    parser.add_argument("result", metavar="RESULT.npy", help="what is judged")
    parser.add_argument("--rtol", type=_tolerance, metavar="R", help="relative tolerance of an element")
    parser.add_argument("--atol", type=_tolerance, metavar="A", help="absolute tolerance of an element")
    parser.add_argument("--dtype", choices=("float16", "bfloat16", "float32"), help="whose τ to judge by: what the kernel computed in")


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"a tolerance is a number from 0, got '{text}'")
    return value


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="DIR", default="ascir-demo", help="where pictures, IR, C and timeline go")


def _add_info(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-t", "--topic", choices=TOPICS, default="summary", help="what to tell")
    parser.add_argument("--target", default="ascend910b", help="a target, with changes: ascend910b{ub=98304,vector_cores=8}")


COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None], str]] = {
    "demo": ("Compile and run a real operator on a real photograph.", _DEMO, _add_demo, "demo:demo"),
    "run": ("Compile an operator or kernel and run it on the emulated AI Core.", f"{_FILE}\n\n{_RUN}", _add_run, "run:run"),
    "compile": ("Compile an operator or kernel and print its C.", f"{_FILE}\n\n{_COMPILE}", _add_compile, "run:compile_"),
    "compare": ("Tell how far one saved array is from another.", _COMPARE, _add_compare, "compare:compare"),
    "info": ("Tell what this machine and the target have.", _INFO, _add_info, "info:info"),
}
"""Command → what it does, how its help ends, its options, and module:function of `ascir.tools` that does it."""


def _parser() -> Parser:
    parser = Parser("ascir", "Compile NumPy functions for an Ascend AI Core and run them on an emulation of it.", EXAMPLE)
    parser.add_argument("--version", action=Version, nargs=0, help="print the versions and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (description, ending, add_options, _) in COMMANDS.items():
        command = commands.add_parser(name, description=description, example=ending, help=description)
        add_options(command)
        command.add_argument("-q", "--quiet", action="store_true", help="no progress bars, on a terminal too")
    return parser


def _dispatch(arguments: Sequence[str] | None) -> int | None:
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.command is None:
        parser.print_help()
        return 0
    module, _, function = COMMANDS[args.command][3].partition(":")
    work = getattr(import_module(f"ascir.tools.{module}"), function)
    if not args.quiet:
        return work(args)
    with silenced():
        return work(args)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 for success, 1 when the kernel or its data are at fault (or arrays differ), 2 when the command line is."""
    return run_tool("ascir", lambda: _dispatch(arguments))


if __name__ == "__main__":
    sys.exit(main())
