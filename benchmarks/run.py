"""What `make bench` measures: the speeds the project promises, each as a ratio against something run beside it.

Best of several runs on either side, because machines are noisy in one direction only. The last column is the bar; the exit code is 1
when one is missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ascir import hybrid_operator
from ascir.backend_c.progress import bar
from ascir.compile import compile_module, context

EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class Result:
    """One line of the table; `value` must be at least (`more`) or at most the bar."""

    name: str
    value: float
    unit: str
    bar: float
    more: bool
    note: str

    @property
    def ok(self) -> bool:
        return self.value >= self.bar if self.more else self.value <= self.bar

    def __str__(self) -> str:
        sign = "≥" if self.more else "≤"
        return f"{'ok  ' if self.ok else 'MISS'} {self.name:<46} {self.value:8.2f} {self.unit:<3} ({sign} {self.bar:g})  {self.note}"


def best(function: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds of the fastest of several runs."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


@hybrid_operator
def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


@hybrid_operator
def add(x, y):
    return x + y


def against_numpy(name: str, operator: Any, arrays: list[Any], bar: float, repeats: int) -> Result:
    operator(*arrays)
    ours = best(lambda: operator(*arrays), repeats)
    numpy = best(lambda: operator.reference(*arrays), repeats)
    return Result(name, numpy / ours, "×", bar, True, f"{ours * 1e3:.1f} ms against NumPy's {numpy * 1e3:.1f} ms, checks on")


def gelu_f16() -> Result:
    x = np.random.default_rng(0).normal(size=4 << 20).astype(np.float16)
    return against_numpy("f16 gelu of 4 M elements, against NumPy f16", gelu, [x], 10, 3)


def gelu_f32() -> Result:
    x = np.random.default_rng(0).normal(size=4 << 20).astype(np.float32)
    return against_numpy("f32 gelu of 4 M elements, against NumPy", gelu, [x], 2, 5)


def add_f32() -> Result:
    x, y = (np.random.default_rng(k).normal(size=16 << 20).astype(np.float32) for k in range(2))
    add(x, y)
    ours = best(lambda: add(x, y), 7)
    numpy = best(lambda: np.add(x, y), 7)
    note = f"{ours * 1e3:.1f} ms against {numpy * 1e3:.1f} ms"
    return Result("f32 add of 16 M elements, against np.add", numpy / ours, "×", 0.5, True, note)


def warm_call() -> Result:
    x = np.random.default_rng(0).normal(size=1024).astype(np.float32)
    gelu(x)
    seconds = best(lambda: [gelu(x) for _ in range(100)], 20) / 100
    return Result("warm call of a compiled 1024-element kernel", seconds * 1e6, "µs", 100, False, "")


def compile_add() -> Result:
    x = np.zeros(4096, np.float32)

    def once() -> None:
        hybrid_operator(lambda a, b: a + b).compile(x, x).c_source  # noqa: B018

    once()
    return Result("vector add from Python to C, warm process", best(once, 20) * 1e3, "ms", 30, False, "")


_UPSTREAM = "import xdsl.dialects.arith, xdsl.dialects.func, xdsl.dialects.memref, xdsl.dialects.scf, xdsl.xdsl_opt_main"


def opt_to_c() -> Result:
    """`ascir-opt` on the text of a kernel against a process that only imports what it is made of."""
    kernel = Path(tempfile.mkdtemp()) / "kernel.mlir"
    kernel.write_text(str(_planned_add()))
    opt = [sys.executable, "-m", "ascir.tools.ascir_opt", str(kernel), "-t", "c"]
    ours = best(lambda: subprocess.run(opt, check=True, capture_output=True), 10)
    upstream = best(lambda: subprocess.run([sys.executable, "-c", _UPSTREAM], check=True), 10)
    note = f"{ours * 1e3:.0f} ms against {upstream * 1e3:.0f} ms"
    return Result("ascir-opt from text to C, against the imports", ours / upstream, "×", 1.6, False, note)


def _planned_add() -> Any:
    from xdsl.parser import Parser

    text = """func.func @vadd(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
      %0 = ascend.add %x, %y : tensor<4096xf32>
      func.return %0 : tensor<4096xf32>
    }"""
    return compile_module(Parser(context(), text).parse_module(), name="vadd").module


_NEW_KERNEL = """
import time, numpy as np
from ascir import hybrid_operator
@hybrid_operator
def fresh(x):
    return np.exp(x) * {number} + x
x = np.ones(1000, np.float32)
assert abs(float(fresh(x)[0]) - (2.718281828 * {number} + 1)) < 1e-3
"""


def new_process() -> Result:
    """Start to result of a kernel nobody has compiled before; the runtime library is built already."""
    times: list[float] = []
    for _ in range(5):
        number = np.random.default_rng().integers(2, 2**20)
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", _NEW_KERNEL.format(number=number / 2**20)], check=True)
        times.append(time.perf_counter() - start)
    return Result("a new kernel in a new process, start to result", min(times), "s", 1.5, False, "")


BENCHMARKS = (gelu_f16, gelu_f32, add_f32, warm_call, compile_add, opt_to_c, new_process)


def main() -> int:
    missed = 0
    for benchmark in BENCHMARKS:
        with bar(f"measuring {benchmark.__name__}"):
            result = benchmark()
        missed += not result.ok
        print(result, flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
