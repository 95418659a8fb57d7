"""fuse-operators and tile-to-kernel never change an answer: the interpreter runs random functions before and after.

The forms that need care each have a case of their own: broadcasts both ways, narrow rows, rows too long for UB, reductions over any
axes, windows that must be copied first, results that are arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from irgen import random_function, random_inputs
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from ascir.compile import context
from ascir.dialects.ascend import FusedOp, KernelOp
from ascir.dialects.memory import CopyOp
from ascir.dialects.types import dtype_of
from ascir.interpret import run_function
from ascir.passes.fuse_operators import FuseOperatorsPass
from ascir.passes.legalize_dtypes import LegalizeDtypesPass
from ascir.passes.tile_to_kernel import TileToKernelPass


def function(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp))


def run_host(module: ModuleOp, inputs: list[Any], results: list[Any], **options: Any) -> list[np.ndarray]:
    """Fuse and tile, then run the host function on outputs full of garbage."""
    loaded = context()
    FuseOperatorsPass().apply(loaded, module)
    module.verify()
    TileToKernelPass(**options).apply(loaded, module)
    module.verify()
    outputs = [np.full(t.get_shape(), 0x5A, np.uint8).astype(dtype_of(t).to_numpy()) for t in results]
    run_function(module, function(module).sym_name.data, [np.ascontiguousarray(x) for x in inputs] + outputs)
    return outputs


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    """To the bit, but for the order in which a reduction adds."""
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if dtype_of_array(found) in "iub":
        np.testing.assert_array_equal(found, expected)
    else:
        tolerance = 2e-3 if found.dtype.itemsize == 2 else 2e-5
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=1e-4)


def dtype_of_array(x: np.ndarray) -> str:
    return "f" if x.dtype.name == "bfloat16" else x.dtype.kind


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("max_ops", [3, 12])
def test_random_functions_keep_their_values(seed: int, max_ops: int) -> None:
    rng = np.random.default_rng([seed, max_ops])
    module = random_function(rng, max_ops=max_ops)
    inputs = random_inputs(rng, module)
    LegalizeDtypesPass().apply(context(), module)
    expected = run_function(module, "random", inputs)
    results: list[Any] = list(function(module).function_type.outputs)
    for found, reference in zip(run_host(module, inputs, results), expected, strict=True):
        assert_close(found, reference)


def reduce_function(kind: str, shape: tuple[int, ...], axes: list[int], keepdims: bool, dtype: str) -> str:
    dims = "x".join(map(str, shape))
    left = [1 if k in axes else d for k, d in enumerate(shape)] if keepdims else [d for k, d in enumerate(shape) if k not in axes]
    out = "x".join([*map(str, left), dtype])
    keep = " keepdims" if keepdims else ""
    return f"""func.func @f(%x: tensor<{dims}x{dtype}>) -> tensor<{out}> {{
      %y = ascend.add %x, %x : tensor<{dims}x{dtype}>
      %r = ascend.reduce "{kind}" %y axes {axes}{keep} : tensor<{dims}x{dtype}> to tensor<{out}>
      func.return %r : tensor<{out}>
    }}"""


def parse(text: str) -> ModuleOp:
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


SHAPES = [
    ((7,), [0]),
    ((13243,), [0]),
    ((70000,), [0]),
    ((3, 70001), [1]),
    ((2, 9), [1]),
    ((9, 2), [0]),
    ((129, 1), [1]),
    ((129, 1), [0]),
    ((5, 126), [1]),
    ((4, 3, 5), [1]),
    ((4, 3, 5), [0, 2]),
    ((4, 3, 5), [0, 1]),
    ((4, 3, 5), [0, 1, 2]),
    ((3, 1, 5, 2, 7), [0, 2, 4]),
    ((3000, 33), [0]),
    ((2, 5000, 3), [1]),
]


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("dtype", ["f32", "i64"])
@pytest.mark.parametrize("kind", ["sum", "max"])
def test_reductions_over_any_axes(kind: str, shape: tuple[int, ...], axes: list[int], dtype: str) -> None:
    rng = np.random.default_rng(len(shape))
    x = rng.integers(0, 100, shape).astype(np.float32 if dtype == "f32" else np.int64)
    module = parse(reduce_function(kind, shape, axes, len(shape) % 2 == 0, dtype))
    results: list[Any] = list(function(module).function_type.outputs)
    expected = {"sum": np.sum, "max": np.max}[kind](x + x, axis=tuple(axes), keepdims=len(shape) % 2 == 0)
    assert_close(run_host(module, [x], results)[0], np.asarray(expected, x.dtype))


SOFTMAX = """func.func @softmax(%x: tensor<{R}x{C}xf32>) -> tensor<{R}x{C}xf32> {{
  %m = ascend.reduce "max" %x axes [{A}] keepdims : tensor<{R}x{C}xf32> to tensor<{K}xf32>
  %mb = ascend.broadcast %m : tensor<{K}xf32> to tensor<{R}x{C}xf32>
  %d = ascend.sub %x, %mb : tensor<{R}x{C}xf32>
  %e = ascend.exp %d : tensor<{R}x{C}xf32>
  %s = ascend.reduce "sum" %e axes [{A}] keepdims : tensor<{R}x{C}xf32> to tensor<{K}xf32>
  %sb = ascend.broadcast %s : tensor<{K}xf32> to tensor<{R}x{C}xf32>
  %q = ascend.div %e, %sb : tensor<{R}x{C}xf32>
  func.return %q : tensor<{R}x{C}xf32>
}}"""


@pytest.mark.parametrize(("rows", "cols", "axis", "kernels"), [(33, 100, 1, 1), (1, 5000, 1, 1), (30, 60000, 1, 3), (50, 17, 0, 3)])
def test_softmax_is_one_kernel_where_a_row_fits(rows: int, cols: int, axis: int, kernels: int) -> None:
    kept = f"{rows}x1" if axis else f"1x{cols}"
    module = parse(SOFTMAX.format(R=rows, C=cols, A=axis, K=kept))
    x = np.random.default_rng(0).normal(0, 3, (rows, cols)).astype(np.float32)
    results: list[Any] = list(function(module).function_type.outputs)
    found = run_host(module, [x], results)[0]
    e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    np.testing.assert_allclose(found, e / e.sum(axis, keepdims=True), rtol=2e-5, atol=1e-9)
    assert sum(isinstance(op, KernelOp) for op in module.walk()) == kernels


def test_a_long_reduction_with_few_results_is_shared_by_the_cores() -> None:
    module = parse("""func.func @f(%x: tensor<2x131072xf32>) -> tensor<2xf32> {
      %e = ascend.mul %x, %x : tensor<2x131072xf32>
      %s = ascend.reduce "sum" %e axes [1] : tensor<2x131072xf32> to tensor<2xf32>
      func.return %s : tensor<2xf32>
    }""")
    x = np.random.default_rng(3).normal(size=(2, 131072)).astype(np.float32)
    results: list[Any] = list(function(module).function_type.outputs)
    np.testing.assert_allclose(run_host(module, [x], results)[0], (x.astype(np.float64) ** 2).sum(1), rtol=1e-6)
    kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
    assert [k.block_dim.value.data for k in kernels] == [32, 1]


def test_a_fused_chain_reads_and_writes_gm_once() -> None:
    module = parse(SOFTMAX.format(R=8, C=64, A=1, K="8x1"))
    FuseOperatorsPass().apply(context(), module)
    assert sum(isinstance(op, FusedOp) for op in module.walk()) == 1
    TileToKernelPass().apply(context(), module)
    assert sum(isinstance(op, CopyOp) for op in module.walk()) == 2


def test_a_square_reduction_is_not_broadcast_along_the_wrong_axis() -> None:
    module = parse("""func.func @f(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
      %s = ascend.reduce "sum" %x axes [1] : tensor<16x16xf32> to tensor<16xf32>
      %b = ascend.broadcast %s : tensor<16xf32> to tensor<16x16xf32>
      %y = ascend.sub %x, %b : tensor<16x16xf32>
      func.return %y : tensor<16x16xf32>
    }""")
    x = np.random.default_rng(1).normal(size=(16, 16)).astype(np.float32)
    results: list[Any] = list(function(module).function_type.outputs)
    np.testing.assert_allclose(run_host(module, [x], results)[0], x - x.sum(1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("block_dim", [1, 2, 5, 64])
def test_any_number_of_cores_gives_the_same_bits(block_dim: int) -> None:
    text = SOFTMAX.format(R=37, C=129, A=1, K="37x1")
    x = np.random.default_rng(2).normal(size=(37, 129)).astype(np.float32)
    module = parse(text)
    results: list[Any] = list(function(module).function_type.outputs)
    expected = run_host(module, [x], results)[0]
    np.testing.assert_array_equal(run_host(parse(text), [x], results, block_dim=block_dim)[0], expected)


def test_results_that_are_arguments_constants_or_one_value_twice() -> None:
    module = parse("""func.func @f(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<2x3xi8>, tensor<5xf32>, tensor<5xf32>) {
      %c = ascend.constant 7 : i64 : tensor<2x3xi8>
      %y = ascend.exp %x : tensor<5xf32>
      func.return %x, %c, %y, %y : tensor<5xf32>, tensor<2x3xi8>, tensor<5xf32>, tensor<5xf32>
    }""")
    x = np.arange(5, dtype=np.float32)
    results: list[Any] = list(function(module).function_type.outputs)
    found = run_host(module, [x], results)
    np.testing.assert_array_equal(found[0], x)
    np.testing.assert_array_equal(found[1], np.full((2, 3), 7, np.int8))
    np.testing.assert_array_equal(found[2], found[3])


def test_the_same_function_gives_the_same_text() -> None:
    """Temporaries that die together offer two buffers for one result; which is taken must not hang on where objects lie in memory."""
    text = """func.func @f(%x: tensor<5000xf32>) -> tensor<5000xf32> {
      %a = ascend.exp %x : tensor<5000xf32>
      %b = ascend.sqrt %x : tensor<5000xf32>
      %c = ascend.sin %x : tensor<5000xf32>
      %d = ascend.mul %a, %b : tensor<5000xf32>
      %e = ascend.add %d, %c : tensor<5000xf32>
      func.return %e : tensor<5000xf32>
    }"""

    def kernels() -> str:
        module = parse(text)
        for step in (FuseOperatorsPass(), TileToKernelPass()):
            step.apply(context(), module)
        return str(module)

    kept = [kernels() for _ in range(16)]
    assert len(set(kept)) == 1
