"""Double buffering by hand: while the vector unit adds one pair of tiles, the next pair is on its way in and the last sum on its way out.

    python examples/pipelined_add.py
    ascir prof examples/pipelined_add.py --output prof

With one set of buffers each tile's load waits until the tile before it is done with them; with two sets, only until the one before that
is. The compiler places the flags either way. A bandwidth-bound add gains next to nothing from it when all cores share the memory (on
hardware 1.7 %), and much when one core has the memory to itself.
"""

import numpy as np

import ascir


def build(depth: int, tile: int = 8192, dtype: str = "float32", block_dim: int = 8) -> ascir.Kernel:
    """An add with `depth` sets of buffers that tiles take in turn."""
    k = ascir.KernelBuilder(f"add_depth_{depth}")
    x, y, z = k.gm("x", dtype), k.gm("y", dtype), k.gm("z", dtype, output=True)
    n = k.scalar("n", "int64")
    sets = [[k.alloc(f"{name}_{turn}", tile, dtype) for name in ("x", "y")] for turn in range(depth)]

    with k.for_(k.block_idx * depth * tile, n, k.block_num * depth * tile) as first:
        for turn, (x_tile, y_tile) in enumerate(sets):
            i = k.min(first + turn * tile, n)
            count = k.min(tile, n - i)
            k.copy(x[i : i + count], x_tile[:count])
            k.copy(y[i : i + count], y_tile[:count])
            k.add(x_tile[:count], y_tile[:count], out=y_tile[:count])
            k.copy(y_tile[:count], z[i : i + count])
    return k.build(block_dim=block_dim)


def main() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 48 * 16 * 8192), dtype=np.float32)
    for cores in (1, 8, 48):
        times: list[float] = []
        for depth in (1, 2):
            z = np.zeros_like(x)
            profile = build(depth).profile[cores](x, y, z, x.size)
            np.testing.assert_array_equal(z, x + y)
            assert profile.cycles is not None
            times.append(profile.cycles)
        gain = 100 * (times[0] / times[1] - 1)
        print(f"{cores:2} cores: one set of buffers {times[0]:9.0f} cycles, two {times[1]:9.0f}: {gain:4.1f} % faster")


if __name__ == "__main__":
    main()
