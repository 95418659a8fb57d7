"""What `ascir-opt` does: read textual IR, run passes (`-p`, `-O`), print IR or C (`-t`), with one clear message for every mistake.

The options are those of xDSL's own driver. That driver is not used: importing it costs a tenth of the whole run (it looks up
installed packages), and its errors carry neither line nor the nearest name.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.targets.mlir import MLIRTarget
from xdsl.utils.target import Target

from ascir.diagnostics import ParsingError, UsageError, VerifyingError, blame, parse_module, verify_module
from ascir.tools.shell import Parser, Version, unreadable
from ascir.tools.specs import make, parse_spec, parse_specs
from ascir.universe import PASS_NAMES, PLAIN_PASSES, PLAIN_TARGETS, UNIVERSES, new_context

EXAMPLE = """\
examples:
  ascir-opt kernel.mlir                                        parse, verify, print
  ascir-opt kernel.mlir -p "plan-memory, insert-sync" -t c     allocate, synchronise, print C
  ascir-opt gelu.mlir -O2 -t c -o gelu.c                       the whole way from operators to C
  ascir-opt kernel.mlir -p canonicalize,cse --time-passes      print the IR and what each pass cost
ASCIR_DEBUG=1 shows the Python traceback of an error."""

SPLIT = "// -----"
"""The line between the pieces of a file with `--split-input-file`."""

FLAGS = {
    "print-between-passes": "print the IR between each two passes",
    "time-passes": "print how long each pass took",
    "split-input-file": "treat the pieces between '// -----' lines one by one",
    "verify-diagnostics": "print errors of verifiers and passes as output, and exit with 0",
    "parsing-diagnostics": "print syntax errors as output, and exit with 0",
    "print-op-generic": "print every op in its generic form",
    "print-no-properties": "print properties among the attributes",
    "print-debuginfo": "print the location of every op",
    "syntax-highlight": "colour the printed IR",
    "disable-verify": "do not verify",
    "allow-unregistered-dialect": "accept ops and types of unknown dialects",
    "no-implicit-module": "expect a module in the text instead of adding one",
}


def drive(arguments: Sequence[str] | None) -> None:
    """Do what the command line asks; UsageError when it is at fault, AscirError when the input is."""
    Driver(_read_arguments(arguments)).run()


class Driver:
    """One run: the input's chunks, each through the passes to the target."""

    def __init__(self, args: argparse.Namespace):
        self.args = args
        self.passes = _passes(args)
        self.target = _target(args)
        self.context = new_context()
        self.context.allow_unregistered = args.allow_unregistered_dialect

    def run(self) -> None:
        output = StringIO() if self.args.output_file else sys.stdout
        for number, (text, line_offset) in enumerate(self._chunks()):
            if number > 0:
                output.write(f"{SPLIT}\n")
            output.write(self._process(text, line_offset))
        if isinstance(output, StringIO):
            self._save(output.getvalue())

    def _chunks(self) -> Iterator[tuple[bytes, int]]:
        """The pieces of the input, each with the number of lines before it."""
        text = self._read()
        lines = 0
        for chunk in text.split(SPLIT.encode()) if self.args.split_input_file else (text,):
            yield chunk, lines
            lines += chunk.count(b"\n")

    def _read(self) -> bytes:
        if self.args.input_file in (None, "-"):
            return sys.stdin.buffer.read()
        try:
            with open(self.args.input_file, "rb") as file:
                return file.read()
        except OSError as error:
            raise UsageError(unreadable(self.args.input_file, error)) from None

    def _process(self, text: bytes, line_offset: int) -> str:
        """What to print for one chunk: the result, or the error when errors were asked for."""
        try:
            module = self._parse(text, line_offset)
            self._apply_passes(module)
            return self._emit(module)
        except ParsingError as error:
            if not self.args.parsing_diagnostics:
                raise
            return f"{error}\n"
        except VerifyingError as error:
            if not self.args.verify_diagnostics:
                raise
            return f"{error}\n"

    def _parse(self, text: bytes, line_offset: int) -> ModuleOp:
        name = "stdin" if self.args.input_file in (None, "-") else self.args.input_file
        implicit = not self.args.no_implicit_module
        return parse_module(text, name, context=self.context, line_offset=line_offset, implicit_module=implicit)

    def _apply_passes(self, module: ModuleOp) -> None:
        self._verify(module)
        self._check_dominance(module)
        for number, step in enumerate(self.passes, 1):
            started = time.perf_counter()
            with blame(f"pass '{step.name}'"):
                step.apply(self.context, module)
            if self.args.time_passes:
                print(f"// Pass {step.name} took {time.perf_counter() - started:.6f} seconds")
            self._verify(module, f"after {step.name}: ")
            if self.args.print_between_passes and number < len(self.passes):
                print(f"// IR after {step.name}:\n{self._printed(module)}\n")

    def _verify(self, module: ModuleOp, when: str = "") -> None:
        if self.args.disable_verify:
            return
        try:
            verify_module(module)
        except VerifyingError as error:
            error.message = when + error.message
            raise

    def _check_dominance(self, module: ModuleOp) -> None:
        """What xDSL's verifier leaves out, and a person who writes IR gets wrong; passes are tested for it instead."""
        if not self.args.disable_verify:
            from ascir.passes.verify_dominance import VerifyDominancePass

            with blame("verify-dominance"):
                VerifyDominancePass().apply(self.context, module)

    def _printed(self, module: ModuleOp) -> str:
        text = StringIO()
        Printer(text, print_generic_format=self.args.print_op_generic, print_debuginfo=self.args.print_debuginfo).print_op(module)
        return text.getvalue()

    def _emit(self, module: ModuleOp) -> str:
        text = StringIO()
        with blame(f"target '{self.target.name}'"):
            self.target.emit(self.context, module, text)
        return text.getvalue()

    def _save(self, text: str) -> None:
        try:
            with open(self.args.output_file, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"cannot write '{self.args.output_file}': {error.strerror}") from None


def _passes(args: argparse.Namespace) -> Sequence[ModulePass]:
    if args.opt_level is not None:
        from ascir.passes.pipeline import Options, operator_pipeline

        return operator_pipeline(Options(opt_level=args.opt_level))
    known: dict[str, Callable[[], type[ModulePass]]] = {}
    for universe in UNIVERSES:
        known.update(universe.all_passes)
    return [make("pass", spec, known | PLAIN_PASSES) for spec in parse_specs("-p", args.passes)]


def _target(args: argparse.Namespace) -> Target:
    known: dict[str, Callable[[], type[Target]]] = {}
    for universe in UNIVERSES:
        known.update(universe.all_targets)
    target = make("target", parse_spec("-t", args.target), known | PLAIN_TARGETS)
    if not isinstance(target, MLIRTarget):
        return target
    return replace(
        target,
        print_generic_format=args.print_op_generic or target.print_generic_format,
        print_properties_as_attributes=args.print_no_properties or target.print_properties_as_attributes,
        print_debuginfo=args.print_debuginfo or target.print_debuginfo,
        syntax_highlight=args.syntax_highlight or target.syntax_highlight,
    )


def _read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("ascir-opt", "Run passes over textual IR and print it, or the C it becomes.", EXAMPLE)
    parser.add_argument("input_file", nargs="?", help="textual IR; standard input when left out or '-'")
    passes = parser.add_mutually_exclusive_group()
    names = f"{', '.join(PASS_NAMES)}, canonicalize, and all of xDSL's"
    passes.add_argument("-p", "--passes", default="", help=f"'name{{option=value}}, name': {names}")
    passes.add_argument("-O", dest="opt_level", type=int, choices=(0, 1, 2), help="the whole pipeline, operators to kernels")
    parser.add_argument("-t", "--target", default="mlir", help="what to print: mlir (default), c, or one of xDSL's")
    parser.add_argument("-o", "--output-file", help="where to print; written only when all went well")
    parser.add_argument("-v", "--version", action=Version, nargs=0, help="print the versions and exit")
    for name, help_text in FLAGS.items():
        parser.add_argument(f"--{name}", action="store_true", help=help_text)
    return parser.parse_args(arguments)
