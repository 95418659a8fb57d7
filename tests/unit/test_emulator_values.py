"""Every instruction on every dtype computes what the table's NumPy meaning says, to the bit: 1-d and 2-d, full and broadcast.

One C library holds a kernel per instruction and dtype: it copies its operands in, issues the instruction, copies the result out. What
is expected comes from the interpreter's arithmetic, which shares no code with the emulator.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ascir.backend_c import emulator
from ascir.backend_c.build import compile_kernel
from ascir.backend_c.report import Profile
from ascir.interpret import numerics
from ascir.machine.dtypes import ALL, DType, dtype
from ascir.machine.instructions import INSTRUCTIONS, ROUND_MODES, Instruction, cast_pipe
from ascir.machine.layout import ceil_div, round_up
from ascir.machine.target import ASCEND910B

Array = NDArray[Any]

COUNTS = (1, 7, 16, 31, 127, 129, 1100)
SHAPES = ((2, 7), (5, 16), (3, 129), (33, 8), (2, 600))
ROOM = 32 * 1024
"""Bytes of each operand's buffer."""

# --- the kernels ----------------------------------------------------------------------------------------------------------------

_PRELUDE = f"""
#include "ascir_core.h"
enum {{ ROOM = {ROOM} }};
#define LOAD(type, name, place, number)                                          \\
  __local__ type *name = __alloc_ub(type, place * ROOM, ROOM / sizeof(type), #name); \\
  if (__arg(number).p) __memcpy_async(name, __arg(number).p, ROOM)
#define BEGIN(to, from)                                                    \\
  LOAD(to, out, 0, 0); LOAD(from, a, 1, 1); LOAD(from, b, 2, 2); LOAD(uint8_t, mask, 3, 3); \\
  __local__ from *work = __alloc_ub(from, 4 * ROOM, ROOM / sizeof(from), "work"); \\
  const int64_t rows = __arg(4).i, cols = __arg(5).i;                      \\
  const int64_t po = __arg(6).i, ra = __arg(7).i, ca = __arg(8).i, rb = __arg(9).i, cb = __arg(10).i, pm = __arg(11).i; \\
  const float f = __arg(12).f; const int64_t i = __arg(13).i, option = __arg(14).i; \\
  (void)f, (void)i, (void)option, (void)pm, (void)po, (void)ra, (void)ca, (void)rb, (void)cb, (void)work; \\
  __pipe_barrier(PIPE_ALL)
#define END __pipe_barrier(PIPE_ALL); __memcpy_async(__arg(0).p, out, ROOM)
#define OUT __t(out, rows, cols, po, 1)
#define A __t(a, rows, cols, ra, ca)
#define B __t(b, rows, cols, rb, cb)
#define MASK(pointer) __t(pointer, rows, (cols + 7) / 8, pm, 1)
#define S(type) _Generic((type){{0}}, half: f, bfloat16_t: f, float: f, default: i)
"""

_CALLS = {
    "unary": ("(out, a, cols)", "_2d(OUT, A)"),
    "copy": ("(out, a, cols)", "_2d(OUT, A)"),
    "binary": ("(out, a, b, cols)", "_2d(OUT, A, B)"),
    "scalar": ("(out, a, S(T), cols)", "_2d(OUT, A, S(T))"),
    "compare": ("(out, a, b, cols)", "_2d(MASK(out), A, B)"),
    "compare_scalar": ("(out, a, S(T), cols)", "_2d(MASK(out), A, S(T))"),
    "select": ("(out, mask, a, b, cols)", "_2d(OUT, MASK(mask), A, B)"),
    "select_scalar": ("(out, mask, a, S(T), cols)", "_2d(OUT, MASK(mask), A, S(T))"),
    "cast": ("(out, a, option, cols)", "_2d(OUT, A, option)"),
    "duplicate": ("(out, S(T), cols)", "_2d(OUT, S(T))"),
    "iota": ("(out, S(T), cols)", "_2d(OUT, S(T))"),
    "block_broadcast": ("(out, a, cols)", "(out, a, cols)"),
    "reduce": ("(out, __t(a, 1, cols, cols, 1), work, ROOM / sizeof(T), 1)", "(out, A, work, ROOM / sizeof(T), option)"),
}


def _kernel(row: Instruction, source: DType, target: DType) -> str:
    flat, matrix = (f"__hcc_{row.name}{call}" for call in _CALLS[row.form])
    body = f"BEGIN({target.c}, T); if (rows == 0) {flat}; else {matrix}; END;"
    return f"ASCIR_KERNEL({row.name}_{source.name}_{target.name}) {{ typedef {source.c} T; {body} }}"


def _targets(row: Instruction, source: DType) -> list[DType]:
    if row.form == "cast":
        return [d for d in ALL if d != source and cast_pipe(source.name, d.name)]
    return [dtype("ui8")] if row.form.startswith("compare") else [source]


@cache
def _library() -> Any:
    kernels = [_kernel(r, dtype(d), t) for r in INSTRUCTIONS for d in r.dtypes for t in _targets(r, dtype(d))]
    return compile_kernel("\n".join((_PRELUDE, *kernels)), "every_instruction")


# --- running one ----------------------------------------------------------------------------------------------------------------


def _buffer(values: Array) -> Array:
    """The values at the start of a buffer of ROOM bytes, which the kernel copies as a whole."""
    memory = np.zeros(ROOM, np.uint8)
    flat = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
    memory[: flat.size] = flat
    return memory


def _run(name: str, operands: Sequence[Array | None], numbers: Sequence[int | float]) -> Array:
    """The output buffer's bytes; asserts that no fault was found."""
    memory = [None if v is None else _buffer(v) for v in operands]
    names = (b"out", b"a", b"b", b"mask")
    args = [0 if m is None else emulator.Gm(m.ctypes.data, m.nbytes, n, n == b"out") for m, n in zip(memory, names, strict=True)]
    report = emulator.launch(emulator.Kernel(_library(), name), [*args, *numbers], 1, ASCEND910B)
    assert [str(f) for f in Profile.of([report]).faults] == []
    out = memory[0]
    assert out is not None
    return out


def _pitched(values: Array, pitch: int) -> Array:
    """Rows `pitch` elements apart."""
    padded = np.zeros((len(values), pitch), values.dtype)
    padded[:, : values.shape[1]] = values
    return padded


def _pitch(cols: int, element: DType) -> int:
    """Elements between rows: a multiple of 32 B, with a gap."""
    return round_up(cols, element.c0) + element.c0


# --- values ---------------------------------------------------------------------------------------------------------------------

_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, np.inf, -np.inf, np.nan, 1e-7, -1e-7, 6e4, -7e4, 3e9, -3e9, 1e19, -1e19, 3e38, 1e-40)


def _values(element: DType, count: int, seed: int) -> Array:
    """Random numbers of all sizes, with the awkward ones among them."""
    rng = np.random.default_rng(seed)
    to = element.to_numpy()
    if element.kind == "bool":
        return rng.integers(0, 2, count).astype(to)
    if element.is_integer:
        info = np.iinfo(to)
        wide = rng.integers(info.min, info.max, count, dtype=to, endpoint=True)
        small = rng.integers(max(info.min, -9), 70, count).astype(to)
        values = np.where(rng.random(count) < 0.5, wide, small)
        edges = np.array([0, 1, info.max, info.min, info.max - 1], to)
    else:
        values = (rng.standard_normal(count) * 10.0 ** rng.integers(-3, 4, count)).astype(to)
        edges = np.array(_SPECIAL).astype(to)
    places = rng.random(count) < 0.3
    return np.where(places, rng.choice(edges, count), values).astype(to)


def _bits(values: Array) -> Array:
    """Comparable bits: NaNs are all one; zeros keep their sign."""
    if values.dtype.kind not in "biu":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return values.view(f"u{values.dtype.itemsize}")


def _same(got: Array, expected: Array) -> None:
    expected = np.ascontiguousarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    wrong = np.argwhere(_bits(got) != _bits(expected))
    assert len(wrong) == 0, f"at {wrong[0]}: got {got[tuple(wrong[0])]}, expected {expected[tuple(wrong[0])]} ({len(wrong)} differ)"


ROWS = [(row.name, name) for row in INSTRUCTIONS for name in row.dtypes]
BY_NAME = {row.name: row for row in INSTRUCTIONS}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


_SEED = {name: number for number, name in enumerate(BY_NAME)}


def _scalar(element: DType, seed: int) -> Any:
    return _values(element, 8, seed)[seed % 8]


def _meaning(row: Instruction, values: dict[str, Any]) -> Array:
    """What the instruction makes of full operands (`a`, `b`, `mask`, `s`)."""
    match row.form:
        case "compare" | "compare_scalar":
            return numerics.pack_mask(numerics.instruction(row, **values))
        case "select":
            return numerics.choose(values["mask"], values["a"], values["b"])
        case "select_scalar":
            return numerics.choose(values["mask"], values["a"], values["s"])
        case "copy":
            return values["a"]
        case _:
            return numerics.instruction(row, **values)


_TAKES = {
    "unary": "a",
    "copy": "a",
    "binary": "a b",
    "scalar": "a s",
    "compare": "a b",
    "compare_scalar": "a s",
    "select": "mask a b",
    "select_scalar": "mask a s",
}
ELEMENT_WISE = [(name, d) for name, d in ROWS if BY_NAME[name].form in _TAKES]


def _element_wise(row: Instruction, element: DType, rows: int, cols: int, a_strides: str, b_strides: str) -> None:
    """One run; `…_strides` is "full", "row" (one row for all) or "block" (one block for a whole row)."""
    seed = _SEED[row.name] * 100 + cols
    shape = (max(rows, 1), cols)
    takes = _TAKES[row.form].split()
    values: dict[str, Any] = {}
    stored: dict[str, Array] = {}
    strides: dict[str, tuple[int, int]] = {"a": (0, 1), "b": (0, 1)}
    for k, (name, kind) in enumerate((("a", a_strides), ("b", b_strides))):
        if name in takes:
            values[name], stored[name], strides[name] = _source(element, shape, kind, seed + k)
    if "s" in takes:
        values["s"] = _scalar(element, seed)
    if "mask" in takes:
        values["mask"] = _values(dtype("i1"), shape[0] * cols, seed + 5).reshape(shape)
        stored["mask"] = _pitched(numerics.pack_mask(values["mask"]), _pitch(ceil_div(cols, 8), dtype("ui8")))
    target = _targets(row, element)[0]
    pitch, mask_pitch = _pitch(cols, target), _pitch(ceil_div(cols, 8), dtype("ui8"))
    scalar = values.get("s", 0)
    numbers: list[int | float] = [
        rows,
        cols,
        pitch,
        *strides["a"],
        *strides["b"],
        mask_pitch,
        float(scalar),
        int(scalar) if element.is_integer else 0,
        0,
    ]
    if element.kind == "bool":
        numbers[-2] = int(scalar)
    operands = [np.zeros(0, np.uint8), stored.get("a"), stored.get("b"), stored.get("mask")]
    out = _run(f"{row.name}_{element.name}_{target.name}", operands, numbers)
    expected = _meaning(row, values)
    per_row = mask_pitch if row.form.startswith("compare") else pitch
    got = out.view(expected.dtype)[: shape[0] * per_row].reshape(shape[0], per_row)
    _same(got[:, : expected.shape[1]], expected)
    assert not np.any(got[:, expected.shape[1] :].view(np.uint8)), "lanes past the end were written"


def _source(element: DType, shape: tuple[int, int], kind: str, seed: int) -> tuple[Array, Array, tuple[int, int]]:
    """(full values, what lies in memory, strides)."""
    rows, cols = shape
    if kind == "row":
        row = _values(element, cols, seed).reshape(1, cols)
        return np.broadcast_to(row, shape), row, (0, 1)
    if kind == "block":
        blocks = _values(element, rows * element.c0, seed).reshape(rows, element.c0)
        return blocks[:, np.arange(cols) % element.c0], blocks, (element.c0, 0)
    full = _values(element, rows * cols, seed).reshape(shape)
    pitch = _pitch(cols, element)
    return full, _pitched(full, pitch), (pitch, 1)


@pytest.mark.parametrize(("name", "element"), ELEMENT_WISE)
def test_element_wise(name: str, element: str) -> None:
    row, of = BY_NAME[name], dtype(element)
    for count in COUNTS:
        _element_wise(row, of, 0, count, "full", "full")
    for rows, cols in SHAPES:
        _element_wise(row, of, rows, cols, "full", "full")
    _element_wise(row, of, 5, 70, "full", "row")
    _element_wise(row, of, 5, 70, "block", "full")
    _element_wise(row, of, 3, 600, "row", "block")


@pytest.mark.parametrize("source", [d.name for d in ALL])
def test_cast(source: str) -> None:
    row, of = BY_NAME["cast"], dtype(source)
    for target in _targets(row, of):
        for mode, round in enumerate(ROUND_MODES):
            if round == "odd" and (source, target.name) != ("f32", "f16"):
                continue
            for count in (1, 31, 1100):
                a = _values(of, count, count + mode)
                out = _run(f"cast_{source}_{target.name}", [np.zeros(0), a, None, None], [0, count, 0, 0, 1, 0, 1, 0, 0.0, 0, mode])
                expected = numerics.convert(a, target.to_numpy(), round)
                _same(out.view(expected.dtype)[:count], expected)


@pytest.mark.parametrize("source", ["i32", "ui32", "i64", "ui64"])
def test_a_large_integer_is_rounded_to_bf16_once(source: str) -> None:
    """257 lies half-way between 256 and 258, also when a float cannot hold what makes it more: float would round it to 257, that to 256."""
    of = dtype(source)
    shift = 8 * of.bytes - 10
    a = np.array([(257 << shift) + d for d in (-1, 0, 1)] + [(259 << shift) + d for d in (-1, 0, 1)], of.to_numpy())
    expected = np.array([256, 256, 258, 258, 260, 260]) * 2.0**shift
    out = _run(f"cast_{source}_bf16", [np.zeros(0), a, None, None], [0, len(a), 0, 0, 1, 0, 1, 0, 0.0, 0, ROUND_MODES.index("rint")])
    emulated = out.view(dtype("bf16").to_numpy())[: len(a)]
    assert emulated.astype(float).tolist() == expected.tolist()
    assert numerics.convert(a, emulated.dtype, "rint").astype(float).tolist() == expected.tolist()


def test_cast_keeps_rows_apart() -> None:
    a = _values(dtype("f16"), 5 * 70, 1).reshape(5, 70)
    out = _run("cast_f16_f32", [np.zeros(0), _pitched(a, 96), None, None], [5, 70, 88, 96, 1, 0, 1, 0, 0.0, 0, 0])
    _same(out.view(np.float32)[: 5 * 88].reshape(5, 88)[:, :70], a.astype(np.float32))


@pytest.mark.parametrize("element", BY_NAME["duplicate"].dtypes)
def test_duplicate_and_iota(element: str) -> None:
    of = dtype(element)
    for rows, cols in ((0, 1), (0, 31), (0, 1100), (3, 70)):
        scalar = _scalar(of, cols)
        pitch = _pitch(cols, of)
        numbers: list[int | float] = [rows, cols, pitch, 0, 1, 0, 1, 0, float(scalar), 0 if of.is_float else int(scalar), 0]
        for name in ("duplicate", "iota"):
            if element not in BY_NAME[name].dtypes:
                continue
            out = _run(f"{name}_{element}_{element}", [np.zeros(0), None, None, None], numbers)
            line = numerics.iota(scalar, cols, of.to_numpy()) if name == "iota" else np.full(cols, scalar, of.to_numpy())
            got = out.view(line.dtype)[: max(rows, 1) * pitch].reshape(-1, pitch)[:, :cols]
            _same(got, np.broadcast_to(line, got.shape))


@pytest.mark.parametrize("element", BY_NAME["block_broadcast"].dtypes)
def test_block_broadcast(element: str) -> None:
    of = dtype(element)
    for count in (1, 7, 100):
        a = _values(of, count, count)
        out = _run(f"block_broadcast_{element}_{element}", [np.zeros(0), a, None, None], [0, count, *([0] * 6), 0.0, 0, 0])
        _same(out.view(a.dtype)[: count * of.c0].reshape(count, of.c0), np.repeat(a[:, None], of.c0, 1))


@pytest.mark.parametrize(("name", "element"), [(n, d) for n, d in ROWS if BY_NAME[n].form == "reduce"])
def test_reduce(name: str, element: str) -> None:
    row, of = BY_NAME[name], dtype(element)
    for rows, cols in ((1, 1), (1, 2), (3, 7), (4, 16), (9, 31), (2, 129), (31, 8), (64, 17), (5, 600)):
        a = _values(of, rows * cols, rows + cols).reshape(rows, cols)
        pitch = _pitch(cols, of)
        for axis in (0, 1):
            numbers: list[int | float] = [rows, cols, 0, pitch, 1, 0, 1, 0, 0.0, 0, axis]
            out = _run(f"{name}_{element}_{element}", [np.zeros(0), _pitched(a, pitch), None, None], numbers)
            expected = numerics.fold(row, a, axis)
            _same(out.view(a.dtype)[: expected.size], expected)


def test_a_long_fp16_sum_folds_halves() -> None:
    """The example of the issue: accumulation order, not luck, makes it exact."""
    a = np.array([[60000, 60000, -60000]], np.float16)
    out = _run("reduce_sum_f16_f16", [np.zeros(0), _pitched(a, 16), None, None], [1, 3, 0, 16, 1, 0, 1, 0, 0.0, 0, 1])
    assert out.view(np.float16)[0] == numerics.fold(BY_NAME["reduce_sum"], a, 1)[0] == np.float16(60000)


def test_rules_in_numbers() -> None:
    """The conventions that documentation promises, by example."""
    cases = [
        ("floor_div_i32_i32", np.int32, [7, -7, -(2**31), 5], [2, 2, -1, 0], [3, -4, -(2**31), 0]),
        ("mod_i32_i32", np.int32, [7, -7, -(2**31), 5], [-4, 4, -1, 0], [-1, 1, 0, 0]),
        ("shl_i8_i8", np.int8, [1, 1, 1, -1], [7, 8, -1, 1], [-128, 0, 0, -2]),
        ("shr_i8_i8", np.int8, [-1, -128, 64, 64], [9, 7, 6, 8], [-1, -1, 1, 0]),
        ("add_i64_i64", np.int64, [2**53, 2**63 - 1], [1, 1], [2**53 + 1, -(2**63)]),
    ]
    for name, of, a, b, expected in cases:
        operands = [np.zeros(0), np.array(a, of), np.array(b, of), None]
        out = _run(name, operands, [0, len(a), 0, 0, 1, 0, 1, 0, 0.0, 0, 0])
        assert out.view(of)[: len(a)].tolist() == expected, name
    out = _run("cast_i32_bf16", [np.zeros(0), np.array([259], np.int32), None, None], [0, 1, 0, 0, 1, 0, 1, 0, 0.0, 0, 0])
    assert out.view(dtype("bf16").to_numpy())[0] == 260
