"""ascir: NumPy functions compiled to kernels of an Ascend AI Core, and run on an emulation of it.

    from ascir import hybrid_operator, nn

    @hybrid_operator
    def f(x):
        return nn.softmax(2 * x)

Names are imported when first used: `import ascir` alone loads neither NumPy nor xDSL, which the tools that read textual IR count on.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascir import nn as nn
    from ascir.backend_c.report import KernelFault as KernelFault
    from ascir.backend_c.report import Profile as Profile
    from ascir.backend_c.schedule import schedule as schedule
    from ascir.builder import Kernel as Kernel
    from ascir.builder import KernelBuilder as KernelBuilder
    from ascir.diagnostics import AscirError as AscirError
    from ascir.machine import dtypes as dtypes
    from ascir.operator import CompiledOperator as CompiledOperator
    from ascir.operator import HybridOperator as HybridOperator
    from ascir.operator import TensorSpec as TensorSpec
    from ascir.operator import hybrid_operator as hybrid_operator

__version__ = "0.1.0"

_HOMES = {
    "AscirError": "ascir.diagnostics",
    "CompiledOperator": "ascir.operator",
    "HybridOperator": "ascir.operator",
    "Kernel": "ascir.builder",
    "KernelBuilder": "ascir.builder",
    "KernelFault": "ascir.backend_c.report",
    "Profile": "ascir.backend_c.report",
    "TensorSpec": "ascir.operator",
    "hybrid_operator": "ascir.operator",
    "schedule": "ascir.backend_c.schedule",
}
"""Public name → the module it lives in."""

_MODULES = {"nn": "ascir.nn", "dtypes": "ascir.machine.dtypes"}

__all__ = [
    "AscirError",
    "CompiledOperator",
    "HybridOperator",
    "Kernel",
    "KernelBuilder",
    "KernelFault",
    "Profile",
    "TensorSpec",
    "dtypes",
    "hybrid_operator",
    "nn",
    "schedule",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'ascir' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
