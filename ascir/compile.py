"""From a module of IR to something that runs: the pipeline of passes, C, the host program.

Both faces end here: `hybrid_operator` with a traced function, `KernelBuilder` and `ascir run` with kernels. IR after each pass is not
kept (printing costs more than compiling); `ir(name)` runs the pipeline again up to that pass. `ASCIR_DUMP=DIR` writes every stage, the
C and the trace as numbered files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, PassFailedException, VerifyException

from ascir.backend_c.emit import EmittedC, emit_module
from ascir.backend_c.progress import bar
from ascir.diagnostics import AscirError, did_you_mean, located
from ascir.machine.target import parse_target
from ascir.passes.pipeline import SYNC, Options, kernel_pipeline, operator_pipeline

if TYPE_CHECKING:
    import numpy as np

    from ascir.backend_c.report import Profile
    from ascir.backend_c.run import KernelRunner, OperatorRunner


def context() -> Context:
    """A context with the dialects a compilation meets, loaded."""
    from xdsl.dialects.arith import Arith
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.dialects.memref import MemRef
    from xdsl.dialects.scf import Scf

    from ascir.dialects.ascend import Ascend
    from ascir.dialects.memory import AscendMemory
    from ascir.dialects.vector import AscendVector

    loaded = Context()
    for dialect in (Builtin, Arith, Func, MemRef, Scf, Ascend, AscendMemory, AscendVector):
        loaded.load_dialect(dialect)
    return loaded


def stage_names(passes: Sequence[ModulePass]) -> list[str]:
    """Pass names in order, a second run of one told apart by a number."""
    names: list[str] = []
    for pass_ in passes:
        count = sum(1 for n in names if n.split("#")[0] == pass_.name)
        names.append(f"{pass_.name}#{count + 1}" if count else pass_.name)
    return names


@dataclass
class Compiled:
    """A compiled module: `stages`, `ir(stage)`, `c_source`."""

    name: str
    original: ModuleOp
    passes: Sequence[ModulePass]
    target: str
    first: str
    """What the IR before all passes is called: "trace" for an operator, "build" for a kernel."""

    def __post_init__(self) -> None:
        self.module = self._run()

    @property
    def stages(self) -> list[str]:
        """Names `ir` takes, in order."""
        return [self.first, *stage_names(self.passes)]

    def ir(self, stage: str | None = None) -> str:
        """IR text after a pass, or the final IR.

        AscirError names the nearest stage for an unknown one.
        """
        if stage is None:
            return str(self.module)
        if stage not in self.stages:
            raise AscirError(f"no stage '{stage}'; {did_you_mean(stage, self.stages)}", expected=", ".join(self.stages))
        for name, module in self.each_stage():
            if name == stage:
                return str(module)
        raise AssertionError(stage)

    def each_stage(self) -> Iterator[tuple[str, ModuleOp]]:
        """The module after each pass, one module changing."""
        module = self.original.clone()
        yield self.first, module
        loaded = context()
        for name, pass_ in zip(stage_names(self.passes), self.passes, strict=True):
            pass_.apply(loaded, module)
            yield name, module

    def _run(self) -> ModuleOp:
        module = self.original.clone()
        loaded = context()
        dump = os.environ.get("ASCIR_DUMP")
        if dump:
            _write(_folder(dump), self.name, 0, self.first, module)
        try:
            with bar(f"passes of {self.name}", len(self.passes)) as done:
                for number, pass_ in enumerate(self.passes, 1):
                    pass_.apply(loaded, module)
                    done.advance()
                    if dump:
                        _write(Path(dump), self.name, number, pass_.name, module)
            module.verify()
        except (PassFailedException, DiagnosticException, VerifyException) as error:
            raise located(error) from error
        return module

    @cached_property
    def emitted(self) -> EmittedC:
        try:
            emitted = emit_module(self.module)
        except PassFailedException as error:
            raise located(error) from error
        dump = os.environ.get("ASCIR_DUMP")
        if dump:
            (_folder(dump) / f"{self.name}.c").write_text(emitted.source)
        return emitted

    def _dumped(self, profile: Profile) -> Profile:
        """Write the timeline if `ASCIR_DUMP` asks for it (a run over no elements has none)."""
        dump = os.environ.get("ASCIR_DUMP")
        if dump and profile.events:
            profile.save_trace(Path(dump) / f"{self.name}.trace.json")
        return profile

    @property
    def c_source(self) -> str:
        """The C of all kernels."""
        return self.emitted.source


def _folder(dump: str) -> Path:
    """The folder that `ASCIR_DUMP` names."""
    try:
        Path(dump).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AscirError(f"no folder can be made at {dump}: {error.strerror}", hint="set ASCIR_DUMP to another, or unset it") from None
    return Path(dump)


def _write(folder: Path, name: str, number: int, stage: str, module: ModuleOp) -> None:
    (folder / f"{name}.{number:02}-{stage}.mlir").write_text(f"{module}\n")


class CompiledOperator(Compiled):
    """A compiled function: `run` and `profile` take NumPy arrays."""

    @cached_property
    def runner(self) -> OperatorRunner:
        from ascir.backend_c.plan import plan_of
        from ascir.backend_c.run import OperatorRunner

        return OperatorRunner(self.name, self.emitted, plan_of(self.module, self.name), parse_target(self.target))

    def run(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Run on C-contiguous arrays; results are written into `outputs`. KernelFault if the emulator found a fault."""
        if os.environ.get("ASCIR_DUMP"):
            self.profile(inputs, outputs)
        else:
            self.runner.run(inputs, outputs)

    def profile(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> Profile:
        """The same with a trace, cycles and utilisation."""
        return self._dumped(self.runner.profile(inputs, outputs))


class CompiledKernel(Compiled):
    """One compiled kernel: `launch` takes its arguments in order."""

    @cached_property
    def runner(self) -> KernelRunner:
        from ascir.backend_c.run import KernelRunner

        return KernelRunner(self.name, self.emitted, parse_target(self.target))

    def launch(self, args: Sequence[np.ndarray | int | float], block_dim: int | None = None, *, trace: bool = False) -> Profile:
        """Run on `block_dim` cores (default: the kernel's own); GM arguments are written in place. KernelFault on a fault."""
        trace = trace or bool(os.environ.get("ASCIR_DUMP"))
        return self._dumped(self.runner.launch(args, block_dim, trace=trace))


def _checked_target(target: str) -> str:
    try:
        parse_target(target)
    except ValueError as error:
        raise AscirError(str(error)) from None
    return target


def compile_module(
    module: ModuleOp, *, name: str, precision: str = "mixed", opt_level: int = 2, target: str = "ascend910b", block_dim: int | None = None
) -> CompiledOperator:
    """Compile the function @`name` of `ascend` ops on tensors.

    AscirError where a pass or a verifier refuses it.
    """
    options = Options(precision, _checked_target(target), block_dim, opt_level)
    return CompiledOperator(name, module, operator_pipeline(options), target, "trace")


def compile_kernel(module: ModuleOp, name: str, *, target: str = "ascend910b", sync: str = "auto") -> CompiledKernel:
    """Compile the kernel @`name`.

    `sync` "auto" inserts flags and barriers, "manual" verifies the author's, "unchecked" leaves those to the emulator's judgement.
    """
    if sync not in SYNC:
        raise AscirError(f"unknown sync '{sync}'; {did_you_mean(sync, SYNC)}", expected=", ".join(SYNC))
    options = Options(target=_checked_target(target))
    return CompiledKernel(name, module, kernel_pipeline(options, sync=sync), target, "build")
