"""From an author's function and its arguments to a module with one `func.func` of `ascend` operators.

The function runs once on tensors without values; what it returned, in whatever structure, says which values the `func.func` returns and
how an operator builds that structure again from arrays. Start at `trace`.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region, SSAValue

from ascir.dialects.inference import text
from ascir.dialects.types import dtype_of, shape_of, tensor_type
from ascir.machine.dtypes import DType
from ascir.source import fail
from ascir.tracing.sizes import UnknownSize

from .arguments import TensorSpec, check_array, rebuilt, substitute
from .indexing import reshape_value
from .tensor import TracedTensor
from .trace import Array, NumpyDType, Shape, Trace, is_array, is_dict, is_sequence

InferShape = Callable[..., Any]


@dataclass(frozen=True)
class Output:
    """Shape (DYNAMIC_INDEX where unknown) and dtype of one result."""

    shape: Shape
    dtype: DType
    numpy: NumpyDType


@dataclass(frozen=True)
class TracedFunction:
    """A traced function.

    `module` holds `func.func @name`, whose arguments are the array arguments in order, then the `captured` arrays. `rebuild` puts the
    results, in order of `outputs`, into the structure that the function returned.
    """

    name: str
    module: ModuleOp
    input_names: Sequence[str]
    captured: Sequence[Array]
    outputs: Sequence[Output]
    rebuild: Callable[[Sequence[Array]], Any]

    @property
    def is_static(self) -> bool:
        """Whether every size is known, so that it can be run."""
        values = [*self.function.args, *self.function.body.block.last_op.operands]  # pyright: ignore[reportOptionalMemberAccess]
        return all(DYNAMIC_INDEX not in shape_of(v) for v in values)

    @property
    def function(self) -> FuncOp:
        function = self.module.body.block.first_op
        assert isinstance(function, FuncOp)
        return function


def symbol_name(function: Callable[..., Any]) -> str:
    """The function's name as a symbol: `gelu`; `operator` for what has no usable name. Files bear it, so it is not long."""
    name = re.sub(r"\W+", "_", getattr(function, "__name__", ""), flags=re.ASCII).strip("_")[:100]
    return name if name and not name[0].isdigit() else f"operator{'_' * bool(name)}{name}"


def trace(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    call: Callable[[Callable[..., Any], Mapping[str, Any]], Any],
    infer_shape: InferShape | None = None,
    names: Mapping[int, str] | None = None,
) -> TracedFunction:
    """Run `function` on tensors without values.

    `arguments` are its bound arguments, `call(function, arguments)` passes them on; `names` gives captured arrays names, by id.
    AscirError, at the author's line, for whatever cannot be in a kernel.
    """
    place = definition(function)
    with Trace(place, names) as under_way:
        input_names: list[str] = []

        def tensor(array: Any, name: str) -> TracedTensor:
            row = check_array(array, name)
            input_names.append(name)
            shape = array.sizes if isinstance(array, TensorSpec) else array.shape
            return TracedTensor(under_way, under_way.argument(shape, row, name))

        given = {name: substitute(value, tensor, name) for name, value in arguments.items()}
        argument_shapes = [shape_of(v) for v in under_way.block.args]
        returned = call(function, given)
        values: list[SSAValue] = []
        rebuild = _collect(returned, under_way, values)
        if infer_shape is not None:
            values = _with_inferred_shapes(infer_shape, argument_shapes, values)
        module = _module(symbol_name(function), under_way, values, place)
    outputs = [Output(shape_of(v), row := dtype_of(tensor_type(v)), row.to_numpy()) for v in values]
    return TracedFunction(symbol_name(function), module, input_names, under_way.captured, outputs, rebuild)


def _module(name: str, under_way: Trace, values: Sequence[SSAValue], place: LocationAttr) -> ModuleOp:
    block = under_way.block
    types = FunctionType.from_lists([a.type for a in block.args], [v.type for v in values])
    end = ReturnOp(*values)
    block.add_op(end)
    function = FuncOp(name, types, Region(block))
    module = ModuleOp([function])
    function.location = module.location = end.location = place
    return module


def definition(function: Callable[..., Any]) -> LocationAttr:
    """Where the function is written."""
    code = getattr(function, "__code__", None)
    if code is None:
        return UNKNOWN_LOC
    return FileLineColLoc(StringAttr(code.co_filename), IntAttr(code.co_firstlineno), IntAttr(1))


# Results.

Rebuild = Callable[[Sequence[Array]], Any]
_PLAIN = (type(None), bool, int, float, str, np.generic)


def _collect(returned: Any, under_way: Trace, values: list[SSAValue]) -> Rebuild:
    """Gather the tensors of a returned structure; what comes back builds the structure again from arrays."""
    if isinstance(returned, TracedTensor):
        number = len(values)
        values.append(returned.value_in(under_way))
        return lambda results: results[number]
    if is_array(returned):
        return _collect(TracedTensor(under_way, under_way.capture(returned)), under_way, values)
    if is_sequence(returned):
        items, kind = [_collect(item, under_way, values) for item in returned], type(returned)
        return lambda results: rebuilt(kind, [build(results) for build in items])
    if is_dict(returned):
        parts: dict[Any, Rebuild] = {k: _collect(v, under_way, values) for k, v in returned.items()}
        return lambda results: {k: build(results) for k, build in parts.items()}
    if isinstance(returned, _PLAIN):
        return lambda results: cast(Any, returned)
    fail(f"the function returned a {type(returned).__name__}", "return a tensor, or a tuple, list or dict of tensors")


# The author's own shapes.


def _with_inferred_shapes(infer_shape: InferShape, arguments: Sequence[Shape], values: Sequence[SSAValue]) -> list[SSAValue]:
    """The results in the shapes the callback gives: it fills unknown sizes, and may contradict none that is known."""
    given = infer_shape(*(tuple(None if d == DYNAMIC_INDEX else d for d in shape) for shape in arguments))
    shapes = _as_shapes(given, len(values))
    return [_in_shape(value, shape, k) for k, (value, shape) in enumerate(zip(values, shapes, strict=True))]


def _as_shapes(given: Any, count: int) -> list[Shape]:
    """One shape, or one a result."""
    nested = is_sequence(given) and bool(given) and all(is_sequence(shape) for shape in given)
    shapes: list[Any] = list(given) if nested else [given]
    if len(shapes) != count:
        fail(f"infer_shape gave {len(shapes)} shapes, but the function returns {count} tensors", "return one shape a result")
    return [tuple(_size(d) for d in shape) for shape in shapes]


def _size(dim: Any) -> int:
    if dim is None or isinstance(dim, UnknownSize):
        return DYNAMIC_INDEX
    if isinstance(dim, numbers.Integral) and int(dim) >= 0:
        return int(dim)
    fail(f"infer_shape gave the size {dim!r}", "sizes are whole numbers from 0 up, or None where one is not known")


def _in_shape(value: SSAValue, shape: Shape, number: int) -> SSAValue:
    traced = shape_of(value)
    agree = len(traced) == len(shape) and all(a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(traced, shape, strict=True))
    if not agree:
        fail(f"infer_shape gave {text(shape)} for result {number}, but the function makes {text(traced)}")
    return reshape_value(value, tuple(b if a == DYNAMIC_INDEX else a for a, b in zip(traced, shape, strict=True)))
