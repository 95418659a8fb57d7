"""How exact and how fast the emulator's element functions are (`backend_c/runtime/math.h`), as the tables of `docs/numerics.md`.

    python benchmarks/math_accuracy.py                  measure and rewrite the first table (about 20 s)
    python benchmarks/math_accuracy.py --exhaustive     every one of the 2^32 floats of each unary function: the second table (20 min)
    python benchmarks/math_accuracy.py --coefficients   fit the polynomials again and print them as they stand in math.h

Errors are in units in the last place (ulp) of the exact result's float; 0.5 is a correctly rounded function. References are
NumPy's float64 functions, and the C library's double functions for the exhaustive run, each right to about 2^-53.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal as D
from decimal import getcontext, localcontext
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = ROOT / "backend_c" / "runtime"
DOCUMENT = ROOT / "docs" / "numerics.md"
FLAGS = "-std=c11 -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv -fno-strict-aliasing -fPIC -shared"

Array = np.ndarray[Any, Any]
_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)

UNARY: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": lambda x: _erf(x).astype(np.float64),
    "erfc": lambda x: _erfc(x).astype(np.float64),
}
BINARY: dict[str, Callable[..., Array]] = {
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "fmod": np.fmod,
    "mod": np.remainder,
    "floor_div": np.floor_divide,
}
REMAINDERS = ("fmod", "mod", "floor_div")
"""Defined on float itself, so NumPy's float32 result is the reference."""

HARNESS = r"""
static double elapsed(struct timespec a, struct timespec b) { return (b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec); }

#define BEST(call)                                                  \
  double best = 1e18;                                               \
  for (int round = 0; round < 50; round++) {                        \
    struct timespec start, end;                                     \
    clock_gettime(CLOCK_MONOTONIC, &start);                         \
    for (int k = 0; k < 20; k++) call;                              \
    clock_gettime(CLOCK_MONOTONIC, &end);                           \
    if (elapsed(start, end) < best) best = elapsed(start, end);     \
  }                                                                 \
  return best / 20 / (double)n;

typedef void unary_array(float *, const float *, size_t);
typedef void binary_array(float *, const float *, const float *, size_t);
double time_unary(unary_array *f, float *o, const float *a, size_t n) { BEST(f(o, a, n)) }
double time_binary(binary_array *f, float *o, const float *a, const float *b, size_t n) { BEST(f(o, a, b, n)) }

static double rsqrt(double x) { return 1.0 / sqrt(x); }

/* result: largest error in ulp, results that are not the nearest float, results of the wrong kind (sign, infinity, NaN) */
static void sweep(unary_array *f, double (*exact)(double), uint64_t first, uint64_t last, double *result) {
  float x[4096], y[4096];
  for (uint64_t b = first; b < last; b += 4096) {
    for (int i = 0; i < 4096; i++) { uint32_t u = (uint32_t)(b + i); memcpy(x + i, &u, 4); }
    f(y, x, 4096);
    for (int i = 0; i < 4096; i++) {
      double r = exact(x[i]);
      float nearest = (float)r;
      if (memcmp(&nearest, y + i, 4) == 0 && (isinf(nearest) || nearest == 0)) continue;
      if (isnan(nearest) && isnan(y[i])) continue;
      if (isnan(nearest) || isnan(y[i]) || signbit(nearest) != signbit(y[i]) || isinf(nearest) || isinf(y[i])) { result[2]++; continue; }
      int e;
      frexp(r, &e);
      double error = fabs(y[i] - r) * ldexp(1, e < -125 ? 149 : 24 - e);
      result[0] = error > result[0] ? error : result[0];
      result[1] += y[i] != nearest;
    }
  }
}
"""


def build(folder: Path) -> ctypes.CDLL:
    """The functions of math.h as a shared library: `name_n`, `name_narrow_n`, the timers, and `sweep_name` for the unary ones."""
    lines = ['#include "math.h"', "#include <time.h>", HARNESS]
    for name in UNARY:
        lines += [f"void {name}_{kind}(float *o, const float *a, size_t n) {{ m_{name}_{kind}(o, a, n); }}" for kind in ("n", "narrow_n")]
        arguments = f"(uint64_t first, uint64_t last, double *result) {{ sweep({name}_n, {name}, first, last, result); }}"
        lines.append(f"void sweep_{name}{arguments}")
    for name in BINARY:
        head = "(float *o, const float *a, const float *b, size_t n)"
        lines += [f"void {name}_{kind}{head} {{ m_{name}_{kind}(o, a, b, n); }}" for kind in ("n", "narrow_n")]
    source = folder / "math_accuracy.c"
    source.write_text("\n".join(lines) + "\n")
    compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
    library = folder / "math_accuracy.so"
    subprocess.run([compiler, *FLAGS.split(), "-D_GNU_SOURCE", "-iquote", RUNTIME, source, "-o", library, "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.time_unary.restype = loaded.time_binary.restype = ctypes.c_double
    return loaded


def _pointers(*arrays: Array) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(a.ctypes.data) for a in arrays]


def run(library: ctypes.CDLL, name: str, kind: str, *operands: Array) -> Array:
    out = np.empty_like(operands[0])
    getattr(library, f"{name}_{kind}")(*_pointers(out, *operands), ctypes.c_size_t(out.size))
    return out


def ulps(got: Array, exact: Array) -> float:
    """The largest error in float32 ulp where both are finite; infinite if they disagree about infinity, NaN or the sign of zero."""
    nearest = exact.astype(np.float32)
    finite = np.isfinite(nearest) & np.isfinite(got)
    same = (got == nearest) & (np.signbit(got) == np.signbit(nearest)) | np.isnan(got) & np.isnan(nearest)
    if not np.all(finite | same):
        return math.inf
    exponent = np.maximum(np.frexp(exact[finite])[1], -125)
    return float(np.max(np.ldexp(np.abs(got[finite] - exact[finite]), 24 - exponent), initial=0.0))


def rounded_to_odd(exact: Array) -> Array:
    """float64 as float32 with its last bit set if anything was lost. From there ml_dtypes rounds to bfloat16 as from `exact`
    itself, which it did not do directly before 0.7: its float64 → bfloat16 rounded to float32 on the way."""
    near = exact.astype(np.float32)
    cut = np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
    return (cut.view(np.uint32) | (np.isfinite(cut) & (cut != exact))).view(np.float32)


def wrongly_rounded(got: Array, exact: Array, dtype: Any) -> int:
    """How many of the float results `got`, converted to `dtype`, are not `exact` rounded once."""
    a, b = got.astype(dtype), rounded_to_odd(exact).astype(dtype)
    return int(np.sum((a.view(np.uint16) != b.view(np.uint16)) & ~(np.isnan(a) & np.isnan(b))))


def _random_floats(rng: np.random.Generator, n: int) -> Array:
    """Half of them any bits, half of ordinary size."""
    bits = rng.integers(0, 2**32, n // 2, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([bits, (rng.normal(size=n - n // 2) * 4).astype(np.float32)])


def _every(dtype: Any) -> Array:
    return np.arange(65536, dtype=np.uint16).view(dtype).astype(np.float32)


def _row(library: ctypes.CDLL, name: str, rng: np.random.Generator) -> list[str]:
    """One line of the first table."""
    unary = name in UNARY
    count = 4_000_000
    exact = UNARY[name] if unary else BINARY[name]
    width = np.float32 if name in REMAINDERS else np.float64
    cells: list[str] = []
    samples = {"float32": _random_floats(rng, count), "float16": _every(np.float16), "bfloat16": _every(ml_dtypes.bfloat16)}
    for dtype, x in samples.items():
        operands = [x] if unary else [np.repeat(x, 30) if dtype != "float32" else x]
        if not unary:
            operands.append(rng.permutation(operands[0]))
        reference = exact(*(v.astype(width) for v in operands))
        if dtype == "float32":
            cells.append(f"{ulps(run(library, name, 'n', *operands), reference):.4f}")
        else:
            cells.append(str(wrongly_rounded(run(library, name, "narrow_n", *operands), reference, np.dtype(dtype))))
    n = 4096
    data = [rng.uniform(0.05, 0.95, n).astype(np.float32) for _ in range(2 if unary else 3)]  # the result and the operands
    timer = library.time_unary if unary else library.time_binary
    nanoseconds = timer(getattr(library, f"{name}_n"), *_pointers(*data), ctypes.c_size_t(n))
    return [f"`{name}`", *cells, f"{nanoseconds:.2f}"]


def measure(library: ctypes.CDLL) -> str:
    rng = np.random.default_rng(2026)
    head = ["function", "largest error, float32 (ulp)", "wrong float16", "wrong bfloat16", "ns / element"]
    with np.errstate(all="ignore"):
        return table([head, *(_row(library, name, rng) for name in (*UNARY, *BINARY))])


def exhaust(library: ctypes.CDLL) -> str:
    """Every float of every unary function, in slices on all processors."""
    rows = [["function", "largest error (ulp)", "unlike the library's, of 2^32", "wrong sign, infinity or NaN"]]
    slices = 64
    bounds = [(k * 2**32 // slices, (k + 1) * 2**32 // slices) for k in range(slices)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in UNARY:
            results = [(ctypes.c_double * 3)() for _ in bounds]
            sweep = getattr(library, f"sweep_{name}")
            jobs = [pool.submit(sweep, ctypes.c_uint64(a), ctypes.c_uint64(b), r) for (a, b), r in zip(bounds, results, strict=True)]
            for job in jobs:
                job.result()
            error, wrong, kind = (max(r[0] for r in results), sum(r[1] for r in results), sum(r[2] for r in results))
            rows.append([f"`{name}`", f"{error:.6f}", f"{wrong:.0f}", f"{kind:.0f}"])
            print(*rows[-1], flush=True)
    return table(rows)


def table(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" + "|---:" * (len(rows[0]) - 1) + "|", *lines[1:]])


def write(marker: str, text: str) -> None:
    """Puts `text` between the two comments named `marker` in docs/numerics.md."""
    begin, end = f"<!-- {marker} -->", f"<!-- end of {marker} -->"
    document = DOCUMENT.read_text()
    before, rest = document.split(begin)
    after = rest.split(end)[1]
    DOCUMENT.write_text(f"{before}{begin}\n{text}\n{end}{after}")


# ---- the fit: interpolation at Chebyshev nodes in 70-digit arithmetic, within a factor of about 3 of the best polynomial ----------

PI = D("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651")


def _sum(terms: Iterable[D]) -> D:
    return sum(terms, D(0))


def _atan(t: D) -> D:
    halvings = 0
    while t > D("0.2"):
        t, halvings = t / (1 + (1 + t * t).sqrt()), halvings + 1
    return 2**halvings * _sum((-1) ** n * t ** (2 * n + 1) / (2 * n + 1) for n in range(60))


def _log_quotient(z: D) -> D:
    s = z.sqrt()
    return (((1 + s) / (1 - s)).ln() / (2 * s) - 1) / z


def _erf_quotient(u: D) -> D:
    w = 8 + 8 * u
    return 2 / PI.sqrt() * _sum((-w) ** n / (math.factorial(n) * (2 * n + 1)) if n else D(1) for n in range(160))


def _erfc_scaled(v: D) -> D:
    """e^(a^2) erfc(a) (1 + a). erfc 11 is 1e-54 and the terms of erf's series reach 1e51, hence the digits."""
    w = (v + 1) * 11 / 28
    a = 3 * w / (1 - w)
    with localcontext() as context:
        context.prec = 200
        term, erf = 2 * a / PI.sqrt(), D(0)
        for n in range(600):
            erf += term / (2 * n + 1)
            term *= -a * a / (n + 1)
        return (1 - erf) * (a * a).exp() * (1 + a)


def _asin_quotient(z: D) -> D:
    u = z.sqrt()
    return (_atan(u / (1 - z).sqrt()) / u - 1) / z


HALF_LN2, NEAR_0 = D(2).ln() / 2 * D("1.0001"), D("1e-6")
LOG_END, ANGLE_END = ((D(2).sqrt() - 1) / (D(2).sqrt() + 1)) ** 2 * D("1.0001"), (PI / 4) ** 2 * D("1.001")
POLYNOMIALS: dict[str, tuple[Callable[[D], D], D, D, int]] = {
    "M_EXPM1": (lambda r: (r.exp() - 1 - r) / r**2, -HALF_LN2, HALF_LN2, 10),
    "M_LOG": (_log_quotient, NEAR_0, LOG_END, 8),
    "M_CBRT": (lambda m: (m.ln() / 3).exp(), D(1), D(2), 8),
    "M_SIN": (lambda z: _sum((-1) ** n * z ** (n - 1) / math.factorial(2 * n + 1) for n in range(1, 40)), D(0), ANGLE_END, 6),
    "M_COS": (lambda z: _sum((-1) ** n * z ** (n - 2) / math.factorial(2 * n) for n in range(2, 40)), D(0), ANGLE_END, 6),
    "M_ATAN": (lambda z: (_atan(z.sqrt()) / z.sqrt() - 1) / z, NEAR_0, D(1), 20),
    "M_ASIN": (_asin_quotient, NEAR_0, D("0.25"), 12),
    "M_ERF": (_erf_quotient, D(-1), D(1), 28),
    "M_ERFC": (_erfc_scaled, D(-1), D(1), 20),
}
"""Name in math.h: the function (math.h says in words what it is), its interval, the number of coefficients."""


def fit(f: Callable[[D], D], low: D, high: D, n: int) -> list[D]:
    """Coefficients of the polynomial of degree n - 1 through f at the Chebyshev nodes of the interval, by divided differences."""
    nodes = [(low + high) / 2 + (high - low) / 2 * D(math.cos(math.pi * (2 * i + 1) / (2 * n))) for i in range(n)]
    differences = [f(x) for x in nodes]
    for order in range(1, n):
        for i in range(n - 1, order - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order])
    polynomial = [D(0)] * n
    for node, difference in zip(reversed(nodes), reversed(differences), strict=True):
        shifted = [D(0), *polynomial[:-1]]
        polynomial = [s - node * p for s, p in zip(shifted, polynomial, strict=True)]
        polynomial[0] += difference
    return polynomial


def print_coefficients() -> None:
    getcontext().prec = 90
    for name, (f, low, high, n) in POLYNOMIALS.items():
        print(f"{name}: {', '.join(float(c).hex() for c in fit(f, low, high, n))}")
    print(f"2 / pi: {[hex(int(2 / PI * 2**256) >> shift & 2**64 - 1) for shift in (192, 128, 64, 0)]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exhaustive", action="store_true", help="test all 2^32 floats")
    parser.add_argument("--coefficients", action="store_true", help="fit and print the polynomials, measure nothing")
    options = parser.parse_args()
    if options.coefficients:
        return print_coefficients()
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        marker, text = ("every float", exhaust(library)) if options.exhaustive else ("measured", measure(library))
    write(marker, text)
    print(text)


if __name__ == "__main__":
    main()
