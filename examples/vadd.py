"""The same vector add three ways: a NumPy function, an explicit kernel, and textual IR.

    python examples/vadd.py

The first leaves tiles, cores and copies to the compiler; the second and the third say them. All three end in the same C and run
on the same emulated AI Core, and each must give exactly NumPy's sum.
"""

from pathlib import Path

import numpy as np

import ascir

TILE = 4096


@ascir.hybrid_operator
def add(x, y):
    """NumPy's own `+`; shapes and dtypes come from the arguments."""
    return x + y


def build_vadd() -> ascir.Kernel:
    """An explicit kernel: every eighth tile of 4096 elements goes to the same core."""
    k = ascir.KernelBuilder("vadd")
    x, y, z = k.gm("x", "float32"), k.gm("y", "float32"), k.gm("z", "float32", output=True)
    n = k.scalar("n", "int64")

    x_tile = k.alloc("x_tile", TILE, "float32")
    y_tile = k.alloc("y_tile", TILE, "float32")
    z_tile = k.alloc("z_tile", TILE, "float32")

    with k.for_(k.block_idx * TILE, n, k.block_num * TILE) as i:
        count = k.min(TILE, n - i)
        k.copy(x[i : i + count], x_tile[:count])
        k.copy(y[i : i + count], y_tile[:count])
        k.add(x_tile[:count], y_tile[:count], out=z_tile[:count])
        k.copy(z_tile[:count], z[i : i + count])

    return k.build(block_dim=8)


def load_vadd() -> ascir.Kernel:
    """The same kernel as text."""
    path = Path(__file__).with_name("vadd.mlir")
    return ascir.Kernel.parse(path.read_bytes(), filename=str(path))


def main() -> None:
    rng = np.random.default_rng(0)
    n = 100_003
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    expected = x + y

    np.testing.assert_array_equal(add(x, y), expected)
    print(f"NumPy function   exact on {n} elements")

    for name, kernel in (("KernelBuilder", build_vadd()), ("textual IR", load_vadd())):
        z = np.zeros_like(x)
        kernel[8](x, y, z, n)
        np.testing.assert_array_equal(z, expected)
        profile = kernel.profile[8](x, y, np.zeros_like(x), n)
        print(f"{name:16} exact on {n} elements, {profile.cycles:.0f} cycles on 8 cores")


if __name__ == "__main__":
    main()
