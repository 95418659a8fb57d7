"""Movement that moves nothing, and two moves that are one. Elements keep their bits, so every rule here is safe.

A dimension of unknown size (`?`) could be 1 and broadcast, or swap places with another in a reshape; rules keep off where that
would matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ascir.dialects.ascend import BroadcastOp, ConstantOp, ReshapeOp, TransposeOp
from ascir.dialects.types import is_static, shape_of, tensor_type
from ascir.passes.splats import number_of


def same_shape(op: BroadcastOp | ReshapeOp) -> SSAValue | None:
    """To the shape it has → x. In a reshape the rest fixes a single `?`; a broadcast could stretch it from 1."""
    unknown = shape_of(op.result).count(DYNAMIC_INDEX)
    return op.x if op.x.type == op.result.type and unknown <= isinstance(op, ReshapeOp) else None


def of_constant(op: BroadcastOp | ReshapeOp | TransposeOp) -> Sequence[ConstantOp] | None:
    """One number everywhere is the same number everywhere in another shape."""
    number, type_ = number_of(op.x), tensor_type(op.result)
    if number is None or not is_static(type_.get_shape()):
        return None
    return (ConstantOp.splat(number, type_),)


def broadcast_twice(op: BroadcastOp) -> Sequence[BroadcastOp] | None:
    """Aligned right twice is aligned right once, and what was repeated from size 1 still is."""
    inner = op.x.owner
    return (BroadcastOp(inner.x, shape_of(op.result)),) if isinstance(inner, BroadcastOp) else None


def reshape_twice(op: ReshapeOp) -> Sequence[ReshapeOp] | None:
    """Row-major order does not depend on the shape between."""
    inner = op.x.owner
    return (ReshapeOp(inner.x, shape_of(op.result)),) if isinstance(inner, ReshapeOp) else None


def same_order(op: TransposeOp) -> SSAValue | None:
    """Axes that stay where they are → x."""
    return op.x if list(op.permutation.get_values()) == list(range(len(shape_of(op.x)))) else None


def transpose_twice(op: TransposeOp) -> Sequence[TransposeOp] | None:
    """Axis k of the result is axis inner[outer[k]] of the first operand."""
    inner = op.x.owner
    if not isinstance(inner, TransposeOp):
        return None
    order = inner.permutation.get_values()
    return (TransposeOp(inner.x, [order[k] for k in op.permutation.get_values()]),)
