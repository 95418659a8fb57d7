"""The rule itself: what it lets pass and what it does not."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascir.accuracy import accuracy


@pytest.mark.parametrize(("dtype", "tau"), [(np.float16, 2.0**-10), (ml_dtypes.bfloat16, 2.0**-7), (np.float32, 2.0**-13)])
def test_a_relative_error_of_ten_tau_in_one_element_fails(dtype: Any, tau: float) -> None:
    ref = np.full(1000, 3.0)
    out = ref.astype(dtype)
    assert accuracy(out, ref).ok
    out[7] = 3.0 * (1 + 12 * tau)
    found = accuracy(out, ref)
    assert not found.ok and found.worst == (7,)


def test_a_mean_error_of_tau_fails() -> None:
    ref = np.full(100, 1.0)
    assert not accuracy((ref * (1 + 2.0**-12)).astype(np.float32), ref).ok


def test_nan_and_infinities_must_stand_in_the_same_places() -> None:
    ref = np.array([1.0, np.nan, np.inf])
    assert accuracy(ref.astype(np.float32), ref).ok
    for wrong in ([np.nan, np.nan, np.inf], [1.0, 1.0, np.inf], [1.0, np.nan, -np.inf], [1.0, np.nan, 3e38]):
        assert not accuracy(np.array(wrong, np.float32), ref).ok


def test_a_reference_beyond_the_range_is_an_infinity() -> None:
    assert accuracy(np.array([np.inf], np.float16), np.array([1e6])).ok
    assert not accuracy(np.array([65504], np.float16), np.array([1e6])).ok
    assert accuracy(np.array([65504], np.float16), np.array([65530.0])).ok


def test_integers_and_bools_are_exact() -> None:
    assert accuracy(np.array([2**53 + 1]), np.array([2**53 + 1])).ok
    assert not accuracy(np.array([2**53 + 1]), np.array([2**53])).ok
    assert not accuracy(np.array([True]), np.array([False])).ok


def test_shapes_must_agree_and_empty_is_right() -> None:
    assert not accuracy(np.zeros((2, 3), np.float32), np.zeros((3, 2))).ok
    assert accuracy(np.zeros((0, 3), np.float32), np.zeros((0, 3))).ok


def test_a_subnormal_may_go_either_way_only_when_halfway() -> None:
    step = 2.0**-24
    ref = np.array([2.5 * step * (1 + 2.0**-14)])
    for out, right in ((2 * step, True), (3 * step, True), (4 * step, False)):
        assert accuracy(np.array([out], np.float16), ref).ok is right
    assert not accuracy(np.array([3 * step], np.float16), np.array([2.25 * step])).ok
