"""The emulator's C, and that of kernels, under the address and undefined-behaviour sanitizers.

The sanitizers must come before everything else in a process, so each group of kernels below runs in one of its own, which preloads
their libraries: this file, called with the name of a group. It compares values as well, since a run that computes nothing is clean.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ascir
from ascir import nn
from ascir.backend_c import build, emulator
from ascir.backend_c.emulator import Gm
from ascir.backend_c.report import Profile
from ascir.builder import Kernel, KernelBuilder
from ascir.machine.target import ASCEND910B

Array = NDArray[Any]

SANITIZE = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g")
LIBRARIES = ("libasan.so", "libubsan.so")
SIZES = (0, 1, 7, 8, 31, 33, 127, 129, 1000, 13243)

# --- what runs ------------------------------------------------------------------------------------------------------------------

GROUPS: dict[str, Callable[[], None]] = {}


def group(body: Callable[[], None]) -> Callable[[], None]:
    GROUPS[body.__name__] = body
    return body


def same(function: Callable[..., Any], *arrays: Array, rtol: float = 0.0) -> None:
    """An operator gives what NumPy gives, on three cores."""
    operator = ascir.hybrid_operator(function, block_dim=3)
    with np.errstate(all="ignore"):
        wanted = operator.reference(*arrays)
    np.testing.assert_allclose(operator(*arrays), wanted, rtol=rtol)


def numbers(size: int, dtype: str) -> Array:
    """Small whole numbers of both signs (where there are), none of them zero."""
    values = np.arange(size) % 13 + 1
    return np.where(np.arange(size) % 2 == 0, values, -values).astype(np.int64).astype(dtype)


@group
def elementwise() -> None:
    for size in SIZES:
        same(lambda x, y: x * y + x - 2, numbers(size, "f4"), numbers(size, "f4"))
    for dtype in ("f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        x, y = numbers(1000, dtype), numbers(1000, dtype)[::-1].copy()
        same(lambda x, y: np.maximum(x, y) * x - np.minimum(x, y), x, y)
    for function in (np.exp, np.tanh, np.sin, np.log1p, np.sqrt, np.cbrt, np.arctan, np.expm1):
        same(lambda x, f=function: f(x), np.linspace(0.1, 3, 333, dtype="f4"), rtol=1e-5)
        same(lambda x, f=function: f(x), np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3e38, -3e38, 88.8], "f4"), rtol=1e-5)


@group
def reductions() -> None:
    for shape in ((1, 1), (2, 9), (33, 7), (129, 126), (3, 13243), (5, 4, 31)):
        x = numbers(int(np.prod(shape)), "f4").reshape(shape)
        for axis in range(len(shape)):
            same(lambda x, axis=axis: x.sum(axis=axis), x)
            same(lambda x, axis=axis: x.astype("i8").max(axis=axis, keepdims=True), x)
    same(lambda x: nn.softmax(x), np.linspace(-2, 2, 999, dtype="f4").reshape(9, 111), rtol=1e-5)


@group
def broadcasts() -> None:
    for rows, columns in ((1, 5), (7, 1), (33, 126), (64, 64), (3, 1000)):
        x, row = numbers(rows * columns, "f4").reshape(rows, columns), numbers(columns, "f4")
        same(lambda x, row: x + row, x, row)
        same(lambda x, column: x * column, x, x[:, :1].copy())
        same(lambda row, column: column - row, row, x[:, :1].copy())


@group
def scalar_loops() -> None:
    """What pipe V has no instructions for: 64-bit integers, with every division that C leaves undefined."""
    ends = np.array([np.iinfo("i8").min, np.iinfo("i8").max, -1, 0, 1, 7, -7, 2**62, 64], "i8")
    a, b = (part.ravel().copy() for part in np.meshgrid(ends, ends))
    for function in (np.add, np.multiply, np.floor_divide, np.remainder, np.fmod, np.left_shift, np.right_shift, np.bitwise_xor):
        same(lambda a, b, f=function: f(a, b), a, b)
    for dtype in ("i1", "i2", "i4", "u1", "u8"):
        same(lambda a, b: a // b + a % b + (a << (b & 63)) + (a >> (b & 63)), a.astype(dtype), b.astype(dtype))
    same(lambda a: np.abs(a) + np.sign(a), ends)


@group
def bool_masks() -> None:
    for size in SIZES:
        x, y = numbers(size, "f4"), numbers(size, "f4")[::-1].copy()
        same(lambda x, y: np.where((x > y) & ~(x == 1) | (y < -3), x, y), x, y)
        same(lambda x, y: np.logical_xor(x > 0, y > 0), x, y)
    same(lambda p, x: np.where(p, x, 0), numbers(999, "i1") > 0, numbers(999, "i8"))
    same(lambda p: p.sum(axis=0), (numbers(9 * 77, "i1") > 0).reshape(9, 77))


@group
def casts() -> None:
    wild = np.array([np.nan, np.inf, -np.inf, 0.5, -1.5, 2.5, 3e9, -3e9, 1e19, -1e19, 3e38, 259, 65520, 1e-45], "f4")
    for dtype in ("f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"):
        ascir.hybrid_operator(lambda x, dtype=dtype: x.astype(dtype))(wild)  # out of range, NumPy has no one answer
        same(lambda x, dtype=dtype: x.astype(dtype), numbers(500, "f4") + np.float32(20.5))
        same(lambda x: x.astype("f4") * 2, numbers(500, "f4").astype(dtype))


@group
def scalar_copies() -> None:
    """Strides of every kind, and arrays at addresses that fit no element."""
    x = numbers(31 * 45, "f4").reshape(31, 45)
    same(lambda x: x[:, ::2] + 1, x)
    same(lambda x: x[::-1, 9:3:-1] * 2, x)
    same(lambda x: np.concatenate([x.T, x.T * 2], axis=1), x)
    same(lambda x: np.transpose(x, (2, 0, 1)) + 0, numbers(7 * 8 * 9, "i2").reshape(7, 8, 9))
    for offset in range(1, 4):
        odd = np.zeros(4 * 1000 + offset, "u1")[offset:].view("f4")
        odd[:] = numbers(1000, "f4")
        same(lambda x: x * x + 1, odd)


@group
def faults() -> None:
    """What is reported is not done: no stray access, and out of a deadlock without harm."""
    n, text = 64, [str(_faulty(number)) for number in range(4)]
    for block_dim in (1, 3):
        for ir in text:
            kernel = Kernel.parse(ir, sync="unchecked")
            x, y = np.ones(n, "f4"), np.zeros(n, "f4")
            with pytest.raises(ascir.AscirError, match="the emulator found"):
                kernel[block_dim](x, y, n + 1)
            assert not y.any()


def _faulty(number: int) -> Kernel:
    k = KernelBuilder("faulty")
    x, y, n, a = k.gm("x", "float32"), k.gm("y", "float32", output=True), k.scalar("n"), k.alloc("a", 64, "float32")
    if number == 0:
        k.wait_flag("V", "S", 0)
    if number == 1:
        k.wait_flag("V", "MTE3", 0)
    if number == 2:
        k.copy(x[:n], a[:n])
    if number == 3:
        k.copy(x[1_000_000 * n : 1_000_000 * n + 64], a)
    k.copy(a[:n], y[:n])
    return k.build(sync="unchecked")


@group
def overrun_of_the_host() -> None:
    """Plain C that the emulator cannot see."""
    _plain("__gm__ float *x = __arg(0).p; x[__arg(1).i] = 1;", 8)


@group
def undefined_shift() -> None:
    _plain("__gm__ int *x = __arg(0).p; x[0] = 1 << __arg(1).i;", 40)


CAUGHT = {
    "overrun_of_the_host": "AddressSanitizer: heap-buffer-overflow",
    "undefined_shift": "runtime error: shift exponent 40 is too large",
}
"""Groups that are wrong on purpose, and what the sanitizers say."""


def _plain(body: str, number: int) -> None:
    library = build.compile_kernel(f'#include "ascir_core.h"\nASCIR_KERNEL(k) {{ {body} }}\n', "plain")
    x = np.zeros(8, "f4")
    report = emulator.launch(emulator.Kernel(library, "k"), [Gm(x.ctypes.data, x.nbytes, b"x"), number], 1, ASCEND910B)
    assert Profile.of([report]).faults == []


# --- how it runs ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sanitized:
    """A compiler and an environment with sanitizers, and a cache of their own."""

    environment: dict[str, str]

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        command: Sequence[str] = [sys.executable, __file__, name]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    command = build.find_compiler().command
    libraries = [_library(command, name) for name in LIBRARIES]
    if None in libraries:
        pytest.skip(f"{shlex.join(command)} comes without {' and '.join(LIBRARIES)}")
    return Sanitized(
        os.environ
        | {
            "CC": shlex.join([*command, *SANITIZE]),
            "ASCIR_CACHE": str(tmp_path_factory.mktemp("sanitized")),
            "LD_PRELOAD": " ".join(filter(None, libraries)),
            "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter's own
        }
    )


def _library(command: Sequence[str], name: str) -> str | None:
    found = subprocess.run([*command, f"-print-file-name={name}"], capture_output=True, text=True, check=False).stdout.strip()
    return found if Path(found).is_absolute() else None


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in GROUPS if name not in CAUGHT])
def test_kernels_are_clean(sanitized: Sanitized, name: str) -> None:
    done = sanitized.run(name)
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    assert (done.returncode, done.stdout) == (0, f"{name}: right\n"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("name", "report"), CAUGHT.items())
def test_the_sanitizers_are_watching(sanitized: Sanitized, name: str, report: str) -> None:
    done = sanitized.run(name)
    assert report in done.stderr
    assert done.returncode != 0


if __name__ == "__main__":
    GROUPS[sys.argv[1]]()
    print(f"{sys.argv[1]}: right")
