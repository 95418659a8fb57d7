"""Operators whose operands are all known: compute them now, with NumPy, as the operators' meaning says.

f16 and bf16 are widened to f32 for the one operation and rounded once, as an instruction does. NumPy is imported only when there
is something to compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ascir.dialects.ascend import CompareOp, ConstantOp, ElementwiseOp
from ascir.dialects.types import dtype_of, is_static, tensor_type
from ascir.machine.dtypes import DType, dtype
from ascir.machine.operators import PREDICATES
from ascir.passes.splats import Number, number_of, rounded

if TYPE_CHECKING:
    import numpy as np


def constants(op: ElementwiseOp | CompareOp) -> Sequence[ConstantOp] | None:
    """f(c, d) → constant: by definition the same bits. A result of unknown size stays, for a constant has to know its own."""
    numbers = [number_of(v) for v in op.operands]
    type_ = tensor_type(op.result)
    if None in numbers or not is_static(type_.get_shape()):
        return None
    numpy_name = PREDICATES[op.predicate.data].numpy if isinstance(op, CompareOp) else op.operator.numpy
    source = dtype_of(tensor_type(op.operands[0]))
    value = _evaluate(numpy_name, source, dtype_of(type_), [n for n in numbers if n is not None])
    return None if value is None else (ConstantOp.splat(value, type_),)


def _evaluate(numpy_name: str, source: DType, result: DType, numbers: Sequence[Number]) -> Number | None:
    """The ufunc of that name; None for the operators that are none (rsqrt, erf, relu)."""
    import numpy as np

    ufunc = getattr(np, numpy_name, None)
    if ufunc is None:
        return None
    with np.errstate(all="ignore"):
        answer = ufunc(*(_array(n, source) for n in numbers))
        return answer.astype(result.to_numpy()).item()


def _array(number: Number, element: DType) -> np.ndarray[Any, np.dtype[Any]]:
    """One element in the type in which an instruction computes."""
    import numpy as np

    computing = dtype("f32") if element.name in ("f16", "bf16") else element
    return np.array([rounded(number, element)], dtype=computing.to_numpy())
