"""Which NumPy functions the tracer knows, and what it says about the others.

The modules beside this one fill the tables; `TracedTensor` hands NumPy's two protocols to them. A function that is not in a table
gets one message that names it and says what to write instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NoReturn, TypeVar

import numpy as np

from ascir.source import fail

UFUNCS: dict[np.ufunc, Callable[..., Any]] = {}
"""ufunc → what makes its result from operands as the author gave them (see `ufuncs.py`)."""

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""NumPy function → ours, with the same parameter names; a parameter that ours lacks is refused."""

_F = TypeVar("_F", bound=Callable[..., Any])
_signatures: dict[Callable[..., Any], inspect.Signature] = {}

_IGNORED: dict[str, tuple[Any, ...]] = {
    "out": (None,),
    "order": ("K", "C", "A", None),
    "subok": (True, False),
    "copy": (True, False, None),
    "where": (True,),
}
"""Parameters without meaning in a kernel: these values say nothing, any other is refused."""


def implements(*functions: Callable[..., Any]) -> Callable[[_F], _F]:
    """Register ours for NumPy's."""

    def register(ours: _F) -> _F:
        for function in functions:
            FUNCTIONS[function] = ours
        return ours

    return register


INSTEAD = {
    "matmul": "multiply and sum: (a[:, :, None] * b[None, :, :]).sum(axis=1)",
    "dot": "multiply and sum: (a * b).sum(axis=-1)",
    "vdot": "multiply and sum: (a * b).sum()",
    "inner": "multiply and sum: (a[:, None, :] * b[None, :, :]).sum(axis=-1)",
    "vecdot": "multiply and sum: (a * b).sum(axis=-1)",
    "matvec": "multiply and sum: (a * b[..., None, :]).sum(axis=-1)",
    "vecmat": "multiply and sum: (a[..., :, None] * b).sum(axis=-2)",
    "einsum": "broadcast, multiply and sum: (a[:, :, None] * b[None]).sum(axis=1)",
    "tensordot": "broadcast, multiply and sum: (a[:, :, None] * b[None]).sum(axis=1)",
    "nansum": "np.where(np.isnan(x), 0, x).sum()",
    "nanprod": "np.where(np.isnan(x), 1, x).prod()",
    "nanmax": "np.where(np.isnan(x), -np.inf, x).max()",
    "nanmin": "np.where(np.isnan(x), np.inf, x).min()",
    "nanmean": "np.where(m, 0, x).sum() / (~m).astype(np.float32).sum() with m = np.isnan(x)",
    "average": "(x * weights).sum(axis) / weights.sum(axis)",
    "ptp": "x.max(axis) - x.min(axis)",
    "diff": "x[1:] - x[:-1]",
    "count_nonzero": "(x != 0).astype(np.int64).sum()",
    "copyto": "np.where(mask, new, x)",
    "putmask": "np.where(mask, new, x)",
    "place": "np.where(mask, new, x)",
    "put": "np.where(mask, new, x)",
    "select": "nested np.where(condition, a, b)",
    "choose": "nested np.where(condition, a, b)",
    "piecewise": "nested np.where(condition, a, b)",
    "compress": "np.where(mask, x, 0): the shape of a result may not depend on values",
    "extract": "np.where(mask, x, 0): the shape of a result may not depend on values",
    "nonzero": "np.where(mask, x, 0): the shape of a result may not depend on values",
    "flatnonzero": "np.where(mask, x, 0): the shape of a result may not depend on values",
    "argwhere": "np.where(mask, x, 0): the shape of a result may not depend on values",
    "unique": "np.where(mask, x, 0): the shape of a result may not depend on values",
    "array_equal": "(a == b).all(), returned and read outside of the function",
    "allclose": "(np.abs(a - b) <= tolerance).all(), returned and read outside of the function",
    "isclose": "np.abs(a - b) <= atol + rtol * np.abs(b)",
    "take": "slices, x[2:5], and np.concatenate",
    "take_along_axis": "slices, x[2:5], and np.concatenate",
    "float_power": "x ** y, which stays in the dtype of x",
    "ldexp": "x * np.exp2(n.astype(x.dtype))",
    "modf": "x - np.trunc(x) and np.trunc(x)",
    "frexp": "np.floor(np.log2(np.abs(x))) + 1 for the exponent",
    "median": "nothing yet: a kernel cannot sort",
    "sort": "nothing yet: a kernel cannot sort",
    "argsort": "nothing yet: a kernel cannot sort",
    "partition": "nothing yet: a kernel cannot sort",
    "quantile": "nothing yet: a kernel cannot sort",
    "percentile": "nothing yet: a kernel cannot sort",
    "cumsum": "nothing yet: a kernel cannot scan",
    "cumprod": "nothing yet: a kernel cannot scan",
    "accumulate": "nothing yet: a kernel cannot scan",
    "reduceat": "slices, each reduced, and np.stack",
    "at": "np.where(mask, new, x)",
    "item": "return the tensor and read it outside of the function",
    "tolist": "return the tensor and read it outside of the function",
    "fill": "np.full_like(x, value)",
}
"""Name of a NumPy function or method → what an author can write today."""


def name_of(function: Callable[..., Any]) -> str:
    """`np.sum`, `np.linalg.norm`, `np.add`."""
    module: str = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{getattr(function, '__name__', function)}".replace("np._core.", "np.")


def supported() -> list[str]:
    """The names of all functions that work on traced tensors."""
    return sorted({f.__name__ for f in (*UFUNCS, *FUNCTIONS)})


def unknown(name: str) -> NoReturn:
    """Refuse a function or method (`np.linalg.norm`, `np.add.accumulate`, `ndarray.sort`), and say what to write instead."""
    base = name.rsplit(".", 1)[-1]
    instead = INSTEAD.get(base)
    if instead is not None:
        fail(f"{name} does not work in a kernel", instead if instead.startswith("nothing") else f"write {instead}")
    near = get_close_matches(base, supported(), 3, cutoff=0.5)
    nearest = ", ".join(f"np.{n}" for n in near) if near else "np.where, ufuncs, reductions and slices; ascir.tracing.supported() lists all"
    fail(f"{name} does not work in a kernel", f"nearest that do: {nearest}")


def call_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Ours in the place of NumPy's, parameters checked."""
    ours = FUNCTIONS.get(function)
    if ours is None:
        unknown(name_of(function))
    signature = _signatures.get(ours)
    if signature is None:
        signature = _signatures[ours] = _without_types(inspect.signature(ours))
    kwargs = {k: v for k, v in kwargs.items() if k in signature.parameters or not _says_nothing(name_of(function), k, v)}
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        fail(f"{name_of(function)}: {error}", f"in a kernel it takes {signature}")
    return ours(*bound.args, **bound.kwargs)


def _without_types(signature: inspect.Signature) -> inspect.Signature:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)


def _says_nothing(function: str, parameter: str, value: Any) -> bool:
    """Whether a parameter can be dropped; an AscirError if it asks for what a kernel cannot do."""
    if value is np._NoValue:  # pyright: ignore
        return True
    if isinstance(value, bool | str | None) and value in _IGNORED.get(parameter, ()):
        return True
    refuse_parameter(function, parameter, value)
    return False


def refuse_parameter(function: str, parameter: str, value: Any) -> None:
    """Say why a parameter of a known function does not work."""
    if parameter == "out":
        fail(f"{function} with out= changes an array in place, which a traced function cannot", "use the result: x = x + y, not x += y")
    if parameter == "where":
        fail(f"{function} with where= does not work in a kernel", "write np.where(mask, x, neutral) around the operand")
    if parameter == "initial":
        fail(f"{function} with initial= does not work in a kernel", "combine afterwards: np.maximum(x.max(), initial), x.sum() + initial")
    if parameter == "order":
        fail(f"{function} with order={value!r} does not work in a kernel", "transpose first: order='F' reads x.T")
