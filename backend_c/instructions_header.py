"""The instruction table as C, so that no instruction, dtype, pipe or hardware number is written down twice.

Two headers are generated when the runtime is built: `ascir_instructions.h` for kernels (numbers of opcodes and dtypes, the
`__hcc_…` vocabulary) and `instruction_tables.h` for the emulator (names, forms, pipes, the element loops, the target's numbers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import get_args

from ascir.machine.dtypes import ALL, BLOCK_BYTES, BY_NAME, DType
from ascir.machine.instructions import INSTRUCTIONS, ROUND_MODES, Form, Instruction, cast_pipe
from ascir.machine.target import PIPES, SPACES, Target

MEMORY_OPERATIONS = ("copy", "scalar_copy", "set_flag", "wait_flag", "pipe_barrier", "scalar_load", "scalar_store")
"""What goes through the door besides the rows of the table, in the order of their numbers after it."""

OPERATION_NAMES = (*(row.name for row in INSTRUCTIONS), *MEMORY_OPERATIONS)
"""Opcode → name, as messages and traces show it."""

TARGET_INTEGERS = (
    "vector_cores ub_bytes block_bytes repeat_bytes max_repeats max_stride_blocks event_ids"
    " max_copy_blocks max_copy_bytes aligned_gm_bytes l2_bytes queue_depth bank_groups group_banks"
).split()
"""Whole numbers of `Target` that the emulator reads, as int64_t of the same name."""

TARGET_NUMBERS = tuple(f.name for f in fields(Target) if f.type == "float")
"""All other numbers of `Target`, as double of the same name."""

_ARGUMENTS: dict[Form, tuple[str, str]] = {
    "unary": ("dst, a, n", "dst, a"),
    "binary": ("dst, a, b, n", "dst, a, b"),
    "scalar": ("dst, a, s, n", "dst, a, s"),
    "compare": ("dst, a, b, n", "dst, a, b"),
    "compare_scalar": ("dst, a, s, n", "dst, a, s"),
    "select": ("dst, mask, a, b, n", "dst, mask, a, b"),
    "select_scalar": ("dst, mask, a, s, n", "dst, mask, a, s"),
    "cast": ("dst, a, round, n", "dst, a, round"),
    "duplicate": ("dst, s, n", "dst, s"),
    "iota": ("dst, s, n", "dst, s"),
    "block_broadcast": ("dst, a, rows", ""),
    "copy": ("dst, a, n", "dst, a"),
    "reduce": ("dst, a, work, work_elements, axis", ""),
}
"""Parameters of a form's macro with a count and with 2-d operands (`ascir_core.h` defines what they do)."""


def public_header() -> str:
    """`ascir_instructions.h`: what a kernel needs to name dtypes, pipes and instructions."""
    lines = ["// Generated from ascir/machine/instructions.py by backend_c/instructions_header.py.", "#pragma once", ""]
    lines.append(_enum("", [*(_dtype(d) for d in ALL), "ASCIR_DTYPES"]))
    lines.append(_enum("", [*(f"PIPE_{p}" for p in PIPES), "ASCIR_PIPES", "PIPE_ALL = ASCIR_PIPES"]))
    lines.append(_enum("", [f"ROUND_{m.upper()}" for m in ROUND_MODES]))
    rows = [_opcode(row.name) for row in INSTRUCTIONS]
    memory = [f"ASCIR_OP_MEMORY_{name.upper()}" for name in MEMORY_OPERATIONS]
    lines.append(_enum("", [*rows, "ASCIR_ROWS", f"{memory[0]} = ASCIR_ROWS", *memory[1:], "ASCIR_OPERATIONS"]))
    lines.append(_enum("", [f"ASCIR_BLOCK_BYTES = {BLOCK_BYTES}"]))
    cases = ", ".join(f"{d.c}: {_dtype(d)}" for d in ALL)
    lines.append(f"#define ASCIR_DTYPE(value) _Generic((value), {cases})")
    lines.append("")
    lines.extend(line for row in INSTRUCTIONS for line in _macros(row))
    return "\n".join(lines) + "\n"


def tables() -> str:
    """`instruction_tables.h`: what the emulator knows about each instruction. Included once, by `tables.c`, but for its types."""
    forms = get_args(Form)
    lines = ["// Generated from ascir/machine/ by backend_c/instructions_header.py.", "#pragma once", ""]
    lines.append(_enum("", [f"FORM_{f.upper()}" for f in forms]))
    lines.append(_enum("", [*(f"SPACE_{s.upper()}" for s in SPACES), "SPACES"]))
    lines.append(_target_struct())
    lines.append("#ifdef ASCIR_TABLES")
    lines.append(_array("const uint8_t ascir_element_bytes[ASCIR_DTYPES]", (f"[{_dtype(d)}] = {d.bytes}" for d in ALL)))
    floats = (f"[{_dtype(d)}] = {int(d.is_float)}" for d in ALL)
    lines.append(_array("const bool ascir_is_float[ASCIR_DTYPES]", floats))
    of_rows = (f"[{_opcode(r.name)}] = FORM_{r.form.upper()}" for r in INSTRUCTIONS)
    lines.append(_array("const uint8_t ascir_form[ASCIR_ROWS]", of_rows))
    lines.append(_array("const int8_t ascir_pipe_of[ASCIR_ROWS][ASCIR_DTYPES]", map(_pipes, INSTRUCTIONS)))
    lines.append(_array("const int8_t ascir_cast_pipe[ASCIR_DTYPES][ASCIR_DTYPES]", map(_cast_pipes, ALL)))
    lines.append("#endif")
    return "\n".join(lines) + "\n"


def loops(*, floats: bool) -> str:
    """The element loops of the float rows or of the integer rows, as uses of the macros of `loops.h`, and their table."""
    rows = [row for row in INSTRUCTIONS if row.c_float or row.c_int]
    uses: list[str] = []
    entries: list[str] = []
    for row in rows:
        uses.extend(_float_loop(row) if floats else _integer_loops(row))
        entries.extend(_entries(row, floats))
    kind = "float" if floats else "integer"
    table = _array(f"ascir_loop *const ascir_{kind}_loops[ASCIR_ROWS][ASCIR_DTYPES]", entries)
    return "\n".join(("// Generated from ascir/machine/instructions.py by backend_c/instructions_header.py.", *uses, table)) + "\n"


def _dtype(dtype: DType) -> str:
    return f"ASCIR_{dtype.name.upper()}"


def _opcode(name: str) -> str:
    return f"ASCIR_OP_{name.upper()}"


def _enum(name: str, items: Iterable[str]) -> str:
    return f"enum {name}{{ {', '.join(items)} }};"


def _array(declaration: str, entries: Iterable[str]) -> str:
    return f"{declaration} = {{\n" + "".join(f"  {entry},\n" for entry in entries) + "};"


def _macros(row: Instruction) -> Iterator[str]:
    form = f"ASCIR_{row.form.upper()}"
    for suffix, parameters in zip(("", "_2d"), _ARGUMENTS[row.form], strict=True):
        if parameters:
            yield f"#define __hcc_{row.name}{suffix}({parameters}) {form}{suffix.upper()}({_opcode(row.name)}, {parameters})"


def _pipe_number(pipe: str | None) -> str:
    return "NO_PIPE" if pipe is None else f"PIPE_{pipe}"


def _pipes(row: Instruction) -> str:
    pipes = (row.pipe(d.name) if d.name in row.dtypes else None for d in ALL)
    return f"[{_opcode(row.name)}] = {{{', '.join(map(_pipe_number, pipes))}}}"


def _cast_pipes(source: DType) -> str:
    pipes = (None if source == d else cast_pipe(source.name, d.name) for d in ALL)
    return f"[{_dtype(source)}] = {{{', '.join(map(_pipe_number, pipes))}}}"


def _target_struct() -> str:
    members = [f"  int64_t {name};" for name in TARGET_INTEGERS]
    members += [f"  double {name};" for name in TARGET_NUMBERS]
    members.append("  int64_t reserved_event_ids;  // a bit an id")
    members.append("  int8_t path[SPACES][SPACES];  // source, destination → pipe, or NO_PIPE")
    members.append("  double cycles_per_element[ASCIR_ROWS][ASCIR_DTYPES];")
    members.append("  double repeat_reduce[ASCIR_DTYPES];  // cycles per element of a whole-repeat reduce")
    members.append("  double picojoules[ASCIR_ROWS][ASCIR_DTYPES];  // of the arithmetic on one element")
    members.append("  double passes[ASCIR_ROWS];  // times that an element goes from UB through the unit and back")
    return "\n".join(("typedef struct {", *members, "} ascir_target;"))


_ARRAY_FUNCTION = re.compile(r"m_(\w+)\((a|a, b)\)")

_LOOP: dict[Form, str] = {
    "unary": "UNARY",
    "binary": "BINARY",
    "reduce": "BINARY",
    "scalar": "SCALAR",
    "compare": "COMPARE",
    "compare_scalar": "COMPARE_SCALAR",
}


def _float_loop(row: Instruction) -> Iterator[str]:
    """One loop on float serves f16, bf16 and f32: the first two are widened before it and rounded after it."""
    match = _ARRAY_FUNCTION.fullmatch(row.c_float)
    if match:
        yield f"{_LOOP[row.form]}_FUNCTION({row.name}, m_{match.group(1)}_n)"
    elif row.c_float:
        yield f"{_LOOP[row.form]}({row.name}, f32, float, ({row.c_float}))"


def _integer_loops(row: Instruction) -> Iterator[str]:
    for dtype in map(BY_NAME.__getitem__, row.dtypes):
        if not dtype.is_float:
            yield f"{_LOOP[row.form]}({row.name}, {dtype.name}, {_carrier(dtype)}, ({row.c_int}))"


def _carrier(dtype: DType) -> str:
    """A bool is a byte here: no C compiler then assumes that it holds 0 or 1 before anything wrote it."""
    return "uint8_t" if dtype.kind == "bool" else dtype.c


def _entries(row: Instruction, floats: bool) -> Iterator[str]:
    for dtype in map(BY_NAME.__getitem__, row.dtypes):
        if dtype.is_float == floats:
            loop = "f32" if floats else dtype.name
            yield f"[{_opcode(row.name)}][{_dtype(dtype)}] = {row.name}_{loop}"
