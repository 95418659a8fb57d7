"""`ascir-opt -t c`: the C of every kernel in a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ascir.backend_c.emit import emit_module


@dataclass(frozen=True)
class CTarget(Target):
    """Print C."""

    name = "c"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(emit_module(module).source)
