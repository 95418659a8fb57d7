"""@hybrid_operator: when it compiles and when it does not, what it passes on and gives back, and what its options refuse.

A stand-in for the compiler runs the traced module in the interpreter and counts; the last tests run the real one.
"""

# Functions under test are lambdas over whatever NumPy takes; their types are what is tested.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import ChainMap, deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import ascir
from ascir import TensorSpec, hybrid_operator, nn
from ascir.diagnostics import AscirError
from ascir.interpret import run_function
from ascir.operator import Program, empty

Array = Any


class Layer(NamedTuple):
    weight: Any
    bias: Any


class Compiler:
    """Stands in for `ascir.compile`: keeps what it was asked for, runs modules in the interpreter."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.inputs: list[Sequence[Array]] = []

    def compile_module(self, module: Any, **options: Any) -> Any:
        self.requests.append(options)

        def run(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
            assert all(a.flags.c_contiguous and a.dtype.isnative for a in inputs)
            self.inputs.append(inputs)
            for result, value in zip(outputs, run_function(module, options["name"], inputs), strict=True):
                result[...] = value

        def ir(stage: str | None = None) -> str:
            return f"{stage}: {module}"

        return SimpleNamespace(run=run, ir=ir, stages=["trace", "last"], c_source="/* C */")


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    compiler = Compiler()
    monkeypatch.setattr("ascir.compile.compile_module", compiler.compile_module)
    return compiler


def floats(*shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


# Compiling once.


def test_it_compiles_once_for_shapes_and_dtypes(compiler: Compiler):
    @hybrid_operator
    def double(x: Array, y: Array) -> Array:
        return x + 2 * y

    x = floats(3, 4)
    for a, b, compiled in [(x, x, 1), (x, x * 2, 1), (x, x[0], 2), (x.astype(np.float16), x, 3), (x[:2], x[:2], 4), (x, x, 4)]:
        np.testing.assert_array_equal(double(a, b), a + 2 * b)
        assert len(compiler.requests) == compiled


def test_keywords_defaults_and_variadic_parameters(compiler: Compiler):
    @hybrid_operator
    def scale(x: Array, by: float = 2.0, *more: Array, shift: float = 0, **named: Array) -> Array:
        return x * by + shift + sum(more) + sum(named.values())

    x = floats(5)
    np.testing.assert_array_equal(scale(x), x * 2)
    np.testing.assert_array_equal(scale(by=2.0, x=x), x * 2)
    assert len(compiler.requests) == 1
    np.testing.assert_array_equal(scale(x, 3, x, x, shift=1, z=x), x * 3 + 1 + (x + x) + x)
    np.testing.assert_array_equal(scale(x, by=True), x)


def test_numbers_are_part_of_the_program(compiler: Compiler):
    @hybrid_operator
    def f(x: Array, n: Any) -> Array:
        return x * n

    x = floats(4)
    for n in (2, 2.0, True, np.float32(2), np.float16(2), 0.0, -0.0, 2, 0.0):
        found, expected = f(x, n), x * n
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    assert len(compiler.requests) == 7
    assert np.isnan([f(x, float("nan")), f(x, float("nan"))]).all()
    assert len(compiler.requests) == 8


def test_structures_and_other_values_are_part_of_the_program(compiler: Compiler):
    @hybrid_operator
    def dense(x: Array, layers: Any, axis: Any = None, activation: Any = None) -> Any:
        for layer in layers:
            x = x * layer.weight + layer.bias
        x = x if activation is None else activation(x)
        return {"sum": x.sum(axis), "x": [x]}

    x, w = floats(2, 3), floats(3)
    layers = [Layer(w, w), Layer(w, 1.5)]
    for axis, activation in ((None, None), ((0, 1), np.tanh), (0, nn.relu), (0, nn.relu), (np.int64(1), np.tanh)):
        found, expected = dense(x, layers, axis, activation), dense.reference(x, layers, axis, activation)
        np.testing.assert_array_equal(found["sum"], expected["sum"])
        np.testing.assert_array_equal(found["x"][0], expected["x"][0])
    assert len(compiler.requests) == 4


def test_wrong_calls_are_explained(compiler: Compiler):
    @hybrid_operator
    def f(x: Array) -> Array:
        return x

    with pytest.raises(AscirError, match=r"f\(x: 'Array'\) -> 'Array': missing a required argument: 'x'"):
        f()
    with pytest.raises(AscirError, match=r"hint: assign the result: y\[...\] = f\(x\)"):
        f(floats(2), out=floats(2))
    with pytest.raises(AscirError, match=r"hint: pass np\.asarray"):
        f([1, 2])

    class Model:
        @hybrid_operator
        def forward(self, x: Array) -> Array:
            return x

    with pytest.raises(AscirError, match="a method cannot be an operator; decorate a function"):
        Model().forward(floats(2))  # pyright: ignore[reportArgumentType]


# Variables from outside.

FACTOR: Any = 2.0
TABLE = np.arange(3, dtype=np.float32)
SETTINGS = SimpleNamespace(shift=1.0, unrelated=0)
shape = 1  # a global that shares its name with an attribute


def test_a_changed_global_makes_a_new_program(compiler: Compiler, monkeypatch: pytest.MonkeyPatch):
    @hybrid_operator
    def f(x: Array) -> Array:
        return x * FACTOR

    x = floats(3)
    np.testing.assert_array_equal(f(x), x * 2)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    np.testing.assert_array_equal(f(x), x * 3)
    monkeypatch.setitem(globals(), "FACTOR", [3.0, 1.0])
    with pytest.raises(AscirError, match="a list is no tensor"):
        f(x)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    np.testing.assert_array_equal(f(x), x * 2)
    assert len(compiler.requests) == 2


def test_changes_are_seen_through_helpers_closures_and_objects(compiler: Compiler, monkeypatch: pytest.MonkeyPatch):
    power = 1.0

    def helper(x: Array) -> Array:  # pyright: ignore[reportRedeclaration]
        return x * FACTOR + SETTINGS.shift

    @hybrid_operator
    def f(x: Array) -> Array:
        return helper(x) * power

    x = floats(3)
    np.testing.assert_array_equal(f(x), x * 2 + 1)
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    np.testing.assert_array_equal(f(x), x * 4 + 1)
    monkeypatch.setattr(SETTINGS, "shift", 0.5)
    np.testing.assert_array_equal(f(x), x * 4 + 0.5)
    power = 3.0
    np.testing.assert_array_equal(f(x), (x * 4 + 0.5) * 3)
    count = len(compiler.requests)
    monkeypatch.setattr(SETTINGS, "unrelated", 9)
    f(x)
    assert len(compiler.requests) == count == 4

    def helper(x: Array) -> Array:  # noqa: F811
        return x

    np.testing.assert_array_equal(f(x), x * 3)


class Scale:
    """Its method reads an attribute and a global."""

    def __init__(self, by: float):
        self.by = by
        self.itself = self

    def apply(self, x: Array) -> Array:
        return x * self.by * FACTOR


def test_changes_are_seen_through_methods_partials_and_containers(compiler: Compiler, monkeypatch: pytest.MonkeyPatch):
    scale = Scale(2.0)
    steps: dict[str, list[Any]] = {"last": [partial(lambda by, x: x + by * SETTINGS.shift, 1.0)]}

    @hybrid_operator
    def f(x: Array) -> Array:
        return steps["last"][0](scale.itself.apply(x))

    x = floats(3)
    np.testing.assert_array_equal(f(x), x * 4 + 1)
    scale.by = 3.0
    np.testing.assert_array_equal(f(x), x * 6 + 1)
    monkeypatch.setitem(globals(), "FACTOR", 1.0)
    np.testing.assert_array_equal(f(x), x * 3 + 1)
    monkeypatch.setattr(SETTINGS, "shift", 0.0)
    np.testing.assert_array_equal(f(x), x * 3)
    steps["last"][0] = lambda x: -x
    np.testing.assert_array_equal(f(x), -(x * 3))
    assert len(compiler.requests) == 5
    np.testing.assert_array_equal(f(x), -(x * 3))
    assert len(compiler.requests) == 5


def test_a_changed_array_is_read_at_every_call(compiler: Compiler, monkeypatch: pytest.MonkeyPatch):
    large = floats(100, 100)

    @hybrid_operator
    def f(x: Array) -> Array:
        return x * large, x + TABLE[0], x + large.T

    x = floats(100, 100)
    np.testing.assert_array_equal(f(x)[0], x * large)
    large[3] = 7
    count = len(compiler.requests)
    np.testing.assert_array_equal(f(x)[0], x * large)
    assert len(compiler.requests) == count, "an array used as it is is passed at each call"
    monkeypatch.setitem(globals(), "TABLE", np.array([5, 0, 0], np.float32))
    np.testing.assert_array_equal(f(x)[1], x + 5)
    TABLE[0] = 6
    np.testing.assert_array_equal(f(x)[1], x + 6)


def test_an_attribute_is_no_global(compiler: Compiler, monkeypatch: pytest.MonkeyPatch):
    @hybrid_operator
    def f(x: Array) -> Array:
        return x * x.shape[0]

    f(floats(3))
    monkeypatch.setitem(globals(), "shape", 2)
    f(floats(3))
    assert len(compiler.requests) == 1


def test_what_was_computed_from_a_large_array_follows_it(compiler: Compiler):
    weights = np.random.default_rng(0).normal(size=(100, 100))

    @hybrid_operator
    def f(x: Array) -> Array:
        return x * weights.astype(np.float32)

    x = floats(100, 100)
    f(x)
    weights[0] = 2
    np.testing.assert_array_equal(f(x), x * weights.astype(np.float32))


def test_operators_call_operators(compiler: Compiler, monkeypatch: pytest.MonkeyPatch):
    @hybrid_operator
    def inner(x: Array) -> Array:
        return x * FACTOR

    @hybrid_operator
    def outer(x: Array) -> Array:
        return inner(x) + inner(x * 2)

    x = floats(3)
    np.testing.assert_array_equal(outer(x), x * 2 + x * 4)
    np.testing.assert_array_equal(outer.reference(x), x * 2 + x * 4)
    assert [r["name"] for r in compiler.requests] == ["outer"]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    np.testing.assert_array_equal(outer(x), x * 3 + x * 6)


# Memory.


def test_contiguous_arrays_are_passed_as_they_are(compiler: Compiler):
    @hybrid_operator
    def f(x: Array) -> Array:
        return x + 1

    x = floats(9, 8)
    odd = np.frombuffer(b"\0" * 5 + x.tobytes(), np.uint8)[5:].view(np.float32).reshape(9, 8)
    for array in (x, x[3:], odd):
        f(array)
        assert compiler.inputs[-1][0] is array


def test_other_arrays_are_copied(compiler: Compiler):
    @hybrid_operator
    def f(x: Array, y: Array) -> Array:
        return x + y

    x = floats(6, 6)
    big = x.astype(">f4")
    np.testing.assert_array_equal(f(x.T, x[:, ::-1]), x.T + x[:, ::-1])
    np.testing.assert_array_equal(f(big, x), x + x)
    np.testing.assert_array_equal(f(np.broadcast_to(x[0], (6, 6)), big.T), x[0] + x.T)
    assert f(big, x).dtype == np.float32
    program: Program = f.compile(x.T, big)._program  # pyright: ignore[reportPrivateUsage]
    assert program.copied([x.T, big]) == ["x: not C-contiguous", "y: not in this machine's byte order"]
    assert program.copied([x, x]) == []


def test_results_own_their_memory(compiler: Compiler):
    @hybrid_operator
    def f(x: Array) -> Any:
        return x, x + 1

    x = floats(4)
    first, second = f(x), f(x)
    assert not any(np.shares_memory(a, b) for a in first for b in (x, *second)) and first[0].flags.writeable
    first[0][...] = 9
    assert not (x == 9).any() and not (second[0] == 9).any()


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "int64", ml_dtypes.bfloat16])
def test_results_are_aligned(dtype: Any):
    for n in (0, 1, 7, 1000, 100_000, 1_000_000):
        for alignment in (8, 16, 32, 64):
            array = empty((n,), np.dtype(dtype), alignment)
            assert array.ctypes.data % alignment == 0 and array.shape == (n,) and array.dtype == dtype and array.flags.c_contiguous
            array[...] = 1


def test_functions_without_tensor_results_run_nothing(compiler: Compiler):
    @hybrid_operator
    def f(x: Array) -> Any:
        return x.shape, "done", None

    assert f(floats(2, 3)) == ((2, 3), "done", None)
    assert compiler.requests == []


def test_zero_dimensional_arguments_and_results(compiler: Compiler):
    @hybrid_operator
    def f(x: Array) -> Array:
        return x.sum() * 2

    found = f(np.array(1.5, np.float32))
    assert (float(found), found.dtype, found.shape) == (3.0, np.float32, ())


# Threads and time.


def test_threads_share_programs(compiler: Compiler):
    @hybrid_operator
    def f(x: Array, n: int) -> Array:
        return x * n + x.shape[0]

    errors: list[BaseException] = []

    def work() -> None:
        try:
            for k in range(12):
                x = floats(1 + k % 3)
                np.testing.assert_array_equal(f(x, k % 2), x * (k % 2) + x.shape[0])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and len(compiler.requests) == 6


def test_programs_are_not_kept_for_ever(compiler: Compiler, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ascir.operator.MAX_PROGRAMS", 4)

    @hybrid_operator
    def f(x: Array, n: int) -> Array:
        return x * n

    for n in range(10):
        f(floats(2), n)
    assert len(f._programs) == 4  # pyright: ignore[reportPrivateUsage]


def test_a_warm_call_costs_little(monkeypatch: pytest.MonkeyPatch):
    """All that Python does in a call besides running the kernel: below 50 µs on an idle machine, often 10."""
    monkeypatch.setattr("ascir.compile.compile_module", lambda module, **options: SimpleNamespace(run=lambda inputs, outputs: None))

    @hybrid_operator
    def f(x: Array, y: Array, n: float = 2.0) -> Array:
        return x * FACTOR + y * n

    x = floats(1024)
    f(x, x, 2.0)
    best = min(_seconds(lambda: f(x, x, 2.0)) for _ in range(200))
    assert best < 50e-6, f"{best * 1e6:.1f} µs"


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# Compiled operators.


def test_a_compiled_operator_shows_its_stages(compiler: Compiler):
    @hybrid_operator
    def f(x: Array) -> Array:
        return x + 1

    x = floats(3)
    k = f.compile(x)
    assert k.stages == ["trace", "last"] and "ascend.add" in k.ir("trace") and k.c_source == "/* C */"
    np.testing.assert_array_equal(k(x), x + 1)
    assert len(compiler.requests) == 1
    np.testing.assert_array_equal(f.compile(TensorSpec((3,), "float32"))(x), x + 1)
    assert len(compiler.requests) == 1, "a spec with all sizes is the program of such arrays"
    with pytest.raises(AscirError) as caught:
        k(floats(4))
    assert "this was compiled for float32[3], and is called with float32[4]" in str(caught.value)


def test_unknown_sizes_are_compiled_when_called(compiler: Compiler):
    @hybrid_operator
    def f(x: Array, y: Array) -> Array:
        return nn.softmax(x) * y

    k = f.compile(TensorSpec((8, None), "float16"), TensorSpec((None,), np.float32))
    assert k.stages == ["trace"] and "tensor<8x?xf16>" in k.ir() and k.ir("trace") == k.ir()
    with pytest.raises(AscirError, match="no C yet: a size is unknown"):
        _ = k.c_source
    with pytest.raises(AscirError, match="no stage 'insert-sync': a size is unknown"):
        k.ir("insert-sync")
    for n in (4, 5, 4):
        x, y = floats(8, n, dtype=np.float16), floats(n)
        np.testing.assert_array_equal(k(x, y), f.reference(x, y))
    assert len(compiler.requests) == 2
    with pytest.raises(AscirError, match=r"compiled for float16\[8, \?\], float32\[\?\], and is called with float16\[7, 4\], float32\[4\]"):
        k(floats(7, 4, dtype=np.float16), floats(4))


def test_infer_shape_fills_and_is_checked(compiler: Compiler):
    asked: list[Any] = []

    def shapes(x: Any, y: Any) -> Any:
        asked.append((x, y))
        return [(x[0] or 8, 4), (4,)]

    @hybrid_operator(infer_shape=shapes)
    def f(x: Array, y: Array) -> Any:
        return x + y, y * 2

    module = f.compile(TensorSpec((None, 4), "float32"), TensorSpec((4,), "float32")).ir()
    assert "-> (tensor<8x4xf32>, tensor<4xf32>)" in module and asked == [((None, 4), (4,))]
    f(floats(3, 4), floats(4))
    assert asked[-1] == ((3, 4), (4,))
    for wrong, message in [
        (lambda *_: (3, 5), "infer_shape gave (3, 5) for result 0, but the function makes (3, 4)"),
        (lambda *_: ((3, 4), (4,)), "infer_shape gave 2 shapes, but the function returns 1 tensors"),
        (lambda *_: (3, "x"), "infer_shape gave the size 'x'"),
    ]:
        with pytest.raises(AscirError) as caught:
            hybrid_operator(infer_shape=wrong)(lambda x: x + 1)(floats(3, 4))
        assert message in str(caught.value)


def test_options_are_passed_on(compiler: Compiler):
    @hybrid_operator(precision="strict", opt_level=1, block_dim=3, target="ascend910b{ub=98304}")
    def f(x: Array) -> Array:
        return x + 1

    f(floats(2))
    asked = {"name": "f", "precision": "strict", "opt_level": 1, "block_dim": 3, "target": "ascend910b{ub=98304}"}
    f.options = replace(f.options, block_dim=5)
    f(floats(2))
    assert compiler.requests == [asked, asked | {"block_dim": 5}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "fp16"}, "there is no precision 'fp16'"),
        ({"precision": "fp16"}, "hint: it is one of 'mixed', 'strict'"),
        ({"opt_level": 9}, "there is no opt_level 9"),
        ({"block_dim": 0}, "block_dim is a number of cores from 1 up, or None to choose; got 0"),
        ({"target": "ascend910x"}, "unknown target 'ascend910x'; did you mean 'ascend910b'?"),
    ],
)
def test_options_that_do_not_exist(options: dict[str, Any], message: str):
    with pytest.raises(AscirError) as caught:
        hybrid_operator(**options)
    assert message in str(caught.value) and str(caught.value).startswith(__file__)


def test_an_operator_looks_like_its_function():
    @hybrid_operator
    def norm(x: Array, eps: float = 1e-5) -> Array:
        """Says what it does."""
        return x

    assert (norm.__name__, norm.__doc__) == ("norm", "Says what it does.")  # pyright: ignore[reportAttributeAccessIssue]
    assert repr(norm).startswith("<hybrid_operator norm(x")
    assert hybrid_operator(lambda x: x).compile(floats(2)).ir("trace").count("@lambda") == 1
    with pytest.raises(AscirError, match="hybrid_operator takes a function, got int"):
        hybrid_operator(3)  # pyright: ignore


# The real compiler and emulator.


@hybrid_operator
def statistics(x: Array, weight: Array, scale: float = 1.0) -> Any:
    """Several kernels, a strided argument, results of several shapes and dtypes."""
    y = nn.softmax(x * weight + TABLE[:1], axis=1) * scale
    return {"rows": (y.sum(axis=0), y.argmax(axis=1)), "all": [y.astype(np.float16), (y > 0.1).any()], "shape": y.shape}


def test_an_operator_runs_on_the_emulator():
    x, weight = floats(37, 50)[::2], floats(50)
    found, expected = statistics(x, weight, scale=2.0), statistics.reference(x, weight, scale=2.0)
    np.testing.assert_allclose(found["rows"][0], expected["rows"][0], rtol=1e-5)
    np.testing.assert_array_equal(found["rows"][1], expected["rows"][1])
    np.testing.assert_allclose(found["all"][0], expected["all"][0], rtol=1e-3)
    assert found["all"][0].dtype == np.float16 and found["all"][1].dtype == np.bool_ and found["all"][1] and found["shape"] == (19, 50)


def test_a_compiled_operator_shows_c_and_a_profile(tmp_path: Path):
    x, weight = floats(38, 50)[::2], floats(50)
    k = statistics.compile(x, weight)
    assert k.stages[0] == "trace" and k.stages[-1] == "verify-dominance" and 'ascend.reduce "sum"' in k.ir("trace")
    assert "ascend.kernel" in k.ir() and "__aicore__" in k.c_source and "test_operator.py:" in k.c_source
    profile = k.profile(x, weight)
    assert profile.cycles and profile.faults == [] and profile.copied == ("x: not C-contiguous",)
    assert statistics.profile(x.copy(), weight).copied == ()
    profile.save_trace(tmp_path / "trace.json")
    assert (tmp_path / "trace.json").stat().st_size > 1000
    with pytest.raises(AscirError, match="did you mean 'plan-memory'"):
        k.ir("plan-memori")


# The package.


def test_importing_ascir_loads_neither_numpy_nor_xdsl():
    code = "import sys, ascir; print('numpy' in sys.modules, 'xdsl' in sys.modules); ascir.nn; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False False\nTrue\n"


def test_the_public_names():
    for name in ascir.__all__:
        assert getattr(ascir, name) is not None and name in dir(ascir)
    with pytest.raises(AttributeError, match="module 'ascir' has no attribute 'nothing'"):
        _ = ascir.nothing  # pyright: ignore


def test_a_bare_ufunc_is_a_function_of_its_operands() -> None:
    x = np.linspace(-1, 1, 7, dtype=np.float32)
    np.testing.assert_allclose(hybrid_operator(np.exp)(x), np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(hybrid_operator(np.maximum)(x, -x), np.abs(x))


class Module:
    """Reads its own attribute, one of its class, a property, and one that a slot holds."""

    rate = 1.0

    def __init__(self) -> None:
        self.weight = 2.0
        self.inner = Slotted(1.0)

    @property
    def bias(self) -> float:
        return self.weight - 2.0

    def __call__(self, x: Array) -> Array:
        return x * self.weight * self.rate * self.inner.value + self.bias

    forward = __call__


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: float):
        self.value = value


@pytest.mark.parametrize("kind", ["method", "object", "called", "listed", "partial"])
def test_changes_are_seen_in_objects_that_are_called(compiler: Compiler, monkeypatch: pytest.MonkeyPatch, kind: str):
    module = Module()
    layers = [module]
    functions: dict[str, Any] = {
        "method": module.forward, "object": module, "partial": partial(module),
        "called": lambda x: module(x), "listed": lambda x: layers[0](x),
    }  # fmt: skip
    f = hybrid_operator(functions[kind])
    x = floats(3)
    np.testing.assert_array_equal(f(x), x * 2)
    module.weight = 3.0
    np.testing.assert_array_equal(f(x), x * 3 + 1)
    monkeypatch.setattr(Module, "rate", 2.0)
    np.testing.assert_array_equal(f(x), x * 6 + 1)
    module.inner.value = 0.5
    np.testing.assert_array_equal(f(x), x * 3 + 1)
    assert len(compiler.requests) == 4
    f(x)
    assert len(compiler.requests) == 4


def test_changes_are_seen_in_defaults_code_and_other_containers(compiler: Compiler):
    def helper(x: Array, by: list[float] = [2.0]) -> Array:  # noqa: B006
        return x * by[0] + len(data) + queue[0] + table["k"] + getattr(settings, "shift")  # noqa: B009

    data, queue, table, settings = bytearray(b"a"), deque([0.0]), ChainMap({"k": 0.0}), SimpleNamespace(shift=0.0)
    f = hybrid_operator(lambda x: helper(x))
    x = floats(3)
    np.testing.assert_array_equal(f(x), x * 2 + 1)
    helper.__defaults__ = ([3.0],)
    np.testing.assert_array_equal(f(x), x * 3 + 1)
    data.extend(b"bc")
    np.testing.assert_array_equal(f(x), x * 3 + 3)
    queue[0] = 1.0
    np.testing.assert_array_equal(f(x), x * 3 + 4)
    table["k"] = 1.0
    np.testing.assert_array_equal(f(x), x * 3 + 5)
    settings.shift = 1.0
    np.testing.assert_array_equal(f(x), x * 3 + 6)


def test_changes_are_seen_in_the_code_of_a_function(compiler: Compiler):
    def helper(x: Array) -> Array:
        return x * 2

    f = hybrid_operator(lambda x: helper(x))
    x = floats(3)
    np.testing.assert_array_equal(f(x), x * 2)
    helper.__code__ = (lambda x: x * 3).__code__
    np.testing.assert_array_equal(f(x), x * 3)


def test_objects_that_refer_to_each_other_are_followed_once(compiler: Compiler):
    ring = [SimpleNamespace(k=float(k)) for k in range(12)]
    for a in ring:
        for k, b in enumerate(ring):
            setattr(a, f"to{k}", b)
    first = ring[0]
    f = hybrid_operator(lambda x: x * first.to1.to2.to3.to4.to5.to6.to7.to8.to9.to10.to11.k)
    x = floats(3)
    started = time.perf_counter()
    np.testing.assert_array_equal(f(x), x * 11)
    ring[11].k = 5.0
    np.testing.assert_array_equal(f(x), x * 5)
    assert time.perf_counter() - started < 5


def test_a_captured_array_in_the_other_byte_order(compiler: Compiler):
    weight = np.arange(4).astype(">f4")
    f = hybrid_operator(lambda x: x * weight)
    x = floats(4)
    np.testing.assert_array_equal(f(x), x * weight)
    weight[1] = 7
    np.testing.assert_array_equal(f(x), x * weight)


def test_a_long_name_makes_no_long_file_name():
    def f(x: Array) -> Array:
        return x + 1

    f.__name__ = "x" * 300
    np.testing.assert_array_equal(hybrid_operator(f)(floats(3)), floats(3) + 1)


def test_a_dump_that_cannot_be_written_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASCIR_DUMP", str(tmp_path / "file"))
    with pytest.raises(AscirError, match=r"no folder can be made at .*file: File exists\nhint: set ASCIR_DUMP"):
        hybrid_operator(lambda x: x + 1)(floats(3))


def test_a_run_over_no_elements_has_an_empty_timeline(tmp_path: Path):
    profile = hybrid_operator(lambda x: x + 1).profile(floats(0))
    profile.save_trace(tmp_path / "trace.json")
    assert profile.trace()["traceEvents"] == []
