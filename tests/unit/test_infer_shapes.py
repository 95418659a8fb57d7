"""infer-shapes: sizes flow forward, sideways between operands, and a contradiction is an error at its op."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from ascir.interpret import run_function
from ascir.passes.infer_shapes import InferShapesPass, parse_shapes

from .irgen import random_function, random_inputs
from .translation import apply, assert_bits, assert_kept, operators, parse


def inferred(body: str, result: str, arguments: str, shapes: str = "") -> ModuleOp:
    text = f"func.func @f({arguments}) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}"
    return apply(parse(text), InferShapesPass(arg_shapes=shapes))


def shapes_of(module: ModuleOp) -> list[tuple[int, ...]]:
    return [op.result.type.get_shape() for op in operators(module)]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAttributeAccessIssue]


def test_shapes_are_read() -> None:
    assert parse_shapes("8x128,?x4,,7") == [(8, 128), (DYNAMIC_INDEX, 4), (), (7,)]
    with pytest.raises(PassFailedException, match=r"'8\*4' in arg-shapes=8\*4 is no size; write 8x128"):
        parse_shapes("8*4")


def test_sizes_flow_through_every_operator() -> None:
    body = """
      %0 = ascend.exp %x : tensor<?x?xf32>
      %1 = ascend.transpose %0 [1, 0] : tensor<?x?xf32> to tensor<?x?xf32>
      %2 = ascend.pad %1 low [1, 0] high [0, 2] value 0.0 : f64 : tensor<?x?xf32> to tensor<?x?xf32>
      %3 = ascend.slice %2 starts [0, 1] sizes [-9223372036854775808, 3] steps [1, 2] : tensor<?x?xf32> to tensor<?x3xf32>
      %4 = ascend.concat %3, %3 axis 0 : tensor<?x3xf32>, tensor<?x3xf32> to tensor<?x3xf32>
      %5 = ascend.reshape %4 : tensor<?x3xf32> to tensor<2x?xf32>
      %6 = ascend.reduce "sum" %5 axes [1] keepdims : tensor<2x?xf32> to tensor<2x1xf32>
      %7 = ascend.broadcast %5 : tensor<2x?xf32> to tensor<4x2x?xf32>
      %8 = ascend.compare "lt" %7, %7 : tensor<4x2x?xf32> to tensor<4x2x?xi1>
      %r = ascend.cast %8 : tensor<4x2x?xi1> to tensor<4x2x?xi32>"""
    module = inferred(body, "tensor<4x2x?xi32>", "%x: tensor<?x?xf32>", "5x7")
    assert shapes_of(module) == [(5, 7), (7, 5), (8, 7), (8, 3), (16, 3), (2, 24), (2, 1), (4, 2, 24), (4, 2, 24), (4, 2, 24)]
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    assert str(function.function_type) == "(tensor<5x7xf32>) -> tensor<4x2x24xi32>"


CONSTANT = """
      %c = ascend.constant 2.0 : f64 : tensor<f32>
      %0 = ascend.broadcast %c : tensor<f32> to tensor<?x4xf32>
      %1 = ascend.sqrt %0 : tensor<?x4xf32>
      %r = ascend.mul %x, %1 : tensor<?x4xf32>"""


def test_a_broadcast_learns_from_the_operator_that_uses_it() -> None:
    module = inferred(CONSTANT, "tensor<?x4xf32>", "%x: tensor<?x4xf32>", "8x4")
    assert shapes_of(module) == [(), (8, 4), (8, 4), (8, 4)]
    (result,) = run_function(module, "f", [np.ones((8, 4), np.float32)])
    assert_bits([result], [np.full((8, 4), np.sqrt(np.float32(2)))])


def test_what_nobody_knows_stays() -> None:
    module = inferred(CONSTANT, "tensor<?x4xf32>", "%x: tensor<?x4xf32>")
    assert shapes_of(module) == [(), *[(DYNAMIC_INDEX, 4)] * 3]
    partly = inferred("%r = ascend.exp %x : tensor<?x?xf32>", "tensor<?x?xf32>", "%x: tensor<?x?xf32>", "?x3")
    assert shapes_of(partly) == [(DYNAMIC_INDEX, 3)]


def test_an_argument_learns_from_its_partner() -> None:
    body = "%0 = ascend.reshape %y : tensor<6xf32> to tensor<2x?xf32>\n%r = ascend.add %x, %0 : tensor<2x?xf32>"
    module = inferred(body, "tensor<2x?xf32>", "%x: tensor<2x?xf32>, %y: tensor<6xf32>")
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    assert str(function.function_type) == "(tensor<2x3xf32>, tensor<6xf32>) -> tensor<2x3xf32>"


def test_contradictions_are_errors() -> None:
    arguments = "%x: tensor<?x4xf32>, %y: tensor<?x4xf32>"
    add = "%r = ascend.add %x, %y : tensor<?x4xf32>"
    with pytest.raises(PassFailedException, match=r"ascend.add: operands have shapes \(3, 4\) and \(5, 4\)"):
        inferred(add, "tensor<?x4xf32>", arguments, "3x4,5x4")
    with pytest.raises(PassFailedException, match=r"argument 1 of @f is tensor<\?x4xf32>, which \(5, 5\) does not fit"):
        inferred(add, "tensor<?x4xf32>", arguments, "3x4,5x5")
    with pytest.raises(PassFailedException, match="arg-shapes=3x4 names 1 shapes, but @f takes 2 arguments"):
        inferred(add, "tensor<?x4xf32>", arguments, "3x4")
    with pytest.raises(PassFailedException, match=r"ascend.reshape: cannot reshape \(3, 4\) of 12 elements into \(5, 2\) of 10"):
        inferred("%r = ascend.reshape %x : tensor<?x4xf32> to tensor<5x?xf32>", "tensor<5x?xf32>", arguments, "3x4,3x4")


def test_a_static_program_is_left_alone() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        module = random_function(rng, empty=True)
        before = str(module)
        assert_kept(module, random_inputs(rng, module), InferShapesPass())
        assert str(module) == before
