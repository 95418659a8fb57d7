"""The facts of the machine: tables that agree with each other, layouts that round-trip, targets that refuse what they do not know."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascir.machine import dtypes
from ascir.machine.dtypes import DType, round_to, wrap_integer
from ascir.machine.instructions import BY_NAME, INSTRUCTIONS, cast_pipe
from ascir.machine.layout import View, nc1hwc0_shape, num_elements, strides_of
from ascir.machine.operators import OPERATORS
from ascir.machine.target import ASCEND910B, parse_target

# dtypes


@pytest.mark.parametrize("row", dtypes.ALL, ids=lambda d: d.name)
def test_a_dtype_has_one_size_under_all_its_names(row: DType) -> None:
    assert row.to_numpy().itemsize == row.bytes
    assert dtypes.from_numpy(row.to_numpy()) is row
    assert row.c0 * row.bytes == dtypes.BLOCK_BYTES


def test_the_public_alignments() -> None:
    found = {d.numpy: d.alignment for d in dtypes.ALL}
    assert (found["float32"], found["float16"], found["int64"], found["uint8"]) == (32, 16, 64, 8)


def test_what_no_kernel_holds_has_no_row() -> None:
    for name in ("complex64", "datetime64[s]", "S4", "O", ">f4"):
        assert dtypes.from_numpy(np.dtype(name)) is None


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@given(bits=st.integers(0, 2**64 - 1))
@settings(max_examples=300, deadline=None)
def test_constants_round_as_numpy_does(name: str, bits: int) -> None:
    value = float(np.uint64(bits).view(np.float64))
    row = dtypes.dtype(name)
    with np.errstate(all="ignore"):
        expected = float(np.float64(value).astype(np.float32 if name == "bf16" else row.to_numpy()).astype(row.to_numpy()))
    found = round_to(value, row)
    assert found == expected or (found != found and expected != expected)


@given(st.integers(-(2**70), 2**70), st.sampled_from([8, 16, 32, 64]))
def test_integers_wrap_to_twos_complement(value: int, bits: int) -> None:
    found = wrap_integer(value, bits)
    assert -(1 << (bits - 1)) <= found < 1 << (bits - 1) and (found - value) % (1 << bits) == 0


# instructions and operators


def test_every_row_names_dtypes_that_exist_once() -> None:
    known = {d.name for d in dtypes.ALL}
    for row in INSTRUCTIONS:
        assert set(row.dtypes) <= known and len(set(row.dtypes)) == len(row.dtypes), row.name


def test_every_row_has_the_meanings_its_dtypes_need() -> None:
    for row in INSTRUCTIONS:
        if row.form in ("select", "select_scalar", "cast", "duplicate", "iota", "block_broadcast", "copy"):
            continue
        kinds = {dtypes.dtype(d).is_float for d in row.dtypes}
        assert row.numpy and (True not in kinds or row.c_float) and (False not in kinds or row.c_int), row.name


def test_scalar_loops_cost_more_than_vector_instructions() -> None:
    for row in INSTRUCTIONS:
        for name in row.scalar:
            assert row.pipe(name) == "S"
            assert row.cycles_per_element(name, dtypes.dtype(name).bytes, ASCEND910B) == ASCEND910B.scalar_element_cycles
    assert BY_NAME["add"].cycles_per_element("f16", 2, ASCEND910B) == 1 / 128
    assert BY_NAME["add"].cycles_per_element("f32", 4, ASCEND910B) == 1 / 64
    assert BY_NAME["exp"].cycles_per_element("f16", 2, ASCEND910B) == BY_NAME["exp"].cycles_per_element("f32", 4, ASCEND910B)


def test_casts_the_hardware_lacks() -> None:
    assert cast_pipe("f16", "bf16") is None and cast_pipe("bf16", "f16") is None
    assert cast_pipe("f32", "i64") == "V" and cast_pipe("f32", "ui32") == "S"


def test_operators_name_ufuncs() -> None:
    for row in OPERATORS.values():
        assert hasattr(np, row.numpy) or row.name in ("rsqrt", "erf", "erfc", "relu"), row.name


# layouts


@given(st.lists(st.integers(1, 5), max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_views_are_numpys_views(shape: list[int], random: Any) -> None:
    """Random slices, transposes, broadcasts and reshapes: the window's elements are those NumPy's view has."""
    base = np.arange(num_elements(shape)).reshape(shape)
    view, array = View.contiguous(shape), base
    for _ in range(4):
        view, array = random.choice([_transposed, _sliced, _broadcast, _reshaped])(view, array, random)
    flat = base.reshape(-1)
    grid = np.indices(view.shape).reshape(len(view.shape), num_elements(view.shape))
    offsets = view.offset + np.tensordot(np.array(view.strides, int), grid, 1).astype(int)
    np.testing.assert_array_equal(flat[offsets], array.reshape(-1))


def _transposed(view: View, array: np.ndarray, random: Any) -> tuple[View, np.ndarray]:
    order = list(range(array.ndim))
    random.shuffle(order)
    return view.transpose(order), array.transpose(order)


def _sliced(view: View, array: np.ndarray, random: Any) -> tuple[View, np.ndarray]:
    starts: list[int] = []
    sizes: list[int] = []
    steps: list[int] = []
    items: list[slice] = []
    for dim in array.shape:
        step = random.choice([1, 2, -1])
        start = random.randrange(dim)
        size = len(range(start, dim, step) if step > 0 else range(start, -1, step))
        starts.append(start)
        sizes.append(size)
        steps.append(step)
        items.append(slice(start, None, step))
    return view.slice(starts, sizes, steps), array[tuple(items)]


def _broadcast(view: View, array: np.ndarray, random: Any) -> tuple[View, np.ndarray]:
    if array.ndim >= 5 or array.size > 500:
        return view, array
    shape = (random.choice([1, 2]), *(random.choice([1, 3]) if d == 1 else d for d in array.shape))
    return view.broadcast(shape), np.broadcast_to(array, shape)


def _reshaped(view: View, array: np.ndarray, random: Any) -> tuple[View, np.ndarray]:
    shape = random.choice([(array.size,), (1, array.size), (array.size, 1), tuple(reversed(array.shape))])
    through = view.reshape(shape)
    return (view, array) if through is None else (through, array.reshape(shape))


def test_a_reshape_of_contiguous_memory_is_always_a_window() -> None:
    assert View.contiguous((4, 6)).reshape((3, 8)) == View((3, 8), (8, 1))
    assert View.contiguous((4, 6)).transpose((1, 0)).reshape((24,)) is None
    assert View.contiguous((2, 0, 3)).reshape((0, 7)) is not None


def test_strides_and_nc1hwc0() -> None:
    assert strides_of((2, 3, 4)) == (12, 4, 1)
    assert nc1hwc0_shape((1, 17, 5, 7), "NCHW", 16) == (1, 2, 5, 7, 16)
    assert nc1hwc0_shape((1, 5, 7, 17), "NHWC", 16) == (1, 2, 5, 7, 16)


# targets


def test_a_target_by_name_and_with_changes() -> None:
    assert parse_target("ascend910b") is ASCEND910B
    changed = parse_target("ascend910b{ub=98304, vector_cores=8}")
    assert (changed.ub_bytes, changed.vector_cores) == (98304, 8) and ASCEND910B.ub_bytes == 196608


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ascend910", "unknown target 'ascend910'; did you mean 'ascend910b'?"),
        ("ascend910b{ubb=1}", "unknown target option 'ubb'; did you mean 'ub'?"),
        ("ascend910b{ub=many}", "target option ub is a positive whole number, not 'many'"),
    ],
)
def test_targets_refuse_what_they_do_not_know(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse_target(spec)


def test_paths_of_the_2201() -> None:
    assert ASCEND910B.pipe_of_copy("gm", "ub") == "MTE2" and ASCEND910B.pipe_of_copy("ub", "gm") == "MTE3"
    assert ASCEND910B.pipe_of_copy("ub", "l1") is None and ASCEND910B.pipe_of_copy("l0c", "ub") is None
