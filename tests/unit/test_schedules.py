"""Schedules: a correct kernel computes the same bits whenever its values are computed; one that lacks a flag does not."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ascir
from ascir.backend_c.schedule import SCHEDULES
from ascir.builder import Kernel, KernelBuilder
from ascir.diagnostics import AscirError
from ascir.nn import softmax

EXAMPLES = Path(__file__).parents[2] / "examples"
EVERY = [("eager", 0), ("late", 0), *(("shuffled", seed) for seed in range(4))]


@pytest.fixture(params=EVERY, ids=[f"{name}-{seed}" for name, seed in EVERY])
def _under(request: pytest.FixtureRequest) -> Iterator[None]:
    with ascir.schedule(*request.param):
        yield


def module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("_under")
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_each_example_is_right(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The examples compare themselves with NumPy."""
    main: Callable[[], None] | None = getattr(module_of(path), "main", None)
    if main is not None:
        main()
        assert capsys.readouterr().out


def norm(x: Any, w: Any) -> Any:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6) * w


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def rows(x: Any) -> Any:
    return softmax(x, axis=-1)


def columns(x: Any) -> Any:
    return np.sum(x, axis=0)


def transposed(x: Any, y: Any) -> Any:
    return x.T + y


def total(x: Any) -> Any:
    return np.sum(x)


OPERATORS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "gelu": (gelu, [(100, 333)]),
    "softmax": (rows, [(65, 1000)]),
    "rms norm": (norm, [(33, 257), (257,)]),
    "column sums": (columns, [(1000, 77)]),
    "transposed add": (transposed, [(63, 129), (129, 63)]),
    "long sum": (total, [(123_456,)]),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_operators_give_the_same_bits(name: str, dtype: str) -> None:
    function, shapes = OPERATORS[name]
    rng = np.random.default_rng()
    arrays = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    results = [ascir.hybrid_operator(function, schedule=s, seed=seed)(*arrays) for s, seed in EVERY]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def chain(missing: str) -> Kernel:
    """y = exp(x) in two tiles through one buffer, each flag of which may be left out."""
    k = KernelBuilder("chain")
    x, y = k.gm("x", "float32", 128), k.gm("y", "float32", 128, output=True)
    a, b = k.alloc("a", 64, "float32"), k.alloc("b", 64, "float32")

    def order(source: str, destination: str, again: bool = False) -> None:
        if f"{source}→{destination}{' again' if again else ''}" != missing:
            k.set_flag(source, destination, int(again))
            k.wait_flag(source, destination, int(again))

    for tile in range(2):
        if tile:
            order("V", "MTE2", again=True)
            order("MTE3", "V", again=True)
        k.copy(x[64 * tile : 64 * tile + 64], a)
        order("MTE2", "V")
        k.exp(a, out=b)
        order("V", "MTE3")
        k.copy(b, y[64 * tile : 64 * tile + 64])
    k.barrier()
    return k.build(sync="unchecked")


@pytest.mark.parametrize("missing", ["MTE2→V", "V→MTE3", "V→MTE2 again", "MTE3→V again"])
def test_a_missing_flag_shows_in_the_values(missing: str) -> None:
    """Also without the checkers: what they would report is what goes wrong."""
    x = np.linspace(-1, 1, 128, dtype=np.float32)
    wrong: set[str] = set()
    for name, seed in EVERY:
        y = np.zeros_like(x)
        with pytest.raises(ascir.KernelFault, match=r"no (flag|barrier).* between"):
            chain(missing).launch([x, y], schedule=name, seed=seed)
        if not np.allclose(y, np.exp(x)):
            wrong.add(name)
    assert "late" in wrong or "shuffled" in wrong
    assert "eager" not in wrong


@pytest.mark.parametrize(("name", "seed"), EVERY)
def test_its_whole_twin_is_right(name: str, seed: int) -> None:
    x, y = np.linspace(-1, 1, 128, dtype=np.float32), np.zeros(128, np.float32)
    chain("none").launch([x, y], schedule=name, seed=seed)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_cycles_do_not_depend_on_the_schedule() -> None:
    x, y = np.ones(128, np.float32), np.ones(128, np.float32)
    kernel = chain("none")
    assert len({kernel.profile(x, y, schedule=name, seed=seed).cycles for name, seed in EVERY}) == 1


def test_a_seed_gives_one_order() -> None:
    x = np.linspace(-1, 1, 128, dtype=np.float32)

    def run(seed: int) -> bytes:
        y = np.zeros_like(x)
        with pytest.raises(ascir.KernelFault):
            chain("MTE2→V").launch([x, y], schedule="shuffled", seed=seed)
        return y.tobytes()

    once = [run(seed) for seed in range(8)]
    assert once == [run(seed) for seed in range(8)]
    assert len(set(once)) > 1


def test_a_schedule_that_does_not_exist() -> None:
    assert SCHEDULES == ("eager", "late", "shuffled")
    with pytest.raises(AscirError, match="there is no schedule 'lat'; did you mean 'late'"):
        ascir.hybrid_operator(np.exp, schedule="lat")
    with pytest.raises(AscirError, match="the seed of a schedule is a whole number"), ascir.schedule("shuffled", -1):
        pass
