"""Translation validation of the whole pipeline: interpret(before) = interpret(after each pass) = emulated C.

Random programs of correctly rounded operators must agree to the bit at every stage and on the emulator; programs with element
functions may differ in the last place. Pipelines are varied too: passes run twice, canonicalize anywhere, one operator a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from irgen import random_function, random_inputs
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from ascir.compile import CompiledOperator, compile_module
from ascir.dialects.types import dtype_of
from ascir.interpret import run_function
from ascir.passes.fuse_operators import FuseOperatorsPass
from ascir.passes.infer_shapes import InferShapesPass
from ascir.passes.legalize_dtypes import LegalizeDtypesPass
from ascir.passes.pipeline import Options, kernel_pipeline, operator_pipeline
from ascir.passes.select_precision import SelectPrecisionPass
from ascir.passes.tile_to_kernel import TileToKernelPass


def result_types(module: ModuleOp) -> list[Any]:
    return list(next(op for op in module.ops if isinstance(op, FuncOp)).function_type.outputs)


def empty(types: Sequence[Any]) -> list[np.ndarray]:
    """Outputs full of garbage, so that an element nobody writes shows."""
    return [np.full(t.get_shape(), 0x5A, np.uint8).astype(dtype_of(t).to_numpy()) for t in types]


def interpret(module: ModuleOp, inputs: list[Any], types: Sequence[Any]) -> list[np.ndarray]:
    """A function on tensors, or the host program it became."""
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    if func.function_type.outputs:
        return run_function(module, "random", inputs)
    outputs = empty(types)
    run_function(module, "random", [np.ascontiguousarray(x) for x in inputs] + outputs)
    return outputs


def emulate(compiled: CompiledOperator, inputs: list[Any], types: Sequence[Any]) -> list[np.ndarray]:
    outputs = empty(types)
    compiled.run([np.ascontiguousarray(x) for x in inputs], outputs)
    return outputs


def assert_equal(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], where: str, *, exact: bool) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape, where
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b, where)
            continue
        x, y = a.astype(np.float64), b.astype(np.float64)
        if exact:
            np.testing.assert_array_equal(x, y, where)
        else:
            np.testing.assert_allclose(x, y, 2.0**-7 if a.dtype.itemsize == 2 else 2.0**-16, 1e-4, err_msg=where)


@pytest.mark.parametrize("seed", range(25))
def test_every_stage_of_exact_programs_agrees_to_the_bit(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    module = random_function(rng, max_ops=8, exact=True, dtypes=("i1", "i8", "ui8", "i32", "i64", "f16", "f32"))
    inputs, types = random_inputs(rng, module), result_types(module)
    expected = interpret(module, inputs, types)
    compiled = compile_module(module, name="random", precision="strict")
    for stage, changed in compiled.each_stage():
        assert_equal(interpret(changed, inputs, types), expected, stage, exact=True)
    assert_equal(emulate(compiled, inputs, types), expected, "emulated C", exact=True)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("precision", ["strict", "mixed"])
def test_the_emulator_gives_what_the_last_stage_means(seed: int, precision: str) -> None:
    rng = np.random.default_rng([2, seed])
    module = random_function(rng, max_ops=8)
    inputs, types = random_inputs(rng, module), result_types(module)
    compiled = compile_module(module, name="random", precision=precision)
    expected = interpret(compiled.module, inputs, types)
    assert_equal(emulate(compiled, inputs, types), expected, "emulated C", exact=False)


def varied_pipeline(rng: np.random.Generator) -> list[ModulePass]:
    """A legal pipeline: the order of the rooms, with canonicalize, repeats and options thrown in."""
    front: list[ModulePass] = [InferShapesPass(), SelectPrecisionPass(precision="strict"), LegalizeDtypesPass()]
    passes: list[ModulePass] = []
    for pass_ in front:
        passes += [pass_] * int(rng.integers(1, 3))
        passes += [CanonicalizePass()] * int(rng.integers(0, 2))
    passes.append(FuseOperatorsPass(max_ops=int(rng.choice([1, 2, 5, 128]))))
    passes.append(TileToKernelPass(block_dim=[None, 1, 3, 64][int(rng.integers(4))]))
    return [*passes, *kernel_pipeline(Options())]


@pytest.mark.parametrize("seed", range(25))
def test_any_legal_pipeline_keeps_the_answer(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    module = random_function(rng, max_ops=10, exact=True, dtypes=("i1", "i16", "i32", "f16", "f32"))
    inputs, types = random_inputs(rng, module), result_types(module)
    expected = interpret(module, inputs, types)
    passes = varied_pipeline(rng)
    compiled = CompiledOperator("random", module, passes, "ascend910b", "trace")
    where = " ".join(p.name for p in passes)
    assert_equal(interpret(compiled.module, inputs, types), expected, where, exact=True)
    assert_equal(emulate(compiled, inputs, types), expected, where, exact=True)


def test_the_pipeline_reads_as_the_table_of_contents() -> None:
    import ascir.passes.pipeline as pipeline

    assert pipeline.__doc__ is not None
    contents = [line.split()[0] for line in pipeline.__doc__.splitlines() if line.startswith("    ")]
    assert contents == [p.name for p in operator_pipeline(Options())]
