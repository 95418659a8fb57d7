"""The tracer: runs an author's NumPy function on tensors without values and writes down what it does as `ascend` operators.

Read `tensor.py` (what the function is given), `ufuncs.py`, `reductions.py` and `movement.py` (what NumPy's functions become),
`promotion.py` (dtypes), then `function.py`, which puts it together.
"""

from __future__ import annotations

from . import movement, reductions, ufuncs
from .arguments import TensorSpec
from .function import TracedFunction, trace
from .registry import supported
from .tensor import TracedTensor

__all__ = ["TensorSpec", "TracedFunction", "TracedTensor", "movement", "reductions", "supported", "trace", "ufuncs"]
