"""NumPy's functions on traced tensors: on awkward shapes each gives NumPy's bits, and what does not work says what does.

`test_promotion.py` has every dtype; here it is shapes, axes, indices and messages.
"""

# Functions under test are lambdas over whatever NumPy takes; their types are what is tested.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from traced import check, evaluate, refusal, same, traced
from xdsl.dialects.builtin import FileLineColLoc

from ascir.diagnostics import AscirError
from ascir.tracing import TensorSpec, supported
from ascir.tracing.registry import FUNCTIONS, INSTEAD

SHAPES = [(), (0,), (1,), (7,), (13, 1), (1, 9), (2, 9), (3, 0, 2), (2, 3, 5), (1, 4, 1, 3), (2, 1, 3, 1, 2)]


def numbers(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0) -> Any:
    """Small numbers with ties, zeros of both signs and, for floats, NaN and infinity now and then."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, shape)
    if np.dtype(dtype).kind in "iub":
        return (abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)
    values = np.where(rng.random(shape) < 0.05, np.nan, np.where(rng.random(shape) < 0.05, np.inf, x * 0.5 * rng.choice([1, -1], shape)))
    return values.astype(dtype)


# Arithmetic and broadcasting.

BROADCASTS = [((4, 3), (3,)), ((4, 1), (1, 3)), ((), (2, 3)), ((5, 1, 2), (3, 1)), ((1, 1), (7,)), ((0, 3), (1, 3)), ((2, 3), (2, 3))]


@pytest.mark.parametrize(("a", "b"), BROADCASTS)
def test_operators_broadcast_both_ways(a: tuple[int, ...], b: tuple[int, ...]):
    def function(x: Any, y: Any) -> Any:
        return x + y, y - x, x * 2 - y / 3, x // y, x % y, x < y, (x >= y) | ~(x == y), abs(x) ** 2, -x, +y, 1 / y, divmod(x, y)

    check(function, numbers(a), numbers(b, seed=1))
    check(function, numbers(b, np.float16), numbers(a, np.float16, 1))


def test_integers_and_their_bits():
    def function(x: Any, y: Any) -> Any:
        return x & y, x | y, x ^ 3, ~x, x << 2, y >> 1, 1 << (y & 7), x // 0, x % 0, x**3, (-7) // x, x == y, x > 1

    for dtype in ("int8", "uint8", "int32", "int64", "uint64"):
        x = np.array([1, 2, 3, 0, 100, 7], dtype)
        if dtype[0] == "u":
            check(lambda a, b: (a & b, a << 2, a**5, a // 0, a - b), x, x[::-1].copy())
        else:
            check(function, x, x[::-1].copy())


def test_plain_powers_are_not_computed_by_pow():
    module = str(traced(lambda x: (x**2, x**0.5, x**-1, x**1, x**0, x**3), numbers((4,))).module)
    assert [line.split()[2] for line in module.splitlines() if "= ascend" in line] == [
        "ascend.mul",
        "ascend.sqrt",
        "ascend.reciprocal",
        "ascend.constant",
        "ascend.constant",
        "ascend.pow",
    ]


def test_one_computation_is_written_once():
    module = str(traced(lambda x: np.exp(x - 1) + np.exp(x - 1), numbers((4,))).module)
    assert module.count("ascend.exp") == module.count("ascend.sub") == module.count("ascend.constant") == 1


def test_zeros_of_both_signs_stay_apart():
    check(lambda x: (x * 0.0, x * -0.0, np.copysign(x, -0.0), np.pad(x, 1, constant_values=-0.0), np.pad(x, 1)), np.ones(3, np.float32))


def test_uint64_constants_beyond_int64():
    x = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    check(lambda a: (a + 2**63, a == 2**64 - 1, a ^ (2**63 + 5), np.pad(a, 1, constant_values=2**63)), x)


# Reductions.

KINDS = ["sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin"]


def axes_of(rank: int, name: str) -> list[Any]:
    single = [None, *range(-rank, rank)]
    many = [] if name.startswith("arg") or rank < 2 else [(0, 1), (-1, 0), tuple(range(rank)), ()]
    return single + many


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_reductions_over_every_axis(name: str, shape: tuple[int, ...]):
    reduce = getattr(np, name)
    for axis in axes_of(len(shape), name):
        for keepdims in (False, True):
            for dtype in (np.float32, np.int16) if name != "mean" else (np.float32,):
                x = numbers(shape, dtype)
                try:
                    with np.errstate(all="ignore"):
                        expected = reduce(x, axis=axis, keepdims=keepdims)
                except ValueError as error:
                    with pytest.raises(AscirError, match=str(error).replace("(", r"\(").replace(")", r"\)")[:40]):
                        evaluate(lambda a, axis=axis: reduce(a, axis=axis), x)
                    continue
                found = evaluate(lambda a, axis=axis, keepdims=keepdims: reduce(a, axis=axis, keepdims=keepdims), x)
                same(found, expected, f"{name} {shape} axis={axis} keepdims={keepdims} {dtype}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", [s for s in SHAPES if 0 not in s])
@pytest.mark.parametrize("ddof", [0, 1])
def test_var_and_std(shape: tuple[int, ...], ddof: int):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    for axis in axes_of(len(shape), "var"):
        for name in ("var", "std"):
            expected = np.asarray(getattr(np, name)(x, axis=axis, ddof=ddof, keepdims=True))
            found = evaluate(lambda a, n=name, axis=axis: getattr(a, n)(axis=axis, ddof=ddof, keepdims=True), x)
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_var_of_integers_in_a_float_type():
    check(lambda a: np.var(a, dtype=np.float32, correction=1, axis=-1), np.arange(12).reshape(3, 4))


def test_small_integers_are_summed_in_64_bits():
    check(lambda x: (x.sum(), x.prod(), x.sum(dtype=np.int8), x.sum(axis=0, dtype=np.float32)), np.full((3, 200), 3, np.int8))


def test_half_sums_do_not_overflow_on_the_way():
    x = np.array([60000, 60000, -60000], np.float16)
    assert evaluate(lambda a: a.sum(), x) == 60000


def test_argmax_takes_the_first_and_nan_first():
    x = np.array([[1, 3, 3], [np.nan, 9, np.nan], [-np.inf, -np.inf, -np.inf]], np.float32)
    check(lambda a: (a.argmax(1), a.argmin(1), a.argmax(), np.argmin(a, keepdims=True), np.argmax(a, 0)), x)
    check(lambda a: (a.argmax(1), a.argmin(1)), x > 2)


def test_ufunc_reduce_and_outer():
    def function(x: Any) -> Any:
        reduced = np.add.reduce(x), np.multiply.reduce(x, axis=1), np.maximum.reduce(x, axis=(0, 1)), np.minimum.reduce(x, keepdims=True)
        return (*reduced, np.logical_and.reduce(x, axis=None), np.add.outer(x[0], x[1]), np.outer(x[0], x), np.multiply.outer(x[0], x[1]))

    check(function, numbers((2, 5)))


# Indices.

INDICES: list[Any] = [
    0,
    -1,
    slice(None),
    slice(1, None),
    slice(None, -1),
    slice(None, None, -1),
    slice(5, 0, -2),
    slice(-100, 100),
    slice(3, 3),
    slice(2, 1),
    (Ellipsis, 0),
    (0, Ellipsis, slice(None, None, 2)),
    None,
    (None, 0, None),
    (slice(None), None, slice(1, 2)),
    (0, 1, 2),
    (slice(None, None, -1), slice(None, None, 3), slice(None, None, -2)),
    Ellipsis,
    (),
    np.int64(1),
    (Ellipsis, slice(0, 1), -1),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices(index: Any):
    check(lambda x: x[index], np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6))


def test_iteration_and_len():
    check(lambda x: [row * len(x) for row in x], numbers((3, 4)))
    check(lambda x: sum(x), numbers((3, 4)))


def test_indices_that_do_not_work():
    x = numbers((3, 4))
    out = "choose by mask with np.where(mask, x, other); pick rows with slices and np.concatenate([x[2:3], x[5:6]])"
    by = "a tensor is indexed by whole numbers, slices, ... and None, not by"
    assert refusal(lambda a: a[a > 0], x) == f"{by} a traced tensor | {out}"
    assert refusal(lambda a: a[[0, 2]], x) == f"{by} list [0, 2] | {out}"
    assert refusal(lambda a: a[np.array([0, 2])], x) == f"{by} ndarray array([0, 2]) | {out}"
    assert refusal(lambda a: a[True], x) == f"{by} bool True | {out}"
    assert refusal(lambda a: a[1.0], x) == f"{by} float 1.0 | {out}"
    assert refusal(lambda a: a[3], x) == "index 3 is out of bounds for axis 0 with size 3 | None"
    assert refusal(lambda a: a[0, 0, 0], x) == "too many indices: tensor is 2-dimensional, but 3 were indexed | None"
    assert refusal(lambda a: a[..., ...], x) == "an index can only have a single ellipsis ('...') | None"
    assert refusal(lambda a: a[::0], x) == "slice step cannot be zero | None"
    assert refusal(lambda a: a[0.5:], x).startswith("slice indices are whole numbers known when the function is traced, got float 0.5")


# Movement.


@pytest.mark.parametrize("shape", SHAPES)
def test_movement_on_awkward_shapes(shape: tuple[int, ...]):
    def function(x: Any) -> Any:
        moved = x.reshape(-1), np.ravel(x), x.T, x.transpose(), np.expand_dims(x, 0), x[None, ..., None], x.squeeze(), x.flatten()
        like = np.zeros_like(x), np.ones_like(x, dtype=np.int8), np.full_like(x, 2.5), np.full_like(x, -1, shape=(2, 3)), np.copy(x)
        least = np.atleast_1d(x), np.atleast_2d(x), np.atleast_3d(x), np.flip(x), np.broadcast_to(x, (2, *x.shape))
        return (*moved, *like, *least, np.roll(x, 3), np.tile(x, 2), np.tile(x, (2, 1, 3)), np.repeat(x, 3), np.stack([x, x, x]))

    check(function, numbers(shape))


@pytest.mark.parametrize("shape", [s for s in SHAPES if len(s) >= 1])
def test_movement_along_every_axis(shape: tuple[int, ...]):
    for axis in range(-len(shape), len(shape)):

        def function(x: Any, axis: int = axis) -> Any:
            turned = np.flip(x, axis), np.roll(x, 2, axis), np.roll(x, -5, axis), np.repeat(x, 2, axis), np.moveaxis(x, axis, 0)
            joined = np.concatenate([x, x[::-1]], axis), np.stack([x, -x], axis), np.swapaxes(x, axis, -1), np.concatenate((x, x), None)
            cut = np.array_split(x, 3, axis), np.array_split(x, [1, 2], axis), np.expand_dims(x, axis)
            return (*turned, *joined, *cut)

        check(function, numbers(shape))


def test_joins_and_cuts_of_many_ranks():
    def function(x: Any, y: Any) -> Any:
        joined = np.vstack([x, y]), np.hstack([x, y]), np.dstack([x, y]), np.column_stack([x, y]), np.stack((x, y), -1), np.concatenate([x])
        cut = np.split(x, 2, 1), np.hsplit(x, 2), np.vsplit(x, [1]), x.reshape(2, -1, 2), x.reshape((4, 3)), np.reshape(x, 12)
        spun = np.transpose(x, (1, 0)), x.transpose(1, 0), x.transpose((1, 0)), np.flipud(x), np.fliplr(x), np.roll(x, (1, 2), (0, 1))
        spread = np.broadcast_arrays(x, y[0]), np.matrix_transpose(x), np.permute_dims(x, (1, 0)), x.mT, np.squeeze(x[None], 0)
        more = np.hstack([x[0], y[0]]), np.expand_dims(x, (0, -1)), np.moveaxis(x[None], (0, 1), (-1, 0)), np.roll(x, 1, (0, 1))
        return (*joined, *cut, *spun, *spread, *more)

    check(function, numbers((3, 4)), numbers((3, 4), seed=1))
    check(lambda x: np.stack([x.sum(), x.max(), 2.0 * x[0]]), np.arange(4, dtype=np.float32))
    check(lambda x: np.concatenate([x, np.zeros(2, np.float32), x.astype(np.float16)]), numbers((3,)))


PADS: list[Any] = [1, (1, 2), ((1, 2), (0, 3)), ((1, 2),), 0, {0: (1, 1)}, {-1: 2}, np.array([[0, 1], [1, 0]])]


@pytest.mark.parametrize("width", PADS, ids=str)
def test_pads(width: Any):
    def function(x: Any) -> Any:
        values = 0, -1.5, (1, 2), ((1, 2), (3, 4)), np.float32(0.1)
        return tuple(np.pad(x, width, constant_values=v) for v in values)

    check(function, numbers((2, 3)))
    check(lambda x: np.pad(x, 1, "constant", constant_values=3), numbers((2, 3), np.int16))
    check(lambda x: np.pad(x, 1, constant_values=True), numbers((2, 3)) > 0)


def test_choices():
    def function(x: Any, y: Any) -> Any:
        chosen = np.where(x > 0, x, y), np.where(x > 0, 1.0, y), np.where(x[0] > 0, x, 0), np.where(x, 1, 2)
        clipped = np.clip(x, -1, 1), x.clip(0, None), np.clip(x, None, y), np.clip(x, min=-0.5, max=y), x.clip(max=1.0)
        mended = np.nan_to_num(x), np.nan_to_num(x, nan=1.5, posinf=2, neginf=-3), np.round(x), np.round(x, 1), np.around(x, -1)
        return (*chosen, *clipped, *mended, np.isnan(x), np.isinf(x), np.isfinite(x), np.heaviside(x, 0.5), np.sign(x))

    for dtype in (np.float32, np.float16):
        check(function, numbers((4, 5), dtype), numbers((4, 5), dtype, 1))
    check(lambda x: (np.fix(x), np.trunc(x)), numbers((5,)))  # pyright: ignore[reportDeprecated]
    check(lambda x: (np.clip(x, -1, 300), np.clip(x, 2, 3), np.nan_to_num(x), np.round(x), x.clip(5)), np.arange(9, dtype=np.uint8))


def test_what_a_tensor_knows():
    def function(x: Any) -> Any:
        assert (x.shape, x.ndim, x.size, x.dtype, len(x), x.nbytes, x.itemsize) == ((2, 3), 2, 6, np.dtype(np.float16), 2, 12, 2)
        assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1), np.result_type(x, 1.0)) == ((2, 3), 2, 6, 3, np.float16)
        return x

    assert evaluate(lambda x: (f"{x}", repr(x[0])), numbers((2, 3), np.float16)) == (
        "TracedTensor(shape=(2, 3), dtype=float16)",
        "TracedTensor(shape=(3,), dtype=float16)",
    )
    check(function, numbers((2, 3), np.float16))


# What a function may take and return.


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: (x, x),
        lambda x: [x + 1, x],
        lambda x: {"a": x, "b": [x * 2, (x,)]},
        lambda x: Pair(x, -x),
        lambda x: np.zeros(3, np.float32),
        lambda x: np.zeros_like(x),
        lambda x: (),
    ],
)
def test_results_come_back_in_their_structure(function: Any):
    check(function, numbers((4,)))


def test_plain_values_come_back_as_they_are():
    assert evaluate(lambda x: (1, 2.5, None, "name", np.float64(3)), numbers((2,))) == (1, 2.5, None, "name", 3)


def test_structures_of_arrays_as_arguments():
    check(lambda p, q: p["w"] * q[0] + q[1][0], {"w": numbers((3,)), "b": numbers((3,))}, (numbers((3,)), [numbers((3,))]))


def test_arrays_from_outside_become_hidden_arguments():
    weight = numbers((3,))
    found = traced(lambda x: x * weight + weight[0], numbers((2, 3)))
    assert len(found.captured) == 1 and found.captured[0] is weight
    check(lambda x: x * weight + weight[0] + np.arange(3, dtype=np.float32), numbers((2, 3)))


def test_numbers_scalars_and_arrays_may_stand_on_the_left():
    y = numbers((3,), seed=1)
    check(lambda x: (np.float32(0.1) * x, np.int8(3) - x, 3 + x - True, y * x, y < x), numbers((3,)))
    check(lambda x: (divmod(7, x), 2.0**x, np.bool_(True) & (x > 0), y[0] / x), numbers((3,)))


# Messages.


def test_data_dependent_python_says_what_to_write():
    x = numbers((3,))

    def branch(a: Any) -> Any:
        return a if a.sum() > 0 else -a

    assert refusal(branch, x) == (
        "the truth of a tensor is not known while the function is traced"
        " | choose per element: np.where(condition, a, b), np.maximum(a, b); combine conditions with &, |, ~ for and, or, not"
    )
    assert "float() of a tensor" in refusal(lambda a: float(a[0]), x)
    assert "int() of a tensor" in refusal(lambda a: int(a[0]), x)
    assert "cannot be an index or a size" in refusal(lambda a: [1, 2, 3][a[0]], x)
    assert "cannot be an index or a size" in refusal(lambda a: np.zeros(a[0]), x)
    assert "np.stack([a, b]) joins tensors" in refusal(lambda a: np.asarray(a), x)
    assert "np.stack([a, b]) joins tensors" in refusal(lambda a: np.array([a, a]), x)
    assert "write (x == item).any() and return it" in refusal(lambda a: 1.0 in a, x)
    assert "cannot be printed as '.2f'" in refusal(lambda a: f"{a[0]:.2f}", x)
    assert "a 0-d tensor cannot be iterated over" in refusal(lambda a: list(a[0]), x)


def test_changes_in_place_are_refused():
    x = numbers((3,))

    def item(a: Any) -> None:
        a[0] = 1

    def augmented(a: Any) -> Any:
        a += 1
        return a

    assert refusal(item, x) == (
        "item assignment: a traced tensor cannot be changed"
        " | build the new one: np.where(mask, new, x), or np.concatenate([x[:k], new, x[k + 1:]])"
    )
    in_place = "changes an array in place, which a traced function cannot | use the result: x = x + y, not x += y"
    assert refusal(augmented, x) == f"np.add with out= {in_place}"
    assert refusal(lambda a: np.exp(a, out=a), x) == f"np.exp with out= {in_place}"
    assert refusal(lambda a: a.sum(out=a), x) == f"np.sum with out= {in_place}"


@pytest.mark.parametrize(
    ("function", "name", "instead"),
    [
        (lambda a: a @ a, "np.matmul", "write multiply and sum"),
        (lambda a: np.dot(a, a), "np.dot", "write multiply and sum"),
        (lambda a: np.cumsum(a), "np.cumsum", "nothing yet: a kernel cannot scan"),
        (lambda a: np.sort(a), "np.sort", "nothing yet: a kernel cannot sort"),
        (lambda a: np.nonzero(a), "np.nonzero", "the shape of a result may not depend on values"),
        (lambda a: np.linalg.norm(a), "np.linalg.norm", "nearest that do"),
        (lambda a: np.nanmax(a), "np.nanmax", "write np.where(np.isnan(x), -np.inf, x).max()"),
        (lambda a: np.maximum.accumulate(a), "np.maximum.accumulate", "a kernel cannot scan"),
        (lambda a: np.spacing(a), "np.spacing", "nearest that do"),
        (lambda a: a.tolist(), "ndarray.tolist", "return the tensor and read it outside"),
        (lambda a: a.cumsum(), "ndarray.cumsum", "a kernel cannot scan"),
        (lambda a: np.array_equal(a, a), "np.array_equal", "(a == b).all()"),
        (lambda a: np.interp(a, a, a), "np.interp", "nearest that do"),
    ],
)
def test_unknown_functions_name_the_nearest(function: Any, name: str, instead: str):
    message = refusal(function, numbers((3, 3)))
    assert message.startswith(f"{name} does not work in a kernel | ") and instead in message, message


X = np.array([[1.5, np.nan, -2], [0, 4, 3]], np.float32)
A, B = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4) - 3


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("matmul", {"a": A, "b": B}, A @ B),
        ("dot", {"a": A[0], "b": A[1]}, np.dot(A[0], A[1])),
        ("vdot", {"a": A, "b": A + 1}, np.vdot(A, A + 1)),
        ("inner", {"a": A, "b": A - 1}, np.inner(A, A - 1)),
        ("vecdot", {"a": A, "b": A + 2}, np.vecdot(A, A + 2)),
        ("matvec", {"a": A, "b": A[1]}, np.matvec(A, A[1])),
        ("vecmat", {"a": B[:, 0], "b": B}, np.vecmat(B[:, 0], B)),
        ("nansum", {"x": X}, np.nansum(X)),
        ("nanprod", {"x": X}, np.nanprod(X)),
        ("nanmax", {"x": X}, np.nanmax(X)),
        ("nanmin", {"x": X}, np.nanmin(X)),
        ("count_nonzero", {"x": A}, np.int64(np.count_nonzero(A))),
        ("diff", {"x": A}, np.diff(A, axis=0)),
        ("ldexp", {"x": A, "n": A.astype(np.int32)}, np.ldexp(A, A.astype(np.int32))),
        ("array_equal", {"a": A, "b": A}, np.bool_(True)),
    ],
)
def test_what_to_write_instead_is_right(name: str, operands: dict[str, Any], expected: Any):
    recipe = INSTEAD[name].removeprefix("multiply and sum: ").split(", returned")[0]
    same(evaluate(lambda given: eval(recipe, {"np": np, **given}), operands), expected, recipe)


def test_parameters_that_do_not_work():
    x = numbers((2, 3))
    assert "np.where(mask, x, neutral)" in refusal(lambda a: np.add(a, a, where=a > 0), x)
    assert "np.where(mask, x, neutral)" in refusal(lambda a: np.sum(a, where=a > 0), x)
    assert "combine afterwards" in refusal(lambda a: a.max(initial=0), x)
    assert "order='F' is x.T.reshape(shape[::-1]).T" in refusal(lambda a: a.reshape(6, order="F"), x)
    assert "mode='edge' is x[:1] before" in refusal(lambda a: np.pad(a, 1, mode="edge"), x)
    assert "in a kernel it takes (a, axis=None, dtype=None, keepdims=False)" in refusal(lambda a: np.sum(a, None, None, None, False, 7), x)
    assert "unexpected keyword argument" in refusal(lambda a: a.sum(axes=1), x)


def test_wrong_shapes_are_named():
    x = numbers((2, 3))
    assert "shapes (2, 3) and (2,) do not broadcast together" in refusal(lambda a: a + a[:, 0], x)
    assert "cannot reshape (2, 3) of 6 elements into (4, -1)" in refusal(lambda a: a.reshape(4, -1), x)
    assert "cannot reshape (2, 3) of 6 elements into (4,)" in refusal(lambda a: a.reshape(4), x)
    assert "axis 2 is out of bounds for a tensor of rank 2" in refusal(lambda a: a.sum(2), x)
    assert "name one axis twice" in refusal(lambda a: a.sum((0, -2)), x)
    assert "do not concatenate along axis 0" in refusal(lambda a: np.concatenate([a, a.T]), x)
    assert "all input arrays must have the same shape" in refusal(lambda a: np.stack([a, a.T]), x)
    assert "does not broadcast to" in refusal(lambda a: np.broadcast_to(a, (2, 4)), x)
    assert "array split does not result in an equal division" in refusal(lambda a: np.split(a, 2, 1), x)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(3), "argument 'a0' is float64, which the AI Core does not compute | use float32: .astype(np.float32)"),
        ([1.0, 2.0], "argument 'a0' is a list of numbers, not an array | pass np.asarray(a0, dtype=np.float32)"),
        (np.zeros(3, complex), "argument 'a0' has dtype complex128, which no kernel can hold"),
        (np.array(["a"]), "argument 'a0' has dtype <U1, which no kernel can hold"),
        (np.array([None]), "argument 'a0' has dtype object, which no kernel can hold | make it an array of numbers"),
        (np.zeros((1,) * 9, np.float32), "argument 'a0' has 9 axes; kernels take up to 8 | join neighbouring axes: x.reshape(…)"),
        (np.ma.masked_array(np.zeros(3, np.float32)), "argument 'a0' is a MaskedArray, whose operators differ from an array's"),
        (object(), "argument 'a0' is a object, which is neither an array nor a number"),
    ],
)
def test_arguments_no_kernel_can_take(value: Any, message: str):
    assert message in refusal(lambda a: a, value)


def test_results_no_kernel_can_give():
    assert "the function returned a object" in refusal(lambda a: object(), numbers((2,)))
    assert "the array 'captured' that the function uses is float64" in refusal(lambda a: a + np.zeros(2), numbers((2,)))
    assert "a list is no tensor | make it an array" in refusal(lambda a: a * [1, 2], numbers((2,)))
    assert "expected a tensor or a number, got str 'x'" in refusal(lambda a: a == "x", numbers((2,)))
    assert "expected a tensor or a number, got NoneType None" in refusal(lambda a: a == None, numbers((2,)))  # noqa: E711


def test_tensors_do_not_outlive_their_function():
    kept: list[Any] = []
    evaluate(lambda a: kept.append(a), numbers((2,)))
    with pytest.raises(AscirError, match="has no value outside of its function"):
        np.exp(kept[0])
    assert "kept from another call" in refusal(lambda a: a + kept[0], numbers((2,)))


# Places.


def test_every_op_knows_the_authors_line_and_column():
    def function(x: Any) -> Any:
        y = np.exp(x)
        return np.maximum(y, 0) + x.sum()

    first = function.__code__.co_firstlineno
    ops = list(traced(function, numbers((2,))).function.body.block.ops)
    places = [op.location for op in ops]
    assert all(isinstance(p, FileLineColLoc) and p.filename.data == __file__ for p in places)
    lines = [p.line.data - first for p in places if isinstance(p, FileLineColLoc)]
    assert lines == [1, 2, 2, 2, 2, 2, 0]
    columns = [p.column.data for p in places if isinstance(p, FileLineColLoc)]
    assert columns == [13, 16, 16, 35, 16, 16, 1]


def test_an_error_shows_the_line_and_a_caret():
    def function(x: Any) -> Any:
        return x + np.sort(x)

    with pytest.raises(AscirError) as caught:
        traced(function, numbers((2,)))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{__file__}:{function.__code__.co_firstlineno + 1}:20: error: np.sort does not work in a kernel")
    assert lines[1].strip() == "return x + np.sort(x)" and lines[2].strip() == "^^^^^^^^^^" and lines[2].index("^") == 19


# Sizes not known yet.


def test_unknown_sizes_go_through_what_needs_no_number():
    def function(x: Any, y: Any) -> Any:
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        p = e / e.sum(axis=-1, keepdims=True) + y
        return p.T, p.var(0), p.argmax(1), p.reshape(-1), p[:, None], np.broadcast_to(y, x.shape), np.zeros_like(x), p.mean()

    module = str(traced(function, TensorSpec((None, 8), "float32"), TensorSpec((8,), "bfloat16")).module)
    assert "tensor<?x8xf32>" in module and "-> (tensor<8x?xf32>, tensor<8xf32>, tensor<?xi64>, tensor<?xf32>, tensor<?x1x8xf32>" in module


def test_unknown_sizes_refuse_to_be_numbers():
    spec = TensorSpec((None, 8), np.float32)
    give = "give ascir.TensorSpec"
    assert "the size of axis 0 is not known" in refusal(lambda a: a * a.shape[0], spec)
    assert "the size of axis 0 is not known" in refusal(lambda a: a.reshape(a.shape[0] * 8), spec)
    assert "the size of axis 0 is not known" in refusal(lambda a: [row for row in a], spec)
    assert give in refusal(lambda a: a[1:], spec) and give in refusal(lambda a: a[0], spec) and give in refusal(lambda a: a[::-1], spec)
    assert give in refusal(lambda a: a.var(0, ddof=1), spec) and give in refusal(lambda a: np.flip(a, 0), spec)


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ((-1, 2), "float32", "TensorSpec takes sizes from 0 up, or None where one is not known; got (-1, 2)"),
        ((2.5,), "float32", "TensorSpec takes sizes from 0 up, or None where one is not known; got (2.5,)"),
        ((2,), "float64", "the requested type is float64"),
        ((2,), "floaty", "data type 'floaty' not understood"),
        ((1,) * 9, "float32", "TensorSpec has 9 axes; kernels take up to 8"),
    ],
)
def test_specs_that_make_no_sense(shape: Any, dtype: str, message: str):
    with pytest.raises(AscirError) as caught:
        TensorSpec(shape, dtype)
    assert message in str(caught.value)


def test_specs_name_every_dtype():
    assert TensorSpec((2,), "bfloat16").dtype == ml_dtypes.bfloat16 and TensorSpec([2], np.int8).shape == (2,)


def test_the_list_of_functions_is_complete():
    """Every function that has a row here is tested above or in test_promotion."""
    assert {f.__name__ for f in FUNCTIONS} <= set(supported())
    assert {"exp", "where", "sum", "pad", "concatenate", "clip"} <= set(supported())
