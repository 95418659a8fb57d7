"""Carries out a plan: allocate, launch kernel after kernel on the emulator, collect what it reports.

Everything that does not depend on the arrays of one call is prepared once — the compiled library, names, sizes, the target's table —
so that a warm call costs little more than the launch itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ascir.backend_c import emulator, last_run
from ascir.backend_c.build import compile_kernel
from ascir.backend_c.emit import EmittedC, KernelSource
from ascir.backend_c.emulator import Gm, Kernel, RawReport
from ascir.backend_c.plan import BufferSlot, Plan
from ascir.backend_c.progress import bar
from ascir.backend_c.report import KernelFault, Profile
from ascir.machine.dtypes import dtype
from ascir.machine.target import Target

Array = NDArray[Any]


@dataclass
class _Library:
    """The compiled C of a module: kernels by name."""

    name: str
    emitted: EmittedC
    target: Target

    @cached_property
    def path(self) -> Path:
        return compile_kernel(self.emitted.source, self.name)

    def kernel(self, name: str) -> Kernel:
        return Kernel(self.path, self.emitted.kernels[name].name)

    def profile(self, reports: Sequence[RawReport]) -> Profile:
        """What the launches came to; KernelFault if any found a fault."""
        profile = Profile.of(reports, self.emitted.origins)
        if profile.faults:
            raise KernelFault(profile.faults)
        return profile


@dataclass(frozen=True)
class _Step:
    """A launch with all that stays the same: `arguments` are (slot, bytes, name, writable)."""

    kernel: Kernel
    block_dim: int
    arguments: tuple[tuple[int, int, bytes, bool], ...]


class OperatorRunner:
    """Runs the host program of one compiled operator."""

    def __init__(self, name: str, emitted: EmittedC, plan: Plan, target: Target):
        self.library = _Library(name, emitted, target)
        self.plan = plan
        self.target = target

    @cached_property
    def steps(self) -> tuple[_Step, ...]:
        """The launches; the C is compiled here, at the first run."""
        return tuple(
            _Step(
                self.library.kernel(launch.kernel),
                launch.block_dim,
                tuple(
                    (slot, self.plan.slots[slot].bytes, argument.name.encode(), argument.writable)
                    for slot, argument in zip(launch.slots, self.library.emitted.kernels[launch.kernel].arguments, strict=True)
                ),
            )
            for launch in self.plan.launches
        )

    @cached_property
    def _fixed(self) -> list[Any]:
        """Memory of constants, kept for all calls."""
        return [np.frombuffer(slot.values, np.uint8) if slot.kind == "constant" else None for slot in self.plan.slots]

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run on C-contiguous arrays of the plan's sizes. KernelFault if the emulator found a fault."""
        self._execute(inputs, outputs, trace=False)

    def profile(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Profile:
        """The same, with a trace and what it came to."""
        return self.library.profile(self._execute(inputs, outputs, trace=True))

    def _execute(self, inputs: Sequence[Array], outputs: Sequence[Array], *, trace: bool) -> list[RawReport]:
        memory = [self._memory(number, slot, inputs, outputs) for number, slot in enumerate(self.plan.slots)]
        pointers = [m.ctypes.data for m in memory]
        reports: list[RawReport] = []
        steps = self.steps
        with bar(self._doing, self._blocks) as done:
            for step in steps:
                arguments = [Gm(pointers[slot], size, name, writable) for slot, size, name, writable in step.arguments]
                report = emulator.launch(step.kernel, arguments, step.block_dim, self.target, trace=trace, finished=done.address)
                reports.append(report)
                if report.faults:
                    break
        last_run.note(reports, write=trace)
        if reports and reports[-1].faults:
            self.library.profile(reports)
        return reports

    @cached_property
    def _doing(self) -> str:
        return f"running {self.library.name}"

    @cached_property
    def _blocks(self) -> int:
        return sum(step.block_dim for step in self.steps)

    def _memory(self, number: int, slot: BufferSlot, inputs: Sequence[Array], outputs: Sequence[Array]) -> Array:
        if slot.kind == "input":
            return inputs[slot.number]
        if slot.kind == "output":
            return outputs[slot.number]
        return self._fixed[number] if slot.kind == "constant" else np.empty(slot.bytes, np.uint8)


class KernelRunner:
    """Launches one kernel on the caller's arguments."""

    def __init__(self, name: str, emitted: EmittedC, target: Target):
        self.library = _Library(name, emitted, target)
        self.source: KernelSource = emitted.kernels[name]
        self.target = target
        self.name = name

    @cached_property
    def kernel(self) -> Kernel:
        return self.library.kernel(self.name)

    def launch(self, args: Sequence[Array | int | float], block_dim: int | None, *, trace: bool = False) -> Profile:
        """Run on `block_dim` cores (None: the kernel's own). Arrays are C-contiguous and of the declared dtypes."""
        values = [self._argument(k, value) for k, value in enumerate(args)]
        blocks = block_dim or self.source.block_dim
        kernel = self.kernel
        with bar(f"running {self.name}", blocks) as done:
            report = emulator.launch(kernel, values, blocks, self.target, trace=trace, finished=done.address)
        last_run.note([report], write=trace)
        return self.library.profile([report])

    def _argument(self, number: int, value: Array | int | float) -> Gm | int | float:
        argument = self.source.arguments[number]
        if isinstance(value, np.ndarray):
            return Gm(value.ctypes.data, value.nbytes, argument.name.encode(), argument.writable)
        is_float = argument.dtype != "index" and dtype(argument.dtype).is_float
        return float(value) if is_float else int(value)
