"""KernelBuilder: what each method builds, what it refuses and in which words, and that what it builds means what NumPy means.

Kernels run on the emulator and in the interpreter, which know nothing of each other; `test_builder_launch.py` is about launching.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from buildergen import programs, random_kernel, simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.dialects.scf import ForOp

from ascir import interpret
from ascir.builder import Buffer, Kernel, KernelBuilder, Mask
from ascir.diagnostics import AscirError
from ascir.dialects.memory import CopyOp
from ascir.dialects.vector import VectorOp
from ascir.machine import dtypes
from ascir.machine.instructions import INSTRUCTIONS, Instruction, cast_pipe


def run(kernel: Kernel, *arguments: Any, block_dim: int = 1) -> None:
    """Run a kernel on arrays in place, on the emulator and in the interpreter: the bits must agree."""
    copies: list[Any] = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    kernel[block_dim](*copies)
    interpret.run_kernel(kernel.module, kernel.name, arguments, block_dim)
    for copy, array in zip(copies, arguments, strict=True):
        if isinstance(array, np.ndarray):
            assert copy.tobytes() == array.tobytes()


def assert_round_trip(kernel: Kernel) -> Kernel:
    """The kernel verifies, prints, and what is parsed back prints the same."""
    kernel.module.verify()
    again = Kernel.parse(str(kernel))
    assert str(again) == str(kernel)
    return again


def vadd(tile: int = 64, name: str = "vadd") -> Kernel:
    k = KernelBuilder(name)
    x, y, z = k.gm("x", "float32"), k.gm("y", "float32"), k.gm("z", "float32", output=True)
    n = k.scalar("n", "int64")
    xt, yt, zt = (k.alloc(label, tile, "float32") for label in ("x_tile", "y_tile", "z_tile"))
    with k.for_(k.block_idx * tile, n, k.block_num * tile) as i:
        count = k.min(tile, n - i)
        k.copy(x[i : i + count], xt[:count])
        k.copy(y[i : i + count], yt[:count])
        k.add(xt[:count], yt[:count], out=zt[:count])
        k.copy(zt[:count], z[i : i + count])
    return k.build()


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("cores", [1, 3])
def test_vector_add_equals_numpy(n: int, cores: int) -> None:
    x, y, z = np.arange(n, dtype="f4"), np.full(n, 0.5, "f4"), np.zeros(n, "f4")
    run(assert_round_trip(vadd()), x, y, z, n, block_dim=cores)
    np.testing.assert_array_equal(z, x + y)


def test_ir_carries_the_author_s_names_and_lines() -> None:
    kernel = vadd()
    text = str(kernel)
    assert "ascend.kernel @vadd(%x: memref<?xf32, #ascend_memory.space<gm>>" in text
    assert "%count = arith.minsi" in text
    assert "scf.for %i = " in text
    lines = inspect.getsource(vadd).splitlines()
    first = vadd.__code__.co_firstlineno
    for kind, written in ((VectorOp, "k.add("), (CopyOp, "k.copy(x["), (ForOp, "k.for_(")):
        op = next(op for op in kernel.module.walk() if isinstance(op, kind))
        row = next(n for n, line in enumerate(lines) if written in line)
        assert isinstance(op.location, FileLineColLoc)
        place = (op.location.filename.data, op.location.line.data, op.location.column.data)
        assert place == (__file__, first + row, lines[row].index(written) + 1)


# every instruction


def buffers_for(k: KernelBuilder, row: Instruction, dtype: str) -> tuple[list[Any], Buffer | Mask, dict[str, Any]]:
    """Operands of the right kinds for one instruction, its destination and keyword arguments."""
    shape, c0 = (4, 64), dtypes.dtype(dtype).c0

    def buffer(dtype: str = dtype, shape: tuple[int, ...] = shape) -> Buffer:
        return k.alloc("t", shape, dtype)

    number = True if dtype == "i1" else 1
    operands: dict[str, Callable[[], tuple[list[Any], Buffer | Mask]]] = {
        "unary": lambda: ([buffer()], buffer()),
        "binary": lambda: ([buffer(), buffer()], buffer()),
        "scalar": lambda: ([buffer(), number], buffer()),
        "compare": lambda: ([buffer(), buffer()], k.alloc_mask(shape)),
        "compare_scalar": lambda: ([buffer(), number], k.alloc_mask(shape)),
        "select": lambda: ([k.alloc_mask(shape), buffer(), buffer()], buffer()),
        "select_scalar": lambda: ([k.alloc_mask(shape), buffer(), number], buffer()),
        "cast": lambda: ([buffer()], buffer("float32" if dtype != "f32" else "int32")),
        "duplicate": lambda: ([number], buffer()),
        "iota": lambda: ([number], buffer()),
        "block_broadcast": lambda: ([buffer(shape=(4,))], buffer(shape=(4, c0))),
        "copy": lambda: ([buffer()], buffer()),
        "reduce": lambda: ([buffer()], buffer(shape=(4,))),
    }
    sources, out = operands[row.form]()
    return sources, out, {"axis": 1} if row.form == "reduce" else {}


@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: row.name)
def test_every_instruction_is_a_method(row: Instruction) -> None:
    name = f"{row.name}_" if row.name in ("and", "or", "not") else row.name
    assert getattr(KernelBuilder, name).__doc__
    for dtype in row.dtypes:
        k = KernelBuilder("one")
        sources, out, keywords = buffers_for(k, row, dtype)
        assert getattr(k, name)(*sources, out=out, **keywords) is out
        kernel = k.build()
        op = next(op for op in kernel.module.walk() if isinstance(op, VectorOp))
        assert op.name == f"ascend_vector.{row.name}"
        assert op.row is row
        assert_round_trip(kernel)


@pytest.mark.parametrize("source", [d.name for d in dtypes.ALL])
def test_casts_are_those_the_table_has(source: str) -> None:
    for destination in dtypes.ALL:
        k = KernelBuilder("one")
        a, b = k.alloc("a", 64, source), k.alloc("b", 64, destination)
        if cast_pipe(source, destination.name) is None:
            with pytest.raises(AscirError, match=f"no direct cast {source} → {destination.name}; go through f32"):
                k.cast(a, out=b)
        else:
            k.cast(a, out=b, round="trunc")


def test_reductions_find_their_own_work_space() -> None:
    k = KernelBuilder("sums")
    x, rows, columns, total = (k.gm("x", "float32", (4, 64)), *(k.gm(n, "float32", s, output=True) for n, s in ROWS_COLUMNS_TOTAL))
    tile = k.alloc("tile", (4, 64), "float32")
    r, c, t = k.alloc("r", 4, "float32"), k.alloc("c", 64, "float32"), k.alloc("t", 1, "float32")
    k.copy(x, tile)
    k.reduce_sum(tile, out=r, axis=1)
    k.reduce_sum(tile, out=c, axis=0)
    k.reduce_sum(tile[2], out=t)
    for source, destination in ((r, rows), (c, columns), (t, total)):
        k.copy(source, destination)
    data = np.arange(256, dtype="f4").reshape(4, 64)
    out = [np.zeros(s, "f4") for _, s in ROWS_COLUMNS_TOTAL]
    run(assert_round_trip(k.build()), data, *out)
    for got, expected in zip(out, (data.sum(1), data.sum(0), [data[2].sum()]), strict=True):
        np.testing.assert_array_equal(got, expected)


ROWS_COLUMNS_TOTAL = (("rows", 4), ("columns", 64), ("total", 1))


def test_a_reduction_of_a_dynamic_slice_is_bounded_by_its_buffer() -> None:
    k = KernelBuilder("dynamic")
    n = k.scalar("n")
    tile, out = k.alloc("tile", (8, 64), "float32"), k.alloc("out", 8, "float32")
    k.reduce_max(tile[:n, :n], out=out[:n], axis=1)
    assert 'alloc "work" : memref<32xf32' in str(assert_round_trip(k.build()))


def test_compare_and_select_go_through_a_mask() -> None:
    k = KernelBuilder("clip")
    x, z, n = k.gm("x", "float16"), k.gm("z", "float16", output=True), k.scalar("n")
    a = k.alloc("a", 300, "float16")
    positive = k.alloc_mask(300)
    assert positive.name == "positive"
    k.copy(x[:n], a[:n])
    k.compares_gt(a[:n], 0.0, out=positive[:n])
    k.selects(positive[:n], a[:n], -1.0, out=a[:n])
    k.copy(a[:n], z[:n])
    data = np.linspace(-3, 3, 37, dtype="f2")
    out = np.zeros_like(data)
    run(assert_round_trip(k.build()), data, out, 37)
    np.testing.assert_array_equal(out, np.where(data > 0, data, np.float16(-1)))


def test_masks_combine_as_bits() -> None:
    k = KernelBuilder("between")
    x, z = k.gm("x", "float32", 64), k.gm("z", "float32", 64, output=True)
    a = k.alloc("a", 64, "float32")
    low, high = k.alloc_mask(64, "low"), k.alloc_mask(64, "high")
    k.copy(x, a)
    k.compares_ge(a, 10.0, out=low)
    k.compares_lt(a, 20.0, out=high)
    k.and_(low, high, out=low)
    k.selects(low, a, 0.0, out=a)
    k.copy(a, z)
    data, out = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    run(assert_round_trip(k.build()), data, out)
    np.testing.assert_array_equal(out, np.where((data >= 10) & (data < 20), data, 0))


# numbers, loops, branches, views


def evaluate(expression: Callable[[KernelBuilder, Any, Any], Any], a: int, b: int) -> int:
    """An integer expression of two arguments, computed by a kernel."""
    k = KernelBuilder("number")
    x, y = k.scalar("x"), k.scalar("y")
    z = k.gm("z", "int64", 1, output=True)
    out = k.alloc("out", 1, "int64")
    k.store(out, 0, expression(k, x, y))
    k.copy(out, z)
    result = np.zeros(1, "i8")
    run(assert_round_trip(k.build()), a, b, result)
    return int(result[0])


INTEGER_EXPRESSIONS: dict[str, Callable[[KernelBuilder, Any, Any], Any]] = {
    "sums": lambda k, x, y: 3 * x - y * 2 + 7 - (5 - x) + -y,
    "products": lambda k, x, y: x * y * 3 - y * x,
    "floor": lambda k, x, y: x // 3 + (-x) // 3 + 100 // y + x // y,
    "modulo": lambda k, x, y: x % 7 + (-x) % 7 + 100 % y + x % y,
    "extremes": lambda k, x, y: k.min(x, y) * 1000 + k.max(x, 4) + k.min(3, 5),
    "chosen": lambda k, x, y: k.where(x < y, x, y + 1) + k.where((x == y) | ~(x > 3), 10, 20) + k.where(True, 1, 2),
    "folded": lambda k, x, y: (x + y) - y - x + k.where((x - x) == 0, 5, 6),
    "exact division": lambda k, x, y: (8 * x + 4) // 4,
}


@pytest.mark.parametrize("name", INTEGER_EXPRESSIONS)
@pytest.mark.parametrize(("a", "b"), [(5, 3), (-5, 3), (5, -3), (0, 1), (2**40 + 1, 7)])
def test_integers_compute_as_in_python(name: str, a: int, b: int) -> None:
    class Python:
        min, max = min, max

        @staticmethod
        def where(condition: bool, a: int, b: int) -> int:
            return a if condition in (True, -1) else b

    expression = INTEGER_EXPRESSIONS[name]
    assert evaluate(expression, a, b) == expression(Python, a, b)  # pyright: ignore[reportArgumentType]


def test_what_folds_is_a_python_int() -> None:
    k = KernelBuilder("fold")
    n, x = k.scalar("n"), k.gm("x", "float32")
    assert (n + 128) - n == 128
    assert k.min(3, 4) == 3
    assert x[n : n + 128].shape == (128,)
    assert x[n * 128 : (n + 1) * 128].shape == (128,)
    assert n + 1 > n
    assert (4 * n) % 2 == 0


def test_float_scalars_round_to_their_dtype() -> None:
    k = KernelBuilder("floats")
    s, h, z = k.scalar("s", "float32"), k.scalar("h", "float16"), k.gm("z", "float32", 8, output=True)
    i = k.scalar("i")
    out = k.alloc("out", 8, "float32")
    values = [
        (1.0 - s) * 2.0 / s + -s,
        k.min(s, 0.5),
        k.max(s, 0.5),
        (h * h + 1.0).astype("float32"),
        s.astype("bfloat16").astype("float32"),
        i.astype("float32") / 2.0,
        k.where(s > 0.0, s, 0.0),
        s.astype("int64").astype("float32"),
    ]
    for position, value in enumerate(values):
        k.store(out, position, value)
    k.copy(out, z)
    f4, f2 = np.float32, np.float16
    a, b = f4(3.3), f2(0.1)
    result = np.zeros(8, "f4")
    run(assert_round_trip(k.build()), a, b, result, 7)
    bf16 = dtypes.dtype("bf16").to_numpy().type
    expected = [(f4(1) - a) * f4(2) / a + -a, f4(0.5), a, b * b + f2(1), f4(bf16(a)), f4(3.5), a, f4(3)]
    np.testing.assert_array_equal(result, np.array(expected, "f4"))


@pytest.mark.parametrize("dtype", [d.numpy for d in dtypes.ALL])
def test_load_and_store_reach_every_dtype(dtype: str) -> None:
    k = KernelBuilder("swap")
    x, z = k.gm("x", dtype, 32), k.gm("z", dtype, 32, output=True)
    t = k.alloc("t", (1, 32), dtype)
    k.copy(x, t[0])
    first = k.load(t, (0, 0))
    with k.for_(31) as i:
        k.store(t, (0, i), k.load(t[0], i + 1))
    k.store(t[0], 31, first)
    k.copy(t[0], z)
    row = dtypes.BY_NUMPY[dtype]
    data = (np.arange(32) % 2 if row.kind == "bool" else np.arange(-16, 16) if row.kind != "uint" else np.arange(220, 252)).astype(
        row.to_numpy()
    )
    out = np.zeros_like(data)
    run(assert_round_trip(k.build()), data, out)
    np.testing.assert_array_equal(out, np.roll(data, -1))


def test_branches_take_the_side_of_their_condition() -> None:
    k = KernelBuilder("branches")
    n, z = k.scalar("n"), k.gm("z", "int32", 8, output=True)
    t = k.alloc("t", 8, "int32")
    with k.for_(8) as i:
        with k.if_((i < n) & (i % 2 == 0)):
            k.store(t, i, i)
        with k.else_():
            with k.if_(i == 7):
                k.store(t, i, -7)
            with k.else_():
                k.store(t, i, 100)
    with k.if_(False):
        k.store(t, 0, 1)
    k.copy(t, z)
    out = np.zeros(8, "i4")
    run(assert_round_trip(k.build()), 5, out)
    np.testing.assert_array_equal(out, [0, 100, 2, 100, 4, 100, 100, -7])


def test_nested_loops_count_like_ranges() -> None:
    k = KernelBuilder("loops")
    n, z = k.scalar("n"), k.gm("z", "int64", 1, output=True)
    t = k.alloc("t", 1, "int64")
    k.store(t, 0, 0)
    with k.for_(n) as i, k.for_(i, n + 2) as j, k.for_(1, j, 3) as m:
        k.store(t, 0, k.load(t) + m * 100 + j * 10 + i)
    k.copy(t, z)
    out = np.zeros(1, "i8")
    run(assert_round_trip(k.build()), 6, out)
    assert out[0] == sum(m * 100 + j * 10 + i for i in range(6) for j in range(i, 8) for m in range(1, j, 3))


VIEWS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "row": (lambda t, n: t[n, :], lambda a: a[2, :]),
    "int row": (lambda t, n: t[-1], lambda a: a[-1]),
    "rows": (lambda t, n: t[n : n + 2], lambda a: a[2:4]),
    "tile": (lambda t, n: t[1:4, 8:24], lambda a: a[1:4, 8:24]),
    "tail": (lambda t, n: t[n:, -8:], lambda a: a[2:, -8:]),
    "slice of slice": (lambda t, n: t[1:, 8:][n, :16][8:], lambda a: a[1:, 8:][2, :16][8:]),
    "new axis": (lambda t, n: t[n, None, 8:], lambda a: a[2, None, 8:]),
    "every other row": (lambda t, n: t[::2, :8], lambda a: a[::2, :8]),
    "every n-th row": (lambda t, n: t[::n, :8], lambda a: a[::2, :8]),
    "flat": (lambda t, n: t.reshape(128), lambda a: a.reshape(128)),
    "flat rows": (lambda t, n: t[n : n + 2].reshape(64), lambda a: a[2:4].reshape(64)),
    "whole": (lambda t, n: t[:, :], lambda a: a),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_select_what_numpy_selects(name: str) -> None:
    ours, numpys = VIEWS[name]
    data = np.arange(128, dtype="f4").reshape(4, 32)
    expected = numpys(data)
    k = KernelBuilder("views")
    x, n, z = k.gm("x", "float32", (4, 32)), k.scalar("n"), k.gm("z", "float32", expected.shape, output=True)
    t, u = k.alloc("t", (4, 32), "float32"), k.alloc("u", expected.shape, "float32")
    k.copy(x, t)
    window = ours(t, n)
    k.copy(window, u[tuple(slice(size) for size in window.shape)])
    k.copy(u, z)
    out = np.zeros_like(expected)
    run(assert_round_trip(k.build()), data, 2, out)
    np.testing.assert_array_equal(out, expected)


def test_rows_and_blocks_repeat() -> None:
    k = KernelBuilder("repeat")
    x, s, z = k.gm("x", "float32", 64), k.gm("s", "float32", 4), k.gm("z", "float32", (4, 64), output=True)
    row, scale, blocks, out = (k.alloc("t", shape, "float32") for shape in (64, 4, (4, 8), (4, 64)))
    k.copy(x, row)
    k.copy(s, scale)
    k.block_broadcast(scale, out=blocks)
    k.mul(row.broadcast_to(4, 64), blocks.spread(64), out=out)
    k.copy(out, z)
    data, scales, result = np.arange(64, dtype="f4"), np.arange(1, 5, dtype="f4"), np.zeros((4, 64), "f4")
    run(assert_round_trip(k.build()), data, scales, result)
    np.testing.assert_array_equal(result, data * scales[:, None])


def test_a_matrix_argument_may_have_a_scalar_argument_for_columns() -> None:
    k = KernelBuilder("columns")
    rows, n = k.scalar("rows"), k.scalar("n")
    x, z = k.gm("x", "float32", (None, n)), k.gm("z", "float32", (rows, n), output=True)
    t = k.alloc("t", 64, "float32")
    with k.for_(k.block_idx, rows, k.block_num) as r:
        k.copy(x[r], t[:n])
        k.muls(t[:n], 2.0, out=t[:n])
        k.copy(t[:n], z[r, :])
    data = np.arange(30, dtype="f4").reshape(5, 6)
    out = np.zeros_like(data)
    run(assert_round_trip(k.build()), 5, 6, data, out, block_dim=2)
    np.testing.assert_array_equal(out, 2 * data)


def test_scalar_copy_takes_any_stride() -> None:
    k = KernelBuilder("column")
    x, z = k.gm("x", "float32", (8, 16)), k.gm("z", "float32", 8, output=True)
    t = k.alloc("t", 8, "float32")
    k.scalar_copy(x[:, 3], t)
    k.copy(t, z)
    data, out = np.arange(128, dtype="f4").reshape(8, 16), np.zeros(8, "f4")
    run(assert_round_trip(k.build()), data, out)
    np.testing.assert_array_equal(out, data[:, 3])


def test_flags_by_hand_print_and_parse() -> None:
    k = KernelBuilder("manual")
    x, z = k.gm("x", "float32", 64), k.gm("z", "float32", 64, output=True)
    t = k.alloc("t", 64, "float32")
    k.copy(x, t)
    k.set_flag("MTE2", "V", 0)
    k.wait_flag("mte2", "v", 0)
    k.abs(t, out=t)
    k.barrier("V")
    k.relu(t, out=t)
    k.set_flag("V", "MTE3", 1)
    k.wait_flag("V", "MTE3", 1)
    k.copy(t, z)
    text = str(assert_round_trip(k.build(sync="manual")))
    assert re.findall(r"ascend_memory\.(?:set_flag|wait_flag|barrier) .*", text) == [
        "ascend_memory.set_flag mte2 to v, 0",
        "ascend_memory.wait_flag mte2 to v, 0",
        "ascend_memory.barrier v",
        "ascend_memory.set_flag v to mte3, 1",
        "ascend_memory.wait_flag v to mte3, 1",
    ]


# mistakes


def mistake(write: Callable[[KernelBuilder, Any], Any]) -> str:
    """The one message a mistake gives, without the file's name; its caret stands under this test file's line."""
    k = KernelBuilder("wrong")
    names = SimpleNamespace(
        x=k.gm("x", "float32"),
        z=k.gm("z", "float32", (8, 64), output=True),
        unknown=k.gm("unknown", "float32", (None, None)),
        n=k.scalar("n"),
        s=k.scalar("s", "float32"),
        a=k.alloc("a", 64, "float32"),
        b=k.alloc("b", 64, "float32"),
        h=k.alloc("h", 64, "float16"),
        i=k.alloc("i", 64, "int32"),
        m=k.alloc("m", (8, 64), "float32"),
        odd=k.alloc("odd", (8, 10), "float32"),
        mask=k.alloc_mask(64),
    )
    with pytest.raises(AscirError) as caught:
        write(k, names)
    first, source, caret, *hint = str(caught.value).splitlines()
    assert first.startswith(__file__)
    assert source[caret.index("^") :].strip()
    message = first.split(": error: ")[1]
    return "\n".join([message, *hint])


MISTAKES: dict[str, tuple[Callable[[KernelBuilder, Any], Any], str]] = {
    "wrong dtype": (
        lambda k, v: k.add(v.a, v.h, out=v.b),
        "ascend_vector.add has operands of f16 and f32; they must agree (ascend_vector.cast converts)",
    ),
    "no such form": (
        lambda k, v: k.tanh(v.h, out=v.h),
        "ascend_vector.tanh has no f16 form; it takes f32",
    ),
    "wrong shape": (
        lambda k, v: k.add(v.a, v.b[:32], out=v.b),
        "ascend_vector.add: %b has shape [32]; expected [64]",
    ),
    "wrong rank": (
        lambda k, v: k.exp(v.m, out=v.a),
        "ascend_vector.exp: %m has shape [8, 64]; expected [64]",
    ),
    "extents that may differ": (
        lambda k, v: k.add(v.a[: v.n], v.b[: v.n], out=v.b),
        "add: a has n elements and out 64; they may differ\nhint: slice both with the same count: `a[:count]`, `b[:count]`",
    ),
    "wrong space": (
        lambda k, v: k.add(v.z[0], v.a, out=v.b),
        "ascend_vector.add needs operands in ub; %z is in gm. Copy it first: ascend_memory.copy",
    ),
    "misaligned": (
        lambda k, v: k.exp(v.a[1:9], out=v.b[:8]),
        "ascend_vector.exp: operand starts at byte 4 of its buffer; expected a multiple of 32",
    ),
    "rows apart": (
        lambda k, v: k.exp(v.odd, out=v.odd),
        "ascend_vector.exp: rows lie 40 B apart; expected a multiple of 32",
    ),
    "copy of unequal dtypes": (
        lambda k, v: k.copy(v.x[:64], v.h),
        "ascend_memory.copy moves f32 to f16; element types must agree (ascend_vector.cast converts)",
    ),
    "copy of unequal shapes": (
        lambda k, v: k.copy(v.x[:32], v.a),
        "ascend_memory.copy moves shape [32] to shape [64]; they must agree",
    ),
    "copy of extents that may differ": (
        lambda k, v: k.copy(v.x[: v.n], v.a),
        "copy: source has n elements and out 64; they may differ\nhint: slice both with the same count: `a[:count]`, `b[:count]`",
    ),
    "copy of an unknown size": (
        lambda k, v: k.copy(v.x, v.a),
        "x has an unknown size\nhint: slice it to the elements to take: `x[start : start + count]`",
    ),
    "copy to an input": (
        lambda k, v: k.copy(v.a, v.x[:64]),
        "x is an input, so the kernel may not write it\nhint: declare `k.gm('x', …, output=True)`",
    ),
    "copy from gm to gm": (
        lambda k, v: k.copy(v.x[:64], v.z[0]),
        "ascend_memory.copy: illegal path gm → gm; from gm a copy reaches l0a, l0b, l1, ub",
    ),
    "copy of a number": (
        lambda k, v: k.copy(cast(Any, 1.0), v.a),
        "copy: source is a buffer, got float\nhint: `k.copy(source, out)`",
    ),
    "number for a buffer": (
        lambda k, v: k.add(v.a, 1.0, out=v.b),
        "add: b is a buffer, got float 1.0\nhint: `k.adds` takes a number",
    ),
    "buffer for a number": (
        lambda k, v: k.muls(v.a, v.b, out=v.b),
        "muls: a number that fits float32 expected, got the buffer b[64] : f32 in ub",
    ),
    "float for an integer": (
        lambda k, v: k.muls(v.i, 1.5, out=v.i),
        "muls: a number that fits int32 expected, got float 1.5",
    ),
    "integer of the kernel for a float": (
        lambda k, v: k.adds(v.a, v.n, out=v.b),
        "adds: float32 expected, got the integer n\nhint: convert it: `i.astype('float32')`",
    ),
    "float of another dtype": (
        lambda k, v: k.adds(v.h, v.s, out=v.h),
        "adds: float16 expected, got float32\nhint: convert it: `s.astype('float16')`",
    ),
    "number out of range": (
        lambda k, v: k.adds(v.i, 2**31, out=v.i),
        "adds: 2147483648 does not fit int32 (-2147483648 to 2147483647)",
    ),
    "number too large": (
        lambda k, v: k.adds(v.h, 70000.0, out=v.h),
        "adds: 70000.0 is too large for float16",
    ),
    "no destination": (
        lambda k, v: k.exp(v.a),
        "exp: no destination\nhint: give it last, or as `out=buffer`",
    ),
    "buffer for a mask": (
        lambda k, v: k.select(v.a, v.a, v.b, out=v.b),
        "select: mask is a mask, got the buffer a[64] : f32 in ub\nhint: `k.alloc_mask(shape)` makes one",
    ),
    "mask cut within a byte": (
        lambda k, v: v.mask[8:16],
        "a slice of the mask mask starts at 8\nhint: eight elements share a byte: start at a multiple of 256",
    ),
    "no such rounding": (
        lambda k, v: k.cast(v.a, v.h, round="up"),
        "ascend_vector.cast: unknown rounding 'up'; expected one of rint, floor, ceil, round, trunc, odd",
    ),
    "no such axis": (
        lambda k, v: k.reduce_sum(v.m, out=v.a, axis=2),
        "reduce_sum: reduces axis 0 or 1 of a 2-d buffer, got axis 2 of m[8, 64] : f32 in ub",
    ),
    "reduction to a wrong size": (
        lambda k, v: k.reduce_sum(v.m, out=v.a[:16], axis=1),
        "ascend_vector.reduce_sum: %a has shape [16]; expected [8]",
    ),
    "work space too small": (
        lambda k, v: k.reduce_sum(v.m, out=v.a[:8], axis=1, work=v.b[:8]),
        "ascend_vector.reduce_sum needs a work space of 32 elements, got 8",
    ),
    "index outside": (
        lambda k, v: v.m[8],
        "index 8 is outside dimension 0 of m, which has 8 elements",
    ),
    "slice outside": (
        lambda k, v: v.a[60:70],
        "the slice 60:70 is outside dimension 0 of a, which has 64 elements",
    ),
    "slice of the wrong way": (
        lambda k, v: v.a[8:4],
        "the slice of dimension 0 of a ends at 4, before its start 8",
    ),
    "slice backwards": (
        lambda k, v: v.a[::-1],
        "a slice of a steps forward by 1 or more, got step -1",
    ),
    "slice without an end": (
        lambda k, v: v.x[v.n :],
        "dimension 0 of x has an unknown size\nhint: give the slice an end: `x[start : start + count]`",
    ),
    "index from an unknown end": (
        lambda k, v: v.x[-1],
        "index -1 counts from the end of dimension 0 of x, whose size is unknown",
    ),
    "rows an unknown distance apart": (
        lambda k, v: v.unknown[1, :8],
        "the rows of unknown lie an unknown distance apart"
        "\nhint: give the inner dimensions as scalar arguments: `k.gm(name, dtype, (None, n))`",
    ),
    "too many indices": (
        lambda k, v: v.a[0, 0],
        "a has 1 dimensions, but 2 are indexed",
    ),
    "no other shape": (
        lambda k, v: v.m.reshape(8, 63),
        "m[8, 64] : f32 in ub cannot be seen to have as many elements as [8, 63]",
    ),
    "no other shape with gaps": (
        lambda k, v: v.m[:, :32].reshape(256),
        "m[8, 32] : f32 in ub has gaps between its rows, so it has no other shape\nhint: take a slice that is contiguous",
    ),
    "no repeat": (
        lambda k, v: v.m.broadcast_to(8, 64),
        "m[8, 64] : f32 in ub cannot repeat as [8, 64]\nhint: a row of `columns` elements repeats as (rows, columns)",
    ),
    "no blocks": (
        lambda k, v: v.m.spread(64),
        "m[8, 64] : f32 in ub has no rows of one 32 B block\nhint: a block of float32 has 8 elements",
    ),
    "python's if": (
        lambda k, v: 1 if v.n > 0 else 2,
        "a condition is known only when the kernel runs\nhint: write `with k.if_(condition):` in place of `if`",
    ),
    "python's range": (
        lambda k, v: range(v.n),
        "this number is known only when the kernel runs\nhint: write `with k.for_(…) as i:` in place of `range(…)`",
    ),
    "python's for": (
        lambda k, v: list(v.a),
        "Python cannot loop over a: its elements are known only when the kernel runs\nhint: write `k.for_`",
    ),
    "item assignment": (
        lambda k, v: v.a.__setitem__(0, 1.0),
        "a[…] = … is not written so\nhint: write `k.copy(source, destination)` or `k.store(buffer, i, number)`",
    ),
    "true division": (
        lambda k, v: v.n / 2,
        "integers of a kernel have no `/`\nhint: write `//`, or convert first: `i.astype('float32') / …`",
    ),
    "division by zero": (lambda k, v: v.n // 0, "division by zero"),
    "integer and float": (
        lambda k, v: v.s + v.n,
        "an integer of the kernel and a float do not mix\nhint: convert it: `i.astype('float32')`",
    ),
    "two float dtypes": (
        lambda k, v: v.s + k.load(v.h),
        "scalars of float32 and float16 do not mix\nhint: convert one: `s.astype('float32')`",
    ),
    "no condition": (lambda k, v: k.if_(v.n), "expected a condition such as `i < n`, got Index n"),
    "else without if": (
        lambda k, v: k.else_().__enter__(),
        "else_ has no if_ before it\nhint: it follows at once: `with k.if_(…): …` and then `with k.else_(): …`",
    ),
    "counting down": (
        lambda k, v: k.for_(10, 0, -1),
        "for_ counts upwards, got step -1\nhint: count up and use `stop - 1 - i`",
    ),
    "no bounds": (lambda k, v: k.for_(), "for_ takes stop, or start and stop, or start, stop and step; got 0 numbers"),
    "load from gm": (
        lambda k, v: k.load(v.x, 0),
        "load reaches buffers in ub, got x[?] : f32 in gm\nhint: copy it to UB first: `k.copy`",
    ),
    "load outside": (
        lambda k, v: k.load(v.a, 64),
        "load: index 64 is outside dimension 0 of a, which has 64 elements",
    ),
    "load with too few indices": (
        lambda k, v: k.load(v.m, 1),
        "load takes an index for each of the 2 dimensions of m, got 1",
    ),
    "same pipe": (
        lambda k, v: k.set_flag("V", "V", 0),
        "ascend_memory.set_flag: a flag orders one pipe after another, got v to v; ascend_memory.barrier orders a pipe after itself",
    ),
    "event out of range": (
        lambda k, v: k.wait_flag("MTE2", "V", 8),
        "ascend_memory.wait_flag: event id 8 is not in 0…7",
    ),
    "no such pipe": (
        lambda k, v: k.barrier("MTE4"),
        "unknown pipe 'MTE4'; the AI Core has S, V, M, MTE1, MTE2, MTE3, FIXP, ALL\nhint: did you mean 'MTE3'?",
    ),
    "no such space": (
        lambda k, v: k.alloc("t", 8, "float32", "l2"),
        "unknown space 'l2'; the AI Core has l1, l0a, l0b, l0c, ub, bt, fb\nhint: did you mean 'l1'?",
    ),
    "alloc in gm": (
        lambda k, v: k.alloc("t", 8, "float32", "gm"),
        "a kernel allocates on-chip memory; global memory is passed in\nhint: declare it with `k.gm`",
    ),
    "alloc of a dynamic size": (
        lambda k, v: k.alloc("t", v.n, "float32"),
        "buffer t needs sizes known now, got n\nhint: allocate the most it can need and take a slice",
    ),
    "pitch too small": (
        lambda k, v: k.alloc("t", (4, 10), "float32", pitch=8),
        "the pitch of t is the distance between rows of a 2-d buffer, at least 10 elements; got 8",
    ),
    "float64": (
        lambda k, v: k.alloc("t", 8, "float64"),
        "the AI Core computes nothing in float64\nhint: use float32",
    ),
    "no dtype": (
        lambda k, v: k.gm("w", "complex64"),
        "a kernel holds no elements of type complex64\nhint: it knows bool, int8, uint8, int16, uint16, int32, uint32, int64,"
        " uint64, float16, bfloat16, float32",
    ),
    "an argument twice": (lambda k, v: k.gm("x", "float32"), "wrong has an argument x already"),
    "no identifier": (
        lambda k, v: k.scalar("2n"),
        "an argument's name is an identifier of ASCII letters, digits and underscores, got '2n'",
    ),
    "scalar of uint64": (
        lambda k, v: k.scalar("w", "uint64"),
        "a scalar argument is a float or an integer that int64 holds, got uint64",
    ),
    "dimension that is no argument": (
        lambda k, v: k.gm("w", "float32", (None, v.n * v.n)),
        "a dimension of an argument is made of scalar arguments, got (arith.muli)",
    ),
    "no such method": (
        lambda k, v: k.addd(v.a, v.a, out=v.a),
        "KernelBuilder has no method addd\nhint: did you mean 'add'?",
    ),
    "nothing writes the output": (
        lambda k, v: k.build(),
        "nothing writes the output z of wrong\nhint: copy to it, or declare it without output=True",
    ),
    "loop without with": (
        lambda k, v: (k.copy(v.a, v.z[0]), k.for_(8), k.build()),
        "a loop or branch is without its `with`\nhint: write `with k.for_(…) as i:`, `with k.if_(…):`",
    ),
    "event that is not known": (lambda k, v: k.set_flag("V", "S", v.n), "an event id is a number known now, got n"),
    "no cores": (lambda k, v: k.build(block_dim=0), "block_dim is the number of cores, 1 or more; got 0"),
    "no such target": (lambda k, v: k.build(target="ascend910c"), "unknown target 'ascend910c'; did you mean 'ascend910b'?"),
    "no such sync": (lambda k, v: k.build(sync="none"), "sync is 'auto', 'manual', 'unchecked'; got 'none'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_one_message_at_its_line(name: str) -> None:
    write, message = MISTAKES[name]
    assert mistake(write) == message


def test_flags_need_manual_synchronisation() -> None:
    k = KernelBuilder("flags")
    k.barrier("V")
    with pytest.raises(AscirError, match="flags calls barrier, but sync='auto' places the flags"):
        k.build()


def test_a_built_kernel_takes_no_more() -> None:
    k = KernelBuilder("done")
    a = k.alloc("a", 64, "float32")
    k.build()
    with pytest.raises(AscirError, match=r"ascend_vector\.exp: the kernel is built already"):
        k.exp(a, out=a)
    with pytest.raises(AscirError, match="done is built already"):
        k.gm("x", "float32")
    with pytest.raises(AscirError, match="done is built already"):
        k.build()


def test_values_do_not_leave_their_loop_or_kernel() -> None:
    k, other = KernelBuilder("one"), KernelBuilder("two")
    a = k.alloc("a", 64, "float32")
    with k.for_(8) as i:
        pass
    with pytest.raises(AscirError, match="uses a value of another kernel, or of a loop or branch that has ended"):
        k.load(a, i)
    with pytest.raises(AscirError, match="uses a value of another kernel, or of a loop or branch that has ended"):
        k.load(a, other.scalar("n"))
    with pytest.raises(AscirError, match="built inside a loop"), k.for_(8):
        k.build()


def test_a_refused_instruction_leaves_no_trace() -> None:
    k = KernelBuilder("clean")
    a, h = k.alloc("a", 64, "float32"), k.alloc("h", 64, "float16")
    with pytest.raises(AscirError), k.for_(8):
        k.add(a, h, out=a)
    k.exp(a, out=a)
    kernel = assert_round_trip(k.build())
    assert [op.name for op in kernel.module.walk() if isinstance(op, VectorOp | ForOp)] == ["ascend_vector.exp"]


# random kernels


@given(programs(), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_random_kernels_round_trip_and_equal_numpy(steps: list[Any], n: int) -> None:
    again = assert_round_trip(random_kernel(steps))
    data = [np.arange(32, dtype="f4") * (t - 1) for t in range(4)]
    expected = [d.copy() for d in data]
    with np.errstate(all="ignore"):
        simulate(expected, n, steps)
    run(again, n, *data)
    for got, want in zip(data, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_threads_build_without_disturbing_each_other() -> None:
    def text(tile: int) -> str:
        return str(vadd(tile, f"vadd{tile}"))

    alone = {tile: text(tile) for tile in (64, 128)}
    tiles = [64, 128] * 20
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(text, tiles)) == [alone[tile] for tile in tiles]


def test_threads_parse_without_disturbing_each_other() -> None:
    texts = [str(vadd())] * 60
    with ThreadPoolExecutor(4) as pool:
        assert [str(kernel) for kernel in pool.map(Kernel.parse, texts)] == texts


# launching: what is refused before anything runs


def launch_mistake(kernel: Kernel, *arguments: Any) -> str:
    with pytest.raises(AscirError) as caught:
        kernel[2](*arguments)
    first, source, _, *hint = str(caught.value).splitlines()
    assert source.strip() == "kernel[2](*arguments)"
    return "\n".join([first.split(": error: ")[1], *hint])


def test_arguments_are_checked_before_a_launch() -> None:
    kernel, x, z = vadd(), np.zeros(8, "f4"), np.zeros(8, "f4")
    wide, read_only = np.zeros(16, "f4"), np.zeros(8, "f4")
    read_only.flags.writeable = False
    for arguments, message in (
        ((x, x, z), "vadd: 4 arguments expected (x: float32[?], y: float32[?], z: float32[?], n: int64), got 3"),
        ((x, x.astype("f8"), z, 8), "vadd: y holds float32, got an array of float64\nhint: convert it with `.astype`"),
        ((x, x.astype(">f4"), z, 8), "vadd: y holds float32, got an array of >f4\nhint: convert it with `.astype`"),
        (([1.0], x, z, 8), "vadd: x is a NumPy array of float32, got list [1.0]\nhint: `np.asarray` makes one"),
        ((x, x.reshape(2, 4), z, 8), "vadd: y has shape (any), got an array of shape (2, 4)\nhint: `.ravel()` makes it 1-d"),
        ((x, x, z, 8.0), "vadd: n is an int64 number, got float 8.0"),
        ((x, x, z, 2**63), f"vadd: n = {2**63} does not fit int64 ({-(2**63)} to {2**63 - 1})"),
        ((x, x, wide[::2], 8), "vadd: the output z is not C-contiguous\nhint: pass a contiguous array and copy its elements back"),
        ((x, x, read_only, 8), "vadd: the output z is read-only"),
        (
            (x, z, z, 8),
            "vadd: y and z share memory and one is an output"
            "\nhint: for work in place declare one argument with output=True, and read and write it",
        ),
    ):
        assert launch_mistake(kernel, *arguments) == message
    with pytest.raises(AscirError, match="vadd: block_dim is the number of cores, 1 or more; got 0"):
        kernel[0]


def test_sizes_are_checked_against_their_scalar_arguments() -> None:
    k = KernelBuilder("sized")
    n, h = k.scalar("n", "uint8"), k.scalar("h", "float16")
    k.gm("x", "float32", (3, 2 * n + 1))
    k.store(k.alloc("t", 1, "float16"), 0, h)
    kernel = k.build()
    assert launch_mistake(kernel, 4, 1.0, np.zeros((3, 8), "f4")) == "sized: x has shape (3, 9), got an array of shape (3, 8)"
    assert launch_mistake(kernel, 300, 1.0, np.zeros((3, 8), "f4")) == "sized: n = 300 does not fit uint8 (0 to 255)"
    assert launch_mistake(kernel, 4, 1e5, np.zeros((3, 9), "f4")) == "sized: h = 100000.0 is too large for float16"
    assert launch_mistake(kernel, 4, "1", np.zeros((3, 9), "f4")) == "sized: h is a float16 number, got str '1'"


def test_textual_kernels_are_found_by_name() -> None:
    one = str(vadd()).removeprefix("builtin.module {").removesuffix("}")
    both = one + one.replace("@vadd", "@other")
    assert Kernel.parse(both, "other").name == "other"
    assert repr(Kernel.parse(one)) == "<ascir.Kernel vadd(x: float32[?], y: float32[?], z: float32[?], n: int64)>"
    assert [p.name for p in Kernel.parse(one).parameters if p.output] == ["z"]
    with pytest.raises(AscirError, match=r"k\.mlir holds 2 kernels\nhint: name one of vadd, other"):
        Kernel.parse(both, filename="k.mlir")
    with pytest.raises(AscirError, match=r"k\.mlir holds no ascend\.kernel @othr\nhint: did you mean 'other'"):
        Kernel.parse(both, "othr", filename="k.mlir")


def test_numpy_s_scalars_are_numbers() -> None:
    k = KernelBuilder("numpy")
    n, z = k.scalar("n"), k.gm("z", "bfloat16", (), output=True)
    t, flags = k.alloc("t", 16, "bfloat16"), k.alloc("flags", 32, "bool")
    bf16 = dtypes.dtype("bf16").to_numpy().type
    k.duplicate(bf16(1.5), out=t)
    k.duplicate(np.True_, out=flags)
    with k.if_(k.load(flags, cast(Any, np.int64(3)))), k.for_(cast(Any, np.int32(2)), np.int64(3) + n):
        k.store(t, 0, bf16(2.5))
    k.copy(t[:1], z[None])
    out = np.zeros((), bf16)
    run(assert_round_trip(k.build()), 1, out)
    assert out == bf16(2.5)


def test_names_that_end_in_numbers_stay_apart() -> None:
    k = KernelBuilder("numbered")
    arrays = [k.gm(f"x_{i}", "float32", 8, output=i > 0) for i in range(3)]
    tiles = [k.alloc("t_1", 8, "float32") for _ in range(2)]
    k.copy(arrays[0], tiles[0])
    k.adds(tiles[0], 1.0, out=tiles[1])
    for array, tile in zip(arrays[1:], tiles, strict=True):
        k.copy(tile, array)
    kernel = assert_round_trip(k.build())
    assert re.findall('alloc "(.*)"', str(kernel)) == ["t_1", "t_1_1"]
    data = [np.full(8, value, "f4") for value in (5, 0, 0)]
    run(kernel, *data)
    assert [array[0] for array in data] == [5, 5, 6]
