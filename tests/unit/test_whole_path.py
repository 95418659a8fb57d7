"""Random NumPy programs through the whole path, C and emulator, against plain NumPy: where both answer, they agree.

`programs.py` says which programs, and how exactly each kind must agree. A failure prints the program and its seed. ASCIR_SEED=n moves the
quick tests to other programs; the slow test takes thousands.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest
from programs import KINDS, Program, program

from ascir import hybrid_operator
from ascir.accuracy import accuracy

FIRST = int(os.environ.get("ASCIR_SEED", 0))
OPTIONS = [(o, b) for o in (2, 0) for b in (None, 1, 3, 64)]


def options_of(seed: int, kind: str) -> dict[str, Any]:
    """Every combination comes up; "exact" holds for strict precision only."""
    level, cores = OPTIONS[seed % len(OPTIONS)]
    mixed = kind != "exact" and seed // len(OPTIONS) % 2 == 0
    return {"precision": "mixed" if mixed else "strict", "opt_level": level, "block_dim": cores}


def same_bits(found: Any, expected: Any) -> bool:
    """Equal, with signs of zeros; which NaN does not matter."""
    if found.dtype.kind in "biu":
        return bool((found == expected).all())
    a, b = found.astype(np.float64), expected.astype(np.float64)
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all())


def wrong(made: Program, kind: str, options: dict[str, Any]) -> str:
    """What differs from NumPy, or nothing."""

    def random_program(*inputs: Any) -> Any:
        return made(*inputs)

    random_program.__name__ = made.name
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what NumPy says of 0 // 0, the variance of nothing, …
        expected = [np.asarray(v) for v in made(*made.inputs)]
        wide = [np.asarray(v) for v in made(*(x.astype(np.float64) for x in made.inputs))] if kind == "smooth" else expected
    found = hybrid_operator(random_program, **options)(*made.inputs)
    for k, (f, e, w) in enumerate(zip(found, expected, wide, strict=True)):
        f = np.asarray(f)
        if (f.shape, f.dtype) != (e.shape, e.dtype):
            return f"result {k}: {f.dtype}{f.shape}, expected {e.dtype}{e.shape}"
        if kind == "smooth":
            verdict = accuracy(f.astype(made.coarsest) if f.dtype.kind not in "biu" else f, w)
            if not verdict.ok:
                return f"result {k}: {verdict}"
        elif not same_bits(f, e):
            worst = tuple(int(i) for i in np.argwhere(~((f == e) | ((f != f) & (e != e))))[:1].ravel())
            return f"result {k}: {f[worst]} at {worst}, expected {e[worst]}"
    return ""


def check(kind: str, seed: int) -> None:
    made, options = program(seed, kind), options_of(seed, kind)
    difference = wrong(made, kind, options)
    assert not difference, f"{difference}\n{options}\n{made}"


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_random_programs(kind: str, part: int) -> None:
    for seed in range(FIRST + part * 15, FIRST + (part + 1) * 15):
        check(kind, seed)


def test_a_window_on_a_group_under_the_same_final_shape() -> None:
    """The reshape and the broadcast back were taken into one loop nest, which no kernel can be."""
    x = np.arange(9, dtype=np.int16).reshape(1, 9)
    found, expected = run_both(lambda x: (x + 1).reshape(9) + x, x)
    np.testing.assert_array_equal(found, expected)
    for found, expected in zip(*run_both(lambda x: (s := x.sum(axis=(0, 1)), np.fmax(s, x)), x[:, None]), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_an_empty_part_of_a_value_that_is_used_whole() -> None:
    """The empty result joined the loop nest of the others."""
    x = np.ones((2, 9), np.bool_)
    for found, expected in zip(*run_both(lambda x: ((m := ~x.max(keepdims=True)) // x[:1, 0:0], m), x), strict=True):
        np.testing.assert_array_equal(found, expected)


def run_both(function: Any, *inputs: Any) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return hybrid_operator(function)(*inputs), function(*inputs)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_programs(kind: str, part: int) -> None:
    for seed in range(FIRST + 1000 + part * 100, FIRST + 1000 + (part + 1) * 100):
        check(kind, seed)
