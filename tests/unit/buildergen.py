"""Random kernels made through the builder, and the same programs in NumPy.

A program is a list of steps on four tiles of 32 elements: instructions, scalar stores, selects through a mask, slices at places known or
not, loops and branches nested to a depth of two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ascir.builder import Buffer, Kernel, KernelBuilder, Mask


@st.composite
def programs(draw: st.DrawFn) -> list[Any]:
    """Steps on four tiles: (instruction, operands…), loops and branches nested to a depth of two."""

    def steps(depth: int) -> list[Any]:
        tile = st.integers(0, 3)
        kinds = [
            st.tuples(st.sampled_from(["add", "sub", "mul", "max", "min"]), tile, tile, tile),
            st.tuples(st.sampled_from(["abs", "relu"]), tile, tile),
            st.tuples(st.sampled_from(["adds", "muls", "maxs"]), tile, st.integers(-3, 3), tile),
            st.tuples(st.just("select"), tile, tile, tile),
            st.tuples(st.just("store"), tile, st.integers(0, 31), st.integers(-9, 9)),
            st.tuples(st.just("part"), tile, tile, tile, st.integers(0, 2), st.booleans()),
        ]
        found: list[Any] = []
        for _ in range(draw(st.integers(1, 4))):
            nested = draw(st.sampled_from(["for", "if", "else", "plain", "plain"])) if depth < 2 else "plain"
            if nested == "plain":
                found.append(draw(st.one_of(kinds)))
            else:
                found.append((nested, draw(st.integers(0, 3)), steps(depth + 1)))
        return found

    return steps(0)


def operands_of(name: str, sources: Any, tiles: list[Any], number: Callable[[int], Any]) -> list[Any]:
    first, *others = sources
    return [tiles[first], *(number(other) if name in TAKES_A_NUMBER else tiles[other] for other in others)]


def parts(step: Any) -> tuple[str, list[Any]]:
    """The name of a step and its operands."""
    return step[0], list(step[1:])


def part_start(n: Any, block: int, moving: bool) -> Any:
    """Where eight elements of a tile start: known, or depending on the argument."""
    return block * 8 + n % 2 * 8 if moving else block * 8


def emit(k: KernelBuilder, tiles: list[Buffer], mask: Mask, n: Any, steps: list[Any], depth: int = 0) -> None:
    """One random program as builder calls."""
    for step in steps:
        name, rest = parts(step)
        if name == "for":
            with k.for_(rest[0]):
                emit(k, tiles, mask, n, rest[1], depth + 1)
        elif name in ("if", "else"):
            with k.if_(n % 4 > rest[0] if name == "if" else n % 4 <= rest[0]):
                emit(k, tiles, mask, n, rest[1], depth + 1)
            with k.else_():
                k.adds(tiles[0], 1.0, out=tiles[0])
        elif name == "select":
            k.compare_lt(tiles[rest[0]], tiles[rest[1]], out=mask)
            k.select(mask, tiles[rest[1]], tiles[rest[0]], out=tiles[rest[2]])
        elif name == "store":
            k.store(tiles[int(rest[0])], rest[1], float(rest[2]))
        elif name == "part":
            start = part_start(n, *rest[3:])
            a, b, out = (tiles[int(t)][start : start + 8] for t in rest[:3])
            k.add(a, b, out=out)
        else:
            *sources, out = rest
            getattr(k, name)(*operands_of(name, sources, tiles, float), out=tiles[out])


def relu(a: Any) -> Any:
    return np.maximum(a, np.float32(0))


IN_NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "abs": np.abs,
    "relu": relu,
    "adds": np.add,
    "muls": np.multiply,
    "maxs": np.maximum,
}
TAKES_A_NUMBER = ("adds", "muls", "maxs")


def simulate(tiles: list[Any], n: int, steps: list[Any]) -> None:
    """The same program in NumPy."""
    for step in steps:
        name, rest = parts(step)
        if name == "for":
            for _ in range(rest[0]):
                simulate(tiles, n, rest[1])
        elif name in ("if", "else"):
            if (n % 4 > rest[0]) == (name == "if"):
                simulate(tiles, n, rest[1])
            else:
                tiles[0] = tiles[0] + np.float32(1)
        elif name == "select":
            a, b, out = rest
            tiles[out] = np.where(tiles[a] < tiles[b], tiles[b], tiles[a])
        elif name == "store":
            tiles[rest[0]] = tiles[rest[0]].copy()
            tiles[rest[0]][rest[1]] = rest[2]
        elif name == "part":
            a, b, out = rest[:3]
            cut = slice(part_start(n, *rest[3:]), part_start(n, *rest[3:]) + 8)
            tiles[out] = tiles[out].copy()
            tiles[out][cut] = tiles[a][cut] + tiles[b][cut]
        else:
            *sources, out = rest
            tiles[out] = IN_NUMPY[name](*operands_of(name, sources, tiles, np.float32))


def random_kernel(steps: list[Any]) -> Kernel:
    k = KernelBuilder("random")
    n = k.scalar("n")
    arrays = [k.gm(f"x{t}", "float32", 32, output=True) for t in range(4)]
    tiles = [k.alloc(f"t{t}", 32, "float32") for t in range(4)]
    for array, tile in zip(arrays, tiles, strict=True):
        k.copy(array, tile)
    emit(k, tiles, k.alloc_mask(32), n, steps)
    for array, tile in zip(arrays, tiles, strict=True):
        k.copy(tile, array)
    return k.build()
