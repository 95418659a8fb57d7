"""Every dialect, pass and target of ascir by name, imported only when first used.

Stock xDSL tools find the three dialects through `ASCIR_UNIVERSE` (the `xdsl.universe` entry point in pyproject.toml). There our
passes and target bear the prefix `ascend-`, because a name that upstream takes one day would break every tool in the
environment; in our own tools they also answer to the plain names of docs/design.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.arg_spec import ArgSpecConvertible
from xdsl.utils.target import Target

PREFIX = "ascend-"

PASS_NAMES = (
    "infer-shapes",
    "select-precision",
    "legalize-dtypes",
    "fuse-operators",
    "tile-to-kernel",
    "plan-memory",
    "insert-sync",
    "verify-sync",
    "verify-dominance",
)
"""Plain names, in the order of the pipeline; `plan-memory` is `PlanMemoryPass` of `ascir/passes/plan_memory.py`."""

_Named = TypeVar("_Named", bound=ArgSpecConvertible)


def _called(name: str, found: type[_Named]) -> type[_Named]:
    """`found`, answering to `name`: xDSL refuses a specification whose name is not the class's own."""
    if found.name == name:
        return found
    renamed = type(found.__name__, (found,), {"name": name, "__module__": found.__module__, "__doc__": found.__doc__})
    return cast(type[_Named], renamed)


def _load_pass(plain: str, name: str) -> type[ModulePass]:
    module = import_module(f"ascir.passes.{plain.replace('-', '_')}")
    class_name = "".join(part.capitalize() for part in plain.split("-")) + "Pass"
    return _called(name, cast(type[ModulePass], getattr(module, class_name)))


def _load_c(name: str) -> type[Target]:
    from ascir.backend_c.target import CTarget

    return _called(name, CTarget)


def _ascend() -> Dialect:
    from ascir.dialects.ascend import Ascend

    return Ascend


def _ascend_memory() -> Dialect:
    from ascir.dialects.memory import AscendMemory

    return AscendMemory


def _ascend_vector() -> Dialect:
    from ascir.dialects.vector import AscendVector

    return AscendVector


PLAIN_PASSES: dict[str, Callable[[], type[ModulePass]]] = {name: partial(_load_pass, name, name) for name in PASS_NAMES}
"""Our passes under the names of docs/design.md."""

PLAIN_TARGETS: dict[str, Callable[[], type[Target]]] = {"c": partial(_load_c, "c")}

ASCIR_UNIVERSE = Universe(
    all_dialects={"ascend": _ascend, "ascend_memory": _ascend_memory, "ascend_vector": _ascend_vector},
    all_passes={PREFIX + name: partial(_load_pass, name, PREFIX + name) for name in PASS_NAMES},
    all_targets={PREFIX + "c": partial(_load_c, PREFIX + "c")},
)

UNIVERSES = (XDSL_UNIVERSE, ASCIR_UNIVERSE)
"""What our tools know: two named universes, so that they work uninstalled and no clash in a stranger's plugin breaks them."""


def new_context() -> Context:
    """A context that knows every upstream dialect and ours; each is imported when its first op or type is met."""
    context = Context()
    for universe in UNIVERSES:
        for name, factory in universe.all_dialects.items():
            context.register_dialect(name, factory)
    return context
